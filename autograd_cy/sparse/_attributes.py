"""Attributes of sparse tensors, copies and conversions (facade)."""

import copy
import math
from typing import Any

import numpy as np

from .._core.arrays.dtypes import convert
from .._core.graph import node
from .._core.graph.tensor import Tensor, array_of, from_array
from .._core.ops.shapes.reshaping import replace_array
from .._types import Size, device, on_cpu
from .._types.layout import sparse_coo, sparse_csr, strided
from ..autograd.gradients import backward as _backward
from ._pattern import Pattern, coo_pattern, placeholder, same_places
from ._tensor import (
    TABLE,
    SparseTensor,
    become,
    coalesced,
    detached,
    from_values,
    implements,
    made,
    refused,
    values_of,
)

# indices and values


def _coo(self: Any, name: str) -> Any:
    if type(self) is not SparseTensor:
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the 'CPU' backend: {name}() is for sparse tensors"
        )
    if self.is_sparse_csr:
        raise RuntimeError(f"{name} expected sparse coordinate tensor layout but got SparseCsr")
    return self


def _csr(self: Any, name: str) -> Any:
    if type(self) is not SparseTensor or not self.is_sparse_csr:
        raise RuntimeError(f"{name} expected sparse row compressed tensor layout but got "
                           f"{'Sparse' if type(self) is SparseTensor else 'Strided'}")  # fmt: skip
    return self


@implements("indices")
def indices(self: Any) -> Any:
    if not _coo(self, "indices")._pattern.coalesced:
        raise RuntimeError("Cannot get indices on an uncoalesced tensor, please call .coalesce() first")
    return self._pattern.parts[0].detach()


@implements("_indices")
def _indices(self: Any) -> Any:
    return _coo(self, "_indices")._pattern.parts[0].detach()


@implements("values")
def values(self: Any) -> Any:
    if type(self) is not SparseTensor:
        raise RuntimeError("values expected sparse tensor layout but got Strided")
    if self.is_sparse and not self._pattern.coalesced:
        raise RuntimeError("Cannot get values on an uncoalesced tensor, please call .coalesce() first")
    return values_of(self)


@implements("_values")
def _values(self: Any) -> Any:
    return _coo(self, "_values")._held.detach()


@implements("_nnz")
def _nnz(self: Any) -> int:
    if type(self) is not SparseTensor:
        raise NotImplementedError(
            "Could not run 'aten::_nnz' with arguments from the 'CPU' backend: _nnz() is for sparse tensors"
        )
    return int(self._held.shape[0])


@implements("crow_indices")
def crow_indices(self: Any) -> Any:
    return _csr(self, "crow_indices")._pattern.parts[0].detach()


@implements("col_indices")
def col_indices(self: Any) -> Any:
    return _csr(self, "col_indices")._pattern.parts[1].detach()


@implements("sparse_dim")
def sparse_dim(self: Any) -> int:
    return self._pattern.sparse_dim if type(self) is SparseTensor else 0


@implements("dense_dim")
def dense_dim(self: Any) -> int:
    return len(self._pattern.dense_sizes) if type(self) is SparseTensor else self.ndim


@implements("coalesce")
def coalesce(self: Any) -> Any:
    return coalesced(_coo(self, "coalesce"))


@implements("is_coalesced")
def is_coalesced(self: Any) -> bool:
    return _coo(self, "is_coalesced")._pattern.coalesced


@implements("_coalesced_")
def _coalesced_(self: Any, flag: bool) -> Any:
    become(self, made(_coo(self, "_coalesced_")._pattern._replace(coalesced=bool(flag)), self._held))
    return self


# what the placeholder tells

_TOLD: dict[str, Any] = {
    "size": lambda self, dim=None: Size(self.shape) if dim is None else self.shape[dim],
    "dim": lambda self: len(self.shape), "ndimension": lambda self: len(self.shape),
    "numel": lambda self: math.prod(self.shape), "nelement": lambda self: math.prod(self.shape),
    "element_size": lambda self: self.dtype.itemsize,
    "is_floating_point": lambda self: self.dtype.is_floating_point, "is_complex": lambda self: self.dtype.is_complex,
    "is_signed": lambda self: self.dtype.is_signed, "get_device": lambda self: -1,
    "is_pinned": lambda self, device=None: False,
    "is_distributed": lambda self: False, "is_conj": lambda self: False, "is_neg": lambda self: False,
    "is_contiguous": lambda self, memory_format=None: False, "is_same_size": lambda self, other: self.shape == other.shape,
    "is_shared": lambda self: False, "device": lambda self: device("cpu"),
}  # fmt: skip
TABLE.update(_TOLD)


