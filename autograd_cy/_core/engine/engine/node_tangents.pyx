"""The tangents of a node's outputs from those of its inputs: by its jvp, or derived from its vjp.

vjp(v) is linear in v, so its gradient by v, seeded with the inputs' tangents t, is the adjoint of the adjoint: the output's
tangent, for any v. Source: Townsend, "A new trick for calculating Jacobian vector products" (2017).
"""

import numpy as np

from autograd_cy._core.arrays.dtypes cimport code_of, is_differentiable
from autograd_cy._core.batching.rules cimport jvp_by_samples
from autograd_cy._core.graph.memory cimport is_sparse
from autograd_cy._core.graph.node cimport Node
cimport autograd_cy._core.graph.node as node_module
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor, wants_grad
from autograd_cy._core.runtime.state cimport (
    KEEP_ZEROS, NO_GRAD, OP_HOOKS, Extent, current_mode, enter_modes, leave_modes, thread_state)

from autograd_cy._core.graph.samples import SampleTakenForAll


cdef tuple tangents_of(Node node, tuple tangents, tuple outputs):
    """The tangents of a node's outputs (of those that are not None), from the inputs' tangents."""
    cdef tuple found
    try:
        result = node.jvp(tangents)
    except SampleTakenForAll:
        result = jvp_by_samples(node, tangents, outputs)
    except NotImplementedError as error:
        if "forward AD" in str(error):
            raise
        raise NotImplementedError(f"Trying to use forward AD with {node.name()} that does not support it because it has not "
                                  f"been implemented yet. ({error})") from None
    if result is NotImplemented:
        found = tangents_by_vjp(node, tangents, outputs)
    else:
        found = result if isinstance(result, tuple) else (result,)
    if thread_state().mode & KEEP_ZEROS and not node.joint and any_may_be_nan(found):
        return node.jvp_of_zeros(tangents, found)
    return found


cdef bint any_may_be_nan(tuple tangents) except -1:
    """Whether a tangent has a NaN; batched and sparse tangents count as if they had."""
    for t in tangents:
        if t is not None and ((<Tensor> t).batched or is_sparse(t) or (t != t).any()):
            return True
    return False


cdef tuple tangents_by_vjp(Node node, tuple tangents, tuple outputs):
    """The tangent of each output (None: not requested) from the inputs' tangents; recorded in grad mode."""
    cdef bint recorded = not current_mode() & NO_GRAD
    cdef list seeds = [None if y is None else seed_like(<Tensor> y) for y in outputs]
    cdef list asked = [v for v in seeds if v is not None], gradients = [], directions = []
    cdef Extent extent = enter_modes(0, NO_GRAD | OP_HOOKS)
    cdef int i
    try:
        for i in range(len(tangents)):
            if tangents[i] is not None:
                gradient = node.vjp(seeds if len(seeds) > 1 else seeds[0], i)
                if gradient is not None and wants_grad(<Tensor> gradient):
                    gradients.append(gradient)
                    directions.append(tangents[i])
        found = (None,) * len(asked)
        if gradients:
            found = run_task(tuple(gradients), tuple(directions), False, recorded, tuple(asked), True, False)
    finally:
        leave_modes(extent)
    results = iter(found)
    return tuple([None if v is None else next(results) for v in seeds])


cdef Tensor seed_like(Tensor y):
    """A leaf with the shape and dtype of `y`; None for a dtype without gradients."""
    cdef Tensor v
    if not is_differentiable(code_of(y.array)):
        return None
    v = new_tensor(np.zeros_like(y.array))
    v.needs_grad = True
    return v


node_module.tangents_of = tangents_of
