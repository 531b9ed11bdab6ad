"""assert_close: compares tensors, arrays, numbers and containers of them with expected ones (facade).

First both sides are traversed together: each pair of leaves becomes a comparison, and pairs that can't be compared are an
error before any value is read. Then the pairs are compared in order, and the first difference is reported. The texts are
PyTorch's.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NoReturn

import numpy as np

from .._core.arrays import dtypes
from .._core.graph.tensor import Tensor, array_of
from .._core.runtime.entry import public
from .._creation.data import as_tensor
from .._types import Size

Path = tuple[Any, ...]  # the keys and indices that lead to an item

_HALF, _BRAIN, _SINGLE, _DOUBLE = (1e-3, 1e-5), (1.6e-2, 1e-5), (1.3e-6, 1e-5), (1e-7, 1e-7)  # rtol, atol
_EXTENDED = (1e-10, 1e-10)
# by the character of NumPy's dtype (ml_dtypes' bfloat16 has E); of other types none, they are equal
_TOLERANCES = {"e": _HALF, "E": _BRAIN, "f": _SINGLE, "d": _DOUBLE, "g": _EXTENDED, "F": _SINGLE, "D": _DOUBLE}
_CODES: dict[type, str] = {int: "l", float: "d", complex: "D"}


@public
def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """assert_close(actual, expected): AssertionError where they differ by more than `atol + rtol * |expected|`.

    Both are tensors, NumPy arrays, numbers, bools, None, or sequences and mappings of these, nested as you like; one kind on
    both sides (lists and tuples are compatible). Infinite values must be equal; so must all values of integer types.

    * `rtol`, `atol`: both or none; without them 1e-3 and 1e-5 for float16, 1.6e-2 and 1e-5 for bfloat16, 1.3e-6 and 1e-5 for
      float32 and complex64, 1e-7 and 1e-7 for float64, complex128 and numbers, 1e-10 and 1e-10 for longdouble, 0 for types
      without fractions; of two types, the larger ones.
    * `equal_nan`: whether nan is equal to nan.
    * `check_dtype`: whether types must be the same; else both are promoted. For numbers: int, float or complex.
    * `check_stride`: whether strides must be the same. `check_device` and `check_layout` are PyTorch's: all tensors lie
      strided in the memory of the CPU here.
    * `allow_subclasses`: whether a tensor or array may be compared with one of a subclass.
    * `msg`: the text of a failure, or a function from our text to it.

    Raises AssertionError if lengths, keys, shapes, types or values differ; TypeError for operands that can't be compared;
    ValueError for `rtol` without `atol` or vice versa.

    >>> import autograd_cy as ag
    >>> ag.testing.assert_close({"w": ag.ones(2), "lr": 0.1}, {"w": ag.tensor([1.0, 1.0000001]), "lr": 0.1})
    >>> ag.testing.assert_close([ag.ones(2)], [ag.tensor([1.0, 1.5])])
    Traceback (most recent call last):
        ...
    AssertionError: Tensor-likes are not close!
    <BLANKLINE>
    Mismatched elements: 1 / 2 (50.0%)
    Greatest absolute difference: 0.5 at index (1,) (up to 1e-05 allowed)
    Greatest relative difference: 0.3333333432674408 at index (1,) (up to 1.3e-06 allowed)
    <BLANKLINE>
    The failure occurred for item [0]
    """
    __tracebackhide__ = True
    rules = _Rules(allow_subclasses, rtol, atol, equal_nan, check_dtype, check_stride)
    for path, compare in list(_comparisons(actual, expected, (), rules)):
        text = compare()
        if text is None:
            continue
        if isinstance(msg, str):
            raise AssertionError(msg)
        text = _located(text, path)
        raise AssertionError(msg(text) if callable(msg) else text)


@dataclass(frozen=True)
class _Rules:
    """The options of a call."""

    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_dtype: bool
    check_stride: bool

    def tolerances(self, path: Path, *codes: str) -> tuple[float, float]:
        """rtol and atol for values of dtypes with these codes."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        if self.rtol is not None or self.atol is not None:
            missing = "rtol" if self.rtol is None else "atol"
            _refuse(ValueError, f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.", path)
        defaults = [_TOLERANCES.get(code, (0.0, 0.0)) for code in codes]
        return max(rtol for rtol, _ in defaults), max(atol for _, atol in defaults)


def _located(text: str, path: Path) -> str:
    return f"{text}\n\nThe failure occurred for item {''.join(f'[{key!r}]' for key in path)}" if path else text


def _refuse(kind: type[Exception], text: str, path: Path) -> NoReturn:
    raise kind(_located(text, path))


# the walk


def _comparisons(
    actual: Any, expected: Any, path: Path, rules: _Rules
) -> Iterator[tuple[Path, Callable[[], str | None]]]:
    """The pairs of leaves, each as a function that gives the text of its mismatch, or None."""
    if _both(actual, expected, Sequence) and not isinstance(actual, str) and not isinstance(expected, str):
        if len(actual) != len(expected):
            text = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            _refuse(AssertionError, text, path)
        for index in range(len(actual)):
            yield from _comparisons(actual[index], expected[index], (*path, index), rules)
    elif _both(actual, expected, Mapping):
        _check_keys(set(actual), set(expected), path)
        try:
            keys = sorted(actual)
        except TypeError:  # no order among them
            keys = list(actual)
        for key in keys:
            yield from _comparisons(actual[key], expected[key], (*path, key), rules)
    else:
        yield path, _comparison(actual, expected, path, rules)


def _both(actual: Any, expected: Any, kind: type | tuple[type, ...]) -> bool:
    return isinstance(actual, kind) and isinstance(expected, kind)


def _check_keys(actual: set[Any], expected: set[Any], path: Path) -> None:
    if actual == expected:
        return
    text = (
        "The keys of the mappings do not match:\n"
        f"Missing keys in the actual mapping: {sorted(expected - actual)}\n"
        f"Additional keys in the actual mapping: {sorted(actual - expected)}"
    )
    _refuse(AssertionError, text, path)


def _comparison(actual: Any, expected: Any, path: Path, rules: _Rules) -> Callable[[], str | None]:
    """The comparison of two leaves; TypeError for unsupported or different kinds."""
    if actual is None or expected is None:
        return lambda: None if actual is expected else f"None mismatch: {actual} is not {expected}"
    if _both(actual, expected, (bool, np.bool_)):
        mine, other = bool(actual), bool(expected)
        return lambda: None if mine is other else f"Booleans mismatch: {mine} is not {other}"
    if _is_number(actual) and _is_number(expected):
        first, second = _python_number(actual), _python_number(expected)
        allowed = rules.tolerances(path, *(_CODES[_kind(n)] for n in (first, second)))
        return lambda: _compare_numbers(first, second, *allowed, rules)
    if _both(actual, expected, (Tensor, np.ndarray)) and _are_related(type(actual), type(expected), rules.allow_subclasses):
        try:
            tensors = as_tensor(actual), as_tensor(expected)
        except (TypeError, ValueError):  # an array of objects, of text...
            pass
        else:
            allowed = rules.tolerances(path, *(t.dtype.numpy_dtype.char for t in tensors))
            return lambda: _compare_tensors(*tensors, *allowed, rules)
    text = f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
    _refuse(TypeError, text, path)


def _are_related(actual: type, expected: type, allow_subclasses: bool) -> bool:
    if allow_subclasses:
        return issubclass(actual, expected) or issubclass(expected, actual)
    return actual is expected


# numbers


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex, np.number)) and not isinstance(value, bool)


