"""The engine's entry: run_backward() makes a task, seeds it with gradients and walks the graph backwards.

The engine knows nodes, edges and gradients; no operation, no dtype. A task counts the edges into each node reachable from the
roots (graph_task.pyx). It then runs nodes that have all of their gradients (walk.pyx), and adds the gradients of their inputs
to the buffers of their targets (propagation.pyx, input_buffer.pyx).
"""

from autograd_cy._core.batching.batched cimport BatchedTensor, BatchLevel, current_level, level_of, open_levels
from autograd_cy._core.graph.anomaly cimport check_roots_for_nan, report
from autograd_cy._core.graph.context cimport any_zero_norm, put_hooks_back
from autograd_cy._core.graph.node cimport note_backward
from autograd_cy._core.graph.record cimport is_logged, retain_grad
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.recording.events cimport ENGINE, Span, begin_named, end, recorders_on
from autograd_cy._core.runtime.free_threading cimport load_pointer
from autograd_cy._core.runtime.state cimport (
    ANOMALY, BATCHED, DETECT_NAN, FORWARD_AD, KEEP_NAN, KEEP_ZEROS, NO_GRAD, OP_HOOKS, Extent, ThreadState, check_room,
    current_mode, deepest_backward, enter_modes, has_room, in_fresh_thread, leave_modes, own_modes, thread_state)

cdef enum:
    NESTED_IN_ONE_THREAD = 20       # nested backward continues in a fresh thread at each multiple of this depth
    MOST_NOTES = 100                # notes that nested backwards add to an exception
    MOST_FRAMES = 500               # of a traceback through many nested backwards


def run_backward(*args, **kwargs):
    """run_backward(tensors, grad_tensors, keep_graph, create_graph, inputs=(), allow_unreachable, accumulate_grad)

    Walk the graph from the tensors, seeded with the gradients. With `accumulate_grad` the leaves (only `inputs`, if given) get
    their `.grad`, and the result is None. Otherwise the result is the tuple of the gradients of `inputs`.
    """
    cdef dict given = named(args, kwargs)
    return run_task(given["tensors"], given["grad_tensors"], given["keep_graph"], given["create_graph"], given["inputs"],
                    given["allow_unreachable"], given["accumulate_grad"])


cpdef object run_task(object tensors, object grad_tensors, bint keep_graph, bint create_graph, object inputs,
                      bint allow_unreachable, bint accumulate_grad, bint atomic=False):
    """run_backward() with positional arguments. `atomic`: the leaves are updated after the last node has run."""
    cdef int mode = current_mode()
    cdef GraphTask task, outer = current_task()
    check_roots(tensors, grad_tensors)
    check_inputs(inputs, accumulate_grad)
    task = new_task(outer)
    check_depth(task)
    if mode & DETECT_NAN or (mode & ANOMALY and not own_modes() & KEEP_NAN):
        task.watched = DETECTING
        check_roots_for_nan(tensors, grad_tensors, mode)
    if thread_state().mode & KEEP_ZEROS:
        task.watched |= KEEPING
    if accumulate_grad and inputs:
        for x in inputs:
            if isinstance(x, Tensor):
                retain_grad(<Tensor> x)
    cdef bint graph_of_gradients = create_graph
    if not keep_graph:
        task.number = note_backward()
    task.keep_graph = keep_graph
    task.recorded = create_graph or mode & FORWARD_AD
    if mode & FORWARD_AD and any_zero_norm() and not accumulate_grad:     # case 3 of NOTE [Norms of 0]
        task.keep_graph = graph_of_gradients = True
    if mode & BATCHED and not task.recorded:
        task.mixed = any_lifted()
        if any_batched(grad_tensors):
            task.level = None if accumulate_grad or task.mixed else only_level(grad_tensors)
            task.recorded = task.level is None
    task.accumulates = accumulate_grad
    if atomic:
        task.held = []
    task.whole = (outer is None or outer.whole) and not inputs and accumulate_grad
    if task.depth and (task.depth % NESTED_IN_ONE_THREAD == 0 or not has_room()):
        in_fresh_thread(run_from, (task, tensors, grad_tensors, graph_of_gradients, inputs))
    else:
        run_from(task, tensors, grad_tensors, graph_of_gradients, inputs)
    if accumulate_grad:
        return None
    results = finished(task, allow_unreachable)
    return results if graph_of_gradients == create_graph else without_graph(results)


cdef int check_depth(GraphTask task) except -1:
    """Refuse endless backward within backward: cases 1 and 2 of NOTE [Recursion]."""
    if task.depth == 0:
        return check_room()
    if task.depth > deepest_backward():
        raise RecursionError(
            f"maximum recursion depth exceeded: backward within backward, {deepest_backward()} levels deep. Does a hook or a "
            "Function call it without an end? (sys.setrecursionlimit() sets this limit, too)")
    return 0


