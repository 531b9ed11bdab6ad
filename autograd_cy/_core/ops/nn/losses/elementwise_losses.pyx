"""Elementwise losses: each is a row of codegen/activation_table.py and, with its mean or sum, one node."""

import numpy as np

from cpython.object cimport PyObject

from autograd_cy._core.arrays.dtypes cimport code_of, result_code, type_word
from autograd_cy._core.graph.record cimport broadcast_sizes, number_code, operand_array, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.ops.pointwise.nodes cimport Pointwise, record_loss
from autograd_cy._core.ops.pointwise.pointwise cimport forward, row_of
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.ops.registry import op


cdef Pointwise *OP_smooth_l1_of = row_of("smooth_l1_of")
cdef Pointwise *OP_huber_of = row_of("huber_of")
cdef Pointwise *OP_binary_cross_entropy_of = row_of("binary_cross_entropy_of")
cdef Pointwise *OP_binary_cross_entropy_of_logits = row_of("binary_cross_entropy_of_logits")
cdef Pointwise *OP_weighting_positives = row_of("binary_cross_entropy_weighting_positives")
cdef Pointwise *OP_soft_margin_of = row_of("soft_margin_of")


cdef Tensor losses_of(Pointwise *row, Tensor x, Tensor y, object third, int reduction, tuple constants=()):
    """The row's losses of two tensors of one shape and of a number, another tensor or None; their mean or sum."""
    cdef int dtype_code = code_of(x.array)
    if dtype_code != code_of(y.array):
        dtype_code = result_code(dtype_code, cnp.PyArray_NDIM(x.array), code_of(y.array), cnp.PyArray_NDIM(y.array))
    cdef Tensor z = third if isinstance(third, Tensor) else None
    cdef cnp.ndarray a = operand_array(x, x, code_of(x.array), dtype_code)
    cdef cnp.ndarray b = operand_array(y, y, code_of(y.array), dtype_code), c = None
    cdef PyObject *arrays[3]
    arrays[0], arrays[1] = <PyObject *> a, <PyObject *> b
    if third is not None:
        c = operand_array(z, third, number_code(third) if z is None else code_of(z.array), dtype_code)
        arrays[2] = <PyObject *> c
    return record_loss(row, forward(row, arrays, dtype_code, None), arrays, x, y, z, reduction, constants)


def batched_elementwise(call, *args, **kwargs):
    """Compute all losses elementwise, then each sample's own reduction."""
    cdef dict given = dict(zip(call.function.__code__.co_varnames, args)) | kwargs
    cdef int how = reduction_of(given.pop("reduction", "mean"), given.pop("size_average", None), given.pop("reduce", None))
    cdef int rank = max(rank_of(given["input"]), rank_of(given["target"]))
    if shape_of(given["input"]) != shape_of(given["target"]):
        if call.function in (binary_cross_entropy, binary_cross_entropy_with_logits):
            call.on_sample(*args, **kwargs)     # raises the error
        given["input"], given["target"] = of_one_shape(given["input"], given["target"])
    weight = given.pop("weight", None)
    for name in ("input", "target"):
        given[name] = call.front(given[name])
    if "pos_weight" in given:
        given["pos_weight"] = call.aligned(given["pos_weight"], rank)
    losses = call(**given, reduction="none")
    if weight is not None:
        losses = losses * call.aligned(weight, rank)
        if call.function is huber_loss and how == MEAN:
            return by_sample(losses, call.size).sum(1) / weight.sum()
    if how == NONE:
        return losses
    return by_sample(losses, call.size).mean(1) if how == MEAN else by_sample(losses, call.size).sum(1)


