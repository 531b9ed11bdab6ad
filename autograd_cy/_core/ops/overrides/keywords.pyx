"""Arguments that operations accept although their signatures lack them: NumPy's names, `size=` and its like, `inplace`,
`out=`; factors in deprecated positions; NumPy's scalars as numbers; and PyTorch's arguments without use in this package.

The step of NOTE [Overrides] comes here when a call with one of them has failed.
"""

import numpy as np

from autograd_cy._core.ops.out_argument cimport call_into
from autograd_cy._core.ops.overwriting cimport call_in_place

from autograd_cy._core.batching.rules import writes
from autograd_cy._core.ops.registry import op_of
from autograd_cy._core.runtime.argument_errors import LACKED_BY, lacking_names, refusal_of, without_lacking

OTHER_NAMES = {
    "axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other",     # NumPy's
    "axis0": "dim0", "axis1": "dim1", "self": "input", "split_size": "split_size_or_sections"}
CO_VARARGS = 4                         # in the flags of a code object: a function with *args


cdef object in_older_order(object function, args):
    """A deprecated call's arguments in today's order, and its factors; None if the call is not deprecated."""
    from autograd_cy._core.ops.older_overloads import in_order
    return in_order(function, args)


cdef bint has_another_meaning(object function, list args, tuple names) except -1:
    """Whether a call that the function's signature doesn't allow means something else."""
    for name in names:
        if parameter_for(function, name) is not None or name == gathering_parameter(function):
            return True
        if name == "out" and not writes(function):          # an in-place operation takes no `out`
            return True
        if name == "inplace" and takes_inplace(function):
            return True
    if len(args) > function.__code__.co_argcount:
        older = in_older_order(function, args)
        if older is not None and not older[1].keys() & set(names):
            return True
    return ends_in_inplace(function, args) or (len(names) > 0 and bool(lacking_names(function.__name__, names)))


cdef object as_numbers(object arguments, bint inside=False):
    """A list, tuple or dict with NumPy's scalars replaced by Python's, also in lists and tuples; itself if none."""
    cdef list old = list(arguments.values()) if type(arguments) is dict else list(arguments)
    cdef list new = [as_number(x, inside) for x in old]
    cdef Py_ssize_t i
    for i in range(len(old)):
        if old[i] is not new[i]:
            return dict(zip(arguments, new)) if type(arguments) is dict else type(arguments)(new)
    return arguments


cdef object as_number(object x, bint inside):
    if isinstance(x, np.generic):
        if isinstance(x, np.longdouble):
            return float(x) if float(x) == x else x
        return (complex(x) if isinstance(x, np.clongdouble) else x.item())
    return as_numbers(x, True) if not inside and (type(x) is list or type(x) is tuple) else x


cdef bint takes_inplace(object function) except -1:
    entry = op_of(function)
    return entry is not None and entry.inplace


cdef bint ends_in_inplace(object function, args) except -1:
    """Whether one argument more than the function has is `inplace`, as in relu(x, True)."""
    return (takes_inplace(function) and len(args) == function.__code__.co_argcount + 1
            and isinstance(args[len(args) - 1], bool))


cdef object parameter_for(object function, str name):
    """The function's own name for another one; None if it has no such parameter."""
    cdef object code = function.__code__
    cdef tuple parameters = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
    own = OTHER_NAMES.get(name)
    return own if own in parameters and name not in parameters else None


cdef object gathering_parameter(object function):
    """The name of the `*` parameter, such as the size in x.view(2, 3); None if there is none."""
    cdef object code = function.__code__
    return code.co_varnames[code.co_argcount + code.co_kwonlyargcount] if code.co_flags & CO_VARARGS else None


cdef object called_otherwise(object function, tuple args, dict kwargs):
    """Make the call with those arguments translated; TypeError if it doesn't fit either."""
    args, kwargs = as_numbers(args), as_numbers(kwargs)
    if function.__name__ in LACKED_BY:
        refusal = refusal_of(function.__name__, kwargs)
        if refusal is not None:
            raise refusal
        kwargs = without_lacking(function.__name__, kwargs)
    older = in_older_order(function, args)
    if older is not None and not older[1].keys() & kwargs.keys():
        from autograd_cy._core.ops.older_overloads import warn_of
        warn_of(function, args)
        args, kwargs = older[0], kwargs | older[1]
    if ends_in_inplace(function, args):
        if "inplace" in kwargs:
            raise TypeError(f"{function.__name__}() got multiple values for argument 'inplace'")
        args, kwargs["inplace"] = args[:-1], args[len(args) - 1]
    for name in list(kwargs):
        own = parameter_for(function, name)
        if own is not None:
            if own in kwargs:
                raise TypeError(f"{function.__name__}() got multiple values for argument '{own}'")
            kwargs[own] = kwargs.pop(name)
    gathering = gathering_parameter(function)
    if gathering in kwargs:
        if len(args) > function.__code__.co_argcount:
            raise TypeError(f"{function.__name__}() got multiple values for argument '{gathering}'")
        args += (kwargs.pop(gathering),)
    if "out" in kwargs:
        return call_into(function, args, kwargs)
    if "inplace" in kwargs and takes_inplace(function):
        return call_in_place(function, args, kwargs)
    return function(*args, **kwargs)
