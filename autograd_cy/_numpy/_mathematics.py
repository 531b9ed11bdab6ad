"""NumPy's elementwise functions that are no ufuncs, differences, interpolation, polynomials: the counterparts (facade)."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor, sharing
from .._creation.filled import zeros_like
from .._functional import names as ops
from ._arguments import Declined, any_in, array, axes_of, axis_of, common, counterpart, floating, joined, tensor


@counterpart("angle")
def _angle(z: Any, deg: bool = False) -> Tensor:
    y = ops.angle(floating(z))
    return ops.rad2deg(y) if deg else y


@counterpart("real")
def _real(val: Any) -> Tensor:
    return ops.real(tensor(val))


@counterpart("imag")
def _imag(val: Any) -> Tensor:
    x = tensor(val)
    return ops.imag(x) if x.dtype.is_complex else zeros_like(x)


@counterpart("real_if_close")
def _real_if_close(a: Any, tol: float = 100) -> Tensor:
    x = tensor(a)
    if not x.dtype.is_complex:
        return x
    return x if np.iscomplexobj(np.real_if_close(array(x), tol)) else ops.real(x)


@counterpart("round", "around")
def _round(a: Any, decimals: int = 0, out: Any = None) -> Tensor:
    x = tensor(a)
    if out is not None or not x.dtype.is_floating_point:
        raise Declined
    return ops.round(x, decimals=decimals) if decimals else ops.round(x)


@counterpart("fix")
def _fix(x: Any, out: Any = None) -> Tensor:
    if out is not None:
        raise Declined
    return ops.trunc(tensor(x))


@counterpart("clip")
def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Tensor:
    low, high = a_min if min is None else min, a_max if max is None else max
    if out is not None:
        raise Declined
    x = tensor(a)
    bounds = [b if b is None or isinstance(b, (int, float)) else tensor(b) for b in (low, high)]
    if bounds == [None, None]:
        return x.clone()
    if any_in(Tensor, bounds):
        like = x.dtype.numpy_dtype if x.dtype.is_floating_point else np.dtype(float)
        bounds = [sharing(np.asarray(b, like)) if isinstance(b, (int, float)) else b for b in bounds]
    return x.clamp(*bounds)


@counterpart("nan_to_num")
def _nan_to_num(x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Tensor:
    y = tensor(x)
    return ops.nan_to_num(y, nan, posinf, neginf) if copy else y.nan_to_num_(nan, posinf, neginf)


@counterpart("sinc")
def _sinc(x: Any) -> Tensor:
    return ops.sinc(floating(x))


@counterpart("i0")
def _i0(x: Any) -> Tensor:
    return ops.i0(floating(x))


@counterpart("unwrap")
def _unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * np.pi) -> Tensor:
    x = floating(p)
    turns = np.unwrap(array(x), discont, axis, period=period) - array(x)
    return x + sharing(turns.astype(x.dtype.numpy_dtype))


def _in_the_complex_plane(name: str, operation: Callable[..., Any]) -> None:
    """Register a function of numpy.emath, which is complex where the real one is undefined."""
    function = getattr(np.emath, name)

    @counterpart(f"scimath.{name}")
    def call(*args: Any) -> Any:
        operands = [floating(x) for x in args]
        if np.iscomplexobj(function(*map(array, operands))):
            operands = [x.to(x.dtype.to_complex()) if x.dtype.is_floating_point else x for x in operands]
        return operation(*operands)


for _name in ("sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"):
    _in_the_complex_plane(_name, getattr(ops, _name))
_in_the_complex_plane("power", ops.pow)
_in_the_complex_plane("logn", lambda n, x: ops.log(x) / ops.log(n))


# ------------------------------------------------------------------------------------------------------------
# differences and areas


@counterpart("diff")
def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    x = tensor(a)
    axis = axis_of(axis, x.ndim)
    prepend, append = (None if end is np._NoValue else end for end in (prepend, append))
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    ends = [None if end is None else tensor(end).to(x.dtype) for end in (prepend, append)]
    shape = [1 if dim == axis else size for dim, size in enumerate(x.shape)]
    before, after = (end if end is None or end.ndim else end.expand(shape) for end in ends)
    return ops.diff(x, n, axis, before, after)


@counterpart("ediff1d")
def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Tensor:
    parts = [to_begin, ops.diff(tensor(ary).reshape(-1)), to_end]
    return joined([tensor(part).reshape(-1) for part in parts if part is not None])


@counterpart("gradient")
def _gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    x = floating(f)
    axes = axes_of(axis, x.ndim)
    spacing = varargs if len(varargs) > 1 else varargs * len(axes)
    if len(spacing) not in (0, len(axes)):
        raise TypeError("invalid number of arguments")
    made: list[Tensor] = []
    for k, dim in enumerate(axes):
        step = spacing[k] if spacing else 1.0
        points = step if isinstance(step, (int, float)) else tensor(step).to(x.dtype)
        if isinstance(points, Tensor):
            if points.requires_grad or points.ndim != 1:
                raise Declined
            made += ops.gradient(x, spacing=(points,), dim=dim, edge_order=edge_order)
        else:
            made += ops.gradient(x, spacing=float(points), dim=dim, edge_order=edge_order)
    return made[0] if len(axes) == 1 else tuple(made)


@counterpart("trapezoid")
def _trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Tensor:
    values = floating(y)
    if isinstance(y, Tensor) and y.dtype is ops.bool:
        raise Declined
    if x is None:
        return ops.trapezoid(values, dx=dx, dim=axis)
    return ops.trapezoid(values, tensor(x).to(values.dtype), dim=axis)


@counterpart("interp")
def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Tensor:
    x, xp, fp = common([floating(x), floating(xp), floating(fp)])
    if period is not None or xp.ndim != 1 or xp.shape != fp.shape or xp.numel() < 2:
        raise Declined
    below = (ops.searchsorted(xp.detach(), x.detach(), right=True) - 1).clamp(0, xp.numel() - 2)
    x0, x1, y0, y1 = xp[below], xp[below + 1], fp[below], fp[below + 1]
    y = y0 + (y1 - y0) / (x1 - x0) * (x - x0)
    y = ops.where(x < xp[0], fp[0] if left is None else left, y)
    return ops.where(x == xp[-1], fp[-1], ops.where(x > xp[-1], fp[-1] if right is None else right, y))


@counterpart("linspace")
def _linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
              axis: int = 0) -> Any:  # fmt: skip
    first, last = common([floating(start), floating(stop)])
    width = last - first
    parts = num - 1 if endpoint else num
    if parts <= 0 or (dtype is not None and np.dtype(dtype).kind not in "fc"):
        raise Declined
    places = np.arange(num, dtype=first.abs().dtype.numpy_dtype) / parts
    y = first + sharing(places).reshape((-1,) + (1,) * width.ndim) * width
    if endpoint:  # to the last digit
        y = ops.cat([y[:-1], last.expand(width.shape).unsqueeze(0)])
    y = y if dtype is None else y.to(np.dtype(dtype))
    y = ops.movedim(y, 0, axis) if axis != 0 else y
    return (y, width / parts) if retstep else y


@counterpart("logspace")
def _logspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None,
              axis: int = 0) -> Tensor:  # fmt: skip
    exponents = _linspace(start, stop, num, endpoint, False, dtype, axis)
    return ops.pow(base if isinstance(base, (int, float)) else tensor(base), exponents)


@counterpart("geomspace")
def _geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Tensor:
    first, last = floating(start), floating(stop)
    if first.dtype.is_complex or last.dtype.is_complex or (array(first) <= 0).any() or (array(last) <= 0).any():
        raise Declined
    return ops.exp(_linspace(first.log(), last.log(), num, endpoint, False, dtype, axis))


# ------------------------------------------------------------------------------------------------------------
# polynomials, the highest power first


@counterpart("polyval")
def _polyval(p: Any, x: Any) -> Any:
    if not isinstance(x, (Tensor, np.ndarray, int, float, complex, list)):
        raise Declined
    point = x if isinstance(x, (int, float, complex)) else tensor(x)
    coefficients = _coefficients(p).unbind(0)
    y = zeros_like(point) if isinstance(point, Tensor) else 0.0
    return functools.reduce(lambda sum, c: sum * point + c, coefficients, y)


def _coefficients(p: Any) -> Tensor:
    x = tensor(p)
    if x.ndim != 1 or x.dtype is ops.bool:
        raise Declined
    return x


def _same_length(a1: Any, a2: Any) -> tuple[Tensor, Tensor]:
    a, b = common([_coefficients(a1), _coefficients(a2)])
    longest = max(a.numel(), b.numel())
    zeros = (sharing(np.zeros(longest - x.numel(), x.dtype.numpy_dtype)) for x in (a, b))
    return joined([next(zeros), a]), joined([next(zeros), b])


@counterpart("polyadd")
def _polyadd(a1: Any, a2: Any) -> Tensor:
    a, b = _same_length(a1, a2)
    return a + b


@counterpart("polysub")
def _polysub(a1: Any, a2: Any) -> Tensor:
    a, b = _same_length(a1, a2)
    return a - b


@counterpart("polyder")
def _polyder(p: Any, m: int = 1) -> Tensor:
    y = _coefficients(p)
    for _ in range(m):
        y = y[:-1] * sharing(np.arange(y.numel() - 1, 0, -1))
    return y


@counterpart("polyint")
def _polyint(p: Any, m: int = 1, k: Any = None) -> Tensor:
    y = floating(_coefficients(p))
    constants = np.zeros(m) if k is None else np.broadcast_to(np.atleast_1d(k), (m,))
    for constant in constants:
        last = sharing(np.array([constant], y.dtype.numpy_dtype))
        y = joined([y / sharing(np.arange(y.numel(), 0, -1)), last])
    return y


@counterpart("poly")
def _poly(seq_of_zeros: Any) -> Tensor:
    zeros = floating(seq_of_zeros)
    if zeros.ndim != 1 or zeros.dtype.is_complex:
        raise Declined
    y = zeros.new_ones(1)
    for zero in zeros.unbind(0):
        y = ops.cat([y[:1], y[1:] - zero * y[:-1], -zero * y[-1:]])
    return y


@counterpart("vander")
def _vander(x: Any, N: Any = None, increasing: bool = False) -> Tensor:
    y = tensor(x)
    powers = np.arange(y.numel() if N is None else N)
    return y.unsqueeze(-1) ** sharing(powers if increasing else powers[::-1].copy())
