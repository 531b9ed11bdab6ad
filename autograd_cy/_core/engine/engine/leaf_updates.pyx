"""Adding gradients to a leaf's `.grad`, with the hooks around it: at once, or for all leaves at the end of a task.

An atomic task (`backward(atomic=True)`) holds its leaves' gradients back until the last node has run. It then checks all of
them before it adds any. So a node or hook that fails earlier leaves every leaf unchanged.
"""

from autograd_cy._core.graph.memory cimport is_sparse
from autograd_cy._core.graph.node cimport (
    Node, NodeHooks, existing_hooks, held_at, leaf_of, post_accumulate_slot, post_hooks_slot, pre_hooks_slot)
from autograd_cy._core.graph.record cimport (
    observe_end, observe_start, run_post_accumulate_hooks, run_post_hooks, run_pre_hooks)
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.runtime.state cimport thread_state


cdef class Update:
    """A gradient that arrived at a leaf."""
    cdef Node node
    cdef object g               # an array, or a Tensor if the task records or it is sparse; None: no gradient
    cdef tuple gradients        # the gradients that hooks see, None if there are no hooks
    cdef bint is_first          # it became the leaf's first `.grad`


cdef int update_leaf(GraphTask task, Node node, object g, bint seen) except -1:
    """Add the gradient to the leaf's `.grad`, with all hooks if `seen`; an atomic task does so later."""
    cdef Update update = Update.__new__(Update)
    update.node, update.g = node, g
    g = None                                # now only the update refers to it
    if seen:
        run_before(task, update)
    if task.held is not None:
        task.held.append(update)
        return 0
    add(task, update)
    return run_after(task, update)


cdef int update_held(GraphTask task) except -1:
    """Add all gradients held back: none if any of them can't be added."""
    cdef Update update
    for update in task.held:
        begin(task, update)
        if update.g is not None:
            check_accumulate(leaf_of(update.node), update.g, task.recorded)
    for update in task.held:
        begin(task, update)
        add(task, update)
    for update in task.held:
        begin(task, update)
        run_after(task, update)
    task.node = None
    thread_state().node = NULL
    return 0


cdef int begin(GraphTask task, Update update) except -1:
    """Make the leaf's node the current node, for errors and queries."""
    task.node = update.node
    thread_state().node = <void *> update.node
    return 0


cdef int run_before(GraphTask task, Update update) except -1:
    """Run the hooks that may change the gradient."""
    cdef NodeHooks hooks = existing_hooks(update.node)
    update.gradients = (as_seen(task, update.g),)
    update.g = None
    if hooks is not None and held_at(pre_hooks_slot(hooks)):
        update.gradients = run_pre_hooks(hooks, update.gradients)
    if task.watched & SEEN:
        observe_start(update.node, update.gradients)
    g = update.gradients[0]
    if g is not None:
        # the Tensor also refers to the array, so `.grad` gets a copy
        update.g = g if task.recorded or is_sparse(g) else (<Tensor> g).array
    return 0


cdef int add(GraphTask task, Update update) except -1:
    cdef Tensor leaf = leaf_of(update.node)
    cdef object g = update.g
    update.g = None
    if g is not None:
        update.is_first = leaf.gradient is None
        accumulate(leaf, g, task.recorded)
    return 0


cdef int run_after(GraphTask task, Update update) except -1:
    """Run the hooks that see the new `.grad`."""
    cdef NodeHooks hooks = existing_hooks(update.node)
    cdef Tensor leaf = leaf_of(update.node)
    cdef Tensor first = leaf.gradient if update.is_first else None
    if update.gradients is None:
        return 0
    if hooks is not None and held_at(post_accumulate_slot(hooks)):
        run_post_accumulate_hooks(hooks, leaf)
        if first is not None and not task.recorded and not is_sparse(first):
            update.gradients = (new_tensor(first.array),)   # as in PyTorch, post hooks see a first `.grad` as these left it
    if hooks is not None and held_at(post_hooks_slot(hooks)):
        run_post_hooks(hooks, (), update.gradients)
    if task.watched & SEEN:
        observe_end(update.node, (), update.gradients)
    return 0
