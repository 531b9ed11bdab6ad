"""conv_tbc: conv1d of an input (time, batch, channels)."""

cimport cython

from autograd_cy._core.arrays.dtypes cimport code_of, type_word
from autograd_cy._core.graph.node cimport Node, save_input, unpack
from autograd_cy._core.graph.record cimport needs_node, new_node, record_all, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import sample_by_sample
from autograd_cy._core.ops.registry import op


@cython.final
cdef class ConvTbcBackward0(Node):
    cdef tuple saved_names(self):
        return ("self", "weight", "bias")

    cdef tuple constant_names(self):
        return ("pad",)

    cdef object vjp(self, object g, int i):
        x, weight, pad = unpack(self, 0), unpack(self, 1), (self.constants[0],)
        if i == 2:
            return g.sum((0, 1))
        g = g.permute(1, 2, 0)
        if i == 0:
            return convolution(g, weight.permute(2, 1, 0), None, (1,), pad, (1,), True, (0,), 1).permute(2, 0, 1)
        sizes = tuple(weight.shape[:1])
        return weight_gradient(x.permute(1, 2, 0), g, sizes, (1,), pad, (1,), 1).permute(2, 1, 0)


cdef int check_tbc_operands(tuple own, tuple weight, tuple bias) except -1:
    if len(own) != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if len(weight) != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if len(bias) != 1:
        raise RuntimeError("Bias must be 1-D")
    if own[2] != weight[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if weight[2] != bias[0]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    return 0


@op(batch=sample_by_sample)
def conv_tbc(input, weight, bias, pad: int = 0):
    """conv_tbc(input, weight, bias, pad=0) -> Tensor: conv1d() of an input (time, batch, channels).

    `weight` is (k, channels, filters), `bias` has an element for each filter; `pad` zeros precede and follow the times.
    RuntimeError for sizes that don't fit.

    >>> import autograd_cy as ag
    >>> ag.conv_tbc(ag.tensor([[[1.0]], [[2.0]], [[4.0]]]), ag.tensor([[[-1.0]], [[1.0]]]), ag.zeros(1)).flatten()
    tensor([1., 2.])
    """
    cdef Tensor x = tensor_argument(input, "conv_tbc", "input", 1), w = tensor_argument(weight, "conv_tbc", "weight", 2)
    cdef Tensor b = tensor_argument(bias, "conv_tbc", "bias", 3), y
    cdef tuple padding = integers((pad,), "conv_tbc", "pad", 4), own = shape_of(x), weights = shape_of(w), sizes
    cdef cnp.ndarray result
    cdef Node node
    check_tbc_operands(own, weights, shape_of(b))
    if code_of(w.array) != code_of(x.array):
        raise RuntimeError(f"self and mat2 must have the same dtype, but got {type_word(code_of(x.array))} and "
                           f"{type_word(code_of(w.array))}")
    check_types(x, w, b, False)
    if padding[0] < 0:
        raise RuntimeError(f"conv_tbc(): expected a pad of 0 or more, got {padding[0]}")
    sizes = (own[1], weights[2], own[0] + 2 * padding[0] - weights[0] + 1)
    if sizes[2] < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {sizes[2]}: {[sizes[2], own[1], weights[2]]}")
    check_memory(sizes, "conv_tbc")
    result = computed(x.array.transpose(1, 2, 0), w.array.transpose(2, 1, 0), b.array, (1,), padding, (1,), False, 1, sizes,
                      False)
    y = new_tensor(result.transpose(2, 0, 1).copy())
    if not (needs_node(x) or needs_node(w) or needs_node(b)):
        return y
    node = new_node(ConvTbcBackward0, padding)
    save_input(node, 0, x)
    save_input(node, 1, w)
    save_input(node, 2, b)
    return record_all(node, y, (x, w, b))
