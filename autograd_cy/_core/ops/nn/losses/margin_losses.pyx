"""Losses of margins between scores or distances, by other operations."""

import numpy as np

from autograd_cy._core.arrays.buffers cimport dense
from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT16, FLOAT32, INT64, code_of
from autograd_cy._core.batching.batched cimport values_of
from autograd_cy._core.graph.record cimport shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.reductions.sums cimport fourth_powers_fit
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.nn.padding import pad
from autograd_cy._core.ops.pointwise.pointwise import minimum
from autograd_cy._core.ops.registry import op


@op(namespace="nn.functional", batch=COMPOSITE)
def hinge_embedding_loss(input, target, margin: float = 1.0, size_average=None, reduce=None, reduction="mean"):
    """hinge_embedding_loss(input, target, margin=1.0, reduction='mean') -> Tensor

    The mean of the input where the target is 1, and of max(0, margin - input) where it is -1. Other reductions: 'sum', 'none'.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.hinge_embedding_loss(ag.tensor([0.5, 0.25]), ag.tensor([1, -1]), reduction="none")
    tensor([0.5000, 0.7500])
    """
    cdef int how = reduction_of(reduction, size_average, reduce)
    tensor_argument(target, "hinge_embedding_loss", "target", 2)
    check_real(tensor_argument(input, "hinge_embedding_loss", "input", 1), "hinge_embedding_loss")
    apart = (margin - input).clamp_min(0)
    return reduced(apart.masked_fill(target == 1, 0) + input.masked_fill(target == -1, 0), how)


@op(namespace="nn.functional", batch=COMPOSITE)
def margin_ranking_loss(input1, input2, target, margin: float = 0, size_average=None, reduce=None, reduction="mean"):
    """margin_ranking_loss(input1, input2, target, margin=0, reduction='mean') -> Tensor

    The mean of max(0, margin - target * (input1 - input2)); the target is 1 where input1 should be larger, else -1. Other
    reductions: 'sum', 'none'.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.margin_ranking_loss(ag.tensor([1.0]), ag.tensor([3.0]), ag.tensor([1.0]))
    tensor(2.)
    """
    cdef int how = reduction_of(reduction, size_average, reduce)
    tensors = [tensor_argument(x, "margin_ranking_loss", name, k + 1)
               for k, (x, name) in enumerate([(input1, "input1"), (input2, "input2"), (target, "target")])]
    if len({x.ndim for x in tensors}) > 1:
        raise RuntimeError("margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
                           f"{input1.shape}, input2: {input2.shape}, target: {target.shape} ")
    return reduced((-target * (input1 - input2) + margin).clamp_min(0), how)


@op(namespace="nn.functional", batch=COMPOSITE)
def cosine_embedding_loss(input1, input2, target, margin: float = 0, size_average=None, reduce=None, reduction="mean"):
    """cosine_embedding_loss(input1, input2, target, margin=0, reduction='mean') -> Tensor

    The mean of 1 - cos where the target is 1, and of max(0, cos - margin) where it is -1. cos is the cosine of the angle
    between rows of (N, D), or between vectors (D,) with a 0-d target. Other reductions: 'sum', 'none'.

    >>> import autograd_cy as ag
    >>> a, b = ag.tensor([[1.0, 0.0]]), ag.tensor([[1.0, 1.0]])
    >>> ag.nn.functional.cosine_embedding_loss(a, b, ag.tensor([1.0]))
    tensor(0.2929)
    """
    cdef int how = reduction_of(reduction, size_average, reduce)
    a = tensor_argument(input1, "cosine_embedding_loss", "input1", 1)
    b = tensor_argument(input2, "cosine_embedding_loss", "input2", 2)
    rank = tensor_argument(target, "cosine_embedding_loss", "target", 3).ndim
    if rank > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not a.ndim == b.ndim == rank + 1:
        raise RuntimeError(f"{rank}D target tensor expects {rank + 1}D input tensors, but found inputs with sizes "
                           f"{list(a.shape)} and {list(b.shape)}.")
    cosine = cosine_of(a, b, rank)
    return reduced((1 - cosine).masked_fill(target != 1, 0) + (cosine - margin).clamp_min(0).masked_fill(target != -1, 0), how)


