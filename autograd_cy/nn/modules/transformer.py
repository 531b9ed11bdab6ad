"""Transformer: an encoder and a decoder, each a stack of layers (facade)."""

import copy
from collections.abc import Callable
from typing import Any, ClassVar

from ..._core.graph.tensor import Tensor
from ..._creation.filled import full
from ..._functional.names import triu
from .. import functional as _F
from .. import init
from ._transformer_layers import TransformerDecoderLayer, TransformerEncoderLayer
from .container import ModuleList
from .module import Module
from .normalization import LayerNorm

__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer",
]  # fmt: skip


class _Stack(Module):
    """Copies of one layer in sequence, and a normalization after the last."""

    __constants__: ClassVar[list[str]] = ["norm"]
    norm: Any

    def __init__(self, layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        if not isinstance(layer, Module):
            raise TypeError(f"{type(self).__name__}: expected a Module as the layer, got {type(layer).__name__}")
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def _run(self, x: Tensor, *args: Any, **masks: Any) -> Tensor:
        for layer in self.layers:
            x = layer(x, *args, **masks)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """``TransformerEncoder(encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True)``.

    `num_layers` copies of a TransformerEncoderLayer. There are no nested tensors here: padded positions are computed, too,
    as PyTorch does in training.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> ag.nn.TransformerEncoder(layer, num_layers=2)(ag.ones(5, 1, 8)).shape
    torch.Size([5, 1, 8])
    """

    def __init__(
        self, encoder_layer: Module, num_layers: int, norm: Module | None = None, enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(encoder_layer, num_layers, norm)
        self.enable_nested_tensor, self.use_nested_tensor, self.mask_check = enable_nested_tensor, False, mask_check

    def forward(
        self, src: Tensor, mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:  # fmt: skip
        """``forward(src, mask=None, src_key_padding_mask=None, is_causal=None)``: with None the mask is inspected."""
        causal = _is_causal(mask, is_causal)
        return self._run(src, src_mask=mask, is_causal=causal, src_key_padding_mask=src_key_padding_mask)


class TransformerDecoder(_Stack):
    """``TransformerDecoder(decoder_layer, num_layers, norm=None)``: copies of a TransformerDecoderLayer.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> ag.nn.TransformerDecoder(layer, num_layers=2)(ag.ones(5, 1, 8), memory=ag.ones(7, 1, 8)).shape
    torch.Size([5, 1, 8])
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """``forward(tgt, memory, tgt_mask=None, ...)``: with `tgt_is_causal` None the mask is inspected."""
        return self._run(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=_is_causal(tgt_mask, tgt_is_causal),
            memory_is_causal=memory_is_causal,
        )  # fmt: skip


class Transformer(Module):
    """``Transformer(d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, ...)``.

    A TransformerEncoder and a TransformerDecoder of so many layers, with a LayerNorm after each; matrices are drawn by
    xavier_uniform_. src: (S, N, d_model), tgt and the output: (T, N, d_model), or N first if `batch_first`.

    >>> import autograd_cy as ag
    >>> model = ag.nn.Transformer(8, 2, 1, 1, dim_feedforward=16, batch_first=True)
    >>> model(ag.ones(1, 5, 8), ag.ones(1, 7, 8)).shape
    torch.Size([1, 7, 8])
    """

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: str | Callable[[Tensor], Tensor] = _F.relu,
        custom_encoder: Any = None, custom_decoder: Any = None, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        settings = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        where: dict[str, Any] = {"device": device, "dtype": dtype}

        def made(stack: type[_Stack], layer: type[Module], layers: int) -> _Stack:
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where)
            return stack(layer(*settings, **where), layers, norm)

        if custom_encoder is None:
            custom_encoder = made(TransformerEncoder, TransformerEncoderLayer, num_encoder_layers)
        self.encoder = custom_encoder
        if custom_decoder is None:
            custom_decoder = made(TransformerDecoder, TransformerDecoderLayer, num_decoder_layers)
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """``forward(src, tgt, src_mask=None, tgt_mask=None, ...)``; the masks as in MultiheadAttention."""
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """``generate_square_subsequent_mask(sz)``: the causal mask (sz, sz), -inf above the diagonal.

        >>> import autograd_cy as ag
        >>> ag.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        return _causal_mask(sz, device, dtype)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)


def _causal_mask(size: int, device: Any, dtype: Any) -> Tensor:
    return triu(full((size, size), float("-inf"), device=device, dtype=dtype), diagonal=1)


def _is_causal(mask: Tensor | None, said: bool | None) -> bool:
    """Whether a mask is causal: as declared, else by inspection."""
    if said is not None or mask is None:
        return said is True
    causal = _causal_mask(mask.size(-1), mask.device, mask.dtype)
    return mask.shape == causal.shape and bool((mask == causal).all())
