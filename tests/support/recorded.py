"""Hand-made raw events, and a recorder that yields them in the place of the compiled one."""

from autograd_cy._core.inspection.raw_events import Array, Frame, RawAllocation, RawEvent
from autograd_cy.profiler import _record_function, _session

MAIN, HELPER = Frame("/home/me/step.py", 12, "loss_of"), Frame("/home/me/step.py", 30, "<module>")
SQUARE = Array((4, 4), (16, 4), "float32", 4, 1)


def op(name, start, end, parent=-1, thread=0, first=-1, nodes=0, operands=(SQUARE, SQUARE), stack=(MAIN, HELPER)):
    """A call of an operation that recorded nodes."""
    return RawEvent("op", name, start, end, thread, parent, first, nodes, operands, None, stack)


def backward(name, start, end, parent=-1, thread=0, number=-1):
    """The run of a node."""
    return RawEvent("backward", name, start, end, thread, parent, number, stack=(HELPER,))


def region(name, start, end, parent=-1, thread=0, kind="region", args=None):
    """A named part of a program, or with another kind of the engine."""
    return RawEvent(kind, name, start, end, thread, parent, args=args)


# A step: mul with a copy inside, and sum; backward in a walk of the engine, where a hook calls mul; a helper thread.
STEP = [
    region("ProfilerStep#0", 1000, 11000),
    op("mul", 2000, 3500, 0, first=7, nodes=1),
    op("copy_", 2000, 2600, 1, operands=(SQUARE,)),
    op("sum", 4000, 4750, 0, first=8, nodes=1, operands=(SQUARE,)),
    region("backward", 5000, 9000, 0, kind="engine"),
    region("count dependencies", 5000, 5100, 4, kind="engine"),
    backward("SumBackward0", 5200, 5600, 4, number=8),
    backward("MulBackward0", 6000, 7250, 4, number=7),
    op("mm", 6100, 6900, 7),
    region("hook", 7300, 8000, 4, kind="hook"),
    op("mul", 7400, 7900, 9, stack=(HELPER,)),
    backward("AccumulateGrad", 8100, 8300, 4, number=2**63),
    op("mul", 3000, 3100, thread=1, first=7, nodes=1),
]
MEMORY = [
    RawAllocation(500, 0, 100, 1, -1),
    RawAllocation(2100, 0, 64, 2, 2),
    RawAllocation(2700, 0, 64, 3, 1),
    RawAllocation(3400, 0, -64, 2, 1),
    RawAllocation(6200, 0, 256, 4, 8),
    RawAllocation(10500, 0, -64, 3, 0),
]
THREADS = [(4242, "MainThread"), (4243, "helper")]


class Recorder:
    """Yields what it was given, and notes what it was asked for."""

    def __init__(self, shapes, stack, memory, capacity, events=STEP, allocations=MEMORY, dropped=0, log=None):
        self.asked, self.given, self.allocations = (shapes, stack, memory, capacity), list(events), allocations
        self.start_time = self.stop_time = 0
        self.threads, self.dropped, self.undescribed, self.log = THREADS, dropped, 0, [] if log is None else log
        self.log.append("prepare")

    def start(self):
        self.log.append("start")

    def stop(self):
        self.log.append("stop")

    def events(self):
        return self.given

    def memory(self):
        return self.allocations if self.asked[2] else []


def stand_in(monkeypatch, **given):
    """Put such recorders in place; the log of what happens comes back."""
    log = []
    monkeypatch.setattr(_session, "Recorder", lambda *asked: Recorder(*asked, log=log, **given))
    monkeypatch.setattr(_record_function, "begin_region", lambda name, args=None: log.append(("begin", name)))
    monkeypatch.setattr(_record_function, "end_region", lambda token: log.append("end"))
    return log
