"""The override protocol: objects that define `__torch_function__`, and subclasses of Tensor.

NOTE [Overrides]
An operation called with such an object hands the call over: x.__torch_function__(function, types, args, kwargs). Calls
on Tensors must not pay for it, so a call that succeeds never looks for such objects:
  1. An object that is no Tensor makes the operation fail before it changes anything. Each public operation is entered
     through a step in the function's vectorcall slot. After a failure the step looks for such objects in the arguments
     and, if there are any, calls them instead.
  2. An instance of a subclass passes as a Tensor. The first subclass that is defined arms the steps (`arm`): from then on
     they look at the types of the arguments beforehand, and so do the operators; the facade's own methods get a step, too.
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

import numpy as np

from contextlib import contextmanager
from contextvars import ContextVar

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF

from autograd_cy._core.arrays.conversions cimport check_depth
from autograd_cy._core.batching.batched cimport BatchedTensor, batched, check_open, level_of, with_samples
from autograd_cy._core.batching.levels cimport BatchLevel
cimport autograd_cy._core.graph.tensor as tensor_module
from autograd_cy._core.graph.layouts cimport is_sparse
from autograd_cy._core.graph.tensor cimport (
    ADD, AND, DIV, EQ, GE, GT, ITEM, LE, LT, MATMUL, MUL, NE, OPERATORS, OR, POW, RDIV, RSUB, SUB, XOR, BinaryFunction, Tensor,
    TensorBase, UnaryFunction, extend, moved_into, new_tensor, share_version, tensor_type)
from autograd_cy._core.ops.keywords cimport as_numbers, called_otherwise, has_another_meaning
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.entry cimport explain_arguments, watch_entries
cimport autograd_cy._core.runtime.events as events_module
from autograd_cy._core.runtime.events cimport (
    OPERATION, SHAPES, Span, begin, end, note_operand, note_result, options, public_names)
from autograd_cy._core.runtime.recursion cimport check_room
from autograd_cy._core.runtime.state cimport FORWARD_AD, thread_state

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
    int handlers                        # number of open `calls_handed_to`, of all threads; one more for the last handler
    PyObject **handler_variables
    bint has_handler() noexcept
    void *plain_type
    void *parameter_type
    bint put_step(object function)
    BinaryFunction *plain_operators
    BinaryFunction *stepped_operators
    BinaryFunction *unwatched_operators
    BinaryFunction *watched_operators
    UnaryFunction *plain_signs
    UnaryFunction *unwatched_signs
    object (*watched_operator)(int, object, object)
    object (*watched_sign)(int, object)
    object negative_event(object)
    object invert_event(object)
    object (*operated)(int, object, object)
    object (*signed_)(int, object)
    object negative_step(object)
    object invert_step(object)

cdef extern from "Python.h":
    Py_ssize_t PyVectorcall_NARGS(size_t)
    bint PyErr_ExceptionMatches(object)
    void PyErr_Fetch(PyObject **, PyObject **, PyObject **)
    void PyErr_Restore(PyObject *, PyObject *, PyObject *)

cdef enum:
    SUBCLASSES = 1              # in `armed`
    WATCHED = 2

cdef tuple OPERANDS = (Tensor, int, float, complex, np.ndarray, np.generic)      # of operators

switched_off = ContextVar("autograd_cy overrides of subclasses", default=False)
call_handler = ContextVar("autograd_cy handler of calls", default=None)
sees_creations = ContextVar("autograd_cy handler of creations", default=False)
last_handler = ContextVar("autograd_cy last handler of calls", default=None)
handler_variables[0], handler_variables[1] = <PyObject *> call_handler, <PyObject *> last_handler

cdef bint is_last_used = False              # whether a last handler was ever set
cdef object default_override = None        # Tensor's own
cdef dict facade_methods = {}              # name -> a method of Tensor that is no operation

# The operation of each operator, and of the signs; reflected operators swap their operands first.
cdef dict operations = {
    ADD: "add", SUB: "sub", MUL: "mul", DIV: "div", RSUB: "sub", RDIV: "div", POW: "pow", MATMUL: "matmul",
    EQ: "eq", NE: "ne", LT: "lt", LE: "le", GT: "gt", GE: "ge",
    AND: "bitwise_and", OR: "bitwise_or", XOR: "bitwise_xor", ITEM: "Tensor.__getitem__"}
cdef tuple signs = ("neg", "bitwise_not")
cdef list functions = [], sign_functions = []       # the functions of these operations: `find_operators` fills it in


# the steps

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


cdef object handler_for(object arguments):
    """The handler that gets a call here: cases 7 and 9; None if there is none."""
    if not has_handler():
        return None
    handler = call_handler.get()
    return handler if handler is not None else last_handler_for(arguments)


cdef object last_handler_for(object arguments):
    handler = last_handler.get()
    cdef list found = overriding(arguments, True) if handler is not None else None
    return None if found and class_of_results(found) is None else handler


cdef PyObject *handled(object handler, object function, list arguments, tuple names) except? NULL:
    """A new reference to the answer; NULL without an error if the call is to be made as it is."""
    cdef Py_ssize_t n = len(arguments) - len(names)
    result = handled_call(handler, function, tuple(arguments[:n]), dict(zip(names, arguments[n:])))
    if result is NotImplemented:
        return NULL
    Py_INCREF(result)
    return <PyObject *> result


cdef object handled_call(object handler, object function, tuple args, dict kwargs):
    """The handler's answer. The handler does not get the calls that it makes itself."""
    handling = last_handler if call_handler.get() is None else call_handler
    token = handling.set(None)
    try:
        return handler(function, args, kwargs)
    finally:
        handling.reset(token)


