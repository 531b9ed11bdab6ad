"""nll_loss. It is linear in its input: the gradient of its gradient is the loss again."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport in_type
from autograd_cy._core.arrays.dtypes cimport FLOAT32, INT64, UINT8, check_has_kernel, code_of, dtype_of, kernel_code, type_word
from autograd_cy._core.batching.batched cimport zeros_as
from autograd_cy._core.graph.memory cimport zeroed
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, unpack
from autograd_cy._core.graph.record cimport has_tangent, needs_node, new_node, record, record2, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.label_loops cimport Totals, picked, spread
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp
from autograd_cy._core.runtime.state cimport NO_GRAD, current_mode

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.ops.registry import op


# the nodes

cdef class NllNode(Node):
    cdef cnp.ndarray gradient_array(self, cnp.ndarray g):
        return spread(g, <tuple> self.constants, saved_array(self, 1), self.weights(), self.ignore_index,
                      self.reduction == NONE, self.divisor())

    cdef object vjp_of_zeros(self, object g, int i):
        zeros = g == 0
        return zeroed(self.vjp(g, i), zeros.unsqueeze(1) if self.reduction == NONE and len(self.constants) > 1 else zeros)

    cdef cnp.ndarray weights(self):
        return None if self.saved2 is None else saved_array(self, 2)

    cdef double divisor(self) noexcept:
        """The divisor of the sum of losses."""
        return self.total_weight if self.reduction == MEAN else 1

    cdef Tensor gradient(self, Tensor g):
        """The gradient of the loss's input, recorded as a function of `g` and (with gradient 0) of that input."""
        cdef Tensor y, x
        cdef NllNode node
        if g.batched:
            return spread_by_operations(self, g)
        x = unpack(self, 0)
        unpack(self, 1)                        # raises if it was released
        y = new_tensor(self.gradient_array(g.array))
        if not needs_node(g) and (x is None or not needs_node(x)):
            return y
        node = new_node(NllLoss2DBackwardBackward0 if len(self.constants) > 2 else NllLossBackwardBackward0,
                        self.constants)
        node.note(unpack(self, 1), unpack(self, 2), self.reduction, self.ignore_index, self.total_weight)
        return record(node, y, g) if x is None else record2(node, y, g, x)

    cdef Tensor loss(self, Tensor x):
        if x.batched:
            return nll_loss(x, unpack(self, 1), unpack(self, 2), ignore_index=self.ignore_index,
                            reduction=("none", "mean", "sum")[self.reduction])
        return nll(x, unpack(self, 1), unpack(self, 2), self.reduction, self.ignore_index)

    cdef int note(self, Tensor target, Tensor weight, int reduction, long long ignore_index, double total_weight) except -1:
        save_input(self, 1, target)
        if weight is not None:
            save_input(self, 2, weight)
        self.reduction, self.ignore_index, self.total_weight = reduction, ignore_index, total_weight
        return 0

    @property
    def _saved_ignore_index(self):
        return self.ignore_index

    @property
    def _saved_reduction(self):
        """0 none, 1 mean, 2 sum"""
        return self.reduction

    @property
    def _saved_total_weight(self):
        cdef cnp.ndarray x = saved_array(self, 0)
        return new_tensor(in_type(number(0 if self.reduction == NONE else self.total_weight, kernel_code(x)), code_of(x)))


cdef object spread_by_operations(NllNode node, object g):
    """NllNode.gradient for batched gradients."""
    cdef tuple sizes = <tuple> node.constants
    cdef int dim = 0 if len(sizes) == 1 else 1
    cdef object target = unpack(node, 1).reshape(sizes[:dim] + sizes[dim + 1:]), weight = unpack(node, 2)
    cdef object counted = target != node.ignore_index, chosen = target.where(counted, 0).to(dtype_of(INT64))
    factors = -counted.to(g.dtype) / node.divisor()
    factors = factors if weight is None else factors * weight[chosen]
    spread_out = (g.reshape(target.shape) if node.reduction == NONE else g) * factors
    return (<object> zeros_as(<Tensor> g, sizes)).scatter(dim, chosen.unsqueeze(dim), spread_out.unsqueeze(dim))


cdef class NllLoss(NllNode):
    cdef tuple saved_names(self):
        return ("self", "target", "weight")

    cdef object vjp_array(self, object g, int i, Request *request):
        return self.gradient_array(g)

    cdef object vjp(self, object g, int i):
        return self.gradient(g)

    cdef object jvp(self, tuple tangents):
        return self.loss(tangents[0])