cdef object by_sample(object losses, Py_ssize_t size):
    return losses.reshape(size, cnp.PyArray_SIZE((<Tensor> losses).array) // max(size, 1))


@op(namespace="nn.functional", batch=batched_elementwise)
def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """smooth_l1_loss(input, target, reduction='mean', beta=1.0) -> Tensor

    The mean of d ** 2 / (2 * beta) where d, the distance of input and target, is below beta, else of d - beta / 2. Other
    reductions: 'sum', 'none'. Source: Girshick, "Fast R-CNN" (2015).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.smooth_l1_loss(ag.tensor([1.0, 2.0]), ag.tensor([1.5, 5.0]), reduction="none")
    tensor([0.1250, 2.5000])
    """
    cdef int how = reduction_of(reduction, size_average, reduce)
    x, y = pair("smooth_l1_loss", input, target)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return l1_loss(x, y, reduction=reduction)
    return losses_of(OP_smooth_l1_of, x, y, beta, how, (beta,))


@op(namespace="nn.functional", batch=batched_elementwise)
def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """huber_loss(input, target, reduction='mean', delta=1.0, weight=None) -> Tensor

    The mean of d ** 2 / 2 where d, the distance of input and target, is at most delta, else of delta * (d - delta / 2).
    Other reductions: 'sum', 'none'. A `weight` for each element gives a weighted mean.
    Source: Huber, "Robust estimation of a location parameter" (1964).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.huber_loss(ag.tensor([1.0, 2.0]), ag.tensor([1.5, 5.0]), reduction="none")
    tensor([0.1250, 2.5000])
    """
    cdef int how = reduction_of(reduction, None, None)
    x, y = pair("huber_loss", input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is None:
        return losses_of(OP_huber_of, x, y, delta, how, (delta,))
    if shape_of(tensor_argument(weight, "huber_loss", "weight", 5)) != shape_of(<Tensor?> input):
        raise ValueError("Weights and input must have the same size.")
    return weighted(losses_of(OP_huber_of, x, y, delta, NONE, (delta,)), weight, how)


@op(namespace="nn.functional", batch=batched_elementwise)
def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """binary_cross_entropy(input, target, weight=None, reduction='mean') -> Tensor

    The mean of -(target * log(input) + (1 - target) * log(1 - input)), with logarithms of at least -100; `weight` is a factor
    of each element. Other reductions: 'sum', 'none'. RuntimeError for an input or a target outside of [0, 1].

    >>> import autograd_cy as ag
    >>> ag.nn.functional.binary_cross_entropy(ag.tensor([0.5, 0.5]), ag.tensor([0.0, 1.0]))
    tensor(0.6931)
    """
    cdef int how = reduction_of(reduction, size_average, reduce)
    cdef Tensor x = tensor_argument(input, "binary_cross_entropy", "input", 1)
    cdef Tensor y = tensor_argument(target, "binary_cross_entropy", "target", 2), w = None
    if shape_of(x) != shape_of(y):
        raise ValueError(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is "
                         "deprecated. Please ensure they have the same size.")
    if code_of(x.array) != code_of(y.array):
        raise RuntimeError(f"Found dtype {type_word(code_of(y.array))} but expected {type_word(code_of(x.array))}")
    if cnp.PyArray_SIZE(x.array) and not (np.min(x.array.real) >= 0 and np.max(x.array.real) <= 1):
        raise RuntimeError("all elements of input should be between 0 and 1")
    if cnp.PyArray_SIZE(y.array) and not (np.min(y.array.real) >= 0 and np.max(y.array.real) <= 1):
        raise RuntimeError("all elements of target should be between 0 and 1")
    if weight is None:
        return losses_of(OP_binary_cross_entropy_of, x, y, None, how)
    w = tensor_argument(weight, "binary_cross_entropy", "weight", 3)
    w = w.expand(broadcast_sizes(shape_of(x), shape_of(w)))
    return reduced(losses_of(OP_binary_cross_entropy_of, x, y, None, NONE) * w, how)


@op(namespace="nn.functional", batch=batched_elementwise)
def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean",
                                     pos_weight=None):
    """binary_cross_entropy_with_logits(input, target, weight=None, reduction='mean', pos_weight=None) -> Tensor

    binary_cross_entropy of sigmoid(input), exact for large inputs. `weight` is a factor of each element, `pos_weight` one of
    the terms of positive targets, broadcast to them. Other reductions: 'sum', 'none'.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.binary_cross_entropy_with_logits(ag.tensor([0.0, 1000.0]), ag.tensor([0.0, 0.0]), reduction="none")
    tensor([6.9315e-01, 1.0000e+03])
    """
    cdef int how = reduction_of(reduction, size_average, reduce), first = how if weight is None else NONE
    cdef Tensor x = tensor_argument(input, "binary_cross_entropy_with_logits", "input", 1)
    cdef Tensor y = tensor_argument(target, "binary_cross_entropy_with_logits", "target", 2), p = None
    if shape_of(x) != shape_of(y):
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    if pos_weight is None:
        losses = losses_of(OP_binary_cross_entropy_of_logits, x, y, None, first)
    else:
        p = tensor_argument(pos_weight, "binary_cross_entropy_with_logits", "pos_weight", 7)
        check_broadcast(x, p)
        losses = losses_of(OP_weighting_positives, x, y, p, first)
    return losses if weight is None else reduced(losses * weight, how)


cdef int check_broadcast(Tensor x, Tensor weight) except -1:
    """Refuse a weight that would broadcast the losses to a larger shape."""
    cdef tuple sizes = broadcast_sizes(shape_of(x), shape_of(weight))
    if sizes != shape_of(x):
        raise RuntimeError(f"output with shape {list(shape_of(x))} doesn't match the broadcast shape {list(sizes)}")
    return 0


@op(namespace="nn.functional", batch=batched_elementwise)
def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """soft_margin_loss(input, target, reduction='mean') -> Tensor: the mean of log(1 + exp(-target * input)).

    The target is 1 or -1. Other reductions: 'sum', 'none'.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.soft_margin_loss(ag.tensor([0.0, 1000.0]), ag.tensor([1.0, -1.0]), reduction="none")
    tensor([6.9315e-01, 1.0000e+03])
    """
    cdef int how = reduction_of(reduction, size_average, reduce)
    x, y = pair("soft_margin_loss", input, target, False)
    return losses_of(OP_soft_margin_of, x, y, None, how)


cdef tuple pair(str name, object input, object target, bint warn=True):
    """Input and target in one shape."""
    cdef Tensor x = tensor_argument(input, name, "input", 1), y = tensor_argument(target, name, "target", 2)
    if shape_of(x) == shape_of(y):
        return x, y
    if warn:
        return of_one_shape(x, y)
    sizes = broadcast_sizes(shape_of(x), shape_of(y))
    return x.expand(sizes), y.expand(sizes)