def answer_of_handler(function, args, kwargs):
    """The answer of the handler of `calls_handed_to(handler, creations=True)` to a call; NotImplemented if there is none."""
    handler = handler_of_creations(args)
    return NotImplemented if handler is None else handled_call(handler, function, args, kwargs)


cdef object handler_of_creations(object arguments):
    """The handler that gets the calls of case 8 here; None if there is none."""
    handler = call_handler.get()
    if handler is None:
        return last_handler_for(arguments)
    return handler if sees_creations.get() else None


def hand_last_to(handler):
    """hand_last_to(handler): set the last handler of this context: case 9 of NOTE [Overrides]; None removes it.

    After the first use calls always look for it: contexts are copied, and nothing tells when the last copy has ended.
    """
    global handlers, is_last_used
    last_handler.set(handler)
    if handler is not None and not is_last_used:
        is_last_used = True
        arm()
        handlers += 1
        watch_entries(entered, 1)


# What the names of the facade's modules begin with whose public functions make tensors, or are composed of operations: case 8.
cdef tuple MAKERS = tuple([f"autograd_cy.{name}" for name in (
    "_creation. _random.sampling random nn.functional nn._embedding_bag nn._multi_head").split()])


@contextmanager
def calls_handed_to(handler, creations=False):
    """Within it, handler(function, args, kwargs) answers the calls of operations: cases 7 and 8 of NOTE [Overrides].

    With `handler` None the calls are made as they are, even within another handler.
    """
    global handlers
    arm()
    token, other = call_handler.set(handler), sees_creations.set(creations)
    handlers += 1
    watch_entries(entered, 1)
    try:
        yield
    finally:
        watch_entries(entered, -1)
        handlers -= 1
        put_back(call_handler, token)
        put_back(sees_creations, other)


def put_back(variable, token):
    """put_back(variable, token): variable.reset(token), but tolerate a thread that has ended within the block."""
    try:
        variable.reset(token)
    except ValueError:      # another context: the thread and its context are gone
        pass


cdef PyObject *entered(PyObject *function, PyObject **args, size_t n, PyObject *names) except? NULL:
    """Case 8: the handler's answer; NULL without an error if the handler does not get the call."""
    if not has_handler():
        return NULL
    if not getattr(<object> function, "_home", "").startswith(MAKERS) or (<object> function).__name__.startswith("_"):
        return NULL
    cdef list arguments = arguments_of(args, n, names)
    cdef object handler = handler_of_creations(arguments)
    return NULL if handler is None else handled(handler, <object> function, arguments, keys_of(names))


cdef bint hands_over() noexcept:
    """Whether a handler gets calls in this context. A fused function must then call the operations that it replaces."""
    return has_handler()


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


