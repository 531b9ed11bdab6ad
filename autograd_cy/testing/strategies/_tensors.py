"""Tensors of any shape, dtype and layout."""

from typing import Any

import numpy as np

from ..._core.arrays.dtypes import convert, dtype
from ..._core.graph.tensor import Tensor
from ..._creation.data import from_numpy
from .._layouts import LAYOUTS, lay_out
from ._hypothesis import checked, checked_number, checked_shape, hnp, st, strategy_of
from ._numbers import checked_dtype, elements_of, kind_of
from ._shapes import shapes

DRAWN = 256  # elements
_FLOAT64 = convert(np.dtype(np.float64))


def tensors(
    dtype: Any = _FLOAT64, shape: Any = None, elements: Any = None, requires_grad: Any = False, layout: Any = None
) -> st.SearchStrategy[Tensor]:
    """``tensors()`` draws tensors: finite, of moderate size (absolute values up to 10), in any layout.

    dtype, shape, requires_grad and layout are each a value or a strategy: see dtypes() and shapes(), whose shapes are drawn
    by default. layout is "contiguous", "transposed", "sliced", "negative", "read-only", or "expanded" (one dimension has
    stride 0; its elements are equal), by default any of them. With requires_grad the tensor is a leaf; a tensor of integers
    that was drawn has none. elements is a strategy of numbers that the dtype can hold.

    They shrink to the fewest dimensions, then to zeros and small integers, then to the layouts that come first above.
    TypeError and ValueError for other arguments, or if a dtype given with requires_grad=True has no gradients.

    >>> import autograd_cy as ag
    >>> from autograd_cy.testing.strategies import tensors
    >>> from hypothesis import find
    >>> find(tensors(), lambda x: x.numel() > 0 and (x > 1).any())
    tensor(2., dtype=torch.float64)
    >>> find(tensors(ag.complex64, requires_grad=True), lambda x: x.ndim == 1 and len(x) == 2)
    tensor([0.+0.j, 0.+0.j], requires_grad=True)
    >>> find(tensors(shape=(2, 3), layout="transposed"), lambda x: True).stride()
    (1, 2)
    """
    call = "tensors"
    dtype_strategy = strategy_of(dtype, lambda d: checked_dtype(call, d))
    if elements is not None:
        checked(call, "elements", elements, st.SearchStrategy, "a strategy of numbers")
    if requires_grad is True and not isinstance(dtype, st.SearchStrategy):
        found = checked_dtype(call, dtype)
        if not is_differentiable(found):
            raise ValueError(f"{call}(): requires_grad=True needs a floating or complex dtype, got {found}")
    return _tensors(dtype_strategy, _shapes(call, shape), elements, _flags(call, requires_grad), _layouts(call, layout))


def _shapes(call: str, shape: Any) -> st.SearchStrategy[tuple[int, ...]]:
    return shapes() if shape is None else strategy_of(shape, lambda s: checked_shape(call, "shape", s))


def _flags(call: str, requires_grad: Any) -> st.SearchStrategy[bool]:
    return strategy_of(requires_grad, lambda flag: checked(call, "requires_grad", flag, bool, "a bool"))


def _layouts(call: str, layout: Any, names: tuple[str, ...] = (*LAYOUTS, "expanded")) -> st.SearchStrategy[str]:
    def check(name: Any) -> Any:
        if name not in names:
            raise ValueError(f"{call}(): layout must be one of {', '.join(map(repr, names))}, got {name!r}")
        return name

    return st.sampled_from(names) if layout is None else strategy_of(layout, check)


@st.composite
def _tensors(draw: Any, dtypes: Any, sizes: Any, elements: Any, flags: Any, layouts: Any) -> Tensor:
    d, shape = draw(dtypes), draw(sizes)
    array = draw(arrays(d.numpy_dtype, shape, elements_of(d) if elements is None else elements))
    return finished(array, draw(layouts), draw(flags) and is_differentiable(d))


def arrays(dtype: np.dtype[Any], shape: tuple[int, ...], elements: Any) -> Any:
    """Arrays with each element drawn; large arrays have many equal elements."""
    return hnp.arrays(dtype, shape, elements=elements, fill=st.nothing() if np.prod(shape) <= DRAWN else elements)


def is_differentiable(d: dtype) -> bool:
    return kind_of(d) in ("floating", "complex")


def finished(array: Any, layout: str, requires_grad: bool) -> Tensor:
    """A tensor with the values of an array."""
    found = from_numpy(_expanded(array) if layout == "expanded" else lay_out(array, layout))
    return found.requires_grad_() if requires_grad else found


