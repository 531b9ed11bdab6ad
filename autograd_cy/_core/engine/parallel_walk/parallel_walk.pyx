"""A backward that several threads walk.

NOTE [Parallel walk]
The caller is one of the threads; the others are workers (engine_pool.pyx). The GIL protects all shared data; threads gain
where nodes release it: Functions that wait, products, long loops. Without a GIL the lock of the Walk replaces it, and is
released at the same places.
  1. The serial order is computed first (walk_plan.pyx): each node has a rank, and each gradient a turn among those that go
     to its node. A thread takes the ready node of the lowest rank. A gradient that arrives before its turn is put aside; a
     missing one (None) uses a turn, too. So sums are bitwise those of the serial walk, whichever thread computes a term.
  2. A node that may add its gradient to a part of the sum (`added_to_parts`) starts when its turn has come: a -0.0 elsewhere
     in the sum stays as it is.
  3. Code that depends on the order of nodes waits until all nodes of lower rank have run (`take_turn`): random numbers, and
     unpack hooks, such as a checkpoint's. Its thread sleeps, and another one may be called in its place.
  4. After an error nodes of higher rank don't start, but those of lower rank do, so the error is that of the serial walk.
     Nodes of higher rank may already have run and added to `.grad`. After KeyboardInterrupt and similar no node starts.
  5. Each thread has the caller's modes and a copy of its context; what it sets there is lost. Hooks of different branches
     may run at the same time. Callbacks run last, in the caller's thread.
  6. Threads are used only if they pay. A walk begins in the caller alone. It switches to several threads when two nodes are
     ready and the next one is of a kind (class, size of the gradient) that took long before, or is user code that was never
     timed. If the walk's processor time is then about its elapsed time, threads may have waited for each other: such walks
     are timed both ways. After several walks in a row without a long node, only one in sixteen looks for one.
  7. One thread runs everything if gradients are recorded (the numbers of their nodes would depend on timing), within vmap
     and dual levels, with observers of all operations, and while a profiler records.
"""

from _thread import allocate_lock
from contextvars import copy_context

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF

from autograd_cy._core.arrays.buffers cimport is_ours, keep_spare
from autograd_cy._core.engine.engine cimport (
    GraphTask, accumulate, add_gradient, as_array, current_task, find_wanted, give_up_saved, gradient_for, gradients_together,
    is_seen, leads_on, notes_of, searched_gradient, taken_out, update_leaf)
from autograd_cy._core.engine.ready_queue cimport pop, push
from autograd_cy._core.graph.node cimport BOXED, AccumulateGrad, Node, Request, Scratch, leaf_of, target_of
from autograd_cy._core.runtime cimport numpy_api as cnp
cimport autograd_cy._core.runtime.state as state_module
from autograd_cy._core.runtime.free_threading cimport (
    FREE_THREADED, Hold, add_int, hold, let_go, open_to_all, store_pointer)
from autograd_cy._core.runtime.state cimport ThreadState, thread_state, travelling

from autograd_cy._core.graph.node import added_to_parts


state_module.turn_taker = NULL

cdef int n_walks = 0
cdef object pace = None             # for tests: called before each node; every walk is then parallel
cdef object pace_lock = object()


