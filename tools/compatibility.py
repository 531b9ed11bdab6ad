"""Write docs/compatibility.md: the public names of PyTorch that this package lacks, with the reason.

    python -m tools.compatibility

It walks the public modules of an installed PyTorch, whose version the document states.
"""

import collections
import contextlib
import importlib
import importlib.util
import io
import logging
import re
import textwrap
import warnings
from pathlib import Path
from types import ModuleType

from tools.torch_names import module_names, public_names

TARGET = Path(__file__).resolve().parents[1] / "docs" / "compatibility.md"
CLASSES = ("torch.Tensor",)

# Reasons for missing names: the first pattern that matches the whole path counts.
LATER = "not written yet"
REASONS = [
    (
        r"torch\.(ao|quantization)\b.*|torch\.nn\.(intrinsic|qat|quantizable|quantized)\b.*|"
        r"torch\.jit\.quantized.*",
        "quantization",
    ),
    (
        r".*(quant|fake_q|fbgemm|QScheme|qscheme|QInt|QUInt|int_repr|per_channel|per_tensor|q_scale|"
        r"q_zero_point).*",
        "quantization",
    ),
    (r"torch\.distributed\..*|torch\.nn\.parallel\..*", "several processes"),
    (r"torch\.(onnx)\b.*", "writing ONNX files"),
    (r"torch\.(export|nativert|package)\b.*|torch\.compiler\..*", "compiling and exporting programs"),
    (
        r"torch\.jit\..*|torch\.(Script|Lite|Compil|Concrete|Static|Graph|Executi?on|Alias|Argument|"
        r"Complete|Deep).*",
        "TorchScript",
    ),
    (
        r"torch\.\w+Type|torch\.(Block|Call[A-Z]\w*|Capsule|Code|ErrorReport|FileCheck|FunctionSchema|"
        r"Gradient|IODescriptor)",
        "TorchScript",
    ),
    (
        r"torch\.(JITException|Node|Use|Value|Type|TracingState|OperatorInfo|"
        r"merge_type_from_type_comment|unify_type_list)",
        "TorchScript",
    ),
    (
        r"torch\.(import_ir_module\w*|parse_\w+|read_vitals|set_vital|vitals_enabled|fork|wait|"
        r"ThroughputBenchmark)",
        "TorchScript",
    ),
    (r"torch\.\w*(Logger\w*|AggregationType|AVG|SUM|BenchmarkConfig|BenchmarkExecutionStats|PyTorchFile\w+)", "TorchScript"),
    (r"torch\.(cuda|xpu|mps|mtia|accelerator|backends)\..*", "other devices"),
    (r".*(cuda|cudnn|miopen|mkldnn|vulkan|xpu|hip|ipu|hpu|mtia|mps|ideep|_mkl|nnpack|metal).*", "other devices"),
    (
        r"torch\.(batch_norm_\w+|is_vulkan_available|Stream|Event|pin_memory|is_pinned|DispatchKey\w*|"
        r"ExcludeDispatch\w*)",
        "other devices",
    ),
    (
        r".*(sparse|coalesce|[cr]ow_indices|ccol|crow|smm|hspmm|to_dense|dense_dim|\b_?indices\b|"
        r"values?_copy|indices_copy).*",
        "other sparse layouts, internals of sparse tensors",
    ),
    (r".*([Ss]torage|data_ptr).*", "internals of storages"),
    (r".*(names|align_to|align_as|align_tensors|refine_names|rename_?|unflatten_names)\b", "named tensors"),
    (r".*(nested).*", "nested tensors"),
    (r".*([Ss]ym(Int|Float|Bool|_\w+)|sym_\w+)", "symbolic sizes"),
    (r".*(bfloat16|BFloat16|chalf|complex32).*", "complex32"),
    (r".*(\w_copy|slice_scatter_inverse|slice_inverse)", "copies of views, for compilers"),
    (
        r"torch\.utils\.(cpp_extension|cpp_backtrace|mobile_optimizer|model_dump|bottleneck|"
        r"bundled_inputs|file_baton|viz|hipify)\b.*",
        "tools of PyTorch's build",
    ),
    (
        r"torch\.(monitor|numa|contrib|utils\.(backend_registration|backcompat|throughput_benchmark|jit|"
        r"serialization))\b.*",
        "tools of PyTorch's build",
    ),
    (
        r"torch\.fx\.(passes|experimental|tensor_type|traceback|annotate|config|operator_schemas|"
        r"subgraph_rewriter)\b.*",
        "fx beyond tracing",
    ),
    (r"torch\.(autograd|profiler|utils\.benchmark)\..*", "internals of PyTorch's profiler and engine"),
]  # fmt: skip


