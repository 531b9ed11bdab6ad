"""Nothing is forgotten: ops = rows of the op table = names in the stubs = documented names; docstrings have examples."""

import ast
import collections
import importlib
import inspect
import pkgutil
import re
import types
import typing
from operator import attrgetter
from pathlib import Path

import pytest
from op_calls import OURS
from opinfo import OPS

import autograd_cy as ag
from autograd_cy import special
from autograd_cy._compat import HOMES
from autograd_cy._functional import layers as _layers
from autograd_cy._functional import names as _names
from tools.reference import reference

pytestmark = pytest.mark.skipif(not OURS, reason="about this package")

PUBLIC = [
    "autograd_cy",
    "autograd_cy.amp",
    "autograd_cy.autograd",
    "autograd_cy.autograd.forward_ad",
    "autograd_cy.autograd.function",
    "autograd_cy.autograd.grad_mode",
    "autograd_cy.autograd.graph",
    "autograd_cy.backends",
    "autograd_cy.backends.cuda",
    "autograd_cy.backends.cudnn",
    "autograd_cy.backends.mha",
    "autograd_cy.backends.mkldnn",
    "autograd_cy.backends.mps",
    "autograd_cy.backends.opt_einsum",
    "autograd_cy._dynamo",
    "autograd_cy._compat.errors",
    "autograd_cy.accelerator",
    "autograd_cy.compiler",
    "autograd_cy.cpu",
    "autograd_cy.cpu.amp",
    "autograd_cy.cuda",
    "autograd_cy.cuda.amp",
    "autograd_cy.cuda.comm",
    "autograd_cy.cuda.graphs",
    "autograd_cy.cuda.memory",
    "autograd_cy.cuda.nccl",
    "autograd_cy.cuda.nvtx",
    "autograd_cy.cuda.profiler",
    "autograd_cy.cuda.random",
    "autograd_cy.cuda.streams",
    "autograd_cy.distributions",
    "autograd_cy.fft",
    "autograd_cy.futures",
    "autograd_cy.hub",
    "autograd_cy.jit",
    "autograd_cy.linalg",
    "autograd_cy.masked",
    "autograd_cy.mps",
    "autograd_cy.mtia",
    "autograd_cy.nn.attention",
    "autograd_cy.nn.functional",
    "autograd_cy.nn.parallel",
    "autograd_cy.onnx",
    "autograd_cy.overrides",
    "autograd_cy.random",
    "autograd_cy.signal.windows",
    "autograd_cy.special",
    "autograd_cy.testing",
    "autograd_cy.testing.strategies",
    "autograd_cy.utils.dlpack",
    "autograd_cy.utils.hooks",
    "autograd_cy.utils.tensorboard",
    "autograd_cy.xpu",
]

# What a namespace has besides its own operations.
SHARED = {
    "fft": {"fftfreq", "rfftfreq"},
    "nn.functional": {
        *["relu", "sigmoid", "tanh", "hardshrink", "prelu", "channel_shuffle", "cosine_similarity", "native_channel_shuffle"],
        *["pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "gumbel_softmax", "celu_", "elu_", "hardtanh_"],
        *["leaky_relu_", "relu_", "rrelu_", "selu_", "threshold_", "avg_pool1d", "adaptive_avg_pool1d", "conv_tbc"],
        *["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"],
        *["multi_head_attention_forward", "embedding_bag"],
    },
    "special": set(special._ALIASES),
}


@pytest.fixture(scope="module")
def registry():
    return importlib.import_module("autograd_cy._core.ops.operations").OPS


def key_of(row):
    """The key of a row's op in the registry."""
    return row.path if "." in row.path and (not row.path.startswith("Tensor.") or "__" in row.path) else row.name


def test_each_op_has_a_row_and_each_row_an_op(registry):
    assert {key_of(row) for row in OPS} == set(registry)


def test_each_op_has_one_row():
    assert [name for name, n in collections.Counter(row.name for row in OPS).items() if n > 1] == []
    assert [key for key, n in collections.Counter(map(key_of, OPS)).items() if n > 1] == []


def test_what_a_row_calls_is_what_is_registered(registry):
    rows = [row for row in OPS if not row.path.startswith("Tensor.")]
    assert [row.name for row in rows if attrgetter(row.path)(ag) is not registry[key_of(row)].function] == []


def registry_of_networks():
    table = importlib.import_module("autograd_cy._core.ops.operations").OPS
    return [op for op in table.values() if ".ops.nn." in op.function.__module__]


def test_functions_of_networks_are_those_that_come_later():
    """They are listed by hand in autograd_cy/__init__.py, which does not import them. What comes later has no methods."""
    assert sorted(_layers.__all__) == ag._LATER["_functional.layers"].split()
    networks = [op for op in registry_of_networks() if op.methods]
    assert networks == []


# stubs


def defined_in(stub, cls=None):
    """The names that a stub, or a class in it, defines."""
    body = ast.parse((Path(ag.__file__).parent / stub).read_text(encoding="utf-8")).body
    if cls is not None:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == cls)
    functions = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    return functions | {node.target.id for node in body if isinstance(node, ast.AnnAssign)}


