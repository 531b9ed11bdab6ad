"""Sums of a tensor and a product of others, both scaled: addmv, addbmm, baddbmm, addr; also in place."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport BOOL, FLOAT16, code_of, type_word
from autograd_cy._core.graph.node cimport unpack
from autograd_cy._core.graph.record cimport go_on, needs_node, new_node, pause, record_all, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.overwriting cimport in_place
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.ops.pointwise.elementwise import masked_fill
from autograd_cy._core.ops.registry import inplace_op, op


cdef class ScaledProduct(Bilinear):
    """The node of beta * input + alpha * product. `first` and `second` are the gradients of the factors, without alpha."""

    cdef object first(self, object g, object b):
        raise NotImplementedError

    cdef object second(self, object g, object a):
        raise NotImplementedError

    cdef tuple constant_names(self):
        return ("beta", "alpha", None)

    cdef object vjp(self, object g, int i):
        beta, alpha, sizes = self.constants
        if i == 0:
            g = times(g, beta)
            return g if shape_of(g) == sizes else g.sum_to_size(sizes)
        return times(self.first(g, unpack(self, 1).conj()) if i == 1 else self.second(g, unpack(self, 0).conj()), alpha)

    cdef object jvp(self, tuple tangents):
        t, p = tangents[0], Bilinear.jvp(self, tangents[1:])
        return sum_of_terms(None if t is None else t * self.constants[0], None if p is None else p * self.constants[1])


cdef object times(object g, object factor):
    return g if factor == 1 else g * (factor.conjugate() if isinstance(factor, complex) else factor)


@cython.final
cdef class AddmvBackward0(ScaledProduct):
    cdef tuple saved_names(self):
        return ("mat", "vec", None)

    cdef object of(self, object a, object b):
        return a.mv(b)

    cdef object first(self, object g, object b):
        return g.outer(b)

    cdef object second(self, object g, object a):
        return a.t().mv(g)


@cython.final
cdef class BaddbmmBackward0(ScaledProduct):
    cdef tuple saved_names(self):
        return ("batch1", "batch2", None)

    cdef object of(self, object a, object b):
        return a.bmm(b)

    cdef object first(self, object g, object b):
        return g.bmm(b.mT)

    cdef object second(self, object g, object a):
        return a.mT.bmm(g)


@cython.final
cdef class AddbmmBackward0(ScaledProduct):
    cdef tuple saved_names(self):
        return ("batch1", "batch2", None)

    cdef object of(self, object a, object b):
        """One product of all samples side by side."""
        if shape_of(a)[0] != shape_of(b)[0] or shape_of(a)[2] != shape_of(b)[1]:
            a.bmm(b)                    # raises if the shapes don't fit
        inner = shape_of(a)[0] * shape_of(a)[2]
        return a.transpose(0, 1).reshape(shape_of(a)[1], inner).mm(b.reshape(inner, shape_of(b)[2]))

    cdef object first(self, object g, object b):
        return g.expand(len(b), -1, -1).bmm(b.mT)

    cdef object second(self, object g, object a):
        return a.mT.bmm(g.expand(len(a), -1, -1))


@cython.final
cdef class AddrBackward0(ScaledProduct):
    cdef tuple saved_names(self):
        return ("vec1", "vec2", None)

    cdef object of(self, object a, object b):
        return a.unsqueeze(1) * b

    cdef object first(self, object g, object b):
        return g.mv(b)

    cdef object second(self, object g, object a):
        return g.t().mv(a)


cdef object scaled_sum(ScaledProduct node, Tensor x, Tensor a, Tensor b, object beta, object alpha):
    """beta * x + alpha * the node's product, in the product's shape; with beta=0 the input is ignored, even nan."""
    cdef Tensor y
    cdef object array
    cdef int paused = pause()
    try:
        array = (<Tensor> node.of(new_tensor(a.array), new_tensor(b.array))).array
        if shape_of(x) != np.shape(array):
            x.expand(np.shape(array))                       # raises if the shapes don't fit
    finally:
        go_on(paused)
    beta, alpha = number_for(beta, code_of(array)), number_for(alpha, code_of(array))
    if alpha != 1:
        array = array * np.asarray(alpha, array.dtype)
    if beta != 0:
        array = (x.array if beta == 1 else x.array * np.asarray(beta, x.array.dtype)) + array
    y = new_tensor(np.asarray(array))
    cdef bint wanted_a = needs_node(a), wanted_b = needs_node(b)
    if wanted_a or wanted_b or needs_node(x):
        node.constants = (beta, alpha, shape_of(x))
        save_operands(node, a, b, wanted_a, wanted_b)
        record_all(node, y, (x, a, b))
    return y


cdef object number_for(object number, int dtype_code):
    """A factor, also from a tensor of one element; PyTorch truncates it for integers."""
    if isinstance(number, Tensor):
        number = number.item()
    return bool(number) if dtype_code == BOOL else int(number) if dtype_code < FLOAT16 else number


def sum_of_samples(input, product, beta, alpha):
    """`scaled_sum` for BatchedTensors."""
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return masked_fill(input, new_tensor(np.array(True)), 0) + product      # gives the input a gradient: zeros
    return (input if beta == 1 else input * beta) + product


cdef int check_numbers(Tensor input, object beta, object alpha) except -1:
    """Refuse factors that are not integers for sums of integers."""
    if code_of(input.array) < FLOAT16:
        for name, number in (("beta", beta), ("alpha", alpha)):
            if isinstance(number, (float, complex)):
                raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")
    return 0


cdef int check_types(str operation, tuple tensors) except -1:
    """Check that the types agree and are not bool."""
    cdef Tensor x, first = <Tensor> tensors[0]
    for x in tensors:
        if code_of(x.array) != code_of(first.array):
            raise RuntimeError(f"{operation}: expected scalar type {type_word(code_of(first.array))} but found "
                               f"{type_word(code_of(x.array))}")
    if code_of(first.array) == BOOL:
        raise NotImplementedError(f"\"{operation}\" not implemented for 'Bool'")
    return 0


cdef int check_batches(Tensor a, Tensor b) except -1:
    for number, x in ((1, a), (2, b)):
        if cnp.PyArray_NDIM((<Tensor> x).array) != 3:
            raise RuntimeError(f"batch{number} must be a 3D tensor")
    return 0


def batched_addmv(call, input, mat, vec, *, beta=1, alpha=1):
    return sum_of_samples(input, mat.mv(vec), beta, alpha)


@op(methods=("addmv",), batch=batched_addmv)
def addmv(input, mat, vec, *, beta=1, alpha=1):
    """addmv(input, mat, vec, *, beta=1, alpha=1) -> Tensor: beta * input + alpha * (mat @ vec).

    `input` is broadcast to the product's shape; with beta=0 it is ignored.

    >>> import autograd_cy as ag
    >>> ag.addmv(ag.tensor([1.0]), ag.tensor([[1.0, 2.0]]), ag.tensor([3.0, 4.0]), beta=2)
    tensor([13.])
    """
    cdef Tensor x = tensor_argument(input, "addmv", "input", 1)
    cdef Tensor a = tensor_argument(mat, "addmv", "mat", 2), b = tensor_argument(vec, "addmv", "vec", 3)
    check_types("addmv_impl_cpu", (x, a, b))
    return scaled_sum(new_node(AddmvBackward0, ()), x, a, b, beta, alpha)


def batched_addbmm(call, input, batch1, batch2, *, beta=1, alpha=1):
    return sum_of_samples(input, batch1.bmm(batch2).sum(0), beta, alpha)


@op(methods=("addbmm",), batch=batched_addbmm)
def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """addbmm(input, batch1, batch2, *, beta=1, alpha=1) -> Tensor: beta * input + alpha * the sum of batch1[k] @ batch2[k].

    `input` is broadcast to a matrix of the product; with beta=0 it is ignored.

    >>> import autograd_cy as ag
    >>> ag.addbmm(ag.tensor([1.0]), ag.ones(2, 1, 3), ag.ones(2, 3, 1))
    tensor([[7.]])
    """
    cdef Tensor x = tensor_argument(input, "addbmm", "input", 1), a = tensor_argument(batch1, "addbmm", "batch1", 2)
    cdef Tensor b = tensor_argument(batch2, "addbmm", "batch2", 3)
    check_batches(a, b)
    check_types("addbmm", (x, a, b))
    return scaled_sum(new_node(AddbmmBackward0, ()), x, a, b, beta, alpha)


def batched_baddbmm(call, input, batch1, batch2, *, beta=1, alpha=1):
    return sum_of_samples(input, batch1.bmm(batch2), beta, alpha)


@op(methods=("baddbmm",), batch=batched_baddbmm)
def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """baddbmm(input, batch1, batch2, *, beta=1, alpha=1) -> Tensor: beta * input[k] + alpha * (batch1[k] @ batch2[k]).

    `input` is broadcast to the product's shape; with beta=0 it is ignored.

    >>> import autograd_cy as ag
    >>> ag.baddbmm(ag.tensor([1.0]), ag.ones(2, 1, 3), ag.ones(2, 3, 1), alpha=2)
    tensor([[[7.]],
    <BLANKLINE>
            [[7.]]])
    """
    cdef Tensor x = tensor_argument(input, "baddbmm", "input", 1), a = tensor_argument(batch1, "baddbmm", "batch1", 2)
    cdef Tensor b = tensor_argument(batch2, "baddbmm", "batch2", 3)
    check_batches(a, b)
    check_types("baddbmm", (x, a, b))
    return scaled_sum(new_node(BaddbmmBackward0, ()), x, a, b, beta, alpha)


def batched_addr(call, input, vec1, vec2, *, beta=1, alpha=1):
    if rank_of(vec1) != 1 or rank_of(vec2) != 1:
        call.on_sample(input, vec1, vec2, beta=beta, alpha=alpha)           # raises the error
    return sum_of_samples(input, vec1.unsqueeze(1) * vec2, beta, alpha)


@op(methods=("addr",), batch=batched_addr)
def addr(input, vec1, vec2, *, beta=1, alpha=1):
    """addr(input, vec1, vec2, *, beta=1, alpha=1) -> Tensor: beta * input + alpha * the outer product of two vectors.

    `input` is broadcast to the product's shape; with beta=0 it is ignored.

    >>> import autograd_cy as ag
    >>> ag.addr(ag.tensor([1.0]), ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))
    tensor([[4., 5.],
            [7., 9.]])
    """
    cdef Tensor x = tensor_argument(input, "addr", "input", 1)
    for position, name, vec in ((1, "vec1", vec1), (2, "vec2", vec2)):
        if cnp.PyArray_NDIM(tensor_argument(vec, "addr", name, position + 1).array) != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {(<Tensor> vec).array.ndim}-D")
    check_numbers(x, beta, alpha)
    return scaled_sum(new_node(AddrBackward0, ()), x, <Tensor> vec1, <Tensor> vec2, beta, alpha)


# in place

cdef object written_sum(str name, object function, object self, a, b, beta, alpha):
    return in_place(name, lambda x, u, v: function(x, u, v, beta=beta, alpha=alpha), <Tensor?> self, (a, b))


def addmm_(Tensor self, mat1, mat2, *, beta=1, alpha=1):
    """addmm_(mat1, mat2, *, beta=1, alpha=1) -> Tensor: addmm() written into the tensor's own memory."""
    return written_sum("addmm_", addmm, self, mat1, mat2, beta, alpha)


