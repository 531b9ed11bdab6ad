"""Reordering of channels (facade)."""

from ._function_layer import FunctionLayer as _FunctionLayer

__all__ = ["ChannelShuffle"]


class ChannelShuffle(_FunctionLayer, function="channel_shuffle"):
    """``ChannelShuffle(groups)``: channels of `groups` groups reordered: the first of each group, then the second, ...

    >>> import autograd_cy as ag
    >>> ag.nn.ChannelShuffle(2)(ag.arange(4.0).reshape(1, 4, 1, 1)).flatten()
    tensor([0., 2., 1., 3.])
    """

    groups: int
