"""Common parts of memory() and draw(): a graph in columns, and the format of sizes and places (facade)."""

import html
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._core.graph.node import Node
from .._core.graph.tensor import Tensor
from .._core.inspection import survey
from .._core.inspection.survey import holdings_of

Column = np.ndarray[Any, np.dtype[Any]]
Place = tuple[str, int, str]  # file, line, function

GRAPH_ALONE, SOMEBODY, LEAF = range(3)  # the kinds of memory in holdings()


class Survey(NamedTuple):
    """The nodes of a graph, in topological order from the inputs. Keeps the nodes alive: use it briefly."""

    nodes: list[Any]
    roots: list[int]
    names: list[str]
    name_of: Column
    places: list[Place | None]
    place_of: Column
    regions: list[str | None]
    region_of: Column


def roots_of(given: Any, function: str) -> tuple[Any, ...]:
    """The tensors or nodes in an argument, as a tuple; TypeError and RuntimeError for other objects."""
    roots = (given,) if isinstance(given, (Tensor, Node)) else given
    if not isinstance(roots, (tuple, list)):
        raise TypeError(f"{function}(): expected a Tensor, a node, or a sequence of them, but got {type(given).__name__}")
    for i, x in enumerate(roots):
        if not isinstance(x, (Tensor, Node)):
            raise TypeError(f"{function}(): expected Tensors or nodes, but got {type(x).__name__} at position {i}")
        if isinstance(x, Tensor) and not x.requires_grad:
            raise RuntimeError(
                f"{function}(): element {i} of tensors does not require grad and does not have a grad_fn: "
                f"there is no graph of a tensor of shape {list(x.shape)}"
            )
    return tuple(roots)


def surveyed(roots: tuple[Any, ...]) -> Survey:
    """The graph reachable from the roots."""
    of_roots = survey.nodes_of(roots)
    nodes = survey.nodes_in_order(of_roots)
    wanted = {id(node) for node in of_roots}
    numbers = [k for k, node in enumerate(nodes) if id(node) in wanted]
    return Survey(nodes, numbers, *survey.names_of(nodes), *survey.places_of(nodes), *survey.regions_of(nodes))


def holdings(graph: Survey, roots: tuple[Any, ...], nans: bool = False) -> dict[str, Column]:
    """The columns of holdings_of() for a graph; roots that are leaves are not passed: the caller holds their memory."""
    return holdings_of(graph.nodes, [x for x in roots if isinstance(x, Tensor) and not x.is_leaf], nans)


def in_bytes(n: float) -> str:
    """A number of bytes as people read it: `1.5 MB`, in powers of 1000."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if n < 999.5 or unit == "TB":
            break
        n /= 1000
    return f"{n:.0f} {unit}" if unit == "B" or n >= 99.5 else f"{n:.3g} {unit}"


def shown_place(place: Place | None) -> str:
    """`file.py:12, in train`, the file without its folders; an empty string for None."""
    return "" if place is None else f"{os.path.basename(place[0])}:{place[1]}, in {place[2].rpartition('<locals>.')[2]}"


def short_place(place: Place | None) -> str:
    """`file.py:12`."""
    return "" if place is None else f"{os.path.basename(place[0])}:{place[1]}"


def short_name(name: str) -> str:
    """A node's name without its namespace."""
    return name.rpartition("::")[2]


def cut(text: str, width: int) -> str:
    """A text cut to a width: a longer one keeps its end."""
    return text if len(text) <= width else "..." + text[3 - width :]


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """A table for notebooks; all but the first column are aligned to the right."""

    def line(cells: Sequence[str], tag: str) -> str:
        sides = ["left"] + ["right"] * (len(cells) - 1)
        aligned = [f'<{tag} style="text-align:{side}">{html.escape(x)}</{tag}>' for x, side in zip(cells, sides, strict=True)]
        return f"<tr>{''.join(aligned)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><caption>{html.escape(caption)}</caption><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>"
