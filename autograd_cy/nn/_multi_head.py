"""Attention of several heads, with its projections (facade)."""

from collections.abc import Sequence
from math import inf, sqrt
from typing import Any, NamedTuple

from .._core.graph.tensor import Tensor
from .._core.ops.nn.attention import by_head, in_rows, packed_attention
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
    return attended(
        False, query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
        dropout_p, out_proj_weight, out_proj_bias, training, key_padding_mask, need_weights, attn_mask,
        use_separate_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, static_k, static_v, average_attn_weights,
        is_causal,
    )  # fmt: skip


def attended(
    samples_first: bool, query: Tensor, key: Tensor, value: Tensor, expected_size: int, heads: int,
    packed: Tensor | None, bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, zero_key: bool, rate: float,
    out_weight: Tensor, out_bias: Tensor | None, training: bool, padding: Tensor | None, need_weights: bool,
    mask: Tensor | None, use_separate: bool, q_weight: Tensor | None, k_weight: Tensor | None, v_weight: Tensor | None,
    static_k: Tensor | None, static_v: Tensor | None, average: bool, is_causal: bool,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """What multi_head_attention_forward does; with `samples_first`, of inputs (N, L, E), which give (N, L, E)."""
    _check_ranks(query, key, value, padding, mask, heads)
    if is_causal and mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    rate = rate if training else 0.0
    weights = _Weights(packed, (q_weight, k_weight, v_weight) if use_separate else None, bias, out_weight, out_bias)
    more_keys = zero_key or any(x is not None for x in (bias_k, bias_v, static_k, static_v))
    if not need_weights and not more_keys and query.ndim == 3 and key.shape[:2] == value.shape[:2]:
        _check_sizes(query, key, value, expected_size, heads, use_separate)
        return _by_heads(samples_first, (query, key, value), heads, weights, mask, padding, rate, is_causal), None
    if samples_first:
        query, key, value = _batch_second(query, key, value)
    batched = query.ndim == 3
    if not batched:
        query, key, value = (x.unsqueeze(1) for x in (query, key, value))
        padding = None if padding is None else padding.unsqueeze(0)
    _check_sizes(query, key, value, expected_size, heads, use_separate)
    y, shares = _with_more_keys(
        (query, key, value), heads, weights, (bias_k, bias_v), (static_k, static_v), zero_key, mask, padding, rate,
        need_weights,
    )  # fmt: skip
    shares = shares.mean(1) if shares is not None and average else shares
    if not batched:
        return y.squeeze(1), None if shares is None else shares.squeeze(0)
    return (y.transpose(0, 1) if samples_first else y), shares


def _batch_second(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The three with dimensions 0 and 1 swapped. Identical tensors stay identical, so that one product projects them."""
    swapped = query.transpose(0, 1)
    keys = swapped if key is query else key.transpose(0, 1)
    return swapped, keys, keys if value is key else value.transpose(0, 1)


class _Weights(NamedTuple):
    """Weights of the input projections (one matrix, or one each) and of the output projection."""

    packed: Tensor | None
    separate: tuple[Tensor | None, Tensor | None, Tensor | None] | None
    bias: Tensor | None
    out: Tensor
    out_bias: Tensor | None


def _by_heads(
    samples_first: bool, inputs: tuple[Tensor, Tensor, Tensor], heads: int, weights: _Weights, mask: Tensor | None,
    padding: Tensor | None, rate: float, is_causal: bool,
) -> Tensor:  # fmt: skip
    """The attended values, projected. Heads are views (N, heads, L, E / heads) of the projections, or stay inside them."""
    query, key, _ = inputs
    length, samples = query.shape[samples_first], query.shape[not samples_first]
    columns = key.shape[samples_first]
    if is_causal and padding is None:
        mask = None  # it says the same
    else:
        is_causal, mask = False, _per_head(_added(mask, "attn_mask", query), samples, heads, length, columns)
    if mask is not None:
        mask = mask.view(-1, 1 if mask.shape[0] == 1 else heads, length, columns)
    if padding is not None:
        _check_padding(padding, samples, columns)
        padding = _added(padding, "key_padding_mask", query).view(samples, 1, 1, columns)
        mask = padding if mask is None else mask + padding
    rows_first = not samples_first
    if weights.separate is None and weights.packed is not None and inputs[0] is inputs[1] is inputs[2]:
        packed = _linear(query, weights.packed, weights.bias)
        y = packed_attention(packed, heads, mask, rate, is_causal, rows_first)
    else:
        q, k, v = [by_head(x, heads, rows_first) for x in _projected(inputs, weights)]
        y = in_rows(_attend(q, k, v, mask, rate, is_causal), rows_first)
    return _linear(y, weights.out, weights.out_bias)


def _with_more_keys(
    inputs: tuple[Tensor, Tensor, Tensor], heads: int, weights: _Weights, biases: tuple[Tensor | None, Tensor | None],
    static: tuple[Tensor | None, Tensor | None], zero_key: bool, mask: Tensor | None, padding: Tensor | None, rate: float,
    need_weights: bool,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """The attended values, projected, and the weights (N, heads, L, S). Keys may be given from outside, or be added."""
    length, samples, size = inputs[0].shape
    bias_k, bias_v = biases
    q, k, v = _projected(inputs, weights)
    mask, padding = _added(mask, "attn_mask", q), _added(padding, "key_padding_mask", q)
    mask = _per_head(mask, samples, heads, length, inputs[1].shape[0])
    if (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k and bias_v must both be given or both be None")
    if bias_k is not None and bias_v is not None:
        if static[0] is not None or static[1] is not None:
            raise AssertionError("bias cannot be added to static key or value")
        k, v = (_cat([x, bias.repeat(1, samples, 1)]) for x, bias in ((k, bias_k), (v, bias_v)))
        mask, padding = _longer(mask), _longer(padding)
    q = _in_heads(q, heads)
    k, v = (
        _in_heads(x, heads) if given is None else _static(given, name, q)
        for x, given, name in zip((k, v), static, ("static_k", "static_v"), strict=True)
    )
    if zero_key:
        k, v = (_cat([x, x.new_zeros((x.shape[0], 1, x.shape[2]))], 1) for x in (k, v))
        mask, padding = _longer(mask), _longer(padding)
    if padding is not None:
        padding = _for_heads(padding, samples, heads, k.shape[1])
        mask = padding if mask is None else mask + padding
    if need_weights:
        y, shares = _attended(q, k, v, mask, rate)
        shares = shares.view(samples, heads, length, k.shape[1])
    else:
        y, shares = _attend(q, k, v, mask, rate), None
    y = _linear(y.transpose(0, 1).reshape(length * samples, size), weights.out, weights.out_bias)
    return y.view(length, samples, y.shape[1]), shares


def _check_ranks(query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None, mask: Tensor | None, heads: int) -> None:
    ndim = query.ndim
    if ndim not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {ndim}-D query tensor")
    fault = ""
    if key.ndim != ndim or value.ndim != ndim:
        fault = f"`key` and `value` to be {ndim}-D but found {key.ndim}-D and {value.ndim}-D tensors respectively"
    elif padding is not None and padding.ndim != ndim - 1:
        fault = f"`key_padding_mask` to be `None` or {ndim - 1}-D but found {padding.ndim}-D tensor instead"
    elif mask is not None and mask.ndim not in (2, 3):
        fault = f"`attn_mask` to be `None`, 2-D or 3-D but found {mask.ndim}-D tensor instead"
    if fault:
        raise AssertionError(f"For {'batched (3-D)' if ndim == 3 else 'unbatched (2-D)'} `query`, expected {fault}")
    if ndim == 2 and mask is not None and mask.ndim == 3 and mask.shape != (heads, query.shape[0], key.shape[0]):
        raise AssertionError(f"Expected `attn_mask` shape to be {(heads, query.shape[0], key.shape[0])} but got {mask.shape}")


def _check_sizes(query: Tensor, key: Tensor, value: Tensor, expected: int, heads: int, separate: bool) -> None:
    if query.shape[2] != expected:
        raise AssertionError(f"was expecting embedding dimension of {expected}, but got {query.shape[2]}")
    if heads < 1 or expected % heads:
        raise AssertionError(f"embed_dim {expected} not divisible by num_heads {heads}")
    if separate and key.shape[:2] != value.shape[:2]:
        raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
    if not separate and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _projected(inputs: tuple[Tensor, Tensor, Tensor], weights: _Weights) -> Sequence[Tensor]:
    """Queries, keys and values, by weights of their own or the thirds of one; by one product, if all are of one tensor."""
    matrices: Any
    if weights.separate is not None:
        matrices = weights.separate
        if any(matrix is None for matrix in matrices):
            raise AssertionError("use_separate_proj_weight is True but q_proj_weight, k_proj_weight or v_proj_weight is None")
    elif weights.packed is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    elif inputs[0] is inputs[1] is inputs[2]:
        return _linear(inputs[0], weights.packed, weights.bias).chunk(3, -1)
    else:
        matrices = weights.packed.chunk(3)
    biases = (None, None, None) if weights.bias is None else weights.bias.chunk(3)
    return [_linear(x, w, b) for x, w, b in zip(inputs, matrices, biases, strict=True)]


def _attended(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, rate: float) -> tuple[Tensor, Tensor]:
    """The weighted sums of values, and the weights."""
    scores = (q * sqrt(1 / q.shape[-1])) @ k.transpose(-2, -1)
    shares = _softmax(scores if mask is None else scores + mask, -1)
    shares = _dropout(shares, rate, True) if rate else shares
    return shares @ v, shares


def _for_heads(padding: Tensor, samples: int, heads: int, columns: int) -> Tensor:
    """The mask to add for padded keys, for each head and query row."""
    _check_padding(padding, samples, columns)
    return padding.view(samples, 1, 1, columns).expand(-1, heads, -1, -1).reshape(samples * heads, 1, columns)


def _check_padding(padding: Tensor, samples: int, columns: int) -> None:
    if tuple(padding.shape) != (samples, columns):
        raise AssertionError(f"expecting key_padding_mask shape of {(samples, columns)}, but got {tuple(padding.shape)}")


def _added(mask: Any, name: str, like: Tensor) -> Any:
    """A mask in the form that is added to the scores."""
    if mask is None or mask.is_floating_point():
        return mask
    if str(mask.dtype) != "torch.bool":
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return like.new_zeros(mask.shape).masked_fill_(mask, -inf)


def _per_head(mask: Tensor | None, samples: int, heads: int, rows: int, columns: int) -> Tensor | None:
    """The mask with a dimension for samples and heads."""
    if mask is None:
        return None
    expected = (rows, columns) if mask.ndim == 2 else (samples * heads, rows, columns)
    if tuple(mask.shape) != expected:
        raise RuntimeError(f"The shape of the {mask.ndim}D attn_mask is {mask.shape}, but should be {expected}.")
    return mask.unsqueeze(0) if mask.ndim == 2 else mask


def _longer(mask: Tensor | None) -> Tensor | None:
    """The mask with one more key, which is not masked."""
    return None if mask is None else _cat([mask, mask.new_zeros((*mask.shape[:-1], 1))], -1)


def _in_heads(x: Tensor, heads: int) -> Tensor:
    """(rows, samples, size) as (samples * heads, rows, size / heads)."""
    rows, samples, size = x.shape
    return x.reshape(rows, samples * heads, size // heads).transpose(0, 1)


def _static(x: Tensor, name: str, like: Tensor) -> Tensor:
    if x.shape[0] != like.shape[0] or x.shape[2] != like.shape[2]:
        raise AssertionError(f"expecting {name} of size ({like.shape[0]}, *, {like.shape[2]}), but got {tuple(x.shape)}")
    return x
