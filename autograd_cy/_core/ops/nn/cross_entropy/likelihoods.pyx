"""Losses that are likelihoods of distributions, or distances between two, by other operations."""

import math
import warnings

import numpy as np

from autograd_cy._core.graph.record cimport shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.ops.nn.losses cimport check_real, reduced, reduction_of
from autograd_cy._core.ops.pointwise.nodes cimport MEAN, SUM
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.pointwise.pointwise import divergence, log_of_sum, logsigmoid
from autograd_cy._core.ops.registry import op


@op(namespace="nn.functional", batch=COMPOSITE)
def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target: bool = False):
    """kl_div(input, target, reduction='mean', log_target=False) -> Tensor: the mean of target * (log(target) - input).

    `input` holds logarithms of probabilities, and so does `target` with log_target=True. Other reductions: 'batchmean', the
    sum divided by the size of the first dimension, which is the Kullback-Leibler divergence; 'sum', 'none'.

    >>> import autograd_cy as ag
    >>> p, q = ag.tensor([[0.5, 0.5]]), ag.tensor([[0.25, 0.75]])
    >>> ag.nn.functional.kl_div(q.log(), p, reduction="batchmean")
    tensor(0.1438)
    """
    cdef Tensor x = tensor_argument(input, "kl_div", "input", 1)
    tensor_argument(target, "kl_div", "target", 2)
    check_real(x, "kl_div")
    cdef bint by_sample = reduction == "batchmean" and size_average is None and reduce is None
    cdef int how = SUM if by_sample else reduction_of(reduction, size_average, reduce)
    if how == MEAN and size_average is None and reduce is None:
        warnings.warn("reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' "
                      "divides only by the batch size, and aligns with the KL div math definition.'mean' will be changed to "
                      "behave the same as 'batchmean' in the next major release.", UserWarning, stacklevel=2)
    terms = divergence(input, target) if log_target else target.xlogy(target) - target * input
    total = reduced(terms, how)
    return total / shape_of(x)[0] if by_sample and cnp.PyArray_NDIM(x.array) else total


@op(namespace="nn.functional", batch=COMPOSITE)
def poisson_nll_loss(input, target, log_input: bool = True, full: bool = False, size_average=None, eps: float = 1e-08,
                     reduce=None, reduction="mean"):
    """poisson_nll_loss(input, target, log_input=True, full=False, eps=1e-08, reduction='mean') -> Tensor

    The mean of exp(input) - target * input, or, without log_input, of input - target * log(input + eps). `full` adds
    Stirling's approximation of log(target!) where the target is above 1. Other reductions: 'sum', 'none'.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.poisson_nll_loss(ag.tensor([0.0, 1.0]), ag.tensor([1.0, 2.0]))
    tensor(0.8591)
    """
    cdef int how = reduction_of(reduction, size_average, reduce)
    tensor_argument(input, "poisson_nll_loss", "input", 1), tensor_argument(target, "poisson_nll_loss", "target", 2)
    if log_input:
        losses = input.exp() - target * input
    else:
        losses = input - target * ((input + eps).log() if input.is_complex() else log_of_sum(input, eps))
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        losses = losses + stirling.masked_fill(target <= 1, 0)
    return reduced(losses, how)


@op(namespace="nn.functional", batch=COMPOSITE)
def gaussian_nll_loss(input, target, var, full: bool = False, eps: float = 1e-06, reduction="mean"):
    """gaussian_nll_loss(input, target, var, full=False, eps=1e-06, reduction='mean') -> Tensor

    The mean of (log(var) + (input - target) ** 2 / var) / 2, with a variance that is at least `eps`: a number, one for each
    element, or one for all along the last dimension. `full` adds log(2 * pi) / 2. Other reductions: 'sum', 'none'.
    ValueError for a negative variance.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.gaussian_nll_loss(ag.tensor([0.0, 2.0]), ag.tensor([0.0, 0.0]), 1.0)
    tensor(1.)
    """
    cdef tuple sizes = shape_of(tensor_argument(input, "gaussian_nll_loss", "input", 1)), own
    tensor_argument(target, "gaussian_nll_loss", "target", 2)
    check_real(<Tensor> input, "gaussian_nll_loss")
    if not isinstance(var, Tensor):
        var = input.detach() * 0 + var
    own = shape_of(<Tensor> var)
    if not (<Tensor> var).batched and np.any((<Tensor> var).array < 0):
        raise ValueError("var has negative entry/entries")
    if own != sizes:
        if own == sizes[:-1]:
            var = var.unsqueeze(-1)
        elif len(own) != len(sizes) or sum([n for m, n in zip(sizes, own) if m != n]) != 1:
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    var = var + (var.clamp_min(eps) - var).detach()             # clamped for the value, not for the gradient
    error = input - target
    losses = 0.5 * (var.log() + error * (error / var))         # the square may leave the range of the type
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduced(losses, reduction_of(reduction, None, None))


