"""Covariances and correlations of variables, distances, and renorm."""

import warnings

import numpy as np

from autograd_cy._core.arrays.buffers cimport dense
from autograd_cy._core.arrays.dtypes cimport BOOL, COMPLEX64, FLOAT16, code_of, type_word
from autograd_cy._core.graph.record cimport as_tensor, tensor_argument, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.overwriting cimport in_place
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import sample_by_sample
from autograd_cy._core.ops.registry import inplace_op, op


cdef int check_weights(str name, Tensor weights, Py_ssize_t observations) except -1:
    cdef bint counts = name == "fweights"
    cdef int dtype_code = code_of(weights.array)
    if cnp.PyArray_NDIM(weights.array) > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
                           f"{weights.array.ndim} dimensions")
    if dtype_code == BOOL or dtype_code >= COMPLEX64 or (dtype_code < FLOAT16) != counts:
        kind = "integral" if counts else "floating point"
        raise RuntimeError(f"cov(): expected {name} to have {kind} dtype but got {name} with {type_word(dtype_code)} dtype")
    if cnp.PyArray_SIZE(weights.array) != observations:
        raise RuntimeError(f"cov(): expected {name} to have the same numel as there are observations in the input but got "
                           f"{cnp.PyArray_SIZE(weights.array)} != {observations}")
    if observations and weights.array.min() < 0:
        raise RuntimeError(f"cov(): {name} cannot be negative")
    return 0


@op(methods=("cov",), batch=sample_by_sample)
def cov(input, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None):
    """cov(input, *, correction=1, fweights=None, aweights=None) -> Tensor: the covariances of variables, each a row of
    observations.

    The sums of products are divided by the number of observations minus the correction. `fweights` are the frequencies of the
    observations, `aweights` their weights.

    >>> import autograd_cy as ag
    >>> ag.cov(ag.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    cdef object x = as_tensor(input, "cov"), weights = fweights
    if x.ndim > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got an input with {x.ndim} dimensions")
    if code_of((<Tensor> x).array) == BOOL:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = x if x.ndim == 2 else x.reshape(1, -1)
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None:
            check_weights(name, tensor_argument(given, "cov", name, 3), x.shape[1])
    if aweights is not None:
        weights = aweights if weights is None else weights * aweights
    total = x.shape[1] if weights is None else weights.sum()
    freedom = total - correction
    if aweights is not None and correction:
        freedom = total - correction * (weights * aweights).sum() / total
    if freedom <= 0:
        warnings.warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
                      UserWarning, stacklevel=2)
        freedom = freedom * 0
    x = x - ((x if weights is None else x * weights).sum(1, True) / total)
    products = x @ (x if weights is None else x * weights).t().conj()
    return (products / freedom).squeeze()


@op(methods=("corrcoef",), batch=sample_by_sample)
def corrcoef(input):
    """corrcoef(input) -> Tensor: Pearson's correlation coefficients of variables, each a row of observations.

    >>> import autograd_cy as ag
    >>> ag.corrcoef(ag.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    cdef object x = as_tensor(input, "corrcoef")
    if x.ndim > 2:
        raise RuntimeError("corrcoef(): expected input to have two or fewer dimensions but got an input with "
                           f"{x.ndim} dimensions")
    c = cov(x)
    if not variances_fit((<Tensor> c).array):
        c = cov(x / new_tensor(scales_of(np.abs((<Tensor> x).array).max(-1, initial=0, keepdims=True))))
    if c.ndim == 0:
        return c / c
    deviations = c.diagonal()
    deviations = (deviations.real if deviations.is_complex() else deviations).sqrt()
    c = c / deviations.unsqueeze(1) / deviations
    return c if c.is_complex() else c.clamp(-1, 1)


cdef bint variances_fit(object covariances):
    """Whether correlations and their derivatives stay in the range of the type."""
    variances = covariances.diagonal() if covariances.ndim else covariances
    return variances.dtype.itemsize < 4 or fourth_powers_fit(dense(variances.real))


@op(methods=("dist",), batch=sample_by_sample)
def dist(input, other: Tensor, p: float = 2):
    """dist(input, other, p=2) -> Tensor: the p-norm of input - other, which are broadcast.

    >>> import autograd_cy as ag
    >>> ag.dist(ag.tensor([1.0, 2.0]), ag.tensor([4.0, 6.0]))
    tensor(5.)
    """
    return norm(as_tensor(input, "dist") - other, p)


@op(methods=("renorm",), batch=sample_by_sample)
def renorm(input, p: float, dim: int, maxnorm: float):
    """renorm(input, p, dim, maxnorm) -> Tensor: scale down the slices along `dim` with a p-norm above `maxnorm` to that
    norm.

    >>> import autograd_cy as ag
    >>> ag.renorm(ag.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0)
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
    """
    cdef object x = as_tensor(input, "renorm")
    if not p > 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if x.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {x.ndim} dimensions")
    cdef int d = wrap_dim(dim, x.ndim)
    sizes = norm(x, p, tuple([axis for axis in range(x.ndim) if axis != d]), True)
    if maxnorm == 0:
        return x * (sizes > 0).logical_not()
    return x / ((sizes + 1e-7) / maxnorm).where(sizes > maxnorm, 1)


def renorm_(Tensor self, p: float, dim: int, maxnorm: float):
    """renorm_(p, dim, maxnorm) -> Tensor: renorm() written into the tensor's own memory."""
    return in_place("renorm_", renorm, self, (p, dim, maxnorm))


inplace_op(renorm_, renorm)
