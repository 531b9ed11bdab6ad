"""Batch normalization: mean and variance of each channel over the batch (facade)."""

from typing import Any

from ..._core.graph.tensor import Tensor
from .. import functional as _F
from ._running_norm import _LazyNormBase, _NormBase

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "SyncBatchNorm",
]  # fmt: skip


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        training, tracking = self.training, self.track_running_stats
        momentum = self.momentum
        if training and tracking and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if momentum is None:  # the plain mean of all batches
                momentum = 1.0 / float(self.num_batches_tracked)
        mean, var = self.running_mean, self.running_var
        if training and not tracking:
            mean = var = None
        of_batch = training or (mean is None and var is None)
        return _F.batch_norm(
            input, mean, var, self.weight, self.bias, of_batch, 0.0 if momentum is None else momentum, self.eps
        )


class BatchNorm1d(_BatchNorm):
    """``BatchNorm1d(num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, *, bias=True)``.

    Channels of (N, C) or (N, C, L) with mean 0 and variance 1, times weight (C,) plus bias (C,). Training uses the batch's
    mean and variance, and updates the running ones (by `momentum`; None: the mean of all batches), which are used in
    eval() mode. Ioffe and Szegedy 2015, arXiv:1502.03167.

    >>> import autograd_cy as ag
    >>> ag.nn.BatchNorm1d(1)(ag.tensor([[1.0], [3.0]])).detach().flatten()
    tensor([-1.0000,  1.0000])
    """

    _dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """``BatchNorm2d(num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True)``: of (N, C, H, W).

    As BatchNorm1d.

    >>> import autograd_cy as ag
    >>> ag.nn.BatchNorm2d(3)(ag.ones(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    _dims = (4,)


class BatchNorm3d(_BatchNorm):
    """``BatchNorm3d(num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True)``: of (N, C, D, H, W).

    As BatchNorm1d.

    >>> import autograd_cy as ag
    >>> ag.nn.BatchNorm3d(3)(ag.ones(2, 3, 4, 4, 4)).shape
    torch.Size([2, 3, 4, 4, 4])
    """

    _dims = (5,)


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """``LazyBatchNorm1d(eps=1e-5, momentum=0.1, ...)``: a BatchNorm1d that learns num_features from its first input.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.LazyBatchNorm1d()
    >>> layer(ag.ones(4, 3)).shape, layer.num_features
    (torch.Size([4, 3]), 3)
    """

    cls_to_become = BatchNorm1d
    _dims = (2, 3)


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """``LazyBatchNorm2d(eps=1e-5, momentum=0.1, ...)``: a BatchNorm2d that learns num_features from its first input.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.LazyBatchNorm2d()
    >>> layer(ag.ones(4, 3, 2, 2)).shape, layer.num_features
    (torch.Size([4, 3, 2, 2]), 3)
    """

    cls_to_become = BatchNorm2d
    _dims = (4,)


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """``LazyBatchNorm3d(eps=1e-5, momentum=0.1, ...)``: a BatchNorm3d that learns num_features from its first input.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.LazyBatchNorm3d()
    >>> layer(ag.ones(4, 3, 2, 2, 2)).shape, layer.num_features
    (torch.Size([4, 3, 2, 2, 2]), 3)
    """

    cls_to_become = BatchNorm3d
    _dims = (5,)


class SyncBatchNorm(_BatchNorm):
    """``SyncBatchNorm(...)``: refused, as there is a single process. Use BatchNorm.

    >>> import autograd_cy as ag
    >>> ag.nn.SyncBatchNorm(3)
    Traceback (most recent call last):
    ...
    NotImplementedError: SyncBatchNorm: there is no torch.distributed here; BatchNorm1d, 2d and 3d do the same in one process
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(_ONE_PROCESS)

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """``convert_sync_batchnorm(module, process_group=None)`` is refused, too."""
        raise NotImplementedError(_ONE_PROCESS)


_ONE_PROCESS = (
    "SyncBatchNorm: there is no torch.distributed here; BatchNorm1d, 2d and 3d do the same in one process"
)
