"""Each allocation of a step fails in turn: a MemoryError reaches the caller, nothing is half done, the next step works."""

import gc
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from common import in_threads
from fault_scenarios import SCENARIOS, leaf
from fault_writes import DIRTY, MODES, TARGETS, UNRECORDED, WRITES, Unmarked, UnmarkedTangent, operands, prepared, state_of
from op_calls import Call, one_dtype, samples_of, seeds_for
from opinfo import DIFFERENTIABLE

import autograd_cy as ag
from autograd_cy._core.graph import context
from autograd_cy._core.inspection.recorder import Recorder
from autograd_cy._core.recording.events import is_recording
from autograd_cy._core.runtime import state
from autograd_cy._core.runtime.state import fail_allocations, stop_failing

pytestmark = [
    pytest.mark.skipif(not state.is_debug_build(), reason="allocations can be made to fail in the debug build only"),
    pytest.mark.filterwarnings("ignore:Error detected in|Anomaly Detection"),  # anomaly mode's report
    pytest.mark.filterwarnings("ignore:Using backward.. with create_graph"),
]

FREELIST = 256  # dead objects of some classes that Cython keeps
ALL = 1 << 60

# What CPython does wrong when it has no memory: 3.11's list(tuple) leaks the tuple, ...
LEAKS_IN_CPYTHON = {"function", "anomaly_mode", "checkpointing", "hooks", "recorded_function", "recorded_hooks"}
# ... and its ContextVar.set() crashes if two allocations in a row fail.
CRASHES_IN_CPYTHON = {
    "anomaly_mode", "backward_inside_backward", "checkpointing", "recorded_backward_inside_backward", "saved_tensor_hooks",
}  # fmt: skip

# NumPy's iterators say nothing of why they failed; Python makes these SystemErrors of it, where it calls NumPy.
NUMPYS = (
    "returned NULL without setting an exception",
    "returned a result with an exception set",
    "error return without exception set",
    "NULL object passed to Py_BuildValue",
)

# Assigning by an array of indices, it crashes.
CRASHES_IN_NUMPY = {"scatter"}


@pytest.fixture(autouse=True)
def nothing_leaks() -> None:
    """In place of the fixture for all tests: see LEAKS_IN_CPYTHON."""


@pytest.fixture(autouse=True)
def numpys_error_state() -> Iterator[None]:
    """What NumPy says of errors: np.errstate is not left where there is no memory for it."""
    before = np.geterr()
    yield
    np.seterr(**before)


@pytest.fixture(autouse=True)
def unraisable(monkeypatch) -> Iterator[list]:
    """Collects what Python would print as 'Exception ignored in'."""
    seen: list = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: seen.append((args.exc_value, args.object)))
    yield seen
    assert not seen


@pytest.fixture(autouse=True)
def no_callbacks_of_the_collector() -> Iterator[None]:
    """Hypothesis leaves one behind, which has no memory either when a collection starts in a thread that is denied it."""
    before = gc.callbacks[:]
    gc.callbacks.clear()
    yield
    gc.callbacks.extend(before)


def with_faults(step: Callable, before: int, failing: int) -> tuple[object, BaseException | None, int]:
    """What the step returned, what it raised, and how many allocations it was denied."""
    source = ag.ones(1)
    _held = [(source.detach(), source[0:1]) for _ in range(FREELIST)]
    gc.disable()
    fail_allocations(before, failing)
    try:
        result = step()
    except BaseException as error:
        denied = stop_failing()
        return None, error, denied
    else:
        denied = stop_failing()
        return result, None, denied
    finally:
        gc.enable()


def bytes_of(tensors) -> list[bytes | None]:
    return [None if t is None else t.numpy(force=True).tobytes() for t in tensors or ()]


def gradients_of(leaves) -> list[bytes | None]:
    return bytes_of([x.grad for x in leaves])


def set_gradients(leaves, gradients) -> None:
    for x, g in zip(leaves, gradients, strict=True):
        array = x.numpy(force=True)
        x.grad = None if g is None else ag.from_numpy(np.frombuffer(g, array.dtype).reshape(array.shape).copy())


def modes_that_are_on() -> list[str]:
    names = ["NO_GRAD", "INFERENCE", "ANOMALY", "DETECT_NAN", "ONE_THREAD"]
    found = [name for name in names if state.are_on(state.mode_bit(name))]
    packed: list = []
    with ag.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t, compose=True):
        leaf(2).exp()
    return found + ["forward mode"] * bool(context.dual_depth()) + ["saved hooks"] * (len(packed) != 1)


def sweep(make: Callable, failing: int) -> int:
    """Run the scenario with its 0th, 1st, ... allocation failing, until none is left to fail; returns how many there are."""
    leaves, step = make()
    before, inputs = gradients_of(leaves), bytes_of(leaves)
    results, complete = bytes_of(step()), gradients_of(leaves)
    denied, n = 1, -1
    while denied:
        n += 1
        leaves, step = make()
        got, error, denied = with_faults(step, n, failing)
        where = f"allocation {n} failed"
        if error is not None:
            assert isinstance(error, MemoryError) or str(error).endswith(NUMPYS), where
        else:  # who asked for the memory could do without
            assert (bytes_of(got), gradients_of(leaves)) == (results, complete), where
        del error, got
        for g, *allowed in zip(gradients_of(leaves), before, complete, strict=True):
            assert g in allowed, f"{where}: a gradient is neither as it was nor complete"
        assert bytes_of(leaves) == inputs, where
        assert modes_that_are_on() == [], where
        set_gradients(leaves, before)
        assert (bytes_of(step()), gradients_of(leaves)) == (results, complete), f"{where}: the next step is wrong"
    return n


