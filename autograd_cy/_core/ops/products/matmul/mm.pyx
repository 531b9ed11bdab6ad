"""Products of two matrices: mm, and addmm, which adds a tensor.

They are bilinear: a gradient is a product with one operand transposed and conjugated. `product` computes it on arrays,
and reads transposed ones without a copy; `multiplied` computes it by recorded operations.
"""

cimport cython
from cpython.object cimport PyTypeObject

from autograd_cy._core.arrays.buffers cimport fitting
from autograd_cy._core.arrays.dtypes cimport BOOL, FLOAT16, FLOAT32, code_of, is_half, long_word, type_word
from autograd_cy._core.graph.node cimport Node, Request, connect, make_node, method_table, save_input, saved_array, unpack
from autograd_cy._core.graph.record cimport go_on, needs_node, pause, record2, record_all, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.gemm cimport conjugated, product
from autograd_cy._core.kernels.loops cimport add_into, add_row
from autograd_cy._core.kernels.reduction_loops cimport sum_to
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp
from autograd_cy._core.runtime.state cimport current_mode

from autograd_cy._core.ops.registry import op


# the nodes

@cython.no_gc
@cython.final
@cython.freelist(64)
cdef class Operands:
    """The constants of a product; sizes and strides become tuples only when `constants[i]` is read."""
    cdef npy_intp[4] sizes
    cdef npy_intp[4] strides        # in elements
    cdef bint transposed                # the second matrix is used transposed
    cdef object beta, alpha

    def __getitem__(self, int i):
        if i < 2:
            return (self.sizes[2 * i], self.sizes[2 * i + 1])
        if i < 4:
            return (self.strides[2 * i - 4], self.strides[2 * i - 3])
        return self.beta if i == 4 else self.alpha


cdef Operands operands_of(cnp.ndarray a, cnp.ndarray b, bint transposed):
    cdef Operands made = Operands.__new__(Operands)
    cdef int axis, other
    for axis in range(2):
        other = 1 - axis if transposed else axis
        made.sizes[axis] = cnp.PyArray_DIM(a, axis)
        made.strides[axis] = cnp.PyArray_STRIDE(a, axis) // cnp.PyArray_ITEMSIZE(a)
        made.sizes[axis + 2] = cnp.PyArray_DIM(b, other)
        made.strides[axis + 2] = cnp.PyArray_STRIDE(b, other) // cnp.PyArray_ITEMSIZE(b)
    made.transposed = transposed
    return made


cdef class Bilinear(Node):
    """Linear in each of two operands, which are in the saved slots 0 and 1."""

    cdef object of(self, object a, object b):
        """The operation on two Tensors."""
        raise NotImplementedError

    cdef object jvp(self, tuple tangents):
        a, b = tangents
        return sum_of_terms(None if a is None else self.of(a, unpack(self, 1)),
                            None if b is None else self.of(unpack(self, 0), b))


cdef class MatrixProduct(Bilinear):
    """The product of two matrices, or of two batches of matrices."""

    cdef bint transposed(self):
        """Whether the second matrix was used transposed."""
        return False

    cdef object gradient_array(self, object g, int i):
        if i == 0:
            return product(g, False, conjugated(saved_array(self, 1)), not self.transposed())
        if self.transposed():
            return product(g, True, conjugated(saved_array(self, 0)), False)
        return product(conjugated(saved_array(self, 0)), True, g, False)

    cdef object gradient(self, object g, int i):
        if i == 0:
            return multiplied(g, False, unpack(self, 1).conj(), not self.transposed())
        if self.transposed():
            return multiplied(g, True, unpack(self, 0).conj(), False)
        return multiplied(unpack(self, 0).conj(), True, g, False)

    cdef object of(self, object a, object b):
        return multiplied(a, False, b, self.transposed())

    cdef object vjp_array(self, object g, int i, Request *request):
        return self.gradient_array(g, i)

    cdef object vjp(self, object g, int i):
        return self.gradient(g, i)


