"""The table of public operations. Each declaration adds a row, and everything else is derived from the rows."""

from collections import namedtuple

from autograd_cy._core.batching.rules import declare_rule, elementwise
from autograd_cy._core.graph.node import declare_linear

Op = namedtuple("Op", "name function methods kind namespace inplace")
Op.__doc__ = """One public operation: its function, the Tensor methods and the namespace it is in ('', 'nn.functional', 'fft',
or 'Tensor' for what is a method only); whether it takes `inplace=`."""

OPS: dict[str, Op] = {}
INPLACE: set[str] = set()  # operations that take `inplace=`


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
        key = f"{namespace}.{entry.name}" if namespace else entry.name
        if key in OPS:
            raise ValueError(f"operation {key} is declared twice")
        OPS[key] = entry
        if batch is not None or kind == "elementwise":
            declare_rule(function, batch or elementwise)
        if linear is not None:
            declare_linear(linear, function)
        if inplace:
            INPLACE.add(function.__name__)
        return function

    return declare
