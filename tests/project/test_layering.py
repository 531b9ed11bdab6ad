"""The layers: which folder of the core may import from which, and the order of the modules of the facade."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from common import ROOT

SUFFIXES = (".py", ".pyx", ".pxd", ".pyx.in")

# The folders of the core, lowest first: a module imports from its own folder and those below. Two that stand on one line
# know nothing of each other. `_library_contents` is written by an installation, `__init__` is the core itself.
FOLDERS = [
    ["_library_contents"], ["modules"], ["__init__"],
    ["runtime"], ["arrays"], ["kernels", "graph"], ["writes", "batching"],
    ["engine", "ops", "optim"],
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
    "graph.node.accumulate": "engine.input_buffer",
    "graph.record.renew_tangent": "writes.views",
    "graph.samples.jvp_by_samples": "batching.rules",
    "graph.samples.of_samples": "batching.rules",
    "graph.saved.enter_through_base": "writes.copy_slices",
    "graph.limits.limit_of_quotient": "engine.quotients",
    "graph.saved.tangents_by_vjp": "engine.double_vjp",
    "graph.saved.tell_history": "engine.engine",
    "graph.tensor.invert": "ops.pointwise.pointwise",
    "graph.tensor.negative": "ops.pointwise.pointwise",
    "graph.tensor.operators": "ops",
    "graph.tensor.renew": "writes.views",
    "graph.tensor.wrapper_type": "batching.batched",
    "ops.keywords.call_in_place": "ops.overwriting",
    "ops.overrides.aliased": "ops.indexing.slicing",
    "runtime.events.watch_calls": "ops.overrides",
    "runtime.modes.inference_settings": "graph.tensor",
    "runtime.reentry.turn_taker": "engine.parallel_walk",
}

# The facade's modules, lowest first: a module imports from its own line and those above it, and from the core.
FACADE = [
    line.split()
    for line in """
    _compat
    _random.generator _types _creation.arguments _types.layout _settings.threads _settings.backward_threads
    _random.streams
    _compat.later _compat.missing _once torch_version _functional.inplace _compat.answers _compat.errors
    _compat.absent_device futures multiprocessing.spawn
    functional _jit_internal onnx hub accelerator mps mtia xpu distributed._group distributed.rpc
    version _creation _functional _memory _random _settings
    _compat.homes _creation.dlpack
    __future__ _functional.names _compat.alias_children _compat.alias_metadata _compat.alias_names _compat.alias
    _functional.layers
    profiler._page
    _memory.moves
    _creation.data _creation.filled _creation.indices _creation.likes _creation.sequences _creation.strided _tensor.text
    _creation.windows utils.hooks _memory.shared
    multiprocessing.reductions
    multiprocessing
    signal._windows
    signal.windows
    signal
    _creation.constructor
    _memory.placeholders
    storage._names
    storage._untyped
    storage._typed
    storage._legacy storage._setting
    storage
    utils.deterministic utils.dlpack
    return_types types _settings.function_modes
    _settings.default_device
    _functional.queries
    _creation.typed
    _types.limits
    profiler._format profiler._recording profiler._flops profiler._operands
    profiler._events profiler._schedule profiler._record_function
    profiler._table profiler._trace profiler._steps
    profiler._event_list
    profiler._function_events profiler._graph profiler._memory_changes
    profiler._memory_picture
    profiler._memory
    profiler._model
    profiler._session
    profiler._profile
    profiler
    random memory
    _random.sampling
    _random.methods _tensor.mapping
    autograd._mode_decorator autograd._node
    autograd._saved_hooks autograd._parallel
    autograd._packers autograd._saved_guard
    autograd._cycles autograd._node_creation
    autograd._graph_survey autograd._graph_folding autograd._graph_dot
    autograd._graph_memory autograd._graph_labels
    autograd._graph_draw
    autograd.grad_mode autograd._safe_where autograd.anomaly_mode autograd.variable autograd.forward_ad
    _tensor.meta_sizes
    _tensor.meta
    profiler._calls
    profiler._replay
    profiler._hints profiler._overhead
    distributed
    distributed.distributed_c10d
    utils._pytree
    autograd._function_batches
    autograd.function
    autograd.gradients autograd._multi_grad
    func._vmap
    func._gradients
    func._beyond func._implicit func._modules func._sparse
    func
    _vmap_internals
    autograd._functional_helpers
    autograd.functional
    _settings.autocast
    _settings.autocast_rules
    utils._checkpoint_errors utils._checkpoint_policy
    utils._checkpoint_frame
    utils.checkpoint
    utils.benchmark._measurement
    utils.benchmark._compare utils.benchmark._timer
    utils.benchmark
    serialization._atomic
    utils.safetensors utils.tensorboard
    utils.data._collate utils.data._seeds
    utils.data._utils.collate
    utils.data._utils
    utils.data.dataset utils.data.sampler
    utils.data.distributed
    utils.data._fetching
    utils.data._workers
    utils.data._iteration
    utils.data.dataloader
    utils.data
    utils
    autograd._explain
    autograd.graph
    autograd._gradcheck_jacobian autograd._gradcheck_compare autograd._gradcheck_report autograd._gradcheck_seeds
    autograd._gradcheck_legacy
    autograd.gradcheck
    sparse._invariants sparse._pattern
    sparse._tensor
    sparse._attributes sparse._construction sparse._diagonals sparse._elementwise sparse._gradcheck sparse._gradients
    sparse._products sparse._reductions sparse._shapes sparse._steps sparse._text
    sparse._scipy sparse._typed
    sparse._names
    sparse
    autograd.profiler autograd.profiler_util
    autograd
    _C._autograd _C._functions
    _C
    fft linalg special overrides _settings.autocast_settings nn.common_types quasirandom
    _functional.lobpcg
    _numpy._arguments
    _numpy._mathematics _numpy._reductions _numpy._shapes _numpy._signals
    _numpy._joining _numpy._linear _numpy._picked _numpy._ufuncs
    _numpy
    array_api._promotion
    array_api._creation array_api._elementwise array_api._products array_api._shapes array_api._statistics array_api._types
    array_api.fft array_api.linalg
    array_api
    _functional.closeness
    _tensor.methods
    _tensor nn._embedding_bag nn._multi_head nn.functional
    _functional.numbered_reductions
    _functional.coverage _functional.different_elements _functional.lowrank _functional.native_norms _functional.segments
    _VF
    nn.parameter nn.init nn.grad
    nn._meta_parameter
    serialization._archive serialization._safe_globals
    serialization._storages
    serialization._reader serialization._writer
    serialization._stream serialization._unpickler
    serialization._files
    serialization
    nn._uninitialized
    nn.modules._functions nn.modules._hooks nn.modules._members nn.modules._regular_hooks nn.modules._typed_call
    nn.modules._backward_hook nn.modules._conversions nn.modules._registering nn.modules._state
    nn.modules._hooked_call
    nn.modules.module nn.modules.lazy
    nn.modules._parameter_containers
    nn.modules.container nn.modules.linear nn.modules.utils
    nn.modules._conv_base nn.modules._function_layer nn.modules._running_norm
    nn.modules._plain_conv nn.modules._transposed_conv nn.modules._windows
    nn.modules._lazy_conv
    nn.modules._adaptive_pooling nn.modules._unpooling
    nn.modules._attention nn.modules._shrinking nn.modules._softmaxes
    nn.modules.activation nn.modules.adaptive nn.modules.batchnorm nn.modules.channelshuffle nn.modules.conv
    nn.modules.distance nn.modules.dropout nn.modules.flatten nn.modules.fold nn.modules.instancenorm
    nn.modules.normalization nn.modules.padding nn.modules.pixelshuffle nn.modules.pooling nn.modules.sparse
    nn.modules.upsampling
    nn.modules._loss_layer nn.modules._transformer_layers
    nn.modules.linear_cross_entropy_options nn.modules._embedding_losses nn.modules._linear_cross_entropy
    nn.modules._multi_label_losses nn.modules.transformer
    nn.modules.loss
    nn.utils.rnn nn.modules._rnn_cells
    nn.modules.rnn
    nn.modules
    nn.utils._norms
    nn.utils.spectral_norm nn.utils.weight_norm
    nn.utils.clip_grad nn.utils.convert_parameters nn.utils.fusion nn.utils.init nn.utils.memory_format nn.utils.stateless
    nn.utils._parametrization_list nn.utils._orthogonal
    nn.utils.parametrize
    nn.utils.parametrizations
    nn.utils._pruning_methods
    nn.utils.prune
    nn.utils
    nn.parallel.data_parallel nn.parallel.distributed nn.attention
    nn.parallel.parallel_apply nn.parallel.replicate nn.parallel.scatter_gather
    nn.parallel
    nn
    fx.immutable_collections fx._names
    fx.node
    fx._code
    fx.graph
    fx.graph_module fx.proxy
    fx._patching
    fx._symbolic_trace
    fx.interpreter fx.subgraph_rewriter
    fx.passes.shape_prop
    fx.passes
    fx
    _C._nn
    _dynamo.config _dynamo.eval_frame jit
    _dynamo._compile
    _dynamo compiler
    _ops
    fx.experimental.proxy_tensor
    fx.experimental._regions
    fx.experimental._aliases
    fx.experimental._settings
    fx.experimental._writes
    fx.experimental._functionalization
    func._functionalize func._batch_norm
    _functorch.eager_transforms _functorch.make_functional
    _functorch
    fx.experimental
    library ops utils._python_dispatch
    optim._groups optim._state_dict
    optim.optimizer
    optim._recorded
    optim._fused optim._line_search
    optim.adam
    optim._adafactor optim._muon optim.adadelta optim.adagrad optim.adamax optim.adamw optim.asgd optim.lbfgs optim.nadam
    optim.radam optim.rmsprop optim.rprop optim.sgd optim.sparse_adam
    optim.lr_scheduler._scheduler
    optim.lr_scheduler._cosine optim.lr_scheduler._factors optim.lr_scheduler._functions optim.lr_scheduler._plateau
    optim.lr_scheduler._combined optim.lr_scheduler._cycles
    optim.lr_scheduler
    optim.swa_utils
    optim
    masked._masks
    masked._reductions
    masked._elements
    masked
    amp.autocast_mode amp.grad_scaler
    amp
    cuda.amp cuda.comm cuda.graphs cuda.memory cuda.nccl cuda.nvtx cuda.profiler cuda.random cuda.streams cpu.amp
    cuda cpu
    backends._absent
    backends.cpu backends.cuda backends.cudnn backends.cusparselt backends.kleidiai backends.mha backends.miopen backends.mkl
    backends.mkldnn backends.mps backends.nnpack backends.openmp backends.opt_einsum backends.quantized backends.xnnpack
    backends
    _settings.determinism _utils
    distributions._formulas distributions._gamma_draws distributions._noise
    distributions.constraints distributions.utils
    distributions.distribution
    distributions.exp_family distributions.independent
    distributions._location_scale distributions._by_probability distributions._lazy_attribute distributions._by_matrix
    distributions._transform distributions._matrix_transforms distributions._joined_transforms
    distributions.transforms distributions.transformed_distribution
    distributions.constraint_registry
    distributions._folded
    distributions.bernoulli distributions.binomial distributions.categorical distributions.cauchy distributions.dirichlet
    distributions.continuous_bernoulli distributions.exponential distributions.gamma distributions.generalized_pareto
    distributions.geometric distributions.laplace distributions.lowrank_multivariate_normal distributions.multivariate_normal
    distributions.normal distributions.poisson distributions.uniform distributions.von_mises
    distributions.beta distributions.chi2 distributions.fishersnedecor distributions.gumbel distributions.half_cauchy
    distributions.half_normal distributions.inverse_gamma distributions.kumaraswamy distributions.log_normal
    distributions.logistic_normal distributions.mixture_same_family distributions.multinomial
    distributions.negative_binomial distributions.one_hot_categorical distributions.pareto distributions.weibull
    distributions.lkj_cholesky distributions.studentT distributions.wishart
    distributions.relaxed_bernoulli distributions.relaxed_categorical
    distributions._kl_of_pairs
    distributions.kl
    distributions
    testing._layouts testing._programs.instructions testing.strategies._hypothesis
    testing._programs.interpreter testing._programs.outline testing._programs.source
    testing._programs.program
    testing._programs
    testing.strategies._numbers testing.strategies._shapes testing.strategies._programs
    testing.strategies._tensors
    testing.strategies._modules
    testing.strategies
    testing._close testing._make_tensor testing._verdict testing._differences testing._patterns
    testing._point testing._allclose
    testing._compare testing._report
    testing._culprit testing._examples testing._subject
    testing._gradient_checks testing._memory_checks testing._precision_checks testing._batch_checks testing._second_order
    testing._check
    testing._unittest testing._locate
    testing
    autograd_cy
    __main__
    profiler._command
    profile
    """.strip().splitlines()
]
FACADE_RANK = {module: rank for rank, line in enumerate(FACADE) for module in line}

# The only circle: a tensor knows the node that made it, a node the tensors that it saved.
PAIR = {f"_core.graph.{module}" for module in ("tensor", "node", "saved", "saved_tensor")}

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


def rank(module: str) -> tuple[int, str, int, str]:
    """The place of a module: that of its folder, for an operation that of its family, for the facade its own."""
    if module == "_core":
        module = "_core.__init__"
    if not module.startswith("_core."):
        return len(FOLDERS), "", FACADE_RANK[module], ""
    folder, _, rest = module.removeprefix("_core.").partition(".")
    level = next(k for k, line in enumerate(FOLDERS) if folder in line)
    family = rest.partition(".")[0] if folder == "ops" else ""
    return level, folder, next((k for k, line in enumerate(FAMILIES) if family in line), -1), family


def may_import(module: str, other: str) -> bool:
    """Whether `other` stands below a module, or in its folder."""
    a, b = rank(module), rank(other)
    if a[:2] != b[:2]:
        return b[0] < a[0]
    if a[0] == len(FOLDERS):
        return b[2] <= a[2]
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
                module = module_of(path.relative_to(root)).removeprefix("_core.")
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
        ("autograd/graph.py", "from .. import _tensor", "_tensor"),
    ],
)
def test_the_reader_sees(tmp_path, file, text, expected):
    others = ["__init__.py", "_tensor.py", "_core/engine/engine.pyx", "_core/ops/nn/losses.pyx", "autograd/graph.py"]
    for name in [*others, file]:
        path = tmp_path / "autograd_cy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if name == file else "", encoding="utf-8")
    graph = import_graph(tmp_path)
    module = module_of(Path("autograd_cy", file))
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
    later = {"engine.double_vjp", "engine.parallel_walk"}  # loaded by what opens dual levels, and by what allows threads
    script = "import sys, autograd_cy; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert {f"autograd_cy._core.{module}" for module in set(POINTERS.values()) - later} <= set(loaded)