@implements("numpy", "__array__")
def numpy(self: Any, **_: Any) -> Any:
    name = "Sparse" if self.is_sparse else "SparseCsr"
    raise TypeError(f"can't convert {name} layout tensor to numpy. Use Tensor.to_dense() first.")


@implements("data_ptr")
def data_ptr(self: Any) -> Any:
    raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")


@implements("storage", "untyped_storage", "_typed_storage")
def storage(self: Any) -> Any:
    raise NotImplementedError("Cannot access storage of SparseTensorImpl")


@implements("stride", "storage_offset")
def stride(self: Any, *_: Any) -> Any:
    raise RuntimeError("sparse tensors do not have strides")


@implements("item", "tolist", "__float__", "__int__")
def item(self: Any) -> Any:
    if self.numel() != 1:
        raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
    return self.to_dense().item()


@implements("reshape", "view", "flatten")
def reshape(self: Any, *_: Any, **__: Any) -> Any:
    raise RuntimeError("reshape is not implemented for sparse tensors")


@implements("backward")
def backward(self: Any, *args: Any, **kwargs: Any) -> None:
    names = ("gradient", "retain_graph", "create_graph", "inputs")
    given = dict(zip(names, args, strict=False)) | kwargs
    _backward(self, given.pop("gradient", None), **given)


@implements("register_hook")
def register_hook(self: Any, hook: Any) -> Any:
    from .._core.graph import record

    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    return record.register_tensor_hook(self, hook)


@implements("register_post_accumulate_grad_hook")
def register_post_accumulate_grad_hook(self: Any, hook: Any) -> Any:
    from .._core.graph import record

    if not (self.requires_grad and self.is_leaf):
        raise RuntimeError(
            "post accumulate grad hooks cannot be registered on non-leaf tensors, nor where no grad is required"
        )
    return record.register_post_accumulate_hook(self, hook)


@implements("retain_grad")
def retain_grad(self: Any) -> None:
    from .._core.graph import record

    record.retain_grad(self)


@implements("place_of")
def grad_fn(self: Any) -> Any:
    return None if self.is_leaf else node.gradient_node(self)


# copies


@implements("detach", "detach_copy")
def detach(self: Any) -> Any:
    return detached(self)


@implements("clone", "contiguous_copy")
def clone(self: Any, *, memory_format: Any = None) -> Any:
    pattern = self._pattern._replace(parts=tuple(part.clone() for part in self._pattern.parts))
    return from_values(values_of(self).clone(), pattern)


@implements("alias", "view_as", "cpu", "contiguous")
def alias(self: Any, *_: Any, **__: Any) -> Any:
    return from_values(values_of(self), self._pattern)


@implements("to")
def to(self: Any, *args: Any, dtype: Any = None, device: Any = None, copy: bool = False, **_: Any) -> Any:
    for argument in args:
        if isinstance(argument, Tensor):
            dtype = argument.dtype
        elif isinstance(argument, (str, int)) and not isinstance(argument, bool):
            device = argument
        elif type(argument).__name__ == "device":
            device = argument
        elif argument is not None and not isinstance(argument, bool):
            dtype = argument
    if device is not None:
        on_cpu(device)
    wanted = self.dtype if dtype is None else convert(dtype)
    if type(self) is not SparseTensor:  # to(sparse tensor)
        return self.to(wanted)
    if wanted is self.dtype:
        return self.clone() if copy or [x for x in args if isinstance(x, bool)][1:2] == [True] else self
    return from_values(values_of(self).to(wanted), self._pattern)


for _name in ("bool", "byte", "char", "short", "int", "long", "half", "float", "double", "cfloat", "cdouble", "bfloat16"):

    def _cast(self: Any, memory_format: Any = None, name: str = _name) -> Any:
        values = getattr(values_of(self), name)()
        return self if values.dtype is self.dtype else from_values(values, self._pattern)

    TABLE[_name] = _cast


@implements("type_as")
def type_as(self: Any, other: Any) -> Any:
    return self.to(other.dtype)


@implements("type")
def type_(self: Any, dtype: Any = None, **_: Any) -> Any:
    if dtype is not None:
        return from_values(values_of(self).type(dtype), self._pattern)
    return self._held.type().replace("torch.", "torch.sparse_csr." if self.is_sparse_csr else "torch.sparse.")


@implements("type_name")
def type_name(self: Any, dtype: Any = None) -> Any:
    return type_(self, dtype)


