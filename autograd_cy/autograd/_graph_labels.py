"""The labels of nodes in a picture of a graph (facade)."""

import math
from typing import Any, NamedTuple

import numpy as np

from .._core.graph.record import hooks_in_order
from .._core.graph.tensor import Tensor, array_of
from .._core.inspection import survey
from ._graph_survey import LEAF, Column, Survey, cut, holdings, in_bytes, short_name, short_place

_MOST = 1 << 62


class Drawn(NamedTuple):
    """The texts of a node in a picture."""

    number: int  # in the graph, in topological order from the inputs
    name: str
    output: str  # shape and dtype, or ""
    notes: list[str]  # bytes, hooks, gradients
    region: str
    place: str
    has_nan: bool
    is_leaf: bool


class Labels:
    """The labels of all nodes. Keeps the graph alive."""

    def __init__(self, graph: Survey, roots: tuple[Any, ...]):
        self._graph = graph
        columns = holdings(graph, roots, nans=True)
        n = len(graph.nodes)
        self._outputs = survey.outputs_of(graph.nodes)
        for x in roots:
            if isinstance(x, Tensor) and x.output_nr == 0 and x.grad_fn is not None:
                for k in graph.roots:
                    if graph.nodes[k] is x.grad_fn:
                        self._outputs[k] = (tuple(x.shape), x.dtype.name)
        sizes, storage, node = columns["bytes"], columns["storage"], columns["node"]
        self._bytes = np.bincount(node, sizes[storage], n).astype(np.int64)
        self._nan = np.bincount(node, columns["nan"][storage], n) > 0
        self._leaves: dict[int, float | None] = {}
        for k, leaf in survey.leaves_among(graph.nodes):
            self._bytes[k] = 0
            self._leaves[k] = None if leaf.grad is None else _norm(leaf.grad)
            self._nan[k] |= math.isnan(self._leaves[k] or 0.0)
        self._hooks: dict[int, tuple[tuple[str, int], ...]] = {}
        self._retained: dict[int, float] = {}
        for k in survey.watched_nodes(graph.nodes):
            self._note_hooks(k)
        of_leaves = columns["kind"] == LEAF
        self._totals = int(sizes[~of_leaves].sum()), int(sizes[of_leaves].sum())

    def _note_hooks(self, k: int) -> None:
        counts: dict[str, int] = {}
        for kind, _, tensor, _ in hooks_in_order(self._graph.nodes[k], True):
            if kind != "retain_grad":
                counts[kind] = counts.get(kind, 0) + 1
            elif tensor is not None and tensor.grad is not None:
                self._retained[k] = _norm(tensor.grad)
                self._nan[k] |= math.isnan(self._retained[k])
        self._hooks[k] = tuple(counts.items())

    def totals(self) -> tuple[int, int]:
        return self._totals

    def kinds(self) -> Column:
        """A number for each node, equal for nodes whose labels differ only in the gradients' norms."""
        graph, n = self._graph, len(self._graph.nodes)
        numbers: dict[Any, int] = {}
        output = np.fromiter((numbers.setdefault(x, len(numbers)) for x in self._outputs), np.intp, n)
        special = np.zeros(n, np.intp)
        for k, hooks in self._hooks.items():
            if hooks:
                special[k] = numbers.setdefault(hooks, len(numbers))
        return combined([graph.name_of, graph.place_of, graph.region_of, output, special, self._bytes, self._nan])

    def drawn(self, k: int) -> Drawn:
        graph = self._graph
        shape = self._outputs[k]
        notes = []
        if self._bytes[k]:
            notes.append(f"saves {in_bytes(self._bytes[k])}")
        elif survey.is_released(graph.nodes[k]):
            notes.append("freed")
        notes += [f"{n} {kind} hook{'s' * (n != 1)}" for kind, n in self._hooks.get(k, ())]
        for norm in (self._leaves.get(k), self._retained.get(k)):
            if norm is not None:
                notes.append(f"|grad| {norm:.3g}".replace("nan", "NaN"))
        if self._nan[k] and not any("NaN" in note for note in notes):
            notes.append("NaN")
        return Drawn(
            k, short_name(graph.names[graph.name_of[k]]), "" if shape is None else f"{list(shape[0])} {shape[1]}", notes,
            graph.regions[graph.region_of[k]] or "", cut(short_place(graph.places[graph.place_of[k]]), 40),
            bool(self._nan[k]), k in self._leaves,
        )  # fmt: skip


def combined(columns: list[Column]) -> Column:
    """Numbers that are equal in rows where all columns are equal."""
    result, room = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        least, most = int(column.min(initial=0)), int(column.max(initial=0))
        if room * (most - least + 1) > _MOST:
            distinct, result = np.unique(result, return_inverse=True)
            room = len(distinct)
        if room * (most - least + 1) > _MOST:
            distinct, column = np.unique(column, return_inverse=True)
            least, most = 0, len(distinct)
        result = result * (most - least + 1) + (column - least)
        room *= most - least + 1
    return result


def _norm(g: Tensor) -> float:
    """The 2-norm of a gradient; NaN if any element is NaN."""
    array = np.abs(array_of(g)).astype(np.float64).ravel()
    largest = array.max(initial=0.0)
    if not 0 < largest < math.inf:
        return float(largest)
    return float(largest * math.sqrt(np.dot(array / largest, array / largest)))
