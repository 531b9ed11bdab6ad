"""Names: of nodes, which differ from each other, and of functions, as PyTorch calls them (facade)."""

import builtins
import functools
import keyword
import operator
import pkgutil
import re
import sys
from collections.abc import Callable
from typing import Any

from .._compat import PACKAGE

# Functions of nn.functional that PyTorch has in C: calls of them are recorded as they are made. Those on the left are torch's.
_OF_TORCH = frozenset(
    "adaptive_avg_pool1d avg_pool1d bilinear celu_ channel_shuffle conv1d conv2d conv3d conv_tbc conv_transpose1d "
    "conv_transpose2d conv_transpose3d cosine_similarity hardshrink logsigmoid native_channel_shuffle pairwise_distance pdist "
    "pixel_shuffle pixel_unshuffle prelu relu_ rrelu_ selu_ sigmoid tanh threshold_".split()
)
_OF_C = frozenset(
    "avg_pool2d avg_pool3d elu_ gelu hardtanh_ leaky_relu_ linear one_hot scaled_dot_product_attention "
    "softplus softshrink".split()
)
# What generated code finds under these names.
RESERVED = ("inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree")


@functools.cache
def _paths() -> dict[int, tuple[Any, str]]:
    """Each function of the package's namespaces, by its id, with PyTorch's path for it."""
    package = sys.modules[PACKAGE]
    found: dict[int, tuple[Any, str]] = {}
    for namespace in ("", "nn.functional", "linalg", "fft", "special", "autograd", "utils.checkpoint"):
        module = operator.attrgetter(namespace)(package) if namespace else package
        modules = {found.name for found in pkgutil.iter_modules(getattr(module, "__path__", ()))}
        for name in sorted(set(dir(module)) - modules):  # which are not to be loaded for this
            value = getattr(module, name, None)
            if callable(value) and not name.startswith("_") and not isinstance(value, type):
                found.setdefault(id(value), (value, ".".join(filter(None, ("torch", namespace, name)))))
    for name in (*_OF_TORCH, *_OF_C, "relu"):
        value = getattr(package.nn.functional, name)
        home = "torch" if name in _OF_TORCH else "torch._C._nn" if name in _OF_C else "torch.nn.functional"
        found[id(value)] = value, f"{home}.{name}"
    return found


def path_in_torch(value: Any) -> str | None:
    """PyTorch's path of a function of this package; None for any other function."""
    known = _paths().get(id(value))
    if known is not None and known[0] is value:
        return known[1]
    module = getattr(value, "__module__", None) or ""
    if module.partition(".")[0] not in (PACKAGE, "torch"):
        return None
    if module.startswith("torch._ops."):
        package = sys.modules[PACKAGE]
        namespace, _, name = str(value).partition(".")
        found = functools.reduce(lambda x, part: getattr(x, part, None), name.split("."), getattr(package.ops, namespace))
        return f"torch.ops.{value}" if found is value else None
    owner = sys.modules.get(module.replace("torch", PACKAGE, 1))
    name = getattr(value, "__qualname__", getattr(value, "__name__", ""))
    if owner is None or "_core" in module or getattr(owner, name, None) is not value:
        return None
    return f"torch{module[len(module.partition('.')[0]) :]}.{name}"


def qualified_name(function: Callable[..., Any]) -> str:
    """The module and name of a function; for one of this package as PyTorch has it."""
    name = getattr(function, "__name__", type(function).__name__)
    if getattr(builtins, name, None) is function:
        return name
    path = path_in_torch(function)
    if path is not None:
        return path
    module = getattr(function, "__module__", None) or "builtins"
    return f"{module}.{getattr(function, '__qualname__', name)}".replace(".<locals>", "").replace("<lambda>", "_lambda_")


def default_arguments(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments of a recorded call: PyTorch's functions in Python name theirs that have defaults, also those left out."""
    import inspect  # not needed by those who trace no functions

    path = path_in_torch(function) or ""
    if not path.startswith("torch.nn.functional."):
        return args, kwargs
    from .._core.ops.registry import op_of

    signature, entry = inspect.signature(function), op_of(function)
    takes_inplace = entry is not None and entry.inplace
    try:
        inplace = {"inplace": kwargs["inplace"] if "inplace" in kwargs else False} if takes_inplace else {}
        bound = signature.bind(*args, **{name: value for name, value in kwargs.items() if name != "inplace"})
    except TypeError:  # called in another way, which the function itself knows
        return args, kwargs
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in signature.parameters.values()):
        return args, kwargs
    bound.apply_defaults()
    given, named = [], {}
    for name, parameter in signature.parameters.items():
        if parameter.default is parameter.empty:
            given.append(bound.arguments[name])
        else:
            named[name] = bound.arguments[name]
    return tuple(given), named | inplace


class Namespace:
    """The names that are taken in a graph or in its code; ``create_name(wanted, owner)`` is one that is free.

    >>> from autograd_cy.fx._names import Namespace
    >>> names = Namespace()
    >>> names.create_name("add", None), names.create_name("add", None), names.create_name("sum", None)
    ('add', 'add_1', 'sum_1')
    """

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any | None) -> str:
        """``create_name(candidate, obj)``: the name that obj has, or an unused one like the candidate."""
        if obj is not None and obj in self._names:
            return self._names[obj]
        candidate = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        match = re.match(r"(.*)_(\d+)$", candidate)
        base, number = (match[1], int(match[2])) if match else (candidate, 0)
        number = max(number, self._counts.get(base, 0)) if match is None else number
        if match is None and number:
            candidate = f"{base}_{number}"
        while candidate in self._used or self._is_illegal(candidate, obj):
            number += 1
            candidate = f"{base}_{number}"
        self._used.add(candidate)
        self._counts[base] = max(number, self._counts.get(base, 0))
        if obj is not None:
            self._names[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """``associate_name_with_obj(name, obj)``: the name is that object's from now on."""
        self._names[obj] = name

    def rename(self, obj: Any, name: str) -> None:
        """``rename(obj, name)``: the name of an object is another one."""
        self._names[obj] = name
        self._used.add(name)

    @staticmethod
    def _is_illegal(name: str, obj: Any) -> bool:
        if keyword.iskeyword(name):
            return True
        if name in builtins.__dict__:
            return obj is not builtins.__dict__[name]
        return name in RESERVED
