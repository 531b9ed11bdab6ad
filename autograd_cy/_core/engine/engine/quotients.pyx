"""The quotient of the gradient of f(y) and y where both are 0, for the second derivative of f(norm(x)) at 0.

NOTE [Norms of 0]
The gradient of a norm, distance or deviation y = |x| is x (g / y) for an incoming gradient g = f'(y). At x = 0 the
gradient is 0 for any g / y, but its derivative is g / y itself: 2 for f = y**2. By l'Hopital's rule that is
dg/dy = f''(0), which a backward of g computes.
  1. The quotient is computed only in a recorded backward, where y and g are 0. If g isn't 0, f(|x|) has no gradient at 0.
  2. Second and third derivatives are right. The fourth is not: f'(y) / y continues with f''''(0) y**2 / 6, but f''(y) with
     f''''(0) y**2 / 2.
  3. Forward over reverse mode needs the backward of g, too, although the caller didn't ask for a recorded backward. So a norm
     that is 0 within dual levels is noted (`note_zero_norm`), and grad() is recorded until these levels are closed.
  4. Forward over forward and reverse over forward mode have no g: the second derivative is 0 there. So it is in a product of
     two norms that were computed one after the other: the gradient of each is the other, which doesn't depend on it.
  5. abs() doesn't save its result, so the second derivative of f(abs(x)) is 0 at 0, of complex numbers, too.
"""

import numpy as np

from autograd_cy._core.batching.batched cimport values_of
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor, wants_grad
from autograd_cy._core.runtime.state cimport DETECT_NAN, OP_HOOKS, Extent, enter_modes, leave_modes

from autograd_cy._core.graph.samples import SampleTakenForAll

cdef enum:
    DEEPEST = 3                     # a limit of a limit ...: each one doubles the work


cdef object limit_of_quotient(Node node, object g, object y):
    """g / y where both are 0, and 0 elsewhere; None if it is 0 everywhere."""
    cdef GraphTask task = current_task()
    cdef Extent extent
    if task is None or not task.keep_graph or not wants_grad(values_of(<Tensor> g)) or np.all((<Tensor> y).array):
        return None
    if (<Tensor> g).batched:
        raise SampleTakenForAll
    zero = (y == 0) & (g == 0)
    if depth_of_limits(task, node) == DEEPEST or not zero.any():
        return None
    extent = enter_modes(0, DETECT_NAN | OP_HOOKS)
    try:
        limit, = run_task((g,), (zero.to(g.dtype),), True, True, (y,), True, False)
    finally:
        leave_modes(extent)
    if limit is None:
        return None
    return limit.where(zero & limit.isfinite(), 0)


cdef int depth_of_limits(GraphTask task, Node node) except -1:
    """How many of the enclosing tasks were started here, for nodes of the same class."""
    cdef int depth = 0
    while task.outer_node != NULL and type(<Node> task.outer_node) is type(node):
        depth += 1
        task = task.outer
    return depth
