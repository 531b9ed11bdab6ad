"""One call: what it may raise, and what it must leave as it was."""

import contextlib
import contextvars
import sys
import traceback
import warnings

import numpy as np

import autograd_cy as ag
from autograd_cy._core.graph.context import close_dual_level, dual_depth
from autograd_cy._core.graph.tensor import array_of

from .surface import a_call
from .values import Evil

BUGS = (SystemError, NameError, RecursionError, BufferError)
REFUSED_BY_DLPACK = ("Can't export tensors", "DLPack only supports", "Cannot export readonly")  # ours; NumPy's
WRITES = ("__setitem__", "batch_norm", "instance_norm", "_")  # ends of names; the norms write running statistics
# Of 2**40 columns these make as many objects, and of a range a tuple, which fills the memory, or go through it.
TAKE_THEIR_TIME = ("unbind", "split", "chunk", "tolist", "__iter__", "_check_inputs", ".Size")
unraisable = []
sys.unraisablehook = lambda what: unraisable.append(what.exc_value)


def make_call(seed, number, note=lambda text: None):
    """Make the call of that number, and return what is wrong about it: a text, or None.

    `note` is told what will be called, before it is.
    """
    context = contextvars.copy_context()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return context.run(_in_context, seed, number, note)


def _in_context(seed, number, note):
    note(f"{number} (its arguments)")
    try:
        name, function, args, kwargs, maker = a_call(seed, number)
    except Exception as error:  # a sample that can't be made here, or a bug
        name, wrong = "making the call", complaint(error)
        return wrong and f"{number} {name}: {wrong}\n{trace(error)}"
    if maker.huge and any(many in name for many in TAKE_THEIR_TIME):
        return None
    text = f"{number} {name}({shown(args, kwargs)})"
    note(text)
    before = [(x, state_of(x)) for x in watched([args, kwargs])]
    error = result = None
    try:
        result = function(*args, **kwargs)
    except BaseException as caught:
        error = caught
    wrong = []
    if error is not None and not (isinstance(error, MemoryError) and maker.huge):  # there is none for what was asked
        wrong.append(complaint(error))
    if isinstance(error, MemoryError):
        error.__traceback__ = None  # whose frames hold what took it
    if error is not None or is_pure(name, args, kwargs):
        wrong += [changed(x, state, name) for x, state in before]
    wrong += [f"an exception was lost: {lost!r}" for lost in unraisable]
    unraisable.clear()
    wrong.append(put_back(result))
    wrong = "; ".join(filter(None, wrong))
    return f"{text}: {wrong}\n{trace(error)}" if wrong else None


def complaint(error):
    """What is wrong about an exception, or None."""
    if isinstance(error, Evil):
        return None
    kind = type(error).__name__
    told = isinstance(error, BufferError) and str(error).startswith(REFUSED_BY_DLPACK)
    if (isinstance(error, BUGS) and not told) or not isinstance(error, Exception):
        return f"{kind}: {error}"
    if not str(error):
        return f"{kind} without a word"
    return None


def trace(error):
    return "" if error is None else "".join(traceback.format_exception(error)[-6:])


# what must not change


def watched(value, depth=3):
    """The tensors and arrays among the arguments."""
    if issubclass(type(value), (np.ndarray, ag.Tensor)):  # isinstance asks the value, too
        return [value]
    if type(value) in (list, tuple) and depth:
        return [x for item in value for x in watched(item, depth - 1)]
    return watched(list(value.values()), depth) if type(value) is dict and depth else []


def state_of(x):
    if not issubclass(type(x), ag.Tensor):
        return contents(x)
    version = 0 if x.is_inference() else x._version
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {**contents(array_of(stored(x))), "version": version, "requires_grad": x.requires_grad,
                "grad_fn": id(x.grad_fn), "retains_grad": x.retains_grad, "grad": id(x.grad)}  # fmt: skip


def stored(x):
    """A tensor that has the elements of this one: of a sparse one its values."""
    if x.layout is ag.strided:
        return x
    return x._values() if x.layout is ag.sparse_coo else x.values()


def contents(array):
    return {
        "bytes": array.tobytes() if array.size < 10_000 and array.dtype != object else None,
        "layout": (array.shape, array.strides, array.dtype, array.flags.writeable),
    }


def changed(x, before, name):
    after = state_of(x)
    keys = [key for key in before if before[key] != after[key]]
    if "backward" in name or "grad" in name or "Accumulate" in name:
        keys = [key for key in keys if key not in ("grad", "retains_grad")]  # what ran before the failure counts
    return f"changed {', '.join(keys)} of an argument" if keys else None


def is_pure(name, args, kwargs):
    """Whether the call is one of an operation that writes to nothing; an argument more may be `inplace`."""
    in_place = len(args) > 1 and type(args[-1]) in (bool, np.bool_) and args[-1]
    return name.startswith("op ") and not (name.endswith(WRITES) or "out" in kwargs or in_place)


def put_back(result):
    """Undo what outlives a call, and see that a backward works."""
    with contextlib.suppress(Exception):
        if hasattr(type(result), "remove"):
            result.remove()
    while dual_depth():
        close_dual_level()
    ag.set_default_dtype(ag.float32)
    ag.autograd.set_detect_anomaly(False)
    return contextvars.Context().run(still_works)


def still_works():
    x = ag.ones(2, requires_grad=True)
    try:
        (x * x).sum().backward()
    except Exception as error:
        return f"afterwards a backward fails: {error!r}"
    return None if x.grad.tolist() == [2, 2] else f"afterwards a gradient is {x.grad}"


def shown(args, kwargs):
    return ", ".join([*map(show, args), *(f"{name}={show(value)}" for name, value in kwargs.items())])


def show(value, depth=2):
    kind = type(value)
    if issubclass(kind, ag.Tensor) or issubclass(kind, np.ndarray):
        return f"{kind.__name__}({list(value.shape)}, {value.dtype})"
    if kind in (list, tuple) and depth:
        return f"{kind.__name__}({', '.join(show(item, depth - 1) for item in value[:8])})"
    if kind in (int, float, complex, bool, str, bytes, type(None)):
        return ascii(value)[:60]
    return f"<{kind.__name__}>"
