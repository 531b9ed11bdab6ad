"""cross_entropy: for class numbers a fused operation, else built from log_softmax, nll_loss and others."""

import numpy as np

from cpython.object cimport PyObject
cimport cython

from autograd_cy._core.arrays.buffers cimport flat, in_type, is_flat, is_large, new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT16, INT64, check_has_kernel, code_of, is_half, kernel_code, type_word
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, take, unpack
from autograd_cy._core.graph.record cimport needs_node, new_node, record, record_linear, shape_of, tensor_argument, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.label_loops cimport Totals, log_probabilities, picked, put_gradient
from autograd_cy._core.kernels.reduction_loops cimport overlaps_shifted
from autograd_cy._core.ops.nn.losses cimport (
    NllNode, check_target, check_weight, nll_loss_of, reduction_of, total_loss)
from autograd_cy._core.ops.pointwise.nodes cimport MEAN, NONE
from autograd_cy._core.ops.reductions.softmax cimport check_type, log_softmax_gradient
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

from autograd_cy._core.ops.nn.losses import batched_nll
from autograd_cy._core.ops.registry import op


# for class numbers

cdef class CrossEntropy(NllNode):
    """The node of the scores (slot 0). It has the name of the last of PyTorch's two nodes."""
    cdef cnp.ndarray kept           # forward's numbers for each sample, which the gradient reads

    cdef tuple saved_names(self):
        return ("self", "target", "weight")

    cdef int release_saved(self) except -1:
        self.kept = None
        return Node.release_saved(self)

    cdef object vjp_array(self, object g, int i, Request *request):
        cdef cnp.ndarray addend
        if request.addend != NULL and self.can_add(<cnp.ndarray> g, <cnp.ndarray> request.addend, request.is_ours):
            request.added = True
            addend = <cnp.ndarray> request.addend
            return self.scores_gradient(<cnp.ndarray> g, addend, addend if request.is_ours else None, False)
        return self.scores_gradient(<cnp.ndarray> g, None, None, request.may_consume)

    cdef bint can_add(self, cnp.ndarray g, cnp.ndarray addend, bint in_place) except -1:
        """Whether the gradient can be added to an array in one pass; in place if no element is read after it is written."""
        cdef cnp.ndarray x = saved_array(self, 0)
        if (is_half(code_of(x)) or code_of(x) != code_of(addend) or not cnp.PyArray_SAMESHAPE(x, addend)
                or not is_flat(addend)):
            return False
        for read in (x, g, saved_array(self, 1), self.weights()) if in_place else ():
            if read is not None and overlaps_shifted(<cnp.ndarray> read, addend):
                return False
        return True

    cdef cnp.ndarray scores_gradient(self, cnp.ndarray g, cnp.ndarray addend, cnp.ndarray out, bint once):
        """Writes to `out`. If that is None: to a copy that was needed, to released scores, or to a new array."""
        cdef cnp.ndarray x = saved_array(self, 0), target = flat(saved_array(self, 1), INT64)
        cdef cnp.ndarray weight = self.weights(), kept = self.kept
        cdef int own = code_of(x), dtype_code = kernel_code(x)
        cdef bint copied = dtype_code != own or not is_flat(x)
        if weight is not None:
            weight = flat(weight, dtype_code)
        x, g = flat(x, dtype_code), flat(g, dtype_code)
        if out is None:
            if copied:
                out = x
            elif once and is_large(x) and take(self, 0, <PyObject *> x):
                out = x                         # from here on nothing allocates memory
            else:
                out = new_array(dtype_code, cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x))
        put_gradient(g, x, target, weight, self.ignore_index, kept, self.reduction == NONE, self.divisor(), addend, out)
        return in_type(out, own)

    cdef object vjp(self, object g, int i):
        h = self.gradient(<Tensor> g)           # of the log probabilities
        return log_softmax_gradient(<Tensor> h, <Tensor> self.normalized_scores(), self.dim())

    cdef int dim(self) noexcept:
        """The dimension of the classes."""
        return 1 if len(<tuple> self.constants) > 1 else 0

    cdef object normalized_scores(self):
        """log_softmax of the scores; scores of ignored targets are taken as 0."""
        x = unpack(self, 0)
        ignored = np.asarray((<Tensor> unpack(self, 1)).array == self.ignore_index)
        if ignored.any():
            x = x.masked_fill(new_tensor(np.expand_dims(ignored, 1) if self.dim() else ignored), 0)
        return x.log_softmax(self.dim())


@cython.final
cdef class NllLossBackward0(CrossEntropy):
    pass


@cython.final
cdef class NllLoss2DBackward0(CrossEntropy):
    pass