cdef class NllLossBackwardBackward(NllNode):
    cdef tuple saved_names(self):
        return (None, "target", "weight")

    cdef object vjp(self, object g, int i):
        return self.loss(g) if i == 0 else new_tensor(np.zeros_like((<Tensor> g).array))

    cdef object vjp_of_zeros(self, object g, int i):
        return Node.vjp_of_zeros(self, g, i)

    cdef object jvp(self, tuple tangents):
        return None if tangents[0] is None else self.gradient(tangents[0])


@cython.final
cdef class NllLossBackward0(NllLoss):
    pass


@cython.final
cdef class NllLoss2DBackward0(NllLoss):
    pass


@cython.final
cdef class NllLossBackwardBackward0(NllLossBackwardBackward):
    pass


@cython.final
cdef class NllLoss2DBackwardBackward0(NllLossBackwardBackward):
    pass


# the checks

cdef int check_target(Tensor x, Tensor target) except -1:
    """Refuse a target that doesn't have one class number for each place in the input."""
    cdef tuple sizes = shape_of(x), own = shape_of(target)
    cdef int ndim = len(sizes), dtype_code = code_of(target.array)
    if ndim == 0:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if ndim == 1 and own and own != (1,):
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {own[0]}")
    if ndim > 1 and own[:1] != sizes[:1]:
        raise ValueError(f"Expected input batch_size ({sizes[0]}) to match target batch_size ({own[0] if own else 1}).")
    if ndim <= 2 and len(own) > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if ndim > 2 and own[1:] != sizes[2:]:
        raise RuntimeError(f"Expected target size {[sizes[0], *sizes[2:]]}, got {list(own)}; size mismatch (got input: "
                           f"{list(sizes)} , target: {list(own)}")
    if dtype_code != INT64 and (dtype_code != UINT8 or ndim > 2):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {type_word(dtype_code)} "
                           f"(expected scalar type Long but found {type_word(dtype_code)})")
    return 0


cdef int check_weight(Tensor x, Tensor weight) except -1:
    """Refuse a weight that isn't one number of the input's type for each class, or that requires grad."""
    cdef npy_intp classes = cnp.PyArray_DIM(x.array, 1 if cnp.PyArray_NDIM(x.array) > 1 else 0)
    if shape_of(weight) != (classes,):
        if cnp.PyArray_NDIM(x.array) > 2:
            raise RuntimeError("weight tensor should be defined either for all or no classes")
        raise RuntimeError(f"weight tensor should be defined either for all {classes} classes or no classes but got weight "
                           f"tensor of shape: {list(shape_of(weight))}")
    if code_of(weight.array) != code_of(x.array):
        raise RuntimeError(f"expected scalar type {type_word(code_of(x.array))} but found "
                           f"{type_word(code_of(weight.array))}")
    if (weight.needs_grad and not current_mode() & NO_GRAD) or has_tangent(weight):
        raise RuntimeError("The function 'nll_loss_forward' is not differentiable with respect to argument 'weight'. "
                           "This input cannot have requires_grad True.")
    return 0


# the operation

cdef cnp.ndarray total_loss(const Totals *totals, int reduction, int dtype_code):
    """The mean or the sum of the losses, in the type `dtype_code`."""
    cdef double loss = totals.loss / totals.weight if reduction == MEAN else totals.loss
    return in_type(number(loss, max(dtype_code, <int> FLOAT32)), dtype_code)


cdef Tensor nll(Tensor x, Tensor target, Tensor weight, int reduction, long long ignore_index):
    """nll_loss after the checks."""
    cdef Totals totals
    cdef cnp.ndarray losses = picked(x.array, target.array, None if weight is None else weight.array, ignore_index,
                                     reduction == NONE, &totals)
    cdef Tensor y = new_tensor(losses if reduction == NONE else total_loss(&totals, reduction, code_of(x.array)))
    cdef NllNode node
    if not needs_node(x):
        return y
    node = new_node(NllLoss2DBackward0 if cnp.PyArray_NDIM(x.array) > 2 else NllLossBackward0, shape_of(x))
    save_input(node, 0, x)
    node.note(target, weight, reduction, ignore_index, totals.weight)
    return record(node, y, x)


