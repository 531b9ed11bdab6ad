"""make profile: the output of callgrind and perf is read correctly, places get names and lines, and the report is complete."""

import json
import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

import autograd_cy
from autograd_cy._core.modules import MODULES
from autograd_cy._core.runtime import state
from tools.lens import __main__ as command
from tools.lens import flame, perf, recorder, sources, yellow
from tools.lens.callgrind import FormatError, part_title, position, read_callgrind
from tools.lens.costs import Place, Profile
from tools.lens.page import as_page
from tools.lens.sources import HELPERS, Spot, c_functions_of, functions_of, owner_of, plain, source, source_file, spot_of
from tools.lens.summary import as_table, as_text, summarize

SAMPLE = Path(__file__).with_name("samples") / "callgrind.out.1"
TENSOR = "autograd_cy/_core/graph/tensor/tensor_life.pyx"
LIBRARY = "/somewhere/autograd_cy/_core/_library.so"


def line_of(file, text):
    """The number of the first line of a file that begins so."""
    return next(n for n, line in enumerate(source(file).lines, start=1) if line.startswith(text))


# callgrind


@pytest.fixture
def sample():
    """work(5) of a program in C: a function called five times in a loop, recursion, an inlined function of a header."""
    return read_callgrind(SAMPLE.read_text(encoding="utf-8").splitlines(), "sample")


def test_costs_belong_to_their_lines(sample):
    own = {(Path(place.file).name, place.symbol, place.line): cost for place, cost in sample.own.items()}
    assert own["sample.c", "square", 5] == 5 and own["sample.c", "square", 6] == 10
    assert own["add.h", "work", 2] == 5     # inlined: the file's line, in the function that has it
    assert own["sample.c", "work", 13] == 4 + 15        # a line to which the code returns
    assert {place.library for place in sample.own} == {"/src/sample"}


def test_the_total_is_that_of_callgrind(sample):
    assert sample.total == int(re.search(r"^totals: (\d+)$", SAMPLE.read_text(encoding="utf-8"), re.MULTILINE)[1])
    assert sample.unit == "instructions"


def test_calls_are_counted_with_what_they_cost(sample):
    assert (sample.calls["square"], sample.inclusive["square"]) == (5, 15)
    assert (sample.calls["work"], sample.inclusive["work"]) == (1, 106)
    # Inner calls of a recursion cost nothing more: 46 of the outermost have them.
    assert (sample.calls["fibonacci"], sample.inclusive["fibonacci"], sample.inclusive["fibonacci'2"]) == (1, 46, 0)
    assert sample.inclusive_lines["/src/sample.c", 15] == 46


def test_a_part_goes_by_what_the_program_called_it():
    assert part_title(SAMPLE.read_text(encoding="utf-8").splitlines()) == "work(5)"
    assert part_title(["desc: Trigger: Program termination"]) is None


def test_positions_are_relative_or_not():
    assert [position(text, 10) for text in ("*", "+3", "-3", "3")] == [10, 13, 7, 3]


@pytest.mark.parametrize("line", ["?!", "positions: instr line"])
def test_what_is_not_in_the_format_is_an_error(line):
    with pytest.raises(FormatError):
        read_callgrind([line])


# perf


def test_samples_of_perf_are_counted_by_address():
    lines = [
        "  python 7/7  1.0: PERF_RECORD_MMAP2 7/7: [0x7f0000001000(0x2000) @ 0x1000 fe:00 9 0]: r-xp /a folder/lib.so",
        "  python 7  1.1: cpu-clock:  7f0000001010 run (a, b) (/a folder/lib.so)",
        "  python 7  1.2: cpu-clock:  7f0000001010 run (a, b) (/a folder/lib.so)",
        "  python 7  1.3: cpu-clock:      ffffff02 [unknown] ([unknown])",
    ]
    samples, mappings = perf.read_samples(lines)
    assert samples == {("/a folder/lib.so", "run (a, b)", 0x7F0000001010): 2, ("[unknown]", "[unknown]", 0xFFFFFF02): 1}
    assert perf.offset_in(mappings, "/a folder/lib.so", 0x7F0000001010) == 0x1010
    assert perf.offset_in(mappings, "[unknown]", 0xFFFFFF02) == 0
    profile = perf.read_perf(lines, "of perf")
    assert (profile.total, profile.unit) == (3, "samples")


# names and lines


