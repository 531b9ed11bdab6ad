"""The table of public operations. Each declaration makes an Op, and everything else is derived from the Ops."""

from autograd_cy._core.batching.rules import declare_rule, declare_write, elementwise, rule_of, writes
from autograd_cy._core.graph.node import declare_linear
from autograd_cy._core.graph.tensor import extend
from autograd_cy._core.ops.out_rules import OUT_RULES, OVERLAP_RULES

OPS: dict[str, "Op"] = {}  # the public operations, by namespace and name
BY_FUNCTION: dict[object, "Op"] = {}  # these and the in-place operations, by function


class Op:
    """One operation, made once by its declaration. A plain call does not look at it; a call with `out=`, `inplace=`, other
    keywords or an older order of arguments finds it by the function.

    It holds the function, its name, its names on Tensor, its kind, and its namespace: '', 'nn.functional', 'fft' or
    another, or 'Tensor' for one that is only a method. `path` is the namespace and the name, the key in OPS. `inplace` is
    whether it takes `inplace=`. An in-place operation has as `base` the function whose result it writes, if that is an
    operation. `out` and `overlap` are the rules for the type and the memory of `out=` (out_rules.py).
    """

    __slots__ = ("base", "function", "inplace", "kind", "methods", "name", "namespace", "out", "overlap", "path")

    def __init__(self, name, function, methods, kind, namespace, inplace=False, base=None):
        self.name, self.function, self.methods, self.kind, self.namespace = name, function, methods, kind, namespace
        self.inplace, self.base = inplace, base
        self.path = path = f"{namespace}.{name}" if namespace else name
        self.out, self.overlap = OUT_RULES.get(path), OVERLAP_RULES.get(path)
        BY_FUNCTION[function] = self

    def __repr__(self):
        return f"<Op {self.path}>"

    @property
    def writes(self):
        """Whether the function writes into its first argument."""
        return writes(self.function)

    @property
    def batch(self):
        """The batching rule; None if there is none."""
        return rule_of(self.function)


def op_of(function):
    """The Op of a function object; None if the function is no operation."""
    return BY_FUNCTION.get(function)


def namespace_of(name):
    """The public functions of a namespace, by name: the module of that name exposes them."""
    return {op.name: op.function for op in OPS.values() if op.namespace == name}


def op(name=None, methods=(), kind="structural", namespace="", inplace=False, linear=None, batch=None):
    """Declare the function below as a public operation; returns the function unchanged.

    `methods` are its names on Tensor; they may differ from its own (`T`, `__getitem__`). `linear` is the class of its nodes if
    it is linear in its only tensor: the tangent is then the operation itself, with the node's `arguments()`. `batch` is its
    batching rule (batching/rules.pyx); elementwise operations have one by default.
    """

    def declare(function):
        entry = Op(name or function.__name__, function, tuple(methods), kind, namespace, inplace)
        if entry.path in OPS:
            raise ValueError(f"operation {entry.path} is declared twice")
        OPS[entry.path] = entry
        if batch is not None or kind == "elementwise":
            declare_rule(function, batch or elementwise)
        if linear is not None:
            declare_linear(linear, function)
        return function

    return declare


def inplace_op(function, base=None, methods=(), batch=None):
    """Declare a function that writes into its first argument, and attach it to Tensor by its name, or by those in `methods`.

    `base` is the operation whose result it writes. Its batching rule is also the rule of this function, unless `batch` is
    given.
    """
    entry = Op(function.__name__, function, tuple(methods) or (function.__name__,), "in place", "Tensor", False, base)
    for name in entry.methods:
        extend(name, function)
    declare_write(function)
    rule = batch if batch is not None or base is None else rule_of(base)
    if rule is not None:
        declare_rule(function, rule)
