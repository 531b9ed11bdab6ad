"""Batching rules: how an operation handles operands with a batch dimension.

A rule receives the call (BatchedCall) and the arguments as given, in which tensors of the call's level are BatchedTensors. It
returns the results for all samples, batch first. It calls the operation by `call(...)`, which is the in-place operation if
that was called.

Kinds of rules that need no code: `elementwise` aligns the operands' dimensions; `Along` shifts the dimensions that an
argument names; `sample_by_sample` loops; `on_values` passes the values, `on_matrices` if samples are matrices; COMPOSITE runs
the operation itself, for operations that consist of others.
"""

import warnings

from types import FunctionType

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport BOOL, FLOAT16, COMPLEX64, code_of, dtype_of, promote
from autograd_cy._core.batching.batched cimport (
    BatchedTensor, at_level, at_level_or_expanded, batched, has_samples, level_of, with_samples)
from autograd_cy._core.batching.levels cimport BatchLevel
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport wrap_dim
cimport autograd_cy._core.graph.samples as samples_module
from autograd_cy._core.graph.saved cimport tangents_of
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.graph.tensor_life cimport new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport FORWARD_AD, thread_state

from autograd_cy._core.graph.node_attributes import place_of

cnp.import_array()

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


@cython.final
cdef class BatchedCall:
    """A call of an operation with a BatchedTensor of `level`, which is the innermost one among its arguments."""

    def __call__(self, *args, **kwargs):
        """The operation on all samples."""
        return self.function(*args, **kwargs)

    cpdef bint is_batched(self, object x) except -1:
        """Whether `x` is a tensor that is batched at the call's level."""
        return isinstance(x, Tensor) and (<Tensor> x).batched and (<BatchedTensor> x).level is self.level

    cpdef object value(self, object x):
        """All samples of `x`; anything that is not batched is returned as is."""
        return (<BatchedTensor> x).value if self.is_batched(x) else x

    cpdef object front(self, object x):
        """All samples of a tensor, repeated if it is not batched; anything else is returned as is."""
        if self.is_batched(x):
            return (<BatchedTensor> x).value
        if not isinstance(x, Tensor):
            return x
        return x.unsqueeze(0).expand(self.level.size, *x.shape)

    def vectors(self, Tensor x):
        """All samples of a tensor, those without dimensions as vectors of one element."""
        cdef object samples = self.front(x)
        return samples if cnp.PyArray_NDIM(x.array) else samples.unsqueeze(1)

    cpdef object aligned(self, object x, int rank):
        """All samples of `x`, each padded in front to `rank` dimensions; anything that is not batched is returned as is."""
        cdef int missing
        cdef tuple sizes
        if not self.is_batched(x):
            return x
        missing = rank - cnp.PyArray_NDIM((<Tensor> x).array)
        x = (<BatchedTensor> x).value
        if missing <= 0:
            return x
        sizes = tuple(x.shape)
        return x.reshape(sizes[:1] + (1,) * missing + sizes[1:])

    def with_batch(self, Tensor x, sizes):
        """`sizes` of one sample with the batch size in front; a -1 in them is computed if the batch is empty."""
        cdef object wanted = tuple(sizes), known = 1
        if self.level.size == 0 and -1 in wanted:
            for n in wanted:
                known *= 1 if n == -1 else n
            wanted = tuple([cnp.PyArray_SIZE(x.array) // max(known, 1) if n == -1 else n for n in wanted])
        return (self.level.size, *wanted)

    def on_sample(self, *args, **kwargs):
        """Call the operation on the first samples, to raise its own error."""
        self.function(*[first_sample(x) for x in args], **{name: first_sample(x) for name, x in kwargs.items()})
        raise RuntimeError(f"vmap: {self.function.__name__}() takes no such arguments")

    def check_rank(self, Tensor x, int rank, *args, **kwargs):
        """Raise the operation's own error for these arguments if a sample of `x` has fewer than `rank` dimensions."""
        if cnp.PyArray_NDIM(x.array) < rank:
            self.on_sample(*args, **kwargs)

    def nothing(self, *args):
        """The result for an empty batch, with the shape of the first samples' result. Its gradients are 0."""
        shape = self.function(*[first_sample(x) for x in args]).shape
        tensors = [self.value(x).sum() for x in args if isinstance(x, Tensor)]
        return sum(tensors[1:], tensors[0]) * new_tensor(np.zeros((0, *shape), tensors[0].dtype.numpy_dtype))

    @property
    def size(self):
        """The number of samples."""
        return self.level.size


cdef object first_sample(object x):
    """The first sample of a batched tensor, without history; a list or tuple is converted item by item."""
    if type(x) is list or type(x) is tuple:
        return type(x)([first_sample(item) for item in x])
    return new_tensor((<Tensor> x).array) if isinstance(x, Tensor) else x


def rank_of(Tensor x):
    """rank_of(x) -> int: the number of dimensions of a sample."""
    return cnp.PyArray_NDIM(x.array)


# kinds of rules

def elementwise(BatchedCall call, *args, **kwargs):
    """Operands are broadcast: missing dimensions are inserted after the batch dimension."""
    return aligned_call(call, args, kwargs)


cdef object aligned_call(BatchedCall call, tuple args, dict kwargs):
    cdef int rank = 0, ndim, dtype_code, wide = -1, narrow = -1
    cdef bint differ = False
    cdef tuple values = args if not kwargs else args + tuple(kwargs.values())
    for x in values:
        if isinstance(x, Tensor):
            ndim = cnp.PyArray_NDIM((<Tensor> x).array)
            dtype_code = code_of((<Tensor> x).array)
            if ndim:
                wide = dtype_code if wide < 0 else promote(wide, dtype_code)
                rank = max(rank, ndim)
            elif (<Tensor> x).batched:
                narrow = max(narrow, dtype_code)
        elif isinstance(x, cnp.ndarray) and cnp.PyArray_NDIM(x):
            rank = max(rank, cnp.PyArray_NDIM(x))
            wide = code_of(x) if wide < 0 else promote(wide, code_of(x))
    differ = wide >= 0 and narrow >= 0
    args = tuple([aligned_operand(call, x, rank, wide if differ else -1) for x in args])
    if kwargs:
        kwargs = {name: aligned_operand(call, x, rank, wide if differ else -1) for name, x in kwargs.items()}
    return call.function(*args, **kwargs)


cdef object aligned_operand(BatchedCall call, object x, int rank, int wide):
    """An operand whose samples are padded to that rank.

    A 0-d sample must not decide the result's dtype if an operand with dimensions has the same or a higher kind (`wide`).
    With the batch dimension it would, so it is converted first.
    """
    cdef int dtype_code
    if not call.is_batched(x):
        return x
    dtype_code = code_of((<Tensor> x).array)
    if wide >= 0 and dtype_code != wide and dtype_code != BOOL and not cnp.PyArray_NDIM((<Tensor> x).array):
        if kind_of(dtype_code) <= kind_of(wide):
            return call.aligned(x, rank).to(dtype_of(wide))
    return call.aligned(x, rank)


cdef int kind_of(int dtype_code) noexcept:
    """0 for bools, 1 for integers, 2 for floating point and 3 for complex numbers."""
    return 0 if dtype_code == BOOL else 1 if dtype_code < FLOAT16 else 2 if dtype_code < COMPLEX64 else 3


def on_values(BatchedCall call, *args, **kwargs):
    """The rule of operations on one tensor that leave dimensions alone."""
    return call.function(*[call.value(x) for x in args], **{name: call.value(x) for name, x in kwargs.items()})


def on_matrices(BatchedCall call, input, *args, **kwargs):
    """Like on_values, for operations on matrices: the batch dimension must not be taken for one of a sample's matrix."""
    call.check_rank(input, 2, input, *args, **kwargs)
    return on_values(call, input, *args, **kwargs)


def on_first_value(BatchedCall call, self, *args, **kwargs):
    """Like on_values, but another operand may decide the dtype: if only that one is batched, the result is expanded."""
    cdef object converted = on_values(call, self, *args, **kwargs)
    return converted if call.is_batched(self) else converted.expand(call.size, *converted.shape)


@cython.final
cdef class Along:
    """The rule of an operation on one tensor along the dimensions in its argument `name`.

    `without`: the meaning of None: "all" dimensions, or the elements in their order ("flat"). `least`: how many dimensions
    the operation needs.
    """
    cdef str name, without
    cdef int least
    cdef object function                # the last one that was called: `place` is the position of its parameter `name`
    cdef Py_ssize_t place
    cdef tuple default                  # ... and this holds its default; empty if it has none

    def __init__(self, name, without=None, least=0):
        self.name, self.without, self.least = name, without, least

    cdef int look_at(self, object function) except -1:
        """Find the parameter that names the dimensions."""
        cdef object code = function.__code__
        cdef tuple defaults = function.__defaults__ or ()
        cdef Py_ssize_t from_end = code.co_argcount - code.co_varnames.index(self.name)
        self.place = code.co_varnames.index(self.name) - 1
        self.default = defaults[len(defaults) - from_end:][:1] if from_end <= len(defaults) else ()
        self.function = function
        return 0

    def __call__(self, BatchedCall call, input, *args, **kwargs):
        cdef Tensor x = <Tensor> input
        cdef int rank = cnp.PyArray_NDIM(x.array)
        cdef object value = call.value(input), dim
        cdef bint flat = False
        cdef Py_ssize_t place
        call.check_rank(x, self.least, input, *args, **kwargs)
        if self.function is not call.function:
            self.look_at(call.function)
        place = self.place
        if len(args) > place:
            dim = args[place]
        elif self.name in kwargs:
            dim = kwargs[self.name]
        else:
            dim = self.default[0] if self.default else call.on_sample(input)
        if rank == 0:
            value = value.unsqueeze(1)
        if dim is None or (type(dim) is tuple and not dim and self.without == "all"):
            if self.without == "flat":
                value, dim, flat = value.reshape(call.size, x.array.size), 1, True
            else:
                dim = tuple(range(1, rank + 1)) if rank else 1
        elif isinstance(dim, (tuple, list)):
            dim = tuple([wrap_dim(d, rank) + 1 for d in dim])
        else:
            dim = wrap_dim(dim, rank) + 1
        if len(args) > place:
            args = args[:place] + (dim,) + args[place + 1:]
        else:
            kwargs[self.name] = dim
        result = call.function(value, *args, **kwargs)
        if rank == 0:
            return without_dims(result, call.size)
        if flat and rank_of(result) == 2:         # the dimensions were kept
            return result.reshape((call.size,) + (1,) * rank)
        return result


cdef object without_dims(object result, Py_ssize_t size):
    """Results of 0-d samples that were computed with one dimension."""
    if isinstance(result, Tensor):
        return result.reshape(size)
    items = [without_dims(x, size) for x in result]
    return result._make(items) if hasattr(result, "_make") else type(result)(items)


# the call

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


cpdef object by_loop(BatchedCall call, tuple args, dict kwargs):
    """Compute an operation without a rule sample by sample."""
    name = call.function.__name__
    if call.level.size == 0:
        raise RuntimeError(f"vmap: {name}() has no batching rule, and of an empty batch it can't be told what it would return")
    warnings.warn(
        f"There is a performance drop because we have not yet implemented the batching rule for autograd_cy::{name}. "
        "Please file an issue", UserWarning, stacklevel=2)
    return sample_by_sample(call, *args, **kwargs)


def sample_by_sample(BatchedCall call, *args, **kwargs):
    """The rule of an operation whose output shape depends on its values. It must be the same for all samples."""
    cdef Py_ssize_t k
    cdef list results = []
    if call.level.size == 0:
        raise RuntimeError(f"Batching rule not implemented for {call.function.__name__}. The fallback path does not support "
                           "vmap over dims of size 0.")
    for k in range(call.level.size):
        named = {key: sample_of(x, call.level, k) for key, x in kwargs.items()}
        results.append(call.function(*[sample_of(x, call.level, k) for x in args], **named))
    return stacked(results)


cdef object sample_of(object x, BatchLevel level, Py_ssize_t k):
    """The k-th sample of a tensor that is batched at that level; a list or tuple is converted item by item."""
    if isinstance(x, Tensor):
        if at_level(<Tensor> x, level) is not None or has_samples(<Tensor> x, level):
            return (<object> at_level_or_expanded(<Tensor> x, level))[k]
        return x
    if type(x) is list or type(x) is tuple:
        return type(x)([sample_of(item, level, k) for item in x])
    return x


cdef object stacked(list results):
    """Join the results of single samples."""
    first = results[0]
    if isinstance(first, Tensor):
        parts = [x.unsqueeze(0) for x in results]
        return concatenate(parts)
    if isinstance(first, (tuple, list)):
        items = [stacked(list(column)) for column in zip(*results)]
        return first._make(items) if hasattr(first, "_make") else type(first)(items)
    raise RuntimeError(f"vmap: an operation without a batching rule returned {type(first).__name__}, not tensors")


cdef object of_samples(object function, tuple tensors, object constant):
    """Call function(*values, constant, n) on all n samples at the innermost level of the tensors."""
    cdef BatchLevel level = innermost(tensors)
    cdef tuple values = tuple([None if x is None else at_level_or_expanded(<Tensor> x, level) for x in tensors])
    return batched(<Tensor?> function(*values, constant, level.size), level)


cdef tuple jvp_by_samples(object node, tuple tangents, tuple outputs):
    """The tangents of a node's outputs, computed sample by sample."""
    cdef BatchLevel level = innermost(tangents)
    cdef list found = []
    cdef Py_ssize_t k
    if level is None:
        raise RuntimeError(f"{node.name()} took a tensor for a batched one")
    for k in range(level.size):
        found.append(tangents_of(<Node> node, tuple([sample_of(t, level, k) for t in tangents]), outputs))
    if not found:
        return tuple([None if y is None else batched(<Tensor> no_samples(<Tensor> y), level) for y in outputs])
    return tuple([None if column[0] is None
                  else batched(stacked([sample_of(t, level, k) for k, t in enumerate(column)]), level)
                  for column in zip(*found)])


cdef object no_samples(Tensor y):
    """Zeros for the samples of an empty batch."""
    return new_tensor(np.zeros((0,) + np.shape(y.array), y.array.dtype))


cdef BatchLevel innermost(tuple tensors):
    """The innermost level at which one of the tensors (or Nones) is batched; None if none is."""
    cdef BatchLevel level = None
    for x in tensors:
        if x is not None and (<Tensor> x).batched and (level is None or level_of(<Tensor> x).number > level.number):
            level = level_of(<Tensor> x)
    return level


cdef object concatenate             # ops/shapes/shape.pyx sets it to cat


def set_concatenate(function):
    """set_concatenate(cat): set the function that joins the results of single samples."""
    global concatenate
    concatenate = function


# rules for methods of Tensor that are not public operations; the module of the method declares its rule

def batched_fill(BatchedCall call, self, value):
    if call.is_batched(value):
        return call.value(self).copy_(call.aligned(value, rank_of(self)))
    return call(call.value(self), value)


def batched_new(BatchedCall call, self, *sizes, **kwargs):
    """new_zeros and similar: the function under vmap may write to the result, so it is batched from the start."""
    size = kwargs.pop("size", sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes)
    return call(call.value(self), (call.size, *size), **kwargs)


def batched_new_full(BatchedCall call, self, size, fill_value, **kwargs):
    if call.is_batched(fill_value):
        fill_value.item()               # raises: a batched tensor can't be read
    return call(call.value(self), (call.size, *size), fill_value, **kwargs)


declare_rule(place_of, COMPOSITE)

samples_module.of_samples = of_samples
samples_module.jvp_by_samples = jvp_by_samples
