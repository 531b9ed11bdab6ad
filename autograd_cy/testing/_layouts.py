"""The same array in other layouts: results must not depend on the layout of operands."""

from typing import Any

import numpy as np

from .._core.arrays.dtypes import kind_of

LAYOUTS = ("contiguous", "transposed", "sliced", "negative", "read-only")


def lay_out(array: Any, layout: str) -> np.ndarray[Any, Any]:
    """``lay_out(array, layout)`` is an array of equal values and dtype in new memory, laid out as one of LAYOUTS says.

    "contiguous": in C order. "transposed": in Fortran order. "sliced": with gaps between the elements of each dimension,
    and not at the beginning of its memory. "negative": with a negative stride in each dimension. "read-only": in C order,
    and not to be written. What has no dimensions has no order: "transposed" and "negative" leave it contiguous.

    ValueError for another layout, TypeError unless it is an array of numbers or bools.

    >>> import numpy as np
    >>> from autograd_cy.testing._layouts import lay_out
    >>> array = np.arange(6.0).reshape(2, 3)
    >>> {layout: lay_out(array, layout).strides for layout in ("contiguous", "transposed", "negative")}
    {'contiguous': (24, 8), 'transposed': (8, 16), 'negative': (-24, -8)}
    """
    array = np.asarray(array)
    if kind_of(array.dtype) not in "biufc":
        raise TypeError(f"lay_out(): expected an array of numbers or bools, got dtype {array.dtype}")
    if layout == "contiguous":
        return np.array(array, order="C")
    if layout == "transposed":
        return np.array(array, order="F")
    if layout == "sliced":
        # the last dimension is never dense; a second place before each element, so that an offset is wrong if forgotten
        room = np.zeros([2 * n + 1 for n in array.shape] or [2], array.dtype)
        room[...] = _FILLING.get(kind_of(array.dtype), 77)
        part = room[tuple(slice(1, None, 2) for _ in array.shape)] if array.ndim else room[1:].reshape(())
        part[...] = array
        return part
    if layout == "negative":
        backwards: Any = (..., *[slice(None, None, -1)] * array.ndim)  # with ... it stays an array without dimensions
        return np.array(array[backwards], order="C")[backwards]
    if layout == "read-only":
        copy = np.array(array, order="C")
        copy.flags.writeable = False
        return copy
    raise ValueError(f"lay_out(): expected one of {', '.join(map(repr, LAYOUTS))}, got {layout!r}")


# The values in the gaps: a function that reads them gives wrong results.
_FILLING = {"b": True, "f": np.nan, "c": np.nan}
