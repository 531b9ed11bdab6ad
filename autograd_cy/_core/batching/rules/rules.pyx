"""Batching rules: how an operation handles operands with a batch dimension.

A rule receives the call (BatchedCall) and the arguments as given, in which tensors of the call's level are BatchedTensors. It
returns the results for all samples, batch first. It calls the operation by `call(...)`, which is the in-place operation if
that was called.

Kinds of rules that need no code: `elementwise` aligns the operands' dimensions; `Along` shifts the dimensions that an
argument names; `sample_by_sample` loops; `on_values` passes the values, `on_matrices` if samples are matrices; COMPOSITE runs
the operation itself, for operations that consist of others.
"""

from types import FunctionType

from autograd_cy._core.batching.batched cimport BatchedCall, BatchedTensor, BatchLevel, batched, first_sample, with_samples
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport FORWARD_AD, thread_state

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.graph.node import place_of

COMPOSITE = "composite"
SEQUENCES = ("tensors", "sequences")    # the first parameter of operations on lists of tensors

cdef extern from "state.h":
    """
    struct Computing { void *function, *level; int repeated; };
    static AUTOGRAD_CY_THREAD_LOCAL struct Computing computing;
    """
    struct Computing:
        void *function
        void *level
        int repeated                    # how many enclosing calls have the same function and level
    Computing computing                 # this thread's innermost call by a rule

cdef enum:
    MOST_REPEATED = 3                   # a rule may call its own operation again on reshaped samples

cdef dict rules = {}                # function -> (its rule, whether it writes into its first argument)
cdef type CompiledFunction = type(rank_of)


def declare_rule(function, rule):
    """declare_rule(function, rule): register the batching rule of this function object."""
    if not is_function(function):
        raise TypeError(f"declare_rule(): {function!r} is not a function")
    rules[function] = (rule, writes(function))


def declare_write(function):
    """declare_write(function): note that this function object writes into its first argument."""
    rules[function] = (rule_of(function), True)


cpdef bint writes(object function) except -1:
    """writes(function) -> bool: whether the function writes into its first argument, as declared."""
    cdef tuple entry = entry_of(function)
    return entry is not None and entry[1]


def rule_of(function):
    """rule_of(function) -> the rule declared for this function object; None if there is none."""
    cdef tuple entry = entry_of(function)
    return None if entry is None else entry[0]


cdef bint is_function(object x) noexcept:
    return type(x) is CompiledFunction or type(x) is FunctionType


cdef tuple entry_of(object function):
    """The function's entry in `rules`. Functions compare by identity; other callables may define __eq__ and __hash__."""
    return <tuple> rules.get(function) if is_function(function) else None


# the call

def batched_call(function, BatchLevel level not None, tuple args, dict kwargs):
    """Call an operation with BatchedTensors of `level`, the innermost one among the arguments."""
    cdef BatchedCall call = BatchedCall.__new__(BatchedCall)
    cdef tuple entry = entry_of(function)
    cdef object rule, own = args[0] if args else None
    cdef bint in_place
    rule, in_place = (None, False) if entry is None else (entry[0], entry[1])
    call.function, call.level = function, level
    if computing.repeated > MOST_REPEATED and computing.function == <void *> function and computing.level == <void *> level:
        call.on_sample(*args, **kwargs)         # the rule passed on a batched tensor where no batch is allowed
    if level.unbatched or thread_state().mode & FORWARD_AD:         # case 8 of NOTE [Batching]
        args = tuple([with_samples(x, level) if i or not in_place else x for i, x in enumerate(args)])
        kwargs = {name: with_samples(x, level) for name, x in kwargs.items()}
        own = args[0] if args else None
    if in_place and not call.is_batched(own):
        raise refusal_of_write(function.__name__, args)
    result = by_rule(call, rule, args, kwargs)
    if not in_place:
        return wrapped(call, result, own)
    if isinstance(result, Tensor) and result is not (<BatchedTensor> own).value and result is not own:
        (<object> (<BatchedTensor> own).value).copy_(call.value(result))
    return own


cdef object by_rule(BatchedCall call, object rule, tuple args, dict kwargs):
    """Call the rule, or loop over the samples if there is none."""
    cdef void *function = computing.function
    cdef void *level = computing.level
    cdef int repeated = computing.repeated
    computing.repeated = repeated + 1 if function == <void *> call.function and level == <void *> call.level else 0
    computing.function, computing.level = <void *> call.function, <void *> call.level
    try:
        if rule is None:
            return by_loop(call, args, kwargs)
        if rule is not elementwise:
            if args and not isinstance(args[0], Tensor):
                check_first(call, args, kwargs)
            return rule(call, *args, **kwargs)
        if len(args) == 1 and not kwargs:
            return call.function(call.value(args[0]))
        return aligned_call(call, args, kwargs)
    finally:
        computing.function, computing.level, computing.repeated = function, level, repeated


cdef int check_first(BatchedCall call, tuple args, dict kwargs) except -1:
    """If the first argument is not a Tensor, raise the operation's own error: rules rely on a Tensor."""
    cdef tuple parameters = call.function.__code__.co_varnames
    if parameters[0] not in SEQUENCES:
        call.function(*[first_sample(x) for x in args], **{name: first_sample(x) for name, x in kwargs.items()})
    return 0


def refusal_of_write(str name, tuple args):
    """refusal_of_write(name, args) -> RuntimeError: the error for writing a batched tensor into a plain one.

    It uses PyTorch's name of the operation.
    """
    if name == "set_item":
        index = args[1] if type(args[1]) is tuple else (args[1],)
        name = "index_put_" if any([isinstance(i, (Tensor, list, cnp.ndarray)) for i in index]) else "copy_"
    if name in ("add_", "sub_", "mul_", "div_", "copy_", "masked_fill_"):
        name = "inplace arithmetic"
    elif name == "bernoulli_":
        name = "inplace bernoulli"
    return RuntimeError(
        f"vmap: {name}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more "
        "elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over in a vmap. "
        f"Please try to use out-of-place operators instead of {name}.")


cdef object wrapped(BatchedCall call, object result, object own):
    """Results for all samples as BatchedTensors; `own` itself if the operation returned its value."""
    if isinstance(result, Tensor):
        if call.is_batched(own) and result is (<BatchedTensor> own).value:
            return own
        return result if call.is_batched(result) else batched(<Tensor> result, call.level)
    if isinstance(result, (tuple, list)):
        items = [wrapped(call, x, own) for x in result]
        return result._make(items) if hasattr(result, "_make") else type(result)(items)
    return result


declare_rule(place_of, COMPOSITE)
