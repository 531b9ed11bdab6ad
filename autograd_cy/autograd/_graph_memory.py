"""The memory that a graph keeps alive, by node, operation and line (facade)."""

import linecache
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from ._graph_survey import (
    GRAPH_ALONE,
    LEAF,
    Column,
    Place,
    Survey,
    cut,
    holdings,
    html_table,
    in_bytes,
    roots_of,
    short_name,
    shown_place,
    surveyed,
)

_WIDTH = 100
_HEAD = ("", "nodes", "bytes", "share", "checkpoint frees")


class NodeMemory(NamedTuple):
    """One node in :func:`memory`: the memory it keeps alive, and where it was recorded. It doesn't hold the node.

    ``bytes`` counts memory that only the graph holds and no node recorded earlier; ``held_bytes`` memory that is also held
    elsewhere. ``unknown`` counts objects from saved-tensor hooks that are not arrays.

    >>> import autograd_cy as ag
    >>> x = ag.ones(1000, requires_grad=True)
    >>> node = ag.autograd.graph.memory(x.exp().sum()).nodes[1]
    >>> node.name, node.bytes, node.place[1:]
    ('ExpBackward0', 4000, (1, '<module>'))
    """

    name: str
    bytes: int
    held_bytes: int
    unknown: int
    place: Place | None
    region: str | None


class MemoryRow(NamedTuple):
    """The memory that the nodes of one operation, line, function or region keep alive, in :func:`memory`.

    ``checkpoint_bytes`` is the memory that a checkpoint around these nodes would free: results of these nodes that nothing
    else holds. Memory from outside stays, for a checkpoint keeps its arguments. It also keeps arguments that no node saves
    now, which are not subtracted.

    >>> import autograd_cy as ag
    >>> x = ag.ones(1000, requires_grad=True)
    >>> ag.autograd.graph.memory(x.exp().exp().sum()).by_operation()[0]
    MemoryRow(name='ExpBackward0', nodes=2, bytes=8000, held_bytes=0, checkpoint_bytes=8000, place=None)
    """

    name: str
    nodes: int
    bytes: int
    held_bytes: int
    checkpoint_bytes: int
    place: Place | None