cdef BatchLevel batch_level(object arguments):
    """The innermost level of the BatchedTensors among the arguments, or in lists and tuples among them; else None."""
    cdef BatchLevel level = None
    cdef bint any_sparse = False
    for x in arguments:
        if isinstance(x, Tensor):
            if (<Tensor> x).batched:
                level = inner(level, level_of(<Tensor> x))
            any_sparse |= is_sparse(x)
        elif type(x) is list or type(x) is tuple:
            for item in x:
                if isinstance(item, Tensor) and (<Tensor> item).batched:
                    level = inner(level, level_of(<Tensor> item))
                any_sparse |= is_sparse(item)
    if level is not None:
        check_open(level)
        if any_sparse:
            raise NotImplementedError("vmap: there are no batching rules for sparse tensors. Call the operation outside "
                                      "of vmap, or on to_dense()")
    return level


cdef BatchLevel inner(BatchLevel a, BatchLevel b):
    return b if a is None or b.number > a.number else a


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


cdef list arguments_of(PyObject **args, size_t n, PyObject *names):
    cdef Py_ssize_t i, total = PyVectorcall_NARGS(n) + len(keys_of(names))
    return [<object> args[i] for i in range(total)]


cdef tuple keys_of(PyObject *names):
    return () if names == NULL else <tuple> names


# which arguments take over

cdef list overriding(object arguments, bint tensors):
    """The arguments that take over, also in lists and tuples: one of each type, a subclass before its base."""
    cdef list found = []
    for x in arguments:
        if type(x) is list or type(x) is tuple:
            for item in x:
                add_overriding(found, item, tensors)
        else:
            add_overriding(found, x, tensors)
    return found


cdef int add_overriding(list found, object x, bint tensors) except -1:
    cdef int place
    if type(x) is Tensor or isinstance(x, type) or (isinstance(x, Tensor) and (not tensors or (<Tensor> x).batched)):
        return 0
    override = getattr(type(x), "__torch_function__", None)
    if override is None or override is disabled_torch_function:
        return 0
    if isinstance(x, Tensor) and not is_sparse(x) and switched_off.get():
        return 0
    for place in range(len(found)):
        if type(found[place]) is type(x):
            return 0
        if isinstance(x, type(found[place])):
            found.insert(place, x)
            return 0
    found.append(x)
    return 0


cdef object class_of_results(list found):
    """The class of the results, if all arguments that take over use Tensor's override: case 3; else None."""
    if not found:
        return None
    cls = type(found[0])
    override = getattr(cls, "__torch_function__")
    if getattr(override, "__func__", override) is not default_override:
        return None
    return cls if all([issubclass(cls, type(x)) for x in found]) else None


cdef object hand_over(object function, list found, tuple args, dict kwargs):
    """Ask one after another; TypeError if all return NotImplemented."""
    result = answer_of(function, found, args, kwargs)
    if result is not NotImplemented:
        return result
    name = getattr(function, "__name__", repr(function))
    raise TypeError(f"Multiple dispatch failed for 'torch.{name}'; all __torch_function__ handlers returned NotImplemented: "
                    + ", ".join([str(type(x)) for x in found]))


cdef object answer_of(object function, list found, tuple args, dict kwargs):
    check_room()
    types = tuple([type(x) for x in found])
    for x in found:
        result = x.__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    return NotImplemented


cdef object declined(int k, object left, object right):
    """Case 5: the result of an operator that can't use its operands; reflected ones come swapped."""
    return declined_by(functions[k], left, right)


cdef object declined_by(object function, object left, object right):
    """The same, for an operator that has no number."""
    cdef list found = overriding((left, right), False)
    return hand_over(function, found, (left, right), {}) if found else NotImplemented


cdef object operator_of_subclass(int k, object left, object right):
    """An operator with an operand of a subclass, or with a handler."""
    cdef object handler = handler_for((left, right))
    cdef BatchLevel level
    if handler is not None and isinstance(left, OPERANDS) and (k == ITEM or isinstance(right, OPERANDS)):
        operands = (right, left) if k == RSUB or k == RDIV else (left, right)
        answer = handled_call(handler, functions[k], operands, {})
        if answer is not NotImplemented:
            return answer
    level = batch_level((left, right))
    if level is not None:
        return operator_on_batch(k, level, left, right)
    cdef list found = overriding((left, right), True)
    cdef object cls = class_of_results(found)
    if cls is not None:
        return in_class(plain_operators[k](left, right), cls)
    if not found:
        return plain_operators[k](left, right)
    return answer_of(functions[k], found, (right, left) if k == RSUB or k == RDIV else (left, right), {})


