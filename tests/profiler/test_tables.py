"""The table of events, as text and as HTML; on the same events it is PyTorch's, character by character."""

import pytest
import recorded

from autograd_cy.autograd.profiler_util import EventList, FunctionEvent
from autograd_cy.profiler import profile
from autograd_cy.profiler._format import format_memory, format_time, scale_of_flops

SPANS = [  # name, start, end, shapes, memory
    ("ProfilerStep*", 0.0, 2500.5, [], 0),
    ("aten::mul", 10.0, 1510.25, [[4, 4], []], 64),
    ("aten::copy_", 20.0, 40.0, [[4, 4]], 2048),
    ("aten::mul", 1600.0, 1700.0, [[2, 3]], -64),
    ("autograd::engine::a phase with a name that is longer than the column for it", 1800.0, 2400.0, [], 5 << 20),
]


def events_of(library, **options):
    """The same events for PyTorch's EventList and for ours."""
    made = []
    for k, (name, start, end, shapes, memory) in enumerate(SPANS):
        made.append(
            library.FunctionEvent(k, name, 1, start, end, input_shapes=shapes, stack=[], cpu_memory_usage=memory, flops=0)
        )
    events = library.EventList(made, **options)
    events._build_tree()
    return events


@pytest.fixture
def both():
    """Ours and PyTorch's module."""
    pytest.importorskip("torch")
    import torch.autograd.profiler_util as theirs

    import autograd_cy.autograd.profiler_util as ours

    return ours, theirs


@pytest.mark.parametrize("profile_memory", [False, True])
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"sort_by": "self_cpu_time_total", "row_limit": 2},
        {"sort_by": "cpu_memory_usage", "row_limit": -1, "header": "A header"},
        {"top_level_events_only": True, "time_unit": "ms"},
        {"max_name_column_width": 20, "max_shapes_column_width": 12, "time_unit": "us"},
        {"max_name_column_width": None, "max_shapes_column_width": None, "sort_by": "count", "time_unit": "s"},
    ],
)
def test_tables_are_pytorchs(both, arguments, profile_memory):
    tables = [[], []]
    for found, library in zip(tables, both, strict=True):
        events = events_of(library, profile_memory=profile_memory)
        found.append(events.table(**arguments))
        found.append(events.key_averages().table(**arguments))
        found.append(events.key_averages(group_by_input_shapes=True).table(**arguments))
    assert tables[0] == tables[1]


@pytest.mark.parametrize("key", ["bogus", "self_cuda_bogus"])
def test_keys_that_events_have_not(both, key):
    messages = []
    for library in both:
        with pytest.raises(AttributeError) as caught:
            events_of(library).key_averages().table(sort_by=key)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_keys_of_devices_are_known():
    events = EventList([FunctionEvent(0, "aten::mul", 1, 0.0, 1.0)], is_nested=True)
    for key in ("cuda_time_total", "self_cuda_time_total", "cuda_memory_usage", "self_xpu_memory_usage", "flops", "cpu_time"):
        assert events.key_averages().table(sort_by=key) == events.key_averages().table()


def test_sources_and_flops_stand_under_their_headers(monkeypatch):
    """PyTorch's table has them the other way round where there are both."""
    recorded.stand_in(monkeypatch)
    with profile(with_stack=True, with_flops=True) as prof:
        pass
    lines = prof.key_averages(group_by_stack_n=2).table().splitlines()
    header = lines[1]
    (mm,) = [k for k, line in enumerate(lines) if "aten::mm" in line]
    at = header.index("Source Location")
    assert lines[mm][at:].split() == ["/home/me/step.py(12):", "loss_of", "128.000"]
    assert lines[mm + 1].strip() == "/home/me/step.py(30): <module>"
    assert lines[mm + 2].strip() == ""
    assert header.split()[-2:] == ["Total", "FLOPs"]


def test_long_paths_keep_their_end():
    event = FunctionEvent(0, "aten::mul", 1, 0.0, 1.0, stack=["/a/very/long/path/to/script.py(12): loss_of"])
    assert "  ...to/script.py(12): loss_of  " in EventList([event]).table(max_src_column_width=28)


def test_no_events_no_table():
    assert EventList().table() == ""
    assert EventList()._repr_html_().startswith("<table>")


def test_notebooks_show_a_table(monkeypatch):
    recorded.stand_in(monkeypatch, events=[recorded.region("<b>&", 0, 10), *recorded.STEP[:0]], allocations=[])
    prof = profile()
    assert prof._repr_html_() == "<p>The profiler has recorded nothing yet.</p>"
    with prof:
        pass
    text = prof._repr_html_()
    assert "<th scope='row'>&lt;b&gt;&amp;</th>" in text
    assert text.count("<tr>") == 2
    assert text == prof.key_averages()._repr_html_()


@pytest.mark.parametrize(
    ("time", "text"), [(0.5, "0.500us"), (1000.0, "1.000ms"), (999.9999, "1000.000us"), (2.5e6, "2.500s")]
)
def test_times(time, text):
    assert format_time(time) == text


@pytest.mark.parametrize(
    ("nbytes", "text"), [(0, "0 B"), (-1023, "-1023 B"), (1536, "1.50 KB"), (-(1 << 20), "-1.00 MB"), (1 << 31, "2.00 GB")]
)
def test_sizes(nbytes, text):
    assert format_memory(nbytes) == text


@pytest.mark.parametrize(
    ("smallest", "expected"), [(1, (1.0, "FLOPs")), (999, (1.0, "FLOPs")), (1000, (1e3, "KFLOPs")), (10**20, (1e15, "PFLOPs"))]
)
def test_units_of_flops(smallest, expected):
    assert scale_of_flops(smallest) == expected