def reason_for(path):
    """The reason why a name of PyTorch is missing."""
    return next((reason for pattern, reason in REASONS if re.fullmatch(pattern, path)), LATER)


def found(path):
    """The module or class of that name, or None for a module that cannot be imported here."""
    package, _, rest = path.partition(".")
    try:
        return importlib.import_module(path)
    except Exception:  # some of PyTorch's modules need packages that are not installed
        owner = importlib.import_module(package)
        for name in rest.split(".") if rest else ():
            owner = getattr(owner, name, None)
        return owner


def survey():
    """For each public namespace of PyTorch, the number of its names and the names that are missing here."""
    importlib.import_module("torch.testing")
    for path in sorted({"torch", *CLASSES, *module_names()}):
        theirs = found(path)
        if theirs is None:
            continue
        names = set(public_names_of(path, theirs))
        ours = found("autograd_cy" + path[len("torch") :])
        if isinstance(ours, ModuleType) and not ours.__name__.startswith("autograd_cy"):
            ours = None  # Python's names that torch.multiprocessing re-exports
        yield path, len(names), None if ours is None else sorted(n for n in names if not has(ours, n))


def public_names_of(path, theirs):
    """The public names of a namespace: its __all__, or its own names without an underscore."""
    if isinstance(theirs, type):
        return [name for name in dir(theirs) if not name.startswith("_")]
    listed = getattr(theirs, "__all__", None)
    if path.startswith("torch.backends."):
        return [name for name in listed or dir(theirs) if not name.startswith("_") and name not in ("m", "torch")]
    if listed is not None:
        return [name for name in listed if not name.startswith("_")]
    return [n for n in public_names(path) if n.isidentifier()]


def has(owner, name):
    """Whether a namespace of this package has a name."""
    try:
        getattr(owner, name)
    except Exception:
        return hasattr(owner, "__path__") and importlib.util.find_spec(f"{owner.__name__}.{name}") is not None
    return True


def lines_of(reason, names):
    """A list entry: names in code font, wrapped."""
    text = f"* {reason}: " + ", ".join(f"`{name}`" for name in names)
    return textwrap.fill(text, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def render():
    """The text of the document."""
    version = importlib.import_module("torch").__version__.partition("+")[0]
    total, present, by_reason, body, absent = 0, 0, collections.Counter(), [], collections.defaultdict(list)
    for path, count, missing in survey():
        if missing is None:
            absent[reason_for(path)].append(path)
            continue
        total, present = total + count, present + count - len(missing)
        groups = collections.defaultdict(list)
        for name in missing:
            groups[reason_for(f"{path}.{name}")].append(name)
        by_reason.update({reason: len(names) for reason, names in groups.items()})
        if missing:
            body += ["", f"## {path}: {count - len(missing)} of {count}", ""]
            body += [lines_of(reason, names) for reason, names in sorted(groups.items())]
    table = ["| reason | names |", "|---|---|", *(f"| {reason} | {n} |" for reason, n in sorted(by_reason.items()))]
    modules = [lines_of(reason, paths) for reason, paths in sorted(absent.items())]
    head = HEAD.format(version=version, total=total, present=present).splitlines()
    return "\n".join([*head, "", *table, "", "## Modules", "", *modules, *body]) + "\n"


HEAD = """# PyTorch's names in this package

Written by `python -m tools.compatibility`. Do not edit.

Of the {total} public names of `torch.Tensor` and of those modules of PyTorch {version} that this package also has,
{present} are here. Some of them only raise an error that says what is missing (`torch.jit.save`). The page lists first the
modules that are missing entirely, then the other missing names, with the reasons.
"""


def quiet(function):
    """Call a function with the warnings and log messages of PyTorch's modules suppressed."""
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        return function()


if __name__ == "__main__":
    TARGET.write_text(quiet(render), encoding="utf-8", newline="\n")