cdef object cosine_of(object a, object b, int dim):
    """Cosines of angles along the dimension; 1e-12 is added to squared lengths."""
    first, second = (a * a).sum(dim), (b * b).sum(dim)
    if squares_fit(<Tensor> first) and squares_fit(<Tensor> second):
        return (a * b).sum(dim) / ((first + 1e-12) * (second + 1e-12)).sqrt()
    a, b = [x / pad(x, (0, 1), value=1e-6).norm(2, dim, keepdim=True) for x in (a, b)]
    return (a * b).sum(dim)


cdef bint squares_fit(Tensor squares):
    """Whether the cosine and its derivatives can be computed from these squares (of all samples within vmap)."""
    cdef object array = values_of(squares).array
    cdef int dtype_code = code_of(array)
    return dtype_code < FLOAT16 or FLOAT32 <= dtype_code < COMPLEX64 and fourth_powers_fit(dense(array))


# of three points

@op(namespace="nn.functional", batch=COMPOSITE)
def triplet_margin_loss(anchor, positive, negative, margin: float = 1.0, p: float = 2, eps: float = 1e-6, swap: bool = False,
                        size_average=None, reduce=None, reduction="mean"):
    """triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, reduction='mean') -> Tensor

    The mean of max(0, margin + d(anchor, positive) - d(anchor, negative)), where d is pairwise_distance; `swap` takes
    d(positive, negative) where that is smaller than the last. Other reductions: 'sum', 'none'.
    Source: Balntas et al., "Learning shallow convolutional feature descriptors with triplet losses" (2016).

    >>> import autograd_cy as ag
    >>> a, b, c = ag.zeros(1, 2), ag.tensor([[3.0, 4.0]]), ag.tensor([[0.0, 2.0]])
    >>> ag.nn.functional.triplet_margin_loss(a, b, c)
    tensor(4.0000)
    """
    cdef int how = reduction_of(reduction, size_average, reduce)
    return of_triplets("triplet_margin_loss", anchor, positive, negative, margin, swap, how,
                       lambda x, y: pairwise_distance(x, y, p, eps))


@op(namespace="nn.functional", batch=COMPOSITE)
def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin: float = 1.0,
                                      swap: bool = False, reduction="mean"):
    """triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, ...) -> Tensor

    triplet_margin_loss with your own distance, a function of two tensors.

    >>> import autograd_cy as ag
    >>> a, b, c = ag.zeros(1, 2), ag.tensor([[3.0, 4.0]]), ag.tensor([[0.0, 2.0]])
    >>> def farthest(x, y):
    ...     return (x - y).abs().amax(1)
    >>> ag.nn.functional.triplet_margin_with_distance_loss(a, b, c, distance_function=farthest)
    tensor(3.)
    """
    cdef int how = reduction_of(reduction, None, None)
    return of_triplets("triplet_margin_with_distance_loss", anchor, positive, negative, margin, swap, how,
                       distance_function or pairwise_distance)


cdef object of_triplets(str name, object anchor, object positive, object negative, object margin, bint swap, int how,
                        object distance):
    ranks = [tensor_argument(x, name, word, k + 1).ndim
             for k, (x, word) in enumerate([(anchor, "anchor"), (positive, "positive"), (negative, "negative")])]
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if len(set(ranks)) > 1:
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
                           f"but got: anchor {ranks[0]}D, positive {ranks[1]}D, and negative {ranks[2]}D inputs")
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    return reduced((margin + near - far).clamp_min(0), how)


# of classes

