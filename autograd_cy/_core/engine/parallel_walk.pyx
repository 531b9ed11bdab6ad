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
from contextvars import ContextVar, copy_context

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF

from autograd_cy._core.arrays.buffers cimport is_ours, keep_spare
cimport autograd_cy._core.engine.engine as engine
from autograd_cy._core.engine.engine cimport (
    arrived, as_array, end_node, free_saved, gradient_for, gradients_together, is_seen, next_wanted, run,
    run_node, searched_gradient, take_next)
from autograd_cy._core.engine.engine_pool cimport Job, begin_job, call_worker, end_job
from autograd_cy._core.engine.graph_task cimport SEEN, GraphTask, current_task, leads_on, notes_of
from autograd_cy._core.engine.input_buffer cimport accumulate, add_gradient
from autograd_cy._core.engine.leaf_updates cimport update_leaf
from autograd_cy._core.engine.node_costs cimport (
    Cost, cost_of, gains, is_long, is_short, is_timed, note_bound, note_length, note_time, note_walk, now, record_of,
    thread_time)
from autograd_cy._core.engine.ready_queue cimport pop, push
from autograd_cy._core.engine.walk_plan cimport Place, Plan
from autograd_cy._core.graph.node cimport BOXED, AccumulateGrad, Node, Request, Scratch, leaf_of, target_of
from autograd_cy._core.runtime cimport numpy_api as cnp
cimport autograd_cy._core.runtime.reentry as reentry
from autograd_cy._core.runtime.free_threading cimport (
    FREE_THREADED, Hold, HoldBoth, add_int, hold, hold_both, let_both_go, let_go, load_int, open_to_all, peek_int,
    store_int, store_pointer)
from autograd_cy._core.runtime.modes cimport current_mode, own_modes
from autograd_cy._core.runtime.reentry cimport travelling
from autograd_cy._core.runtime.state cimport BATCHED, FORWARD_AD, ONE_THREAD, OP_HOOKS, ThreadState, thread_state

from autograd_cy._core.graph.node import added_to_parts

cnp.import_array()

cdef unsigned long long LAST = <unsigned long long> -1      # the heap's key of rank 0

engine.run_in_parallel = NULL
reentry.turn_taker = NULL

cdef int usual_threads = 1          # set_num_interop_threads
cdef int n_extents = 0              # number of entered parallel_backward blocks, in all contexts
cdef int n_walks = 0
cdef object pace = None             # for tests: called before each node; every walk is then parallel
cdef object threads_here = ContextVar("autograd_cy parallel_backward", default=0)


@cython.final
cdef class Turn:
    """A node that waits until all nodes before it have run."""
    cdef Py_ssize_t rank
    cdef object lock
    cdef bint has_come


