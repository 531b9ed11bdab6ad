"""Tensors as text, laid out as PyTorch lays them out (facade).

The array is reduced to the elements that are shown; one number format is chosen for all of them; the texts
are laid out in nested brackets; other attributes (dtype, grad_fn, ...) follow as suffixes.
"""

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .._core.arrays import dtypes
from .._core.batching.batched import depth_of, first_value, is_batched
from .._core.graph.record import get_tangent
from .._core.graph.tensor import Tensor, array_of

Text = Callable[[Any], str]


class _Options(NamedTuple):
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": _Options(),
    "short": _Options(precision=2, edgeitems=2),
    "full": _Options(threshold=math.inf),
}
_options = _PROFILES["default"]


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """``set_printoptions(precision=2)`` changes how tensors are printed; what is not given stays.

    Args:
        precision: digits after the decimal point (4).
        threshold: tensors with more elements than this are summarised (1000).
        edgeitems: how many entries a summary shows at both ends of an axis (3).
        linewidth: columns of a line (80).
        profile: ``"default"``, ``"short"`` or ``"full"``, applied before the other arguments.
        sci_mode: forces scientific notation on or off; a call without it returns to automatic.

    >>> import autograd_cy as ag
    >>> ag.set_printoptions(precision=2)
    >>> ag.tensor([1 / 3])
    tensor([0.33])
    >>> ag.set_printoptions(profile="default")
    """
    global _options
    if profile is not None and profile not in _PROFILES:
        raise ValueError(f"set_printoptions: profile must be one of {', '.join(_PROFILES)}, got {profile!r}")
    given: dict[str, Any] = {"precision": precision, "threshold": threshold}
    given |= {"edgeitems": edgeitems, "linewidth": linewidth}
    changes = {name: value for name, value in given.items() if value is not None}
    base = _PROFILES[profile] if profile else _options
    _options = base._replace(sci_mode=sci_mode, **changes)


def get_printoptions() -> dict[str, Any]:
    """``get_printoptions()`` is a dict of what ``set_printoptions`` sets.

    >>> from autograd_cy._tensor.text import get_printoptions
    >>> get_printoptions()["linewidth"]
    80
    """
    return _options._asdict()


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """``with printoptions(precision=2): ...`` sets the print options and restores them on leaving.

    >>> import autograd_cy as ag
    >>> from autograd_cy._tensor.text import printoptions
    >>> with printoptions(precision=2):
    ...     ag.tensor([1 / 3])
    tensor([0.33])
    """
    global _options
    before = _options
    try:
        set_printoptions(**options)
        yield
    finally:
        _options = before


def tensor_repr(t: Tensor) -> str:
    """``tensor_repr(t)`` is ``repr(t)``.

    >>> import autograd_cy as ag
    >>> from autograd_cy._tensor.text import tensor_repr
    >>> tensor_repr(ag.tensor([1.0, 2.0], requires_grad=True))
    'tensor([1., 2.], requires_grad=True)'
    """
    if is_batched(t):
        value = repr(first_value(t)).replace("\n", "\n    ")
        return f"BatchedTensor(lvl={depth_of(t)}, bdim=0, value=\n    {value}\n)"
    name = "tensor" if type(t) is Tensor else type(t).__name__
    return tensor_str(array_of(t), suffixes=_suffixes(t), prefix=name + "(")


def meta_repr(t: Tensor) -> str:
    """``meta_repr(t)`` is ``repr(t)`` of a tensor without elements."""
    suffixes = ["device='meta'", f"size={tuple(t.shape)}", *_suffixes(t, with_size=False)]
    return with_suffixes("tensor(...", suffixes, len("tensor(")) + ")"


def tensor_str(array: np.ndarray, *, suffixes: list[str], prefix: str = "tensor(") -> str:
    """``tensor_str(array, suffixes=[])`` is the text of the array, with the suffixes behind it.

    >>> import numpy as np
    >>> from autograd_cy._tensor.text import tensor_str
    >>> tensor_str(np.eye(2), suffixes=["requires_grad=True"])
    'tensor([[1., 0.],\\n        [0., 1.]], requires_grad=True)'
    """
    return with_suffixes(prefix + _array_str(array, len(prefix)), suffixes, len(prefix)) + ")"


def with_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    """``with_suffixes(text, suffixes, indent)`` is the text with the suffixes behind it, wrapped into lines.

    >>> from autograd_cy._tensor.text import with_suffixes
    >>> with_suffixes("tensor(1.", ["requires_grad=True"], 7)
    'tensor(1., requires_grad=True'
    """
    # PyTorch wraps two columns early: it counts the line's break and its end.
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if column + len(suffix) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + suffix
            column = indent + len(suffix)
        else:
            text += ", " + suffix
            column += len(suffix) + 2
    return text


def _node_name(t: Tensor) -> str:
    try:
        return "" if t.grad_fn is None else type(t.grad_fn).__name__
    except RuntimeError:  # a view that can't follow a write to its base
        return "Invalid"


