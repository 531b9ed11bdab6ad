"""utils.benchmark: statistics, texts and tables are PyTorch's on the same times; what a Timer runs, and how often."""

import itertools
import math
import pickle
import random
import re

import pytest

import autograd_cy as ag
from autograd_cy.utils import benchmark

pytestmark = pytest.mark.filterwarnings("ignore:benchmark. num_threads is for kernels only")


@pytest.fixture
def both():
    """Ours and PyTorch's module."""
    pytest.importorskip("torch")
    import torch.utils.benchmark

    return benchmark, torch.utils.benchmark


def drawn(seed):
    """Tasks and times of some measurements of one label, each time above a ns and each description a text."""
    draw = random.Random(seed)
    label, scale = draw.choice([None, "Adds", "Products of things"]), 10 ** draw.uniform(-6, 1)
    envs = draw.choice([[None], ["x86", "a longer one"]])
    for _ in range(draw.randint(1, 8)):
        task = {
            "stmt": draw.choice(["x * x", "y + y\nz"]),
            "setup": draw.choice(["pass", "x = 1", "x = 1\ny = 2"]),
            "label": label,
            "sub_label": draw.choice([None, "4x8", "16"]),
            "description": draw.choice(["one", "two", "three"]),
            "env": draw.choice(envs),
            "num_threads": draw.choice([1, 2]),
        }
        spread = draw.choice([1.001, 1.2, 3])
        times = [scale * draw.choice([1, 1, 1, 2, 9]) * draw.uniform(1, spread) for _ in range(draw.randint(1, 9))]
        yield task, draw.choice([1, 10, 100]), times


def measured(library, task, number, times):
    return library.Measurement(number, list(times), library.TaskSpec(**task))


@pytest.mark.parametrize("seed", range(60))
def test_measurements_are_pytorchs(both, seed):
    for task, number, times in drawn(seed):
        a, b = (measured(library, task, number, times) for library in both)
        without_address = [re.sub("<[^>]*>", "", repr(m)) for m in (a, b)]
        assert without_address[0] == without_address[1]
        for name in ("times", "has_warnings", "title", "as_row_name", "significant_figures", "stmt", "num_threads"):
            assert getattr(a, name) == getattr(b, name), name
        for name in ("mean", "median", "iqr"):
            assert math.isclose(getattr(a, name), getattr(b, name), rel_tol=1e-12, abs_tol=1e-24), name
        assert a.meets_confidence(0.5) == b.meets_confidence(0.5)


@pytest.mark.parametrize("seed", range(60))
def test_tables_are_pytorchs(both, seed):
    texts = []
    for library in both:
        draw = random.Random(seed)
        table = library.Compare([measured(library, *each) for each in drawn(seed)])
        if draw.random() < 0.5:
            table.trim_significant_figures()
        if draw.random() < 0.5:
            table.highlight_warnings()
        if draw.random() < 0.6:
            table.colorize(rowwise=draw.random() < 0.5)
        texts.append(str(table))
    assert texts[0] == texts[1]


@pytest.mark.parametrize(("x", "n"), [(3.14159, 2), (1234.5, 2), (0.00123, 1), (-9.96, 2), (1.0, 3), (5.0, 1), (0.1, 4)])
def test_figures_are_pytorchs(both, x, n):
    a, b = (library.trim_sigfig(x, n) for library in both)
    assert a == pytest.approx(b, rel=1e-6)


@pytest.mark.parametrize("t", [1.5e-9, 2e-7, 1e-6, 3e-4, 0.02, 0.999, 1.0, 70.0])
def test_units_are_pytorchs(both, t):
    a, b = (library.select_unit(t) for library in both)
    assert a == b
    assert both[0].unit_to_english(a[0]) == both[1].unit_to_english(b[0])


def test_merged_measurements_count_single_calls():
    task = benchmark.TaskSpec("x", "pass")
    merged = benchmark.Measurement.merge([benchmark.Measurement(10, [1.0], task), benchmark.Measurement(2, [1.0], task)])
    assert [(m.number_per_run, m.raw_times) for m in merged] == [(1, [0.1, 0.5])]


