"""The threads that walk one graph together: how they take nodes, wait for their turn, sleep and end.

NOTE [Parallel walk] describes them; what they compute is in parallel_walk.pyx. The crew's lock protects its fields.
"""

from _thread import allocate_lock

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject

from autograd_cy._core.engine.engine cimport close_node, notes_of
from autograd_cy._core.engine.ready_queue cimport pop, push
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.runtime.free_threading cimport Hold, HoldBoth, hold, hold_both, let_both_go, let_go, load_int
from autograd_cy._core.runtime.state cimport ThreadState, thread_state


@cython.final
cdef class Turn:
    pass


cdef class Crew(Job):

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
        return self.task.ready.size > 0 and lowest_rank(self.task) < self.limit

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
                close_node(state)
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
                rank[0] = lowest_rank(self.task)
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
        """`run_node`: evaluate a node with its lock and the crew's held."""
        cdef HoldBoth section
        hold_both(&section, <PyObject *> self, <PyObject *> node)
        try:
            return self.evaluate(node, place)
        finally:
            let_both_go(&section)

    cdef int evaluate(self, Node node, Place *place) except -1:
        """The engine's `evaluate_node`, with the locks of the node and the crew held; `place`: the node's in the plan."""
        raise NotImplementedError

    cdef int start(self, Node node, Py_ssize_t rank, bint last) except -1:
        """Push a node onto the heap. `last`: this thread has nothing else to do."""
        cdef bint long_ = is_long(cost_of(self.task, node), node)
        push(&self.task.ready, key_of(rank), <PyObject *> node)
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
        """`wait_for_turn`, with the crew's lock held, which is released while it sleeps."""
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