def test_each_op_is_in_the_stub_of_its_namespace(registry):
    dtypes = {name for name, value in vars(ag).items() if isinstance(value, ag.dtype)}
    names = {op.name for op in registry.values() if not op.namespace}
    aliases = {name for op in registry.values() if op.kind == "elementwise" for name in op.methods} | set(_names._SAME)
    in_place = {name for name in _names.__all__ + _layers.__all__ if name.endswith("_")}
    known = {f"{op.name}_" for op in registry.values()} | {f"{name}_" for name in aliases}
    assert in_place <= known | {"detach_", "fill_", "resize_as_", "zero_"}
    public = defined_in("_functional/names.pyi") | defined_in("_functional/layers.pyi")
    assert public - dtypes == names | aliases | in_place | {"celu", "rrelu", "selu", "threshold"}
    others = {op.namespace for op in registry.values()} - {"", "Tensor"}
    assert "fft" in others
    for namespace in others:
        own = {op.name for op in registry.values() if op.namespace == namespace}
        assert defined_in(f"{namespace.replace('.', '/')}.pyi") == own | SHARED.get(namespace, set())


def test_each_method_is_in_the_stub_of_tensor(registry):
    methods = {name for op in registry.values() for name in op.methods}
    assert methods - defined_in("_core/graph/tensor.pyi", "Tensor") == set()


def test_the_stub_of_tensor_has_what_tensor_has():
    tensor = ag.ones(2)
    stub = {name for name in defined_in("_core/graph/tensor.pyi", "Tensor") if not name.startswith("_")}
    assert stub == {name for name in dir(tensor) if not name.startswith("_")}


def unlisted():
    """The names that come into the module at their first use, and that `import *` leaves out."""
    return [name for home, names in ag._LATER_UNLISTED.items() for name in names.split() or [home]]


def test_what_modules_offer_is_what_type_checkers_see():
    later = {*unlisted(), "profile", "torch_version"}
    assert all(hasattr(ag, name) for name in ag.__all__)
    # pytest, which has a plugin from us, puts names like @py_builtins into modules
    ours = {name for name in vars(ag) if not name.startswith(("_", "@"))} - {"TYPE_CHECKING"} - later
    assert set(ag.__all__) == ours
    assert len(ag.__all__) == len(ours)


def shown_by_mistake(module, public):
    """The names of ours that a public module shows by mistake: not in its `__all__`, nor offered at first use, nor public
    elsewhere."""
    offered = {*module.__all__, *HOMES.get(module.__name__, ())}
    for name, value in vars(module).items():
        if name.startswith("_") or name in offered or (name, id(value)) in public or name in vars(typing):
            continue
        home = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None) or module.__name__
        if home.startswith("autograd_cy") and home != f"{module.__name__}.{name}":
            yield name


def test_public_modules_show_no_helpers():
    """autograd.grad_mode.mode_bit(None) was a bare KeyError: what a module imports for itself alone has an underscore."""
    found = [m.name for m in pkgutil.walk_packages(ag.__path__, "autograd_cy.") if "._" not in m.name]
    modules = [ag, *map(importlib.import_module, found)]
    assert [m.__name__ for m in modules if not hasattr(m, "__all__")] == []
    public = {(name, id(getattr(m, name))) for m in modules for name in m.__all__}
    public |= {(name, id(getattr(ag, name))) for name in unlisted()}  # which come into the module at their first use
    assert {m.__name__: names for m in modules if (names := list(shown_by_mistake(m, public)))} == {}


# documentation


def documented():
    """The rows of docs/operations.md: {operation: names of nodes}."""
    text = reference().replace("`x[index]`", "`Tensor.__getitem__(input, index)`")
    return dict(re.findall(r"^\| `([\w.]+)\(.*?\)` \| .*? ?\| (.*?) ?\|", text, re.MULTILINE))


def test_each_op_is_documented(registry):
    assert set(documented()) == set(registry)


def test_an_op_is_documented_with_its_node_if_it_is_differentiable():
    nodes = documented()
    others = [row.name for row in OPS if row.differentiable != bool(nodes[key_of(row)])]
    assert others == ["nn.functional.ctc_loss"]  # has a gradient, but none of that, which the generic tests would ask for


def test_each_op_has_a_docstring_with_an_example(registry):
    without = [name for name, op in registry.items() if ">>>" not in (inspect.getdoc(op.function) or "")]
    assert without == []


def test_each_docstring_begins_with_the_call(registry):
    first = {op.name: (inspect.getdoc(op.function) or "").partition("\n")[0] for op in registry.values()}
    assert [name for name, line in first.items() if not line.startswith(f"{name}(") and name != "__getitem__"] == []


def public_objects():
    """The functions and classes that the public modules offer, but for methods of Tensor."""
    for module_name in PUBLIC:
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", vars(module)):
            value = getattr(module, name)
            ours = str(getattr(value, "__module__", "")).startswith("autograd_cy") and value is not vars(ag.Tensor).get(name)
            if ours and not name.startswith("_") and (callable(value) or isinstance(value, type)):
                yield f"{module_name}.{name}", value


def test_each_public_function_and_class_has_a_docstring_with_an_example():
    found = dict(public_objects())
    assert len(found) > 100
    assert [name for name, value in found.items() if ">>>" not in (inspect.getdoc(value) or "")] == []


def test_each_public_method_of_a_tensor_has_a_docstring():
    kinds = (types.FunctionType, type(ag.exp), property)
    methods = {n: v for n, v in vars(ag.Tensor).items() if isinstance(v, kinds) and not n.startswith("_")}
    assert len(methods) > 100
    assert [name for name, value in methods.items() if not inspect.getdoc(value)] == []