cdef object multiplied(Tensor a, bint transpose_a, Tensor b, bint transpose_b):
    """`product` by recorded operations."""
    cdef object left = a.transpose(-2, -1) if transpose_a else a, right = b.transpose(-2, -1) if transpose_b else b
    return left.mm(right) if cnp.PyArray_NDIM(a.array) == 2 else left.bmm(right)


cdef object sum_of_terms(object a, object b):
    """a + b, with None as zero."""
    return a if b is None else b if a is None else a + b


cdef class ProductWithOperands(MatrixProduct):
    """The second matrix is saved as it was given; `_saved_mat2` shows it as it was used."""

    cdef bint transposed(self):
        return (<Operands> self.constants).transposed

    @property
    def _saved_mat2(self):
        mat2 = unpack(self, 1)
        return mat2.t() if mat2 is not None and self.transposed() else mat2


@cython.final
cdef class MmBackward0(ProductWithOperands):
    cdef tuple saved_names(self):
        return ("self", None, None)

    cdef tuple constant_names(self):
        return ("self_sym_sizes", "mat2_sym_sizes", "self_sym_strides", "mat2_sym_strides")


@cython.final
cdef class AddmmBackward0(ProductWithOperands):
    """The node of beta * input + alpha * (mat1 @ mat2); `shapes` is the shape of the input, if it was broadcast."""

    cdef tuple saved_names(self):
        return ("mat1", None, None)

    cdef tuple constant_names(self):
        return ("mat1_sym_sizes", "mat2_sym_sizes", "mat1_sym_strides", "mat2_sym_strides", "beta", "alpha")

    cdef object vjp_array(self, object g, int i, Request *request):
        cdef Operands o = <Operands> self.constants
        if i > 0:
            g = self.gradient_array(g, i - 1)
            return g if o.alpha == 1 else scaled(g, o.alpha.conjugate())
        if o.beta != 1:
            return Node.vjp_array(self, g, i, request)
        return g if self.shapes is None else sum_to_shape(g, <tuple> self.shapes)

    cdef object vjp(self, object g, int i):
        cdef Operands o = <Operands> self.constants
        if i > 0:
            g = self.gradient(g, i - 1)
            return g if o.alpha == 1 else g * o.alpha.conjugate()
        g = g if o.beta == 1 else g * o.beta.conjugate()
        return g if self.shapes is None else g.sum_to_size(self.shapes)

    cdef object jvp(self, tuple tangents):
        cdef Operands o = <Operands> self.constants
        c, total = tangents[0], Bilinear.jvp(self, tangents[1:])
        return sum_of_terms(None if total is None else total * o.alpha, None if c is None else c * o.beta)


cdef cnp.ndarray sum_to_shape(cnp.ndarray g, tuple shape):
    cdef npy_intp[2] dims
    cdef int axis, ndim = len(shape)
    for axis in range(ndim):
        dims[axis] = shape[axis]
    return sum_to(g, ndim, dims)


cdef void *MM_METHODS = method_table(MmBackward0.__new__(MmBackward0))
cdef void *ADDMM_METHODS = method_table(AddmmBackward0.__new__(AddmmBackward0))


# mm

cdef Tensor product_of_matrices(Tensor a, Tensor b, bint transposed):
    """a @ b, or with `transposed` a @ b.T."""
    if cnp.PyArray_NDIM(a.array) != 2 or cnp.PyArray_NDIM(b.array) != 2:
        raise RuntimeError(f"{'self' if cnp.PyArray_NDIM(a.array) != 2 else 'mat2'} must be a matrix")
    check_matrices(a, b, transposed)
    cdef Tensor y = new_tensor(product(a.array, False, b.array, transposed))
    cdef bint wanted_a = needs_node(a), wanted_b = needs_node(b)
    cdef Node node
    if wanted_a or wanted_b:
        node = make_node(<PyTypeObject *> MmBackward0, MM_METHODS)
        node.constants = operands_of(a.array, b.array, transposed)
        save_operands(node, a, b, wanted_a, wanted_b)
        record2(node, y, a, b)
    return y


