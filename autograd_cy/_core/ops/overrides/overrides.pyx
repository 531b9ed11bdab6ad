"""The override protocol: objects that define `__torch_function__`, and subclasses of Tensor.

NOTE [Overrides]
An operation called with such an object hands the call over: x.__torch_function__(function, types, args, kwargs). Calls
on Tensors must not pay for it, so a call that succeeds never looks for such objects:
  1. An object that is no Tensor makes the operation fail before it changes anything. Each public operation is entered
     through a step in the function's vectorcall slot. After a failure the step looks for such objects in the arguments
     and, if there are any, calls them instead.
  2. An instance of a subclass passes as a Tensor. The first subclass that is defined arms the steps (`arm`): from then on
     they look at the types of the arguments beforehand. So does `operator_step`, the one step of all operators. The
     facade's own methods get a step, too.
  3. A class with Tensor's own `__torch_function__` is not asked: the operation runs as it does on Tensors, and its
     results are moved into the class (`in_class`). A class with `_disabled_torch_function_impl` is treated as Tensor. The
     steps know nn.Parameter by identity (`take_for_tensors`), as most operands of a model are Parameters.
  4. The same step handles arguments that no operation has a parameter for: `out=`, `axis=` and others (keywords.pyx). It
     also repeats a call that failed because of a NumPy scalar, with a Python number.
  5. An operator that declines an operand also looks for overrides before Python tries the other operand.
  6. A call with a BatchedTensor goes to the batching rule of the operation: NOTE [Batching]. A composite operation runs as
     it is, and so do the facade's methods without a rule.
  7. Within `calls_handed_to(handler)` the handler gets each call of an operation, before all others, except for the calls
     that it makes itself. In-place operators and item assignments are not handed over.
  8. With `creations`, it also gets each call of a Python function that makes tensors (through the step of
     runtime/entry.pyx), and of a method of the facade. Other composite functions call `answer_of_handler`.
  9. The last handler (`hand_last_to`; autocast is one) is asked where no handler of case 7 is set, and after arguments that
     take over. It also gets the calls of case 8. If it returns NotImplemented, the call is made as without it, and the
     handler gets the calls of the operations inside.
"""

import functools

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF

from autograd_cy._core.batching.batched cimport BatchLevel
from autograd_cy._core.batching.rules cimport OPERANDS, batch_level, operator_on_batch
cimport autograd_cy._core.graph.context as operators_module
from autograd_cy._core.graph.context cimport ITEM, NEG, RDIV, RSUB, operators
from autograd_cy._core.graph.tensor cimport Tensor, TensorBase, extend, tensor_type
from autograd_cy._core.recording.events cimport Span, public_names
from autograd_cy._core.runtime.entry cimport explain_arguments
from autograd_cy._core.runtime.free_threading cimport store_pointer

from autograd_cy._core.batching.batched import is_batched
from autograd_cy._core.batching.rules import COMPOSITE, batched_call, declare_rule, declare_write, rule_of, writes

cdef extern from "steps.h":
    ctypedef PyObject *(*vectorcallfunc)(PyObject *, PyObject **, size_t, PyObject *)
    ctypedef PyObject *(*WithSubclasses "autograd_cy_hand_over")(
        PyObject *, PyObject **, size_t, PyObject *, vectorcallfunc) except NULL
    ctypedef PyObject *(*Failed "autograd_cy_failed")(PyObject *, PyObject **, size_t, PyObject *) except NULL
    WithSubclasses with_subclasses, watched
    PyObject *unwatched(PyObject *, PyObject **, size_t, PyObject *, vectorcallfunc) except NULL
    Failed failed
    int armed
    bint (*any_handler)() noexcept
    void *plain_type
    void *parameter_type
    bint any_subclass(PyObject **, Py_ssize_t) noexcept
    bint put_step(object function)

