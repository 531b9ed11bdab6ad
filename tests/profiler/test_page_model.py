"""The model of the page: columns that fit together, and the sums beside them."""

import json
import sys
import time
import types

import pytest
import recorded
from recorded import Frame, op

from autograd_cy.profiler import profile
from autograd_cy.profiler._model import model_of


@pytest.fixture
def model(monkeypatch):
    recorded.stand_in(monkeypatch)
    hints = types.SimpleNamespace(hints_of=lambda prof: [{"line": 31, "message": "copies"}])
    monkeypatch.setitem(sys.modules, "autograd_cy.profiler._hints", hints)
    with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof:
        pass
    return model_of(prof)


def test_it_is_json(model):
    assert json.loads(json.dumps(model)) == model


def test_columns_are_of_one_length_and_point_into_the_lists(model):
    events = model["events"]
    n = len(recorded.STEP)
    assert {len(column) for column in events.values()} == {n}
    lists = {
        "name": "names",
        "kind": "kinds",
        "file": "files",
        "function": "functions",
        "shape": "shapes",
        "thread": "threads",
    }
    for column, texts in lists.items():
        assert max(events[column]) == len(model[texts]) - 1, column
        assert len(set(model[texts])) == len(model[texts]), column
    assert all(-1 <= k < n for column in ("parent", "forward") for k in events[column])


def test_what_the_columns_say(model):
    events = model["events"]
    mul = recorded.STEP[1]
    assert model["names"][events["name"][1]] == "aten::mul"
    assert model["kinds"][events["kind"][1]] == "op"
    assert (events["start"][1], events["duration"][1]) == (mul.start, mul.end - mul.start)
    assert (events["depth"][2], events["parent"][2]) == (2, 1)
    assert (model["files"][events["file"][1]], events["line"][1]) == ("/home/me/step.py", 12)
    assert model["shapes"][events["shape"][1]] == "[4, 4], [4, 4]"
    assert (events["sequence"][7], events["forward"][7]) == (7, 1)
    assert (events["file"][0], events["line"][0], events["shape"][0], events["sequence"][0]) == (-1, -1, -1, -1)
    assert model["threads"] == ["MainThread", "helper"]
    assert (model["start"], model["dropped"], model["graph"]) == (0, 0, None)
    assert model["end"] == 11000


def test_the_table_has_all_self_time(model):
    whole = sum(event.end - event.start for event in recorded.STEP if event.parent < 0)
    assert sum(row["self_ns"] for row in model["table"]) == whole
    mul = next(row for row in model["table"] if row["name"] == "aten::mul")
    assert mul == {"name": "aten::mul", "kind": "op", "calls": 3, "self_ns": 1500, "total_ns": 2100, "bytes": 0}
    own = [row["self_ns"] for row in model["table"]]
    assert own == sorted(own, reverse=True)


def test_lines_have_the_time_of_their_nodes_too(model):
    lines = {(row["file"], row["line"]): row for row in model["lines"]}
    assert lines["/home/me/step.py", 12]["self_ns"] == 900 + 600 + 750 + 400 + 450 + 800 + 100
    assert lines["/home/me/step.py", 12]["calls"] == 5
    assert lines["/home/me/step.py", 12]["function"] == "loss_of"


def test_lines_show_their_source(monkeypatch):
    here = Frame(__file__, 1, "<module>")
    recorded.stand_in(monkeypatch, events=[op("mul", 0, 10, stack=(here,))], allocations=[])
    monkeypatch.setitem(sys.modules, "autograd_cy.profiler._hints", types.SimpleNamespace(hints_of=lambda prof: []))
    with profile() as prof:
        pass
    (line,) = model_of(prof)["lines"]
    assert line["source"] == '"""The model of the page: columns that fit together, and the sums beside them."""'
    assert model_of(prof)["memory"] is None


def test_memory_has_its_peak(model):
    memory = model["memory"]
    assert memory["bytes"] == [0, 100, 164, 228, 164, 420, 356]
    assert memory["time"][5] == memory["peak"]["time"] == 6200
    assert (memory["peak"]["bytes"], memory["peak"]["file"], memory["peak"]["line"]) == (420, "/home/me/step.py", 12)


def test_hints(model):
    assert model["hints"] == [{"line": 31, "message": "copies"}]


def test_many_events_take_no_longer_than_they_should(monkeypatch):
    monkeypatch.setitem(sys.modules, "autograd_cy.profiler._hints", types.SimpleNamespace(hints_of=lambda prof: []))
    recorded.stand_in(monkeypatch, events=[op("mul", 100 * k, 100 * k + 60, first=k, nodes=1) for k in range(100_000)])
    with profile() as prof:
        pass
    start = time.process_time()
    model = model_of(prof)
    assert time.process_time() - start < 8  # 0.6 s where nothing else runs
    assert len(model["events"]["name"]) == 100_000
