"""Shapes, and indices into them."""

from typing import Any, overload

import numpy as np

from ._hypothesis import checked_number, checked_shape, hnp, st, strategy_of

Shape = tuple[int, ...]
MANY = 15  # one shape in so many has a size of 0, where that is allowed


def shapes(
    min_dims: int = 0, max_dims: int = 3, min_side: int = 0, max_side: int = 4
) -> st.SearchStrategy[Shape]:
    """``shapes()`` draws shapes, some of them without dimensions, a few without elements.

    They have between min_dims and max_dims dimensions, of sizes between min_side and max_side. They shrink to the fewest
    dimensions, and those to 1, or to min_side if that is more. TypeError and ValueError for bounds that are no ints, or
    that leave nothing.

    >>> from autograd_cy.testing.strategies import shapes
    >>> from hypothesis import find
    >>> find(shapes(), lambda shape: True), find(shapes(min_dims=2), lambda shape: True)
    ((), (1, 1))
    >>> find(shapes(), lambda shape: 0 in shape), find(shapes(max_side=9), lambda shape: 6 in shape)
    ((0,), (6,))
    """
    checked_number("shapes", "max_dims", max_dims)
    checked_number("shapes", "min_dims", min_dims, 0, max_dims)
    checked_number("shapes", "max_side", max_side)
    checked_number("shapes", "min_side", min_side, 0, max_side)
    return _shapes(min_dims, max_dims, min_side, max_side)


@st.composite
def _shapes(draw: Any, min_dims: int, max_dims: int, min_side: int, max_side: int) -> Shape:
    least = min(max(min_side, 1), max_side)
    sizes = draw(st.lists(st.integers(least, max_side), min_size=min_dims, max_size=max_dims))
    if min_side == 0 < max_side and sizes and draw(st.integers(0, MANY)) == MANY:
        sizes[draw(st.integers(0, len(sizes) - 1))] = 0
    return tuple(sizes)


@overload
def broadcastable_shapes(
    shapes: int, min_dims: int = 0, max_dims: int = 3, min_side: int = 1, max_side: int = 4
) -> st.SearchStrategy[tuple[Shape, ...]]: ...
@overload
def broadcastable_shapes(
    shapes: Shape, min_dims: int = 0, max_dims: int = 3, min_side: int = 1, max_side: int = 4
) -> st.SearchStrategy[Shape]: ...
def broadcastable_shapes(
    shapes: Any = 2, min_dims: int = 0, max_dims: int = 3, min_side: int = 1, max_side: int = 4
) -> Any:
    """``broadcastable_shapes(n)`` draws tuples of n shapes that broadcast with each other.

    ``broadcastable_shapes(shape)`` draws single shapes that broadcast with this one: they may be larger than it. The bounds
    and errors are the same as for shapes(); min_side=0 allows sizes of 0.

    >>> from autograd_cy.testing.strategies import broadcastable_shapes
    >>> from hypothesis import find
    >>> find(broadcastable_shapes(2), lambda pair: True)
    ((), ())
    >>> find(broadcastable_shapes((3, 2)), lambda shape: len(shape) == 2 and shape[0] == 3)
    (3, 1)
    """
    call = "broadcastable_shapes"
    checked_number(call, "max_dims", max_dims)
    checked_number(call, "min_dims", min_dims, 0, max_dims)
    checked_number(call, "max_side", max_side)
    checked_number(call, "min_side", min_side, 0, max_side)
    bounds: dict[str, Any] = {"min_dims": min_dims, "max_dims": max_dims, "min_side": min_side, "max_side": max_side}
    if isinstance(shapes, int):
        number = checked_number(call, "the number of shapes", shapes, 1)
        return hnp.mutually_broadcastable_shapes(num_shapes=number, **bounds).map(lambda found: tuple(found.input_shapes))
    return hnp.broadcastable_shapes(checked_shape(call, "shapes", shapes), **bounds)


def indices(shape: Any) -> st.SearchStrategy[Any]:
    """``indices(shape)`` draws indices for x[...], for a tensor of this shape (or of shapes that a strategy draws).

    That is an int, slice, None, Ellipsis, an array of integers or a mask, or a tuple of them: arrays are NumPy's, steps of
    slices positive, numbers in range; one mask at most, and no other array beside it. They shrink to `...`. Beside an array
    an int is for NumPy an array, too, for tensors not: there the two differ in the order of dimensions.

    >>> from autograd_cy.testing.strategies import indices
    >>> from hypothesis import find
    >>> find(indices((2, 3)), lambda index: True)
    Ellipsis
    >>> find(indices((2, 3)), lambda index: isinstance(index, slice) and index.step == 2)
    slice(None, None, 2)
    """
    return strategy_of(shape, lambda s: checked_shape("indices", "shape", s)).flatmap(_indices)


def _indices(shape: Shape) -> st.SearchStrategy[Any]:
    return st.just(...) | _index_of(shape)


@st.composite
def _index_of(draw: Any, shape: Shape) -> Any:
    n = draw(st.integers(0, len(shape)))  # so many dimensions have items: the first ones, or some on both sides of ...
    picker = draw(st.sampled_from(["int", "array", "mask"]))
    before = draw(st.none() | st.integers(0, n))
    if before is None:
        items = draw(_items(shape[:n], picker))
    else:
        items = draw(_items(shape[:before], picker))
        if any(isinstance(item, np.ndarray) and item.dtype == bool for item in items):
            picker = "int"
        items = [*items, ..., *draw(_items(shape[len(shape) - n + before :], picker))]
    return items[0] if len(items) == 1 and not draw(st.booleans()) else tuple(items)


@st.composite
def _items(draw: Any, sizes: Shape, picker: str) -> list[Any]:
    """Items for all these dimensions, and None here and there."""
    items: list[Any] = []
    dim = 0
    while dim < len(sizes):
        kinds = ["int", picker, "slice"] if sizes[dim] else ["slice"]
        kind = draw(st.sampled_from([*kinds, "None"] if len(items) < 2 * len(sizes) else kinds))
        if kind == "None":
            items.append(None)
        elif kind == "mask":
            n = draw(st.integers(1, len(sizes) - dim))
            items.append(draw(hnp.arrays(np.bool_, sizes[dim : dim + n])))
            dim, picker = dim + n, "int"
        else:
            items.append(draw(_item(kind, sizes[dim])))
            dim += 1
    return items


def _item(kind: str, size: int) -> st.SearchStrategy[Any]:
    number = st.integers(0, size - 1) | st.integers(-size, -1) if size else st.nothing()
    if kind == "int":
        return number
    if kind == "array":
        return hnp.arrays(np.int64, st.sampled_from([(1,), (3,), (2, 1), (2, 3)]), elements=number)
    ends = st.none() | st.integers(-size - 1, size + 1)
    return st.builds(slice, ends, ends, st.none() | st.integers(1, 3))
