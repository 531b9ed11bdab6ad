"""Embeddings: rows of a table, looked up by index (facade)."""

from typing import Any, ClassVar

from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public as _public
from ..._creation.filled import empty
from ...autograd.grad_mode import no_grad
from .. import functional as _F
from .. import init
from ..parameter import Parameter
from .module import Module

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """A weight (num_embeddings, embedding_dim), drawn from the normal distribution; its row `padding_idx` is zero."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    weight: Tensor

    def _set_up(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None, sparse: bool, weight: Tensor | None,
        requires_grad: bool, device: Any, dtype: Any,
    ) -> None:  # fmt: skip
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                name = "Padding_idx" if isinstance(self, Embedding) else "padding_idx"
                raise AssertionError(f"{name} must be within num_embeddings")
            padding_idx %= num_embeddings
        if weight is not None and list(weight.shape) != [num_embeddings, embedding_dim]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx, self.sparse = padding_idx, sparse
        table = empty((num_embeddings, embedding_dim), device=device, dtype=dtype) if weight is None else weight
        self.weight = Parameter(table, requires_grad=requires_grad)
        if weight is None:
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """``reset_parameters()`` draws the table anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


class Embedding(_Table):
    """``Embedding(num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, ...)``.

    Indices (*) become the rows (*, embedding_dim) of weight (num_embeddings, embedding_dim). The row `padding_idx` starts
    as zeros and has no gradient; rows longer than `max_norm` are shortened in place when they are read.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.Embedding(10, 3, padding_idx=0)
    >>> layer(ag.tensor([[0, 4]])).shape, layer(ag.tensor(0)).detach()
    (torch.Size([1, 2, 3]), tensor([0., 0., 0.]))
    """

    __constants__: ClassVar[list[str]] = [
        "num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse",
    ]  # fmt: skip

    @_public
    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Tensor | None = None,
        _freeze: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self._set_up(num_embeddings, embedding_dim, padding_idx, sparse, _weight, not _freeze, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return _F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self) -> str:
        shown = [f"{self.num_embeddings}, {self.embedding_dim}"]
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False}
        shown += [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        return ", ".join(shown)

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
    ) -> "Embedding":  # fmt: skip
        """``Embedding.from_pretrained(embeddings, freeze=True, ...)``: with an existing table, which is not trained if frozen.

        >>> import autograd_cy as ag
        >>> ag.nn.Embedding.from_pretrained(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))(ag.tensor(1))
        tensor([3., 4.])
        """
        rows, columns = _size_of_table(embeddings)
        return cls(rows, columns, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze)


class EmbeddingBag(_Table):
    """``EmbeddingBag(num_embeddings, embedding_dim, max_norm=None, ..., mode="mean", ..., padding_idx=None)``.

    The mean, sum or maximum (`mode`) of the rows of each bag of indices: a row of a matrix, or the part of a list that
    begins at each of `offsets`. The index `padding_idx` is skipped.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.EmbeddingBag(10, 3, mode="sum")
    >>> layer(ag.tensor([1, 2, 4, 5]), ag.tensor([0, 3])).shape, layer(ag.tensor([[1, 2]])).shape
    (torch.Size([2, 3]), torch.Size([1, 3]))
    """

    __constants__: ClassVar[list[str]] = [
        "num_embeddings", "embedding_dim", "max_norm", "norm_type", "scale_grad_by_freq", "mode", "sparse",
        "include_last_offset", "padding_idx",
    ]  # fmt: skip

    @_public
    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, _weight: Tensor | None = None,
        include_last_offset: bool = False, padding_idx: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.mode, self.include_last_offset = mode, include_last_offset
        self._set_up(num_embeddings, embedding_dim, padding_idx, sparse, _weight, True, device, dtype)

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """``forward(input, offsets=None, per_sample_weights=None)``; the weights multiply the rows, for mode "sum"."""
        return _F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
            per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        shown = [f"{self.num_embeddings}, {self.embedding_dim}"]
        usual = {"max_norm": None, "norm_type": 2, "scale_grad_by_freq": False, "mode": "", "padding_idx": None}
        shown += [f"{name}={getattr(self, name)!r}" for name, value in usual.items() if getattr(self, name) != value]
        return ", ".join(shown)

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> "EmbeddingBag":  # fmt: skip
        """``EmbeddingBag.from_pretrained(embeddings, freeze=True, ...)``: with an existing table.

        >>> import autograd_cy as ag
        >>> ag.nn.EmbeddingBag.from_pretrained(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))(ag.tensor([[0, 1]]))
        tensor([[2., 3.]])
        """
        rows, columns = _size_of_table(embeddings)
        bag = cls(
            rows, columns, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings, include_last_offset, padding_idx
        )
        bag.weight.requires_grad = not freeze
        return bag


def _size_of_table(embeddings: Tensor) -> tuple[int, int]:
    if embeddings.dim() != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
    rows, columns = embeddings.shape
    return rows, columns
