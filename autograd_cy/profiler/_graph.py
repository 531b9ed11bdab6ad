"""The graph of a tensor for the page: nodes of one name and one line are one, with what they keep alive (facade)."""

from typing import Any

import numpy as np

from .._core.graph.node import Node, gradient_node
from .._core.graph.tensor import Tensor


def graph_of(tensor: Any) -> dict[str, Any]:
    """graph_of(tensor) -> {"nodes": [...], "edges": [[id, id], ...]}: what the page draws. No hook runs, nothing is unpacked.

    `bytes` is what nodes saved and no leaf has, memory that several share counted once. `shape` and `dtype` are those of
    the result where they are known, and the same for all nodes that are folded into one. TypeError for what is no Tensor,
    RuntimeError for one that requires no grad.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"export_html(): graph must be a Tensor, not {type(tensor).__name__}")
    if not tensor.requires_grad:
        raise RuntimeError("export_html(): graph is a tensor that does not require grad and has no graph")
    nodes = _nodes_from(gradient_node(tensor))
    results: dict[Node, Any] = {gradient_node(tensor): tensor}
    sizes = _saved_bytes(nodes, results)
    folded: dict[Any, dict[str, Any]] = {}
    number: dict[Node, int] = {}
    for node in nodes:
        shown = _shown(node, results.get(node, getattr(node, "variable", None)))
        leaf = (shown["shape"], shown["dtype"]) if hasattr(node, "variable") else None
        row = folded.setdefault((shown["name"], shown["file"], shown["line"], leaf), {"id": len(folded), **shown})
        number[node] = row["id"]
        row["count"] += 1
        row["bytes"] += sizes[node]
        for key in ("shape", "dtype"):
            row[key] = row[key] if row[key] == shown[key] else ""
    edges = dict.fromkeys((number[node], number[next_node]) for node in nodes for next_node in _following(node))
    return {"nodes": list(folded.values()), "edges": [list(edge) for edge in edges]}


def _nodes_from(root: Node) -> list[Node]:
    found, waiting = {root: None}, [root]
    while waiting:
        for node in _following(waiting.pop()):
            if node not in found:
                found[node] = None
                waiting.append(node)
    return list(found)


def _following(node: Node) -> list[Node]:
    return [following for following, _ in node.next_functions if following is not None]


def _shown(node: Node, result: Any) -> dict[str, Any]:
    place = node.location.rpartition(", in ")[0]
    file, _, line = place.rpartition(":")
    shape, dtype = ("", "") if result is None else (str(list(result.shape)), str(result.dtype).rpartition(".")[2])
    name = node.name().rpartition("::")[2]
    return {"name": name, "shape": shape, "dtype": dtype, "bytes": 0, "count": 0, "file": file, "line": int(line or -1)}


def _saved_bytes(nodes: list[Node], results: dict[Node, Any]) -> dict[Node, int]:
    """What each node keeps alive besides leaves; tensors that are met become the results of the nodes that made them."""
    seen: set[int] = set()
    sizes = dict.fromkeys(nodes, 0)
    names: dict[str, list[str]] = {}
    for node in nodes:
        if node.name() not in names:
            names[node.name()] = [name for name in dir(node) if name.startswith("_raw_saved_")]
        for name in names[node.name()]:
            for tensor in _kept(node, name):
                made_by = tensor.grad_fn
                if made_by is not None:
                    results.setdefault(made_by, tensor)
                memory = _memory_of(tensor)
                address = memory.__array_interface__["data"][0]
                if not tensor.is_leaf and address not in seen:
                    seen.add(address)
                    sizes[node] += memory.nbytes
    return sizes


def _kept(node: Node, name: str) -> list[Any]:
    """The tensors that a node saved under a name; none where they were freed, or packed by hooks as something else."""
    try:
        handles = getattr(node, name)
        several = handles if isinstance(handles, (tuple, list)) else (handles,)
        kept = [handle.data for handle in several if handle is not None]
    except (RuntimeError, AttributeError):
        return []
    return [tensor for tensor in kept if isinstance(tensor, Tensor)]


def _memory_of(tensor: Any) -> Any:
    """The array that owns a tensor's memory."""
    array = tensor.detach().numpy()
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
