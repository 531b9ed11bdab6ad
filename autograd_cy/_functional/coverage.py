"""coverage(): what each operation can do, measured on the example of its docstring (facade). Imported when asked for."""

import doctest
import importlib
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._compat import PACKAGE
from .._core.arrays.dtypes import convert
from .._core.graph.tensor import Tensor
from .._core.ops.operations import OPS
from .._core.runtime.entry import public
from ..autograd import forward_ad
from ..autograd.gradients import grad

_MAKERS = ("arange", "eye", "full", "linspace", "ones", "rand", "randn", "tensor", "zeros")
_KINDS = {
    "bool": ["bool"], "integers": ["uint8", "int64"], "float16": ["float16"], "floats": ["float32", "float64"],
    "complex": ["complex64", "complex128"],
}  # fmt: skip
_COLUMNS = ("operation", "gradient", "second order", "forward mode", "vmap", "dtypes")


@public
def coverage(name: str = "") -> None:
    """``coverage()`` prints what each operation has: a gradient (the node that computes it), gradients of gradients, forward
    mode, a batching rule, and the kinds of dtypes it takes.

    With a name, only operations whose name contains it. It runs the examples of their docstrings.
    Of an operation that needs SciPy, without SciPy, it says so.

    >>> import autograd_cy as ag
    >>> ag.coverage("rsqrt")
    operation  gradient        second order  forward mode  vmap     dtypes
    rsqrt      RsqrtBackward0  yes           yes           aligned  bool integers float16 floats complex
    """
    rows = [_COLUMNS, *(_row(key) for key in sorted(OPS) if name in key)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _row(key: str) -> tuple[str, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            measured = _measured(key)
        except ImportError:  # the special functions that neither the C library nor NumPy has
            measured = ("needs SciPy", "", "", "")
    return key, *measured[:3], batching(OPS[key].function), measured[3]


def _measured(key: str) -> tuple[str, ...]:
    """What the example shows: the nodes, whether there is a second order and a tangent, the dtypes."""
    kinds = [kind for kind, dtypes in _KINDS.items() if all(_works(key, dtype) for dtype in dtypes)]
    found = " ".join(nodes(key))
    second = "yes" if found and _has_second_order(key) else ""
    return found, second, "yes" if _has_tangent(key) else "", " ".join(kinds)


def batching(function: Any) -> str:
    """What kind of batching rule an operation has."""
    rules: Any = importlib.import_module("autograd_cy._core.batching.rules")
    kinds: Any = importlib.import_module("autograd_cy._core.batching.rules")
    rule = rules.rule_of(function)
    words = {None: "loop", kinds.elementwise: "aligned", kinds.on_values: "as they are", rules.COMPOSITE: "composed"}
    return "along" if isinstance(rule, kinds.Along) else words.get(rule, "rule")


def nodes(key: str) -> list[str]:
    """The names of the nodes that the example of an operation records, each once."""
    value = example_of(key, lambda t: t.requires_grad_())
    names = dict.fromkeys(t.grad_fn.name() for t in tensors_in(value) if t.grad_fn)
    return [name for name in names if name != "torch::autograd::NotImplemented"]  # whose backward is an error


def _works(key: str, dtype: str) -> bool:
    """Whether the example runs with its floats in another dtype; if it has none, with all its tensors."""
    floats: list[Tensor] = []

    def note(tensor: Tensor) -> Tensor:
        floats.append(tensor)
        return tensor

    example_of(key, note)
    try:
        example_of(key, lambda t: _converted(t, dtype), all_tensors=not floats)
    except (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError):
        return False
    return True


def _converted(tensor: Tensor, dtype: str) -> Tensor:
    numbers = np.asarray(tensor.detach().numpy())
    if np.dtype(dtype).kind in "bui" and numbers.dtype.kind == "f":  # no divisor may become 0
        numbers = np.ceil(np.abs(np.nan_to_num(numbers, posinf=1, neginf=1)))
    return _package().from_numpy(numbers).to(convert(np.dtype(dtype)))


def _has_second_order(key: str) -> bool:
    leaves: list[Tensor] = []

    def leaf(tensor: Tensor) -> Tensor:
        leaves.append(tensor.requires_grad_())
        return tensor

    results = [t for t in tensors_in(example_of(key, leaf)) if t.requires_grad]
    seeds = [_package().ones_like(t).requires_grad_() for t in results]
    return any(_is_recorded(results, x, seeds) for x in leaves)


def _is_recorded(results: list[Tensor], leaf: Tensor, seeds: list[Tensor]) -> bool:
    """Whether the gradient for a leaf depends on something."""
    try:
        (found,) = grad(results, leaf, seeds, create_graph=True, allow_unused=True)
        if found is None or not found.requires_grad:  # type: ignore[redundant-expr]
            return False
        grad(found, [leaf, *seeds], _package().ones_like(found), allow_unused=True)
    except (NotImplementedError, RuntimeError):  # igamma() has none for its first operand, ctc_loss() no second one
        return False
    return True


def _has_tangent(key: str) -> bool:
    with forward_ad.dual_level():
        try:
            results = list(tensors_in(example_of(key, lambda t: forward_ad.make_dual(t, _package().ones_like(t)))))
        except (RuntimeError, NotImplementedError):
            return False
        return any(forward_ad.unpack_dual(t).tangent is not None for t in results)


class _Package:
    """autograd_cy as examples find it, but tensors of floats that it makes are changed (or all of them)."""

    def __init__(self, change: Callable[[Tensor], Tensor], all_tensors: bool):
        self._change, self._all = change, all_tensors

    def __getattr__(self, name: str) -> Any:
        value = getattr(_package(), name)
        if name not in _MAKERS:
            return value

        def made(*args: Any, **kwargs: Any) -> Tensor:
            tensor: Tensor = value(*args, **kwargs)
            return self._change(tensor) if self._all or tensor.is_floating_point() or tensor.is_complex() else tensor

        return made


def example_of(key: str, change: Callable[[Tensor], Tensor], all_tensors: bool = False) -> Any:
    """The value of the last line of an operation's example, with its tensors of floats changed."""
    sources = [e.source for e in doctest.DocTestParser().get_examples(OPS[key].function.__doc__)]
    sources = [source for source in sources if not source.startswith("import autograd_cy")]
    if not sources:
        return ()
    names = {"ag": _Package(change, all_tensors), "np": np}
    for source in sources[:-1]:
        exec(source, names)
    return eval(sources[-1].removesuffix(".shape\n"), names)


def tensors_in(value: Any) -> Iterator[Tensor]:
    """The tensors among (nested) results."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)


def _package() -> Any:
    return sys.modules[PACKAGE]
