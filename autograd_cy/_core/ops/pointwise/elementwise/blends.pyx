"""Elementwise operations that choose a row by their operands: one bound, weights, sums of products, logit; others."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport cast, copy_in_order
from autograd_cy._core.arrays.dtypes cimport (
    BFLOAT16, BOOL, COMPLEX128, COMPLEX64, FLOAT16, FLOAT32, FLOAT64, LONGDOUBLE, code_of, default_code, dtype_of, long_word,
    promote, type_word)
from autograd_cy._core.graph.node cimport Node, save_input, unpack
from autograd_cy._core.graph.record cimport (
    any_wanted, as_tensor, as_type, needs_node, new_node, number_code, record, record_all, shape_of, tensor_argument)
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor, wants_grad
from autograd_cy._core.kernels.loops cimport Kernel, nextafter_bf16
from autograd_cy._core.ops.overwriting cimport FillWithTensor, Overwriting, in_place, put
from autograd_cy._core.ops.pointwise.nodes cimport Pointwise, with_constants
from autograd_cy._core.ops.pointwise.pointwise cimport called, not_implemented_for, row_of, ternary, unary
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.arrays.dtypes import finfo_of
from autograd_cy._core.batching.batched import rank_of as sample_rank
from autograd_cy._core.ops.registry import inplace_op, op


cdef Pointwise *OP_clamp_min_number = row_of("clamp_min_number")
cdef Pointwise *OP_clamp_min_tensor = row_of("clamp_min_tensor")
cdef Pointwise *OP_clamp_max_number = row_of("clamp_max_number")
cdef Pointwise *OP_clamp_max_tensor = row_of("clamp_max_tensor")
cdef Pointwise *OP_lerp_number = row_of("lerp_number")
cdef Pointwise *OP_lerp_tensor = row_of("lerp_tensor")
cdef Pointwise *OP_add_product = row_of("add_product")
cdef Pointwise *OP_add_quotient = row_of("add_quotient")
cdef Pointwise *OP_logit_of = row_of("logit_of")
cdef Pointwise *OP_logit_within = row_of("logit_within")
cdef Pointwise *OP_nextafter = row_of("nextafter")
OP_nextafter.forward[BFLOAT16] = Kernel(nextafter_bf16, NULL)


@cython.final
cdef class NanToNumBackward0(Node):
    cdef tuple saved_names(self):
        return ("self", None, None)

    cdef object vjp(self, object g, int i):
        return g.masked_fill(unpack(self, 0).isfinite().logical_not(), 0)


# one bound

@op(methods=("clamp_min",), kind="elementwise")
def clamp_min(input, min):
    """clamp_min(input, min) -> Tensor: input, but not below `min`, a number or tensor.

    The gradient passes through where input is not below.

    >>> import autograd_cy as ag
    >>> ag.clamp_min(ag.tensor([-1.0, 0.5]), 0)
    tensor([0.0000, 0.5000])
    """
    return bounded(OP_clamp_min_tensor if isinstance(min, Tensor) else OP_clamp_min_number, input, min, "clamp_min")


@op(methods=("clamp_max",), kind="elementwise")
def clamp_max(input, max):
    """clamp_max(input, max) -> Tensor: input, but not above `max`, a number or tensor.

    The gradient passes through where input is not above.

    >>> import autograd_cy as ag
    >>> ag.clamp_max(ag.tensor([0.5, 2.0]), 1)
    tensor([0.5000, 1.0000])
    """
    return bounded(OP_clamp_max_tensor if isinstance(max, Tensor) else OP_clamp_max_number, input, max, "clamp_max")


cdef object bounded(Pointwise *row, object input, object bound, str name):
    cdef Tensor x = as_tensor(input, name)
    if number_code(bound) >= 0 and (code_of(x.array) >= COMPLEX64 or code_of(x.array) == number_code(bound) == BOOL):
        raise not_implemented_for(row, code_of(x.array))
    return called(row, x, bound)


# three operands

@op(methods=("lerp",), kind="elementwise")
def lerp(input, end, weight):
    """lerp(input, end, weight) -> Tensor: input + weight * (end - input); `weight` is a number or tensor.

    RuntimeError for tensors of different types.

    >>> import autograd_cy as ag
    >>> ag.lerp(ag.tensor([0.0, 10.0]), ag.tensor([4.0, 20.0]), 0.5)
    tensor([ 2., 15.])
    """
    cdef Tensor x = as_tensor(input, "lerp"), y = tensor_argument(end, "lerp", "end", 2)
    check_type(x, y, "end")
    if isinstance(weight, Tensor):
        if cnp.PyArray_NDIM((<Tensor> weight).array):
            check_type(x, <Tensor> weight, "weight")
        return ternary(OP_lerp_tensor, x, y, weight)
    if number_code(weight) < 0:
        raise TypeError(f"lerp(): argument 'weight' (position 3) must be Tensor or Number, not {type(weight).__name__}")
    return with_constants(ternary(OP_lerp_number, x, y, weight), (weight,))


cdef int check_type(Tensor x, Tensor other, str name) except -1:
    if code_of(x.array) != code_of(other.array):
        raise RuntimeError(f"expected dtype {long_word(code_of(x.array))} for `{name}` but got dtype "
                           f"{long_word(code_of(other.array))}")
    return 0


@op(methods=("addcmul",), kind="elementwise")
def addcmul(input, tensor1, tensor2, *, value=1):
    """addcmul(input, tensor1, tensor2, *, value=1) -> Tensor: input + value * tensor1 * tensor2.

    >>> import autograd_cy as ag
    >>> ag.addcmul(ag.tensor([1.0]), ag.tensor([2.0]), ag.tensor([3.0]), value=10)
    tensor([61.])
    """
    return combined(OP_add_product, as_tensor(input, "addcmul"), tensor_argument(tensor1, "addcmul", "tensor1", 2),
                    tensor_argument(tensor2, "addcmul", "tensor2", 3), value)


@op(methods=("addcdiv",), kind="elementwise")
def addcdiv(input, tensor1, tensor2, *, value=1):
    """addcdiv(input, tensor1, tensor2, *, value=1) -> Tensor: input + value * tensor1 / tensor2.

    RuntimeError if both are integers.

    >>> import autograd_cy as ag
    >>> ag.addcdiv(ag.tensor([1.0]), ag.tensor([3.0]), ag.tensor([2.0]), value=10)
    tensor([16.])
    """
    cdef Tensor a = tensor_argument(tensor1, "addcdiv", "tensor1", 2), b = tensor_argument(tensor2, "addcdiv", "tensor2", 3)
    if code_of(a.array) < FLOAT16 and code_of(b.array) < FLOAT16:
        raise RuntimeError(INTEGER_DIVISION)
    return combined(OP_add_quotient, as_tensor(input, "addcdiv"), a, b, value)


INTEGER_DIVISION = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division of "
    "tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * torch.trunc(tensor1 / "
    "tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for float inputs. The future "
    "addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all dtypes.")


cdef Tensor combined(Pointwise *row, Tensor x, Tensor a, Tensor b, object value):
    if isinstance(value, Tensor) and cnp.PyArray_NDIM((<Tensor> value).array) == 0 and not wants_grad(value):
        value = value.item()
    if number_code(value) < 0:
        name = "addcmul" if row is OP_add_product else "addcdiv"
        raise TypeError(f"{name}(): argument 'value' must be Number, not {type(value).__name__}")
    return with_constants(ternary(row, x, a if value == 1 else a * value, b), (value,))


# composed of other operations

@op(kind="elementwise")
def rsub(input, other, *, alpha=1):
    """rsub(input, other, *, alpha=1) -> Tensor: other - alpha * input.

    >>> import autograd_cy as ag
    >>> ag.rsub(ag.tensor([1.0, 2.0]), 10, alpha=2)
    tensor([8., 6.])
    """
    return as_tensor(input, "rsub").__rsub__(other) if alpha == 1 else sub(other, input, alpha=alpha)


@op(methods=("float_power",), kind="elementwise")
def float_power(input, exponent):
    """float_power(input, exponent) -> Tensor: input to the power of exponent, in double precision.

    >>> import autograd_cy as ag
    >>> ag.float_power(ag.tensor([2.0, 3.0]), 2)
    tensor([4., 9.], dtype=torch.float64)
    """
    cdef tuple both = (input, exponent)
    cdef bint is_complex = any([x.is_complex() if isinstance(x, Tensor) else type(x) is complex for x in both])
    cdef bint is_extended = any([isinstance(x, Tensor) and code_of((<Tensor> x).array) == LONGDOUBLE for x in both])
    cdef object wanted = dtype_of(COMPLEX128 if is_complex else LONGDOUBLE if is_extended else FLOAT64)
    cdef object kind = complex if is_complex else np.longdouble if is_extended else float
    if is_complex and is_extended:
        promote(COMPLEX128, LONGDOUBLE)
    input, exponent = [x.to(wanted) if isinstance(x, Tensor) else kind(x) for x in (input, exponent)]
    return input ** exponent


@op(methods=("positive",), kind="elementwise")
def positive(input):
    """positive(input) -> Tensor: the tensor itself; RuntimeError for truth values.

    >>> import autograd_cy as ag
    >>> ag.positive(-ag.tensor([1.0, -2.0]))
    tensor([-1.,  2.])
    """
    if code_of(as_tensor(input, "positive").array) == BOOL:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


@cython.final
cdef class FillBackward0(Overwriting):
    pass


@cython.final
cdef class FillBackward1(FillWithTensor):
    pass


def batched_fill(call, input, value):
    if not call.is_batched(value):
        return call(call.value(input), value)
    x = call.front(input)
    v = call.front(value).reshape(call.size, *(1,) * sample_rank(input)).to(input.dtype)
    return v.where(new_tensor(np.array(True)), x)           # gives x a gradient, too: zeros


@op(methods=("fill",), batch=batched_fill)
def fill(input, value):
    """fill(input, value) -> Tensor: a tensor of the input's shape and type with `value`, a number or 0-d tensor, everywhere.

    >>> import autograd_cy as ag
    >>> ag.fill(ag.tensor([1.0, 2.0]), 5)
    tensor([5., 5.])
    """
    cdef Tensor x = as_tensor(input, "fill"), y
    cdef tuple operands = (x, value) if isinstance(value, Tensor) else (x,)
    if len(operands) == 2 and (<Tensor> value).array.ndim:
        raise RuntimeError("fill only supports 0-dimension value tensor but got tensor with "
                           f"{(<Tensor> value).array.ndim} dimensions.")
    y = new_tensor(copy_in_order(x.array, code_of(x.array)))
    put(y, value, "fill")
    if any_wanted(operands):
        constants = (value.dtype, y.dtype, shape_of(y)) if len(operands) == 2 else ()
        record_all(new_node(FillBackward1 if len(operands) == 2 else FillBackward0, constants), y, operands)
    return y


@op(methods=("nextafter",), kind="elementwise")
def nextafter(input, other):
    """nextafter(input, other) -> Tensor: the number next to input in the direction of other.

    The gradient passes to input where the two differ, else to other.

    >>> import autograd_cy as ag
    >>> ag.nextafter(ag.tensor([1.0]), ag.tensor([2.0]))
    tensor([1.0000])
    """
    return called(OP_nextafter, as_tensor(input, "nextafter"), tensor_argument(other, "nextafter", "other", 2))


@op(methods=("logit",), kind="elementwise")
def logit(input, eps: float | None = None):
    """logit(input, eps=None) -> Tensor: log(input / (1 - input)); with `eps`, input is first clamped to [eps, 1 - eps].

    Outside of [0, 1] the result and its gradient are NaN. With `eps` the gradient outside of the bounds is 0.

    >>> import autograd_cy as ag
    >>> ag.logit(ag.tensor([0.5, 0.75]))
    tensor([0.0000, 1.0986])
    """
    cdef Tensor x = as_tensor(input, "logit")
    if eps is None or code_of(x.array) >= COMPLEX64:
        return with_constants(unary(OP_logit_of, x), (None,))
    if code_of(x.array) < FLOAT16:
        x = as_type(x, dtype_of(default_code()))
    if isinstance(eps, np.generic):
        eps = eps.item()                # 1 - eps in Python's precision
    return with_constants(ternary(OP_logit_within, x, eps, 1 - eps), (eps,))


cdef cnp.ndarray without_nans(cnp.ndarray array, object nan, object posinf, object neginf):
    """NumPy's nan_to_num. It lacks bfloat16, which is computed as float32."""
    if code_of(array) != BFLOAT16:
        return np.asarray(np.nan_to_num(array, nan=nan, posinf=posinf, neginf=neginf))
    most = float(finfo_of(array.dtype).max)
    return cast(np.asarray(np.nan_to_num(cast(array, FLOAT32), nan=nan, posinf=most if posinf is None else posinf,
                                         neginf=-most if neginf is None else neginf)), BFLOAT16)


