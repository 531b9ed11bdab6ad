"""The engine: it walks the graph backwards (knows nodes, edges and gradients; no operation, no dtype).

A task counts the edges into each node that the roots lead to, then runs the nodes to which all gradients have come,
the latest recorded first, and adds what they return to the buffers of the nodes they lead to. Nothing recurs.

NOTE [Scratch]
What a task notes on a node (dependencies, buffer) stands in the node itself, so that it needs no table. The notes
belong to the task that claimed the node first. Any other task that runs at the same time on the same graph (of another
thread, or of a hook or Function that calls backward) keeps its notes in a table of its own, `side`. A task gives its
claims up when it ends, also by an exception.
"""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_XDECREF
cimport numpy as cnp

from autograd_cy._core.buffers cimport is_owned, keep_spare
from autograd_cy._core.hooks cimport keep_retained, run_post_hooks, run_pre_hooks, run_tensor_hooks
from autograd_cy._core.input_buffer cimport accumulate, add_gradient
from autograd_cy._core.node cimport (
    AccumulateGrad, Node, NodeHooks, Scratch, existing_hooks, gradient_node, has_hooks, leaf_of, target_of)
from autograd_cy._core.state cimport FORWARD_AD, NO_GRAD, ThreadState, thread_state
from autograd_cy._core.tensor cimport Tensor, new_tensor

cnp.import_array()

cdef enum:
    SIGNAL_INTERVAL = 4096          # nodes between two looks at pending signals


@cython.final
cdef class SideScratch:
    def __dealloc__(self):
        Py_XDECREF(self.scratch.buffer)


