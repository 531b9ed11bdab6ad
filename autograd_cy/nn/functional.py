"""Functions of neural networks: the operations declared in this namespace, and those that PyTorch has here, too (facade)."""

from .._core.operations import OPS

for _op in OPS.values():
    if _op.namespace == "nn.functional" or _op.name in ("relu", "sigmoid", "tanh"):
        globals()[_op.name] = _op.function
__all__ = [_name for _name in globals() if not _name.startswith("_") and _name != "OPS"]
