"""PyTorch's operator database (`op_db` in its wheel) in this package's terms: rows, functions, samples.

`python tests/support/op_db.py` lists the rows whose function does not exist here, by namespace.
"""

import functools
import itertools
import random
import sys
import types
import unittest
import warnings
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import autograd_cy as ag

NAMESPACES = ("fft", "linalg", "masked", "nn", "signal", "sparse", "special")
MOST_ELEMENTS = 4000
OF_GPUS = ("nn.functional.batch_norm.without_cudnn",)  # rows that have no samples for the CPU


class Unsupported(Exception):
    """A sample has a dtype or layout that this package has not."""


def load() -> tuple[Any, list]:
    """(torch, op_db). What the import of it warns of is not ours; `expecttest`, which op_db does not need, may lack."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "expecttest" not in sys.modules:
            try:
                import expecttest  # noqa: F401
            except ImportError:
                stand_in = types.ModuleType("expecttest")
                stand_in.TestCase = unittest.TestCase
                sys.modules["expecttest"] = stand_in
        from torch.testing._internal.common_methods_invocations import op_db
    return torch, op_db


class Rows:
    """The rows of op_db: `present` by their full name, and the full names of those that are `missing`."""

    def __init__(self):
        self.torch, database = load()
        self.present, self.missing = {}, []
        for op in database:
            if op.full_name in OF_GPUS:
                continue
            if exists(op.name) or (is_of_tests(op.op) and exists(f"{op.name}_")):
                self.present[op.full_name] = op
            else:
                self.missing.append(op.full_name)

    def samples(self, op, dtype: str, requires_grad: bool, most: int = 40) -> list:
        """Samples of one dtype, not too many and not too large; the same at each call."""
        self.torch.manual_seed(0)
        random.seed(0)
        found = op.sample_inputs("cpu", getattr(self.torch, dtype), requires_grad=requires_grad)
        found = list(itertools.islice(found, 400))
        small = [s for s in found if self._size(s) <= MOST_ELEMENTS] or found[:2]
        return small[:: -(-len(small) // most)] if small else small

    def _size(self, sample) -> int:
        tensors = []
        map_tree(lambda t: tensors.append(t), (sample.input, sample.args, sample.kwargs), self.torch.Tensor)
        return sum(t.numel() for t in tensors)

    def ours(self, function, name: str | None = None):
        """Our function for one of theirs: found by its name, or its code run with our module in place of torch."""
        if isinstance(function, functools.partial):
            own = self.ours(function.func, f"nn.functional.{function.func.__name__}")
            return functools.partial(own, *function.args, **function.keywords)
        if is_of_tests(function):
            variables = {**function.__globals__, "torch": ag, "wrapper_set_seed": seeded}
            return types.FunctionType(function.__code__, variables, None, function.__defaults__, function.__closure__)
        return find(name or function.__name__)

    def convert(self, value):
        """A leaf of a sample in our terms. Tensors share their memory, and have the same strides."""
        torch = self.torch
        if isinstance(value, torch.Tensor):
            if value.layout is not torch.strided or not hasattr(ag, str(value.dtype).removeprefix("torch.")):
                raise Unsupported(f"{value.layout} of {value.dtype}")
            return ag.from_numpy(value.detach().resolve_conj().resolve_neg().numpy())
        if isinstance(value, torch.dtype):
            if not hasattr(ag, name := str(value).removeprefix("torch.")):
                raise Unsupported(name)
            return getattr(ag, name)
        if isinstance(value, torch.layout):
            raise Unsupported(str(value))
        if isinstance(value, torch.memory_format):
            return getattr(ag, str(value).removeprefix("torch."))
        if isinstance(value, torch.device):
            return ag.device("cpu")
        if isinstance(value, torch.nn.PairwiseDistance):
            return ag.pairwise_distance
        if isinstance(value, torch.Size):
            return ag.Size(value)
        return self.ours(value) if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)) else value


@dataclass(frozen=True)
class Slot:
    """The place of a variable tensor within a sample."""

    index: int


class Call:
    """A sample's call on one of the libraries: `call(*variables)` is the list of results, tensors and numbers.

    Variable is what has a gradient, or the first tensor where nothing has one.
    """

    def __init__(self, rows: Rows, module, function, sample):
        self.module, self._function, torch = module, function, rows.torch
        tensors: list = []
        tree = (sample.input, sample.args, sample.kwargs)
        map_tree(tensors.append, tree, torch.Tensor)
        self.differentiable = [t for t in tensors if t.requires_grad]
        chosen = {id(t): Slot(i) for i, t in enumerate(self.differentiable or tensors[:1])}
        convert = rows.convert if module is ag else (lambda value: value)
        self.values = [convert(t.detach()) for t in self.differentiable or tensors[:1]]
        self._tree = map_tree(lambda v: chosen.get(id(v)) or convert(v), tree)
        process = sample.output_process_fn_grad
        self._process = rows.ours(process) if module is ag else process

    def variables(self, requires_grad: bool = False) -> list:
        """The variable tensors, as new leaves."""
        found = [t.detach() for t in self.values]
        return [t.requires_grad_() for t in found] if requires_grad and self.differentiable else found

    def __call__(self, *variables, function=None, **more) -> list:
        input, args, kwargs = map_tree(lambda slot: variables[slot.index], self._tree, Slot)
        return self.flat(self._process((function or self._function)(input, *args, **kwargs, **more)))

    def raw(self, *variables, **more):
        """What the function itself returns."""
        input, args, kwargs = map_tree(lambda slot: variables[slot.index], self._tree, Slot)
        return self._function(input, *args, **kwargs, **more)

    def flat(self, tree) -> list:
        """The leaves of a result."""
        if isinstance(tree, (list, tuple)) and not isinstance(tree, self.module.Size):
            return [leaf for branch in tree for leaf in self.flat(branch)]
        return [tree]


def map_tree(function, tree, kind: type = object):
    """`tree` with `function` applied to each leaf of a kind, through lists, tuples, dicts and slices."""
    if type(tree) in (list, tuple):
        return type(tree)(map_tree(function, t, kind) for t in tree)
    if isinstance(tree, dict):
        return {key: map_tree(function, t, kind) for key, t in tree.items()}
    if isinstance(tree, slice):
        return slice(*(map_tree(function, t, kind) for t in (tree.start, tree.stop, tree.step)))
    return function(tree) if isinstance(tree, kind) else tree


def find(name: str):
    """What `name` is here: of a module (`cfloat` is a dtype there), or of Tensor; AttributeError if it is not."""
    for root in (ag, ag.Tensor):
        try:
            found = root
            for part in name.split("."):
                found = getattr(found, part)
            if not isinstance(found, ag.dtype):
                return found
        except AttributeError:
            pass
    raise AttributeError(f"{name} does not exist here")


def exists(name: str) -> bool:
    """Whether this package has a name of PyTorch's."""
    try:
        return find(name) is not None
    except AttributeError:
        return False


def is_of_tests(function) -> bool:
    """Whether a function stands in PyTorch's tests, and calls what is tested."""
    return isinstance(function, types.FunctionType) and ".testing." in function.__module__


def seeded(function, *args, **kwargs):
    """Call a function that draws, from the same seed each time."""
    ag.manual_seed(42)
    return function(*args, **kwargs)


def main():
    """Print what is missing."""
    rows = Rows()
    by_namespace = defaultdict(list)
    for name in rows.missing:
        namespace, dot, _ = name.partition(".")
        by_namespace[namespace if dot and namespace in NAMESPACES else "torch"].append(name)
    print(f"{len(rows.present)} rows of op_db exist here, {len(rows.missing)} are missing:")
    for namespace, names in sorted(by_namespace.items()):
        print(f"{namespace} ({len(names)}): {' '.join(names)}")


if __name__ == "__main__":
    main()
