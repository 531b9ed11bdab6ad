"""Transforms that reshape, that treat parts of a tensor differently, and that a distribution makes (facade)."""

from collections.abc import Sequence
from typing import Any

from .._core.graph.tensor import Tensor
from .._functional import names as _ops
from .._types import Size
from . import constraints
from ._formulas import sum_rightmost as _sum_rightmost
from ._transform import Transform
from .distribution import Distribution


class ReshapeTransform(Transform):
    """``ReshapeTransform(in_shape, out_shape)``: the same numbers in another shape; other dimensions come first.

    >>> import autograd_cy as ag
    >>> ag.distributions.transforms.ReshapeTransform((2, 3), (6,))(ag.zeros(5, 2, 3)).shape
    torch.Size([5, 6])
    """

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size)

    @property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Any:
        return constraints.independent(constraints.real, len(self.out_shape))

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, ReshapeTransform)
        return same and (self.in_shape, self.out_shape) == (other.in_shape, other.out_shape)  # type: ignore[attr-defined]

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Size:
        return _exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Size:
        return _exchanged(shape, self.out_shape, self.in_shape)


class _Joined(Transform):
    """Transforms of the parts along a dimension."""

    def __init__(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        if not all(isinstance(transform, Transform) for transform in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def domain(self) -> Any:
        return self._joined_constraint([transform.domain for transform in self.transforms])

    @property
    def codomain(self) -> Any:
        return self._joined_constraint([transform.codomain for transform in self.transforms])

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(transform.bijective for transform in self.transforms)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._settings() == other._settings()

    def _settings(self) -> tuple[Any, ...]:
        return self.transforms, self.dim

    def _call(self, x: Tensor) -> Tensor:
        return self._join([t(part) for t, part in zip(self.transforms, self._parts(x), strict=True)], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._join([t.inv(part) for t, part in zip(self.transforms, self._parts(y), strict=True)], self.dim)

    def _joined_constraint(self, parts: list[Any]) -> Any:
        raise NotImplementedError

    def _parts(self, x: Tensor) -> list[Tensor]:
        raise NotImplementedError

    def _join(self, parts: list[Tensor], dim: int) -> Tensor:
        raise NotImplementedError

    def _refuse(self, x: Tensor, length: int, text: str) -> None:
        if not -x.dim() <= self.dim < x.dim():
            raise AssertionError(f"dim {self.dim} out of range for tensor with {x.dim()} dimensions")
        if x.shape[self.dim] != length:
            raise AssertionError(f"x.size({self.dim}) = {x.shape[self.dim]} must equal {text} {length}")


class CatTransform(_Joined):
    """``CatTransform(transforms, dim=0, lengths=None)``: each for as many elements along `dim` as its length says.

    >>> import autograd_cy as ag
    >>> t = ag.distributions.transforms
    >>> t.CatTransform([t.ExpTransform(), t.AffineTransform(1.0, 2.0)], lengths=[1, 2])(ag.zeros(3))
    tensor([1., 1., 1.])
    """

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match tseq ({len(self.transforms)})")

    @property
    def event_dim(self) -> int:
        return max(transform.event_dim for transform in self.transforms)

    @property
    def length(self) -> int:
        """The elements of all parts."""
        return sum(self.lengths)

    def _settings(self) -> tuple[Any, ...]:
        return self.transforms, self.dim, self.lengths

    def _joined_constraint(self, parts: list[Any]) -> Any:
        return constraints.cat(parts, self.dim, self.lengths)

    def _parts(self, x: Tensor) -> list[Tensor]:
        self._refuse(x, self.length, "length")
        return list(x.split(self.lengths, self.dim))

    def _join(self, parts: list[Tensor], dim: int) -> Tensor:
        return _ops.cat(parts, dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        sizes, whole = [], self.event_dim
        for t, before, after in zip(self.transforms, self._parts(x), self._parts(y), strict=True):
            sizes.append(_sum_rightmost(t.log_abs_det_jacobian(before, after), whole - t.event_dim))
        dim = (self.dim if self.dim < 0 else self.dim - x.dim()) + whole
        return self._join(sizes, dim) if dim < 0 else sum(sizes[1:], sizes[0])


class StackTransform(_Joined):
    """``StackTransform(transforms, dim=0)``: each for one of the elements along `dim`.

    >>> import autograd_cy as ag
    >>> t = ag.distributions.transforms
    >>> t.StackTransform([t.ExpTransform(), t.AffineTransform(1.0, 2.0)])(ag.zeros(2))
    tensor([1., 1.])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def _joined_constraint(self, parts: list[Any]) -> Any:
        return constraints.stack(parts, self.dim)

    def _parts(self, x: Tensor) -> list[Tensor]:
        self._refuse(x, len(self.transforms), "len(transforms)")
        return list(x.unbind(self.dim))

    def _join(self, parts: list[Tensor], dim: int) -> Tensor:
        return _ops.stack(parts, dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        parts = zip(self.transforms, self._parts(x), self._parts(y), strict=True)
        return self._join([t.log_abs_det_jacobian(before, after) for t, before, after in parts], self.dim)


class CumulativeDistributionTransform(Transform):
    """``CumulativeDistributionTransform(distribution)``: y = distribution.cdf(x), whose inverse is icdf.

    >>> import autograd_cy as ag
    >>> d = ag.distributions
    >>> d.transforms.CumulativeDistributionTransform(d.Normal(0.0, 1.0))(ag.tensor(0.0))
    tensor(0.5000)
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)


def _exchanged(shape: Any, old: Size, new: Size) -> Size:
    """The shape with its last dimensions replaced."""
    if len(shape) < len(old):
        raise ValueError("Too few dimensions on input")
    cut = len(shape) - len(old)
    if tuple(shape[cut:]) != tuple(old):
        raise ValueError(f"Shape mismatch: expected {tuple(shape[cut:])} but got {old}")
    return Size(shape[:cut]) + new