cdef object operator_on_batch(int k, BatchLevel level, object left, object right):
    """Case 6, for operators."""
    if not isinstance(left, OPERANDS) or (k != ITEM and not isinstance(right, OPERANDS)):
        return NotImplemented
    if level.unbatched or thread_state().mode & FORWARD_AD:         # case 8 of NOTE [Batching]
        left, right = with_samples(left, level), with_samples(right, level)
    if k != ITEM and k != MATMUL and are_aligned(left, right):
        result = plain_operators[k](first_value(left), first_value(right))
        if isinstance(result, Tensor):
            return batched(<Tensor> result, level)
    if k == RSUB or k == RDIV:
        left, right = right, left
    return batched_call(functions[k], level, (left, right), {})


cdef bint are_aligned(object left, object right) noexcept:
    """Whether an operator may work directly on the values of two operands, at least one of which is a BatchedTensor.

    That is so without outer levels, if the samples' dimensions are the last ones of both values, and if samples are not 0-d:
    a 0-d type counts less in promotion.
    """
    cdef int left_rank = -1, right_rank = -1
    if isinstance(left, Tensor):
        left_rank = cnp.PyArray_NDIM((<Tensor> left).array)
    elif type(left) is not float and type(left) is not int:
        return False
    if isinstance(right, Tensor):
        right_rank = cnp.PyArray_NDIM((<Tensor> right).array)
    elif type(right) is not float and type(right) is not int:
        return False
    if left_rank >= 0 and (<Tensor> left).batched:
        if (<BatchedTensor> left).value.batched or left_rank < max(right_rank, 1):
            return False
        return right_rank < 0 or not (<Tensor> right).batched or (
            right_rank == left_rank and not (<BatchedTensor> right).value.batched
            and (<BatchedTensor> right).level is (<BatchedTensor> left).level)
    return not (<BatchedTensor> right).value.batched and right_rank >= max(left_rank, 1)


cdef object first_value(object x):
    """All samples of a BatchedTensor; any other operand as it is."""
    return (<BatchedTensor> x).value if isinstance(x, Tensor) and (<Tensor> x).batched else x


cdef object sign_of_subclass(int k, object operand):
    cdef object handler = handler_for((operand,))
    cdef BatchLevel level
    answer = NotImplemented
    if handler is not None:
        answer = handled_call(handler, sign_functions[k], (operand,), {})
    if answer is not NotImplemented:
        return answer
    level = batch_level((operand,))
    if level is not None:
        return batched_call(sign_functions[k], level, (operand,), {})
    cdef list found = overriding((operand,), True)
    cdef object cls = class_of_results(found)
    if cls is not None:
        return in_class(plain_signs[k](operand), cls)
    return plain_signs[k](operand) if not found else answer_of(sign_functions[k], found, (operand,), {})


def has_torch_function(arguments):
    """has_torch_function(arguments) -> bool: whether any argument defines `__torch_function__`.

    >>> import autograd_cy as ag
    >>> ag.overrides.has_torch_function((ag.ones(1), 2))
    False
    """
    return bool(overriding(tuple(arguments), True))


def overrides_gradients(arguments):
    """overrides_gradients(arguments) -> bool: has_torch_function() except for sparse tensors, which the engine handles."""
    return any([not is_sparse(x) for x in overriding(tuple(arguments), True)])


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


cdef str path_of(object function):
    """The module and name of a callable, or its repr if it has no name."""
    name = getattr(function, "__name__", None)
    return repr(function) if name is None else f"{getattr(function, '__module__', None)}.{name}"


def take_for_tensors(cls):
    """take_for_tensors(cls): treat instances of this class, which overrides nothing, as fast as Tensors."""
    global parameter_type
    parameter_type = <void *> cls
    Py_INCREF(cls)