@pytest.mark.parametrize("failing", [1, ALL], ids=["one", "all"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_failing_allocations_leave_nothing_half_done(name, failing):
    if failing == ALL and name in CRASHES_IN_CPYTHON:
        pytest.skip("CPython crashes")
    gc.collect()
    alive = state.live_objects()
    assert sweep(SCENARIOS[name], failing) > 15
    assert not is_recording()
    gc.collect()
    assert state.live_objects() == alive or name in LEAKS_IN_CPYTHON


@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=lambda row: row.name)
def test_failing_allocations_of_each_op(row):
    """Forward and backward, of the row's first sample."""
    if row.name in CRASHES_IN_NUMPY:
        pytest.skip("NumPy crashes")
    sample = samples_of(row, one_dtype(row)[0])[0]

    def make():
        call = Call(row, sample)
        leaves = call.leaves()
        seeds = [ag.from_numpy(seed) for seed in seeds_for(call.function(*leaves))]

        def step():
            outputs = call.function(*leaves)
            ag.autograd.backward(outputs, seeds)
            return [y.detach() for y in outputs]

        return leaves, step

    sweep(make, 1)


def test_failing_allocations_in_one_thread_are_nothing_to_others():
    """Each thread sweeps other scenarios, while the others run theirs."""
    names = [name for name in SCENARIOS if name not in CRASHES_IN_CPYTHON and name != "forward_mode"]  # one level for all
    in_threads(4, lambda number: [sweep(SCENARIOS[name], 1) for name in names[number::4]])


@pytest.mark.parametrize("failing", [1, ALL], ids=["one", "all"])
def test_failing_allocations_in_the_first_event_of_a_thread(failing):
    """Of a ring for whose thread's name there was no memory, the name was read."""
    x, results = ag.ones(2), []

    def work(before):
        result = None
        fail_allocations(before, failing)
        try:  # which needs no memory to leave again, unlike contextlib.suppress
            result = x + 1
        except MemoryError:
            pass
        finally:
            stop_failing()
        results.append(result)
        x * 2

    for before in range(20):
        recorder = Recorder(capacity=100)
        recorder.start()
        in_threads(1, lambda number, before=before: work(before))
        recorder.stop()
        assert "mul" in [event.name for event in recorder.events()]
    assert None in results and results[-1] is not None


# writes in place: NOTE [All or nothing] in change.pyx


def written(target: str, mode: str, write: Callable, before: int) -> tuple[list, list, BaseException | None, int]:
    """What a write may change, as it was and as it is after one with an allocation denied; the error, and if any was."""
    with MODES[mode]():
        x, watched = prepared(target, mode)
        arguments = operands()
        places = [t.grad_fn for t in watched]
        old = state_of(watched, places)
        with ag.set_grad_enabled(target != "leaf_in_no_grad"):
            _, error, denied = with_faults(lambda: write(x, arguments), before, 1)
        new = state_of(watched, places)
        if error is not None:
            with ag.set_grad_enabled(target != "leaf_in_no_grad"):
                write(x, operands())  # the next one works
        return old, new, error, denied


def sweep_write(target: str, mode: str, write: Callable, also_allowed: tuple = ()) -> int:
    """Deny each allocation of a write in turn: all is as it was, or all as after the write. Returns how many there are."""
    _, complete, error, _ = written(target, mode, write, ALL)
    assert error is None
    denied, n = 1, -1
    while denied:
        n += 1
        old, new, error, denied = written(target, mode, write, n)
        where = f"allocation {n} failed"
        assert error is None or isinstance(error, MemoryError) or str(error).endswith(NUMPYS), where
        assert new == complete or (error is not None and new in (old, *also_allowed)), where
    return n


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("operation", "mode"),
    [(name, mode) for name in WRITES for mode in MODES if (name, mode) != ("out=", "forward mode")],  # which is refused
)
def test_a_write_is_all_or_nothing(operation, target, mode):
    assert sweep_write(target, mode, WRITES[operation]) > 2 or target in UNRECORDED     # Python may have some memory at hand


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("target", [name for name in TARGETS if name != "leaf_in_no_grad"])
@pytest.mark.parametrize("operation", DIRTY)
def test_what_a_function_writes_becomes_its_output_or_not(operation, target, mode):
    """If not, then what its forward called has written, or that and its jvp."""
    allowed = []
    for function in (Unmarked, UnmarkedTangent):
        _, alone, error, _ = written(target, mode, lambda x, operands, function=function: function.apply(x), ALL)
        assert error is None
        allowed.append(alone)
    assert sweep_write(target, mode, DIRTY[operation], tuple(allowed)) > 0
