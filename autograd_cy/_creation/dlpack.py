"""DLPack capsules, of bfloat16 too, which NumPy neither makes nor reads (facade). Imported when asked for.

The memory is exchanged as unsigned integers, and the capsule says that it is bfloat16.
"""

import ctypes
from typing import Any

import numpy as np

from .._core.arrays import dtypes

_UNSIGNED, _BFLOAT = 1, 4  # codes of DLPack
# offsets of DLDataType in DLManagedTensor and DLManagedTensorVersioned: after a pointer, a device, a number of dimensions
_OFFSETS = {b"dltensor": 8 + 8 + 4, b"dltensor_versioned": 8 + 8 + 8 + 8 + 8 + 8 + 4}


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


_ARGUMENTS = ctypes.py_object, ctypes.c_char_p
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, *_ARGUMENTS)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, *_ARGUMENTS)(("PyCapsule_GetPointer", ctypes.pythonapi))


def _type_in(capsule: Any) -> _DataType:
    """The type that a capsule names: to be read and written."""
    for name, offset in _OFFSETS.items():
        if _is_valid(capsule, name):
            return _DataType.from_address(_pointer_of(capsule, name) + offset)
    raise ValueError("from_dlpack(): expected a DLPack capsule that has not been read yet")


def exported(array: np.ndarray, **options: Any) -> Any:
    """A capsule with the memory of an array of bfloat16."""
    capsule = array.view(np.uint16).__dlpack__(**options)
    _type_in(capsule).code = _BFLOAT
    return capsule


class _Writable:
    """An array on the memory of another, which may be written."""

    def __init__(self, array: Any):
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


class _Exported:
    """What NumPy asks for memory that is exported, or for a capsule that there is already; bfloat16 is given as integers."""

    def __init__(self, source: Any):
        self.source, self.of_bfloat16, self.has_no_version = source, False, False

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self.source if _is_capsule(self.source) else self.source.__dlpack__(**options)
        kind, self.has_no_version = _type_in(capsule), _is_valid(capsule, b"dltensor")
        if (kind.code, kind.bits, kind.lanes) == (_BFLOAT, 16, 1):
            kind.code, self.of_bfloat16 = _UNSIGNED, True
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0) if _is_capsule(self.source) else self.source.__dlpack_device__()


def _is_capsule(source: Any) -> bool:
    return type(source).__name__ == "PyCapsule"


def imported(source: Any) -> np.ndarray:
    """The array on the memory of a tensor of another library, or of a capsule, which lies in the memory of the CPU."""
    exported = _Exported(source)
    array = np.from_dlpack(exported)
    if exported.has_no_version and _is_capsule(source):  # it can't say that it is read-only; NumPy takes it so
        array = np.asarray(_Writable(array))
    return array.view(dtypes.dtype_named("bfloat16").numpy_dtype) if exported.of_bfloat16 else array