cdef extern from "Python.h":
    Py_ssize_t PyVectorcall_NARGS(size_t)
    bint PyErr_ExceptionMatches(object)
    void PyErr_Fetch(PyObject **, PyObject **, PyObject **)
    void PyErr_Restore(PyObject *, PyObject *, PyObject *)

cdef enum:
    SUBCLASSES = 1              # in `armed`
    WATCHED = 2

cdef dict facade_methods = {}              # name -> a method of Tensor that is no operation
cdef list functions = []                   # the operation of each operator: `find_operators` fills it in


# the steps of functions

cdef PyObject *call_with_subclasses(PyObject *function, PyObject **args, size_t n, PyObject *names,
                                    vectorcallfunc original) except NULL:
    """Cases 2 and 3 of NOTE [Overrides]: a call with a subclass of Tensor among its arguments."""
    cdef list arguments = arguments_of(args, n, names)
    cdef BatchLevel level
    cdef object handler = handler_for(arguments)
    cdef PyObject *answer = NULL
    if handler is not None:
        answer = handled(handler, <object> function, arguments, keys_of(names))
    if answer != NULL:
        return answer
    level = batch_level(arguments)
    if level is not None and rule_of(<object> function) is not COMPOSITE:
        return called_for_batch(<object> function, level, arguments, keys_of(names))
    cdef list found = overriding(arguments, True)
    cdef object cls = class_of_results(found)
    cdef PyObject *result
    if found and cls is None:
        return handed_over(function, found, args, n, names)
    result = original(function, args, n, names)
    if result == NULL:
        result = call_failed(function, args, n, names)
    if cls is None:
        return result
    value = <object> result
    Py_XDECREF(result)
    value = in_class(value, cls)
    Py_INCREF(value)
    return <PyObject *> value


cdef PyObject *called_for_batch(object function, BatchLevel level, list arguments, tuple names) except NULL:
    """Case 6: a call with BatchedTensors."""
    cdef Py_ssize_t n = len(arguments) - len(names)
    cdef dict kwargs = dict(zip(names, arguments[n:]))
    if kwargs.get("out") is not None:
        raise RuntimeError(f"Batching rule not implemented for aten::{function.__name__}.out; the fallback path doesn't work "
                           "on out= or view ops.")
    if has_another_meaning(function, arguments[:n], names):
        result = called_otherwise(function, tuple(arguments[:n]), kwargs)
    else:
        result = batched_call(function, level, tuple(arguments[:n]), kwargs)
    Py_INCREF(result)
    return <PyObject *> result


cdef PyObject *call_failed(PyObject *function, PyObject **args, size_t n, PyObject *names) except NULL:
    """Cases 1 and 4: the result of a call that is taken over; else NULL, the exception untouched."""
    cdef PyObject *error = NULL
    cdef PyObject *value = NULL
    cdef PyObject *trace = NULL
    cdef list found
    if not PyErr_ExceptionMatches(Exception):
        return NULL
    cdef bint is_about_arguments = PyErr_ExceptionMatches(TypeError)
    PyErr_Fetch(&error, &value, &trace)
    if is_about_arguments and (has_another_meaning(<object> function, arguments_of(args, n, NULL), keys_of(names))
                               or has_numpy_scalars(arguments_of(args, n, names))):
        Py_XDECREF(error)
        Py_XDECREF(value)
        Py_XDECREF(trace)
        return called_again(<object> function, arguments_of(args, n, names), keys_of(names))
    try:
        found = overriding(arguments_of(args, n, names), False)
    except BaseException:
        found = []
    if not found:
        if is_about_arguments:
            explain_arguments(function, n, names, &value)
        PyErr_Restore(error, value, trace)
        return NULL
    Py_XDECREF(error)
    Py_XDECREF(value)
    Py_XDECREF(trace)
    return handed_over(function, found, args, n, names)


cdef bint has_numpy_scalars(list arguments) except -1:
    return as_numbers(arguments) is not arguments


