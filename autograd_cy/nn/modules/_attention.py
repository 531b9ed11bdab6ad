"""MultiheadAttention (facade)."""

from typing import Any, ClassVar

from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public
from ..._creation.filled import empty
from .. import init
from .._multi_head import attended
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Module


class MultiheadAttention(Module):
    """``MultiheadAttention(embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, ..., batch_first=False)``.

    Called with query (L, N, embed_dim), key (S, N, kdim) and value (S, N, vdim), or N first if `batch_first`, or without N;
    returns the attended values, projected, and the weights (N, L, S), averaged over the heads, if `need_weights`. Bool
    masks exclude where True; others are added. Vaswani et al. 2017, arXiv:1706.03762.

    >>> import autograd_cy as ag
    >>> attention, x = ag.nn.MultiheadAttention(8, 2, batch_first=True), ag.ones(1, 3, 8)
    >>> [tensor.shape for tensor in attention(x, x, x)]
    [torch.Size([1, 3, 8]), torch.Size([1, 3, 3])]
    """

    __constants__: ClassVar[list[str]] = ["batch_first"]
    in_proj_weight: Any
    in_proj_bias: Any
    q_proj_weight: Any
    k_proj_weight: Any
    v_proj_weight: Any
    bias_k: Any
    bias_v: Any

    @public
    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        if embed_dim % num_heads != 0:
            raise AssertionError("embed_dim must be divisible by num_heads")
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        where = {"device": device, "dtype": dtype}
        for name, shape in self._shapes(bias, add_bias_kv).items():
            self.register_parameter(name, None if shape is None else Parameter(empty(shape, **where)))
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **where)
        self._reset_parameters()

    def _shapes(self, bias: bool, bias_kv: bool) -> dict[str, tuple[int, ...] | None]:
        """The parameters' shapes: one matrix for the three projections, or three where sizes differ."""
        size, same = self.embed_dim, self._qkv_same_embed_dim
        return {
            "q_proj_weight": None if same else (size, size),
            "k_proj_weight": None if same else (size, self.kdim),
            "v_proj_weight": None if same else (size, self.vdim),
            "in_proj_weight": (3 * size, size) if same else None,
            "in_proj_bias": (3 * size,) if bias else None,
            "bias_k": (1, 1, size) if bias_kv else None,
            "bias_v": (1, 1, size) if bias_kv else None,
        }

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None, need_weights: bool = True,
        attn_mask: Tensor | None = None, average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """``forward(query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, ..., is_causal=False)``.

        key_padding_mask: (N, S); attn_mask: (L, S) or (N * num_heads, L, S). `is_causal` says that attn_mask is causal, and
        may be used in its place. Without `need_weights` no matrix of weights is made.
        """
        separate = not self._qkv_same_embed_dim
        return attended(
            self.batch_first and query.ndim == 3, query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight,
            self.in_proj_bias, self.bias_k, self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight,
            self.out_proj.bias, self.training, key_padding_mask, need_weights, attn_mask, separate, self.q_proj_weight,
            self.k_proj_weight, self.v_proj_weight, None, None, average_attn_weights, is_causal,
        )  # fmt: skip

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """``merge_masks(attn_mask, key_padding_mask, query)``: their sum (N, heads, L, L), and its kind: 1 padding, 2 both.

        >>> import autograd_cy as ag
        >>> mask, kind = ag.nn.MultiheadAttention(4, 2).merge_masks(ag.zeros(3, 3), None, ag.ones(1, 3, 4))
        >>> mask.shape, kind
        (torch.Size([1, 2, 3, 3]), 2)
        """
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, length, _ = query.shape
        if attn_mask.dim() == 3:
            merged = attn_mask.view(batch, -1, length, length)
        else:
            merged = attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged, 2
