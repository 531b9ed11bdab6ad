"""What a row of the op table is: OpInfo, its Samples, and the Maker of their arrays.

The table itself is opinfo.py. Samples are plain NumPy: one serves the reference, this package and PyTorch.
An array of floats or complex numbers given *by position* is differentiated; one given *by keyword* is not.
"""

import functools
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np
from op_promotion import RESULT_RULES

import autograd_cy as ag
from autograd_cy._core.arrays.dtypes import kind_of

BOOL, INTS = ("bool",), ("uint8", "int8", "int16", "int32", "int64")
HALF = ("float16", "bfloat16") if importlib.util.find_spec("ml_dtypes") else ("float16",)
if "bfloat16" in HALF:
    import ml_dtypes  # noqa: F401  by which NumPy knows the name
FLOATS, COMPLEX = ("float32", "float64"), ("complex64", "complex128")
ALL = BOOL + INTS + HALF + FLOATS + COMPLEX

# Domains: the intervals that values come from; a complex number takes both its parts from them.
REAL = ((-3.0, 3.0),)
NONZERO = ((-3.0, -0.3), (0.3, 3.0))
POSITIVE = ((0.3, 3.0),)

# Values that are all different and at least 1/512 apart, so that no maximum is near a tie.
_CELLS = np.random.default_rng(0).permutation(256)
_FRACTIONS = (_CELLS + 0.5 + 0.5 * (np.random.default_rng(1).random(256) - 0.5)) / 256


@dataclass(frozen=True)
class Sample:
    """The arguments of one call, in NumPy's terms."""

    args: tuple
    kwargs: dict[str, Any] = field(default_factory=dict)


def S(*args, **kwargs) -> Sample:
    """`S(x, 1, dim=0)`: a Sample as one writes the call."""
    return Sample(args, kwargs)


class Maker:
    """Makes arrays of one dtype with values from one domain: `make(2, 3)`, `make.of([1, 2])`."""

    def __init__(self, dtype, domain=REAL):
        self.dtype = np.dtype(dtype)
        self.domain = domain
        self._used = 0

    def __call__(self, *shape: int, domain=None) -> np.ndarray:
        values = self._draw(shape, domain or self.domain)
        if kind_of(self.dtype) == "c":
            values = values + 1j * self._draw(shape, domain or self.domain)
        return self.of(values)

    def of(self, values) -> np.ndarray:
        """The given values in this dtype: integers rounded away from zero, unsigned ones made positive."""
        values = np.asarray(values)
        if kind_of(self.dtype) == "b":
            return np.asarray(values.real > 0.5)
        if kind_of(self.dtype) in "ui" and kind_of(values.dtype) == "f":
            values = np.nan_to_num(values, posinf=9, neginf=-9)
            values = np.sign(values) * np.ceil(np.abs(values))
        return np.asarray(np.abs(values) if kind_of(self.dtype) == "u" else values).astype(self.dtype)

    @property
    def wide(self) -> type:
        """The type that a `dtype=` argument asks for in the samples."""
        return np.complex128 if kind_of(self.dtype) == "c" else np.float64

    def _draw(self, shape, domain):
        count = int(np.prod(shape))
        fractions = _FRACTIONS[(self._used + np.arange(count)) % len(_FRACTIONS)]
        self._used += count
        ends = np.cumsum([0.0] + [high - low for low, high in domain])
        pieces = np.minimum(np.searchsorted(ends, fractions * ends[-1], "right") - 1, len(domain) - 1)
        lows = np.array([low for low, _ in domain])
        return (lows[pieces] + fractions * ends[-1] - ends[pieces]).reshape(shape)


@dataclass(frozen=True)
class OpInfo:
    """One op: where it is, what it computes, which arguments show all its flags.

    `path` is the public name (`"add"`, `"nn.functional.linear"`, `"Tensor.view"`); it names the
    row (a method by its last part), unless `name` does. `samples` yields arguments that show every flag;
    `domain` keeps off kinks.
    `dtypes` are the differentiable ones, `forward` those without a gradient; any other dtype is refused.
    `result` names the rule for the result's dtype (op_promotion.py) or is one; a tuple has one an output.
    `operator` is how Python spells the op; samples whose first operand is a number go through it.
    `extremes` yields samples of large and special values, for the values alone.
    `through(function, *args)` calls it, where a result is not unique, or only some inputs are valid: with what is unique.
    `regular`: it needs regular matrices or probabilities, which other values than those of the samples are not.
    `fixed`: how many of the first arrays have no gradient.
    `strided=False`: it takes contiguous inputs only. `method=False`: no Tensor method takes these arguments.
    """

    path: str
    reference: Callable
    samples: Callable[[Maker], Iterator[Sample]]
    domain: tuple = REAL
    dtypes: tuple[str, ...] = FLOATS + COMPLEX
    forward: tuple[str, ...] = BOOL + INTS + HALF
    result: str | Callable | tuple[str, ...] = "promote"
    operator: Callable | None = None
    extremes: Callable[[Maker], Iterator[Sample]] | None = None
    fixed: int = 0
    strided: bool = True
    method: bool = True
    name: str = ""
    through: Callable | None = None
    regular: bool = False

    def __post_init__(self):
        object.__setattr__(self, "name", self.name or self.path.removeprefix("Tensor."))

    @property
    def differentiable(self) -> bool:
        return bool(self.dtypes)

    def function(self, module=ag) -> Callable:
        """The op in `module`, which is this package or torch."""
        function = attrgetter(self.path)(module)
        if self.through is not None:
            return functools.partial(self.through, function)
        if self.operator is None:
            return function

        def function_or_operator(x, *args, **kwargs):
            reflected = not isinstance(x, module.Tensor) and any(isinstance(arg, module.Tensor) for arg in args)
            return (self.operator if reflected else function)(x, *args, **kwargs)

        return function_or_operator

    def expected(self, sample: Sample) -> list[np.ndarray]:
        """The reference's outputs, computed in the widest types, cast to the dtypes that the rules give."""
        wide = functools.partial(widen, integers=np.float64 if self.result == "float" else np.int64)
        with np.errstate(all="ignore"):
            found = self.reference(*map_arrays(wide, sample.args), **map_arrays(wide, sample.kwargs))
            found = list(found) if isinstance(found, (tuple, list)) else [found]
            dtypes = self._result_dtypes(sample, len(found))
            return [np.asarray(y).astype(dtype) for y, dtype in zip(found, dtypes, strict=True)]

    def _result_dtypes(self, sample, count) -> list[np.dtype]:
        if "dtype" in sample.kwargs:
            return [np.dtype(sample.kwargs["dtype"])] * count
        rules = self.result[:count] if isinstance(self.result, tuple) else [self.result] * count
        return [RESULT_RULES.get(rule, rule)(sample.args) for rule in rules]


def map_arrays(function: Callable, value):
    """`value` with `function` applied to each array in it, through lists, tuples and dicts."""
    if isinstance(value, np.ndarray):
        return function(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map_arrays(function, v) for v in value)
    if isinstance(value, dict):
        return {k: map_arrays(function, v) for k, v in value.items()}
    return value


def widen(array: np.ndarray, integers=np.int64) -> np.ndarray:
    """The array in the widest type of its kind, or integers and bools as floats."""
    kind = kind_of(array.dtype)
    if kind == "b":
        return array if integers is np.int64 else array.astype(integers)
    return array.astype({"u": integers, "i": integers, "f": np.float64, "c": np.complex128}[kind])
