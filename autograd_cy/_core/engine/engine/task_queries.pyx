"""What hooks and Functions can query about the running backward, and which nodes a backward would run."""

from cpython.mem cimport PyMem_Malloc
from cpython.object cimport PyObject
from libc.string cimport memcpy

from autograd_cy._core.engine.ready_queue cimport Ready, ReadyQueue, free_queue, pop, push
from autograd_cy._core.graph.node cimport AccumulateGrad, Node, gradient_node, leaf_of, target_of
from autograd_cy._core.graph.tensor cimport Tensor, extras_of_tensor, has_extras, wants_grad
from autograd_cy._core.runtime.state cimport ThreadState, thread_state


cdef GraphTask needed_task(str caller):
    cdef GraphTask task = current_task()
    if task is None:
        raise RuntimeError(f"{caller} should only be called during the backward pass")
    return task


def current_node():
    """current_node() -> Node or None: the node that runs in this thread; None outside of backward.

    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> handle = x.register_hook(lambda g: print(ag.autograd.graph.current_node()))
    >>> (x * 2).backward()
    <AccumulateGrad>
    """
    cdef ThreadState *state = thread_state()
    return None if state.graph_task == NULL or state.node == NULL else <Node> state.node


def current_graph_task_id():
    """current_graph_task_id() -> int: the number of the backward that runs in this thread; -1 outside of backward.

    >>> import autograd_cy as ag
    >>> ag.autograd.graph.current_graph_task_id()
    -1
    """
    cdef GraphTask task = current_task()
    return -1 if task is None else task.id


def task_notes():
    """task_notes() -> dict: a dict for hooks that lasts as long as the running backward.

    RuntimeError outside of backward.

    >>> import autograd_cy as ag
    >>> x, w = ag.ones(1, requires_grad=True), ag.ones(1, requires_grad=True)
    >>> def count(g):
    ...     notes = ag.autograd.graph.task_notes()
    ...     notes["hooks"] = notes.get("hooks", 0) + 1
    ...     print(notes)
    >>> handles = [t.register_hook(count) for t in (x, w)]
    >>> (x * w).backward()
    {'hooks': 1}
    {'hooks': 2}
    """
    cdef GraphTask task = needed_task("task_notes()")
    if task.notes is None:
        task.notes = {}
    return task.notes


def is_checkpoint_valid():
    """Whether no running backward was given inputs: then a checkpoint may run a nested backward on its part of the graph."""
    cdef GraphTask task = current_task()
    return task is None or task.whole


def queue_callback(callback):
    """Call `callback()` after the last node of the running backward; not if the backward fails before that."""
    cdef GraphTask task = current_task()
    if task is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    if not callable(callback):
        raise TypeError(f"queue_callback(): a callback must be callable, not {type(callback).__name__}")
    if task.callbacks is None:
        task.callbacks = []
    task.callbacks.append(callback)


def will_execute(Node node not None):
    """will_execute(node) -> bool: whether the running backward will need or has needed a gradient for this node.

    RuntimeError outside of backward.

    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> y, z = x * 2, x * 3
    >>> handle = x.register_hook(lambda g: print([ag.autograd.graph.will_execute(t.grad_fn) for t in (y, z)]))
    >>> y.backward()
    [True, False]
    """
    cdef GraphTask task = needed_task("will_execute()")
    cdef Py_ssize_t k
    if task.reaches(node):
        return leads_on(task, node)
    for k in range(task.n_visited):
        if task.visited[k] == <PyObject *> node:
            return True                     # it ran already
    return False


def is_captured_leaf(Node node not None):
    """Whether the running grad() captures the gradient of this leaf instead of running its node."""
    cdef GraphTask task = needed_task("is_captured_leaf()")
    return type(node) is AccumulateGrad and task.reaches(node) and notes_of(task, node).captured != 0


def keeps_graph():
    """Whether the running backward retains the graph; True outside of backward."""
    cdef GraphTask task = current_task()
    return True if task is None else task.keep_graph


def execution_order():
    """execution_order() -> list: the nodes that the running backward has yet to run, in order, the current one first.

    RuntimeError outside of backward, and where several threads run the nodes.

    >>> import autograd_cy as ag
    >>> y = ag.ones(1, requires_grad=True) * 2
    >>> handle = y.register_hook(lambda g: print(ag.autograd.graph.execution_order()))
    >>> y.exp().backward()
    [<MulBackward0>, <AccumulateGrad>]
    """
    cdef GraphTask task = needed_task("execution_order()")
    if task.walk is not None:
        raise RuntimeError("execution_order(): several threads run the nodes of this backward; there is an order within "
                           "autograd.set_multithreading_enabled(False)")
    return order_of(task)


