"""Activations that check arguments or are composed of other operations; the others: codegen/activation_table.py."""

from autograd_cy._core.arrays.dtypes cimport BOOL, COMPLEX64, FLOAT16, code_of, type_word
from autograd_cy._core.graph.record cimport as_tensor, number_code, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.ops.pointwise.nodes cimport Pointwise
from autograd_cy._core.ops.pointwise.pointwise cimport binary, not_implemented_for, row_of, unary, with_numbers
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.ops.registry import op


cdef Pointwise *OP_hardtanh_between = row_of("hardtanh_between")
cdef Pointwise *OP_softshrink_by = row_of("softshrink_by")
cdef Pointwise *OP_elu_scaled = row_of("elu_scaled")
cdef Pointwise *OP_celu_of = row_of("celu_of")
cdef Pointwise *OP_softsign_of = row_of("softsign_of")
cdef Pointwise *OP_tanhshrink_of = row_of("tanhshrink_of")
cdef Pointwise *OP_prelu_kernel = row_of("prelu_kernel")

cdef tuple SELU = (1.6732632423543772848170429916717, 1.0507009873554804934193349852946)     # alpha and scale


@op(namespace="nn.functional", kind="elementwise", inplace=True)
def hardtanh(input, min_val: float = -1.0, max_val: float = 1.0):
    """hardtanh(input, min_val=-1.0, max_val=1.0) -> Tensor: input limited to [min_val, max_val].

    Unlike clamp's, the gradient at the bounds is 0. ValueError if min_val is above max_val.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.hardtanh(ag.tensor([-2.0, 0.5, 2.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return limited(input, min_val, max_val)


@op(namespace="nn.functional", kind="elementwise", inplace=True)
def relu6(input):
    """relu6(input) -> Tensor: min(max(input, 0), 6).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.relu6(ag.tensor([-2.0, 0.5, 8.0]))
    tensor([0.0000, 0.5000, 6.0000])
    """
    return limited(input, 0, 6)


cdef Tensor limited(object input, object low, object high):
    cdef Tensor x = as_tensor(input, "hardtanh")
    if code_of(x.array) == BOOL:
        raise not_implemented_for(OP_hardtanh_between, BOOL)
    if code_of(x.array) < FLOAT16:
        low, high = int(low), int(high)
    return with_numbers(OP_hardtanh_between, x, (low, high), ["min_val", "max_val"])


@op(namespace="nn.functional", kind="elementwise")
def softshrink(input, lambd: float = 0.5):
    """softshrink(input, lambd=0.5) -> Tensor: 0 where input is from -lambd to lambd, else input moved towards 0 by lambd.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.softshrink(ag.tensor([-2.0, 0.25, 1.0]))
    tensor([-1.5000,  0.0000,  0.5000])
    """
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd:g}.")
    return with_numbers(OP_softshrink_by, input, (lambd,), ["lambd"])


# exponential

@op(namespace="nn.functional", kind="elementwise", inplace=True)
def elu(input, alpha: float = 1.0):
    """elu(input, alpha=1.0) -> Tensor: input where it is positive, else alpha * (exp(input) - 1).

    Source: Clevert, Unterthiner, Hochreiter, "Fast and accurate deep network learning by exponential linear units" (2015).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.elu(ag.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return with_numbers(OP_elu_scaled, input, (alpha, 1), ["alpha", "scale"])


@op(namespace="nn.functional", kind="elementwise", inplace=True)
def selu(input):
    """selu(input) -> Tensor: elu with the factors that keep mean 0 and variance 1 from layer to layer.

    Source: Klambauer et al., "Self-normalizing neural networks" (2017).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.selu(ag.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """
    return with_numbers(OP_elu_scaled, input, SELU, ["alpha", "scale"])


@op(namespace="nn.functional", kind="elementwise", inplace=True)
def celu(input, alpha: float = 1.0):
    """celu(input, alpha=1.0) -> Tensor: input where it is positive, else alpha * (exp(input / alpha) - 1).

    RuntimeError for an alpha of 0. Source: Barron, "Continuously differentiable exponential linear units" (2017).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.celu(ag.tensor([-1.0, 2.0]), 2.0)
    tensor([-0.7869,  2.0000])
    """
    if number_code(alpha) >= 0 and alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return with_numbers(OP_celu_of, input, (alpha,), ["alpha"])


# of two parts

def batched_prelu(call, input, weight):
    """Aligns each sample's weight with its channels, the second dimension of the sample."""
    cdef int rank = input.ndim
    if weight.numel() not in (1, input.shape[1] if rank > 1 else 1):
        call.on_sample(input, weight)           # raises the error
    x, w = call.front(input), call.value(weight)
    if not call.is_batched(weight):
        return kernel_of_prelu(x, w.reshape((-1,) + (1,) * (rank - 2)) if w.ndim and rank > 1 else w)
    channels = (weight.numel(),) if weight.ndim and rank > 1 else (1,) * min(rank, 1)
    return kernel_of_prelu(x, w.reshape(call.size, *((1,) if rank > 1 else ()), *channels, *(1,) * max(rank - 2, 0)))


cdef object kernel_of_prelu(object x, object weight):
    """Composed of other operations under outer levels of vmap."""
    if (<Tensor> x).batched or (<Tensor> weight).batched:
        return x.relu() - weight * (-x).relu()
    return binary(OP_prelu_kernel, x, weight)


@op(name="prelu", methods=("prelu",), batch=batched_prelu)
def prelu(input, weight):
    """prelu(input, weight) -> Tensor: input where it is positive, else input times `weight`.

    The weight has one element, or one for each channel: the second dimension of the input.
    Source: He et al., "Delving deep into rectifiers" (2015).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.prelu(ag.tensor([[-2.0, -2.0]]), ag.tensor([0.5, 0.25]))
    tensor([[-1.0000, -0.5000]])
    """
    cdef Tensor x = as_tensor(input, "prelu"), w = tensor_argument(weight, "prelu", "weight", 2)
    cdef int rank = cnp.PyArray_NDIM(x.array)
    cdef object factor = w
    if code_of(x.array) != code_of(w.array):
        raise RuntimeError(f"prelu: Type promoting not supported. Got {type_word(code_of(x.array))} and "
                           f"{type_word(code_of(w.array))}")
    if cnp.PyArray_NDIM(w.array) > 1:
        raise RuntimeError("prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = "
                           f"{cnp.PyArray_NDIM(w.array)}")
    if cnp.PyArray_SIZE(w.array) != 1:
        if rank == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = shape_of(x)[1] if rank > 1 else 1
        if cnp.PyArray_SIZE(w.array) != channels:
            raise RuntimeError("Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                               f"{cnp.PyArray_SIZE(w.array)} and channel size = {channels}.")
    if cnp.PyArray_NDIM(w.array) and rank != 1:
        factor = w.reshape((1,) * min(rank, 1) + (-1,) * min(rank - 1, 1) + (1,) * max(rank - 2, 0))
    return binary(OP_prelu_kernel, x, factor)


@op(namespace="nn.functional", kind="elementwise")
def softsign(input):
    """softsign(input) -> Tensor: input / (1 + abs(input)).

    The gradient of real numbers is computed as 1 / (1 + abs(input))**2: the gradient of the quotient would be a difference.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.softsign(ag.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])
    """
    cdef Tensor x = as_tensor(input, "softsign")
    return unary(OP_softsign_of, x) if BOOL < code_of(x.array) < COMPLEX64 else x / (x.abs() + 1)


@op(namespace="nn.functional", kind="elementwise")
def tanhshrink(input):
    """tanhshrink(input) -> Tensor: input - tanh(input).

    Small real numbers lose no digits, unlike in the difference.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.tanhshrink(ag.tensor([0.0, 1.0]))
    tensor([0.0000, 0.2384])
    """
    cdef Tensor x = as_tensor(input, "tanhshrink")
    return unary(OP_tanhshrink_of, x) if BOOL < code_of(x.array) < COMPLEX64 else x - x.tanh()
