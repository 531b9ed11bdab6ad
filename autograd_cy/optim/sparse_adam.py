"""SparseAdam (facade)."""

from collections.abc import Callable, Iterable
from typing import Any

from .._core.graph.memory import is_sparse_tensor as _is_sparse_tensor
from .._core.graph.tensor import Tensor
from .._creation.filled import zeros_like
from ._fused import check_betas as _check_betas
from ._fused import loss_of as _loss_of
from .optimizer import Optimizer

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """``SparseAdam(params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8)``: Adam for sparse gradients, on the rows that have one.

    Moments and parameters of rows without a gradient stay as they are. ValueError for sparse parameters, RuntimeError for
    dense gradients.

    >>> import autograd_cy as ag
    >>> table = ag.nn.Embedding(3, 1, sparse=True, _weight=ag.zeros(3, 1))
    >>> optimizer = ag.optim.SparseAdam(table.parameters(), lr=0.5)
    >>> table(ag.tensor([1])).sum().backward()
    >>> optimizer.step()
    >>> table.weight.detach().flatten()
    tensor([ 0.0000, -0.5000,  0.0000])
    """

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        _check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        sparse, complex_params = [], False
        for number, group in enumerate(self.param_groups):
            for place, param in enumerate(group["params"]):
                complex_params |= param.is_complex()
                if _is_sparse_tensor(param):
                    sparse.append([number, place])
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")
        if complex_params:
            raise ValueError("SparseAdam does not support complex parameters")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """``step(closure=None)`` updates each parameter that has a gradient; returns what the closure returned, or None."""
        loss = _loss_of(closure)
        found = [p for group in self.param_groups for p in group["params"] if p.grad is not None]
        if not all(_is_sparse_tensor(param.grad) for param in found):
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        for param in found:
            if not self.state[param]:
                zeros = [zeros_like(param.detach()) for _ in range(2)]
                self.state[param].update(step=0, exp_avg=zeros[0], exp_avg_sq=zeros[1])
        if found:
            from ..sparse._steps import sparse_adam  # only for sparse gradients

            for group in self.param_groups:
                sparse_adam(group, self.state)
        return loss