def _expanded(array: Any) -> Any:
    """The first elements along the longest dimension, along the whole of it: with stride 0."""
    array = np.array(array, order="C")
    if array.size == 0 or array.ndim == 0:
        return array
    dim = int(np.argmax(array.shape))
    strides = [0 if k == dim else stride for k, stride in enumerate(array.strides)]
    return np.lib.stride_tricks.as_strided(array, array.shape, strides)


def distinct(
    shape: Any = None, gap: float = 0.125, dtype: Any = _FLOAT64, requires_grad: Any = False, layout: Any = None
) -> st.SearchStrategy[Tensor]:
    """``distinct(shape)`` draws tensors whose elements differ by at least gap, so that there are no ties.

    So functions can be checked that choose elements: max, sort, median. The elements are multiples of a step, of 1 where
    there are up to 20 of them, else of gap, and about as many above 0 as below it, or all above it. Arguments as for
    tensors(), but for the layout "expanded", in which elements are equal. They shrink to 0, 1, 2, and so on.

    >>> from autograd_cy.testing.strategies import distinct
    >>> from hypothesis import find
    >>> find(distinct((3,)), lambda x: True)
    tensor([0., 1., 2.], dtype=torch.float64)
    >>> find(distinct((2, 2)), lambda x: x[0, 0] > x[1, 1])
    tensor([[1., 2.],
            [3., 0.]], dtype=torch.float64)
    """
    call = "distinct"
    if not checked(call, "gap", gap, (int, float), "a number") > 0:
        raise ValueError(f"{call}(): gap must be above 0, got {gap}")
    found = _plain_dtype(call, dtype)
    return _distinct(_shapes(call, shape), gap, found, _flags(call, requires_grad), _layouts(call, layout, LAYOUTS))


@st.composite
def _distinct(draw: Any, sizes: Any, gap: float, d: dtype, flags: Any, layouts: Any) -> Tensor:
    shape = draw(sizes)
    count = int(np.prod(shape))
    numbers = np.array(draw(st.permutations(range(count))), float)
    numbers -= count // 2 if draw(st.booleans()) else 0
    array = (numbers * (max(1.0, gap) if count <= 20 else gap)).astype(d.numpy_dtype).reshape(shape)
    return finished(array, draw(layouts), draw(flags))


def _plain_dtype(call: str, value: Any, kinds: tuple[str, ...] = ("floating",)) -> dtype:
    found = checked_dtype(call, value)
    if kind_of(found) not in kinds:
        raise ValueError(f"{call}(): dtype must be {' or '.join(kinds)}, got {found}")
    return found


def positive_definite(
    n: Any, batch: Any = (), dtype: Any = _FLOAT64, requires_grad: Any = False, layout: Any = None
) -> st.SearchStrategy[Tensor]:
    """``positive_definite(n)`` draws symmetric matrices, (*batch, n, n), whose eigenvalues lie between 1 and 1 + n.

    So they can be factorised and inverted, with all digits but one or two. Of a complex dtype they are Hermitian. n and batch
    (a shape) are values or strategies, the rest as for tensors(), but for the layout "expanded". They shrink to the
    identity. ValueError for n below 1 and other dtypes.

    >>> from autograd_cy.testing.strategies import positive_definite
    >>> from hypothesis import find
    >>> find(positive_definite(2), lambda x: True)
    tensor([[1., 0.],
            [0., 1.]], dtype=torch.float64)
    >>> find(positive_definite(2), lambda x: x[0, 1] > 0)
    tensor([[1.5000, 0.5000],
            [0.5000, 1.5000]], dtype=torch.float64)
    """
    call = "positive_definite"
    found = _plain_dtype(call, dtype, ("floating", "complex"))
    sizes = strategy_of(n, lambda value: checked_number(call, "n", value, 1))
    batches = strategy_of(batch, lambda value: checked_shape(call, "batch", value))
    return _positive_definite(sizes, batches, found, _flags(call, requires_grad), _layouts(call, layout, LAYOUTS))


@st.composite
def _positive_definite(draw: Any, sizes: Any, batches: Any, d: dtype, flags: Any, layouts: Any) -> Tensor:
    n, batch = draw(sizes), draw(batches)
    part = arrays(np.dtype(float), (*batch, n, n), st.sampled_from([0.0, 1.0, -1.0, 0.5, -0.5, 0.25, -0.75]))
    factor = draw(part) / np.sqrt(2) + 1j * draw(part) / np.sqrt(2) if kind_of(d) == "complex" else draw(part)
    product = factor @ np.conj(np.swapaxes(factor, -1, -2)) / n
    array = np.eye(n) + (product + np.conj(np.swapaxes(product, -1, -2))) / 2
    return finished(array.astype(d.numpy_dtype), draw(layouts), draw(flags))
