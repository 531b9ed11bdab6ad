"""Sparse tensors as text (facade)."""

from typing import Any

from .._core.graph.tensor import array_of
from .._tensor.text import is_obvious, tensor_str, with_suffixes
from ._tensor import implements

_START = "tensor("
_INDENT = len(_START)


def _part(x: Any, name: str) -> str:
    """An index or value tensor, from the column that the text of the whole has for it."""
    suffixes = [] if x.numel() else [f"size={tuple(x.shape)}"]
    return tensor_str(array_of(x), suffixes=suffixes, prefix=f"{' ' * _INDENT}{name}=tensor(")[_INDENT:]


@implements("__repr__")
def text_of(self: Any) -> str:
    held, pattern = self._held.detach(), self._pattern
    names = ("indices",) if self.is_sparse else ("crow_indices", "col_indices")
    parts = [_part(part, name) for part, name in zip(pattern.parts, names, strict=True)] + [_part(held, "values")]
    facts = [f"size={tuple(self.shape)}", f"nnz={held.shape[0]}"]
    if not is_obvious(self.dtype, empty=False):
        facts.append(f"dtype={self.dtype}")
    facts.append(f"layout={self.layout}")
    if self.grad_fn is not None:
        facts.append(f"grad_fn=<{self.grad_fn.name()}>")
    elif self.requires_grad:
        facts.append("requires_grad=True")
    if self.is_sparse:
        parts.append(facts.pop(0))
    return with_suffixes(_START + f",\n{' ' * _INDENT}".join(parts), facts, _INDENT) + ")"
