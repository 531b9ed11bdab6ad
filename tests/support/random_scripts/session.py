"""Runs a script on a module like torch, and looks at what is there afterwards."""

import functools
import itertools
import re
from pathlib import Path

PRELUDE = Path(__file__).with_name("prelude.py").read_text()
FIELDS = ("dtype", "shape", "requires_grad", "is_leaf", "retains_grad", "_version")


@functools.lru_cache(1 << 14)
def compiled(line):
    return compile(line, "<script>", "exec")


@functools.cache
def prelude(module):
    """The names that a script starts with."""
    names = {"torch": module}
    exec(compile(re.sub("^import .*", "", PRELUDE, flags=re.M), "prelude.py", "exec"), names)
    return names


class Session:
    """One script on one module."""

    def __init__(self, module):
        self.module = module
        self.names = dict(prelude(module))
        self.log = self.names["log"]
        self.log.clear()
        self.errors = []

    def run(self, line):
        """Run one line; what came of it: nothing, or the kind and text of an error."""
        try:
            exec(compiled(line), self.names)
        except Exception as error:
            outcome = type(error), str(error)
            del error
        else:
            outcome = None
        self.errors.append(outcome)
        return outcome

    @property
    def tensors(self):
        """The tensors that have a name, by it; a list of them (from `first, *others = ...`) as its elements."""
        kind, found = self.module.Tensor, {}
        for name, value in itertools.islice(self.names.items(), len(prelude(self.module)), None):
            if isinstance(value, kind):
                found[name] = value
            elif type(value) is list:
                found.update((f"{name}[{k}]", x) for k, x in enumerate(value))
        return found

    def flags(self):
        """What requires grad, tensors and gradients."""
        flags = []
        for t in self.tensors.values():
            g = t.grad if t._base is None and t.is_leaf else None
            flags.append((t.requires_grad, g is not None and g.requires_grad))
        return flags

    def is_integer(self, name):
        t = self.tensors.get(name)
        return t is not None and not (t.is_floating_point() or t.is_complex())

    def close(self):
        self.module.set_grad_enabled(True)
        if "level" in self.names:
            self.run("fw.exit_dual_level()")
        for t in self.tensors.values():
            try:
                t.grad = None
            except RuntimeError:
                pass

    def look(self):
        """What can be seen of each tensor: a dict by name."""
        tensors = self.tensors
        names = {id(t): name for name, t in tensors.items()}
        return {name: self.look_at(t, names) for name, t in tensors.items()}

    def look_at(self, t, names):
        seen = {field: tried(getattr, t, field) for field in FIELDS}
        seen["dtype"], seen["shape"] = str(t.dtype), tuple(t.shape)
        seen["stride"] = [s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1] if t.numel() else []
        seen["is_inference"] = t.is_inference()
        seen["values"] = t.tolist()
        seen["base"] = tried(base_name, t, names)
        seen["node"] = tried(node, t)
        seen["grad"] = tried(grad_of, t, self.names["seen"])
        seen["tangent"] = tried(tangent, t, self.names) if "level" in self.names else None
        return seen


def tried(function, *args):
    try:
        return function(*args)
    except (RuntimeError, AttributeError) as error:
        return "?" if "INTERNAL ASSERT" in str(error) else type(error).__name__


def base_name(t, names):
    base = t._base
    return None if base is None else names.get(id(base), "?")


def node(t):
    return t.grad_fn and (name_of(t.grad_fn), t.output_nr)


def name_of(node):
    return node.name().replace("torch::autograd::", "")


def grad_of(t, seen):
    if t.grad_fn is not None and not t.retains_grad:
        return None
    return None if t.grad is None else seen(t.grad)


def tangent(t, names):
    found = names["fw"].unpack_dual(t).tangent
    return None if found is None else names["seen"](found.detach())
