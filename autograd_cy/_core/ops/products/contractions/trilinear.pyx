"""nn.functional.bilinear: a sum of products of three tensors."""

from math import prod

from autograd_cy._core.graph.record cimport shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor

from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op


@op(namespace="nn.functional", batch=COMPOSITE)
def bilinear(input1, input2, weight, bias=None):
    """bilinear(input1, input2, weight, bias=None) -> Tensor: y[k] = input1 @ weight[k] @ input2 + bias[k].

    Shapes (*, in1), (*, in2), (out, in1, in2) and (out,) give (*, out). RuntimeError for other sizes or different dtypes.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.bilinear(ag.ones(1, 2), ag.ones(1, 3), ag.ones(1, 2, 3), ag.ones(1))
    tensor([[7.]])
    """
    cdef Tensor a = tensor_argument(input1, "bilinear", "input1", 1), b = tensor_argument(input2, "bilinear", "input2", 2)
    cdef Tensor w = tensor_argument(weight, "bilinear", "weight", 3)
    cdef Tensor c = None if bias is None else tensor_argument(bias, "bilinear", "bias", 4)
    check_bilinear(shape_of(a), shape_of(b), shape_of(w), None if c is None else shape_of(c))
    check_types(a, b, w, c)
    n, (k, i, j) = prod(shape_of(a)[:-1]), shape_of(w)
    y = einsum("ni,kij,nj->nk", a.reshape(n, i), w, b.reshape(n, j)).reshape(*shape_of(a)[:-1], k)
    return y if c is None else y + c


cdef int check_bilinear(tuple a, tuple b, tuple w, tuple bias) except -1:
    cdef int dim
    if len(w) != 3:
        raise RuntimeError(f"bilinear(): weight must have 3 dimensions, but got {len(w)}")
    if len(a) != len(b):
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {len(a)} and {len(b)}")
    if not a:
        raise RuntimeError("bilinear(): inputs must have at least 1 dimension")
    for dim in range(len(a) - 1):
        if a[dim] != b[dim]:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {dim}: got {a[dim]} and {b[dim]}")
    for name, size, expected in (("input1", a[-1], w[1]), ("input2", b[-1], w[2])):
        if size != expected:
            raise RuntimeError(f"bilinear(): {name} size does not match weight size: got {size} but expected {expected}")
    if bias is not None and bias != w[:1]:
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got {bias[0] if bias else 1} but expected "
                           f"{w[0]}")
    return 0


cdef int check_types(Tensor a, Tensor b, Tensor w, Tensor bias) except -1:
    types = {"input1": a.dtype, "input2": b.dtype, "weight": w.dtype}
    if bias is not None:
        types["bias"] = bias.dtype
    if len(set(types.values())) > 1:
        raise RuntimeError("All tensors must have the same dtype, got "
                           + ", ".join([f"{name}: {str(dtype).removeprefix('torch.')}" for name, dtype in types.items()]))
    return 0
