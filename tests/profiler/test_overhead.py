"""overhead(): the parts of an operation's time, and that they say what is known of operations."""

import pytest

import autograd_cy as ag
from autograd_cy.profiler import profile

PARTS = ("dispatch", "type_choice", "allocation", "arithmetic", "recording")


def multiply(a, b, n):
    for _ in range(n):
        a * b


def tanh_of(x, n):
    for _ in range(n):
        x.tanh()


def overhead_of(*steps):
    for step, *args in steps:
        step(*args[:-1], 3)
    with profile(record_shapes=True) as prof:
        for step, *args in steps:
            step(*args)
    return prof.overhead()


def part_of(overhead, name):
    (part,) = [part for part in overhead.operations if part.name == name]
    return part


@pytest.fixture(scope="module")
def mixed():
    x = ag.randn(300, 300, requires_grad=True)
    return overhead_of((multiply, ag.randn(8), ag.randn(8), 200), (tanh_of, x, 20))


def test_parts_add_up_to_the_total(mixed):
    for part in mixed.operations + mixed.lines:
        assert sum(getattr(part, name) for name in PARTS) == pytest.approx(part.total, rel=1e-6)
        assert min(part[2:]) >= 0


def test_operations_and_lines_have_the_same_time(mixed):
    for column in ("calls", "total", "arithmetic", "freeing"):
        operations, lines = (sum(getattr(part, column) for part in parts) for parts in (mixed.operations, mixed.lines))
        assert operations == pytest.approx(lines)
    assert sum(part.calls for part in mixed.operations) == 220


def test_lines_are_those_of_the_caller(mixed):
    found = {part.name: part.calls for part in mixed.lines}
    multiplying, taking = (f"test_overhead.py:{f.__code__.co_firstlineno + 2}" for f in (multiply, tanh_of))
    assert found == {multiplying: 200, taking: 20}


def test_the_longest_stands_first(mixed):
    for parts in (mixed.operations, mixed.lines):
        assert [part.total for part in parts] == sorted((part.total for part in parts), reverse=True)


def test_a_large_product_is_nearly_all_arithmetic():
    a, b = ag.randn(1000, 1000), ag.randn(1000, 1000)
    part = part_of(overhead_of((multiply, ag.randn(4), ag.randn(4), 100), (multiply, a, b, 100)), "aten::mul")
    assert part.arithmetic > 0.9 * part.total


def test_a_tiny_product_is_mostly_not_arithmetic():
    """The best of three: what else the machine does adds to what is measured of the arithmetic."""
    parts = [part_of(overhead_of((multiply, ag.randn(4), ag.randn(4), 500)), "aten::mul") for _ in range(3)]
    part = min(parts, key=lambda part: part.arithmetic / part.total)
    assert part.arithmetic < 0.5 * part.total
    assert part.dispatch > 0


def test_recording_takes_time_only_where_something_is_recorded():
    """Of a small tensor, thousands of times: on a busy machine a large one's arithmetic hides it."""
    x = ag.randn(4, requires_grad=True)
    overhead = overhead_of((multiply, ag.randn(4), ag.randn(4), 2000), (tanh_of, x, 2000))
    assert part_of(overhead, "aten::tanh").recording > 0
    assert part_of(overhead, "aten::mul").recording == 0


def test_a_view_takes_no_memory():
    def transpose(x, n):
        for _ in range(n):
            x.t()

    part = part_of(overhead_of((transpose, ag.randn(300, 300), 100)), "aten::t")
    assert part.allocation == part.freeing == 0


def test_it_needs_shapes():
    with profile() as prof:
        ag.randn(3) * 2
    with pytest.raises(RuntimeError, match=r"needs profile\(record_shapes=True\)"):
        prof.overhead()


def test_nothing_was_recorded():
    with profile(record_shapes=True) as prof:
        pass
    overhead = prof.overhead()
    assert (overhead.operations, overhead.lines, str(overhead)) == ([], [], "")


def test_the_table_fits_100_columns(mixed):
    lines = str(mixed).splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[0].split()[:3] == ["Operation", "calls", "a"]
    assert len(mixed.table(row_limit=1).splitlines()) == 5


def test_it_shows_itself_in_notebooks(mixed):
    text = mixed._repr_html_()
    assert text.count("<tr>") == 1 + len(mixed.operations)
    assert "<th scope='row'>aten::tanh</th>" in text