cdef object of_classes(Tensor x, Tensor target, Tensor weight, int reduction, long long ignore_index):
    """The loss for a target of class numbers."""
    cdef int ndim = cnp.PyArray_NDIM(x.array), own = code_of(x.array)
    check_type(x, wrap_dim(0 if ndim == 1 else 1, ndim), "log_softmax")
    check_has_kernel(own, "nll_loss_out_frame")
    check_target(x, target)
    if weight is not None:
        check_weight(x, weight)
    cdef cnp.ndarray scores = flat(x.array, kernel_code(x.array)), classes = flat(target.array, INT64), losses
    cdef npy_intp[2] sizes = [2, cnp.PyArray_SIZE(classes)]
    cdef cnp.ndarray kept = new_array(code_of(scores), 2, sizes)
    cdef Totals totals
    losses = picked(scores, classes, None if weight is None else weight.array, ignore_index, reduction == NONE, &totals,
                    log_probabilities(scores, classes, ignore_index, kept))
    cdef Tensor y = new_tensor(in_type(losses, own) if reduction == NONE else total_loss(&totals, reduction, own))
    cdef CrossEntropy node
    if not needs_node(x):
        return y
    node = new_node(NllLoss2DBackward0 if ndim > 2 else NllLossBackward0, shape_of(x))
    save_input(node, 0, x)
    node.note(target, weight, reduction, ignore_index, totals.weight)
    node.kept = kept
    return record(node, y, x)


# for probabilities, and smoothed

@cython.final
cdef class DivBackward1(Node):
    """The node of a tensor divided by a constant."""

    cdef tuple constant_names(self):
        return ("other",)

    cdef object vjp(self, object g, int i):
        return divided(g, self.constants[0])

    cdef object jvp(self, tuple tangents):
        return divided(tangents[0], self.constants[0])


cdef Tensor divided(Tensor x, object number):
    if x.batched:
        return (<object> x) / number
    return record_linear(DivBackward1, (number,), x, (<Tensor> (new_tensor(x.array) / number)).array)


cdef object by_class(object x, Tensor weight, int dim):
    """x times the class weights along `dim`, if there are any."""
    if weight is None:
        return x
    cdef tuple sizes = shape_of(<Tensor> x)
    if shape_of(weight) != (sizes[dim],):
        raise RuntimeError(f"cross_entropy: weight tensor should be defined either for all {sizes[dim]} classes or no "
                           f"classes but got weight tensor of shape: {list(shape_of(weight))}")
    return x * weight.reshape((sizes[dim],) + (1,) * (len(sizes) - dim - 1))


cdef object of_probabilities(Tensor x, Tensor target, Tensor weight, int reduction, double smoothing, int dim):
    """The loss for a target that has a probability for each class."""
    cdef object p = target
    if code_of(target.array) < FLOAT16:
        raise RuntimeError("Expected floating point type for target with class probabilities, got "
                           f"{type_word(code_of(target.array))}")
    if smoothing > 0:
        p = p * (1 - smoothing) + smoothing / cnp.PyArray_DIM(x.array, dim)
    losses = by_class(x.log_softmax(dim) * p, weight, dim)
    if reduction == NONE:
        return -losses.sum(dim)
    total = -losses.sum()
    if reduction != MEAN:
        return total
    classes = cnp.PyArray_DIM(x.array, dim)
    return divided(total, x.array.size // classes if classes else np.nan)


cdef object smoothed(Tensor x, Tensor target, Tensor weight, int reduction, long long ignore_index, double smoothing,
                     int dim):
    """The loss for targets that have a probability of 1 - smoothing, the rest spread evenly over all classes."""
    logs = x.log_softmax(dim)
    loss = nll_loss_of(logs, target, weight, reduction, ignore_index)
    even = -by_class(logs, weight, dim).sum(dim)
    classes = target.array.reshape(shape_of(even))
    counted = np.asarray(classes != ignore_index)
    even = even.where(new_tensor(counted), 0)
    if reduction != NONE:
        even = even.sum()
    if reduction == MEAN:
        even = even / float(counted.sum() if weight is None else weight.array[classes[counted]].sum())
    return loss * (1 - smoothing) + even * (smoothing / cnp.PyArray_DIM(x.array, dim))


@op(namespace="nn.functional", batch=batched_nll)
def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):
    """cross_entropy(input, target, weight=None, ignore_index=-100, reduction='mean', label_smoothing=0.0) -> Tensor

    The negative log likelihood of the target under softmax(input). `input` holds unnormalized scores of C classes, (N, C)
    or (C,) or (N, C, d1, ...), `target` class numbers (see nll_loss), or a probability for each class in the input's
    shape: then 'mean' divides by the number of samples. `label_smoothing` mixes in that much of the uniform distribution.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.cross_entropy(ag.tensor([[0.0, 0.0]]), ag.tensor([1]))
    tensor(0.6931)
    """
    cdef Tensor x = tensor_argument(input, "cross_entropy", "input", 1)
    cdef Tensor t = tensor_argument(target, "cross_entropy", "target", 2)
    cdef Tensor w = None if weight is None else tensor_argument(weight, "cross_entropy", "weight", 3)
    cdef int how = reduction_of(reduction, size_average, reduce), dim = 0 if cnp.PyArray_NDIM(x.array) == 1 else 1
    if label_smoothing > 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if cnp.PyArray_SAMESHAPE(x.array, t.array):
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return of_probabilities(x, t, w, how, label_smoothing, dim)
    if label_smoothing > 0:
        return smoothed(x, t, w, how, ignore_index, label_smoothing, dim)
    return of_classes(x, t, w, how, ignore_index)