def test_each_line_of_cython_is_in_its_function():
    text = (
        "cdef int x = f(1)\n"
        "cdef class A(B):\n"
        "    cdef int f(self,\n"
        "               int a) except -1:       # a signature of two lines\n"
        "        return a\n"
        "\n"
        "# a comment\n"
        "    cdef inline (double, int) g(self) noexcept nogil:\n"
        "        cdef int (*h)(int) = NULL\n"
        "        return 1\n"
        "cdef void declared(int a)\n"
        'cdef void named "in_c"(int a):\n'
        "    pass\n"
        "def last():\n"
        "    pass"
    )
    assert functions_of(tuple(text.splitlines())) == ["", "", *["A.f"] * 5, *["A.g"] * 3, "", *["named"] * 2, *["last"] * 2]


def test_each_line_of_c_is_in_its_function():
    text = "#define X(a) f(a)\nint declared(int a);\nstatic int f(int a) {\n    return a;\n}\nint y;"
    assert c_functions_of(tuple(text.splitlines())) == ["", "", "f", "f", "f", ""]


@pytest.mark.parametrize(
    "symbol, name",
    [
        ("__pyx_f_11autograd_cy_5_core_5graph_4node_make_node", "autograd_cy._core.graph.node.make_node"),
        ("__pyx_pw_11autograd_cy_5_core_5graph_6tensor_6Tensor_13backward", "autograd_cy._core.graph.tensor.Tensor.backward"),
        ("__pyx_pf_1a_1B_8__init__", "a.B.__init__"),
        ("__pyx_f_1a_name.constprop.0", "a.name"),
        ("fibonacci'2", "fibonacci"),
        ("memcpy@@GLIBC_2.14", "memcpy"),
        ("__Pyx_GetItemInt", "__Pyx_GetItemInt"),
    ],
)
def test_symbols_become_names(symbol, name):
    assert plain(symbol) == name


def test_libraries_have_owners():
    site = "/v/lib/python3.11/site-packages"
    paths = ["/usr/lib/libc.so.6", f"{site}/numpy/_core/umath.so", "/usr/bin/python3.11", f"{site}/numpy.libs/libblas.so"]
    assert [owner_of(path) for path in paths] == ["C library", "NumPy", "Python", "BLAS"]
    assert owner_of(f"{site}/scipy/fft.so") == "fft.so"


def test_places_of_the_core_get_file_function_and_line():
    line = line_of(TENSOR, "cdef Tensor new_tensor(")
    assert spot_of(Place(LIBRARY, f"/build/{TENSOR}", "anything", line)) == Spot("core", TENSOR, "new_tensor", line)
    # Python's own inline functions, in a function of the core, and one of Cython's.
    symbol = "__pyx_f_11autograd_cy_5_core_5graph_6tensor_new_tensor"
    assert spot_of(Place(LIBRARY, "/usr/include/python3.11/object.h", symbol, 537)) == Spot("core", TENSOR, "new_tensor", 0)
    assert spot_of(Place(LIBRARY, "cython_utility", "__Pyx_Import", 3)) == Spot(HELPERS, "", "__Pyx_Import", 0)
    assert spot_of(Place("/usr/lib/libc.so.6", "", "malloc", 0)) == Spot("C library", "", "malloc", 0)


def test_a_template_is_read_where_it_was_rendered(tmp_path, monkeypatch):
    """Cython names a rendered .pyx as if it were beside its template."""
    file = tmp_path / sources.BUILD / "templates" / "autograd_cy" / "_core" / "ops" / "made.pyx"
    file.parent.mkdir(parents=True)
    file.write_text("def f():\n    pass\n")
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    found = source_file.__wrapped__("/tree/autograd_cy/_core/ops/made.pyx")
    assert found == str(file.relative_to(tmp_path))
    assert sources.full_name(Spot("core", found, "f", 1)) == "autograd_cy._core.ops.made.f"


def test_yellow_is_counted_as_cython_does():
    code = (
        '#line 3 "autograd_cy/_core/a.pyx"\n  __Pyx_GOTREF(x); y = PyObject_Call(f, a, NULL);\n'
        '#line 3 "autograd_cy/_core/a.pyx"\n  n = PyList_GET_SIZE(l); z = __Pyx_GetItem(a);\n'
        '#line 4 "autograd_cy/_core/b.pxd"\n  PyObject_Call();\n#line 4 "autograd_cy/_core/a.pyx"\n  x = 1;\n'
    )
    assert yellow.count_scores(code.splitlines(), "a.pyx") == {3: 5 + 1 + 2}


# the report