cdef int save_operands(Node node, Tensor a, Tensor b, bint wanted_a, bint wanted_b) except -1:
    """Each operand is saved for the gradient of the other."""
    if wanted_b:
        save_input(node, 0, a)
    if wanted_a:
        save_input(node, 1, b)
    return 0


cdef int check_matrices(Tensor a, Tensor b, bint transposed) except -1:
    """Refuse matrices that can't be multiplied."""
    cdef npy_intp rows = cnp.PyArray_DIM(b.array, 1 if transposed else 0)
    if cnp.PyArray_DIM(a.array, 1) != rows:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({cnp.PyArray_DIM(a.array, 0)}x"
                           f"{cnp.PyArray_DIM(a.array, 1)} and {rows}x{cnp.PyArray_DIM(b.array, 0 if transposed else 1)})")
    if code_of(a.array) != code_of(b.array):
        raise RuntimeError("expected m1 and m2 to have the same dtype, but got: "
                           f"{long_word(code_of(a.array))} != {long_word(code_of(b.array))}")
    return check_not_bool(a, b, "addmm_impl_cpu_")


cdef int check_not_bool(Tensor a, Tensor b, str kernel) except -1:
    """Refuse bools, unless there is nothing to multiply."""
    if code_of(a.array) == BOOL and (kernel == "dot" or (cnp.PyArray_SIZE(a.array) and cnp.PyArray_SIZE(b.array))):
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")
    return 0


class ProductRule:
    """ProductRule(m, n): the batching rule of products of an m- and an n-dimensional tensor.

    It calls matmul after a check of the shapes, which matmul allows to differ.
    """

    def __init__(self, m, n):
        self.ranks = m, n

    def __call__(self, call, input, other):
        """The operation on all samples."""
        cdef tuple sizes = shape_of(<Tensor?> input), others = shape_of(<Tensor?> other)
        cdef int m, n
        m, n = self.ranks
        if len(sizes) != m or len(others) != n or sizes[m - 1] != others[max(n - 2, 0)] or (m == 3 and sizes[0] != others[0]):
            call.on_sample(input, other)                # raises the error
        return input @ other


@op(methods=("mm",), batch=ProductRule(2, 2))
def mm(input, mat2):
    """mm(input, mat2) -> Tensor: the product of an (m, n) and an (n, p) matrix of one type; doesn't broadcast.

    >>> import autograd_cy as ag
    >>> ag.mm(ag.tensor([[1.0, 2.0]]), ag.tensor([[3.0], [4.0]]))
    tensor([[11.]])
    """
    return product_of_matrices(tensor_argument(input, "mm", "input", 1), tensor_argument(mat2, "mm", "mat2", 2), False)


# addmm

cdef Tensor sum_with_product(Tensor c, Tensor a, Tensor b, object beta, object alpha, bint transposed):
    """beta * c + alpha * (a @ b), or with `transposed` alpha * (a @ b.T); c is broadcast."""
    if cnp.PyArray_NDIM(a.array) != 2 or cnp.PyArray_NDIM(b.array) != 2:
        name, ndim = ("mat1", a.array.ndim) if cnp.PyArray_NDIM(a.array) != 2 else ("mat2", b.array.ndim)
        raise RuntimeError(f"{name} must be a matrix, got {ndim}-D tensor")
    if code_of(c.array) != code_of(b.array):
        raise RuntimeError(f"self and mat2 must have the same dtype, but got {type_word(code_of(c.array))} and "
                           f"{type_word(code_of(b.array))}")
    if code_of(a.array) != code_of(b.array):
        raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {type_word(code_of(a.array))} and "
                           f"{type_word(code_of(b.array))}")
    check_matrices(a, b, transposed)
    check_broadcast(c, cnp.PyArray_DIM(a.array, 0), cnp.PyArray_DIM(b.array, 0 if transposed else 1))
    cdef cnp.ndarray y = product(a.array, False, b.array, transposed)
    if alpha != 1:
        y = scaled(y, alpha)
    if beta == 1:
        add_to(y, c.array)
    elif beta != 0:
        add_to(y, scaled(c.array, beta))
    cdef Tensor result = new_tensor(y)
    if needs_node(a) or needs_node(b) or needs_node(c):
        record_sum(result, c, a, b, beta, alpha, transposed)
    return result