@cython.final
cdef class Walk(Job):
    cdef GraphTask task
    cdef Plan plan
    cdef ThreadState state          # a worker's initial state
    cdef object context
    cdef int most                   # maximum number of threads
    cdef int inside                 # number of threads that take part now
    cdef int running                # number of running nodes
    cdef int blocked                # number of these that wait for their turn
    cdef Py_ssize_t limit           # nodes of this rank and above don't start
    cdef object error
    cdef Node failed
    cdef dict ranks                 # of the running nodes
    cdef list turns                 # the Turns of waiting nodes
    cdef object lock                # the caller sleeps on it
    cdef bint asleep
    cdef double processor           # time of all threads, in nanoseconds
    cdef object pace                # the function from `set_pace` when the walk began

    # code of every thread

    cdef bint wants_help(self) noexcept:
        cdef Hold section
        cdef bint wants
        hold(&section, <PyObject *> self)
        wants = self.task is not None and self.has_work() and self.inside < self.most + self.blocked
        let_go(&section)
        return wants

    cdef bint has_work(self) noexcept:
        """Whether a ready node may start."""
        return self.task.ready.size > 0 and <Py_ssize_t> (LAST - self.task.ready.items[0].sequence_number) < self.limit

    cdef int help(self) except -1:
        self.context.copy().run(self.take_part)
        return 0

    def take_part(self):
        """Run nodes in a worker."""
        cdef ThreadState *state = thread_state()
        cdef ThreadState before = state[0]
        cdef double start = thread_time()
        if not self.enter(state):
            return
        state.ring = before.ring
        state.sequence_nr = max(state.sequence_nr, before.sequence_nr)
        try:
            self.run_ready(state, False)
        finally:
            before.sequence_nr = max(before.sequence_nr, state.sequence_nr)
            self.leave(state.sequence_nr, thread_time() - start)
            state[0] = before

    cdef bint enter(self, ThreadState *state) noexcept:
        """Take part with the caller's state, unless the walk is over."""
        cdef Hold section
        cdef bint goes_on
        hold(&section, <PyObject *> self)
        goes_on = self.task is not None
        if goes_on:
            self.inside += 1
            state[0] = self.state
        let_go(&section)
        return goes_on

    cdef void leave(self, unsigned long long sequence_nr, double processor) noexcept:
        cdef Hold section
        hold(&section, <PyObject *> self)
        self.state.sequence_nr = max(self.state.sequence_nr, sequence_nr)
        self.inside -= 1
        self.processor += processor
        let_go(&section)

    cdef int run_ready(self, ThreadState *state, bint is_caller) except -1:
        """Run nodes while there are any."""
        cdef Py_ssize_t rank
        cdef Node node
        cdef Cost *cost
        cdef double start
        while (node := self.begin_next(&rank)) is not None:
            cost = cost_of(self.task, node)
            start = now() if is_long(cost, node) else 0.0
            state.node = <void *> node
            try:
                if is_caller:
                    PyErr_CheckSignals()
                if self.pace is not None:
                    self.pace()
                self.run_alone(node, &self.plan.places[rank])
                end_node(state)
            except BaseException as error:
                self.note_error(error, node, rank)
            state.node = NULL
            if start > 0:
                note_bound(cost, now() - start)
            self.end(node, rank)
        return 0

    cdef Node begin_next(self, Py_ssize_t *rank):
        """Take the next node and count it as running; None if there is none that may start."""
        cdef Hold section
        cdef Node node = None
        hold(&section, <PyObject *> self)
        try:
            if self.has_work():
                rank[0] = <Py_ssize_t> (LAST - self.task.ready.items[0].sequence_number)
                node = <Node> pop(&self.task.ready)
                self.ranks[node] = rank[0]
                self.running += 1
            return node
        finally:
            let_go(&section)

    cdef int end(self, Node node, Py_ssize_t rank) except -1:
        """Note that a node has run or failed."""
        cdef Hold section
        hold(&section, <PyObject *> self)
        try:
            del self.ranks[node]
            self.running -= 1
            self.plan.finish(rank)
            return self.settle()
        finally:
            let_go(&section)

    cdef int run_alone(self, Node node, Place *place) except -1:
        """`run_node`: evaluate a node with its lock and the walk's held."""
        cdef HoldBoth section
        hold_both(&section, <PyObject *> self, <PyObject *> node)
        try:
            return self.evaluate(node, place)
        finally:
            let_both_go(&section)

    cdef int evaluate(self, Node node, Place *place) except -1:
        """The engine's `evaluate`, with gradients delivered in turn."""
        cdef GraphTask task = self.task
        cdef bint needed, watched
        cdef PyObject *incoming
        cdef object g = arrived(task, node, &needed, &watched)
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
            free_saved(task, node)
        return 0

    cdef int hand_on(self, Node node, Place *place, PyObject *incoming) except -1:
        """`propagate`. Takes over a reference to the incoming gradient."""
        cdef GraphTask task = self.task
        cdef int i = 0, following
        cdef Node target = next_wanted(task, node, &i), next_target
        cdef object result, g = <object> incoming
        Py_DECREF(g)
        while target is not None:
            following = i + 1
            next_target = next_wanted(task, node, &following)
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
        while (target := next_wanted(self.task, node, &i)) is not None:
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
        while (target := next_wanted(self.task, node, &i)) is not None:
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

    cdef int start(self, Node node, Py_ssize_t rank, bint last) except -1:
        """Push a node onto the heap. `last`: this thread has nothing else to do."""
        cdef bint long_ = is_long(cost_of(self.task, node), node)
        push(&self.task.ready, LAST - <unsigned long long> rank, <PyObject *> node)
        if (long_ or self.pace is not None) and (not last or self.task.ready.size > 1):
            self.call_help()
        return 0

    cdef int call_help(self) except -1:
        """Wake a thread for a ready node."""
        if self.asleep:
            self.wake_caller()
        elif self.inside + load_int(&self.coming) < self.most + self.blocked:
            call_worker(self, self.most - 1 + self.blocked)
        return 0

    # waiting

    cdef int wake_caller(self) except -1:
        self.asleep = False
        self.lock.release()
        return 0

    cdef int settle(self) except -1:
        """Wake threads that can continue, after a node has ended or begun to wait."""
        cdef bint stuck
        cdef Turn turn, first = None
        if self.turns:
            for turn in self.turns:
                if turn.rank <= self.plan.first_open or turn.rank >= self.limit:
                    self.call_turn(turn)
                if first is None or turn.rank < first.rank:
                    first = turn
            stuck = self.running == self.blocked and not self.has_work() and load_int(&self.coming) == 0
            if stuck and self.plan.n_parked == 0:           # the graph was cut meanwhile
                self.call_turn(first)
        if self.asleep and (self.running == 0 or (self.has_work() and self.running == self.blocked)):
            self.wake_caller()
        return 0

    cdef int call_turn(self, Turn turn) except -1:
        if not turn.has_come:
            turn.has_come = True
            turn.lock.release()
        return 0

    cdef int wait_for_turn(self, Py_ssize_t rank) except -1:
        """Case 3 of NOTE [Parallel walk]."""
        cdef Hold section
        hold(&section, <PyObject *> self)
        try:
            return self.await_turn(rank)
        finally:
            let_go(&section)

    cdef int await_turn(self, Py_ssize_t rank) except -1:
        """`wait_for_turn`, with the walk's lock held, which is released while it sleeps."""
        cdef Turn turn
        if rank > self.plan.first_open and rank < self.limit:
            turn = Turn.__new__(Turn)
            turn.rank = rank
            turn.lock = allocate_lock()
            turn.lock.acquire()
            self.turns.append(turn)
            self.blocked += 1
            try:
                self.settle()
                if self.has_work():
                    self.call_help()
                turn.lock.acquire()
            finally:
                self.blocked -= 1
                self.turns.remove(turn)
        if rank > self.limit:
            raise RuntimeError("a node that comes before this one has failed")
        return 0

    cdef int note_error(self, error, Node node, Py_ssize_t rank) except -1:
        """Case 4 of NOTE [Parallel walk]."""
        cdef HoldBoth section
        hold_both(&section, <PyObject *> self, <PyObject *> node)
        try:
            node.forget_common()
            if rank < self.limit:
                self.error, self.failed = error, node
                self.limit = rank if isinstance(error, Exception) else 0
        finally:
            let_both_go(&section)
        return 0

    # code of the caller

    cdef int lead(self, ThreadState *state) except -1:
        """Run nodes until all have run or one has failed, and no thread takes part any more."""
        self.call_all()
        while True:
            self.run_ready(state, True)
            if self.is_over():
                return 0

    cdef int call_all(self) except -1:
        """Call as many threads as can find a node."""
        cdef Hold section
        cdef Py_ssize_t _k
        hold(&section, <PyObject *> self)
        try:
            for _k in range(min(self.task.ready.size, self.most) - 1):
                self.call_help()
        finally:
            let_go(&section)
        return 0

    cdef bint is_over(self) except -1:
        """Whether all nodes have run or one has failed; if not, sleep until there may be work, or restart parked nodes."""
        cdef Hold section
        hold(&section, <PyObject *> self)
        try:
            if self.running:
                self.sleep()
            elif not self.has_work():
                if not self.plan.n_parked or self.error is not None:
                    return True
                for node in self.plan.unpark():
                    self.start(<Node> node, notes_of(self.task, <Node> node).waiting, False)
            return False
        finally:
            let_go(&section)

    cdef int sleep(self) except -1:
        """Sleep until there is work for the caller, or all running nodes have ended."""
        self.asleep = True
        try:
            self.lock.acquire()
        except BaseException as error:              # Ctrl-C
            if not self.asleep:
                self.lock.acquire(False)
            self.asleep = False
            self.error, self.failed, self.limit = error, None, 0
            self.settle()
        return 0


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
    store_pointer(<void **> &reentry.turn_taker, <void *> take_turn)
    try:
        walk.lead(state)
    finally:
        if add_int(&n_walks, -1) == 0 and not FREE_THREADED:        # else another walk may just have begun
            reentry.turn_taker = NULL
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
        push(&task.ready, LAST - <unsigned long long> notes_of(task, node).waiting, <PyObject *> node)
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


