"""The benchmarks compute the same in both libraries, and the harness measures correctly."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import autograd_cy
from benchmarks import (
    cli,
    figures,
    large,
    operation_steps,
    operations,
    profiler,
    sizes,
    threads,
    timing,
    training,
    transforms,
    workloads,
)

ROOT = Path(workloads.__file__).resolve().parents[1]
LARGE = [row for row in large.large_workloads(1) if "1e6" not in row.name and "1e7" not in row.name]
ALL = [*workloads.WORKLOADS, *transforms.TRANSFORMS, *LARGE]
every_workload = pytest.mark.parametrize("workload", ALL, ids=lambda workload: workload.name)


def computed(step):
    """computed(step) -> the results of one call, copied into arrays that later calls cannot change."""
    return [np.array(x if isinstance(x, bool) else x.detach().numpy()) for x in step()]


class FakeClock:
    """A clock that only steps advance: `step(name, seconds)` makes a step that takes that long and is logged."""

    def __init__(self):
        self.now = 0.0
        self.calls = []

    def __call__(self):
        return self.now

    def step(self, name, seconds):
        def run():
            self.calls.append(name)
            self.now += seconds

        return run


@every_workload
def test_step_repeats_itself(workload):
    step = workload.setup(autograd_cy)
    first, second = computed(step), computed(step)
    for a, b in zip(first, second, strict=True):
        assert np.isfinite(a).all()
        assert np.count_nonzero(a) > a.size // 4        # relu lets no gradient through where it is 0
        np.testing.assert_array_equal(a, b)


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")  # which torch.func calls itself
@every_workload
def test_both_libraries_compute_the_same(workload):
    torch = pytest.importorskip("torch")
    ours, theirs = computed(workload.setup(autograd_cy)), computed(workload.setup(torch))
    for a, b in zip(ours, theirs, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        # float32 sums are rounded in another order, so the error is relative to the largest element
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * np.abs(b).max())


def test_products_are_recorded():
    (product,) = workloads.record(autograd_cy)()
    assert product.grad_fn.name() == "MulBackward0"


def test_fan_out_and_chain_count_every_use():
    (x_grad,) = computed(workloads.reuse(autograd_cy))
    np.testing.assert_array_equal(x_grad, np.full((4, 4), 501))
    x_grad, b_grad = computed(workloads.add_chain(autograd_cy, 1234))
    np.testing.assert_array_equal(x_grad, np.ones((4, 4)))
    np.testing.assert_array_equal(b_grad, np.full((4, 4), 1234))


def test_measure_takes_turns():
    clock = FakeClock()
    steps = [clock.step("A", 0.25), clock.step("B", 2.0)]
    samples = timing.measure(steps, rounds=3, sample_seconds=1.0, clock=clock)
    assert samples == [[0.25] * 3, [2.0] * 3]
    assert clock.calls[-15:] == ["A", "A", "A", "A", "B"] * 3
    assert timing.ratios(samples[1], samples[0]).median == 8


def test_slow_first_call_does_not_shorten_samples():
    clock = FakeClock()
    usual, first = clock.step("A", 0.25), iter([clock.step("import", 9.0)])
    assert timing.warm_up(lambda: next(first, usual)(), sample_seconds=1.0, clock=clock) == 4
    assert clock.calls[0] == "import"


def test_ratios_are_of_neighbours():
    drifting = [1.0, 10.0, 100.0]
    assert timing.ratios([2.0, 20.0, 300.0], drifting) == timing.Quartiles(2.0, 2.0, 2.5)


def test_row_below_its_minimum_is_marked():
    row = {"title": "t", "minimum": 8, "ours_us": 1.0, "torch_us": 7.9, "ratio_quartiles": [7.0, 9.0]}
    assert "< 7.90" in cli.table_row({**row, "ratio": 7.9})
    assert "<" not in cli.table_row({**row, "ratio": 8.0})


def test_command_line_writes_results(tmp_path):
    path = tmp_path / "new" / "results.json"
    arguments = ["--quick", "--only", "record", "scaling", "--json", str(path)]
    # the root comes last: it has the benchmarks, while the package under test may be installed elsewhere
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(ROOT)])}
    command = [sys.executable, "-m", "benchmarks", *arguments]
    done = subprocess.run(command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    results = json.loads(path.read_text())
    assert [row["name"] for row in results["workloads"]] == ["record"]
    assert results["workloads"][0]["ours_us"] > 0
    assert results["scaling"]["ratio"] > 0
    assert results["machine"]["cpus"] == os.cpu_count()
    assert platform.node() not in path.read_text()


def test_without_torch_ours_alone_is_timed(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    path = tmp_path / "results.json"
    cli.main(["--quick", "--only", "record", "--json", str(path)])
    assert "torch is not installed" in capsys.readouterr().out
    (row,) = json.loads(path.read_text())["workloads"]
    assert row["ours_us"] > 0
    assert row["torch_us"] is row["ratio"] is None


@pytest.mark.parametrize("arguments", [["--only", "nothing"], ["--rounds", "1"], ["--rounds", "0"]])
def test_bad_options_are_refused(arguments, capsys):
    with pytest.raises(SystemExit):
        cli.parse(arguments)
    assert "error" in capsys.readouterr().err


@pytest.mark.parametrize("name", [name for name in sizes.LIBRARIES if name != "NumPy by hand"])
def test_libraries_of_the_picture_compute_the_same(name):
    module, setup = sizes.LIBRARIES[name]
    result = setup(pytest.importorskip(module), 10)()
    arrays = result[1] if name == "HIPS autograd" else [np.asarray(g) for g in result]
    if name in ("autograd_cy", "PyTorch"):              # they make their own leaves
        a, b = (x.detach().numpy() for x in workloads.leaves(autograd_cy, (10,), (10,)))
    else:
        a, b, _ = sizes.operands(10)
    slope = 1 - np.tanh(a * b) ** 2
    np.testing.assert_allclose(arrays[0], slope * b + 1, rtol=1e-5)
    np.testing.assert_allclose(arrays[1], slope * a, rtol=1e-5)


def test_limit_of_the_picture_is_the_formula():
    a, b, _ = sizes.operands(10)
    y, da, db = sizes.by_hand(None, 10)()
    slope = 1 - np.tanh(a * b) ** 2
    for result, expected in ((y, np.tanh(a * b) + a), (da, slope * b + 1), (db, slope * a)):
        np.testing.assert_allclose(result, expected, rtol=1e-5)


@pytest.mark.filterwarnings("ignore:set_num_threads")
@pytest.mark.parametrize("name", threads.STEPS)
def test_each_step_is_timed_with_two_threads(name, capsys):
    before = autograd_cy.get_num_threads()
    try:
        threads.main(["--quick", "--sizes", "10", "40000", "--only", name])
    finally:
        autograd_cy.set_num_threads(before)
    lines = capsys.readouterr().out.splitlines()
    figures = [float(line.strip(" |").split("|")[-1].strip(" >")) for line in lines[-2:]]
    assert name in lines[0]
    assert all(figure > 0 for figure in figures)


def test_step_that_a_second_thread_slows_down_is_marked():
    assert threads.cell(1.051) == "> 1.05"
    assert threads.cell(1.0) == "1.00"


SMALL = ["64-32-10", "Adam alone"]


def figures_of(text):
    """figures_of(text) -> the cells of a table's rows, without their titles."""
    rows = [line.strip("| ").split("|")[1:] for line in text.splitlines()[2:]]
    return [[cell.strip(" ><") for cell in cells] for cells in rows]