cdef int record_sum(Tensor y, Tensor c, Tensor a, Tensor b, object beta, object alpha, bint transposed) except -1:
    cdef Node node = make_node(<PyTypeObject *> AddmmBackward0, ADDMM_METHODS)
    cdef Operands operands = operands_of(a.array, b.array, transposed)
    operands.beta, operands.alpha = beta, alpha
    node.constants = operands
    if not cnp.PyArray_SAMESHAPE(c.array, y.array):
        node.shapes = shape_of(c)
    save_operands(node, a, b, needs_node(a), needs_node(b))
    if current_mode():
        record_all(node, y, (c, a, b))
        return 0
    connect(node, c)
    connect(node, a)
    connect(node, b)
    y.grad_fn = node
    y.needs_grad = True
    return 0


cdef int check_broadcast(Tensor c, npy_intp rows, npy_intp columns) except -1:
    """Check that c can be broadcast to (rows, columns); if it can't, expand() raises the error."""
    cdef int ndim = cnp.PyArray_NDIM(c.array)
    cdef npy_intp own_columns = cnp.PyArray_DIM(c.array, ndim - 1) if ndim > 0 else 1
    cdef npy_intp own_rows = cnp.PyArray_DIM(c.array, 0) if ndim > 1 else 1
    if ndim > 2 or (own_columns != columns and own_columns != 1) or (own_rows != rows and own_rows != 1):
        c.expand(rows, columns)
    return 0


cdef cnp.ndarray scaled(cnp.ndarray array, object factor):
    """The array times a number, by an operation, which never warns."""
    cdef int paused = pause()
    try:
        return (<Tensor> (new_tensor(array) * factor)).array
    finally:
        go_on(paused)


cdef int add_to(cnp.ndarray y, cnp.ndarray c) except -1:
    """y += c, with c broadcast."""
    if cnp.PyArray_NDIM(c) == 1 and cnp.PyArray_DIM(c, 0) == cnp.PyArray_DIM(y, 1):
        return add_row(y, c)
    return add_into(y, c)


cdef object as_number(object value, Tensor like):
    """A factor, also from a tensor of one element; truncated to an integer if the product has integers."""
    cdef int dtype_code = code_of(like.array)
    if isinstance(value, Tensor):
        value = (<Tensor> value).array.item()
    if type(value) is int and value == 1:
        return 1
    cdef cnp.ndarray unbroadcast = fitting(value, dtype_code if not is_half(dtype_code) else <int> FLOAT32)
    return unbroadcast.item() if dtype_code < FLOAT16 or type(value) is complex else value


def batched_addmm(call, input, mat1, mat2, *, beta=1, alpha=1):
    cdef object y = mat1.mm(mat2)
    y = y if alpha == 1 else y * alpha
    return input.expand_as(y) * 0 + y if beta == 0 else y + (input if beta == 1 else input * beta)


@op(methods=("addmm",), batch=batched_addmm)
def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """addmm(input, mat1, mat2, *, beta=1, alpha=1) -> Tensor: beta * input + alpha * (mat1 @ mat2).

    `input` is broadcast to the product's shape; with beta=0 it is ignored, nan and all.

    >>> import autograd_cy as ag
    >>> ag.addmm(ag.tensor([1.0]), ag.tensor([[1.0, 2.0]]), ag.tensor([[3.0], [4.0]]), beta=2)
    tensor([[13.]])
    """
    cdef Tensor b = tensor_argument(mat2, "addmm", "mat2", 3)
    return sum_with_product(tensor_argument(input, "addmm", "input", 1), tensor_argument(mat1, "addmm", "mat1", 2), b,
                            as_number(beta, b), as_number(alpha, b), False)
