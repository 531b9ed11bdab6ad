"""Dropout of elements or of whole channels.

Source: Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting" (2014); for alpha dropout,
Klambauer et al., "Self-normalizing neural networks" (2017).
"""

import warnings

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport FLOAT16, LONGDOUBLE, code_of, type_word
from autograd_cy._core.batching.batched cimport open_levels
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport as_tensor, record_linear, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.random_loops cimport dropped
from autograd_cy._core.ops.drawing cimport new_key
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import one_sample
from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.drawing import drawing_levels
from autograd_cy._core.ops.registry import op


cdef double ALPHA = -1.7580993408473766     # selu's limit at -infinity


cdef class Dropped(Node):
    """Its constants: the random key, and the probability of 0."""

    cdef object vjp(self, object g, int i):
        return self.scaled(<Tensor> g)

    cdef object jvp(self, tuple tangents):
        return self.scaled(<Tensor> tangents[0])

    cdef object scaled(self, Tensor x):
        key, p = self.constants
        if x.batched:
            return x * new_tensor(dropped(np.ones(shape_of(x), x.array.dtype), key, p))
        return record_linear(type(self), self.constants, x, dropped(x.array, key, p))


@cython.final
cdef class MulBackward0(Dropped):
    """PyTorch's name: there, dropout is a product with noise."""


@cython.final
cdef class NativeDropoutBackward0(Dropped):
    pass


cdef Tensor noise_of(tuple sizes, object dtype, double p):
    """0 with probability p, else 1 / (1 - p), for each element; within vmap according to its `randomness`."""
    if p == 1:
        return new_tensor(np.zeros(sizes, dtype))
    cdef list apart = drawing_levels() if open_levels() else []
    ones = np.ones(tuple([level.size for level in reversed(apart)]) + sizes, dtype)
    return one_sample(new_tensor(dropped(ones, new_key(), p)), apart)