@implements("zeros_like")
def zeros_like(
    input: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False, **_: Any
) -> Any:
    if layout is strided:
        return input._held.new_zeros(tuple(input.shape), dtype=dtype or input.dtype).requires_grad_(requires_grad)
    pattern = input._pattern
    if input.is_sparse:
        pattern = coo_pattern(np.zeros(0, np.int64), pattern.size, pattern.sparse_dim)
        values = input._held.new_zeros((0, *pattern.dense_sizes), dtype=dtype or input.dtype)
    else:
        crow = from_array(np.zeros_like(array_of(pattern.parts[0])))
        pattern = Pattern(sparse_csr, (crow, from_array(np.zeros(0, array_of(pattern.parts[1]).dtype))), pattern.size, True)
        values = input._held.new_zeros((0, *pattern.dense_sizes), dtype=dtype or input.dtype)
    return from_values(values, pattern).requires_grad_(requires_grad)


@implements("empty_like")
def empty_like(input: Any, **options: Any) -> Any:
    if options.get("memory_format") is not None:
        raise RuntimeError("memory format option is only supported by strided tensors")
    return zeros_like(input, **options)


def _new(name: str) -> Any:
    def new(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._held, name)(*args, **kwargs)

    return new


TABLE.update({name: _new(name) for name in ("new_tensor", "new_full", "new_ones")})


@implements("equal")
def equal(input: Any, other: Any) -> bool:
    """Whether both are the same sparse tensor when coalesced."""
    if type(input) is not SparseTensor or type(other) is not SparseTensor:
        raise refused("equal", [input, other])
    if input.shape != other.shape or input.layout is not other.layout:
        return False
    a, b = coalesced(input), coalesced(other)
    return same_places(a._pattern, b._pattern) and bool(a._held.equal(b._held))


@implements("allclose")
def allclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    a, b = (x.to_dense() if type(x) is SparseTensor else x for x in (input, other))
    return bool(a.allclose(b, rtol, atol, equal_nan))


@implements("resize_as_sparse_")
def resize_as_sparse_(self: Any, other: Any) -> Any:
    return sparse_resize_(self, other.shape, other.sparse_dim(), other.dense_dim())


@implements("sparse_resize_", "sparse_resize_and_clear_")
def sparse_resize_(self: Any, size: Any, sparse_dim: int, dense_dim: int) -> Any:
    if self._nnz():
        raise NotImplementedError("sparse_resize_(): a sparse tensor that has values can't be resized")
    size = tuple(size)
    if len(size) != sparse_dim + dense_dim:
        raise RuntimeError(
            f"number of dimensions must be sparse_dim ({sparse_dim}) + dense_dim ({dense_dim}), but got {len(size)}"
        )
    pattern = Pattern(sparse_coo, (from_array(np.zeros((sparse_dim, 0), np.int64)),), size, True)
    values = self._held.new_zeros((0, *size[sparse_dim:]))
    replace_array(self, from_array(placeholder(size, array_of(values).dtype)))
    become(self, made(pattern, values))
    return self


# copy and pickle


@implements("__deepcopy__")
def deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment."
        )
    copied = clone(detached(self)).detach().requires_grad_(self.requires_grad)
    memo[id(self)] = copied
    if self.grad is not None:
        copied.grad = copy.deepcopy(self.grad, memo)
    return copied


@implements("__reduce_ex__")
def reduce(self: Any) -> Any:
    return rebuild, (*parts_of(self), self.requires_grad)


def parts_of(self: Any) -> tuple[Any, Any]:
    """The layout, and the parts of a sparse tensor in a file."""
    pattern, held = self._pattern, self._held.detach()
    if self.is_sparse:
        return self.layout, (pattern.parts[0], held, Size(pattern.size), pattern.coalesced)
    return self.layout, (*pattern.parts, held, Size(pattern.size))


def rebuild(layout: Any, data: Any, requires_grad: bool = False) -> Any:
    """The sparse tensor from the results of `parts_of`."""
    from ._construction import sparse_coo_tensor, sparse_csr_tensor

    if layout is sparse_coo:
        flag = bool(data[3]) if len(data) > 3 else None
        return sparse_coo_tensor(data[0], data[1], tuple(data[2]), is_coalesced=flag, requires_grad=requires_grad)
    if layout is sparse_csr:
        crow, col, values, size = data
        return sparse_csr_tensor(crow, col, values, tuple(size), requires_grad=requires_grad)
    raise NotImplementedError(f"rebuilding sparse tensor for layout {layout}")