def test_a_comparison_takes_measurements_without_descriptions():
    m = benchmark.Measurement(1, [2e-6], benchmark.TaskSpec("x * x", "pass"))
    assert "x * x  |  2.0" in str(benchmark.Compare([m]))
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`, got <class 'int'> instead"):
        benchmark.Compare([1])


def test_measurements_can_be_pickled():
    m = benchmark.Measurement(1, [2e-6], benchmark.TaskSpec("x * x", "pass"))
    again = pickle.loads(pickle.dumps(m))
    assert again == m
    assert again.median == m.median
    with pytest.raises(AttributeError, match="'Measurement' object has no attribute 'bogus'"):
        m.bogus  # noqa: B018


# Timer


class Clock:
    """A clock that each run of a statement puts forward, with a little for each look at it."""

    def __init__(self, look=1e-9):
        self.now, self.look, self.runs = 0.0, look, 0

    def __call__(self):
        self.now += self.look
        return self.now

    def run(self, seconds):
        self.runs += 1
        self.now += seconds


def timer(clock, stmt="run(1e-3)", names=(), **arguments):
    return benchmark.Timer(stmt, timer=clock, globals={"run": clock.run, **dict(names)}, **arguments)


def test_timeit_warms_up_and_runs_once():
    clock = Clock()
    m = timer(clock, label="a").timeit(1000)
    assert clock.runs == 10 + 1000
    assert (m.number_per_run, len(m.raw_times), m.label) == (1000, 1, "a")
    assert m.median == pytest.approx(1e-3)


def test_blocks_are_so_long_that_the_clock_is_no_part_of_them():
    calls = []
    m = timer(Clock(look=2e-6)).blocked_autorange(lambda number, time: calls.append((number, time)), min_run_time=0.5)
    assert m.number_per_run == 100  # the clock has 2e-5 of a block; of 10 runs it would have 2e-4
    assert len(m.raw_times) == 5
    assert [number for number, _ in calls] == [100] * 5
    assert [time for _, time in calls] == m.raw_times


def test_an_adaptive_measurement_ends_when_times_agree():
    assert len(timer(Clock(), "run(0.1)").adaptive_autorange().raw_times) == 4
    clock, choices = Clock(), itertools.cycle([1, 9])
    varied = timer(clock, "run(0.1 * next(choices))", {"choices": choices})
    m = varied.adaptive_autorange(max_run_time=20.0)
    assert sum(m.raw_times) > 20
    assert not m.meets_confidence(0.1)


def test_statements_see_torch_and_globals():
    m = benchmark.Timer("y = x * n", "x = torch.ones(2)\nassert type(x) is T", globals={"n": 2, "T": ag.Tensor}).timeit(3)
    assert m.number_per_run == 3


def test_globals_are_not_changed():
    names = {"n": 2}
    benchmark.Timer("n", globals=names).timeit(1)
    assert names == {"n": 2}


def test_code_may_be_indented():
    m = benchmark.Timer(
        """
        for _ in range(2):
            x
        """,
        setup="""
            x = 1
        """,
    ).timeit(2)
    assert (m.stmt, m.setup) == ("for _ in range(2):\n    x", "x = 1")


def test_kernels_use_the_threads_that_are_asked_for():
    before = ag.get_num_threads()
    seen = []
    benchmark.Timer("look()", globals={"look": lambda: seen.append(ag.get_num_threads())}, num_threads=3).timeit(2)
    assert set(seen) == {3}
    assert ag.get_num_threads() == before
    with pytest.raises(ZeroDivisionError):
        benchmark.Timer("1 / 0", num_threads=3).timeit(2)
    assert ag.get_num_threads() == before


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"stmt": len}, ValueError, "Currently only a `str` stmt is supported."),
        ({"global_setup": "x"}, ValueError, "global_setup is C[+][+] only, got `x`"),
        ({"language": "rust"}, ValueError, "Invalid language `rust`."),
        ({"language": "c++"}, NotImplementedError, "statements in C[+][+] are PyTorch's"),
    ],
)
def test_what_a_timer_refuses(arguments, error, message):
    with pytest.raises(error, match=message):
        benchmark.Timer(**arguments)


def test_what_a_timer_has_not():
    with pytest.raises(NotImplementedError, match="make profile"):
        benchmark.Timer().collect_callgrind()
    with pytest.raises(NotImplementedError, match="blocked_autorange"):
        benchmark.Timer().repeat()
    with pytest.raises(NotImplementedError, match="blocked_autorange"):
        benchmark.Timer().autorange()
    with pytest.raises(AttributeError):
        benchmark.Fuzzer  # noqa: B018
