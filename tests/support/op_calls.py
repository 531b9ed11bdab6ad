"""A row of the op table called with a sample, and how tests are parametrized over all of them."""

import contextlib
import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from op_case import Maker, OpInfo, Sample, map_arrays

import autograd_cy as ag
from autograd_cy._core.arrays.dtypes import kind_of

OURS = ag.__name__ == "autograd_cy"
OF_MEMORY = {"as_strided", "as_strided_copy", "as_strided_scatter"}  # what they see changes with the layout


class Call:
    """A row called with a sample: `function(*leaves)` is the op as a function of its differentiable inputs.

    `inputs` are the arrays behind all tensors that go in, `arrays` those of the differentiable ones.
    """

    def __init__(self, row: OpInfo, sample: Sample, module=ag, wrap=np.copy, differentiable=None):
        self.module, self.op = module, row.function(module)
        self._differentiable = row.differentiable if differentiable is None else differentiable
        self._fixed = row.fixed
        self.inputs: list[np.ndarray] = []
        self.arrays: list[np.ndarray] = []
        self._args = map_arrays(lambda a: self._slot_or_constant(wrap(a)), sample.args)
        self._kwargs = map_arrays(lambda a: self._constant(wrap(a)), _dtypes_of(module, sample.kwargs))

    def _constant(self, array):
        self.inputs.append(array)
        return self.module.from_numpy(array)

    def _slot_or_constant(self, array):
        if not self._differentiable or kind_of(array.dtype) not in "fc":
            return self._constant(array)
        if self._fixed:
            self._fixed -= 1
            return self._constant(array)
        self.inputs.append(array)
        self.arrays.append(array)
        return _Slot(len(self.arrays) - 1)

    def leaves(self, requires_grad: bool = True) -> list:
        """Fresh leaves over `self.arrays`, which they share their memory with."""
        made = [self.module.from_numpy(a) for a in self.arrays]
        return [leaf.requires_grad_() for leaf in made] if requires_grad else made

    def __call__(self, *leaves) -> list:
        """All outputs, as a list."""
        found = self.op(*_fill(self._args, leaves), **self._kwargs)
        return [found] if isinstance(found, self.module.Tensor) else list(found)

    def function(self, *leaves) -> tuple:
        """The outputs that have a gradient, for gradcheck."""
        return tuple(y for y in self(*leaves) if y.is_floating_point() or y.is_complex())


@dataclass(frozen=True)
class _Slot:
    """The place of a differentiable input among the arguments."""

    index: int


def _fill(value, leaves):
    """`value` with its slots filled."""
    if isinstance(value, _Slot):
        return leaves[value.index]
    if isinstance(value, (list, tuple)):
        return type(value)(_fill(v, leaves) for v in value)
    return value


def _dtypes_of(module, kwargs: dict) -> dict:
    """Keyword arguments with NumPy's types replaced by the module's dtypes."""
    return {k: getattr(module, v.__name__) if isinstance(v, type) else v for k, v in kwargs.items()}


def to_numpy(tensor) -> np.ndarray:
    """The tensor's array. (PyTorch marks some tensors as conjugated, negated or zero; they have to be forced.)"""
    return tensor.numpy(force=True)


def comparable(array: np.ndarray) -> np.ndarray:
    """An array as NumPy's testing compares it: bfloat16, which NumPy knows nothing of, as float32."""
    return array.astype(np.float32) if kind_of(array.dtype) == "f" != array.dtype.kind else array


def assert_unwritten(array: np.ndarray, before: np.ndarray, what: str) -> None:
    """The array has the elements that it had `before`."""
    np.testing.assert_array_equal(comparable(array), comparable(before), err_msg=f"{what} was written over")


def seeds_for(outputs, salt: int = 0) -> list[np.ndarray]:
    """One array for each output: its shape and dtype, values that have nothing in common with the samples."""
    rng = np.random.default_rng(7 + salt)
    seeds = []
    for y in map(to_numpy, outputs):
        values = rng.uniform(-1, 1, y.shape)
        if kind_of(y.dtype) == "c":
            values = values + 1j * rng.uniform(-1, 1, y.shape)
        seeds.append(np.asarray(values, y.dtype))
    return seeds


def run_backward(call: Call, wrap=np.copy, seeds=None) -> tuple[list, list, list, list]:
    """Runs the op and its backward: (leaves, outputs, seeds, the leaves' `.grad`)."""
    leaves = call.leaves()
    outputs = call.function(*leaves)
    seeds = [call.module.from_numpy(wrap(seed)) for seed in seeds or seeds_for(outputs)]
    call.module.autograd.backward(outputs, seeds)
    return leaves, list(outputs), seeds, [leaf.grad for leaf in leaves]


@functools.cache
def samples_of(row: OpInfo, dtype: str) -> list[Sample]:
    """The row's samples in one dtype. They are shared, so they are not written to."""
    return list(row.samples(Maker(dtype, row.domain)))


def each_sample(rows, dtypes: Callable[[OpInfo], tuple[str, ...]], keep=lambda row, sample: True):
    """Runs a test of `row, sample` with all samples that are kept: one test a row, whose id is the op's name.

    An error says by a note which sample it was. (A test of its own for each sample would take pytest longer than the sample.)
    """
    cases = [
        pytest.param(row, id=row.name)
        for row in rows
        if any(keep(row, sample) for dtype in dtypes(row) for sample in samples_of(row, dtype))
    ]

    def decorate(test):
        @pytest.mark.parametrize("row", cases)
        def over_samples(row):
            for dtype in dtypes(row):
                for i, sample in enumerate(samples_of(row, dtype)):
                    if keep(row, sample):
                        with noted(f"sample {i} of {row.name} in {dtype}"):
                            test(row, sample)

        # not functools.wraps: pytest would look for a fixture `sample`
        over_samples.__name__, over_samples.__doc__, over_samples.__module__ = test.__name__, test.__doc__, test.__module__
        return over_samples

    return decorate


@contextlib.contextmanager
def noted(text: str):
    """Adds a line to what an exception says."""
    try:
        yield
    except BaseException as error:
        error.add_note(text)
        raise


def nonempty(row: OpInfo, sample: Sample) -> bool:
    """Whether there is anything to differentiate: PyTorch's gradcheck refuses empty inputs."""
    sizes = []
    map_arrays(lambda a: sizes.append(a.size if kind_of(a.dtype) in "fc" else 1), sample.args)
    return all(sizes)


def finite(row: OpInfo, sample: Sample) -> bool:
    """Whether the result has a derivative: the mean of nothing, which is nan, has none."""
    return all(np.isfinite(y).all() for y in row.expected(sample))


def gradient_dtypes(row: OpInfo) -> tuple[str, ...]:
    """The dtypes exact enough for finite differences."""
    return tuple(d for d in row.dtypes if d in ("float64", "complex128"))


def one_dtype(row: OpInfo) -> tuple[str, ...]:
    """One dtype is enough where the property has nothing to do with it."""
    return gradient_dtypes(row)[:1]
