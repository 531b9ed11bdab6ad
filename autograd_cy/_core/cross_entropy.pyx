"""cross_entropy, which is built from log_softmax, nll_loss and others."""

import numpy as np

cimport cython
cimport numpy as cnp

from autograd_cy._core.dtypes cimport FLOAT16, code_of, type_word
from autograd_cy._core.losses cimport MEAN, NONE, reduction_of
from autograd_cy._core.nll_loss cimport nll_loss_of
from autograd_cy._core.node cimport Node
from autograd_cy._core.record cimport enter_linear, shape_of, tensor_argument
from autograd_cy._core.tensor cimport Tensor, new_tensor

from autograd_cy._core.registry import op

cnp.import_array()


@cython.final
cdef class DivBackward1(Node):
    """Of a tensor divided by a constant."""

    cdef tuple constant_names(self):
        return ("other",)

    cdef object rule(self, object g, int i):
        return divided(g, self.constants[0])

    cdef object jvp(self, tuple tangents):
        return divided(tangents[0], self.constants[0])


cdef Tensor divided(Tensor x, double number):
    return enter_linear(DivBackward1, (number,), x, (<Tensor> (new_tensor(x.array) / number)).array)


cdef object by_class(object x, Tensor weight, int dim):
    """x times the weight of each class along `dim`, if there are weights."""
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
    return divided(total, x.array.size / cnp.PyArray_DIM(x.array, dim)) if reduction == MEAN else total


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


@op(namespace="nn.functional")
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
    return nll_loss_of(x.log_softmax(dim), t, w, how, ignore_index)
