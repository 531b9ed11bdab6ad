"""Objects and subclasses of Tensor that define `__torch_function__`: which take over a call, and the class of results.

Cases 1 to 3 of NOTE [Overrides] in overrides.pyx, whose steps call these functions.
"""

from contextlib import contextmanager
from contextvars import ContextVar

cimport cython

from autograd_cy._core.arrays.buffers cimport check_depth
from autograd_cy._core.batching.rules cimport of_samples
from autograd_cy._core.graph.memory cimport is_sparse
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport record_view
from autograd_cy._core.graph.tensor cimport Tensor, extend, moved_into, new_tensor, share_version
from autograd_cy._core.runtime.state cimport check_room

switched_off = ContextVar("autograd_cy overrides of subclasses", default=False)
cdef object default_override = None        # Tensor's own


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


cdef str path_of(object function):
    """The module and name of a callable, or its repr if it has no name."""
    name = getattr(function, "__name__", None)
    return repr(function) if name is None else f"{getattr(function, '__module__', None)}.{name}"


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


@cython.final
cdef class AliasBackward0(Node):
    cdef object vjp(self, object g, int i):
        return g

    cdef object jvp(self, tuple tangents):
        return alias(tangents[0])


cdef Tensor alias(Tensor x):
    """A view of the whole tensor."""
    if x.batched:
        return of_samples(alias_of_each, (x,), None)
    return record_view(AliasBackward0, (), x, x.array)


def alias_of_each(Tensor xs, constants, Py_ssize_t n):
    return alias(xs)


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
    return moved_into(cls, alias(tensor))


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


default_override = default_torch_function
extend("__torch_function__", classmethod(default_torch_function))
extend("as_subclass", as_subclass)
extend("_make_subclass", staticmethod(make_subclass))