@cython.final
cdef class GraphTask:
    """One call of backward() or grad()."""

    def __cinit__(self):
        self.roots = []
        self.captures = {}
        self.results = []
        self.side = {}

    def __dealloc__(self):
        PyMem_Free(self.visited)
        PyMem_Free(self.heap)

    # notes on nodes, see NOTE [Scratch]

    cdef Scratch *find(self, Node node) except NULL:
        """The notes of this task on a node that it has claimed."""
        if node.scratch.task == <void *> self:
            return &node.scratch
        return &(<SideScratch> self.side[node]).scratch

    cdef Scratch *claim(self, Node node) except NULL:
        """The same; a node that is new to the task is claimed and put on the list of those visited."""
        cdef SideScratch side
        if node.scratch.task == <void *> self:
            return &node.scratch
        if node.scratch.task == NULL:
            self.visit(node)
            node.scratch.task = <void *> self
            self.n_claimed += 1
            return &node.scratch
        side = <SideScratch> self.side.get(node)
        if side is None:
            side = SideScratch.__new__(SideScratch)
            self.visit(node)
            self.side[node] = side
        return &side.scratch

    cdef int visit(self, Node node) except -1:
        cdef PyObject **grown
        if self.n_visited == self.visited_size:
            self.visited_size = 2 * self.visited_size + 64
            grown = <PyObject **> PyMem_Realloc(self.visited, self.visited_size * sizeof(PyObject *))
            if grown == NULL:
                self.visited_size = self.n_visited
                raise MemoryError("no memory to walk the graph")
            self.visited = grown
        self.visited[self.n_visited] = <PyObject *> node
        self.n_visited += 1
        return 0

    cdef int clear(self) except -1:
        """Give up the claims on nodes that did not run."""
        cdef Scratch *scratch
        while self.n_claimed > 0:
            self.n_visited -= 1
            scratch = &(<Node> self.visited[self.n_visited]).scratch
            if scratch.task == <void *> self:
                self.n_claimed -= 1
                Py_XDECREF(scratch.buffer)
                scratch[0] = Scratch(NULL, 0, 0, False, False, NULL)
        self.n_visited = 0
        self.side.clear()
        return 0

    # before the run

    cdef int count_dependencies(self) except -1:
        """Visit all that the roots lead to, and count the edges into each node."""
        cdef Py_ssize_t k = 0
        cdef Node node, target
        cdef int i
        while k < self.n_visited:
            node = <Node> self.visited[k]
            k += 1
            if k % SIGNAL_INTERVAL == 0:
                PyErr_CheckSignals()
            for i in range(node.n_edges):
                target = target_of(node, i)
                if target is not None:
                    self.claim(target).dependencies += 1
        return 0

    cdef int find_needed(self) except -1:
        """Mark the nodes that lead to what was asked for: children before parents, in reversed topological order."""
        cdef Py_ssize_t k, n = 0
        cdef list order = []
        cdef Node node, target
        cdef Scratch *scratch
        cdef int i
        for k in range(self.n_visited):
            node = <Node> self.visited[k]
            scratch = self.find(node)
            scratch.waiting = scratch.dependencies
        for node in self.roots:
            scratch = self.find(node)
            scratch.waiting -= 1            # the edge that the seed comes over
            if scratch.waiting == 0:
                order.append(node)
        while n < len(order):
            node = <Node> order[n]
            n += 1
            for i in range(node.n_edges):
                target = target_of(node, i)
                if target is not None:
                    scratch = self.find(target)
                    scratch.waiting -= 1
                    if scratch.waiting == 0:
                        order.append(target)
        for node in reversed(order):
            scratch = self.find(node)
            for i in range(node.n_edges):
                if scratch.needed:
                    break
                target = target_of(node, i)
                if target is not None and self.leads_on(target):
                    scratch.needed = True
        return 0

    cdef bint leads_on(self, Node node) except -1:
        """Whether a gradient for this node is of any use.

        Without inputs asked for, always. Else if a gradient asked for arrives here (captured) or depends on it (needed).
        """
        cdef Scratch *scratch
        if not self.selective:
            return True
        scratch = self.find(node)
        return scratch.needed or scratch.captured

    # the ready queue: a heap by sequence number

    cdef int push(self, Node node) except -1:
        cdef Ready *grown
        cdef Ready item = Ready(node.sequence_number, <PyObject *> node)
        cdef Py_ssize_t k = self.n_ready, parent
        if k == self.heap_size:
            grown = <Ready *> PyMem_Realloc(self.heap, (2 * k + 16) * sizeof(Ready))
            if grown == NULL:
                raise MemoryError("no memory for the ready queue")
            self.heap = grown
            self.heap_size = 2 * k + 16
        self.n_ready += 1
        while k > 0:
            parent = (k - 1) // 2
            if self.heap[parent].sequence_number >= item.sequence_number:
                break
            self.heap[k] = self.heap[parent]
            k = parent
        self.heap[k] = item
        return 0

    cdef Node pop(self):
        cdef Node top = <Node> self.heap[0].node
        cdef Ready last
        cdef Py_ssize_t k = 0, child
        self.n_ready -= 1
        last = self.heap[self.n_ready]
        while True:
            child = 2 * k + 1
            if child >= self.n_ready:
                break
            if child + 1 < self.n_ready and self.heap[child + 1].sequence_number > self.heap[child].sequence_number:
                child += 1
            if self.heap[child].sequence_number <= last.sequence_number:
                break
            self.heap[k] = self.heap[child]
            k = child
        self.heap[k] = last
        return top

    # the run

    cdef int deliver(self, Node node, int output, object g) except -1:
        """Hand a gradient (None: there is none) to a node, which is ready when it was the last one."""
        cdef Scratch *scratch = self.find(node)
        if g is not None:
            add_gradient(scratch, node, output, g, self.recorded)
        scratch.dependencies -= 1
        if scratch.dependencies == 0:
            self.push(node)
        return 0

    cdef int run(self) except -1:
        cdef Py_ssize_t n = 0
        while self.n_ready:
            n += 1
            if n % SIGNAL_INTERVAL == 0:
                PyErr_CheckSignals()
            self.node = self.pop()
            self.run_node(self.node)
        return 0

    cdef int run_node(self, Node node) except -1:
        cdef Scratch *scratch = self.find(node)
        cdef object g = None
        cdef bint captured = scratch.captured, needed = scratch.needed or not self.selective
        if scratch.buffer != NULL:
            g = <object> scratch.buffer
            Py_DECREF(g)
            scratch.buffer = NULL
        if scratch.task == <void *> self:       # the claim ends: nothing more comes to this node
            scratch[0] = Scratch(NULL, 0, 0, False, False, NULL)
            self.n_claimed -= 1
        cdef bint hooks = has_hooks(node) and existing_hooks(node) is not None
        if hooks and g is not None:
            g = self.hooked(node, g)
        if captured:
            self.capture(node, g)
        if not needed:
            return 0
        if type(node) is AccumulateGrad:
            if g is not None:
                accumulate_in(node, g, self.recorded)
            return 0
        if node.joint or (hooks and has_node_hooks(existing_hooks(node))):
            self.propagate_joint(node, g)
        else:
            self.propagate(node, g)
        if not self.keep_graph:
            node.release_saved()
        return 0

    cdef int propagate(self, Node node, object g) except -1:
        """Compute the gradients of a node's inputs one by one and hand each on."""
        cdef int i, last = -1
        cdef Node target
        cdef object result
        for i in range(node.n_edges):
            target = target_of(node, i)
            if target is not None and self.leads_on(target):
                last = i
        for i in range(last + 1):
            target = target_of(node, i)
            if target is None or not self.leads_on(target):
                continue
            if g is None:
                result = None
            elif self.recorded:
                result = node.rule(g, i)
            else:
                result = node.vjp(g, i, i == last and type(g) is cnp.ndarray and is_owned(<cnp.ndarray> g))
            if i == last:
                keep_spare(<PyObject *> g)
                g = None            # from here on the result is held once, also if it is `g` itself
            self.deliver(target, node.next_number(i), result)
            keep_spare(<PyObject *> result)
            result = None
        return 0

    cdef int propagate_joint(self, Node node, object g) except -1:
        """The same for a node that computes all gradients in one call, or that has hooks: on Tensors."""
        cdef NodeHooks hooks = existing_hooks(node)
        cdef tuple gradients, results
        cdef Node target
        cdef int i
        if node.n_outputs > 1:
            gradients = tuple([as_seen(item) for item in ([None] * node.n_outputs if g is None else g)])
        else:
            gradients = (as_seen(g),)
        g = None
        if hooks is not None and hooks.pre_hooks:
            gradients = run_pre_hooks(hooks, gradients)
        if node.joint or gradients.count(None) < len(gradients):
            results = node.rules(gradients[0] if node.n_outputs == 1 else list(gradients))
        else:
            results = (None,) * node.n_edges
        if hooks is not None and hooks.post_hooks:
            results = run_post_hooks(hooks, results, gradients)
        for i in range(node.n_edges):
            target = target_of(node, i)
            if target is not None and self.leads_on(target):
                result = results[i]
                if result is not None and not self.recorded:
                    result = (<Tensor> result).array
                self.deliver(target, node.next_number(i), result)
        return 0

    cdef object hooked(self, Node node, object g):
        """The incoming gradient after the hooks of the tensors it belongs to; retained gradients are kept."""
        cdef NodeHooks hooks = existing_hooks(node)
        cdef int i
        if hooks.tensor_hooks is None and hooks.retained is None:
            return g
        if node.n_outputs == 1:
            return self.hooked_output(hooks, 0, g)
        return [self.hooked_output(hooks, i, g[i]) for i in range(node.n_outputs)]

    cdef object hooked_output(self, NodeHooks hooks, int output, object g):
        if g is None:
            return None
        cdef Tensor value = <Tensor> run_tensor_hooks(hooks, output, as_seen(g))
        keep_retained(hooks, output, value, self.recorded)
        return value if self.recorded else value.array

    cdef int capture(self, Node node, object g) except -1:
        """Keep the gradients that were asked for."""
        for output, position in self.captures[node]:
            value = g[output] if type(g) is list else g
            self.results[position] = value
        return 0


