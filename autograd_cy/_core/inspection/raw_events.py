"""The results of the profiler's recorder: plain tuples, made after recording has stopped (knows nothing else)."""

from typing import NamedTuple


class Frame(NamedTuple):
    """A running line of the user's code."""

    file: str
    line: int
    function: str


class Array(NamedTuple):
    """The layout of an operand or a result in memory: shape, strides in bytes, and the name of its dtype (`float32`).

    `flags` are NumPy's: 1 for C-contiguous, 2 for F-contiguous, 4 for an array that owns its memory; `address` is the address
    of the first element.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    itemsize: int
    flags: int
    address: int = 0


class RawEvent(NamedTuple):
    """One event. Times are nanoseconds in the clock of time.perf_counter_ns().

    `kind` is one of

    * "op": a call of a public operation;
    * "backward": the engine runs a node;
    * "engine": a phase of the engine; "backward" is the whole walk;
    * "function": the Python code of a Function, its forward or its backward;
    * "hook": a hook;
    * "threads": a loop shared among threads, part of the operation around it;
    * "region": a record_function block, or a step of the profiler.

    `parent` is the index of the enclosing event of the same thread in the list of all, or -1. An operation that recorded nodes
    has the number of the first in `sequence_nr` and their count in `n_nodes`; a backward event has its node's number. `stack`
    begins with the innermost frame. Data that was not requested is None, -1 or ().
    """

    kind: str
    name: str
    start: int
    end: int
    thread: int
    parent: int
    sequence_nr: int = -1
    n_nodes: int = 0
    operands: tuple[Array, ...] | None = None
    result: Array | None = None
    stack: tuple[Frame, ...] = ()
    args: str | None = None


class RawAllocation(NamedTuple):
    """Memory that was taken (`nbytes` > 0) or returned (< 0), and the innermost event that was open then, or -1."""

    time: int
    thread: int
    nbytes: int
    address: int
    event: int
