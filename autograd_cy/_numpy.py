"""NumPy's functions on Tensors: each is the operation of that meaning, so that gradients pass (facade). Imported when called.

A function that has no counterpart here computes on arrays; where a gradient is asked for it is refused, so that no graph is
cut in silence. What has no derivative (`np.shape`, `np.allclose`, `np.argsort`) is answered in any case.
"""

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ._core.graph.tensor import Tensor, sharing
from ._core.runtime.entry import public
from ._data import as_tensor
from .autograd.forward_ad import unpack_dual
from .autograd.grad_mode import is_grad_enabled

# NumPy's ufuncs that have another name here
_UFUNCS = {
    "absolute": "abs", "fabs": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "conjugate": "conj", "degrees": "rad2deg", "divide": "div",
    "equal": "eq", "greater": "gt", "greater_equal": "ge", "invert": "bitwise_not", "left_shift": "bitwise_left_shift",
    "less": "lt", "less_equal": "le", "multiply": "mul", "negative": "neg", "not_equal": "ne", "power": "pow",
    "radians": "deg2rad", "right_shift": "bitwise_right_shift", "rint": "round", "subtract": "sub", "sign": "sgn",
}  # fmt: skip
_REDUCED = {
    "add": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin", "logical_and": "all", "logical_or": "any",
}
_ACCUMULATED = {"add": "cumsum", "multiply": "cumprod"}

# NumPy's functions with the parameters of those of the same name here, but for `axis` and the like
_SAME = """
    argmax argmin atleast_1d atleast_2d atleast_3d broadcast_to cross cumprod cumsum diag diagflat diagonal diff dot einsum
    flip fliplr flipud hstack imag inner kron logcumsumexp moveaxis nan_to_num nanmean nansum outer ravel real reshape roll
    rot90 squeeze tile trace trapezoid tril triu vstack dstack column_stack tensordot vdot sinc i0 unwrap full_like ones_like
    zeros_like empty_like meshgrid
    fft.fft fft.fft2 fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ifftshift fft.ihfft fft.irfft fft.irfft2
    fft.irfftn fft.rfft fft.rfft2 fft.rfftn linalg.cholesky linalg.cond linalg.cross linalg.det linalg.diagonal linalg.eig
    linalg.eigh linalg.eigvals linalg.eigvalsh linalg.inv linalg.matrix_norm linalg.matrix_power linalg.multi_dot
    linalg.qr linalg.slogdet linalg.solve linalg.svd linalg.svdvals linalg.tensorinv linalg.tensorsolve linalg.vector_norm
""".split()
_PARAMETERS = {"axis": "dim", "keepdims": "keepdim", "axes": "dim"}

# without a derivative, or not about values
_CONSTANT = """
    allclose argsort argwhere array2string array_equal array_equiv array_repr array_str can_cast common_type count_nonzero
    digitize flatnonzero iscomplexobj isclose isrealobj lexsort may_share_memory min_scalar_type ndim nonzero result_type save
    savetxt savez searchsorted shape shares_memory size
""".split()


@public
def call_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `Tensor.__array_ufunc__` returns."""
    if not kwargs and method == "__call__" and (function := _call_of(ufunc)) is not None:  # most calls: operators
        return function(*map(_operand, inputs))
    name = ufunc.__name__
    function = None
    if method == "__call__":
        function = _operation(_UFUNCS.get(name, name))
    elif method in ("reduce", "accumulate"):
        function = _operation((_REDUCED if method == "reduce" else _ACCUMULATED).get(name, ""))
        kwargs = {"axis": 0, **kwargs} if len(inputs) == 1 else kwargs
    out = kwargs.get("out")
    into_arrays = out is not None and any(isinstance(x, np.ndarray) for x in out)
    if function is None or into_arrays or not set(kwargs) <= {"out", "axis", "keepdims"}:
        shown = f"np.{name}" if method == "__call__" else f"np.{name}.{method}"
        return _on_arrays(shown, getattr(ufunc, method), inputs, kwargs)
    if out is not None:
        kwargs = {**kwargs, "out": out[0] if len(out) == 1 else out}
    return function(*map(_operand, inputs), **{_PARAMETERS.get(key, key): value for key, value in kwargs.items()})


@public
def call_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `Tensor.__array_function__` returns."""
    path = f"{function.__module__}.{function.__name__}".removeprefix("numpy.")
    handler = _HANDLERS.get(path)
    if handler is not None:
        return handler(*args, **kwargs)
    if path in _SAME and (operation := _operation(path)) is not None:
        return operation(*_tensors(_positional(function, args, kwargs)), **_renamed(kwargs))
    if path in _CONSTANT:
        return function(*map(_detached, args), **{key: _detached(value) for key, value in kwargs.items()})
    return _on_arrays(f"np.{path}", function, args, kwargs)