cdef inline object as_seen(object g):
    """A gradient as hooks and Functions see it: a Tensor."""
    return new_tensor(<cnp.ndarray> g) if isinstance(g, cnp.ndarray) else g


cdef inline bint has_node_hooks(NodeHooks hooks):
    return bool(hooks.pre_hooks) or bool(hooks.post_hooks)


cdef int accumulate_in(Node node, object g, bint recorded) except -1:
    cdef NodeHooks hooks = existing_hooks(node)
    if hooks is not None and hooks.pre_hooks:
        (g,) = run_pre_hooks(hooks, (as_seen(g),))
        g = g if recorded else (<Tensor> g).array
    accumulate(leaf_of(node), g, recorded)
    if hooks is not None and hooks.post_hooks:
        run_post_hooks(hooks, (), (as_seen(g),))
    return 0


cdef int ask_for(GraphTask task, tuple inputs) except -1:
    """Mark the inputs whose gradients were asked for."""
    cdef Tensor x
    cdef Node node
    cdef Scratch *scratch
    cdef int position
    task.selective = True
    task.results = [None] * len(inputs)
    for position, x in enumerate(inputs):
        node = gradient_node(x)
        if node.scratch.task != <void *> task and node not in task.side:
            continue                        # the roots don't lead to it
        scratch = task.find(node)
        if task.accumulates:
            scratch.needed = True
        else:
            scratch.captured = True
            task.captures.setdefault(node, []).append((x.output_number if x.grad_fn is not None else 0, position))
    return 0


def run_backward(*args, **kwargs):
    """run_backward(tensors, grad_tensors, keep_graph, create_graph, inputs=(), allow_unreachable, accumulate_grad)

    Walk the graph from the tensors, seeded with the gradients. With `accumulate_grad` the leaves get their `.grad` (of
    `inputs`, if there are any), and the result is None; else it is the tuple of the gradients of `inputs`.
    """
    cdef dict given = named(args, kwargs)
    return run_task(given["tensors"], given["grad_tensors"], given["keep_graph"], given["create_graph"], given["inputs"],
                    given["allow_unreachable"], given["accumulate_grad"])