@op(namespace="nn.functional", batch=COMPOSITE)
def multi_margin_loss(input, target, p: int = 1, margin: float = 1.0, weight=None, size_average=None, reduce=None,
                      reduction="mean"):
    """multi_margin_loss(input, target, p=1, margin=1.0, weight=None, reduction='mean') -> Tensor

    The mean over samples and classes i (except the target) of max(0, margin - input[target] + input[i]) ** p, times the
    target's weight. The input is (N, C) or (C,). Other reductions of the samples: 'sum', 'none'.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.multi_margin_loss(ag.tensor([[1.0, 0.5]]), ag.tensor([0]))
    tensor(0.2500)
    """
    cdef int how = reduction_of(reduction, size_average, reduce)
    cdef Tensor x = tensor_argument(input, "multi_margin_loss", "input", 1)
    cdef Tensor t = tensor_argument(target, "multi_margin_loss", "target", 2)
    cdef bint alone = cnp.PyArray_NDIM(x.array) < 2
    check_real(x, "multi_margin_loss")
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and tensor_argument(weight, "multi_margin_loss", "weight", 5).ndim != 1:
        raise ValueError("weight must be one-dimensional")
    scores, classes = input.reshape(1, -1) if alone else input, target.reshape(-1)
    check_classes(<Tensor> scores, <Tensor> classes, weight)
    losses = (margin - scores.gather(1, classes.unsqueeze(1)) + scores).clamp_min(0)
    losses = losses if p == 1 else losses * losses
    if weight is not None:
        losses = losses * weight.index_select(0, classes).unsqueeze(1)
    numbers = new_tensor(np.arange(shape_of(<Tensor> scores)[1]))
    losses = losses.masked_fill(numbers == classes.unsqueeze(1), 0).sum(1) / max(shape_of(<Tensor> scores)[1], 1)
    return reduced(losses[0] if alone and not cnp.PyArray_NDIM(t.array) else losses, how)


cdef int check_classes(Tensor scores, Tensor classes, object weight) except -1:
    cdef tuple sizes = shape_of(scores)
    if len(sizes) != 2 or not sizes[1]:
        raise RuntimeError(f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(sizes)}")
    if code_of(classes.array) != INT64:
        raise RuntimeError(f"expected scalar type Long but found {(<object> classes).dtype}")
    if shape_of(classes) != sizes[:1]:
        raise RuntimeError(f"inconsistent target size, expected {sizes[0]} but got {list(shape_of(classes))}")
    if weight is not None and shape_of(<Tensor> weight) != sizes[1:]:
        raise RuntimeError(f"inconsistent weight size, expected {sizes[1]} but got {list(shape_of(<Tensor> weight))}")
    if not classes.batched and cnp.PyArray_SIZE(classes.array):
        if classes.array.min() < 0 or classes.array.max() >= sizes[1]:
            raise RuntimeError("target out of range")
    return 0


@op(namespace="nn.functional", batch=COMPOSITE)
def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """multilabel_margin_loss(input, target, reduction='mean') -> Tensor

    The mean over samples of the sum, over a sample's classes j and all others i, of max(0, 1 - input[j] + input[i]), divided
    by the number of classes. The target has the input's shape, (N, C) or (C,); a row lists the sample's classes up to the
    first -1. Other reductions of the samples: 'sum', 'none'.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.multilabel_margin_loss(ag.tensor([[0.5, 0.25, 1.0]]), ag.tensor([[2, -1, 0]]))
    tensor(0.2500)
    """
    cdef int how = reduction_of(reduction, size_average, reduce)
    cdef Tensor x = tensor_argument(input, "multilabel_margin_loss", "input", 1)
    cdef Tensor t = tensor_argument(target, "multilabel_margin_loss", "target", 2)
    cdef tuple sizes = shape_of(x)
    check_real(x, "multilabel_margin_loss")
    if len(sizes) > 2 or (sizes and not sizes[len(sizes) - 1]):
        raise RuntimeError(f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(sizes)}")
    if shape_of(t) != sizes:
        raise RuntimeError(f"inconsistent target size: {list(shape_of(t))} for input of size: {list(sizes)}")
    if code_of(t.array) != INT64:
        raise RuntimeError(f"expected scalar type Long but found {(<object> t).dtype}")
    classes = sizes[len(sizes) - 1] if sizes else 1
    if not t.batched and cnp.PyArray_SIZE(t.array) and (t.array.min() < -1 or t.array.max() >= classes):
        raise RuntimeError("multilabel_margin_loss: target out of range")
    scores, labels = input.reshape(-1, classes), target.reshape(-1, classes)
    counted = (labels < 0).long().cumsum(1) == 0
    labels = labels.masked_fill(~counted, 0)
    own = ((labels.unsqueeze(2) == new_tensor(np.arange(classes))) & counted.unsqueeze(2)).any(1)
    losses = (1 - scores.gather(1, labels).unsqueeze(2) + scores.unsqueeze(1)).clamp_min(0)
    losses = losses.masked_fill(~counted.unsqueeze(2) | own.unsqueeze(1), 0).sum((1, 2)) / classes
    return reduced(losses if len(sizes) == 2 else losses[0], how)