def _on_arrays(name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """NumPy's own result, where nobody asks for a gradient."""
    if _any_wanted((args, tuple(kwargs.values()))):
        raise TypeError(
            f"{name} has no counterpart here that gradients pass through (with these arguments), and a tensor among them "
            "requires grad or has a tangent: detach() it, or use this package's operations"
        )
    return function(*map(_array, args), **{key: _array(value) for key, value in kwargs.items()})


def _any_wanted(value: Any) -> bool:
    """Whether a tensor in nested lists is to have a gradient or a tangent."""
    if isinstance(value, Tensor):
        return (value.requires_grad and is_grad_enabled()) or unpack_dual(value).tangent is not None
    return isinstance(value, (list, tuple)) and any(map(_any_wanted, value))


def _array(value: Any) -> Any:
    """A value with arrays in place of its tensors."""
    if isinstance(value, Tensor):
        return value.numpy()
    return type(value)(map(_array, value)) if type(value) in (list, tuple) else value


def _detached(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().numpy()
    return type(value)(map(_detached, value)) if type(value) in (list, tuple) else value


def _operand(value: Any) -> Any:
    """An operand of a ufunc as operations take it: tensors and numbers as they are, anything else as a tensor."""
    if type(value) is np.ndarray:
        return sharing(value)
    return value if isinstance(value, (Tensor, int, float, complex, np.generic)) else as_tensor(value)


def _tensors(values: Any) -> list[Any]:
    """Arguments with tensors in place of arrays."""
    return [
        as_tensor(v) if isinstance(v, np.ndarray) else type(v)(_tensors(v)) if type(v) in (list, tuple) else v for v in values
    ]


@functools.cache
def _call_of(ufunc: Any) -> Any:
    """The operation that a ufunc stands for, or None."""
    return _operation(_UFUNCS.get(ufunc.__name__, ufunc.__name__))


@functools.cache
def _operation(path: str) -> Any:
    """The function of this package at that path, or None."""
    found: Any = sys.modules[__package__] if path else None
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def _positional(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments with the first one, whatever NumPy calls it, by position."""
    if args:
        return args
    return (kwargs.pop(next(iter(inspect.signature(function).parameters))),)


def _renamed(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {_PARAMETERS.get(key, key): value for key, value in kwargs.items()}


# ------------------------------------------------------------------------------------------------------------
# functions whose parameters differ


def _reduction(name: str) -> Callable[..., Any]:
    def reduce(a: Any, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Tensor:
        options = {} if dtype is None else {"dtype": dtype}
        if axis is None and not keepdims:
            return _operation(name)(as_tensor(a), **options)
        dim = tuple(range(as_tensor(a).ndim)) if axis is None else axis
        return _operation(name)(as_tensor(a), dim=dim, keepdim=keepdims, **options)

    return reduce


def _deviation(name: str) -> Callable[..., Any]:
    def deviate(a: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False, correction: Any = None) -> Tensor:
        options = {"correction": ddof if correction is None else correction, "keepdim": keepdims}
        return _operation(name)(as_tensor(a), dim=axis, **options)

    return deviate


def _where(condition: Any, *values: Any) -> Any:
    if not values:
        return _operation("where")(as_tensor(condition))
    return _operation("where")(as_tensor(condition).bool(), *map(_operand, values))


def _concatenate(arrays: Any, axis: int | None = 0) -> Tensor:
    tensors = [as_tensor(x) for x in arrays]
    return _operation("cat")([x.reshape(-1) for x in tensors] if axis is None else tensors, 0 if axis is None else axis)


def _stack(arrays: Any, axis: int = 0) -> Tensor:
    return _operation("stack")([as_tensor(x) for x in arrays], axis)


def _transpose(a: Tensor, axes: Any = None) -> Tensor:
    return a.permute(tuple(range(a.ndim))[::-1] if axes is None else tuple(axes))


def _clip(a: Any, a_min: Any = None, a_max: Any = None, **others: Any) -> Tensor:
    bounds = [others.pop("min", a_min), others.pop("max", a_max)]
    if others:
        raise TypeError(f"np.clip(): a Tensor takes no {', '.join(others)}")
    return as_tensor(a).clamp(*[as_tensor(b) if isinstance(b, np.ndarray) else b for b in bounds])


def _norm(x: Tensor, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    whole = _operation("linalg.norm")
    if whole is not None:
        return whole(x, ord, axis, keepdims)
    if isinstance(axis, int) or x.ndim == 1 or (ord is None and axis is None):
        return _operation("norm")(x, 2 if ord is None else ord, dim=axis, keepdim=keepdims)
    raise TypeError("np.linalg.norm of matrices has no counterpart here that gradients pass through")


def _squeeze(a: Tensor, axis: Any = None) -> Tensor:
    return a.squeeze() if axis is None else a.squeeze(axis)


def _expand_dims(a: Tensor, axis: int) -> Tensor:
    return a.unsqueeze(axis)


def _swapaxes(a: Tensor, axis1: int, axis2: int) -> Tensor:
    return a.transpose(axis1, axis2)


def _ravel(a: Tensor) -> Tensor:
    return a.reshape(-1)


def _reshape(a: Tensor, shape: Any) -> Tensor:
    return a.reshape(shape)


def _flip(m: Tensor, axis: Any = None) -> Tensor:
    return m.flip(tuple(range(m.ndim)) if axis is None else axis)


def _broadcast_to(array: Tensor, shape: Any) -> Tensor:
    return array.expand(shape)


def _copy(a: Tensor) -> Tensor:
    return a.clone()


def _cumulative(name: str) -> Callable[..., Any]:
    def accumulate(a: Tensor, axis: int | None = None, *, dtype: Any = None) -> Tensor:
        return _operation(name)(a.reshape(-1) if axis is None else a, 0 if axis is None else axis, dtype=dtype)

    return accumulate


def _dot(a: Any, b: Any) -> Tensor:
    a, b = as_tensor(a), as_tensor(b)
    if not a.ndim or not b.ndim:
        return a * b
    if b.ndim > 2:
        raise TypeError("np.dot() of a second Tensor with more than two dimensions: einsum() says which of them to sum over")
    return a @ b


def _shape(a: Tensor) -> tuple[int, ...]:
    return tuple(a.shape)


_HANDLERS: dict[str, Callable[..., Any]] = {
    **{name: _reduction(name) for name in ("sum", "mean", "prod", "all", "any")},
    **{numpy_name: _reduction(name) for name in ("amax", "amin") for numpy_name in (name, name[1:])},
    **{name: _deviation(name) for name in ("std", "var")},
    **{name: _cumulative(name) for name in ("cumsum", "cumprod")},
    "where": _where, "concatenate": _concatenate, "stack": _stack, "transpose": _transpose, "clip": _clip,
    "linalg.norm": _norm, "squeeze": _squeeze, "expand_dims": _expand_dims, "swapaxes": _swapaxes, "ravel": _ravel,
    "reshape": _reshape, "flip": _flip, "broadcast_to": _broadcast_to, "copy": _copy, "dot": _dot, "shape": _shape,
}  # fmt: skip