def addmv_(Tensor self, mat, vec, *, beta=1, alpha=1):
    """addmv_(mat, vec, *, beta=1, alpha=1) -> Tensor: addmv() written into the tensor's own memory."""
    return written_sum("addmv_", addmv, self, mat, vec, beta, alpha)


def addbmm_(Tensor self, batch1, batch2, *, beta=1, alpha=1):
    """addbmm_(batch1, batch2, *, beta=1, alpha=1) -> Tensor: addbmm() written into the tensor's own memory."""
    return written_sum("addbmm_", addbmm, self, batch1, batch2, beta, alpha)


def baddbmm_(Tensor self, batch1, batch2, *, beta=1, alpha=1):
    """baddbmm_(batch1, batch2, *, beta=1, alpha=1) -> Tensor: baddbmm() written into the tensor's own memory."""
    return written_sum("baddbmm_", baddbmm, self, batch1, batch2, beta, alpha)


def addr_(Tensor self, vec1, vec2, *, beta=1, alpha=1):
    """addr_(vec1, vec2, *, beta=1, alpha=1) -> Tensor: addr() written into the tensor's own memory."""
    return written_sum("addr_", addr, self, vec1, vec2, beta, alpha)


inplace_op(addmm_, addmm)
inplace_op(addmv_, addmv)
inplace_op(addbmm_, addbmm)
inplace_op(baddbmm_, baddbmm)
inplace_op(addr_, addr)