@op(methods=("nan_to_num",), kind="elementwise")
def nan_to_num(input, nan: float | None = None, posinf: float | None = None, neginf: float | None = None):
    """nan_to_num(input, nan=None, posinf=None, neginf=None) -> Tensor: numbers in place of NaN and infinities.

    By default they are 0, and the largest and least numbers of the type. The gradient for replaced elements is 0.

    >>> import autograd_cy as ag
    >>> ag.nan_to_num(ag.tensor([1.0, float("nan"), float("inf")]), posinf=9.0)
    tensor([1., 0., 9.])
    """
    cdef Tensor x = as_tensor(input, "nan_to_num"), y
    cdef Node node
    if code_of(x.array) >= COMPLEX64 and needs_node(x):
        raise RuntimeError("nan_to_num does not support automatic differentiation for outputs with complex dtype.")
    y = new_tensor(without_nans(x.array, 0.0 if nan is None else nan, posinf, neginf))
    if needs_node(x):
        node = new_node(NanToNumBackward0, None)
        save_input(node, 0, x)
        return record(node, y, x)
    return y


# in place, for operations with keyword-only arguments or other checks

def addcmul_(Tensor self, tensor1, tensor2, *, value=1):
    """addcmul_(tensor1, tensor2, *, value=1) -> Tensor: addcmul() written into the tensor's own memory."""
    return in_place("addcmul_", product_added, self, (tensor1, tensor2, value))


