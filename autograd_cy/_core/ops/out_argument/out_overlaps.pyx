"""Refusing an `out` that shares memory with an operand, by the rules of out_rules.py: for operations that PyTorch computes
in `out` itself, reading elements in another order than it writes them.
"""

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.writes.inplace cimport check_apart, check_memory


cdef int check_overlaps(Tensor out, str rule, tuple args, dict kwargs) except -1:
    """Refuse operands of a call that share memory with `out`."""
    cdef object whole = None                    # the operand that `out` may be
    if rule is None:
        return 0
    if rule == "joined":
        return check_apart(out, tuple(args[0] if args else kwargs["tensors"]))
    if rule == "write":
        whole = args[0] if args else kwargs.get("input")
    elif rule == "gather":
        whole = args[2] if len(args) > 2 else kwargs.get("index")
    if isinstance(whole, Tensor):
        check_memory(out.array, (<Tensor> whole).array)
    return check_apart(out, tuple([x for x in (*args, *kwargs.values()) if x is not whole]))
