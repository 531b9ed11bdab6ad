"""A graph as a picture: text, HTML, DOT, SVG (facade)."""

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._core.inspection import survey
from .._core.inspection.survey import lines_of
from ._graph_dot import dot_of, svg_of
from ._graph_folding import Fold, folded
from ._graph_labels import Drawn, Labels, combined
from ._graph_survey import Column, Survey, in_bytes, roots_of, short_name, surveyed

_RED, _PLAIN = "\x1b[31m", "\x1b[0m"
_WIDTH = 100  # of the text, except for places, which are not cut


class Line(NamedTuple):
    """A line of the text: a node or a reference to one, or the begin or end of a repeated block."""

    kind: str  # "node", "reference", "begin", "end"
    level: int
    begins: bool
    node: Drawn
    times: int  # how often the line or block is repeated


class GraphPicture:
    """A picture of a graph, as :func:`draw` made it: text by print() or str(), ``dot()``, ``svg()``, HTML in a notebook.

    It does not keep the graph alive, and shows it as it was.

    >>> import autograd_cy as ag
    >>> x = ag.ones(2, 2, requires_grad=True)
    >>> picture = ag.autograd.graph.draw(x.exp().sum())
    >>> picture.n_nodes
    3
    """

    def __init__(self, graph: Survey, roots: tuple[Any, ...], max_lines: int):
        labels = Labels(graph, roots)
        starts, targets = survey.edges_among(graph.nodes)
        self._node, level, begins, refers = lines_of(starts, targets, survey.depths_of(starts, targets), graph.roots)
        kinds = combined([labels.kinds()[self._node], level, begins, refers, _distances(self._node)])
        self.n_nodes, self.n_edges = len(graph.nodes), int((targets >= 0).sum())
        self._parts = folded(kinds)
        self._level, self._begins, self._refers = level, begins, refers
        self._drawn: dict[int, Drawn] = {}
        self._lines, self._left_out = self._shown(labels, max_lines)
        self._edges = self._edges_shown(starts, targets)
        self._numbers = self._numbers_of_references()
        self.saved_bytes, self.leaf_bytes = labels.totals()
        self._operations = [(short_name(graph.names[i]), n) for i, n in enumerate(np.bincount(graph.name_of).tolist())]
        # the rest is of use while the picture is made, and as long as the graph
        del self._node, self._level, self._begins, self._refers, self._parts

    # the content

    def _shown(self, labels: "Labels", max_lines: int) -> tuple[list[Line], int]:
        """The lines of the text, and how many are left out."""
        lines: list[Line] = []
        todo: list[tuple[str, Any]] = [("part", part) for part in reversed(self._parts)]
        while todo:
            what, part = todo.pop()
            if len(lines) >= max_lines and what == "part":
                left_out = 1 + sum(kind == "part" for kind, _ in todo)
                return [*lines, *(line for kind, line in reversed(todo) if kind == "end")], left_out
            if what == "end":
                lines.append(part)
            elif isinstance(part, int):
                lines.append(self._line("reference" if self._refers[part] else "node", part, labels, 1))
            elif len(part.parts) == 1 and isinstance(part.parts[0], int):
                lines.append(self._line("reference" if self._refers[part.start] else "node", part.start, labels, part.times))
            else:
                lines.append(self._line("begin", part.start, labels, part.times))
                todo.append(("end", self._line("end", part.start, labels, part.times)))
                todo += [("part", inner) for inner in reversed(part.parts)]
        return lines, 0

    def _line(self, kind: str, place: int, labels: "Labels", count: int) -> Line:
        k = int(self._node[place])
        if k not in self._drawn:
            self._drawn[k] = labels.drawn(k)
        return Line(kind, int(self._level[place]), bool(self._begins[place]), self._drawn[k], count)

    def _edges_shown(self, starts: Column, targets: Column) -> list[tuple[int, int, int]]:
        """Edges between shown nodes, with each hidden node replaced by its stand-in: (from, to, number)."""
        stands_for = self._stand_ins()
        shown = {line.node.number for line in self._lines if line.kind == "node"}
        is_shown = np.zeros(len(stands_for) + 1, bool)  # the last element: no node
        is_shown[list(shown)] = True
        sources = np.repeat(stands_for, np.diff(starts))
        ends = np.where(targets >= 0, stands_for[targets], -1)
        drawn = is_shown[sources] & is_shown[ends] & (sources != ends)
        pairs, counts = np.unique(sources[drawn] * len(is_shown) + ends[drawn], return_counts=True)
        columns = (*np.divmod(pairs[::-1], len(is_shown)), counts[::-1])
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def _stand_ins(self) -> Column:
        """For each node its stand-in: in a repeated block, the corresponding node of the first block."""
        line = np.arange(len(self._node))
        sizes: dict[int, int] = {}
        folds = list(_folds(self._parts))
        for fold in reversed(folds):  # inner ones first
            size = sum(1 if isinstance(x, int) else sizes[id(x)] for x in fold.parts)
            sizes[id(fold)] = size * fold.times
            block = line[fold.start : fold.start + size]
            line[fold.start : fold.start + size * fold.times] = np.tile(block, fold.times)
        stands_for = np.full(self.n_nodes, -1, np.intp)
        own = np.flatnonzero(~self._refers)
        stands_for[self._node[own]] = self._node[line[own]]
        return stands_for

    def _numbers_of_references(self) -> dict[int, int]:
        """Numbers for the nodes that are referred to, in order of the lines."""
        seen: set[int] = set()
        referred = {line.node.number for line in self._lines if line.kind == "reference"}
        for line in self._lines:
            if line.kind == "node" and line.node.number in seen:
                referred.add(line.node.number)  # a leaf that is shown several times
            seen.update([line.node.number] if line.kind == "node" else [])
        order = dict.fromkeys(line.node.number for line in self._lines if line.node.number in referred)
        return {k: i + 1 for i, k in enumerate(order)}

    # as text

    def _summary(self) -> str:
        text = f"{self.n_nodes} node{'s' * (self.n_nodes != 1)}, {self.n_edges} edge{'s' * (self.n_edges != 1)}"
        if self.saved_bytes:
            text += f", {in_bytes(self.saved_bytes)} saved"
        if self.leaf_bytes:
            text += f", {in_bytes(self.leaf_bytes)} of leaves"
        return text

    def _rows(self) -> Iterator[tuple[str, bool]]:
        """The lines of the text, each with a flag: red or not."""
        yield self._summary(), False
        bars = ""
        for line in self._lines:
            if line.kind == "end":
                bars = bars[:-2]
                yield bars + "╰", False
                continue
            if line.kind == "begin":
                yield f"{bars}╭ {line.times} times", False
                bars += "┆ "
                continue
            indent = bars + ("│  " * (line.level - 1) + ("├─ " if line.begins else "│  ") if line.level else "")
            yield self._row(indent, line), line.node.has_nan
        if self._left_out:
            yield f"... {self._left_out} more lines", False
            most = sorted(self._operations, key=lambda x: (-x[1], x[0]))
            yield "nodes: " + ", ".join(f"{name} {n}" for name, n in most[:8]) + (", ..." if len(most) > 8 else ""), False

    def _row(self, indent: str, line: Line) -> str:
        node, number = line.node, self._numbers.get(line.node.number)
        tag = f" #{number}" if number else ""
        if line.kind == "reference":
            return f"{indent}→ {node.name}{tag}" + (f"  x {line.times}" if line.times > 1 else "")
        words = [node.name + tag, node.output, *node.notes]
        if line.times > 1:
            words.append(f"x {line.times}")
        text = indent + "  ".join(word for word in words if word)
        end = "  ".join(word for word in (f"[{node.region}]" if node.region else "", node.place) if word)
        return f"{text}{' ' * max(2, _WIDTH - len(text) - len(end))}{end}" if end else text

    def text(self, color: bool = False) -> str:
        """text(color=False): the picture as text; with color, lines with NaN are red on terminals."""
        return "\n".join(f"{_RED}{row}{_PLAIN}" if red and color else row for row, red in self._rows())

    def __str__(self) -> str:
        return self.text(sys.stdout is not None and sys.stdout.isatty() and "NO_COLOR" not in os.environ)

    def __repr__(self) -> str:
        return f"<GraphPicture: {self._summary()}>"

    def _repr_html_(self) -> str:
        import html

        rows = [(html.escape(row), red) for row, red in self._rows()]
        rows = [(f'<span style="color:#d00">{row}</span>' if red else row, red) for row, red in rows]
        return '<pre style="line-height:1.25">' + "\n".join(row for row, _ in rows) + "</pre>"

    # as a drawing

    def dot(self) -> str:
        """dot() -> str: the picture in graphviz's language; gradients flow downwards, along the arrows."""
        return dot_of(self._lines, self._edges, self._summary(), self._left_out)

    def svg(self, path: str | os.PathLike[str] | None = None) -> str:
        """svg(path=None) -> str: the picture drawn by graphviz; also written to the file `path`, if given.

        ImportError without the Python package graphviz (the extra ``graph``), RuntimeError without the program dot.
        """
        text = svg_of(self.dot())
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return text


