"""Dropout: layers that set elements to zero at random in training (facade)."""

from typing import Any

from ..._core.graph.tensor import Tensor
from .. import functional as _F
from ._function_layer import FunctionLayer as _FunctionLayer

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _DropoutNd(_FunctionLayer, function=None):
    """The base: the common settings. In eval() mode the input is returned unchanged."""

    p: float = 0.5
    inplace: bool = False

    def _store(self, settings: dict[str, Any]) -> None:
        if not 0 <= settings["p"] <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {settings['p']}")
        super()._store(settings)

    def forward(self, input: Tensor) -> Tensor:
        function = getattr(_F, self._function)
        if self.inplace:
            return function(input, self.p, self.training, inplace=True)
        return function(input, self.p, self.training)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd, function="dropout"):
    """``Dropout(p=0.5, inplace=False)``: each element is zeroed with probability p, the others divided by 1 - p.

    Srivastava et al. 2014, Dropout: a simple way to prevent neural networks from overfitting.

    >>> import autograd_cy as ag
    >>> drop = ag.nn.Dropout(0.5)
    >>> set(drop(ag.ones(100)).tolist()) == {0.0, 2.0}, drop.eval()(ag.ones(2))
    (True, tensor([1., 1.]))
    """


class Dropout1d(_DropoutNd, function="dropout1d"):
    """``Dropout1d(p=0.5, inplace=False)``: whole channels of (N, C, L) or (C, L) are zeroed, the others divided by 1 - p.

    >>> import autograd_cy as ag
    >>> ag.nn.Dropout1d(1.0)(ag.ones(1, 2, 3)).sum()
    tensor(0.)
    """


class Dropout2d(_DropoutNd, function="dropout2d"):
    """``Dropout2d(p=0.5, inplace=False)``: whole channels of (N, C, H, W) are zeroed, the others divided by 1 - p.

    >>> import autograd_cy as ag
    >>> ag.nn.Dropout2d(1.0)(ag.ones(1, 2, 3, 3)).sum()
    tensor(0.)
    """


class Dropout3d(_DropoutNd, function="dropout3d"):
    """``Dropout3d(p=0.5, inplace=False)``: whole channels of (N, C, D, H, W) are zeroed, the others divided by 1 - p.

    >>> import autograd_cy as ag
    >>> ag.nn.Dropout3d(1.0)(ag.ones(1, 2, 3, 3, 3)).sum()
    tensor(0.)
    """


class AlphaDropout(_DropoutNd, function="alpha_dropout"):
    """``AlphaDropout(p=0.5, inplace=False)``: dropout that keeps mean 0 and variance 1, for SELU (arXiv:1706.02515).

    >>> import autograd_cy as ag
    >>> ag.nn.AlphaDropout(0.2).eval()(ag.ones(2))
    tensor([1., 1.])
    """


class FeatureAlphaDropout(_DropoutNd, function="feature_alpha_dropout"):
    """``FeatureAlphaDropout(p=0.5, inplace=False)``: AlphaDropout of whole channels.

    >>> import autograd_cy as ag
    >>> ag.nn.FeatureAlphaDropout(0.2).eval()(ag.ones(1, 2, 1)).flatten()
    tensor([1., 1.])
    """
