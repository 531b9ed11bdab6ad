"""The layers of encoders and decoders (facade)."""

from collections.abc import Callable
from typing import Any, ClassVar

from ..._core.graph.tensor import Tensor
from .. import functional as F
from ._attention import MultiheadAttention
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

_Activation = str | Callable[[Tensor], Tensor]
_ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu}


class _TransformerLayer(Module):
    """Attention blocks and a feed-forward block, each added to its input, with a LayerNorm before or after."""

    __constants__: ClassVar[list[str]] = ["norm_first"]
    _attentions: tuple[str, ...]
    self_attn: MultiheadAttention
    multihead_attn: MultiheadAttention
    norm1: Module
    norm2: Module
    norm3: Module
    dropout1: Module
    dropout2: Module
    dropout3: Module

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: _Activation = F.relu,
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        where: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        for name in self._attentions:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, **where))
        self.linear1 = Linear(d_model, dim_feedforward, **where)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **where)
        self.norm_first = norm_first
        blocks = range(1, len(self._attentions) + 2)
        for i in blocks:
            setattr(self, f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, **where))
        for i in blocks:
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _activation_of(activation)

    def _add(self, x: Tensor, norm: Module, block: Callable[..., Tensor], *args: Any) -> Tensor:
        """x plus the block's output, normalized before the block or after the sum."""
        return x + block(norm(x), *args) if self.norm_first else norm(x + block(x, *args))

    def _sa_block(self, x: Tensor, mask: Tensor | None, padding_mask: Tensor | None, is_causal: bool = False) -> Tensor:
        attended = self.self_attn(
            x, x, x, attn_mask=mask, key_padding_mask=padding_mask, need_weights=False, is_causal=is_causal
        )
        return self.dropout1(attended[0])

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_TransformerLayer):
    """``TransformerEncoderLayer(d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, ...)``.

    Self-attention and a feed-forward network (Linear, activation, Linear), each added to its input and normalized, or
    normalized first if `norm_first`. `activation` is "relu", "gelu" or a function. Input and output: (S, N, d_model), or N
    first if `batch_first`. Vaswani et al. 2017, arXiv:1706.03762.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> layer(ag.ones(5, 1, 8)).shape
    torch.Size([5, 1, 8])
    """

    _attentions = ("self_attn",)

    def forward(
        self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """``forward(src, src_mask=None, src_key_padding_mask=None, is_causal=False)``; the masks as in MultiheadAttention."""
        x = self._add(src, self.norm1, self._sa_block, src_mask, src_key_padding_mask, is_causal)
        return self._add(x, self.norm2, self._ff_block)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self._feed_forward(x))


class TransformerDecoderLayer(_TransformerLayer):
    """``TransformerDecoderLayer(d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, ...)``.

    As TransformerEncoderLayer, with attention to the encoder's output (`memory`) after the self-attention.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> layer(ag.ones(5, 1, 8), memory=ag.ones(7, 1, 8)).shape
    torch.Size([5, 1, 8])
    """

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False, memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """``forward(tgt, memory, tgt_mask=None, memory_mask=None, ...)``; the masks as in MultiheadAttention."""
        x = self._add(tgt, self.norm1, self._sa_block, tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        x = self._add(x, self.norm2, self._mha_block, memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        return self._add(x, self.norm3, self._ff_block)

    def _mha_block(
        self, x: Tensor, memory: Tensor, mask: Tensor | None, padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        attended = self.multihead_attn(
            x, memory, memory, attn_mask=mask, key_padding_mask=padding_mask, need_weights=False, is_causal=is_causal
        )
        return self.dropout2(attended[0])

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self._feed_forward(x))


def _activation_of(activation: _Activation) -> Callable[[Tensor], Tensor]:
    if not isinstance(activation, str):
        return activation
    if activation not in _ACTIVATIONS:
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return _ACTIVATIONS[activation]