cdef PyObject *handed_over(PyObject *function, list found, PyObject **args, size_t n, PyObject *names) except NULL:
    cdef list arguments = arguments_of(args, n, names)
    cdef tuple keys = keys_of(names)
    cdef Py_ssize_t n_args = len(arguments) - len(keys)
    result = hand_over(<object> function, found, tuple(arguments[:n_args]), dict(zip(keys, arguments[n_args:])))
    Py_INCREF(result)
    return <PyObject *> result


cdef PyObject *called_again(object function, list arguments, tuple names) except NULL:
    cdef Py_ssize_t n_args = len(arguments) - len(names)
    result = called_otherwise(function, tuple(arguments[:n_args]), dict(zip(names, arguments[n_args:])))
    Py_INCREF(result)
    return <PyObject *> result


# the operators

cdef object operator_step(int k, object left, object right):
    """The step of an operator, while `armed`."""
    cdef PyObject *both[2]
    cdef Span span
    cdef PyObject *result = NULL
    if not armed & WATCHED:
        return stepped(k, left, right)
    both[0], both[1] = <PyObject *> left, <PyObject *> right
    span = begin_call(<PyObject *> functions[k], both, 1 if k >= NEG else 2)
    try:
        value = stepped(k, left, right)
        result = <PyObject *> value
        return value
    finally:
        end_call(span, result)


cdef inline object stepped(int k, object left, object right):
    cdef PyObject *both[2]
    both[0], both[1] = <PyObject *> left, <PyObject *> right
    if armed & SUBCLASSES and (has_handler() or any_subclass(both, 2)):
        return operator_of_subclass(k, left, right)
    return operators[k](left, right)


cdef object operator_of_subclass(int k, object left, object right):
    """An operator with an operand of a subclass, or with a handler."""
    cdef object handler = handler_for((left, right))
    cdef tuple operands = (left,) if k >= NEG else (right, left) if k == RSUB or k == RDIV else (left, right)
    cdef BatchLevel level
    if handler is not None and isinstance(left, OPERANDS) and (k >= ITEM or isinstance(right, OPERANDS)):
        answer = handled_call(handler, functions[k], operands, {})
        if answer is not NotImplemented:
            return answer
    level = batch_level((left, right))
    if level is not None:
        return operator_on_batch(k, functions[k], level, left, right)
    cdef list found = overriding((left, right), True)
    cdef object cls = class_of_results(found)
    if cls is not None:
        return in_class(operators[k](left, right), cls)
    return answer_of(functions[k], found, operands, {}) if found else operators[k](left, right)


cdef object declined(int k, object left, object right):
    """Case 5: the result of an operator that can't use its operands; reflected ones come swapped."""
    return declined_by(functions[k], left, right)


cdef object declined_by(object function, object left, object right):
    """The same, for an operator that has no number."""
    cdef list found = overriding((left, right), False)
    return hand_over(function, found, (left, right), {}) if found else NotImplemented


# arming

cdef int set_armed(int bits) except -1:
    global armed
    armed = bits
    store_pointer(<void **> &operators_module.step, <void *> operator_step if bits else NULL)
    return 0


cdef int watch(bint on) except -1:
    """Switch on or off that each call of an operation is an event."""
    if not public_names:        # this may let another thread run
        public_names.update({value.fget: name for name, value in vars(TensorBase).items() if isinstance(value, property)})
    return set_armed(armed | WATCHED if on else armed & ~WATCHED)


cdef PyObject *call_watched(PyObject *function, PyObject **args, size_t n, PyObject *names,
                            vectorcallfunc original) except NULL:
    cdef Span span = begin_call(function, args, PyVectorcall_NARGS(n) + (0 if names == NULL else len(<tuple> names)))
    cdef PyObject *result = unwatched(function, args, n, names, original)
    end_call(span, result)
    return result


cpdef int arm() except -1:
    """Make the steps look at the types of arguments from now on."""
    if armed & SUBCLASSES:
        return 0
    set_armed(armed | SUBCLASSES)
    for name, value in facade_methods.items():
        if vars(Tensor).get(name) is value:             # else a user has replaced it
            extend(name, property(overridable(value.fget, False), value.fset, value.fdel)
                   if isinstance(value, property) else overridable(value))
    return 0