@cython.final
cdef class Walk(Crew):
    """What the threads compute: the engine's `evaluate_node` and what it calls, with gradients delivered in turn."""

    cdef int evaluate(self, Node node, Place *place) except -1:
        """The engine's `evaluate_node`, with gradients delivered in turn."""
        cdef GraphTask task = self.task
        cdef bint needed, watched
        cdef PyObject *incoming
        cdef object g = taken_out(task, node, &needed, &watched)
        if not needed:
            return 0
        if type(node) is AccumulateGrad:
            if watched and is_seen(task, node):
                update_leaf(task, node, g, True)
            elif task.held is not None:
                update_leaf(task, node, g, False)
            elif g is not None:
                accumulate(leaf_of(node), g, False)
            return 0
        if node.joint == BOXED and type(g) is not list:
            g = [g] * node.n_outputs
        if watched and not node.joint and not is_seen(task, node):
            self.hand_on_searched(node, place, g)
        else:
            Py_INCREF(g)
            incoming = <PyObject *> g
            g = None
            if node.joint or watched:
                self.hand_on_together(node, place, incoming)
            else:
                self.hand_on(node, place, incoming)
        if task.frees:
            give_up_saved(task, node)
        return 0

    cdef int hand_on(self, Node node, Place *place, PyObject *incoming) except -1:
        """`propagate`. Takes over a reference to the incoming gradient."""
        cdef GraphTask task = self.task
        cdef int i = 0, following
        cdef Node target = find_wanted(task, node, &i), next_target
        cdef object result, g = <object> incoming
        Py_DECREF(g)
        while target is not None:
            following = i + 1
            next_target = find_wanted(task, node, &following)
            result = None if g is None else self.gradient(node, place, i, g, next_target is None, target)
            if next_target is None:
                keep_spare(<PyObject *> g)
                g = None
            self.deliver(target, node.next_number(i), self.plan.turns[place.edges + i], result, next_target is None)
            keep_spare(<PyObject *> result)
            result = None
            i, target = following, next_target
        return 0

    cdef object gradient(self, Node node, Place *place, int i, object g, bint last, Node target):
        """`gradient_for`; computed separately from the target's sum unless its turn has come."""
        cdef Request request
        if self.plan.places[notes_of(self.task, target).waiting].next_turn == self.plan.turns[place.edges + i]:
            return gradient_for(self.task, node, i, g, last, target)
        request = Request(last and is_ours(<PyObject *> g), not self.task.keep_graph, NULL, False, False)
        return node.vjp_array(g, i, &request)

    cdef int hand_on_searched(self, Node node, Place *place, object g) except -1:
        """`propagate_searched`."""
        cdef int i = 0
        cdef Node target
        while (target := find_wanted(self.task, node, &i)) is not None:
            result = None if g is None else searched_gradient(self.task, node, g, i)
            self.deliver(target, node.next_number(i), self.plan.turns[place.edges + i], result, False)
            keep_spare(<PyObject *> result)
            result = None
            i += 1
        return 0

    cdef int hand_on_together(self, Node node, Place *place, PyObject *incoming) except -1:
        """`propagate_together`. Takes over a reference to the incoming gradient."""
        cdef tuple results = gradients_together(self.task, node, incoming)
        cdef Node target
        cdef int i = 0
        while (target := find_wanted(self.task, node, &i)) is not None:
            self.deliver(target, node.next_number(i), self.plan.turns[place.edges + i], as_array(self.task, results[i]), False)
            i += 1
        return 0

    cdef int deliver(self, Node target, int output, int turn, object g, bint last) except -1:
        """Deliver a gradient (or None) to a node, or put it aside if it is not its turn."""
        cdef Scratch *scratch = notes_of(self.task, target)
        cdef Place *place = &self.plan.places[scratch.waiting]
        if turn != place.next_turn:
            show_all(g)
            self.plan.put_aside(place, turn, (output, g))
            return 0
        if g is not None:
            show_all(g)
            add_gradient(scratch, target, output, g, False)     # may let other threads run, but their turns come later
            show_all(<object> scratch.buffer)
        if self.has_come(scratch, place):
            self.make_ready(target, scratch.waiting, last)
            return 0
        if place.early != NULL:
            self.add_early(target, scratch, place)
        return 0

    cdef bint has_come(self, Scratch *scratch, Place *place) noexcept:
        """End a turn; returns whether it was the last."""
        place.next_turn += 1
        scratch.dependencies -= 1
        return scratch.dependencies == 0

    cdef int add_early(self, Node target, Scratch *scratch, Place *place) except -1:
        """Add gradients that were put aside and whose turns have come."""
        cdef object what, g
        cdef int output
        while (what := self.plan.take_early(place)) is not None:
            if isinstance(what, Node):
                self.start(<Node> what, notes_of(self.task, <Node> what).waiting, False)
                return 0
            output, g = (<tuple> what)[0], (<tuple> what)[1]
            what = None
            if g is not None:
                add_gradient(scratch, target, output, g, False)
                show_all(<object> scratch.buffer)
            g = None
            if self.has_come(scratch, place):
                self.make_ready(target, scratch.waiting, False)
                return 0
        return 0

    cdef int make_ready(self, Node node, Py_ssize_t rank, bint last) except -1:
        """All gradients have arrived: start the node, unless case 2 of NOTE [Parallel walk] delays it."""
        cdef Node target
        cdef Place *place
        if type(node) in added_to_parts:
            target = target_of(node, 0)
            if target is not None and leads_on(self.task, target):
                place = &self.plan.places[notes_of(self.task, target).waiting]
                if self.plan.turns[self.plan.places[rank].edges] != place.next_turn:
                    self.plan.put_aside(place, self.plan.turns[self.plan.places[rank].edges], node)
                    return 0
        return self.start(node, rank, last)


