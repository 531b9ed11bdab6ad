"""The layers: which folder of the core may import from which, and which private folder of the facade."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from common import ROOT, is_part

SUFFIXES = (".py", ".pyx", ".pxd", ".pyx.in")

# The folders of the core, lowest first: a module imports from its own folder and those below. Two that stand on one line
# know nothing of each other. `_library_contents` is written by an installation, `__init__` is the core itself.
FOLDERS = [
    ["_library_contents"], ["modules"], ["__init__"],
    ["runtime"], ["recording"], ["parallel"], ["arrays"], ["kernels", "graph"],
    ["batching"], ["writes"], ["engine"], ["ops", "optim"], ["inspection"],
]  # fmt: skip

# The families of operations, in the same way; what stands in `ops` itself is below all of them, `basics` and
# `operations` above.
FAMILIES = [
    ["pointwise", "shapes"], ["reductions"], ["indexing", "matrices", "products", "nn", "spectral"],
    ["basics"], ["operations"],
]  # fmt: skip

# Function pointers that a folder calls and one above it fills in: an arrow upwards that no import shows.
POINTERS = {
    "engine.engine.run_in_parallel": "engine.parallel_walk",
    "graph.node.accumulate": "engine.engine",
    "graph.node.tangents_of": "engine.engine",
    "graph.context.step": "ops.overrides",
    "graph.tensor.renew": "writes.inplace",
    "runtime.state.turn_taker": "engine.parallel_walk",
}

# The private folders of the facade that are below its public modules, lowest first. All others may import from each other, but
# in no circle.
ROOMS = ["_compat", "_types", "_creation", "_random", "_memory"]
ROOM_OF = {"random": "_random", "torch_version": "_compat"}  # public modules that belong to one of them

# The only circle: a tensor knows the node that made it, a node the tensors that it saved.
PAIR = {"_core.graph.tensor", "_core.graph.node"}

FROM = re.compile(r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+c?import[ \t]+(\([^)]*\)|[^\n;]+)", re.MULTILINE)
PLAIN = re.compile(r"^[ \t]*c?import[ \t]+([^\n;]+)", re.MULTILINE)
ALIAS = re.compile(r"^cimport autograd_cy\._core\.([\w.]+) as (\w+)", re.MULTILINE)
FILLED_IN = re.compile(r"^(\w+)\.(\w+)(?:\[\w+\])? = ", re.MULTILINE)
NOT_CODE = re.compile(r"\"\"\".*?\"\"\"|'''.*?'''|#[^\n]*|\\\n", re.DOTALL)

Import = tuple[int, str, list[str]]  # dots in front, module, the names taken from it; none for a plain import


def python_imports(text: str) -> Iterator[Import]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            yield node.level, node.module or "", [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from ((0, alias.name, []) for alias in node.names)


def cython_imports(text: str) -> Iterator[Import]:
    code = NOT_CODE.sub(" ", text)
    for dots, module, names in FROM.findall(code):
        yield len(dots), module, [name.split()[0] for name in names.strip("() \n").split(",") if name.strip()]
    for modules in PLAIN.findall(code):
        yield from ((0, module.split()[0], []) for module in modules.split(","))


def module_of(path: Path, root: Path = ROOT) -> str:
    """The name of a file's module inside the package; a package's name for its __init__, the whole's for a part."""
    if is_part(path, root):
        return ".".join(path.parent.parts[1:])
    stem = path.name.split(".")[0]
    parts = path.parent.parts if stem == "__init__" else (*path.parent.parts, stem)
    return ".".join(parts[1:] or parts)


def targets(package: list[str], found: Import, modules: set[str]) -> Iterator[str]:
    """The modules of ours that an import in `package` reaches; a name taken may be a module itself."""
    dots, module, names = found
    base = package[: len(package) - dots + 1] if dots else []
    full = ".".join([*base, module]).strip(".")
    if full.split(".")[0] != "autograd_cy":
        return
    inside = full.removeprefix("autograd_cy.")
    for name in names or [""]:
        deeper = f"{inside}.{name}".removeprefix("autograd_cy.").strip(".")
        yield deeper if deeper in modules else inside


def import_graph(root: Path) -> dict[str, set[str]]:
    """Every module of the package below `root`, with those of the package that it imports or cimports."""
    paths = [path.relative_to(root) for s in SUFFIXES for path in (root / "autograd_cy").rglob(f"*{s}")]
    graph: dict[str, set[str]] = {module_of(path, root): set() for path in paths}
    for path in paths:
        text = (root / path).read_text(encoding="utf-8")
        read = python_imports if path.suffix == ".py" else cython_imports
        for found in read(text):
            graph[module_of(path, root)].update(targets(list(path.parent.parts), found, set(graph)))
    return {module: imported - {module} for module, imported in graph.items()}


def rank(module: str) -> tuple[int, str, int, str]:
    """The place of a module: that of its folder, for an operation that of its family."""
    if module == "_core":
        module = "_core.__init__"
    if not module.startswith("_core."):
        first = module.partition(".")[0]
        room = ROOM_OF.get(first, first)
        return (len(FOLDERS) + ROOMS.index(room), room, -1, "") if room in ROOMS else (len(FOLDERS) + len(ROOMS), "", -1, "")
    folder, _, rest = module.removeprefix("_core.").partition(".")
    level = next(k for k, line in enumerate(FOLDERS) if folder in line)
    family = rest.partition(".")[0] if folder == "ops" else ""
    return level, folder, next((k for k, line in enumerate(FAMILIES) if family in line), -1), family


