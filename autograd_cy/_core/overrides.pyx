"""The override protocol: objects and subclasses of Tensor that define `__torch_function__`.

NOTE [Overrides]
An operation called with such an object hands the call over: x.__torch_function__(function, types, args, kwargs). Calls
on Tensors must not pay for it, so nothing looks at the arguments of a call that works:
  1. An object that is no Tensor makes the operation fail, before anything is changed. Each public operation is entered by
     way of a step (put into the vectorcall slot of the function) which looks for such objects in the arguments when it
     has failed, and if there are any, calls them instead.
  2. A subclass of Tensor is taken for a Tensor. With the first one that defines `__torch_function__` the step looks at
     the arguments beforehand (`armed`); the operators of the subclass call the public operations.
  3. The same step answers for the argument `out=`, which no operation has a parameter for.
  4. An operator that declines an operand looks, too, before it leaves the other operand to try.
"""

from contextlib import contextmanager
from contextvars import ContextVar

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF

from autograd_cy._core.out_argument cimport call_into
from autograd_cy._core.tensor cimport Tensor, extend, make_current, share_version

cdef extern from *:
    """
    typedef PyObject *(*autograd_cy_handler)(PyObject *, PyObject **, size_t, PyObject *, int);
    static vectorcallfunc originals[8];
    static autograd_cy_handler handler = NULL;
    static int armed = 0;

    #define STEP(k) static PyObject *step_##k(PyObject *function, PyObject *const *args, size_t n, PyObject *names) { \\
        PyObject *result; \\
        if (armed) { \\
            result = handler(function, (PyObject **) args, n, names, 0); \\
            if (result != NULL || PyErr_Occurred()) return result; \\
        } \\
        result = originals[k](function, args, n, names); \\
        return result != NULL ? result : handler(function, (PyObject **) args, n, names, 1); \\
    }
    STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
    static vectorcallfunc steps[8] = {step_0, step_1, step_2, step_3, step_4, step_5, step_6, step_7};

    static vectorcallfunc *vectorcall_slot(PyObject *function) {
        Py_ssize_t offset = Py_TYPE(function)->tp_vectorcall_offset;
        return offset > 0 ? (vectorcallfunc *) ((char *) function + offset) : NULL;
    }

    /* Functions of one calling convention share their original entry, and so a step. 0 if there is no step left. */
    static int put_step(PyObject *function) {
        vectorcallfunc *slot = vectorcall_slot(function);
        int k;
        if (slot == NULL || *slot == NULL) return 0;
        for (k = 0; k < 8; k++) {
            if (*slot == steps[k]) return 1;
            if (originals[k] == NULL) originals[k] = *slot;
            if (originals[k] == *slot) { *slot = steps[k]; return 1; }
        }
        return 0;
    }
    """
    ctypedef PyObject *(*Handler "autograd_cy_handler")(PyObject *, PyObject **, size_t, PyObject *, int) except? NULL
    Handler handler
    int armed
    bint put_step(object function)

cdef extern from "Python.h":
    Py_ssize_t PyVectorcall_NARGS(size_t)
    bint PyErr_ExceptionMatches(object)
    void PyErr_Clear()
    void PyErr_Fetch(PyObject **, PyObject **, PyObject **)
    void PyErr_Restore(PyObject *, PyObject *, PyObject *)

switched_off = ContextVar("autograd_cy overrides of subclasses", default=False)

cdef object default_override = None        # Tensor's own
cdef dict functions = {}                   # name -> the public function of that name, for operators


cdef PyObject *handle(PyObject *function, PyObject **args, size_t n, PyObject *names, int failed) except? NULL:
    """Cases 1 and 2 of NOTE [Overrides]: the result of a call that was handed over; else NULL, the exception untouched."""
    cdef PyObject *error = NULL
    cdef PyObject *value = NULL
    cdef PyObject *trace = NULL
    cdef list found
    if failed:
        if not PyErr_ExceptionMatches(Exception):
            return NULL
        if names != NULL and PyErr_ExceptionMatches(TypeError) and "out" in <tuple> names:
            PyErr_Clear()
            return called_into(<object> function, arguments_of(args, n, names), <tuple> names)
        PyErr_Fetch(&error, &value, &trace)
    try:
        found = overriding(arguments_of(args, n, names))
    except BaseException:
        found = []
    if not found:
        PyErr_Restore(error, value, trace)      # none, if it has not failed
        return NULL
    Py_XDECREF(error)
    Py_XDECREF(value)
    Py_XDECREF(trace)
    cdef list arguments = arguments_of(args, n, names)
    cdef tuple keys = () if names == NULL else <tuple> names
    cdef Py_ssize_t n_keys = len(keys), n_args = len(arguments) - n_keys
    result = hand_over(<object> function, found, tuple(arguments[:n_args]), dict(zip(keys, arguments[n_args:])))
    Py_INCREF(result)
    return <PyObject *> result


cdef PyObject *called_into(object function, list arguments, tuple names) except NULL:
    cdef Py_ssize_t n_args = len(arguments) - len(names)
    result = call_into(function, tuple(arguments[:n_args]), dict(zip(names, arguments[n_args:])))
    Py_INCREF(result)
    return <PyObject *> result


cdef list arguments_of(PyObject **args, size_t n, PyObject *names):
    cdef Py_ssize_t i, total = PyVectorcall_NARGS(n) + (0 if names == NULL else len(<tuple> names))
    return [<object> args[i] for i in range(total)]


cdef list overriding(object arguments):
    """The arguments that take over, and those in lists and tuples: one of each type, a subclass before its base."""
    cdef list found = []
    for x in arguments:
        if type(x) is list or type(x) is tuple:
            for item in x:
                add_overriding(found, item)
        else:
            add_overriding(found, x)
    return found


