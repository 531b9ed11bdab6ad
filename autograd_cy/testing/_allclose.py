"""assert_allclose: the predecessor of assert_close (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public
from .._creation.data import as_tensor
from ._close import assert_close

_TOLERANCES = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}


@public
def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = True, msg: str = ""
) -> None:
    """``assert_allclose(actual, expected)`` is assert_close with wider tolerances, for any two types; nan is nan.

    >>> import autograd_cy as ag
    >>> ag.testing.assert_allclose(ag.tensor([1.0, float("nan")]), [1.00001, float("nan")])
    """
    if not isinstance(actual, Tensor):
        actual = as_tensor(actual)
    if not isinstance(expected, Tensor):
        expected = as_tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        found = [_TOLERANCES.get(x.dtype.name, (0.0, 0.0)) for x in (actual, expected)]
        rtol, atol = max(r for r, _ in found), max(a for _, a in found)
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False, check_stride=False,
        msg=msg or None,
    )  # fmt: skip
