"""Small networks, each with an input that fits."""

from collections.abc import Callable
from typing import Any

from ... import nn as _nn
from ..._core.graph.tensor import Tensor
from ...nn.modules.module import Module
from ...random import get_rng_state, manual_seed, set_rng_state
from ._hypothesis import checked, checked_number, st
from ._tensors import _FLOAT64, _plain_dtype, tensors

nn: Any = _nn  # its layers are imported when they are asked for
Shape = tuple[int, ...]
Made = tuple[Module, Shape]

SMOOTH = (nn.Tanh, nn.Sigmoid, nn.Softplus, nn.SiLU, nn.GELU, nn.Mish)
KINKED = (nn.ReLU, nn.LeakyReLU, nn.ELU, nn.Hardtanh, nn.Softshrink)
pick = st.integers(0, 11)


def modules(
    max_layers: int = 3, *, dtype: Any = _FLOAT64, smooth: bool = False
) -> st.SearchStrategy[tuple[Module, Tensor]]:
    """``modules()`` draws networks, each with an input: pairs of a Sequential of up to max_layers layers and a tensor.

    The layers fit each other: linear ones, convolutions, pooling, normalization and activations, over rows (n, features) or
    images (n, channels, height, width). They are in training mode, their parameters and the input (which requires no grad)
    have the floating dtype. What a layer draws at random for its parameters follows from the example, and the generator goes
    on as if nothing had been drawn. With smooth=True only layers that have a derivative everywhere are drawn, for checks of
    gradients. They shrink to one Linear(1, 1) and zeros. TypeError and ValueError for other arguments.

    >>> from autograd_cy.testing.strategies import modules
    >>> from hypothesis import find
    >>> find(modules(), lambda pair: True)
    (Sequential(
      (0): Linear(in_features=1, out_features=1, bias=True)
    ), tensor([[0.]], dtype=torch.float64))
    >>> net, x = find(modules(), lambda pair: pair[1].ndim == 4)
    >>> net(x).shape
    torch.Size([1, 1, 1, 1])
    """
    checked_number("modules", "max_layers", max_layers, 1)
    checked("modules", "smooth", smooth, bool, "a bool")
    return _modules(max_layers, _plain_dtype("modules", dtype), smooth)


@st.composite
def _modules(draw: Any, max_layers: int, dtype: Any, smooth: bool) -> tuple[Module, Tensor]:
    sizes = draw(st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 5), st.integers(1, 5)))
    shape: Shape = sizes if draw(st.booleans()) else sizes[:2]
    # a layer's drawn values don't depend on earlier layers, so that each can be left out
    kinds = st.sampled_from(SMOOTH_KINDS if smooth else SMOOTH_KINDS + KINKED_KINDS)
    plan = draw(st.lists(st.tuples(kinds, pick, pick, pick), min_size=1, max_size=max_layers))
    seed, x = draw(st.integers(0, 999)), draw(tensors(dtype, shape))
    state, layers = get_rng_state(), []
    try:
        manual_seed(seed)
        for kind, *numbers in plan:
            layer, shape = kind(shape, *numbers) or _linear(shape, *numbers)
            layers.append(layer)
    finally:
        set_rng_state(state)
    return nn.Sequential(*layers).to(dtype), x


# For an input of that shape and three numbers: the layer, and the shape of what it returns; None where it doesn't fit


def _linear(shape: Shape, size: int, bias: int, _: int) -> Made:
    return nn.Linear(shape[-1], 1 + size % 4, bias=bias % 2 == 0), (*shape[:-1], 1 + size % 4)


def _smooth(shape: Shape, which: int, *_: int) -> Made:
    return SMOOTH[which % len(SMOOTH)](), shape


def _kinked(shape: Shape, which: int, *_: int) -> Made:
    return KINKED[which % len(KINKED)](), shape


def _layer_norm(shape: Shape, *_: int) -> Made | None:
    return (nn.LayerNorm(shape[-1]), shape) if shape[-1] > 1 else None


def _batch_norm(shape: Shape, *_: int) -> Made | None:
    if len(shape) == 2:
        return (nn.BatchNorm1d(shape[1]), shape) if shape[0] > 1 else None
    return (nn.BatchNorm2d(shape[1]), shape) if shape[0] * shape[2] * shape[3] > 1 else None


def _group_norm(shape: Shape, groups: int, *_: int) -> Made | None:
    if len(shape) == 2:
        return None
    groups = 1 if groups % 2 else shape[1]
    one_value = shape[1] // groups * shape[2] * shape[3] == 1
    return None if one_value else (nn.GroupNorm(groups, shape[1]), shape)


def _conv(shape: Shape, channels: int, size: int, stride: int) -> Made | None:
    if len(shape) == 2:
        return None
    channels, kernel, stride = 1 + channels % 3, 1 + size % min(3, *shape[2:]), 1 + stride % 2
    sizes = [(n + kernel // 2 * 2 - kernel) // stride + 1 for n in shape[2:]]
    return nn.Conv2d(shape[1], channels, kernel, stride, kernel // 2), (shape[0], channels, *sizes)


def _transposed_conv(shape: Shape, channels: int, size: int, _: int) -> Made | None:
    if len(shape) == 2:
        return None
    channels, kernel = 1 + channels % 3, 1 + size % 2
    return nn.ConvTranspose2d(shape[1], channels, kernel), (shape[0], channels, *[n + kernel - 1 for n in shape[2:]])


def _average_pool(shape: Shape, *_: int) -> Made | None:
    return _pooled(nn.AvgPool2d, shape)


def _max_pool(shape: Shape, *_: int) -> Made | None:
    return _pooled(nn.MaxPool2d, shape)


def _pooled(layer: Any, shape: Shape) -> Made | None:
    fits = len(shape) == 4 and min(shape[2:]) > 1
    return (layer(2), (*shape[:2], shape[2] // 2, shape[3] // 2)) if fits else None


def _flatten(shape: Shape, *_: int) -> Made | None:
    return (nn.Flatten(), (shape[0], shape[1] * shape[2] * shape[3])) if len(shape) == 4 else None


Maker = Callable[..., Made | None]
SMOOTH_KINDS: list[Maker] = [
    _linear, _smooth, _conv, _flatten, _average_pool, _transposed_conv, _layer_norm, _batch_norm, _group_norm,
]  # fmt: skip
KINKED_KINDS: list[Maker] = [_kinked, _max_pool]
