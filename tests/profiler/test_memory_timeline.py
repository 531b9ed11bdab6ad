"""memory_timeline(): live bytes over time, what held them at the peak, and that the process's own count says the same."""

import gzip
import json
import os
import subprocess
import sys
import textwrap

import pytest
from recorded import MAIN, STEP, THREADS

import autograd_cy as ag
from autograd_cy._core.inspection.raw_events import RawAllocation
from autograd_cy.profiler import profile
from autograd_cy.profiler._memory import MemoryTimeline
from autograd_cy.profiler._memory_changes import changes_of
from autograd_cy.profiler._recording import Recording

MB = 1 << 20


def timeline(*memory):
    """That of allocations (time, bytes, address, event)."""
    allocations = [RawAllocation(time, 0, nbytes, address, event) for time, nbytes, address, event in memory]
    return MemoryTimeline(Recording(list(STEP), allocations, list(THREADS), begin=0, end=12000))


def line_of(function, k):
    return function.__code__.co_firstlineno + k


def step(x):
    a = x + 1.0
    b = a * 2.0
    c = b.exp()
    del a
    return c


@pytest.fixture
def prof():
    x = ag.ones(MB // 4)
    with profile(profile_memory=True) as prof:
        step(x)
    return prof


def test_the_curve_and_its_peak(prof):
    memory = prof.memory_timeline()
    assert [nbytes / MB for nbytes in memory.bytes] == [0, 1, 2, 3, 2, 1, 0]
    assert memory.times[0] == 0
    assert memory.times == sorted(memory.times)
    peak = memory.peak
    assert (peak.bytes, peak.time) == (3 * MB, memory.times[3])
    assert (peak.file, peak.line, peak.source) == (__file__, line_of(step, 3), "c = b.exp()")
    assert [(row.line, row.bytes, row.blocks) for row in peak.held] == [(line_of(step, k), MB, 1) for k in (1, 2, 3)]
    assert memory.older_bytes == 0


def test_backward_is_held_by_the_line_that_recorded_it():
    w = ag.ones(512, 512, requires_grad=True)
    with profile(profile_memory=True) as prof:
        h = w.exp()
        h.sum().backward()
    held = prof.memory_timeline().peak.held
    line = line_of(test_backward_is_held_by_the_line_that_recorded_it, 3)
    assert sum(row.bytes for row in held if row.line == line) >= 2 * MB


def test_memory_that_is_older_than_the_recording_lets_the_curve_fall():
    x = ag.ones(MB // 4)
    old = x * 2.0
    with profile(profile_memory=True) as prof:
        del old
        y = x + 1.0
        z = y + 1.0
    memory = prof.memory_timeline()
    assert [nbytes / MB for nbytes in memory.bytes] == [0, -1, 0, 1]
    assert memory.older_bytes == -MB
    assert [row.bytes for row in memory.peak.held] == [MB, MB]
    assert "1.00 MB that were alive before the recording" in str(memory)
    assert z.shape == y.shape


def test_where_less_is_alive_than_at_the_start_the_peak_is_the_start():
    memory = timeline((500, -64, 1, -1))
    assert memory.bytes == [0, -64]
    assert (memory.peak.time, memory.peak.bytes, memory.peak.line, memory.peak.held) == (0, 0, -1, [])


def test_a_block_given_back_between_two_recordings_counts_once():
    memory = timeline((500, 64, 1, 1), (700, 64, 1, 1), (900, -64, 1, 1))
    assert memory.bytes == [0, 64, 64, 0]
    assert [(row.bytes, row.blocks) for row in memory.peak.held] == [(64, 1)]


def test_memory_outside_of_operations_is_of_no_line():
    memory = timeline((500, 64, 1, -1), (1500, 64, 2, 0), (2100, 32, 3, 2))
    assert [(row.file, row.line, row.bytes) for row in memory.peak.held] == [("", -1, 128), (MAIN.file, MAIN.line, 32)]
    assert "(no operation)" in str(memory)


def test_nothing_was_allocated():
    with profile(profile_memory=True) as prof:
        pass
    memory = prof.memory_timeline()
    assert (memory.times, memory.bytes, memory.peak.held) == ([0], [0], [])
    assert "Peak: 0 B" in str(memory)
    assert "<svg" in memory._repr_html_()


def test_it_needs_memory_to_be_recorded(tmp_path):
    with profile() as prof:
        pass
    for look in (prof.memory_timeline, lambda: prof.export_memory_timeline(str(tmp_path / "a.json"))):
        with pytest.raises(RuntimeError, match=r"needs profile\(profile_memory=True\)"):
            look()


def test_the_table_fits_100_columns():
    place = MAIN._replace(file="/home/me/" + "long_" * 30 + ".py")
    events = [event._replace(stack=(place,) if event.stack else ()) for event in STEP]
    recording = Recording(events, [RawAllocation(k, 0, 1 << k, k, 1) for k in range(40)], list(THREADS), begin=0, end=12000)
    for memory in (MemoryTimeline(recording), timeline((500, 64, 1, 1))):
        assert max(map(len, str(memory).splitlines())) <= 100
    many = [event._replace(stack=(MAIN._replace(line=k),)) for k, event in enumerate(STEP * 3)]
    recording = Recording(many, [RawAllocation(k, 0, 64, k, k) for k in range(2, 30)], list(THREADS), begin=0, end=12000)
    assert "... " in MemoryTimeline(recording).table(row_limit=3).splitlines()[-1]


def test_json_is_pytorchs(prof, tmp_path):
    prof.export_memory_timeline(str(tmp_path / "a.json"))
    prof.export_memory_timeline(str(tmp_path / "a.json.gz"))
    times, sizes = json.loads((tmp_path / "a.json").read_text())
    with gzip.open(tmp_path / "a.json.gz", "rt") as file:
        assert json.load(file) == [times, sizes]
    assert len(times) == len(sizes)
    assert {len(row) for row in sizes} == {9}
    assert [row[:8] for row in sizes] == [[0] * 8] * len(sizes)
    assert max(row[8] for row in sizes) == 3 * MB
    assert sizes[-1][8] == 0
    assert abs(times[0] - prof.recording.wall / 1000) < 60e6


def test_raw_json_has_each_change(tmp_path):
    x = ag.ones(MB // 4)
    old = x * 2.0
    with profile(profile_memory=True) as prof:
        del old
        y = x + 1.0
    prof.export_memory_timeline(str(tmp_path / "a.raw.json.gz"))
    with gzip.open(tmp_path / "a.raw.json.gz", "rt") as file:
        found = json.load(file)
    assert [(action, nbytes, category) for _, action, nbytes, category in found] == [(1, MB, 7), (4, -MB, 7), (2, MB, 7)]
    assert y.shape == x.shape


def test_the_page_stands_by_itself(prof, tmp_path):
    prof.export_memory_timeline(tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    for outside in ("http:", "https:", "<script", "src=", "href="):
        assert outside not in text
    assert text.count("<path") == 4  # three lines, and the axes
    assert "c = b.exp()" in text


def test_the_curve_is_the_sum_of_its_lines():
    with profile(profile_memory=True) as prof:
        w = ag.ones(300, 300, requires_grad=True)
        for _ in range(3):
            (w.exp() * w).tanh().sum().backward()
            w.grad = None
    live, now = [0] * (len(prof.recording.memory) + 1), 0
    for change in changes_of(prof.recording):
        now += change.nbytes
        live[change.position + 1] = now
    assert live == prof.memory_timeline().bytes


PROGRAM = """
    import autograd_cy as ag
    from autograd_cy.memory import memory_stats
    from autograd_cy.profiler import profile

    def status(key):
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))

    x = ag.randn(2048, 1024)
    weights = [(ag.randn(1024, 1024) / 32).requires_grad_() for _ in range(3)]

    def loss_of(x, n):
        for _ in range(n):
            for w in weights:
                x = (x @ w).tanh()
        return (x * x).mean()

    loss_of(x, 1).backward()
    with profile(profile_memory=True) as prof:
        small = x[:64] + 1.0                  # what BLAS and the recorder keep is there now
    for w in weights:
        w.grad = None
    ag.memory.empty_cache()
    used, resident = memory_stats()["used_bytes"], status("VmRSS")
    with profile(profile_memory=True) as prof:
        loss = loss_of(x, 12)
        loss.backward()
    print(prof.memory_timeline().peak.bytes, memory_stats()["peak_bytes"] - used, status("VmHWM") - resident)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the process's own count is read from /proc")
def test_the_peak_is_that_of_the_process():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    recorded, pool, process = map(int, done.stdout.split())
    assert recorded >= 300 * MB
    assert recorded == pool
    assert abs(process - recorded) < 0.02 * recorded