def _suffixes(t: Tensor, with_size: bool = True) -> list[str]:
    """What is said about ``t`` beyond its numbers, in PyTorch's order."""
    array = array_of(t)
    suffixes = []
    if with_size and (not _options.edgeitems if array.size else array.ndim != 1):
        suffixes.append(f"size={array.shape}")
    if not is_obvious(t.dtype, empty=not (array.size and with_size)):
        suffixes.append(f"dtype={t.dtype}")
    node = _node_name(t)
    if node:
        suffixes.append(f"grad_fn=<{node}>")
    elif t.requires_grad:
        suffixes.append("requires_grad=True")
    tangent = get_tangent(t)
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    return suffixes


def is_obvious(dtype: dtypes.dtype, empty: bool) -> bool:
    """``is_obvious(dtype, empty)``: whether the numbers alone tell the dtype. An empty tensor has none."""
    default = dtypes.get_default()
    if empty:
        return dtype is default
    return dtype in (default, default.to_complex()) or dtype.name in ("int64", "bool")


# ------------------------------------------------------------------------------------------------------------


def _array_str(array: np.ndarray, indent: int) -> str:
    """The bracketed numbers, to be printed from column ``indent`` on."""
    if not array.size:
        return "[]"
    edge = _options.edgeitems
    summarize = array.size > _options.threshold
    if summarize and not edge and array.ndim:
        return "[...]"
    cut = [summarize and length > 2 * edge for length in array.shape]
    is_bfloat16 = dtypes.kind_of(array.dtype) == "f" != array.dtype.kind
    shown: np.ndarray = array.astype(np.float32) if is_bfloat16 else array
    for axis, length in enumerate(array.shape):
        if cut[axis]:  # one at a time: 64 indices at once are too many for NumPy
            shown = shown.take(np.r_[:edge, length - edge : length], axis)
    text, width = _complex_format(shown) if shown.dtype.kind == "c" else _real_format(shown)
    texts = np.array([text(x) for x in shown.ravel().tolist()], dtype=object).reshape(shown.shape)
    return _brackets(texts, cut, indent, width + len(", "))


def _brackets(texts: np.ndarray, cut: list[bool], indent: int, step: int) -> str:
    """Nested brackets; ``cut`` says which axes lack their middle, ``step`` how wide an element is."""
    if not texts.ndim:
        return texts.item()
    if texts.ndim == 1:
        parts, dots = texts.tolist(), " ..."
    else:
        parts, dots = [_brackets(row, cut[1:], indent + 1, step) for row in texts], "..."
    if cut[0]:
        parts.insert(_options.edgeitems, dots)
    margin = " " * (indent + 1)
    if texts.ndim > 1:
        return "[" + ("," + "\n" * (texts.ndim - 1) + margin).join(parts) + "]"
    per_line = max(1, (_options.linewidth - indent) // step)
    lines = [", ".join(parts[i : i + per_line]) for i in range(0, len(parts), per_line)]
    return "[" + (",\n" + margin).join(lines) + "]"


def _complex_format(values: np.ndarray) -> tuple[Text, int]:
    """``1.+2.j``: the real part padded, the imaginary part with its sign."""
    real, real_width = _real_format(values.real)
    imag, imag_width = _real_format(values.imag)

    def text(z: complex) -> str:
        imaginary = imag(z.imag).lstrip()
        sign = "" if imaginary[0] == "-" else "+"
        return f"{real(z.real)}{sign}{imaginary}j"

    return text, real_width + imag_width + 1


def _real_format(values: np.ndarray) -> tuple[Text, int]:
    """How each of ``values`` is written, and in how many columns."""
    text: Text = str
    measured = values
    if values.dtype.kind == "f":
        measured = values[np.isfinite(values) & (values != 0)]
        measured = measured if values.dtype == np.longdouble else measured.astype(np.float64)
        text = _float_text(np.abs(measured))
    width = max((len(text(x)) for x in measured.ravel().tolist()), default=1)
    return lambda x: text(x).rjust(width), width


def _float_text(sizes: np.ndarray) -> Text:
    """The notation for these magnitudes: ``12.`` if all are whole, else ``12.3400`` or ``1.2340e+01``."""
    whole = bool((sizes == np.ceil(sizes)).all())
    if not sizes.size:
        scientific = False
    elif _options.sci_mode is not None:
        scientific = _options.sci_mode
    else:
        low, high = sizes.min(), sizes.max()
        with np.errstate(over="ignore"):
            scientific = bool(high / low > 1000 or high > 1e8 or (low < 1e-4 and not whole))
    if sizes.dtype == np.longdouble != np.float64:
        return _extended_text(scientific, whole)
    if scientific:
        return f"{{:.{_options.precision}e}}".format
    if not whole:
        return f"{{:.{_options.precision}f}}".format
    return lambda x: f"{x:.0f}." if math.isfinite(x) else str(x)


def _extended_text(scientific: bool, whole: bool) -> Text:
    """The same for longdouble, whose digits Python's formats round to those of float64."""
    precision = _options.precision
    if scientific:
        return lambda x: np.format_float_scientific(x, precision, unique=False, exp_digits=2)
    if whole:
        return lambda x: np.format_float_positional(x, 0, unique=False) if np.isfinite(x) else str(x)
    return lambda x: np.format_float_positional(x, precision, unique=False)