def may_import(module: str, other: str) -> bool:
    """Whether `other` stands below a module, or in its folder."""
    a, b = rank(module), rank(other)
    if a[:2] != b[:2]:
        return b[0] < a[0]
    return a[2:] == b[2:] or b[2] < a[2] or (a[2] == b[2] == -1)


def pointing_up(graph: dict[str, set[str]]) -> list[str]:
    return [f"{m} -> {other}" for m, imported in graph.items() for other in imported if not may_import(m, other)]


def circle(graph: dict[str, set[str]]) -> list[str]:
    """The modules of one circle of imports, with the pair taken for one module; empty where there is none."""
    merged: dict[str, set[str]] = {}
    for module, imported in graph.items():
        renamed = {"PAIR" if t in PAIR else t for t in imported}
        merged.setdefault("PAIR" if module in PAIR else module, set()).update(renamed)
    merged.get("PAIR", set()).discard("PAIR")
    try:
        TopologicalSorter(merged).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def pointers(root: Path) -> dict[str, set[str]]:
    """The function pointers of other modules that each module of the core fills in: {pointer: modules}."""
    found: dict[str, set[str]] = {}
    for path in [path for s in (".pyx", ".pyx.in") for path in (root / "autograd_cy").rglob(f"*{s}")]:
        text = path.read_text(encoding="utf-8")
        aliases = {alias: module for module, alias in ALIAS.findall(text)}
        for alias, name in FILLED_IN.findall(text):
            if alias in aliases:
                module = module_of(path.relative_to(root), root).removeprefix("_core.")
                found.setdefault(f"{aliases[alias]}.{name}", set()).add(module)
    return found


GRAPH = import_graph(ROOT)


def test_every_module_has_its_place():
    reached = set(GRAPH).union(*GRAPH.values())
    assert len(reached) > 100
    for module in reached:
        rank(module)


def test_no_import_points_up():
    assert pointing_up(GRAPH) == []


def test_no_circle_but_the_pair():
    assert circle(GRAPH) == []


def test_pointers_that_are_filled_in_from_above_are_known():
    found = pointers(ROOT)
    assert set(found) == set(POINTERS)
    for pointer, modules in found.items():
        assert all(module.startswith(POINTERS[pointer]) for module in modules), pointer


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("_core/runtime/state.pyx", "from autograd_cy._core.engine.engine cimport run", "_core.engine.engine"),
        ("_core/runtime/state.pxd", "from ..engine.engine cimport (\n    run,\n    stop,\n)", "_core.engine.engine"),
        ("_core/runtime/state.pyx", "from ..engine cimport engine", "_core.engine.engine"),
        ("_core/runtime/state.pyx.in", "def f():\n    from ..engine import engine as e", "_core.engine.engine"),
        ("_core/runtime/state.pyx", "cimport numpy as np, autograd_cy._core.engine.engine as e", "_core.engine.engine"),
        ("_core/runtime/state.py", "def f():\n    from ... import _tensor", "_tensor"),
        ("_core/runtime/state.py", "import autograd_cy._tensor as t", "_tensor"),
        ("_core/runtime/state.pyx", "from ...autograd.graph import Node", "autograd.graph"),
        ("_core/runtime/state.pyx", "import autograd_cy", "autograd_cy"),
        ("_core/runtime/state.py", "from autograd_cy import Tensor", "autograd_cy"),
        ("_core/engine/engine.pyx", "from autograd_cy._core.ops.nn.losses cimport f", "_core.ops.nn.losses"),
        ("_core/ops/pointwise/where.pyx", "from autograd_cy._core.ops.nn.losses cimport f", "_core.ops.nn.losses"),
        ("_core/ops/products/mm.pyx", "from autograd_cy._core.ops.nn.losses cimport f", "_core.ops.nn.losses"),
        ("_core/ops/registry.py", "from autograd_cy._core.ops.nn.losses import f", "_core.ops.nn.losses"),
        ("_types/limits.py", "from .. import _tensor", "_tensor"),
        ("_creation/data.py", "from .._tensor import method", "_tensor"),
    ],
)
def test_the_reader_sees(tmp_path, file, text, expected):
    others = ["__init__.py", "_tensor/__init__.py", "_core/engine/engine.pyx", "_core/ops/nn/losses.pyx", "autograd/graph.py"]
    for name in [*others, file]:
        path = tmp_path / "autograd_cy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if name == file else "", encoding="utf-8")
    graph = import_graph(tmp_path)
    module = module_of(Path("autograd_cy", file), tmp_path)
    assert graph[module] == {expected}
    assert pointing_up(graph) == [f"{module} -> {expected}"]


def test_the_reader_leaves_out_what_is_not_code():
    text = '"""Docs:\n\nfrom .engine import x\n"""\n# import autograd_cy\ncdef extern from "engine.h": pass\n'
    assert list(cython_imports(text)) == []


def test_circles_are_found():
    assert circle({"_core.graph.tensor": {"_core.graph.node"}, "_core.graph.node": {"_core.graph.tensor"}}) == []
    assert "a.shape" in circle({"a.shape": {"a.linalg"}, "a.linalg": {"a.shape"}})


def test_pointers_are_filled_before_they_are_called():
    """A recorded backward of a norm called one that only an import of forward mode filled: the interpreter ended."""
    later = {"engine.parallel_walk"}  # loaded by what allows threads
    script = "import sys, autograd_cy; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert {f"autograd_cy._core.{module}" for module in set(POINTERS.values()) - later} <= set(loaded)


def test_files_of_tests_have_different_names():
    """A process that a test starts finds the test's functions by the name of its file alone, in any of the folders."""
    names = [path.stem for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []
