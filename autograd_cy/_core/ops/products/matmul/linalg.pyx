"""Products of batches of matrices, of a matrix and a vector, of two vectors: bmm, mv, dot."""

cimport cython

from autograd_cy._core.arrays.dtypes cimport code_of, type_word
from autograd_cy._core.graph.node cimport Node, Request, saved_array, unpack
from autograd_cy._core.graph.record cimport needs_node, new_node, record2, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.gemm cimport conjugated, product
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

from autograd_cy._core.ops.registry import op


cdef Tensor bilinear(object node_class, cnp.ndarray array, Tensor a, Tensor b):
    """The result of a bilinear operation, recorded if needed."""
    cdef Tensor y = new_tensor(array)
    cdef bint wanted_a = needs_node(a), wanted_b = needs_node(b)
    cdef Node node
    if wanted_a or wanted_b:
        node = new_node(node_class, ())
        save_operands(node, a, b, wanted_a, wanted_b)
        record2(node, y, a, b)
    return y


# bmm

@cython.final
cdef class BmmBackward0(MatrixProduct):
    cdef tuple saved_names(self):
        return ("self", "mat2", None)


cdef Tensor product_of_batches(Tensor a, Tensor b):
    """a[k] @ b[k] for each k."""
    if cnp.PyArray_NDIM(a.array) != 3 or cnp.PyArray_NDIM(b.array) != 3:
        raise RuntimeError(f"batch{1 if cnp.PyArray_NDIM(a.array) != 3 else 2} must be a 3D tensor")
    cdef npy_intp batch = cnp.PyArray_DIM(a.array, 0), inner = cnp.PyArray_DIM(a.array, 2)
    if cnp.PyArray_DIM(b.array, 0) != batch or cnp.PyArray_DIM(b.array, 1) != inner:
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{batch}, {inner}] but got: "
                           f"[{cnp.PyArray_DIM(b.array, 0)}, {cnp.PyArray_DIM(b.array, 1)}].")
    if code_of(a.array) != code_of(b.array):
        raise RuntimeError(f"expected scalar type {type_word(code_of(a.array))} but found {type_word(code_of(b.array))}")
    check_not_bool(a, b, "bmm")
    return bilinear(BmmBackward0, product(a.array, False, b.array, False), a, b)


@op(methods=("bmm",), batch=ProductRule(3, 3))
def bmm(input, mat2):
    """bmm(input, mat2) -> Tensor: the products of the matrices of two batches, (b, m, n) and (b, n, p); no broadcasting.

    >>> import autograd_cy as ag
    >>> ag.bmm(ag.tensor([[[1.0, 2.0]]]), ag.tensor([[[3.0], [4.0]]]))
    tensor([[[11.]]])
    """
    return product_of_batches(tensor_argument(input, "bmm", "input", 1), tensor_argument(mat2, "bmm", "mat2", 2))


# mv

@cython.final
cdef class MvBackward0(Bilinear):
    cdef tuple saved_names(self):
        return ("self", "vec", None)

    cdef object vjp_array(self, object g, int i, Request *request):
        if i == 0:
            return product(g, False, conjugated(saved_array(self, 1)), True)
        return product(conjugated(saved_array(self, 0)), True, g, False)

    cdef object vjp(self, object g, int i):
        if i == 0:
            return g.unsqueeze(1) * unpack(self, 1).conj()
        return mv(unpack(self, 0).conj().t(), g)

    cdef object of(self, object a, object b):
        return mv(a, b)


cdef Tensor matrix_times_vector(Tensor a, Tensor v):
    if cnp.PyArray_NDIM(a.array) != 2 or cnp.PyArray_NDIM(v.array) != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {cnp.PyArray_NDIM(a.array)}, "
                           f"{cnp.PyArray_NDIM(v.array)}")
    if cnp.PyArray_DIM(a.array, 1) != cnp.PyArray_DIM(v.array, 0):
        rows, columns = shape_of(a)
        raise RuntimeError(f"size mismatch, got input ({rows}), mat ({rows}x{columns}), vec ({v.array.size})")
    if code_of(a.array) != code_of(v.array):
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {type_word(code_of(v.array))}, "
                           f"{type_word(code_of(a.array))}, and {type_word(code_of(v.array))}")
    check_not_bool(a, v, "addmv_impl_cpu")
    return bilinear(MvBackward0, product(a.array, False, v.array, False), a, v)


@op(methods=("mv",), batch=ProductRule(2, 1))
def mv(input, vec):
    """mv(input, vec) -> Tensor: the product of an (m, n) matrix and a vector of n elements; a vector of m.

    >>> import autograd_cy as ag
    >>> ag.mv(ag.tensor([[1.0, 2.0], [0.0, 1.0]]), ag.tensor([3.0, 4.0]))
    tensor([11.,  4.])
    """
    return matrix_times_vector(tensor_argument(input, "mv", "input", 1), tensor_argument(vec, "mv", "vec", 2))


# dot

@cython.final
cdef class DotBackward0(Bilinear):
    cdef tuple saved_names(self):
        return ("self", "tensor", None)

    cdef object vjp(self, object g, int i):
        return g * unpack(self, 1 - i).conj()

    cdef object of(self, object a, object b):
        return dot(a, b)


cdef Tensor inner_product(Tensor u, Tensor v):
    """The sum of u * v; complex numbers are not conjugated."""
    if cnp.PyArray_NDIM(u.array) != 1 or cnp.PyArray_NDIM(v.array) != 1:
        raise RuntimeError(f"1D tensors expected, but got {cnp.PyArray_NDIM(u.array)}D and {cnp.PyArray_NDIM(v.array)}D "
                           "tensors")
    if code_of(u.array) != code_of(v.array):
        raise RuntimeError("dot : expected both vectors to have same dtype, but found "
                           f"{type_word(code_of(u.array))} and {type_word(code_of(v.array))}")
    cdef npy_intp m = cnp.PyArray_DIM(u.array, 0), n = cnp.PyArray_DIM(v.array, 0)
    if m != n:
        raise RuntimeError(f"inconsistent tensor size, expected tensor [{m}] and src [{n}] to have the same number of "
                           f"elements, but got {m} and {n} elements respectively")
    check_not_bool(u, v, "dot")
    return bilinear(DotBackward0, product(u.array, True, v.array, False), u, v)


@op(methods=("dot",), batch=ProductRule(1, 1))
def dot(input, tensor):
    """dot(input, tensor) -> Tensor: the inner product of two vectors, not conjugated.

    >>> import autograd_cy as ag
    >>> ag.dot(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))
    tensor(11.)
    """
    return inner_product(tensor_argument(input, "dot", "input", 1), tensor_argument(tensor, "dot", "tensor", 2))
