"""Files of the package safetensors (extra ``safetensors``), with tensors by name (facade).

The functions have the names of ``safetensors.torch``.
"""

from pathlib import Path
from typing import Any

import numpy as np

from .._core.arrays.dtypes import dtype_named as _dtype_named
from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public as _public
from .._creation.data import array_of as _array_of
from .._creation.data import from_numpy
from ..serialization._atomic import replaced as _replaced

__all__ = ["load", "load_file", "save", "save_file"]


def _numpy_side() -> Any:
    try:
        import safetensors.numpy  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise ImportError(
            "autograd_cy.utils.safetensors needs the package safetensors: pip install 'autograd_cy[safetensors]'"
        ) from error
    return safetensors.numpy


def _arrays(tensors: Any) -> dict[str, np.ndarray]:
    """Contiguous arrays by name. TypeError unless it is a dict of tensors by name, ValueError for shared memory."""
    if not isinstance(tensors, dict):
        raise TypeError(f"expected a dict of tensors by name, got {type(tensors).__name__}")
    for name, tensor in tensors.items():
        if not isinstance(name, str) or not isinstance(tensor, Tensor):
            raise TypeError(f"expected tensors by name, got {type(tensor).__name__} under {name!r}")
    arrays = {name: _array_of(tensor) for name, tensor in tensors.items()}
    names = list(arrays)
    for i, first in enumerate(names):
        for second in names[:i]:
            if np.may_share_memory(arrays[first], arrays[second]) and np.shares_memory(arrays[first], arrays[second]):
                raise ValueError(f"{second!r} and {first!r} share memory, which the file can't say: save one, or a clone()")
    return {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in arrays.items()}


def _array(part: dict[str, Any]) -> np.ndarray:
    """A part of a file as an array; also of bfloat16, which `safetensors.numpy` does not read."""
    known = _numpy_side()._TYPES
    kind = known[part["dtype"]] if part["dtype"] != "BF16" else _dtype_named("bfloat16").numpy_dtype
    return np.frombuffer(part["data"], kind).reshape(part["shape"])


def _tensors(arrays: dict[str, np.ndarray]) -> dict[str, Tensor]:
    return {name: from_numpy(array if array.flags.writeable else array.copy()) for name, array in arrays.items()}


@_public
def save(tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """``save({"name": tensor}, metadata)`` -> the bytes of a file.

    metadata: strings by name. TypeError unless it is a dict of tensors by name, ValueError if two share memory.

    >>> import autograd_cy as ag
    >>> from autograd_cy.utils import safetensors
    >>> safetensors.load(safetensors.save({"x": ag.ones(2)}))
    {'x': tensor([1., 1.])}
    """
    return _numpy_side().save(_arrays(tensors), metadata)


@_public
def save_file(tensors: dict[str, Tensor], filename: Any, metadata: dict[str, str] | None = None) -> None:
    """``save_file({"name": tensor}, path)``: save() into a file, which is replaced atomically.

    >>> import autograd_cy as ag, os, tempfile
    >>> from autograd_cy.utils import safetensors
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> safetensors.save_file({"x": ag.ones(2)}, path)
    >>> safetensors.load_file(path)
    {'x': tensor([1., 1.])}
    """
    data = save(tensors, metadata)
    with _replaced(filename) as file:
        file.write(data)


@_public
def load(data: bytes) -> dict[str, Tensor]:
    """``load(bytes)`` -> the tensors by name. SafetensorError for another format.

    >>> import autograd_cy as ag
    >>> from autograd_cy.utils import safetensors
    >>> safetensors.load(safetensors.save({"n": ag.arange(3)}))["n"]
    tensor([0, 1, 2])
    """
    _numpy_side()
    from safetensors import deserialize

    return _tensors({name: _array(part) for name, part in deserialize(data)})


@_public
def load_file(filename: Any, device: Any = "cpu") -> dict[str, Tensor]:
    """``load_file(path)`` -> the tensors by name. SafetensorError for another kind of file; device is "cpu".

    >>> import autograd_cy as ag, os, tempfile
    >>> from autograd_cy.utils import safetensors
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> safetensors.save_file({"n": ag.arange(2)}, path)
    >>> safetensors.load_file(path, device="cpu")
    {'n': tensor([0, 1])}
    """
    from .._types import on_cpu

    on_cpu(device)
    numpy_side = _numpy_side()
    with numpy_side.safe_open(filename, framework="np") as file:
        has_bfloat16 = any(file.get_slice(name).get_dtype() == "BF16" for name in file.keys())
    return load(Path(filename).read_bytes()) if has_bfloat16 else _tensors(numpy_side.load_file(filename))
