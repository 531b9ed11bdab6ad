"""Rows of the op table: rows of a table by number, normalizations, attention."""

import numpy as np
from op_case import ALL, COMPLEX, FLOATS, HALF, OpInfo, S

from autograd_cy._core.arrays.dtypes import kind_of

REAL_FLOATS = {"dtypes": FLOATS, "forward": HALF}


# embedding

def rows(make, indices_first=False):
    def of(table, indices, *args, **kwargs):
        return S(indices, table, *args, **kwargs) if indices_first else S(table, indices, *args, **kwargs)

    yield of(make(4, 3), np.array([1, 3, 1]))
    yield of(make(4, 3), np.array([[0, 2], [3, 3]]))
    yield of(make(4, 2), np.array(2))
    yield of(make(4, 3), np.zeros((0,), np.int64))


def bags(table, indices, offsets, scaled=False, mode=0, sparse=False, per_sample_weights=None, include_last_offset=False,
         padding_idx=None):  # fmt: skip
    ends = offsets[1:] if include_last_offset else np.append(offsets[1:], len(indices))
    numbers = np.repeat(np.arange(len(ends)), ends - offsets[: len(ends)])
    outputs, sizes, largest = [], [], []
    for start, end in zip(offsets, ends, strict=False):
        read = np.array([i for i in range(start, end) if padding_idx is None or indices[i] != padding_idx % len(table)], int)
        rows = table[indices[read]] if per_sample_weights is None else table[indices[read]] * per_sample_weights[read, None]
        sizes.append(len(read))
        if not len(read):
            rows = np.zeros_like(table[:1])
        outputs.append(rows.max(0) if mode == 2 else rows.mean(0) if mode else rows.sum(0))
        largest.append(indices[read][rows.argmax(0)] if len(read) and mode == 2 else np.zeros(table.shape[1], np.int64))
    sizes = np.array(sizes) if mode else np.zeros(len(offsets), int)  # sums have one for each offset, as PyTorch's
    return np.stack(outputs), numbers, sizes, np.stack(largest) if mode == 2 else sizes


def in_order(function, table, indices, offsets, *args, **kwargs):
    """With offsets that do not decrease, whatever batch they are from."""
    return function(table, indices, offsets.sort()[0], *args, **kwargs)


def bagged(make):
    indices, offsets = np.array([1, 3, 1, 0, 2, 2]), np.array([0, 2, 2, 5])
    for mode in (0, 1, 2):
        yield S(make(4, 3), indices, offsets, mode=mode)
        yield S(make(4, 3), indices, offsets, False, mode, False, None, False, -2)
    yield S(make(4, 3), indices, offsets[:1], False, 1, False, None, False, 1)
    yield S(make(4, 2), indices, np.array([0, 4, 6]), include_last_offset=True)
    yield S(make(4, 2), indices, offsets, False, 0, False, make(6))
    yield S(make(4, 2), indices, offsets, False, 0, False, make(6), False, 3)


# normalizations

def normalized(x, axes, eps):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def by_channel(parameter, x):
    return parameter.reshape(-1, *(1,) * (x.ndim - 2))


def batch_norm(x, weight=None, bias=None, running_mean=None, running_var=None, training=False, momentum=0.1, eps=1e-5,
               cudnn_enabled=False):  # fmt: skip
    if training:
        y = normalized(x, (0, *range(2, x.ndim)), eps)
    else:
        y = (x - by_channel(running_mean, x)) / np.sqrt(by_channel(running_var, x) + eps)
    y = y if weight is None else y * by_channel(weight, x)
    return y if bias is None else y + by_channel(bias, x)


def instance_norm(x, weight=None, bias=None, running_mean=None, running_var=None, use_input_stats=True, momentum=0.1, eps=1e-5,
                  cudnn_enabled=False):  # fmt: skip
    if not use_input_stats:
        return batch_norm(x, weight, bias, running_mean, running_var, False, momentum, eps)
    y = normalized(x, tuple(range(2, x.ndim)), eps)
    y = y if weight is None else y * by_channel(weight, x)
    return y if bias is None else y + by_channel(bias, x)


def group_norm(x, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=False):
    y = normalized(x.reshape(x.shape[0], num_groups, -1), (2,), eps).reshape(x.shape) if x.size else x
    y = y if weight is None else y * by_channel(weight, x)
    return y if bias is None else y + by_channel(bias, x)


def rms_norm(x, sizes, weight=1, eps=None):
    axes = tuple(range(-len(sizes), 0))
    return x / np.sqrt((x * x).mean(axes, keepdims=True) + (eps or 0)) * weight