cdef object nll_loss_of(object input, object target, object weight, int reduction, long long ignore_index):
    cdef Tensor x = tensor_argument(input, "nll_loss", "input", 1), t = tensor_argument(target, "nll_loss", "target", 2)
    cdef Tensor w = None if weight is None else tensor_argument(weight, "nll_loss", "weight", 3)
    cdef int ndim = cnp.PyArray_NDIM(x.array)
    check_target(x, t)
    check_real(x, "nll_loss_out_frame")
    check_has_kernel(code_of(x.array), "nll_loss_out_frame")
    if w is not None:
        check_weight(x, w)
    if ndim < 3 or ndim == 4:
        return nll(x, t, w, reduction, ignore_index)
    sizes = shape_of(x)
    inner = t.array.size // max(sizes[0], 1)
    y = nll(x.reshape(sizes[0], sizes[1], 1, inner), t.reshape(sizes[0], 1, inner), w, reduction, ignore_index)
    return y.reshape(shape_of(t)) if reduction == NONE else y


def batched_nll(call, input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", **more):
    """nll_loss and cross_entropy: all losses as one batch, then each sample's reduction."""
    cdef int how = reduction_of(reduction, size_average, reduce)
    cdef tuple sizes = shape_of(<Tensor?> input), left
    cdef bint of_numbers = sizes != shape_of(<Tensor?> target)
    if call.is_batched(weight):
        return with_batched_weight(call, input, target, weight, how, ignore_index, of_numbers, more.get("label_smoothing", 0))
    x, t = call.front(input), call.front(target)
    if len(sizes) > 1:
        x, t = [y.reshape(call.size * sizes[0], *y.shape[2:]) for y in (x, t)]
    losses = call(x, t, weight, ignore_index=ignore_index, reduction="none", **more)
    left = shape_of(<Tensor> target) if of_numbers else sizes[:1] + sizes[2:] if len(sizes) > 1 else ()
    losses = losses.reshape(call.size, *left)
    if how == NONE:
        return losses
    total = losses.reshape(call.size, -1 if call.size else 1).sum(1)
    if how == SUM:
        return total
    if not of_numbers:
        return total / max(losses.numel() // max(call.size, 1), 1)
    counted = t != ignore_index
    weights = counted.to(x.dtype) if weight is None else weight[t.where(counted, 0)] * counted
    return total / weights.reshape(call.size, -1 if call.size else 1).sum(1)


cdef object with_batched_weight(object call, object input, object target, object weight, int how, object ignore_index,
                                bint of_numbers, double label_smoothing):
    """Both losses by simple operations, for batched weights."""
    cdef int dim = 0 if rank_of(input) == 1 else 1
    cdef object x = input if call.function is nll_loss else input.log_softmax(dim), classes = input.shape[dim]
    weights = weight.reshape(classes, *(1,) * (rank_of(input) - 1 - dim))
    if not of_numbers:
        losses = -(x * (target * (1 - label_smoothing) + label_smoothing / classes) * weights).sum(dim)
        return losses if how == NONE else losses.sum() if how == SUM else losses.mean()
    counted = target != ignore_index
    chosen = target.where(counted, 0)
    weights_of_targets = weight[chosen] * counted
    losses = -x.gather(dim, chosen.unsqueeze(dim)).squeeze(dim) * weights_of_targets
    if label_smoothing:
        uniform = -(x * weights).sum(dim) * counted / classes
        losses = losses * (1 - label_smoothing) + uniform * label_smoothing
    return losses if how == NONE else losses.sum() if how == SUM else losses.sum() / weights_of_targets.sum()


@op(namespace="nn.functional", batch=batched_nll)
def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """nll_loss(input, target, weight=None, ignore_index=-100, reduction='mean') -> Tensor: the negative log likelihood.

    `input` holds log probabilities of C classes, (N, C) or (C,) or (N, C, d1, ...), `target` class numbers, with that shape
    without C, `weight` a weight for each class. A loss is -weight[target] * input[target], or 0 if the target is
    `ignore_index`; reduction 'none' gives all losses, 'sum' their sum, 'mean' their sum over the sum of the weights.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.nll_loss(ag.tensor([[-1.0, -3.0], [-2.0, -4.0]]), ag.tensor([0, 1]))
    tensor(2.5000)
    """
    return nll_loss_of(input, target, weight, reduction_of(reduction, size_average, reduce), ignore_index)