cdef bint leaves_alone(Tensor x, object p, object train) except -1:
    """Whether nothing is dropped; raises for an invalid probability and for integers."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    if p == 0 or not train or not cnp.PyArray_SIZE(x.array):
        return True
    if code_of(x.array) < FLOAT16:
        raise RuntimeError(f"result type Float can't be cast to the desired output type {type_word(code_of(x.array))}")
    if code_of(x.array) >= LONGDOUBLE:
        raise NotImplementedError(f"\"bernoulli_scalar_cpu_\" not implemented for '{type_word(code_of(x.array))}'")
    return False


# of single elements

@op(batch=COMPOSITE, inplace=True)
def dropout(input, p: float, train: bool):
    """dropout(input, p, train) -> Tensor: each element is 0 with probability p, else input / (1 - p); not if train is False.

    Random numbers come from the default generator, see manual_seed(). RuntimeError unless p is from 0 to 1.

    >>> import autograd_cy as ag
    >>> y = ag.dropout(ag.ones(1000), 0.5, True)
    >>> y.amax()
    tensor(2.)
    >>> ag.dropout(ag.ones(2), 1.0, True)
    tensor([0., 0.])
    """
    cdef Tensor x = as_tensor(input, "dropout")
    if leaves_alone(x, p, train):
        return input
    if p == 1 or open_levels():
        return input * noise_of(shape_of(x), x.array.dtype, p)
    key = new_key()
    return record_linear(MulBackward0, (key, <double> p), x, dropped(x.array, key, p))


@op(batch=COMPOSITE)
def native_dropout(input, p: float, train: bool | None):
    """native_dropout(input, p, train) -> tuple of two Tensors: dropout() and the mask of kept elements.

    >>> import autograd_cy as ag
    >>> y, mask = ag.native_dropout(ag.ones(3), 0.0, True)
    >>> y, mask
    (tensor([1., 1., 1.]), tensor([True, True, True]))
    """
    cdef Tensor x = as_tensor(input, "native_dropout")
    if leaves_alone(x, p, train is None or train):
        return input.clone(), new_tensor(np.ones(shape_of(x), bool))
    if open_levels() or p == 1:
        noise = noise_of(shape_of(x), x.array.dtype, p)
        return input * noise, noise != 0
    key = new_key()
    kept = dropped(np.ones(shape_of(x), x.array.dtype), key, p)
    return (record_linear(NativeDropoutBackward0, (key, <double> p), x, dropped(x.array, key, p)),
            new_tensor(np.asarray(kept != 0)))


@op(name="dropout", namespace="nn.functional", batch=COMPOSITE, inplace=True)
def functional_dropout(input, p: float = 0.5, training: bool = True):
    """dropout(input, p=0.5, training=True) -> Tensor: each element is 0 with probability p, else input / (1 - p).

    The numbers come from the default generator, see manual_seed(). Without training it is the input itself. ValueError
    unless p is from 0 to 1.

    >>> import autograd_cy as ag
    >>> x = ag.ones(1000)
    >>> ag.nn.functional.dropout(x, 0.75).amax(), ag.nn.functional.dropout(x, training=False) is x
    (tensor(4.), True)
    >>> ag.nn.functional.dropout(ag.ones(2), 1.0)
    tensor([0., 0.])
    """
    as_tensor(input, "dropout")
    check_probability(p)
    return dropout(input, p, training)


cdef int check_probability(object p) except -1:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return 0


# of channels

cdef tuple channels_of(Tensor x):
    """The sizes of a number for each channel."""
    cdef int rank = cnp.PyArray_NDIM(x.array)
    if rank < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return shape_of(x)[:2] + (1,) * (rank - 2)


@op(batch=COMPOSITE, inplace=True)
def feature_dropout(input, p: float, train: bool):
    """feature_dropout(input, p, train) -> Tensor: dropout() of whole channels, which are the second dimension.

    >>> import autograd_cy as ag
    >>> y = ag.feature_dropout(ag.ones(2, 3, 4), 0.5, True)
    >>> bool((y.amin(2) == y.amax(2)).all())
    True
    >>> ag.feature_dropout(ag.ones(1, 2), 1.0, True)
    tensor([[0., 0.]])
    """
    cdef Tensor x = as_tensor(input, "feature_dropout")
    return input if leaves_alone(x, p, train) else input * noise_of(channels_of(x), x.array.dtype, p)


@op(namespace="nn.functional", batch=COMPOSITE, inplace=True)
def dropout1d(input, p: float = 0.5, training: bool = True):
    """dropout1d(input, p=0.5, training=True) -> Tensor: dropout of whole channels of (N, C, L) or (C, L).

    >>> import autograd_cy as ag
    >>> y = ag.nn.functional.dropout1d(ag.ones(3, 4))
    >>> bool((y.amin(1) == y.amax(1)).all())
    True
    >>> ag.nn.functional.dropout1d(ag.ones(2, 1), 1.0)
    tensor([[0.],
            [0.]])
    """
    check_probability(p)
    rank = as_tensor(input, "dropout1d").ndim
    if rank not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {rank}D input. Note that dropout1d exists to "
                           "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an "
                           "optional batch dimension (i.e. 2D or 3D inputs).")
    return of_channels(input, p, training, rank == 2)


@op(namespace="nn.functional", batch=COMPOSITE, inplace=True)
def dropout2d(input, p: float = 0.5, training: bool = True):
    """dropout2d(input, p=0.5, training=True) -> Tensor: dropout of whole channels of (N, C, H, W).

    Like PyTorch, it warns for (N, C, L) and treats it as dropout1d does.

    >>> import autograd_cy as ag
    >>> y = ag.nn.functional.dropout2d(ag.ones(2, 3, 4, 4))
    >>> bool((y.amin((2, 3)) == y.amax((2, 3))).all())
    True
    >>> ag.nn.functional.dropout2d(ag.ones(1, 1, 1, 2), 1.0)
    tensor([[[[0., 0.]]]])
    """
    check_probability(p)
    rank = as_tensor(input, "dropout2d").ndim
    if rank not in (3, 4):
        warnings.warn(f"dropout2d: Received a {rank}-D input to dropout2d, which is deprecated and will result in an error in "
                      "a future release. To retain the behavior and silence this warning, please use dropout instead. Note "
                      "that dropout2d exists to provide channel-wise dropout on inputs with 2 spatial dimensions, a "
                      "channel dimension, and an optional batch dimension (i.e. 3D or 4D inputs).", stacklevel=2)
    if rank == 3:
        warnings.warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is "
                      "desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will "
                      "change in a future release to interpret the input as one without a batch dimension, i.e. shape "
                      "(C, H, W). To maintain the 1D channel-wise dropout behavior, please switch to using dropout1d instead.",
                      stacklevel=2)
    return of_channels(input, p, training, False)


@op(namespace="nn.functional", batch=COMPOSITE, inplace=True)
def dropout3d(input, p: float = 0.5, training: bool = True):
    """dropout3d(input, p=0.5, training=True) -> Tensor: dropout of whole channels of (N, C, D, H, W) or (C, D, H, W).

    >>> import autograd_cy as ag
    >>> y = ag.nn.functional.dropout3d(ag.ones(3, 2, 2, 2))
    >>> bool((y.amin((1, 2, 3)) == y.amax((1, 2, 3))).all())
    True
    >>> ag.nn.functional.dropout3d(ag.ones(1, 1, 1, 2), 1.0)
    tensor([[[[0., 0.]]]])
    """
    check_probability(p)
    rank = as_tensor(input, "dropout3d").ndim
    if rank not in (4, 5):
        warnings.warn(f"dropout3d: Received a {rank}-D input to dropout3d, which is deprecated and will result in an error in "
                      "a future release. To retain the behavior and silence this warning, please use dropout instead. Note "
                      "that dropout3d exists to provide channel-wise dropout on inputs with 3 spatial dimensions, a "
                      "channel dimension, and an optional batch dimension (i.e. 4D or 5D inputs).", stacklevel=2)
    return of_channels(input, p, training, rank != 5)


cdef object of_channels(object input, object p, object training, bint one_sample_alone):
    if not one_sample_alone:
        return feature_dropout(input, p, training)
    return feature_dropout(input.unsqueeze(0), p, training).squeeze(0)


# keeping the mean and variance of selu's results

cdef object with_alpha(object input, tuple sizes, double p):
    """The input where it is kept, selu's limit elsewhere, scaled and shifted to keep mean and variance."""
    cdef Tensor x = <Tensor> input
    cdef double a = 0 if p == 1 else ((ALPHA * ALPHA * p + 1) * (1 - p)) ** -0.5
    if p == 1:
        return input * noise_of(sizes, x.array.dtype, p)
    kept = noise_of(sizes, x.array.dtype, p) * (1 - p)
    return input * (kept * a) + ((kept - 1) * (-ALPHA * a) + -ALPHA * a * p)


