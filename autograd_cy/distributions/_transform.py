"""Transform: functions between regions of values, with inverses and log-determinants; combinations of them (facade)."""

import copy
import weakref
from typing import Any

from .._core.graph.node import is_freed_since, sequence_number
from .._core.graph.tensor import Tensor
from .._creation.filled import zeros_like
from .._types import Size
from . import constraints
from ._formulas import sum_rightmost as _sum_rightmost


class Transform:
    """Base of functions from `domain` to `codomain`: a subclass has ``_call(x)``, ``_inverse(y)``, ``log_abs_det_jacobian``.

    ``t(x)`` computes, ``t.inv`` is the inverse. With ``cache_size=1`` the last x and y are kept, so that an inverse asked for
    the y that came out gives exactly the x that went in. What a backward has freed is computed again.

    >>> import autograd_cy as ag
    >>> t = ag.distributions.transforms.ExpTransform()
    >>> y = t(ag.tensor(0.0))
    >>> y, t.inv(y), t.log_abs_det_jacobian(ag.tensor(2.0), y)
    (tensor(1.), tensor(0.), tensor(2.))
    """

    bijective = False
    domain: Any
    codomain: Any
    _cached_x_y: tuple[Any, Any] = (None, None)
    _inv: Any = None  # a weak reference
    _since = 0  # sequence number from which the derived parameter is recorded

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        super().__init__()  # of nn.Module, for a transform with parameters

    @property
    def event_dim(self) -> int:
        """The dimensions of one value."""
        if self.domain.event_dim == self.codomain.event_dim:
            return int(self.domain.event_dim)
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> "Transform":
        """The inverse, which maps back; the same object for as long as it lives."""
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = self._inverted()
            self._inv = weakref.ref(inverse)
        return inverse

    def _inverted(self) -> "Transform":
        return _InverseTransform(self)

    @property
    def sign(self) -> Any:
        """1 where it grows, -1 where it falls."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> "Transform":
        """``with_cache(cache_size=1)``: the same, that keeps the last values, or with 0 none."""
        if cache_size == self._cache_size:
            return self
        if cache_size == self._cache_size:
            return self
        new = copy.copy(self)
        new._cache_size = cache_size
        return new

    def __getstate__(self) -> dict[str, Any]:
        """Without what a cache holds, and without the reference to an inverse."""
        state = {**vars(self), "_cached_x_y": (None, None)}
        if isinstance(self._inv, weakref.ref):
            state["_inv"] = None
        return state

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: Tensor) -> Tensor:
        if not self._cache_size:
            return self._call(x)
        if x is not self._cached_x_y[0] or is_freed_since(self._cached_x_y[1], self._since):
            self._since, self._cached_x_y = sequence_number(), (x, self._call(x))
        return self._cached_x_y[1]

    def _inv_call(self, y: Tensor) -> Tensor:
        if not self._cache_size:
            return self._inverse(y)
        if y is not self._cached_x_y[1] or is_freed_since(self._cached_x_y[0], self._since):
            self._since, self._cached_x_y = sequence_number(), (self._inverse(y), y)
        return self._cached_x_y[0]

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """``log_abs_det_jacobian(x, y)``: log(abs(det(dy/dx))) at a pair of input and output, one number for each value."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def forward_shape(self, shape: Any) -> Size:
        """``forward_shape(shape)``: the shape of the output."""
        return Size(shape)

    def inverse_shape(self, shape: Any) -> Size:
        """``inverse_shape(shape)``: the shape of the input."""
        return Size(shape)


class _InverseTransform(Transform):
    """The inverse of a transform."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(transform._cache_size)
        self._inv = transform

    @property
    def domain(self) -> Any:
        return self._inv.codomain

    @property
    def codomain(self) -> Any:
        return self._inv.domain

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    def __repr__(self) -> str:
        return f"_InverseTransform({self._inv!r})"

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Size:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Size:
        return self._inv.forward_shape(shape)


class ComposeTransform(Transform):
    """``ComposeTransform(parts)``: one after the other.

    >>> import autograd_cy as ag
    >>> t = ag.distributions.transforms
    >>> t.ComposeTransform([t.AffineTransform(1.0, 2.0), t.ExpTransform()])(ag.tensor(-0.5))
    tensor(1.)
    """

    def __init__(self, parts: list[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else parts

    @property
    def domain(self) -> Any:
        """The domain of the first part, widened to the dimensions that any part needs."""
        if not self.parts:
            return constraints.real
        dims = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            dims = max(dims + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return _widened(self.parts[0].domain, dims)

    @property
    def codomain(self) -> Any:
        """The codomain of the last part, widened to the dimensions that any part gives."""
        if not self.parts:
            return constraints.real
        dims = self.parts[0].domain.event_dim
        for part in self.parts:
            dims = max(dims + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return _widened(self.parts[-1].codomain, dims)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        sign = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    def _inverted(self) -> Transform:
        inverse = ComposeTransform([part.inv for part in reversed(self.parts)])
        inverse._inv = weakref.ref(self)
        return inverse

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if cache_size == self._cache_size else ComposeTransform(self.parts, cache_size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    def _call(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part.inv(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        total, dims = x.new_zeros(()), self.domain.event_dim
        if not self.parts:
            return zeros_like(x)
        for k, part in enumerate(self.parts):
            after = y if k == len(self.parts) - 1 else part(x)
            total = total + _sum_rightmost(part.log_abs_det_jacobian(x, after), dims - part.domain.event_dim)
            dims += part.codomain.event_dim - part.domain.event_dim
            x = after
        return total

    def forward_shape(self, shape: Any) -> Size:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return Size(shape)

    def inverse_shape(self, shape: Any) -> Size:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return Size(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


class IndependentTransform(Transform):
    """``IndependentTransform(base_transform, n)``: the last n dimensions belong to one value, over which stretching sums.

    >>> import autograd_cy as ag
    >>> t = ag.distributions.transforms
    >>> x = ag.tensor([1.0, 2.0])
    >>> t.IndependentTransform(t.ExpTransform(), 1).log_abs_det_jacobian(x, x.exp())
    tensor(3.)
    """

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def domain(self) -> Any:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self) -> Any:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return _sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape: Any) -> Size:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Size:
        return self.base_transform.inverse_shape(shape)


def _widened(constraint: Any, dims: int) -> Any:
    """The constraint for values of so many dimensions."""
    more = dims - constraint.event_dim
    return constraints.independent(constraint, more) if more > 0 else constraint