def init_subclass(cls, **kwargs):
    """Tensor's `__init_subclass__`: case 2."""
    super(TensorBase, cls).__init_subclass__(**kwargs)
    if getattr(cls, "__torch_function__", None) is not disabled_torch_function:
        arm()


def overridable(function, bint is_method=True):
    """A Python function with a step of NOTE [Overrides]; within vmap it is called directly unless it has a batching rule."""
    rule = rule_of(function)

    @functools.wraps(function)
    def stepped(*args, **kwargs):
        answer = answer_of_handler(stepped, args, kwargs) if n_handlers and is_method else NotImplemented
        if answer is not NotImplemented:
            return answer
        cdef BatchLevel level = batch_level(args + tuple(kwargs.values()) if kwargs else args)
        if level is not None and rule is not None:
            return batched_call(stepped, level, args, kwargs)
        cdef list found = overriding(args + tuple(kwargs.values()) if kwargs else args, True)
        cdef object cls = class_of_results(found)
        if found and cls is None:
            return hand_over(stepped, found, args, kwargs)
        result = function(*args, **kwargs)
        return result if cls is None else in_class(result, cls)
    if rule is not None:
        declare_rule(stepped, rule)
    if writes(function):
        declare_write(stepped)
    return stepped


def find_operators(table):
    """find_operators(OPS): find the functions of the operators in the table of operations."""
    functions[:] = [table[name].function for name in operators_module.names]


def make_overridable(function):
    """Register an operation, or a method of Tensor: its calls can be handed over."""
    if not put_step(function):
        raise ImportError(f"{function.__name__}() has an entry of its own kind, which no step of NOTE [Overrides] stands for")


def extend_overridable(name, value, batch=None):
    """Attach an overridable Python method or property to Tensor; `batch` is its batching rule."""
    if batch is not None:
        declare_rule(value.fget if isinstance(value, property) else value, batch)
    facade_methods[name] = value
    extend(name, value)


# what the facade asks

def handle_torch_function(function, relevant_args, *args, **kwargs):
    """handle_torch_function(function, relevant_args, *args, **kwargs): hand a call over to the overrides among relevant_args.

    A plain Tensor among them calls the function itself if no other argument overrides it. TypeError if none of them defines
    `__torch_function__`, or all that do return NotImplemented.

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
    cdef tuple relevant = tuple(relevant_args)
    cdef BatchLevel level = batch_level(args + tuple(kwargs.values())) if rule_of(function) is not None else None
    if level is not None and rule_of(function) is not COMPOSITE:
        return batched_call(function, level, args, kwargs)
    cdef list found = overriding(relevant, True)
    cdef object result = NotImplemented
    if found:
        result = answer_of(function, found, args, kwargs)
    elif any([type(x) is Tensor or is_batched(x) for x in relevant]):
        with subclasses_as_tensors():
            result = function(*args, **kwargs)
    if result is not NotImplemented:
        return result
    raise TypeError(f"no implementation found for '{path_of(function)}' on types that implement __torch_function__: "
                    f"{[type(x) for x in found]}")


def take_for_tensors(cls):
    """take_for_tensors(cls): treat instances of this class, which overrides nothing, as fast as Tensors."""
    global parameter_type
    parameter_type = <void *> cls
    Py_INCREF(cls)


def is_taken_over(tuple arguments):
    """is_taken_over(arguments) -> bool: whether handle_torch_function() has something to do, for overrides or batches."""
    return batch_level(arguments) is not None or bool(overriding(arguments, True))


plain_type = tensor_type
with_subclasses = call_with_subclasses
watched = call_watched
failed = call_failed
any_handler = has_handler
operators_module.step = NULL
extend("__init_subclass__", classmethod(init_subclass))