def _python_number(value: Any) -> int | float | complex:
    number: int | float | complex = value.item() if isinstance(value, np.number) else value
    return number


def _kind(number: int | float | complex) -> type:
    return next(kind for kind in (int, float, complex) if isinstance(number, kind))


def _compare_numbers(
    actual: int | float | complex, expected: int | float | complex, rtol: float, atol: float, rules: _Rules
) -> str | None:
    kinds = _kind(actual), _kind(expected)
    if rules.check_dtype and kinds[0] is not kinds[1]:
        return f"The (d)types do not match: {kinds[0]} != {kinds[1]}."
    if actual == expected or (rules.equal_nan and actual != actual and expected != expected):
        return None
    difference = _distance(actual, expected)
    if difference < inf and difference <= atol + rtol * abs(expected):
        return None
    return _scalars_mismatch(actual, expected, rtol, atol)


def _distance(actual: int | float | complex, expected: int | float | complex) -> float:
    try:
        return abs(actual - expected)
    except OverflowError:
        return inf


def _scalars_mismatch(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    absolute = _distance(actual, expected)
    relative = absolute / abs(expected) if expected != 0 else inf
    return "\n".join(
        [
            f"Scalars are not {_wanted(rtol, atol)}!\n",
            f"Expected {expected} but got {actual}.",
            f"Absolute difference: {absolute}{_allowed(atol, rtol, atol)}",
            f"Relative difference: {relative}{_allowed(rtol, rtol, atol)}",
        ]
    )


def _wanted(rtol: float, atol: float) -> str:
    return "equal" if rtol == 0 and atol == 0 else "close"


def _allowed(tolerance: float, rtol: float, atol: float) -> str:
    return "" if _wanted(rtol, atol) == "equal" else f" (up to {tolerance} allowed)"


# tensors


def _compare_tensors(actual: Tensor, expected: Tensor, rtol: float, atol: float, rules: _Rules) -> str | None:
    attributes: list[tuple[str, Any, Any]] = [("shape", Size(actual.shape), Size(expected.shape))]
    if rules.check_stride:
        attributes.append(("stride()", actual.stride(), expected.stride()))
    if rules.check_dtype:
        attributes.append(("dtype", actual.dtype, expected.dtype))
    for name, mine, other in attributes:
        if mine != other:
            return f"The values for attribute '{name}' do not match: {mine} != {other}."
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")

    promoted = dtypes.promote_types(actual.dtype, expected.dtype)
    common = np.dtype("float32") if promoted.name == "bfloat16" else promoted.numpy_dtype
    a, b = (np.asarray(array_of(t)).astype(common, copy=False) for t in (actual, expected))
    with np.errstate(all="ignore"):
        close = _are_close(a, b, rtol, atol, rules.equal_nan)
        if close.all():
            return None
        if close.ndim == 0:
            return _scalars_mismatch(a.item(), b.item(), rtol, atol)
        return _tensors_mismatch(a, b, close, rtol, atol)


def _are_close(a: np.ndarray, b: np.ndarray, rtol: float, atol: float, equal_nan: bool) -> np.ndarray:
    close = np.asarray(a == b)
    if equal_nan and a.dtype.kind in "fc":
        close = close | (np.isnan(a) & np.isnan(b))
    if rtol == 0 and atol == 0:
        return close
    if a.dtype.kind not in "fc":  # as an operation with a number would have them
        a, b = (values.astype(dtypes.get_default().numpy_dtype) for values in (a, b))
    difference = np.abs(a - b)
    return close | (np.isfinite(difference) & (difference <= atol + np.abs(rtol * b)))


def _tensors_mismatch(a: np.ndarray, b: np.ndarray, close: np.ndarray, rtol: float, atol: float) -> str:
    if a.dtype.kind not in "fc":  # what a bool or a small integer can't hold
        a, b = a.astype(np.int64), b.astype(np.int64)
    absolute, size = np.abs(a - b), np.abs(b)
    absolute[close] = 0
    fraction = dtypes.get_default().numpy_dtype if a.dtype.kind == "i" else absolute.dtype
    relative = absolute.astype(fraction) / size.astype(fraction)
    relative[close] = 0
    count, total = int(np.count_nonzero(~close)), close.size
    lines = [
        f"Tensor-likes are not {_wanted(rtol, atol)}!\n",
        f"Mismatched elements: {count} / {total} ({count / total:.1%})",
    ]
    for kind, values, tolerance in (("absolute", absolute, atol), ("relative", relative, rtol)):
        flat = int(values.argmax())  # the first nan, if there is one
        index = tuple(int(i) for i in np.unravel_index(flat, values.shape))
        lines.append(f"Greatest {kind} difference: {values[index].item()} at index {index}{_allowed(tolerance, rtol, atol)}")
    return "\n".join(lines)
