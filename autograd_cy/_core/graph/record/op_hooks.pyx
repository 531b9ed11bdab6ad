"""Hooks on all operations, forward and backward; the log of nodes that the engine runs.

The hooks belong to the thread's context, so a nested backward that continues in another thread has them, too. While there are
any, the thread's mode has the bit OP_HOOKS; without it no operation looks for hooks.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF

import sys
from collections import OrderedDict
from contextvars import ContextVar

from autograd_cy._core.arrays.dtypes cimport code_of, dtype_of
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime.free_threading cimport claim, load_pointer
from autograd_cy._core.runtime.state cimport OP_HOOKS, ThreadState, thread_state

from autograd_cy._core.runtime.handle import RemovableHandle

op_hooks_here = ContextVar("autograd_cy op hooks")     # id -> {"forward": function, ...}

cdef void *logger = NULL        # owned; NULL until `logging` was imported elsewhere, since its import takes milliseconds
cdef object modules = sys.modules

cdef extern from *:
    """
    #if PY_VERSION_HEX < 0x030d0000
    static int PyDict_GetItemRef(PyObject *dict, PyObject *key, PyObject **value) {
        *value = PyDict_GetItemWithError(dict, key);
        Py_XINCREF(*value);
        return *value != NULL ? 1 : PyErr_Occurred() ? -1 : 0;
    }
    #endif
    """
    int PyDict_GetItemRef(object, object, PyObject **) except -1

cdef enum:
    DEBUG_LEVEL = 10            # logging.DEBUG

SHORT = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128",
         "bool": "b8", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
         "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64"}


class OpHookHandle(RemovableHandle):
    """Removes a hook on all operations: `remove()`, or at the end of a `with` block."""

    def remove(self):
        """Remove the hook; after the last one the thread's mode is reset."""
        super().remove()
        if not op_hooks_here.get(None):
            thread_state().mode &= ~OP_HOOKS


def register_op_hook(forward, backward):
    """Register the pair in this thread; returns the handle."""
    hooks = op_hooks_here.get(None)
    if hooks is None:
        hooks = OrderedDict()
        op_hooks_here.set(hooks)
    handle = OpHookHandle(hooks)
    hooks[handle.id] = {"forward": forward, "backward": backward}
    thread_state().mode |= OP_HOOKS
    return handle


def op_hooks(str direction):
    """The functions registered in this thread for 'forward' or 'backward'."""
    functions = [hook[direction] for hook in op_hooks_here.get({}).values()]
    return [function for function in functions if function is not None]


cdef int pause() noexcept:
    """Hide the following operations, parts of another one, from hooks until `go_on`, which takes the result."""
    cdef ThreadState *state = thread_state()
    cdef int paused = state.mode & OP_HOOKS
    state.mode &= ~OP_HOOKS
    return paused


cdef void go_on(int paused) noexcept:
    thread_state().mode |= paused


cdef int observe(str direction, tuple arguments) except -1:
    """Call the hooks; operations in hooks are not observed."""
    cdef ThreadState *state = thread_state()
    state.mode &= ~OP_HOOKS
    try:
        for function in op_hooks(direction):
            function(*arguments)
    finally:
        if op_hooks_here.get(None):
            state.mode |= OP_HOOKS
    return 0


cdef int observe_forward(Node node, object outputs, object inputs) except -1:
    """Call hooks after an operation, or before its result is written; without recording its node is not in the graph."""
    return observe("forward", (node, tuple(inputs), outputs))


cdef object imported(str name):
    """A loaded module, or None. It is looked up in each backward, so without the dict's lock."""
    cdef PyObject *module = NULL
    if PyDict_GetItemRef(modules, name, &module) == 0:
        return None
    found = <object> module
    Py_DECREF(found)
    return found


cdef bint is_logged() except -1:
    """Whether the logger autograd_cy.autograd.graph, or a parent other than the root, was set to show DEBUG.

    As in PyTorch, setting the root logger, which enables logging for all of Python, doesn't log each node.
    """
    cdef object own
    if load_pointer(&logger) == NULL:
        get_logger = getattr(imported("logging"), "getLogger", None)
        if get_logger is None:
            return False
        found = get_logger("autograd_cy.autograd.graph")
        Py_INCREF(found)
        if not claim(&logger, <void *> found):
            Py_DECREF(found)
    own = <object> load_pointer(&logger)
    while own.parent is not None:
        if own.level:
            return own.level <= DEBUG_LEVEL
        own = own.parent
    return False


cdef int observe_start(Node node, tuple gradients) except -1:
    """Log that the engine runs a node."""
    if is_logged():
        # pass the node's name, as a stored log record would keep the graph
        (<object> logger).debug("Executing: %s with grad_outputs: [%s]", repr(node),
                                ",".join([in_short(g) for g in gradients]))
    return 0


cdef int observe_end(Node node, tuple results, tuple gradients) except -1:
    """Call backward hooks after a node ran, before its results are used."""
    return observe("backward", (node, results, gradients)) if thread_state().mode & OP_HOOKS else 0


cdef str in_short(object g):
    """Dtype and sizes of a gradient: `f32[2, 3]`."""
    if g is None:
        return "None"
    return f"{SHORT[dtype_of(code_of((<Tensor> g).array)).name]}[{', '.join(map(str, g.shape))}]"