cdef int run_or_share(GraphTask task) except -1:
    """`engine.run`, which switches to several threads when that pays: case 6 of NOTE [Parallel walk]."""
    cdef int most = engine_threads() if load_int(&n_extents) else peek_int(&usual_threads)
    cdef ThreadState *state = thread_state()
    cdef Py_ssize_t n = 0
    cdef Node node
    cdef Cost *cost
    cdef bint looks = True
    cdef double start, since = 0.0
    if (most == 1 or own_modes() & ONE_THREAD or task.recorded or task.level is not None or task.watched & SEEN
            or current_mode() & (FORWARD_AD | BATCHED | OP_HOOKS)):
        return run(task)
    if pace_now() is not None:
        return walk_together(task, state, most)
    if is_short(record_of(task)):
        return run(task)
    while task.ready.size:
        if task.ready.size > 1 and looks:
            node = <Node> task.ready.items[0].node
            cost = cost_of(task, node)
            if is_long(cost, node):
                note_length(record_of(task), False)
                if gains(record_of(task)):
                    return walk_together(task, state, most)
                looks = False
                since = now()
            elif is_timed(cost, n):
                start = now()
                take_next(task, state, &n)
                run_node(task, node)
                end_node(state)
                note_time(cost, now() - start)
                continue
        take_next(task, state, &n)
        run_node(task, task.node)
        end_node(state)
    task.node = None
    state.node = NULL
    if looks:
        note_length(record_of(task), True)
    else:
        note_walk(record_of(task), False, now() - since, 0.0)
    return 0


