"""``torch.types``: names for annotations (facade)."""

import os
from typing import IO, Any, TypeAlias, Union

from ._core.arrays.dtypes import dtype as _dtype  # noqa: F401
from ._core.graph.tensor import Tensor as _Tensor
from ._types import Size as _Size
from ._types import device as _device
from ._types.layout import layout as _layout  # noqa: F401

__all__ = [
    "BoolLikeType", "Device", "FileLike", "FloatLikeType", "IntLikeType", "Number", "Storage", "SymBool", "SymFloat", "SymInt",
    "py_sym_types",
]  # fmt: skip

SymInt, SymFloat, SymBool = int, float, bool  # sizes are numbers here

Number: TypeAlias = int | float | bool
IntLikeType: TypeAlias = int
FloatLikeType: TypeAlias = float
BoolLikeType: TypeAlias = bool
Device: TypeAlias = _device | str | int | None
FileLike: TypeAlias = Union[str, os.PathLike[str], IO[bytes]]  # noqa: UP007 - PyTorch's, which code compares with
Storage: TypeAlias = Any

_int, _float, _bool, _complex, _str, _bytes = int, float, bool, complex, str, bytes
_Number = (int, float, bool)
_size: TypeAlias = _Size | list[int] | tuple[int, ...]
_symsize = _size
_TensorOrTensors: TypeAlias = "_Tensor | tuple[_Tensor, ...] | list[_Tensor]"
_TensorOrOptionalTensors: TypeAlias = "_Tensor | tuple[_Tensor | None, ...] | list[_Tensor | None]"
py_sym_types = (int, float, bool)