@pytest.mark.filterwarnings("ignore:set_num_threads")
@pytest.mark.parametrize("more", [[], ["--threads", "2"]])
def test_training_steps_are_timed(more, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    before = autograd_cy.get_num_threads()
    try:
        training.main(["--quick", "--only", *SMALL, *more])
    finally:
        autograd_cy.set_num_threads(before)
    figures = figures_of(capsys.readouterr().out)
    assert len(figures) == 2
    assert all(float(cells[3 if more else 2]) > 0 for cells in figures)


@pytest.mark.filterwarnings("ignore:set_num_threads")
def test_each_training_step_can_be_repeated():
    before = autograd_cy.get_num_threads()
    try:
        for row in training.TRAININGS:
            step = row.step(autograd_cy)
            step()
            step()
    finally:
        autograd_cy.set_num_threads(before)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_peak_of_training_steps_is_measured_in_a_process_of_its_own():
    first, later = training.measured_peaks(training.TRAININGS[0].name, "autograd_cy", 1)
    assert 0 <= later < first < 1 << 27


def test_the_processor_clock_times_a_row(tmp_path):
    path = tmp_path / "figures.json"
    cli.main(["--quick", "--clock", "processor", "--only", "record", "--json", str(path)])
    assert json.loads(path.read_text())["clock"] == "processor"


def test_figures_replace_the_table_of_the_readme_alone(tmp_path):
    readme, source = tmp_path / "README.md", tmp_path / "figures.json"
    readme.write_text(f"before\n\n{figures.HEAD}| old | 1.0 |\n| older | 2.0 |\n\nafter\n")
    source.write_text(json.dumps({"workloads": [{"title": "new", "ratio": 3.14}]}))
    figures.main(readme, source)
    assert readme.read_text() == f"before\n\n{figures.HEAD}| new | 3.1 |\n\nafter\n"


def test_memory_above_that_of_torch_is_marked():
    assert training.memory_cells(3e6, 2e6) == ["3.00", "2.00", "> 1.50"]
    assert training.memory_cells(1e6, 2e6) == ["1.00", "2.00", "0.50"]
    assert training.memory_cells(1e6) == ["1.00", "-", "-"]


@pytest.mark.parametrize("name", [name for name in operation_steps.OPERATIONS if name != "sgn"])  # PyTorch's is no array
def test_each_operation_computes_the_same_in_both_libraries(name):
    torch = pytest.importorskip("torch")
    steps = [operation_steps.OPERATIONS[name].step(library, 1000, np.float64) for library in (autograd_cy, torch)]
    for a, b in zip(*map(computed, steps), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


def test_operation_below_what_its_family_is_asked_for_is_marked():
    row = operation_steps.OPERATIONS["exp"]
    assert operations.cell(row, 1000, 3.9) == "< 3.90"
    assert operations.cell(row, 10**5, 3.9) == "3.90"


@pytest.mark.filterwarnings("ignore:set_num_threads")
@pytest.mark.parametrize("more", [[], ["--threads"]])
def test_operations_are_timed_by_family(more, capsys):
    before = autograd_cy.get_num_threads()
    try:
        operations.main(["--quick", "--sizes", "1000", "--only", "exp", "sum, rows", *more])
    finally:
        autograd_cy.set_num_threads(before)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("|")[1].strip() for line in lines if line.count("|") == 4 and "---" not in line] == [
        "elementwise", "exp", "reductions and scans", "sum, rows"]


def test_what_profiling_costs_is_measured_in_each_row(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    profiler.main(["--quick", "--events", "1000"])
    rows = [line.strip("| ").split("|") for line in capsys.readouterr().out.splitlines() if " - |" in line]
    assert len(rows) == 2 * 12 + 2 * 4 + 2 + 1
    assert all(np.isfinite(float(ours.strip(" >"))) for _, _, ours, *_ in rows)
    sizes_of_traces = [float(ours) for title, _, ours, *_ in rows if title.strip() in profiler.OPTIONS]
    assert sizes_of_traces[1] > sizes_of_traces[0] > 100


@pytest.mark.parametrize("library", ["autograd_cy", "torch"])
def test_profiled_steps_are_those_of_both_libraries(library):
    module = pytest.importorskip(library)
    step = workloads.multiply_chain(module)
    assert profiler.events_per_step(module, step, {}) > 400            # 200 products, their nodes, and further events
    assert 0.5 < profiler.self_time(module, step) <= 1


def test_event_that_costs_more_than_the_limit_is_marked():
    figure = timing.Quartiles(1.0, 1.7, 2.0)
    assert "> 1.70" in profiler.line("t", 1.6, [figure, figure], 2)
    assert profiler.line("t", 1.7, [figure, figure], 2).count(">") == 0
    assert profiler.line("t", None, [figure], 2).count("1.70") == 1