@op(batch=COMPOSITE, inplace=True)
def alpha_dropout(input, p: float, train: bool):
    """alpha_dropout(input, p, train) -> Tensor: dropout that keeps mean 0 and variance 1, for networks of selu().

    >>> import autograd_cy as ag
    >>> ag.alpha_dropout(ag.ones(2), 0.5, False)
    tensor([1., 1.])
    >>> ag.alpha_dropout(ag.ones(2), 1.0, True)
    tensor([0., 0.])
    """
    cdef Tensor x = as_tensor(input, "alpha_dropout")
    return input if leaves_alone(x, p, train) else with_alpha(input, shape_of(x), p)


@op(batch=COMPOSITE, inplace=True)
def feature_alpha_dropout(input, p: float, train: bool):
    """feature_alpha_dropout(input, p, train) -> Tensor: alpha_dropout() of whole channels, which are the second dimension.

    >>> import autograd_cy as ag
    >>> ag.feature_alpha_dropout(ag.ones(1, 2), 0.5, False)
    tensor([[1., 1.]])
    >>> ag.feature_alpha_dropout(ag.ones(1, 2), 1.0, True)
    tensor([[0., 0.]])
    """
    cdef Tensor x = as_tensor(input, "feature_alpha_dropout")
    return input if leaves_alone(x, p, train) else with_alpha(input, channels_of(x), p)


@op(name="alpha_dropout", namespace="nn.functional", batch=COMPOSITE, inplace=True)
def functional_alpha_dropout(input, p: float = 0.5, training: bool = False):
    """alpha_dropout(input, p=0.5, training=False) -> Tensor: dropout that keeps mean 0 and variance 1, for selu().

    >>> import autograd_cy as ag
    >>> ag.nn.functional.alpha_dropout(ag.ones(2))
    tensor([1., 1.])
    >>> ag.nn.functional.alpha_dropout(ag.ones(2), 1.0, True)
    tensor([0., 0.])
    """
    as_tensor(input, "alpha_dropout")
    check_probability(p)
    return alpha_dropout(input, p, training)


@op(name="feature_alpha_dropout", namespace="nn.functional", batch=COMPOSITE, inplace=True)
def functional_feature_alpha_dropout(input, p: float = 0.5, training: bool = False):
    """feature_alpha_dropout(input, p=0.5, training=False) -> Tensor: alpha_dropout() of whole channels.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.feature_alpha_dropout(ag.ones(1, 2))
    tensor([[1., 1.]])
    >>> ag.nn.functional.feature_alpha_dropout(ag.ones(1, 2), 1.0, True)
    tensor([[0., 0.]])
    """
    as_tensor(input, "feature_alpha_dropout")
    check_probability(p)
    return feature_alpha_dropout(input, p, training)
