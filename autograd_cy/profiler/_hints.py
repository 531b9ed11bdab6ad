"""prof.hints(): lines of the user's code that lose time in casts, copies, layouts and new memory, with the possible gain.

Each rule looks at the calls of one operation on one kind of operands from one line. It measures the gain by calling the
operation again on better operands.
"""

import html
import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from .._core.inspection.raw_events import Array, Frame
from .._core.ops.operations import OPS
from ._calls import LARGE, OWNED, Calls, calls_by_line
from ._format import format_memory, format_time
from ._operands import nbytes_of, shown_line, source_of
from ._recording import Recording
from ._replay import Replay, converted, dense

WORTH = 0.002  # of the recorded time: the least gain to report; waiting threads may have prolonged that time
WORTH_NS = 20_000
MANY = 100  # calls from one line
PRODUCTS = ("matmul", "mm", "bmm", "mv", "addmm", "linear")
COPIES = ("contiguous", "clone", "reshape", "flatten")


class Hint(NamedTuple):
    """A line that loses time: the reason, and the possible gain in all recorded calls, in ns."""

    file: str
    line: int
    source: str
    message: str
    gain_ns: float
    kind: str

    def __str__(self) -> str:
        return f"{shown_line(self)}: {self.source}\n    {self.message}; {format_time(self.gain_ns / 1e3)} less"


class Hints(list[Hint]):
    """The hints of a profile, the largest gain first. print() shows them a line each."""

    def __str__(self) -> str:
        return "\n".join(map(str, self)) if self else "no hints"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(shown_line(hint))}</td><td><code>{html.escape(hint.source)}</code></td>"
            f"<td>{html.escape(hint.message)}</td><td>{format_time(hint.gain_ns / 1e3)}</td></tr>"
            for hint in self
        )
        return f"<table><thead><tr><th>line</th><th>source</th><th>hint</th><th>gain</th></tr></thead>{rows}</table>"


Found = tuple[str, str, float]  # kind, message, gain of a call in ns


def hints_of(prof: Any) -> Hints:
    """The hints of a profile; those about operands need record_shapes=True, those about new memory profile_memory=True."""
    recording: Recording = prof.recording
    replay = Replay()
    best: dict[tuple[Frame, str, str], list[float]] = defaultdict(lambda: [0.0])
    for (frame, _), calls in calls_by_line(recording).items():
        for rule in RULES:
            for kind, message, gain in rule(calls, replay):
                best[frame, kind, message][0] += max(gain, 0.0) * calls.n
    worth = max(WORTH * (recording.end - recording.begin), WORTH_NS)
    found = [
        Hint(frame.file, frame.line, source_of(frame), message, gain, kind)
        for (frame, kind, message), (gain,) in best.items()
        if gain >= worth
    ]
    return Hints(sorted(found, key=lambda hint: -hint.gain_ns))


# the rules


def casts(calls: Calls, replay: Replay) -> Iterator[Found]:
    """An operand is converted to the type of the others on each call."""
    if not _is_arithmetic(calls.name) or calls.result is None:
        return
    floats = [array.dtype for array in calls.operands if array.dtype.startswith(("float", "complex"))]
    target = calls.result.dtype if calls.result.dtype != "bool" else max(floats, default="")
    for k, array in calls.repeated():
        if target and array.dtype != target:
            gain = _gain(calls, replay, k, dense(converted(array, target)))
            if gain:
                text = f"`{calls.name}` converts {format_memory(nbytes_of(array))} of {array.dtype} to {target} on each call"
                yield "cast", f"{text}: convert it once", gain


def copied_products(calls: Calls, replay: Replay) -> Iterator[Found]:
    """A product with a matrix that BLAS can't read in place."""
    if calls.name not in PRODUCTS:
        return
    for k, array in calls.repeated():
        if len(array.shape) >= 2 and array.itemsize not in array.strides[-2:]:
            gain = _gain(calls, replay, k, dense(array))
            if gain:
                yield "copy", (
                    f"`{calls.name}` copies {format_memory(nbytes_of(array))} on each call, for neither rows nor columns are "
                    "dense: make it contiguous() once"
                ), gain  # fmt: skip