def is_taken_over(tuple arguments):
    """is_taken_over(arguments) -> bool: whether handle_torch_function() has something to do, for overrides or batches."""
    return batch_level(arguments) is not None or bool(overriding(arguments, True))


@contextmanager
def subclasses_as_tensors():
    """Within it, `__torch_function__` of subclasses is ignored, except for sparse tensors."""
    token = switched_off.set(True)
    try:
        yield
    finally:
        switched_off.reset(token)


def default_torch_function(cls, function, types, args=(), kwargs=None):
    """Tensor's `__torch_function__`: call the function on the instances as Tensors; its results are of the class."""
    if not all([issubclass(cls, t) for t in types]):
        return NotImplemented
    with subclasses_as_tensors():
        return in_class(function(*args, **(kwargs or {})), cls)


def disabled_torch_function(function, types, args=(), kwargs=None):
    """_disabled_torch_function_impl(function, types, args, kwargs): as a subclass's `__torch_function__`, treats it as Tensor.

    Operations on its instances return Tensors then, as for PyTorch's Parameter.
    """
    with subclasses_as_tensors():
        return function(*args, **(kwargs or {}))


cdef object in_class(object result, object cls, int depth=0):
    """An operation's result, with its Tensors as instances of the class."""
    if isinstance(result, Tensor):
        return result if isinstance(result, cls) else as_subclass(<Tensor> result, cls)
    if isinstance(result, (tuple, list)):
        check_depth(depth)
        items = [in_class(item, cls, depth + 1) for item in result]
        if any([item is not old for item, old in zip(items, result)]):
            return result._make(items) if hasattr(result, "_make") else type(result)(items)
    return result


def as_subclass(Tensor tensor, cls):
    """as_subclass(cls) -> Tensor: a view of the whole tensor that is an instance of the class; its __new__ isn't called.

    TypeError unless cls is a subclass of Tensor.

    >>> import autograd_cy as ag
    >>> class Named(ag.Tensor):
    ...     pass
    >>> type(ag.ones(2).as_subclass(Named)).__name__
    'Named'
    """
    check_class(cls)
    check_dense(tensor)
    return moved_into(cls, aliased(tensor))


def make_subclass(cls, data, bint require_grad=False):
    """_make_subclass(cls, data, require_grad=False) -> Tensor: an instance of the class on the memory of `data`, a leaf."""
    check_class(cls)
    if not isinstance(data, Tensor):
        raise TypeError(f"_make_subclass(): argument 'data' (position 2) must be Tensor, not {type(data).__name__}")
    cdef Tensor source = <Tensor> data, alias
    check_dense(source)
    if source.batched:
        return moved_into(cls, (<object> source).detach())
    alias = new_tensor(source.array)
    share_version(source, alias)
    if require_grad:
        alias.requires_grad = True
    return moved_into(cls, alias)


cdef int check_dense(Tensor tensor) except -1:
    if is_sparse(tensor):
        raise TypeError("a sparse tensor can't become an instance of another class: call to_dense() first")
    return 0


cdef int check_class(object cls) except -1:
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError("Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure "
                        f"your class inherits from Tensor: {cls!r} does not.")
    return 0


# calls as events

cdef int watch(bint on) except -1:
    """Switch on or off that each call of an operation is an event."""
    global armed
    cdef int k
    if not public_names:        # this may let another thread run
        public_names.update({value.fget: name for name, value in vars(TensorBase).items() if isinstance(value, property)})
    if on == (armed & WATCHED != 0):
        return 0
    armed ^= WATCHED
    for k in range(OPERATORS):
        if on:
            unwatched_operators[k] = tensor_module.operators[k]
        tensor_module.operators[k] = watched_operators[k] if on else unwatched_operators[k]
    if on:
        unwatched_signs[0], unwatched_signs[1] = tensor_module.negative, tensor_module.invert
        tensor_module.negative, tensor_module.invert = negative_event, invert_event
    else:
        tensor_module.negative, tensor_module.invert = unwatched_signs[0], unwatched_signs[1]
    return 0


