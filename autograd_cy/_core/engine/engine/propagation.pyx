"""Computing the gradients of a node's inputs from its incoming gradient, and delivering them.

A gradient is an array while nothing records it, else a Tensor. Lists hold the gradients of a node with several outputs.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF

from autograd_cy._core.arrays.buffers cimport is_ours, keep_spare
from autograd_cy._core.batching.batched cimport BatchLevel, at_level_or_expanded, batched, level_of
from autograd_cy._core.batching.rules cimport sample_of, stacked
from autograd_cy._core.engine.ready_queue cimport push
from autograd_cy._core.graph.memory cimport is_sparse, sparse_type
from autograd_cy._core.graph.node cimport AccumulateGrad, Node, Request, Scratch, existing_hooks, leaf_of
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.graph.samples import SampleTakenForAll


cdef int deliver(GraphTask task, Node node, int output, object g) except -1:
    """Deliver a gradient (or None) to a node, which becomes ready with its last one."""
    cdef Scratch *scratch = notes_of(task, node)
    if g is not None:
        add_gradient(scratch, node, output, g, task.recorded)
    scratch.dependencies -= 1
    if scratch.dependencies == 0:
        push(&task.ready, node.sequence_number, <PyObject *> node)
    return 0


cdef int propagate(GraphTask task, Node node, PyObject *incoming) except -1:
    """Compute and deliver the gradients of a node's inputs one by one. Takes over a reference to the incoming one."""
    cdef int i = 0, following
    cdef Node target = find_wanted(task, node, &i), next_target
    cdef object result, g = <object> incoming
    Py_DECREF(g)
    while target is not None:
        following = i + 1
        next_target = find_wanted(task, node, &following)
        result = None if g is None else gradient_for(task, node, i, g, next_target is None, target)
        if next_target is None:
            keep_spare(<PyObject *> g)
            g = None            # so that the caller of deliver has the only reference to the result, even if it is `g`
        deliver(task, target, node.next_number(i), result)
        keep_spare(<PyObject *> result)
        result = None
        i, target = following, next_target
    return 0


cdef object gradient_for(GraphTask task, Node node, int i, object g, bint last, Node target):
    """The gradient for input `i`; None if there is none, or if it was already added at the target.

    The caller holds one reference to `g`. Only the last gradient of a node may be added to a `.grad` directly: an earlier one
    can still fail.
    """
    cdef Request request
    cdef Scratch *scratch
    if task.recorded:
        return vjp_of_tensors(node, g, i)
    if (task.mixed or sparse_type != NULL) and holds_tensor(g):
        return gradient_of_mixed(task, node, g, i)
    request = Request(last and is_ours(<PyObject *> g), not task.keep_graph, NULL, False, False)
    if task.level is not None:
        return gradient_of_samples(task, node, g, i, &request)
    scratch = notes_of(task, target)
    if scratch.buffer != NULL:
        return vjp_into_buffer(scratch, node, i, g, &request)
    if (last and type(target) is AccumulateGrad and scratch.dependencies == 1 and not scratch.captured
            and existing_hooks(target) is None and task.held is None):
        return vjp_into_grad(leaf_of(target), node, i, g, &request)
    return node.vjp_array(g, i, &request)


cdef bint holds_tensor(object g) except -1:
    """Whether a gradient, or one of several, is a batched or sparse Tensor rather than an array."""
    if type(g) is not list:
        return isinstance(g, Tensor)
    for part in g:
        if isinstance(part, Tensor):
            return True
    return False


cdef object gradient_of_mixed(GraphTask task, Node node, object g, int i):
    """The gradient for input `i`, computed by operations on tensors, some of them batched or sparse."""
    result = vjp_of_tensors(node, [as_seen(task, part) for part in g] if type(g) is list else as_seen(task, g), i)
    return as_array(task, result)


cdef object gradient_of_samples(GraphTask task, Node node, object g, int i, Request *request):
    """The gradient for input `i`, for all samples at the task's level: case 5 of NOTE [Batching]."""
    cdef object result
    if type(g) is list:
        return as_array(task, vjp_of_tensors(node, [as_seen(task, part) for part in g], i))
    result = node.vjp_samples(<cnp.ndarray> g, i, request)
    return result if result is not None else as_array(task, vjp_of_tensors(node, as_seen(task, g), i))


cdef object gradient_apart(GraphTask task, Node node, object g, int i):
    """The gradient for input `i` as an array, computed without overwriting or consuming any memory."""
    cdef Request request = Request(False, False, NULL, False, False)
    if (task.mixed or sparse_type != NULL) and holds_tensor(g):
        return gradient_of_mixed(task, node, g, i)
    if task.level is not None:
        return gradient_of_samples(task, node, g, i, &request)
    return node.vjp_array(g, i, &request)


cdef object as_array(GraphTask task, object x):
    """The inverse of `as_seen`."""
    if x is None:
        return None
    if is_sparse(x):
        return x
    if task.level is None:
        return x if (<Tensor> x).batched else (<Tensor> x).array
    return (<Tensor> at_level_or_expanded(<Tensor> x, task.level)).array


cdef object vjp_of_tensors(Node node, object g, int i):
    """node.vjp(g, i), computed sample by sample if the node has no batching rule for it."""
    if sparse_type != NULL:
        g = strided(g)
    try:
        return node.vjp(g, i)
    except SampleTakenForAll:
        return vjp_by_samples(node, g, i, False)


cdef object vjp_of_zeros(Node node, object g, int i):
    """`vjp_of_tensors` under NOTE [Zeros that stay]."""
    if sparse_type != NULL:
        g = strided(g)
    try:
        return node.vjp_of_zeros(g, i)
    except SampleTakenForAll:
        return vjp_by_samples(node, g, i, True)


cdef object strided(object g):
    """Make sparse gradients dense, because a node's rule can't take them: case 3 of NOTE [Sparse tensors]."""
    if type(g) is list:
        return [strided(part) for part in g]
    return g.to_dense() if is_sparse(g) else g


cdef object vjp_by_samples(Node node, object g, int i, bint of_zeros):
    """node.vjp(g, i), or vjp_of_zeros, for each sample of a batch separately."""
    cdef BatchLevel level = None
    cdef list results = []
    cdef Py_ssize_t k
    for x in g if type(g) is list else [g]:
        if x is not None and (<Tensor> x).batched and (level is None or level_of(<Tensor> x).number > level.number):
            level = level_of(<Tensor> x)
    if level is None:
        raise RuntimeError(f"{node.name()} took a tensor for a batched one")
    for k in range(level.size):
        parts = [sample_of(x, level, k) for x in (g if type(g) is list else [g])]
        part = parts if type(g) is list else parts[0]
        part = vjp_of_zeros(node, part, i) if of_zeros else vjp_of_tensors(node, part, i)
        results.append(sample_of(part, level, k))       # the node may have saved tensors with all samples
    return None if not results or results[0] is None else batched(stacked(results), level)
