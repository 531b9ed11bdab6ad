"""Shared by operations on (batches of) matrices: checks, triangles, the node of a decomposition into several parts.

A matrix is the last two dimensions of a tensor; the others are batches, as in NumPy's LAPACK functions.
"""

import numpy as np

from autograd_cy._core.arrays.dtypes cimport FLOAT16, check_has_kernel, code_of, is_half, type_word
from autograd_cy._core.graph.node cimport HANDLES, OUTPUT_SLOT, Node, SavedTensor, fill_slot, freed_error, give_tangent
from autograd_cy._core.graph.record cimport record_all, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport load_long

from autograd_cy._core.graph.node import declare_outputs, like_array
from autograd_cy._core.ops.pointwise.nodes import where


class LinAlgError(RuntimeError):
    """Raised if a matrix is singular, not positive definite, or if an iteration does not converge.

    >>> import autograd_cy as ag
    >>> try:
    ...     ag.linalg.inv(ag.zeros(1, 1))
    ... except ag.linalg.LinAlgError as error:
    ...     print(str(error)[:59])
    linalg.inv: The diagonal element 1 is zero, the inversion c
    """


# the node

cdef class Decomposition(Node):
    """Its outputs are saved in slot 2, each with its number. Other data are constants."""

    cdef tuple saved_names(self):
        return (None, None, None)

    cdef object output(self, int k):
        """The k-th output, with its place in the graph."""
        cdef Tensor y
        if self.released:
            raise freed_error(self)
        y = <Tensor> (<SavedTensor> (<tuple> self.saved2)[k]).restored(self)
        if not self.n_edges:                        # the node exists for its jvp only
            y.output_number = k
            give_tangent(self, y)
        return y


def outputs_of_decomposition(Decomposition node, int i):
    cdef object value = (<SavedTensor> (<tuple> node.saved2)[i]).value if node.kinds[OUTPUT_SLOT] == HANDLES else None
    return like_array(value) if isinstance(value, np.ndarray) else None


declare_outputs(Decomposition, outputs_of_decomposition)


cdef tuple record_outputs(Node node, tuple outputs, Tensor x):
    """Record the outputs of a decomposition of `x`, and save them."""
    cdef list saved = []
    cdef Tensor y
    cdef SavedTensor item
    for k, y in enumerate(outputs):
        item = SavedTensor.__new__(SavedTensor)
        item.value, item.counter, item.output_number = y.array, y.version_counter(), k
        item.version = load_long(&item.counter.version)
        saved.append(item)
    node.saves, node.n_outputs = True, len(outputs)
    fill_slot(node, OUTPUT_SLOT, HANDLES, tuple(saved))
    record_all(node, outputs, (x,))
    return outputs


cdef list gradients_of(object g, int n):
    """The gradients of all outputs; None where one was not used."""
    return g if isinstance(g, list) else [g] if n == 1 else [g] + [None] * (n - 1)


cdef object plus(object a, object b):
    """The sum; None counts as zero."""
    return a if b is None else b if a is None else a + b


# checks

cdef Tensor matrix_argument(object value, str operation, bint square):
    """The argument A of an operation on matrices of floating point or complex numbers."""
    cdef Tensor x = tensor_argument(value, operation, "A", 1)
    check_matrix(x, operation, "A", square)
    check_inexact(x, operation)
    return x


cdef int check_matrix(Tensor x, str operation, str name, bint square) except -1:
    cdef int ndim = cnp.PyArray_NDIM(x.array)
    if ndim < 2:
        raise RuntimeError(f"{operation}: The input tensor {name} must have at least 2 dimensions.")
    if square and cnp.PyArray_DIM(x.array, ndim - 1) != cnp.PyArray_DIM(x.array, ndim - 2):
        raise RuntimeError(f"{operation}: {name} must be batches of square matrices, but they are "
                           f"{cnp.PyArray_DIM(x.array, ndim - 2)} by {cnp.PyArray_DIM(x.array, ndim - 1)} matrices")
    return 0


cdef int check_not_integers(Tensor x, str operation) except -1:
    if code_of(x.array) < FLOAT16:
        word = type_word(code_of(x.array))
        raise RuntimeError(f"{operation}: Expected a floating point or complex tensor as input. Got {word}")
    return 0


cdef int check_inexact(Tensor x, str operation) except -1:
    check_not_integers(x, operation)
    check_has_kernel(code_of(x.array), operation)
    if is_half(code_of(x.array)):
        raise RuntimeError(f"{operation}: Low precision dtypes not supported. Got {type_word(code_of(x.array))}")
    return 0


# arrays

# `numpy.linalg` computes float32 in double precision, in twice the time; its internal ufuncs have both types.
cdef object UFUNCS = getattr(np.linalg, "_umath_linalg", None)


def refuse(text, flag):
    """NumPy calls this if LAPACK has failed."""
    raise np.linalg.LinAlgError


cdef object ufunc(str name, object public):
    """NumPy's LAPACK in the array's own type; NumPy's public function if there is no ufunc of that name."""
    return getattr(UFUNCS, name, public)


cdef object lapack(str name, object public, object array):
    """The result of ufunc(); NumPy's LinAlgError if LAPACK fails."""
    with np.errstate(call=refuse, invalid="call", over="ignore", divide="ignore", under="ignore"):
        return ufunc(name, public)(array)