cdef PyObject *call_watched(PyObject *function, PyObject **args, size_t n, PyObject *names,
                            vectorcallfunc original) except NULL:
    cdef Span span = begin(OPERATION, function)
    cdef Py_ssize_t i
    cdef PyObject *result
    if options & SHAPES:
        for i in range(PyVectorcall_NARGS(n) + (0 if names == NULL else len(<tuple> names))):
            note_operands(span, args[i])
    result = unwatched(function, args, n, names, original)
    if options & SHAPES and result != NULL:
        note_results(span, result)
    end(span)
    return result


cdef object operator_as_event(int k, object left, object right):
    cdef Span span = begin(OPERATION, <PyObject *> functions[k])
    if options & SHAPES:
        note_operands(span, <PyObject *> left)
        note_operands(span, <PyObject *> right)
    try:
        result = unwatched_operators[k](left, right)
        if options & SHAPES:
            note_results(span, <PyObject *> result)
    finally:
        end(span)
    return result


cdef object sign_as_event(int k, object operand):
    cdef Span span = begin(OPERATION, <PyObject *> sign_functions[k])
    if options & SHAPES:
        note_operands(span, <PyObject *> operand)
    try:
        result = unwatched_signs[k](operand)
        if options & SHAPES:
            note_results(span, <PyObject *> result)
    finally:
        end(span)
    return result


cdef int note_operands(Span span, PyObject *value) noexcept:
    """Note a Tensor, or the Tensors in a list or tuple."""
    if isinstance(<object> value, Tensor):
        note_operand(span, (<Tensor> value).array)
    elif type(<object> value) is list or type(<object> value) is tuple:
        for item in <object> value:
            if isinstance(item, Tensor):
                note_operand(span, (<Tensor> item).array)
    return 0


cdef int note_results(Span span, PyObject *value) noexcept:
    """Note a Tensor, or the first of several."""
    if isinstance(<object> value, Tensor):
        note_result(span, (<Tensor> value).array)
    elif isinstance(<object> value, tuple) and (<object> value) and isinstance((<object> value)[0], Tensor):
        note_result(span, (<Tensor> (<object> value)[0]).array)
    return 0


# arming

def init_subclass(cls, **kwargs):
    """Tensor's `__init_subclass__`: case 2."""
    super(TensorBase, cls).__init_subclass__(**kwargs)
    if getattr(cls, "__torch_function__", None) is not disabled_torch_function:
        arm()


cpdef int arm() except -1:
    """Make the steps look at the types of arguments from now on."""
    global armed
    cdef int k
    cdef bint on = armed & WATCHED
    if armed & SUBCLASSES:
        return 0
    if on:
        watch(False)
    armed |= SUBCLASSES
    for k in range(OPERATORS):
        plain_operators[k] = tensor_module.operators[k]
        tensor_module.operators[k] = stepped_operators[k]
    plain_signs[0], plain_signs[1] = tensor_module.negative, tensor_module.invert
    tensor_module.negative, tensor_module.invert = negative_step, invert_step
    if on:
        watch(True)
    for name, value in facade_methods.items():
        if vars(Tensor).get(name) is value:             # else a user has replaced it
            extend(name, property(overridable(value.fget, False), value.fset, value.fdel)
                   if isinstance(value, property) else overridable(value))
    return 0


def overridable(function, bint is_method=True):
    """A Python function with a step of NOTE [Overrides]; within vmap it is called directly unless it has a batching rule."""
    rule = rule_of(function)

    @functools.wraps(function)
    def stepped(*args, **kwargs):
        answer = answer_of_handler(stepped, args, kwargs) if handlers and is_method else NotImplemented
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
    functions[:] = [table[operations[k]].function for k in range(OPERATORS)]
    sign_functions[:] = [table[name].function for name in signs]


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


if len(operations) != OPERATORS or OPERATORS > 32:
    raise ImportError("each operator of tensor.pxd needs its operation in overrides.pyx, and a step")
plain_type = tensor_type
with_subclasses = call_with_subclasses
watched = call_watched
watched_operator = operator_as_event
watched_sign = sign_as_event
events_module.watch_calls = watch
failed = call_failed
operated = operator_of_subclass
signed_ = sign_of_subclass
default_override = default_torch_function
extend("__torch_function__", classmethod(default_torch_function))
extend("__init_subclass__", classmethod(init_subclass))
extend("as_subclass", as_subclass)
extend("_make_subclass", staticmethod(make_subclass))