def local_response_norm(x, size, alpha=1e-4, beta=0.75, k=1.0):
    padded = np.pad(x * x, [(0, 0), (size // 2, (size - 1) // 2)] + [(0, 0)] * (x.ndim - 2))
    sums = np.lib.stride_tricks.sliding_window_view(padded, size, 1).sum(-1)
    means = sums // size if kind_of(x.dtype) == "i" else sums / size
    return x / (k + alpha * means) ** beta


def positive(make, *sizes):
    return make(*sizes, domain=((0.5, 2.0),))


def batch_norms(make):
    rest = (True, 0.1, 1e-2, False)
    yield S(make(3, 2), make(2), make(2), None, None, *rest)
    yield S(make(2, 3, 4), make(3), make(3), None, None, *rest)
    yield S(make(2, 2, 2, 3), None, None, None, None, *rest)
    yield S(make(2, 3, 2), weight=make(3), bias=None, running_mean=make(3), running_var=positive(make, 3), training=False,
            momentum=0.1, eps=0.1, cudnn_enabled=False)  # fmt: skip


def functional_batch_norms(make):
    yield S(make(3, 2), None, None, make(2), make(2), True, 0.1, 1e-2)
    yield S(make(2, 3, 4), None, None, make(3), None, True, 0.1, 1e-2)
    yield S(make(3, 2), running_mean=make(2), running_var=positive(make, 2), weight=make(2), bias=make(2))


def functional_instance_norms(make):
    yield S(make(2, 3, 4), None, None, make(3), make(3), True, 0.1, 1e-2)
    yield S(make(2, 2, 2, 2), eps=0.1)
    yield S(make(2, 3, 4), running_mean=make(3), running_var=positive(make, 3), use_input_stats=False)


def instance_norms(make):
    yield S(make(2, 3, 4), make(3), make(3), None, None, True, 0.1, 1e-2, False)


def group_norms(make):
    yield S(make(2, 4, 3), 2, make(4), make(4), 1e-2)
    yield S(make(2, 4), 2, eps=0.1)
    yield S(make(2, 3, 2, 2), 3, None, make(3), 1e-2)
    yield S(make(2, 4, 2), 1, make(4), eps=0.1)


def rms_norms(make):
    yield S(make(2, 3), (3,), eps=1e-2)
    yield S(make(2, 3), (3,), make(3), 0.1)
    yield S(make(2, 2, 2), [2, 2], make(2, 2), 1e-2)


def local_response_norms(make):
    yield S(make(2, 3, 2), 2)
    yield S(make(1, 4, 2, 2), 3, 0.5, 0.5, 2.0)


def in_other_order(reference):
    """nn.functional has the running statistics before the parameters."""
    return lambda x, running_mean=None, running_var=None, weight=None, bias=None, *args, **kwargs: reference(
        x, weight, bias, running_mean, running_var, *args, **kwargs)


# attention

def attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if enable_gqa:
        k, v = (np.repeat(x, q.shape[-3] // x.shape[-3], -3) for x in (k, v))
    scores = q @ k.swapaxes(-1, -2) * (1 / np.sqrt(q.shape[-1]) if scale is None else scale)
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    if attn_mask is not None:
        scores = np.where(attn_mask, scores, -np.inf) if attn_mask.dtype == bool else scores + attn_mask
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def attentions(make):
    seen = np.array([[True, False, True], [True, True, True]])
    yield S(make(2, 3), make(3, 3), make(3, 2))
    yield S(make(2, 2, 3), make(2, 3, 3), make(2, 3, 2), attn_mask=seen)
    yield S(make(1, 2, 4, 2), make(1, 2, 4, 2), make(1, 2, 4, 2), is_causal=True)
    yield S(make(2, 2, 3), make(2, 3, 3), make(2, 3, 2), attn_mask=make(2, 3))
    yield S(make(1, 4, 2, 2), make(1, 2, 3, 2), make(1, 2, 3, 2), scale=0.5, enable_gqa=True)
    yield S(make(2, 2, 2, 3), make(2, 3, 3), make(3, 2))  # broadcast


LAYER_ROWS = [
    OpInfo("embedding", lambda w, i, **_: w[i], rows, dtypes=FLOATS + COMPLEX, forward=tuple(set(ALL) - {*FLOATS, *COMPLEX}),
           result="first", method=False),
    OpInfo("nn.functional.embedding", lambda i, w, **_: w[i], lambda make: rows(make, indices_first=True),
           forward=tuple(set(ALL) - {*FLOATS, *COMPLEX}), result=lambda args: args[1].dtype),
    OpInfo("embedding_bag", bags, bagged, **REAL_FLOATS, result=("first", "int64", "int64", "int64"), through=in_order,
           method=False),
    OpInfo("batch_norm", batch_norm, batch_norms, **REAL_FLOATS, result="first", method=False),
    OpInfo("nn.functional.batch_norm", in_other_order(batch_norm), functional_batch_norms, **REAL_FLOATS, result="first"),
    OpInfo("instance_norm", instance_norm, instance_norms, **REAL_FLOATS, result="first", method=False),
    OpInfo("nn.functional.instance_norm", in_other_order(instance_norm), functional_instance_norms, **REAL_FLOATS,
           result="first"),
    OpInfo("group_norm", group_norm, group_norms, **REAL_FLOATS, result="first", method=False),
    OpInfo("nn.functional.group_norm", group_norm, group_norms, **REAL_FLOATS, result="first"),
    OpInfo("rms_norm", rms_norm, rms_norms, forward=HALF, result="first", method=False),
    OpInfo("nn.functional.rms_norm", rms_norm, rms_norms, forward=HALF, result="first"),
    OpInfo("nn.functional.local_response_norm", local_response_norm, local_response_norms, dtypes=FLOATS,
           forward=(*HALF, "int64"), result=lambda args: args[0].dtype if kind_of(args[0].dtype) == "f" else np.float32),
    OpInfo("nn.functional.scaled_dot_product_attention", attention, attentions, **REAL_FLOATS, result="first"),
]  # fmt: skip