cdef object converged(str operation, str name, object public, object array, str values):
    """The result of lapack(); LinAlgError names the first matrix for which the iteration failed."""
    try:
        return lapack(name, public, array)
    except np.linalg.LinAlgError:
        info = np.zeros(array.shape[:-2], np.int32)
    for index in np.ndindex(info.shape):
        try:
            lapack(name, public, array[index])
        except np.linalg.LinAlgError:
            info[index] = 1
            break
    element = first_failure(info)[0] if info.any() else ""
    raise LinAlgError(f"{operation}: {element}The algorithm failed to converge because the input matrix is ill-conditioned or "
                      f"has too many repeated {values}.")


cdef tuple first_failure(object info):
    """(text naming its batch element, info) for the first matrix with a nonzero info, or None."""
    places = np.flatnonzero(info)
    if not places.size:
        return None
    return f"(Batch element {places[0]}): " if info.ndim else "", np.ravel(info)[places[0]]


cdef int check_finite(str operation, object finite, str failure) except -1:
    """Raise LinAlgError for the first matrix that is not finite."""
    if not finite.all():
        element, _ = first_failure(np.asarray(~finite))
        raise LinAlgError(f"{operation}: {element}The {failure} because the input matrix contained non-finite values.")
    return 0


cdef object infinite_matrices(object array):
    """A mask of matrices with an infinity, on which LAPACK may not terminate; None if all are finite. Raises for nan."""
    if np.isfinite(array).all():
        return None
    check_finite("linalg.svd", ~np.isnan(array).any((-2, -1)), "algorithm failed to converge")
    return ~np.isfinite(array).all((-2, -1))


cdef tuple empty_factors(object array):
    """The factors of empty matrices. NumPy's decompositions would count 2**40 columns even without rows."""
    *sizes, m, n = array.shape
    k = min(m, n)
    return np.empty((*sizes, m, k), array.dtype), np.empty((*sizes, k, n), array.dtype)


cdef object svd_arrays(object array, bint full):
    """U, S, Vh; nan for matrices with an infinity."""
    if not array.size and not full:
        u, vh = empty_factors(array)
        return u, svd_values(array), vh
    infinite = infinite_matrices(array)
    if infinite is not None:
        array = np.where(infinite[..., None, None], 0, array)
    found = converged("linalg.svd", "svd_f" if full else "svd_s", lambda a: np.linalg.svd(a, full), array, "singular values")
    return found if infinite is None else [np.where(infinite[(...,) + (None,) * (x.ndim - infinite.ndim)], np.nan, x).astype(
        x.dtype) for x in found]


cdef object svd_values(object array):
    if not array.size:
        return np.empty((*array.shape[:-2], min(array.shape[-2:])), array.real.dtype)
    infinite = infinite_matrices(array)
    if infinite is not None:
        array = np.where(infinite[..., None, None], 0, array)
    found = converged("linalg.svd", "svd", np.linalg.svdvals, array, "singular values")
    return found if infinite is None else np.where(infinite[..., None], np.nan, found).astype(found.dtype)


cdef object eigh_arrays(object array, str UPLO):
    """The eigenvalues and vectors of Hermitian matrices. Only one triangle is read."""
    return converged("linalg.eigh", "eigh_lo" if UPLO in "lL" else "eigh_up", lambda a: np.linalg.eigh(a, UPLO), array,
                     "eigenvalues")


cdef object eigh_values(object array, str UPLO):
    return converged("linalg.eigh", "eigvalsh_lo" if UPLO in "lL" else "eigvalsh_up", lambda a: np.linalg.eigvalsh(a, UPLO),
                     array, "eigenvalues")


cdef object real_type_of(cnp.ndarray array):
    """The type of the absolute values of an array's elements."""
    return (<object> array).real.dtype


cdef Tensor dense(object array):
    """An array as a new tensor in C order."""
    return new_tensor(np.require(array, requirements="CW"))


cdef Tensor columns_first(object array):
    """An array as a tensor of matrices in Fortran order, as PyTorch's LAPACK leaves them."""
    return new_tensor(np.swapaxes(np.require(np.swapaxes(array, -2, -1), requirements="CW"), -2, -1))


# Tensors, by recorded operations

cdef object adjoint_of(object x):
    """The conjugate transposes of matrices."""
    return x.transpose(-2, -1).conj()


cdef object mask_like(object x, object made):
    """A bool matrix of the same sizes as each matrix of x."""
    cdef tuple sizes = shape_of(x)
    cdef int ndim = len(sizes)
    return new_tensor(made(np.ones((sizes[ndim - 2], sizes[ndim - 1]), np.bool_)))


cdef object lower(object x, int k):
    """The lower triangles, up to the k-th diagonal."""
    return x.where(mask_like(x, lambda ones: np.tril(ones, k)), 0)


cdef object upper_part(object x, int k):
    """The upper triangles, from the k-th diagonal on."""
    return x.where(mask_like(x, lambda ones: np.triu(ones, k)), 0)


cdef object on_diagonal(object d):
    """Square matrices with `d` on the diagonal."""
    cdef Py_ssize_t n = shape_of(d)[-1]
    return d.unsqueeze(-1).expand(*shape_of(d), n).where(new_tensor(np.eye(n, dtype=np.bool_)), 0)


cdef object with_diagonal(object x, object value):
    """Square matrices with their diagonal replaced by a number."""
    return where(mask_like(x, lambda ones: np.eye(ones.shape[0], dtype=np.bool_)), value, x)


cdef object unbroadcast(object g, tuple sizes):
    """A gradient summed over the batches to which an operand was broadcast."""
    return g if shape_of(g) == sizes else g.sum_to_size(sizes)