PARAMETERS = ("tensors", "grad_tensors", "keep_graph", "create_graph", "inputs", "allow_unreachable", "accumulate_grad")


cdef dict named(tuple args, dict kwargs):
    """The arguments by name, checked as PyTorch's engine does it."""
    cdef dict given = {"inputs": (), "allow_unreachable": False, "accumulate_grad": False}
    if len(args) > len(PARAMETERS):
        raise TypeError(f"run_backward() takes at most {len(PARAMETERS)} arguments ({len(args)} given)")
    for name in kwargs:
        if name not in PARAMETERS:
            raise TypeError(f"'{name}' is an invalid keyword argument for run_backward()")
    given.update(zip(PARAMETERS, args))
    given.update(kwargs)
    for position, name in enumerate(PARAMETERS):
        if name not in given:
            raise TypeError(f"run_backward() missing required argument '{name}' (pos {position + 1})")
    return given


cpdef object run_task(object tensors, object grad_tensors, bint keep_graph, bint create_graph, object inputs,
                      bint allow_unreachable, bint accumulate_grad):
    """run_backward() with all arguments in their place."""
    cdef ThreadState *state = thread_state()
    cdef int mode = state.mode
    cdef void *outer = state.graph_task
    cdef GraphTask task = GraphTask.__new__(GraphTask)
    check_roots(tensors, grad_tensors)
    check_inputs(inputs)
    task.keep_graph = keep_graph
    task.recorded = create_graph or mode & FORWARD_AD
    task.accumulates = accumulate_grad
    _held = [gradient_node(x) for x in inputs]        # a leaf's node lives only as long as somebody holds it
    state.graph_task = <void *> task
    state.mode = mode & ~NO_GRAD if create_graph else mode | NO_GRAD
    try:
        start(task, tensors, tuple(inputs))
        for tensor, g in zip(tensors, grad_tensors):
            task.deliver(gradient_node(tensor), (<Tensor> tensor).output_number,
                         g if task.recorded else (<Tensor> g).array)
        task.run()
    except BaseException as error:
        if task.node is not None:
            error.add_note(f"This happened in the backward of {task.node!r}, sequence number {task.node._sequence_nr()}.")
        raise
    finally:
        state.mode = mode
        state.graph_task = outer
        task.clear()
    return None if accumulate_grad else finished(task, allow_unreachable)


cdef int start(GraphTask task, tuple tensors, tuple inputs) except -1:
    """Everything that has to be known before the first node runs."""
    cdef Node node
    for tensor in tensors:
        node = gradient_node(<Tensor> tensor)
        task.roots.append(node)
        task.claim(node).dependencies += 1
    task.count_dependencies()
    if inputs:
        ask_for(task, inputs)
        task.find_needed()
    elif not task.accumulates:
        task.selective = True
    return 0


cdef tuple finished(GraphTask task, bint allow_unreachable):
    """The captured gradients as Tensors."""
    cdef int position
    for position in range(len(task.results)):
        g = task.results[position]
        if g is None and not allow_unreachable:
            raise RuntimeError(f"The differentiated Tensor at index {position} appears to not have been used in the graph. "
                               "Set allow_unused=True if this is the desired behavior.")
        if isinstance(g, cnp.ndarray):
            task.results[position] = new_tensor(<cnp.ndarray> g)
    return tuple(task.results)


cdef int check_roots(object tensors, object grad_tensors) except -1:
    cdef int i
    if not isinstance(tensors, tuple):
        raise RuntimeError(f"tensors argument is expected to be a tuple, but got {type(tensors).__name__}")
    if not isinstance(grad_tensors, tuple):
        raise RuntimeError(f"grad_tensors argument is expected to be a tuple, but got {type(grad_tensors).__name__}")
    if len(tensors) != len(grad_tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(grad_tensors)} gradients")
    for i in range(len(tensors)):
        if not isinstance(tensors[i], Tensor):
            raise RuntimeError(f"element {i} of tensors tuple is neither a Tensor nor a GradientEdge, but "
                               f"{type(tensors[i]).__name__}")
        if not (<Tensor> tensors[i]).needs_grad:
            raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        if grad_tensors[i] is None:
            raise RuntimeError(f"element {i} of gradients tuple is None, but the corresponding Tensor requires grad")
        if not isinstance(grad_tensors[i], Tensor):
            raise RuntimeError(f"element {i} of gradients tuple is not a Tensor or None, but "
                               f"{type(grad_tensors[i]).__name__}")
    return 0


cdef int check_inputs(object inputs) except -1:
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"inputs to run_backward must be a tuple, but got {type(inputs).__name__}")
    for x in inputs:
        if not isinstance(x, Tensor):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(x).__name__}")
        if not (<Tensor> x).needs_grad:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    return 0