def _distances(node: Column) -> Column:
    """The distance of each line from the previous line with the same node (the first: from the next); 0 if none.

    So repeated lines get equal numbers, whether each block has its own node in several of its lines or all share one.
    """
    order = np.argsort(node, kind="stable")
    same = node[order[1:]] == node[order[:-1]]
    distance = np.where(same, order[1:] - order[:-1], 0)
    from_last, to_next = np.concatenate([[0], distance]), np.concatenate([distance, [0]])
    result = np.empty(len(node), np.intp)
    result[order] = np.where(from_last > 0, from_last, to_next)
    return result


def _folds(parts: Sequence["int | Fold"]) -> Iterator[Fold]:
    """All folds, each one before those within it."""
    todo = [part for part in reversed(parts) if isinstance(part, Fold)]
    while todo:
        fold = todo.pop()
        yield fold
        todo += [part for part in reversed(fold.parts) if isinstance(part, Fold)]


def draw(tensors: Any, *, max_lines: int = 100) -> GraphPicture:
    """``draw(y)`` is a picture of the graph of a tensor: print(draw(y)) shows it as text, ``.dot()`` and ``.svg()`` draw it.

    Each node has its name, the shape and dtype of its output if known, the bytes that it saved, its hooks, the norm of a
    gradient in ``.grad``, its region and the line that recorded it; lines with NaN are red. A chain reads downwards, as
    gradients flow; branches are indented. A node with several users is shown once, after the last of them; the others
    refer to it. A repeated structure is shown once, with its count. Beyond ``max_lines`` there is a summary. TypeError
    for other objects than tensors and nodes, RuntimeError for a tensor that requires no grad.

    >>> import autograd_cy as ag
    >>> w = ag.ones(2, 2, requires_grad=True)
    >>> def step(x):
    ...     for _ in range(10):
    ...         x = (x @ w).tanh()
    ...     return x.sum()
    >>> print(ag.autograd.graph.draw(step(ag.ones(2, 2))))  # doctest: +ELLIPSIS
    22 nodes, 30 edges, 176 B saved, 16 B of leaves
    SumBackward0  [] float32 ...
    ╭ 9 times
    ┆ TanhBackward0  [2, 2] float32  saves 16 B ...
    ┆ MmBackward0  saves 32 B ...
    ┆ ├─ AccumulateGrad #1  [2, 2] float32
    ╰
    ...
    """
    if max_lines < 1:
        raise ValueError(f"draw(): max_lines must be positive, not {max_lines}")
    roots = roots_of(tensors, "draw")
    return GraphPicture(surveyed(roots), roots, max_lines)
