"""Softmax over very many classes (facade)."""

from collections import namedtuple
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public as _public
from ..._functional.names import cat, where
from .. import functional as _F
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """``AdaptiveLogSoftmaxWithLoss(in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, ...)``.

    Classes are sorted by frequency. The head decides among the classes before the first of `cutoffs` and the clusters
    between further cutoffs; each cluster has a network `div_value` times narrower than the last.
    Called with input (N, in_features) and target (N,); returns the targets' log-probabilities and the loss, which is
    their negative mean. Grave et al. 2017, arXiv:1609.04309.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs=[5, 10], div_value=2)
    >>> layer(ag.ones(3, 8), ag.tensor([1, 7, 19])).output.shape, layer.log_prob(ag.ones(3, 8)).shape
    (torch.Size([3]), torch.Size([3, 20]))
    """

    @_public
    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0, head_bias: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        cutoffs = _checked(list(cutoffs), n_classes)
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, cutoffs + [n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        where_: dict[str, Any] = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **where_)
        self.tail = ModuleList()
        for i, (first, end) in enumerate(pairwise(self.cutoffs)):
            width = int(in_features // div_value ** (i + 1))
            narrow = Linear(in_features, width, bias=False, **where_)
            self.tail.append(Sequential(narrow, Linear(width, end - first, bias=False, **where_)))

    def reset_parameters(self) -> None:
        """``reset_parameters()`` draws all parameters anew."""
        self.head.reset_parameters()
        for narrow, wide in self.tail:
            narrow.reset_parameters()
            wide.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> Any:
        """``forward(input, target)`` returns the named tuple (output, loss)."""
        _check_shapes(input_, target_)
        batched = target_.dim() == 1
        input, target = (input_, target_) if batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        output = self._log_prob_of(input, target)
        return _ASMoutput(output if batched else output.squeeze(0), (-output).mean())

    def _log_prob_of(self, input: Tensor, target: Tensor) -> Tensor:
        if target.numel() and (int(target.min()) < 0 or int(target.max()) >= self.n_classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        column, clusters = target, []
        for i, (first, end) in enumerate(pairwise(self.cutoffs)):
            inside = (target >= first) & (target < end)
            column = where(inside, self.shortlist_size + i, column)
            clusters.append(inside.nonzero().squeeze(1))
        parts = []
        for rows, first, network in zip(clusters, self.cutoffs, self.tail, strict=False):
            if rows.numel():
                log_prob = _F.log_softmax(network(input.index_select(0, rows)), dim=1)
                places = (target.index_select(0, rows) - first).unsqueeze(1)
                parts.append((rows, log_prob.gather(1, places).squeeze(1)))
        output = _F.log_softmax(self.head(input), dim=1).gather(1, column.unsqueeze(1)).squeeze(1)
        for rows, part in parts:
            output = output.index_add(0, rows, part)
        return output

    def log_prob(self, input: Tensor) -> Tensor:
        """``log_prob(input)``: the log-probabilities (N, n_classes) of all classes."""
        return self._all_log_probs(input, self.head(input))

    def _all_log_probs(self, input: Tensor, head: Tensor) -> Tensor:
        of_head = _F.log_softmax(head, dim=1)
        short = self.shortlist_size
        parts = [
            _F.log_softmax(network(input), dim=1) + of_head[:, short + i].unsqueeze(1) for i, network in enumerate(self.tail)
        ]
        return cat([of_head[:, :short], *parts], dim=1)

    def predict(self, input: Tensor) -> Tensor:
        """``predict(input)``: the most probable class of each row; clusters only for rows where the head chooses one."""
        head = self.head(input)
        best = head.argmax(dim=1)
        elsewhere = best >= self.shortlist_size
        if elsewhere.any():
            best[elsewhere] = self._all_log_probs(input[elsewhere], head[elsewhere]).argmax(dim=1)
        return best


def _checked(cutoffs: list[int], n_classes: int) -> list[int]:
    if not cutoffs:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    rising = all(a < b for a, b in pairwise(cutoffs))
    if not rising or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1 or any(int(c) != c for c in cutoffs):
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
            "where each value is between 1 and n_classes-1"
        )
    return cutoffs


def _check_shapes(input: Tensor, target: Tensor) -> None:
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.dim() == 1 and input.size(0) != target.size(0):
        raise RuntimeError("Input and target should have the same size in the batch dimension.")
    if input.dim() != target.dim() + 1:
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, "
            f"but found inputs with size {input.size()}"
        )
