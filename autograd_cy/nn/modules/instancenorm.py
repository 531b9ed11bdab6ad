"""Instance normalization: mean and variance of each channel of each sample (facade)."""

import warnings
from typing import Any

from ..._core.graph.tensor import Tensor
from .. import functional as _F
from ._running_norm import _LazyNormBase, _NormBase

__all__ = [
    "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d",
]  # fmt: skip


class _InstanceNorm(_NormBase):
    """`_dims` are the numbers of dimensions without and with a batch."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        unbatched = input.dim() == self._dims[0]
        self._check_channels(input, 0 if unbatched else 1)
        return self._normalized(input.unsqueeze(0)).squeeze(0) if unbatched else self._normalized(input)

    def _check_channels(self, input: Tensor, dim: int) -> None:
        channels = input.size(dim)
        if channels == self.num_features:
            return
        if self.affine:
            raise ValueError(
                f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: {channels}."
            )
        text = (
            f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing in "
            "num_features, which is not used because affine=False"
        )
        warnings.warn(text, stacklevel=5)

    def _get_no_batch_dim(self) -> int:
        return self._dims[0]

    def _normalized(self, input: Tensor) -> Tensor:
        return _F.instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, 0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        """Reject running statistics in dicts of PyTorch before 0.4.0, which always has them, unless they are tracked."""
        if local_metadata.get("version") is None and not self.track_running_stats:
            old = [name for name in ("running_mean", "running_var") if prefix + name in state_dict]
            if old:
                names, kind = " and ".join(f'"{prefix}{name}"' for name in old), type(self).__name__
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {names} for {kind} with track_running_stats=False. A dict of "
                    f"PyTorch before 0.4.0 has them: remove these keys, or make the {kind} with track_running_stats=True."
                )
                for name in old:
                    state_dict.pop(prefix + name)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)


class InstanceNorm1d(_InstanceNorm):
    """``InstanceNorm1d(num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, *, bias=True)``.

    Each channel of each sample of (N, C, L) or (C, L) with mean 0 and variance 1 (arXiv:1607.08022).

    >>> import autograd_cy as ag
    >>> ag.nn.InstanceNorm1d(1)(ag.tensor([[1.0, 3.0]]))
    tensor([[-1.0000,  1.0000]])
    """

    _dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """``InstanceNorm2d(num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False)``: of (N, C, H, W).

    As InstanceNorm1d.

    >>> import autograd_cy as ag
    >>> ag.nn.InstanceNorm2d(3)(ag.ones(2, 3, 4, 4)).shape
    torch.Size([2, 3, 4, 4])
    """

    _dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """``InstanceNorm3d(num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False)``: of (N, C, D, H, W).

    As InstanceNorm1d.

    >>> import autograd_cy as ag
    >>> ag.nn.InstanceNorm3d(3)(ag.ones(2, 3, 4, 4, 4)).shape
    torch.Size([2, 3, 4, 4, 4])
    """

    _dims = (4, 5)


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """``LazyInstanceNorm1d(eps=1e-5, momentum=0.1, ...)``: an InstanceNorm1d that learns num_features from its first input.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.LazyInstanceNorm1d()
    >>> layer(ag.ones(4, 3, 2)).shape, layer.num_features
    (torch.Size([4, 3, 2]), 3)
    """

    cls_to_become = InstanceNorm1d
    _dims = (2, 3)


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """``LazyInstanceNorm2d(eps=1e-5, momentum=0.1, ...)``: an InstanceNorm2d that learns num_features from its first input.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.LazyInstanceNorm2d()
    >>> layer(ag.ones(4, 3, 2, 2)).shape, layer.num_features
    (torch.Size([4, 3, 2, 2]), 3)
    """

    cls_to_become = InstanceNorm2d
    _dims = (3, 4)


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """``LazyInstanceNorm3d(eps=1e-5, momentum=0.1, ...)``: an InstanceNorm3d that learns num_features from its first input.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.LazyInstanceNorm3d()
    >>> layer(ag.ones(4, 3, 2, 2, 2)).shape, layer.num_features
    (torch.Size([4, 3, 2, 2, 2]), 3)
    """

    cls_to_become = InstanceNorm3d
    _dims = (4, 5)