@pytest.fixture
def profile():
    """The costs of two lines of a function, its calls, and the rest."""
    line = line_of(TENSOR, "cdef Tensor new_tensor(")
    symbol = "__pyx_f_11autograd_cy_5_core_5graph_6tensor_new_tensor"
    own = {
        Place(LIBRARY, TENSOR, symbol, line): 600,
        Place(LIBRARY, TENSOR, symbol, line + 1): 200,
        Place("/usr/bin/python3.11", "", "a_long_name_" * 12, 0): 150,
        Place("/usr/lib/libc.so.6", "", "</script>", 0): 50,
    }
    calls, inclusive, lines = Counter({symbol: 7}), Counter({symbol: 900}), Counter({(TENSOR, line): 100})
    return Profile("made", "instructions", Counter(own), calls, inclusive, lines)


def test_the_summary_adds_up(profile):
    summary = summarize(profile)
    assert summary.owners == {"core": 800, "Python": 150, "C library": 50}
    (row, *_) = summary.rows
    assert (row.spot.function, row.own, row.inclusive, row.calls) == ("new_tensor", 800, 900, 7)
    assert sum(row.own for row in summary.rows) == profile.total == 1000
    assert sum(summary.lines.values()) == 800


def test_the_text_fits_100_columns(profile):
    summary = summarize(profile)
    for text in (as_text(summary, "a title " * 20), as_table({"a title " * 20: summary})):
        assert "80.0%" in text and "new_tensor" in text and "graph/tensor/tensor_life.pyx:" in text
        assert max(map(len, text.splitlines())) <= 100


def test_the_page_is_one_file_with_the_lines(profile):
    page = as_page({"made <b>": summarize(profile)}, {"drawn": "<svg></svg>"})
    assert not re.search(r"(?:src|href)=|https?://|@import", page.replace("link.href", ""))
    (data,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    data = json.loads(data)
    assert data["flames"] == {"drawn": "<svg></svg>"}
    (made,) = data["profiles"]
    assert made["title"] == "made <b>" and made["total"] == 1000
    line = line_of(TENSOR, "cdef Tensor new_tensor(")
    assert made["lines"] == {TENSOR: {str(line): [600, 100], str(line + 1): [200, 0]}}
    text = {n: code for n, code, _, function in data["sources"][TENSOR] if function == "new_tensor"}
    assert text[line].startswith("cdef Tensor new_tensor(") and len(text) == len(data["sources"][TENSOR]) < 20


def test_what_is_missing_is_named_with_the_way_to_get_it(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match=r"missing: valgrind or perf\n.*get install valgrind(.|\n)*get install linux-perf"):
        command.main(["--check"])
    with pytest.raises(SystemExit, match=r"missing: perf .*apt-get install linux-perf"):
        command.main(["--check", "--tool", "perf"])
    monkeypatch.setattr(flame, "py_spy", lambda: None)
    assert "pip install py-spy" in flame.record_flame(["--workloads", "record"], Path("never.svg"))


def test_an_unknown_workload_is_named():
    with pytest.raises(SystemExit, match="no workload of benchmarks/: nothing; there are record, multiply_chain"):
        command.main(["--check", "--only", "nothing"])


@pytest.fixture
def recorded_here(tmp_path, monkeypatch):
    """Record the build under test, not the one below build/profile."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    if "libasan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("the sanitizer's allocator does not run under valgrind")
    monkeypatch.setattr(recorder, "RECORDINGS", tmp_path / "recordings")
    monkeypatch.setattr(recorder, "SITE", Path(autograd_cy.__file__).parents[1])
    return recorder.record_callgrind


# An installed release has no names of functions.
has_names = state.is_debug_build() or not MODULES


def test_a_workload_is_recorded(recorded_here):
    (profile,) = recorded_here(["--workloads", "record"])
    assert profile.title == "record" and profile.unit == "instructions"
    summary = summarize(profile)
    assert 10_000 < profile.total < 100_000_000
    assert sum(summary.owners.values()) == profile.total
    assert {"core" if has_names else HELPERS, "Python"} <= set(summary.owners)
    if has_names:
        spot = ("core", "autograd_cy/_core/graph/node/node_life.pyx", "make_node")
        (row,) = [row for row in summary.rows if row.spot[:3] == spot]
        assert row.calls in (100, None)     # None: inlined
    assert max(map(len, as_text(summary, profile.title).splitlines())) <= 100


def test_a_script_is_recorded(recorded_here, tmp_path):
    script = tmp_path / "script.py"
    tmp_path.joinpath("beside_the_script.py").touch()
    script.write_text("import sys, torch, beside_the_script\n(torch.ones(2) + 1).sum()\nsys.exit(len(sys.argv))\n")
    (profile,) = recorded_here(["--script", str(script), "argument"])
    assert profile.title == str(script)
    assert profile.total > 100_000
