"""The graph of a tensor for the page: nodes of the same name and line are merged, with the memory they keep (facade)."""

from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor
from .._core.inspection import survey
from .._core.inspection.survey import holdings_of

_LEAF = 2  # the kind of memory that is a leaf's


def graph_of(tensor: Any) -> dict[str, Any]:
    """graph_of(tensor) -> {"nodes": [...], "edges": [[id, id], ...]}: data for the page. Nothing is unpacked, no hook runs.

    `bytes` counts saved memory that is no leaf's; shared memory counts at the node that was recorded first. `shape` and
    `dtype` are the result's if they are known and the same for all merged nodes. TypeError unless it is a Tensor,
    RuntimeError if it requires no grad.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"export_html(): graph must be a Tensor, not {type(tensor).__name__}")
    if not tensor.requires_grad:
        raise RuntimeError("export_html(): graph is a tensor that does not require grad and has no graph")
    nodes = survey.nodes_in_order(survey.nodes_of((tensor,)))
    starts, targets = survey.edges_among(nodes)
    folded: dict[Any, dict[str, Any]] = {}
    ids = np.empty(len(nodes), np.intp)
    for k, (row, nbytes) in reversed(list(enumerate(zip(_rows(nodes, tensor), _kept_by(nodes, tensor), strict=True)))):
        leaf = (row["shape"], row["dtype"]) if starts[k] == starts[k + 1] else None
        into = folded.setdefault((row["name"], row["file"], row["line"], leaf), {"id": len(folded), **row})
        into["count"] += 1
        into["bytes"] += nbytes
        for key in ("shape", "dtype"):
            into[key] = into[key] if into[key] == row[key] else ""
        ids[k] = into["id"]
    sources = np.repeat(np.arange(len(nodes)), np.diff(starts))
    leading = targets >= 0
    pairs = zip(ids[sources[leading]].tolist(), ids[targets[leading]].tolist(), strict=True)
    return {"nodes": list(folded.values()), "edges": [list(pair) for pair in dict.fromkeys(pairs)]}


def _rows(nodes: list[Any], tensor: Any) -> list[dict[str, Any]]:
    """The displayed data of each node by itself, before counting."""
    (names, name_of), (places, place_of) = survey.names_of(nodes), survey.places_of(nodes)
    outputs = survey.outputs_of(nodes)
    for k, leaf in survey.leaves_among(nodes):
        outputs[k] = (tuple(leaf.shape), leaf.dtype.name)
    if tensor.output_nr == 0:
        outputs[-1] = (tuple(tensor.shape), tensor.dtype.name)
    rows = []
    for name, place, output in zip(name_of.tolist(), place_of.tolist(), outputs, strict=True):
        file, line = places[place][:2] if places[place] else ("", -1)
        shape, dtype = (str(list(output[0])), output[1]) if output else ("", "")
        shown = {"name": names[name].rpartition("::")[2], "shape": shape, "dtype": dtype}
        rows.append({**shown, "bytes": 0, "count": 0, "file": file, "line": line})
    return rows


def _kept_by(nodes: list[Any], tensor: Any) -> list[int]:
    """The bytes that each node keeps and no earlier one does."""
    columns = holdings_of(nodes, [tensor])
    sizes = np.where(columns["kind"] == _LEAF, 0, columns["bytes"])
    first = np.zeros(len(sizes), np.intp)
    first[columns["storage"][::-1]] = columns["node"][::-1]
    return [int(nbytes) for nbytes in np.bincount(first, sizes, len(nodes))]
