"""Attention of several heads, with its projections (facade)."""

from math import inf, sqrt
from typing import Any

from .._core.graph.tensor import Tensor
from .._core.ops.operations import OPS
from .._core.runtime.entry import public

__all__ = ["multi_head_attention_forward"]

_linear = OPS["nn.functional.linear"].function
_attend = OPS["nn.functional.scaled_dot_product_attention"].function
_dropout = OPS["dropout"].function
_softmax = OPS["softmax"].function
_cat = OPS["cat"].function


@public
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: "int",
    num_heads: "int",
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: "bool",
    dropout_p: "float",
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: "bool" = True,
    key_padding_mask: Tensor | None = None,
    need_weights: "bool" = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: "bool" = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: "bool" = True,
    is_causal: "bool" = False,
) -> tuple[Tensor, Tensor | None]:
    """multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, ...) -> (Tensor, Tensor or None)

    Queries (L, N, E), keys and values (S, N, E) (or each without N) are projected, attended to by `num_heads` heads, and
    projected again: (L, N, E), and with `need_weights` the weights (N, L, S), the mean over heads unless
    average_attn_weights=False. Masks are of bools (True: not looked at) or are added. AssertionError or RuntimeError for
    sizes that don't fit. Source: Vaswani et al., "Attention is all you need" (2017).

    >>> import autograd_cy as ag
    >>> x, w = ag.ones(3, 1, 2), ag.ones(2, 2)
    >>> y, weights = ag.nn.functional.multi_head_attention_forward(
    ...     x, x, x, 2, 1, ag.ones(6, 2), None, None, None, False, 0.0, w, None)
    >>> y[0], weights[0, 0]
    (tensor([[4., 4.]]), tensor([0.3333, 0.3333, 0.3333]))
    """
    batched = _check_ranks(query, key, value, key_padding_mask)
    if not batched:
        query, key, value = (x.unsqueeze(1) for x in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, samples, size = query.shape
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    q, k, v = _projected((query, key, value), in_proj_weight, separate, in_proj_bias)
    mask = _added(attn_mask, "attn_mask", q)
    padding = _added(key_padding_mask, "key_padding_mask", q)
    mask = _per_head(mask, samples, num_heads, length, key.shape[0])
    if (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k and bias_v must both be given or both be None")
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static key or value")
        k, v = (_cat([x, bias.repeat(1, samples, 1)]) for x, bias in ((k, bias_k), (v, bias_v)))
        mask, padding = _longer(mask), _longer(padding)
    q = _in_heads(q, num_heads)
    k = _static(static_k, "static_k", q) if static_k is not None else _in_heads(k, num_heads)
    v = _static(static_v, "static_v", q) if static_v is not None else _in_heads(v, num_heads)
    if add_zero_attn:
        k, v = (_cat([x, x.new_zeros((x.shape[0], 1, x.shape[2]))], 1) for x in (k, v))
        mask, padding = _longer(mask), _longer(padding)
    if padding is not None:
        padding = _for_heads(padding, samples, num_heads, k.shape[1])
        mask = padding if mask is None else mask + padding
    rate = dropout_p if training else 0.0
    if need_weights:
        y, shares = _attended(q, k, v, mask, rate)
        y = y.transpose(0, 1).reshape(length * samples, size)
        y = _linear(y, out_proj_weight, out_proj_bias).view(length, samples, -1)
        shares = shares.view(samples, num_heads, length, k.shape[1])
        shares = shares.mean(1) if average_attn_weights else shares
        return (y, shares) if batched else (y.squeeze(1), shares.squeeze(0))
    q, k, v = (x.view(samples, num_heads, x.shape[1], x.shape[2]) for x in (q, k, v))
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.shape[0] == 1 else mask.view(samples, num_heads, -1, k.shape[2])
    y = _attend(q, k, v, mask, rate).permute(2, 0, 1, 3).reshape(length * samples, size)
    y = _linear(y, out_proj_weight, out_proj_bias).view(length, samples, -1)
    return (y if batched else y.squeeze(1)), None


def _check_ranks(query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None) -> bool:
    """Whether there is a dimension of samples."""
    if query.ndim not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {query.ndim}-D query tensor")
    expected = {"key": (key, query.ndim), "value": (value, query.ndim), "key_padding_mask": (padding, query.ndim - 1)}
    for name, (x, ndim) in expected.items():
        if x is not None and x.ndim != ndim:
            raise AssertionError(
                f"For {'batched (3-D)' if query.ndim == 3 else 'unbatched (2-D)'} `query`, expected `{name}` to be "
                f"{ndim}-D but found a {x.ndim}-D tensor instead"
            )
    return query.ndim == 3


def _check_sizes(query: Tensor, key: Tensor, value: Tensor, expected: int, heads: int, separate: bool) -> None:
    if query.shape[2] != expected:
        raise AssertionError(f"was expecting embedding dimension of {expected}, but got {query.shape[2]}")
    if heads < 1 or expected % heads:
        raise AssertionError(f"embed_dim {expected} not divisible by num_heads {heads}")
    if separate and key.shape[:2] != value.shape[:2]:
        raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
    if not separate and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _projected(inputs: tuple[Tensor, Tensor, Tensor], packed: Any, separate: Any, bias: Tensor | None) -> list[Tensor]:
    """Queries, keys and values, by weights of their own or the thirds of one; by one product, if all are of one tensor."""
    if separate is not None:
        if any(weight is None for weight in separate):
            raise AssertionError("use_separate_proj_weight is True but q_proj_weight, k_proj_weight or v_proj_weight is None")
        weights = separate
    elif packed is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    elif inputs[0] is inputs[1] is inputs[2]:
        return list(_linear(inputs[0], packed, bias).chunk(3, -1))
    else:
        weights = packed.chunk(3)
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return [_linear(x, w, b) for x, w, b in zip(inputs, weights, biases, strict=True)]


def _attended(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, rate: float) -> tuple[Tensor, Tensor]:
    """The sums of values, and the weights by which they were summed."""
    scores = (q * sqrt(1 / q.shape[-1])) @ k.transpose(-2, -1)
    shares = _softmax(scores if mask is None else scores + mask, -1)
    shares = _dropout(shares, rate, True) if rate else shares
    return shares @ v, shares


def _for_heads(padding: Tensor, samples: int, heads: int, columns: int) -> Tensor:
    """What is added for keys that are padding, for each head and row of queries."""
    if tuple(padding.shape) != (samples, columns):
        raise AssertionError(f"expecting key_padding_mask shape of {(samples, columns)}, but got {tuple(padding.shape)}")
    return padding.view(samples, 1, 1, columns).expand(-1, heads, -1, -1).reshape(-1, 1, columns)


def _added(mask, name, like):
    """A mask as what is added to the scores."""
    if mask is None or mask.is_floating_point():
        return mask
    if str(mask.dtype) != "torch.bool":
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return like.new_zeros(mask.shape).masked_fill_(mask, -inf)


def _per_head(mask, samples, heads, rows, columns):
    """The mask with a dimension for samples and heads."""
    if mask is None:
        return None
    if mask.ndim not in (2, 3):
        raise RuntimeError(f"attn_mask's dimension {mask.ndim} is not supported")
    expected = (rows, columns) if mask.ndim == 2 else (samples * heads, rows, columns)
    if tuple(mask.shape) != expected:
        raise RuntimeError(
            f"The shape of the {mask.ndim}D attn_mask is {tuple(mask.shape)}, but should be {expected}."
        )
    return mask.unsqueeze(0) if mask.ndim == 2 else mask


def _longer(mask):
    """For one key more, which is looked at."""
    return None if mask is None else _cat([mask, mask.new_zeros((*mask.shape[:-1], 1))], -1)


def _in_heads(x, heads):
    """(rows, samples, size) as (samples * heads, rows, size / heads)."""
    rows, samples, size = x.shape
    return x.reshape(rows, samples * heads, size // heads).transpose(0, 1)


def _static(x, name, like):
    if x.shape[0] != like.shape[0] or x.shape[2] != like.shape[2]:
        raise AssertionError(
            f"expecting {name} of size ({like.shape[0]}, *, {like.shape[2]}), but got {tuple(x.shape)}"
        )
    return x