def product_added(input, tensor1, tensor2, value):
    return addcmul(input, tensor1, tensor2, value=value)


def addcdiv_(Tensor self, tensor1, tensor2, *, value=1):
    """addcdiv_(tensor1, tensor2, *, value=1) -> Tensor: addcdiv() written into the tensor's own memory."""
    return in_place("addcdiv_", quotient_added, self, (tensor1, tensor2, value))


def quotient_added(input, tensor1, tensor2, value):
    return addcdiv(input, tensor1, tensor2, value=value)


def float_power_(Tensor self, exponent):
    """float_power_(exponent) -> Tensor: float_power() written into the tensor's own memory, which is of double precision."""
    is_complex = self.is_complex() or (exponent.is_complex() if isinstance(exponent, Tensor) else type(exponent) is complex)
    wanted = COMPLEX128 if is_complex else LONGDOUBLE if code_of(self.array) == LONGDOUBLE else FLOAT64
    if code_of(self.array) != wanted:
        raise RuntimeError(f"the base given to float_power_ has dtype {type_word(code_of(self.array))} but the operation's "
                           f"result requires dtype {type_word(wanted)}")
    return in_place("float_power_", float_power, self, (exponent,))


inplace_op(addcmul_, addcmul)
inplace_op(addcdiv_, addcdiv)
inplace_op(float_power_, float_power)
