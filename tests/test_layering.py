"""The layers of the package: a module imports from its own line of the table and those above, none below."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SUFFIXES = (".py", ".pyx", ".pxd", ".pyx.in")

# A new module gets its place here. A package's name stands for its __init__: that of `_core` runs before any
# module of the core, so it imports nothing; the others gather public names.
LAYERS = [
    line.split()
    for line in """
    _core
    _core.thresholds _core.state _core.dtypes _core.registry _core.argument_errors _core.handle _core.edges _core.ready_queue
    _core.faults
    _core.modes
    _core.inference
    _core.lifetime _core.location _core.pool _core.threads
    _core.reentry
    _core.buffers _core.levels
    _core.orders
    _core.packing _core.guard
    _core.region
    _core.versions
    _core.conversions
    _core.tensor _core.node _core.saved _core.saved_tensor
    _core.hooks _core.op_hooks _core.out_argument
    _core.keywords
    _core.overrides _core.backward_arguments
    _core.loops _core.copies _core.operands _core.rows _core.partials _core.plane_loops _core.reduction_loops
    _core.softmax_loops _core.broadcast_sums _core.sines _core.choice_loops _core.variance_loops
    _core.layer_norm_loops _core.weight_loops _core.return_types
    _core.gemm
    _core.nans
    _core.anomaly
    _core.record
    _core.basic_functions
    _core.views
    _core.copy_slices
    _core.change
    _core.inplace
    _core.overwriting
    _core.pointwise_kernels
    _core.pointwise_table
    _core.pointwise_node
    _core.where
    _core.reduction_node
    _core.pointwise _core.shape
    _core.shape_views _core.transposes _core.part_views
    _core.sums _core.cumsum _core.normalize _core.extremes _core.norms _core.parts _core.variance
    _core.arithmetic _core.division _core.powers _core.activations _core.index_tensors _core.scatter _core.masked_fill
    _core.pointwise_inplace
    _core.index _core.gather _core.index_put
    _core.set_item
    _core.mm
    _core.linalg _core.losses
    _core.nll_loops _core.layer_norm
    _core.matmul _core.einsum _core.nll_loss _core.cross_entropy_loops
    _core.cross_entropy_gradient
    _core.cross_entropy
    _core.operations
    _core.input_buffer _core.freed
    _core.graph_task
    _core.function_node _core.function_call
    _core.engine _core.running _core.unchain
    _generator _size _arguments _threads
    _later _missing _once torch_version
    version
    _names _alias
    _data _creation _tensor_str utils.hooks
    _constructor
    return_types overrides
    _typed
    random cuda memory
    autograd._mode_decorator autograd._node
    autograd._saved_hooks
    autograd._packers autograd._saved_guard
    autograd._cycles
    autograd.grad_mode autograd.anomaly_mode autograd.variable autograd.forward_ad
    autograd.function
    autograd.gradients autograd._multi_grad
    utils._checkpoint_errors utils._checkpoint_policy
    utils._checkpoint_frame
    utils.checkpoint
    utils
    autograd._explain
    autograd.graph
    autograd._gradcheck_jacobian autograd._gradcheck_compare autograd._gradcheck_report autograd._gradcheck_seeds
    autograd._gradcheck_legacy
    autograd.gradcheck
    autograd
    _C._autograd _C._functions
    _C
    _tensor nn.functional
    nn
    autograd_cy
    __main__
    """.strip().splitlines()
]
RANK = {module: rank for rank, line in enumerate(LAYERS) for module in line}

# The only circle: a tensor knows the node that made it, a node the tensors that it saved.
PAIR = {"_core.tensor", "_core.node", "_core.saved", "_core.saved_tensor"}

FROM = re.compile(r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+c?import[ \t]+(\([^)]*\)|[^\n;]+)", re.MULTILINE)
PLAIN = re.compile(r"^[ \t]*c?import[ \t]+([^\n;]+)", re.MULTILINE)
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


def module_of(path: Path) -> str:
    """The name of a file's module inside the package; a package's name for its __init__."""
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
    graph: dict[str, set[str]] = {module_of(path): set() for path in paths}
    for path in paths:
        text = (root / path).read_text(encoding="utf-8")
        read = python_imports if path.suffix == ".py" else cython_imports
        for found in read(text):
            graph[module_of(path)].update(targets(list(path.parent.parts), found, set(graph)))
    return {module: imported - {module} for module, imported in graph.items()}


def pointing_back(graph: dict[str, set[str]]) -> list[str]:
    return [f"{m} -> {t}" for m, imported in graph.items() for t in imported if RANK.get(t, -1) > RANK[m]]


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


GRAPH = import_graph(ROOT)


def test_every_module_has_its_place():
    reached = set(GRAPH).union(*GRAPH.values())
    assert reached, "no module found"
    assert sorted(reached - set(RANK)) == []


def test_no_import_points_back():
    assert pointing_back({module: GRAPH[module] for module in set(GRAPH) & set(RANK)}) == []


def test_no_circle_but_the_pair():
    assert circle(GRAPH) == []


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("_core/state.pyx", "from autograd_cy._core.engine cimport run", "_core.engine"),
        ("_core/state.pxd", "from .engine cimport (\n    run,\n    stop,\n)", "_core.engine"),
        ("_core/state.pyx", "from . cimport engine", "_core.engine"),
        ("_core/state.pyx.in", "def f():\n    from autograd_cy._core import engine as e", "_core.engine"),
        ("_core/state.pyx", "cimport numpy as np, autograd_cy._core.engine as e", "_core.engine"),
        ("_core/state.py", "def f():\n    from .. import _tensor", "_tensor"),
        ("_core/state.py", "import autograd_cy._tensor as t", "_tensor"),
        ("_core/state.pyx", "from ..autograd.graph import Node", "autograd.graph"),
        ("_core/state.pyx", "import autograd_cy", "autograd_cy"),
        ("_core/state.py", "from autograd_cy import Tensor", "autograd_cy"),
    ],
)
def test_the_reader_sees(tmp_path, file, text, expected):
    others = ["__init__.py", "_tensor.py", "_core/__init__.py", "_core/engine.pyx", "autograd/graph.py"]
    for name in [*others, file]:
        path = tmp_path / "autograd_cy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if name == file else "", encoding="utf-8")
    graph = import_graph(tmp_path)
    assert graph["_core.state"] == {expected}
    assert pointing_back(graph) == [f"_core.state -> {expected}"]


def test_the_reader_leaves_out_what_is_not_code():
    text = '"""Docs:\n\nfrom .engine import x\n"""\n# import autograd_cy\ncdef extern from "engine.h": pass\n'
    assert list(cython_imports(text)) == []


def test_circles_are_found():
    assert circle({"_core.tensor": {"_core.node"}, "_core.node": {"_core.tensor"}}) == []
    assert "_core.shape" in circle({"_core.shape": {"_core.linalg"}, "_core.linalg": {"_core.shape"}})
