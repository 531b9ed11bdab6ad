"""Which operations refuse an `out` that shares memory with an operand (knows no operation): those that PyTorch computes in
`out` itself, reading elements in another order than it writes them.
"""

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.ops.out_types cimport JOINED
from autograd_cy._core.writes.inplace cimport check_apart, check_memory

cdef frozenset SELECTIONS = frozenset("gather index_select masked_select take take_along_dim".split())
cdef frozenset WRITES = frozenset((
    "index_add index_copy index_reduce scatter scatter_add scatter_reduce").split())     # `out` may be their input itself


cdef int check_overlaps(Tensor out, str name, tuple args, dict kwargs) except -1:
    """Refuse operands of a call that share memory with `out`."""
    cdef object whole = None                    # the operand that `out` may be
    if name in JOINED:
        return check_apart(out, tuple(args[0] if args else kwargs["tensors"]))
    if name in WRITES:
        whole = args[0] if args else kwargs.get("input")
    elif name == "gather":
        whole = args[2] if len(args) > 2 else kwargs.get("index")
    elif name not in SELECTIONS:
        return 0
    if isinstance(whole, Tensor):
        check_memory(out.array, (<Tensor> whole).array)
    return check_apart(out, tuple([x for x in (*args, *kwargs.values()) if x is not whole]))