def planned_order(tuple roots, tuple inputs, bint accumulates):
    """[(node, whether it runs itself), ...] in the order of a backward, without running it."""
    cdef GraphTask task = new_task(None)
    cdef Node node
    check_ends(roots)
    check_inputs(inputs)
    _held = [target_node(x) for x in inputs]
    task.accumulates = accumulates
    count_running(1)
    try:
        task.start(roots, inputs)
        for node in task.roots:
            notes_of(task, node).dependencies -= 1
            if notes_of(task, node).dependencies == 0:
                push(&task.ready, node.sequence_number, <PyObject *> node)
        order = order_of(task)
        return [(node, not task.selective or bool(notes_of(task, node).needed)) for node in order]
    finally:
        task.clear()
        count_running(-1)


cdef list order_of(GraphTask task):
    """The order in which the engine would run the remaining nodes; counts remaining edges in a dict."""
    cdef ReadyQueue queue = copied_queue(&task.ready)
    cdef Node node = task.node, target
    cdef list order = []
    cdef dict left = {}
    cdef int i
    try:
        while node is not None or queue.size:
            if node is None:
                node = <Node> pop(&queue)
            order.append(node)
            for i in range(node.n_edges):
                target = target_of(node, i)
                if target is not None and leads_on(task, target):
                    left[target] = left.get(target, notes_of(task, target).dependencies) - 1
                    if left[target] == 0:
                        push(&queue, target.sequence_number, <PyObject *> target)
            node = None
    finally:
        free_queue(&queue)
    return order


cdef ReadyQueue copied_queue(ReadyQueue *queue) except *:
    cdef ReadyQueue copy = ReadyQueue(NULL, queue.size, queue.size + 1)
    copy.items = <Ready *> PyMem_Malloc(copy.room * sizeof(Ready))
    if copy.items == NULL:
        raise MemoryError("no memory for the ready queue")
    if queue.size:
        memcpy(copy.items, queue.items, queue.size * sizeof(Ready))
    return copy


cdef bint is_argument_node(Node node) except -1:
    """Whether the node accumulates for a leaf that end_arguments() marked."""
    cdef Tensor leaf
    if type(node) is not AccumulateGrad:
        return False
    leaf = leaf_of(node)
    return has_extras(leaf) and leaf.extras.is_argument


def end_arguments(tuple leaves):
    """end_arguments(leaves): mark the leaves of a transform whose function has returned; no other code uses them."""
    for leaf in leaves:
        extras_of_tensor(<Tensor> leaf).is_argument = True


cdef int claim_roots(GraphTask walk, tuple roots) except -1:
    """Add the nodes of roots that require grad to the walk."""
    for root in roots:
        if wants_grad(<Tensor> root):
            walk.claim(gradient_node(<Tensor> root))
    return 0


cdef int claim_targets(GraphTask walk, Node node) except -1:
    """Add the targets of a node to the walk. Returns how many it has."""
    cdef Node target
    cdef int i, n = 0
    for i in range(node.n_edges):
        target = target_of(node, i)
        if target is not None:
            walk.claim(target)
            n += 1
    return n


def depends_on_others(tuple roots, tuple leaves):
    """depends_on_others(roots, leaves) -> bool: whether the roots depend on a leaf that is none of these.

    The leaves of transforms whose functions have returned don't count. A node without targets counts as a leaf: a view that
    was made of a leaf under no_grad() requires grad without an edge to it, and may be an argument of an outer transform.
    """
    cdef GraphTask walk = GraphTask.__new__(GraphTask)
    cdef list held = [gradient_node(<Tensor> leaf) for leaf in leaves if (<Tensor> leaf).grad_fn is None]
    cdef Py_ssize_t k = 0
    cdef Node node
    count_running(1)                    # so that no node is freed meanwhile
    try:
        for node in held:
            walk.claim(node).captured = True
        claim_roots(walk, roots)
        while k < walk.n_visited:
            node = <Node> walk.visited[k]
            k += 1
            if claim_targets(walk, node) == 0 and not notes_of(walk, node).captured and not is_argument_node(node):
                return True
        return False
    finally:
        walk.clear()
        count_running(-1)


def depends_on_any(tuple roots, tuple tensors):
    """depends_on_any(roots, tensors) -> bool: whether the roots have a gradient by one of the tensors."""
    cdef GraphTask walk = GraphTask.__new__(GraphTask)
    cdef set wanted = {gradient_node(<Tensor> x) for x in tensors}
    cdef Py_ssize_t k = 0
    cdef Node node
    count_running(1)
    try:
        claim_roots(walk, roots)
        while k < walk.n_visited:
            node = <Node> walk.visited[k]
            k += 1
            if node in wanted:
                return True
            claim_targets(walk, node)
        return False
    finally:
        walk.clear()
        count_running(-1)