cdef int look_for_help() noexcept:
    """Set or clear the engine's hook for several threads, depending on whether any are enabled."""
    cdef Hold section
    cdef bint wanted
    hold(&section, <PyObject *> threads_here)       # the last thread to come here sees all extents
    wanted = peek_int(&usual_threads) > 1 or load_int(&n_extents) > 0
    store_pointer(<void **> &engine.run_in_parallel, <void *> run_or_share if wanted else NULL)
    let_go(&section)
    return 0


def set_engine_threads(int n):
    """set_engine_threads(n): the number of threads of a backward, unless parallel_backward sets another."""
    store_int(&usual_threads, n)
    look_for_help()


def engine_threads():
    """engine_threads() -> int: the number of threads of a backward in this context."""
    return threads_here.get() or peek_int(&usual_threads)


def set_pace(function):
    """set_pace(function): make every backward parallel at once, and call the function before each node. For tests."""
    global pace
    cdef Hold section
    hold(&section, <PyObject *> threads_here)
    pace = function
    let_go(&section)


cdef object pace_now():
    cdef Hold section
    hold(&section, <PyObject *> threads_here)
    function = pace
    let_go(&section)
    return function


def enter_parallel(int n):
    """enter_parallel(n) -> token: use n threads for a backward in this context, until leave_parallel(token)."""
    token = threads_here.set(n)
    add_int(&n_extents, 1)
    look_for_help()
    return token


def leave_parallel(token):
    """leave_parallel(token): undo enter_parallel."""
    add_int(&n_extents, -1)
    look_for_help()
    threads_here.reset(token)