@op(namespace="nn.functional", batch=COMPOSITE)
def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """multilabel_soft_margin_loss(input, target, weight=None, reduction='mean') -> Tensor

    The mean over samples and classes, the last dimension, of binary_cross_entropy_with_logits(input, target, weight). Other
    reductions of the samples: 'sum', 'none'.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.multilabel_soft_margin_loss(ag.tensor([[0.0, 0.0]]), ag.tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """
    cdef int how = reduction_of(reduction, size_average, reduce)
    tensor_argument(target, "multilabel_soft_margin_loss", "target", 2)
    logits = tensor_argument(input, "multilabel_soft_margin_loss", "input", 1)
    check_real(<Tensor> logits, "log_sigmoid_cpu")
    losses = -(target * logsigmoid(logits) + (1 - target) * logsigmoid(-logits))
    if weight is not None:
        losses = losses * weight
    return reduced(losses.sum(-1) / shape_of(input)[-1], how)


@op(namespace="nn.functional", batch=COMPOSITE)
def linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean", ignore_index=None,
                         label_smoothing: float = 0.0, options=None):
    """linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, ...) -> Tensor

    cross_entropy of input @ linear_weight.T + linear_bias, with the arguments of cross_entropy. The input is (N, features) or
    (features,), the weight (C, features), or (C, d1, ..., features) for targets (N, d1, ...). `options`, by which PyTorch
    splits the work into chunks, are only checked.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.linear_cross_entropy(ag.zeros(2, 3), ag.ones(4, 3), ag.tensor([0, 1]))
    tensor(1.3863)
    """
    cdef tuple sizes = shape_of(tensor_argument(input, "linear_cross_entropy", "input", 1)), batch
    cdef tuple rows = shape_of(tensor_argument(linear_weight, "linear_cross_entropy", "linear_weight", 2))
    tensor_argument(target, "linear_cross_entropy", "target", 3)
    check_linear(sizes, rows, linear_bias)
    if options is not None:
        options._check_chunks(sizes[0] if len(sizes) == 2 else 1, rows[-1], rows[0])
    batch = sizes[:-1]
    if shape_of(<Tensor> target) == batch + rows[:-1] and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    scores = input @ linear_weight.reshape(-1, rows[-1]).t()
    if linear_bias is not None:
        scores = scores + linear_bias.reshape(-1)
    return cross_entropy(scores.reshape(batch + rows[:-1]), target, weight, reduction=reduction,
                         ignore_index=-100 if ignore_index is None else ignore_index, label_smoothing=label_smoothing)


cdef int check_linear(tuple sizes, tuple rows, object bias) except -1:
    if not 1 <= len(sizes) <= 2:
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {len(sizes)}")
    if len(rows) < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {len(rows)}")
    if sizes[-1] != rows[-1]:
        raise RuntimeError("expected equal input and linear_weight last dimensions (in_features), got "
                           f"{sizes[-1]} and {rows[-1]}, respectively")
    if bias is not None and shape_of(tensor_argument(bias, "linear_cross_entropy", "linear_bias", 4)) != rows[:-1]:
        raise RuntimeError(f"expected linear_bias shape {rows[:-1]}, got {shape_of(<Tensor> bias)}")
    if len(rows) > 2 and len(sizes) == 1:
        raise RuntimeError(f"K-dimensional loss defined by linear_weight shape {rows} requires batched input, "
                           f"(N, {sizes[-1]}), got unbatched input with shape {sizes}")
    return 0