cdef tuple without_graph(tuple gradients):
    """Copies, with tangents, of gradients that were recorded only for case 3 of NOTE [Norms of 0]."""
    cdef Extent extent = enter_modes(NO_GRAD, 0)
    try:
        return tuple([None if g is None else g.clone() for g in gradients])
    finally:
        leave_modes(extent)


cdef bint any_lifted() noexcept:
    """Whether gradients may become batched during this backward: case 8 of NOTE [Batching]."""
    cdef BatchLevel level = current_level()
    while level is not None:
        if level.lifted:
            return True
        level = level.outer
    return False


cdef bint any_batched(tuple gradients) except -1:
    """Whether a seed is batched."""
    for g in gradients:
        if (<Tensor> g).batched:
            return True
    return False


cdef BatchLevel only_level(tuple gradients):
    """The level at which all seeds are batched, if no other level is open; else None."""
    cdef BatchLevel level = level_of(<Tensor> gradients[0])
    for g in gradients:
        if level is None or level_of(<Tensor> g) is not level or (<BatchedTensor> g).value.batched:
            return None
    return level if open_levels() == [level] else None


cpdef object run_from(GraphTask task, tuple tensors, tuple grad_tensors, bint create_graph, tuple inputs):
    """Walk the graph with this thread's state set for the task, and restore the state afterwards."""
    cdef ThreadState *state = thread_state()
    cdef int mode = current_mode()
    cdef void *outer = state.graph_task
    cdef void *outer_node = state.node
    cdef void *outer_hooks = state.hooks_before
    cdef void *changed
    cdef Extent extent
    cdef bint recorded = recorders_on()
    cdef Run parallel
    cdef Span walk
    task.frees = not (task.keep_graph or recorded)
    _held = [target_node(x) for x in inputs]        # keeps the nodes of leaves alive
    if mode & OP_HOOKS or is_logged():                  # may raise, so before any change
        task.watched |= SEEN
    count_running(1)
    state.graph_task = <void *> task
    state.hooks_before = NULL
    extent = enter_modes(0, NO_GRAD | DETECT_NAN) if create_graph else enter_modes(NO_GRAD, DETECT_NAN)
    if recorded:
        walk = begin_named(ENGINE, "backward")
    try:
        if recorded:
            start_as_event(task, tensors, inputs)
        else:
            task.start(tensors, inputs)
        for tensor, g in zip(tensors, grad_tensors):
            if len(tensors) == 1 or leads_on(task, target_node(tensor)):        # as in PyTorch, a single root always runs
                deliver(task, target_node(tensor), target_number(tensor), g if task.recorded else as_array(task, g))
        parallel = <Run> load_pointer(<void **> &run_in_parallel)
        if recorded:
            run_as_events(task)
        elif parallel == NULL:
            run(task)
        else:
            parallel(task)
        if task.held is not None:
            update_held(task)
        if task.callbacks:
            run_callbacks(task)
    except BaseException as error:
        if task.node is not None:
            task.node.forget_common()
            if len(getattr(error, "__notes__", ())) < MOST_NOTES:
                error.add_note(f"This happened in the backward of {task.node!r}, sequence number {task.node._sequence_nr()}.")
            if mode & ANOMALY:
                report(error, task.node)
        if task.depth > NESTED_IN_ONE_THREAD:
            shorten(error.__traceback__)
        raise
    finally:
        leave_modes(extent)
        changed = state.hooks_before
        state.hooks_before = outer_hooks
        state.graph_task = outer
        state.node = outer_node
        task.clear()
        count_running(-1)
        if recorded:
            end(walk)
        if changed != NULL:
            put_hooks_back(changed)


cdef int start_as_event(GraphTask task, tuple tensors, tuple inputs) except -1:
    cdef Span span = begin_named(ENGINE, "count dependencies")
    task.start(tensors, inputs)
    end(span)
    return 0


cdef int run_callbacks(GraphTask task) except -1:
    """Call the callbacks queued for the end; they may queue more."""
    while task.callbacks:
        task.callbacks.pop(0)()
    return 0


cdef int shorten(object outermost) except -1:
    """Drop the middle of a long traceback: CPython 3.13 frees tracebacks by recursion that overflows small stacks."""
    cdef list frames = []
    traceback = outermost
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    if len(frames) > MOST_FRAMES:
        outermost.tb_next = frames[len(frames) - MOST_FRAMES // 2]
    return 0
