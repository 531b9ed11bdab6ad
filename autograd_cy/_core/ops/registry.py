"""The table of public operations: what a declaration adds and everything else is derived from."""

from collections import namedtuple

Op = namedtuple("Op", "name function methods kind namespace")
Op.__doc__ = """One public operation: its function, the Tensor methods and the namespace it is in:
'', 'nn.functional', or 'Tensor' for what is a method only."""

OPS: dict[str, Op] = {}


def op(name=None, methods=(), kind="structural", namespace=""):
    """Declare the function below as a public operation; returns the function unchanged.

    `methods` are the names that it has on Tensor; they may differ from its own (`T`, `__getitem__`).
    """

    def declare(function):
        entry = Op(name or function.__name__, function, tuple(methods), kind, namespace)
        key = f"{namespace}.{entry.name}" if namespace else entry.name
        if key in OPS:
            raise ValueError(f"operation {key} is declared twice")
        OPS[key] = entry
        return function

    return declare