class GraphMemory:
    """The memory that a graph keeps alive, from :func:`memory`; prints as a table. It does not keep the graph alive.

    >>> import autograd_cy as ag
    >>> x = ag.ones(1000, requires_grad=True)
    >>> m = ag.autograd.graph.memory(x.exp().sum())
    >>> m.total_bytes, m.leaf_bytes, m.held_bytes, m.n_nodes
    (4000, 4000, 0, 3)
    """

    def __init__(self, graph: Survey, columns: dict[str, Column]):
        self._names, self._name_of = graph.names, graph.name_of
        self._places, self._place_of = graph.places, graph.place_of
        self._regions, self._region_of = graph.regions, graph.region_of
        self._size, self._kind, self._computed_by = columns["bytes"], columns["kind"], columns["computed_by"]
        self._holder, self._storage, self._unknown = columns["node"], columns["storage"], columns["unknown"]
        alone = self._kind == GRAPH_ALONE
        self.n_nodes = len(self._name_of)
        self.total_bytes = int(self._size[alone].sum())
        self.leaf_bytes = int(self._size[self._kind == LEAF].sum())
        self.held_bytes = int(self._size[~alone].sum()) - self.leaf_bytes
        self.unknown = int(self._unknown.sum())
        # each storage is counted at the first node that holds it
        first = np.zeros(len(self._size), np.intp)
        first[self._storage[::-1]] = self._holder[::-1]
        weights = np.where(alone, self._size, 0), np.where(alone, 0, self._size)
        self._bytes, self._held = (np.bincount(first, w, self.n_nodes).astype(np.int64) for w in weights)

    @property
    def nodes(self) -> list[NodeMemory]:
        """A NodeMemory for each node, in topological order from the inputs."""
        columns = self._name_of, self._bytes, self._held, self._unknown, self._place_of, self._region_of
        return [
            NodeMemory(self._names[name], size, held, unknown, self._places[place], self._regions[region])
            for name, size, held, unknown, place, region in zip(*(column.tolist() for column in columns), strict=True)
        ]

    def by_operation(self) -> list[MemoryRow]:
        """A MemoryRow for each node name, most bytes first."""
        return self._rows(self._name_of, self._names, lambda name: (short_name(name), None))

    def by_line(self) -> list[MemoryRow]:
        """A MemoryRow for each line of the user's code that recorded nodes, most bytes first."""
        return self._rows(self._place_of, self._places, lambda place: (shown_place(place) or "(leaves)", place))

    def by_function(self) -> list[MemoryRow]:
        """A MemoryRow for each function of the user's code that recorded nodes, most bytes first."""
        groups, functions = _renamed(self._places, lambda place: place and (place[0], place[2]))
        return self._rows(groups[self._place_of], functions, lambda f: (f[1] if f else "(leaves)", None))

    def by_region(self, depth: int | None = None) -> list[MemoryRow]:
        """A MemoryRow for each region in which nodes were recorded, most bytes first.

        ``depth`` merges deeper regions into their outer ones: with depth 1 "block/inner" counts as "block".
        """
        groups, regions = _renamed(self._regions, lambda region: region and "/".join(region.split("/")[:depth]))
        return self._rows(groups[self._region_of], regions, lambda region: (region or "(none)", None))

    def _rows(self, group_of: Column, keys: list[Any], shown: Callable[[Any], tuple[str, Place | None]]) -> list[MemoryRow]:
        n = len(keys)
        counts = np.bincount(group_of, minlength=n)
        sizes, held = (np.bincount(group_of, w, n) for w in (self._bytes, self._held))
        freed = np.zeros(n)
        holders = group_of[self._holder]
        least, most = np.full(len(self._size), n), np.full(len(self._size), -1)
        np.minimum.at(least, self._storage, holders)
        np.maximum.at(most, self._storage, holders)
        made_there = (self._computed_by < 0) | (group_of[self._computed_by] == most) if len(self._size) else True
        goes = (self._kind == GRAPH_ALONE) & (least == most) & made_there
        np.add.at(freed, most[goes], self._size[goes])
        rows = []
        for i in np.flatnonzero(counts).tolist():
            name, place = shown(keys[i])
            rows.append(MemoryRow(name, int(counts[i]), int(sizes[i]), int(held[i]), int(freed[i]), place))
        return sorted(rows, key=lambda row: (-row.bytes, -row.held_bytes, row.name))

    def table(self, by: str = "line", row_limit: int = 20) -> str:
        """table(by="line", row_limit=20): the rows of by_line(), by_operation(), by_function() or by_region() as text."""
        rows = self._by(by)
        widths = (7, 10, 8, 17)
        first = _WIDTH - sum(widths)
        lines = [_HEAD[0].ljust(first) + "".join(x.rjust(w) for x, w in zip(_HEAD[1:], widths, strict=True))]
        lines[0] = f"by {by}".ljust(first) + lines[0][first:]
        for row in rows[:row_limit]:
            name, *cells = self._cells(row)
            lines.append(cut(name, first - 1).ljust(first) + "".join(x.rjust(w) for x, w in zip(cells, widths, strict=True)))
            source = "" if row.place is None else linecache.getline(row.place[0], row.place[1]).strip()
            if source:
                lines.append("    " + (source if len(source) <= _WIDTH - 4 else source[: _WIDTH - 7] + "..."))
        if len(rows) > row_limit:
            lines.append(f"... {len(rows) - row_limit} more")
        return "\n".join(line.rstrip() for line in lines)

    def _by(self, by: str) -> list[MemoryRow]:
        ways = {"line": self.by_line, "operation": self.by_operation, "function": self.by_function, "region": self.by_region}
        if by not in ways:
            raise ValueError(f"table(): by must be one of {', '.join(map(repr, ways))}, not {by!r}")
        return ways[by]()

    def _cells(self, row: MemoryRow) -> tuple[str, ...]:
        share = f"{100 * row.bytes / self.total_bytes:.1f} %" if self.total_bytes else ""
        return row.name, str(row.nodes), in_bytes(row.bytes), share, in_bytes(row.checkpoint_bytes)

    def _summary(self) -> str:
        nodes = f"{self.n_nodes} node{'s' * (self.n_nodes != 1)}"
        text = f"{in_bytes(self.total_bytes)} kept alive by the graph alone ({nodes})"
        others = [(self.leaf_bytes, "of leaves"), (self.held_bytes, "that others hold, too")]
        more = [f"{in_bytes(n)} {whose}" for n, whose in others if n]
        if more:
            text += f", besides {' and '.join(more)}"
        if self.unknown:
            text += f"; {self.unknown} saved tensor{'s' * (self.unknown != 1)} packed by hooks into what is no array"
        return text

    def __str__(self) -> str:
        tables = [self.table("line", 10), self.table("operation", 10)]
        if len(self._regions) > 1:
            tables.append(self.table("region", 10))
        return "\n\n".join([self._summary(), *tables])

    def __repr__(self) -> str:
        return f"<GraphMemory: {self._summary()}>"

    def _repr_html_(self) -> str:
        tables = [html_table((f"by {by}", *_HEAD[1:]), [self._cells(row) for row in self._by(by)[:20]], self._summary())
                  for by in ("line", "operation")]  # fmt: skip
        return "".join(tables)


def _renamed(keys: list[Any], rename: Callable[[Any], Hashable]) -> tuple[Column, list[Any]]:
    """For each key the number of its group, and the groups' names."""
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(rename(key), len(numbers)) for key in keys], np.intp), list(numbers)


def memory(tensors: Any) -> GraphMemory:
    """``memory(loss)`` counts the bytes that a tensor's graph keeps alive, by node, operation and line of the user's code.

    ``total_bytes`` would be freed with the graph: memory saved for backward that nothing else holds. Memory that is also
    held elsewhere is counted apart: ``leaf_bytes`` of leaves, ``held_bytes`` of variables. Memory that several nodes or
    views share is counted once, at the node recorded first. Nothing is unpacked and no hook runs; of objects packed by
    hooks, only arrays are counted. A sequence of tensors or nodes gives their graphs together. Returns a GraphMemory.
    TypeError for other objects than tensors and nodes, RuntimeError for a tensor that requires no grad.

    >>> import autograd_cy as ag
    >>> x = ag.ones(250, 1000, requires_grad=True)
    >>> h = x.exp()
    >>> loss = (h * h.sin()).sum()
    >>> del h
    >>> print(ag.autograd.graph.memory(loss).table("operation"))
    by operation                                                nodes     bytes   share checkpoint frees
    ExpBackward0                                                    1      1 MB  50.0 %              0 B
    MulBackward0                                                    1      1 MB  50.0 %              0 B
    AccumulateGrad                                                  1       0 B   0.0 %              0 B
    SinBackward0                                                    1       0 B   0.0 %              0 B
    SumBackward0                                                    1       0 B   0.0 %              0 B
    """
    roots = roots_of(tensors, "memory")
    graph = surveyed(roots)
    return GraphMemory(graph, holdings(graph, roots))