def copies(calls: Calls, replay: Replay) -> Iterator[Found]:
    """The same tensor is copied repeatedly, or an expanded tensor is materialized."""
    if calls.name not in COPIES or not calls.operands or calls.result is None:
        return
    (source, *_), result = calls.operands, calls.result
    if nbytes_of(result) < LARGE or not result.flags & OWNED:
        return
    if any(stride == 0 and size > 1 for stride, size in zip(source.strides, source.shape, strict=True)):
        yield "broadcast", (
            f"`{calls.name}` writes {format_memory(nbytes_of(result))} of repeated numbers on each call: operations broadcast "
            "by themselves"
        ), calls.mean_ns  # fmt: skip
    elif calls.name != "clone" and calls.repeated():
        yield "copy", (
            f"`{calls.name}` copies {format_memory(nbytes_of(result))} on each call, of the same tensor: copy it once"
        ), calls.mean_ns  # fmt: skip


def layouts(calls: Calls, replay: Replay) -> Iterator[Found]:
    """An operand's elements can't be read in memory order."""
    if not _is_elementwise(calls.name) and calls.name not in ("sum", "mean", "softmax", "amax", "amin", "var", "std", "norm"):
        return
    apart = [array for _, array in calls.repeated() if not _reads_well(array, calls.operands)]
    if not apart:
        return
    gain = replay.gain_ns(calls, [dense(array) for array in calls.operands])
    if gain:
        array = apart[0]
        yield "layout", (
            f"`{calls.name}` reads {format_memory(nbytes_of(array))} with strides {array.strides}: a contiguous() copy, made "
            "once, is read faster"
        ), gain  # fmt: skip


def new_memory(calls: Calls, replay: Replay) -> Iterator[Found]:
    """A result takes new memory, while an operand's memory is freed."""
    if not _is_elementwise(calls.name) or calls.recorded or calls.replaced * 2 < calls.n or calls.result is None:
        return
    first = calls.operands[0]
    if nbytes_of(first) < LARGE or (first.shape, first.dtype) != (calls.result.shape, calls.result.dtype):
        return
    gain = replay.gain_ns(calls)
    if gain:
        yield "memory", (
            f"`{calls.name}` takes {format_memory(nbytes_of(first))} of new memory on each call and gives those of its "
            f"operand up: `{calls.name}_` writes in place"
        ), gain  # fmt: skip


def single_elements(calls: Calls, replay: Replay) -> Iterator[Found]:
    """A tensor is read element by element."""
    if calls.name not in ("getitem", "select", "item") or calls.n < MANY or not calls.operands:
        return
    read = math.prod(calls.result.shape) if calls.result is not None else 1
    if read == 1 and math.prod(calls.operands[0].shape) > 16:
        yield "elements", f"{calls.n} calls read one element each: an operation on the whole tensor takes one", calls.mean_ns


def _gain(calls: Calls, replay: Replay, k: int, better: Array) -> float:
    """The gain of a call from replacing its k-th operand."""
    return replay.gain_ns(calls, [*calls.operands[:k], better, *calls.operands[k + 1 :]])


RULES = (casts, copied_products, copies, layouts, new_memory, single_elements)


def _is_elementwise(name: str) -> bool:
    return name in OPS and OPS[name].kind == "elementwise"


def _is_arithmetic(name: str) -> bool:
    return _is_elementwise(name) or name in PRODUCTS


def _reads_well(array: Array, others: tuple[Array, ...]) -> bool:
    """Whether an array is dense in the order of all others of its shape, or is broadcast."""
    if any(stride == 0 for stride in array.strides) or len(array.shape) == 0:
        return True
    order = sorted(range(len(array.shape)), key=lambda axis: (-array.strides[axis], axis))
    step = array.itemsize
    for axis in reversed(order):
        if array.shape[axis] > 1 and array.strides[axis] != step:
            return False
        step *= array.shape[axis]
    return all(
        other.strides == array.strides or other.shape != array.shape or other.itemsize != array.itemsize for other in others
    )