cdef int add_overriding(list found, object x) except -1:
    cdef int place
    if type(x) is Tensor or isinstance(x, type):
        return 0
    override = getattr(type(x), "__torch_function__", None)
    if override is None:
        return 0
    if isinstance(x, Tensor) and (switched_off.get() or getattr(override, "__func__", override) is default_override):
        return 0
    for place in range(len(found)):
        if type(found[place]) is type(x):
            return 0
        if isinstance(x, type(found[place])):
            found.insert(place, x)
            return 0
    found.append(x)
    return 0


cdef object hand_over(object function, list found, tuple args, dict kwargs):
    """Ask one after the other until one does not return NotImplemented."""
    types = tuple([type(x) for x in found])
    for x in found:
        result = x.__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    name = getattr(function, "__name__", repr(function))
    raise TypeError(f"Multiple dispatch failed for 'torch.{name}'; all __torch_function__ handlers returned NotImplemented: "
                    + ", ".join([str(t) for t in types]))


cdef object declined(str name, object left, object right):
    """Case 4: what an operator returns that has no use for its operands."""
    cdef list found = overriding((left, right))
    name = "pow" if name.startswith(("power", "squared")) else name.rstrip("_")
    return hand_over(functions[name], found, (left, right), {}) if found and name in functions else NotImplemented


def has_torch_function(arguments):
    """has_torch_function(arguments) -> bool: whether any argument defines `__torch_function__`.

    >>> import autograd_cy as ag
    >>> ag.overrides.has_torch_function((ag.ones(1), 2))
    False
    """
    return bool(overriding(arguments))


def handle_torch_function(function, relevant_args, *args, **kwargs):
    """handle_torch_function(function, relevant_args, *args, **kwargs): hand a call over to those of relevant_args.

    TypeError if all that define `__torch_function__` return NotImplemented.

    >>> import autograd_cy as ag
    >>> class Text:
    ...     @classmethod
    ...     def __torch_function__(cls, function, types, args=(), kwargs=None):
    ...         return function.__name__
    >>> ag.exp(Text()), ag.ones(1) + Text()
    ('exp', 'add')
    >>> def mine(x):
    ...     if ag.overrides.has_torch_function((x,)):
    ...         return ag.overrides.handle_torch_function(mine, (x,), x)
    ...     return x * 2
    >>> mine(ag.ones(1)), mine(Text())
    (tensor([2.]), 'mine')
    """
    return hand_over(function, overriding(relevant_args), args, kwargs)


@contextmanager
def subclasses_as_tensors():
    """Within it, a subclass's `__torch_function__` is not looked for."""
    token = switched_off.set(True)
    try:
        yield
    finally:
        switched_off.reset(token)


def default_torch_function(cls, function, types, args=(), kwargs=None):
    """Tensor's `__torch_function__`: call the function as if they were Tensors; its results are of the class."""
    if not all([issubclass(cls, t) for t in types]):
        return NotImplemented
    with subclasses_as_tensors():
        return in_class(function(*args, **(kwargs or {})), cls)


cdef object in_class(object result, object cls):
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else as_subclass(<Tensor> result, cls)
    if type(result) is tuple or type(result) is list:
        return type(result)([in_class(item, cls) for item in result])
    return result


def as_subclass(Tensor tensor, cls):
    """as_subclass(cls) -> Tensor: the same tensor, at the same place in the graph, as an instance of the class.

    >>> import autograd_cy as ag
    >>> class Named(ag.Tensor):
    ...     pass
    >>> type(ag.ones(2).as_subclass(Named)).__name__
    'Named'
    """
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"as_subclass(): cls must be a subclass of Tensor, not {cls!r}")
    make_current(tensor)
    cdef Tensor source = tensor.view_as(tensor) if tensor.grad_fn is None and tensor.needs_grad else tensor
    cdef Tensor alias = <Tensor> cls.__new__(cls)
    alias.array = source.array
    share_version(source, alias)
    alias.grad_fn, alias.output_number, alias.needs_grad = source.grad_fn, source.output_number, source.needs_grad
    return alias


# subclasses

REFLECTED = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "pow": "pow", "matmul": "matmul"}
PLAIN = {"neg": "neg", "abs": "abs", "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
         "getitem": "getitem", **REFLECTED}


def operator_of(function, reflected):
    if reflected:
        return lambda self, other: function(other, self)
    return lambda self, *operands: function(self, *operands)


def init_subclass(cls, **kwargs):
    """Tensor's `__init_subclass__`: case 2 for a class that defines `__torch_function__`."""
    global armed
    override = getattr(cls, "__torch_function__")
    if getattr(override, "__func__", override) is default_override:
        return
    armed = 1
    for name, operation in PLAIN.items():
        if f"__{name}__" not in vars(cls) and operation in functions:
            setattr(cls, f"__{name}__", operator_of(functions[operation], False))
    for name, operation in REFLECTED.items():
        if f"__r{name}__" not in vars(cls) and operation in functions:
            setattr(cls, f"__r{name}__", operator_of(functions[operation], True))


def make_overridable(name, function):
    """Enter a public operation: its calls can be handed over."""
    functions[name] = function
    if not put_step(function):
        raise ImportError(f"{name}() has an entry of its own kind, which no step of NOTE [Overrides] stands for")


handler = handle
default_override = default_torch_function
extend("__torch_function__", classmethod(default_torch_function))
extend("__init_subclass__", classmethod(init_subclass))
extend("as_subclass", as_subclass)
