"""NumPy's functions on Tensors: see NOTE [NumPy's functions] in `_arguments.py` (facade). Imported when one is called.

`__array_ufunc__` and `__array_function__` of Tensor come here.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor, sharing
from .._core.runtime.entry import public
from ._arguments import COUNTERPARTS, Declined, any_in, any_wanted, array, takes
from ._ufuncs import METHODS, call, call_of, operand

__all__: list[str] = []

# Without a derivative, or not about values.
_CONSTANT = set(
    """
    allclose argmax argmin argpartition argsort argwhere array2string array_equal array_equiv array_repr array_str can_cast
    common_type count_nonzero diag_indices_from digitize einsum_path flatnonzero iscomplex iscomplexobj isclose isin isneginf
    isposinf isreal isrealobj ix_ lexsort linalg.matrix_rank may_share_memory min_scalar_type nanargmax nanargmin ndim nonzero
    packbits ravel_multi_index result_type save savetxt savez savez_compressed searchsorted shape shares_memory size
    tril_indices_from triu_indices_from unpackbits unravel_index
    """.split()
)

# Those that write to their first argument.
_WRITING = {"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}
_ABSENT = (None, np._NoValue)


@public
def call_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `Tensor.__array_ufunc__` returns."""
    if not kwargs and method == "__call__" and (operation := call_of(ufunc)) is not None:  # operators
        try:
            return operation(*map(operand, inputs))
        except Declined:
            pass
        except NotImplementedError:  # of an operation that doesn't take these types
            if any_wanted(inputs):
                raise
    name: str = ufunc.__name__
    shown = f"np.{name}" if getattr(np, name, None) is ufunc else name
    shown = shown if method == "__call__" else f"{shown}.{method}"
    kwargs = _said(kwargs)
    if method == "at":
        return _written(shown, ufunc.at, inputs, kwargs)
    out = kwargs.pop("out", ())
    if not out or (method == "__call__" and len(out) == 1 and type(out[0]) is Tensor):
        try:
            if method != "__call__":
                return METHODS[method](ufunc, *inputs, **kwargs)
            return call(ufunc, inputs, **({"out": out[0]} if out else {}), **kwargs)
        except (Declined, NotImplementedError):
            pass
    return _on_arrays(shown, getattr(ufunc, method), inputs, {**kwargs, "out": out} if out else kwargs)


@public
def call_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `Tensor.__array_function__` returns."""
    path = _path_of(function)
    shown = f"np.{path}" if path else repr(function)
    kwargs = _said(kwargs)
    found = counterparts().get(path)
    if found is not None and takes(found, args, kwargs):
        try:
            return found(*args, **kwargs)
        except (Declined, NotImplementedError):  # of an operation that doesn't take these types
            pass
    if path in _WRITING:
        return _written(shown, function, args, kwargs)
    if path in _CONSTANT and not any_in(Tensor, kwargs.get("out")):
        return function(*map(array, args), **{key: array(value) for key, value in kwargs.items()})
    return _on_arrays(shown, function, args, kwargs)


def _path_of(function: Any) -> str:
    """The path of a NumPy function, as in "linalg.norm"; "" for any other callable."""
    module, name = getattr(function, "__module__", None), getattr(function, "__name__", None)
    package, _, rest = str(module).partition(".")
    if package != "numpy" or getattr(sys.modules.get(str(module)), str(name), None) is not function:
        return ""
    return f"{rest}.{name}".removeprefix(".").removeprefix("lib.")


@functools.cache
def counterparts() -> dict[str, Callable[..., Any]]:
    """All counterparts by NumPy's path; they are imported for functions, not for operators beside arrays."""
    from . import (  # noqa: F401  (they declare themselves)
        _joining,
        _linear,
        _mathematics,
        _picked,
        _reductions,
        _shapes,
        _signals,
    )

    return COUNTERPARTS


def _said(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments that say more than the defaults; how a ufunc casts and lays out is left to operations."""
    return {
        key: value
        for key, value in kwargs.items()
        if not (any(value is absent for absent in _ABSENT) and key in ("out", "dtype", "initial", "where", "keepdims", "like"))
        and not (key == "where" and value is True)
        and not (key == "casting" and value == "same_kind")
        and not (key == "order" and value == "K")
        and not (key == "subok")
    }


def _on_arrays(name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """NumPy's own result, when no gradient is needed."""
    _refuse_wanted(name, (args, tuple(kwargs.values())))
    outs = kwargs.get("out", ())
    outs = outs if isinstance(outs, tuple) else (outs,)
    if not any_in(Tensor, outs):
        return function(*map(array, args), **{key: array(value) for key, value in kwargs.items()})
    copies = tuple(array(x).copy() if isinstance(x, Tensor) else x for x in outs)
    options = {**kwargs, "out": copies if isinstance(kwargs["out"], tuple) else copies[0]}
    function(*map(array, args), **{key: array(value) for key, value in options.items()})
    for x, copy in zip(outs, copies, strict=True):
        if isinstance(x, Tensor):
            x.copy_(sharing(copy))
    return outs if len(outs) > 1 else outs[0]


def _written(name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """What a function does that writes to its first argument."""
    _refuse_wanted(name, (args, tuple(kwargs.values())))
    target = args[0] if args else None
    if not isinstance(target, Tensor):
        function(*map(array, args), **{key: array(value) for key, value in kwargs.items()})
        return
    copy = array(target).copy()
    function(copy, *map(array, args[1:]), **{key: array(value) for key, value in kwargs.items()})
    target.copy_(sharing(copy))


def _refuse_wanted(name: str, values: Any) -> None:
    if any_wanted(values):
        raise TypeError(
            f"{name} has no counterpart here that gradients pass through (with these arguments), and a tensor among them "
            "requires grad or has a tangent: detach() it, or use this package's operations"
        )