cdef inline void show_all(object g) noexcept:
    """Let other threads detect whether they alone refer to a gradient, so that they write in place as one thread would."""
    cdef object base
    if FREE_THREADED and type(g) is cnp.ndarray:
        open_to_all(<PyObject *> g)
        base = cnp.get_array_base(<cnp.ndarray> g)
        if base is not None:
            open_to_all(<PyObject *> base)


cdef int show_what_waits(GraphTask task) except -1:
    """`show_all` for gradients that arrived before the walk."""
    cdef Scratch *scratch
    cdef Py_ssize_t k
    for k in range(task.n_visited):
        if task.reaches(<Node> task.visited[k]):
            scratch = notes_of(task, <Node> task.visited[k])
            if scratch.buffer != NULL:
                for g in <list> scratch.buffer if type(<object> scratch.buffer) is list else [<object> scratch.buffer]:
                    show_all(g)
    return 0


cdef int walk_together(GraphTask task, ThreadState *state, int most) except -1:
    """Continue the task with several threads."""
    cdef double processor
    cdef Hold section
    cdef Walk walk = Walk.__new__(Walk)
    cdef double start = thread_time(), began = now()
    walk.plan = Plan.__new__(Plan)
    walk.plan.make(task)
    walk.task, walk.depth, walk.most, walk.inside = task, task.depth, most, 1
    walk.limit = walk.plan.size
    walk.ranks, walk.turns = {}, []
    walk.lock = allocate_lock()
    walk.lock.acquire()
    walk.context = copy_context()
    walk.pace = pace_now()
    walk.state = travelling(state)
    walk.state.node = walk.state.hooks_before = walk.state.dual_levels = NULL
    if FREE_THREADED:
        show_what_waits(task)
    renumber(task)
    task.walk = walk
    begin_job(walk)
    add_int(&n_walks, 1)
    store_pointer(<void **> &state_module.turn_taker, <void *> take_turn)
    try:
        walk.lead(state)
    finally:
        if add_int(&n_walks, -1) == 0 and not FREE_THREADED:        # else another walk may just have begun
            state_module.turn_taker = NULL
        end_job(walk)
        hold(&section, <PyObject *> walk)
        task.walk = walk.task = None
        state.sequence_nr = max(state.sequence_nr, walk.state.sequence_nr)
        processor = walk.processor + thread_time() - start
        let_go(&section)
    if walk.error is not None:
        error, task.node = walk.error, walk.failed
        walk.error = walk.failed = None
        raise error
    note_walk(record_of(task), True, now() - began, processor)
    return 0


cdef int renumber(GraphTask task) except -1:
    """Order the ready nodes in the heap by rank."""
    cdef list nodes = []
    cdef Node node
    while task.ready.size:
        nodes.append(<Node> pop(&task.ready))
    for node in nodes:
        push(&task.ready, key_of(notes_of(task, node).waiting), <PyObject *> node)
    return 0


cdef int take_turn() except -1:
    """Wait for the turn of this thread's running node, and of the nodes around it."""
    cdef ThreadState *state = thread_state()
    cdef GraphTask task = current_task()
    cdef void *node = state.node
    while task is not None:
        if task.walk is not None and node != NULL:
            rank = (<Walk> task.walk).ranks.get(<Node> node)
            if rank is not None:
                (<Walk> task.walk).wait_for_turn(rank)
        node = task.outer_node
        task = task.outer
    return 0


def set_pace(function):
    """set_pace(function): make every backward parallel at once, and call the function before each node. For tests."""
    global pace
    cdef Hold section
    hold(&section, <PyObject *> pace_lock)
    pace = function
    let_go(&section)


cdef object pace_now():
    cdef Hold section
    hold(&section, <PyObject *> pace_lock)
    function = pace
    let_go(&section)
    return function
