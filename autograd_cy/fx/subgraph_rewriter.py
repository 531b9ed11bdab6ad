"""replace_pattern(): parts of a graph that look like a pattern, in the place of which another comes (facade)."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..nn.modules.module import Module
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule, _copy_member
from .node import Node, map_aggregate

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


class Match(NamedTuple):
    """Where a pattern was found: the node of its result, and which node stands for which of the pattern's."""

    anchor: Node
    nodes_map: dict[Node, Any]


class ReplacedPatterns(NamedTuple):
    """A match, and the nodes that came in its place."""

    anchor: Node
    nodes_map: dict[Node, Any]
    replacements: list[Node]


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """``replace_pattern(gm, pattern, replacement)``: each part of the graph that does what the function ``pattern`` does
    does what ``replacement`` does; returns where that was.

    Both are functions of the same parameters, modules or graphs. Parts that overlap are replaced once; a part whose inner
    results are used elsewhere is none.

    >>> import autograd_cy as ag
    >>> traced = ag.fx.symbolic_trace(lambda x, y: ag.exp(x) + ag.exp(y))
    >>> len(ag.fx.replace_pattern(traced, lambda a: ag.exp(a), lambda a: ag.sin(a)))
    2
    >>> traced(ag.zeros(1), ag.zeros(1))
    tensor([0.])
    """
    return [Match(found.anchor, found.nodes_map) for found in replace_pattern_with_filters(gm, pattern, replacement)]


def replace_pattern_with_filters(
    gm: GraphModule, pattern: Any, replacement: Any = None, match_filters: Any = None, ignore_literals: bool = False,
    replacement_callback: Callable[..., Any] | None = None,
) -> list[ReplacedPatterns]:  # fmt: skip
    """``replace_pattern_with_filters(gm, pattern, replacement, filters)``: replace_pattern() where each
    ``filter(match, graph, pattern_graph)`` is true; ``ignore_literals`` lets any constants do."""
    sought = _graph_of(pattern)
    anchor = sought.output_node()
    done: set[Node] = set()
    found: list[ReplacedPatterns] = []
    for node in list(gm.graph.nodes):
        if node._erased or node in done or node.op == "output":
            continue
        match = _match_at(node, anchor, gm, pattern, ignore_literals)
        if match is None or any(n in done for n in _inner(match)):
            continue
        if any(not accepts(match, gm.graph, sought) for accepts in match_filters or ()):
            continue
        made = replacement_callback(match, gm.graph, sought) if replacement_callback else _graph_of(replacement)
        new = _replace(gm, match, sought, made)
        done.update(_inner(match))
        found.append(ReplacedPatterns(match.anchor, match.nodes_map, new))
    if isinstance(replacement, Module):
        for node in gm.graph.nodes:
            if node.op in ("call_module", "get_attr") and not _has(gm, node.target):
                _copy_member(replacement, gm, node.target)
    gm.recompile()
    return found


def _graph_of(what: Any) -> Graph:
    if isinstance(what, Graph):
        return what
    return what.graph if isinstance(what, GraphModule) else symbolic_trace(what).graph


def _has(module: Module, path: str) -> bool:
    place: Any = module
    for name in path.split("."):
        if not hasattr(place, name):
            return False
        place = getattr(place, name)
    return True


def _inner(match: Match) -> list[Node]:
    """The nodes of the graph that are replaced."""
    return [n for p, n in match.nodes_map.items() if isinstance(n, Node) and p.op not in ("placeholder", "output")]


def _match_at(node: Node, output: Node, gm: GraphModule, pattern: Any, ignore_literals: bool) -> Match | None:
    """The pattern with its result at a node, if that is what is there."""
    result = output.args[0]
    while isinstance(result, (tuple, list)) and len(result) == 1:
        result = result[0]
    if not isinstance(result, Node):
        return None
    known: dict[Node, Any] = {}

    def same(p: Any, n: Any) -> bool:
        if not isinstance(p, Node):
            return _same_constant(p, n, same, ignore_literals)
        if p in known:
            return known[p] is n
        if p.op == "placeholder":
            known[p] = n
            return True
        if not isinstance(n, Node) or not _same_call(p, n, gm, pattern) or len(p.args) != len(n.args):
            return False
        known[p] = n
        return p.kwargs.keys() == n.kwargs.keys() and all(map(same, p.args, n.args)) and all(
            same(p.kwargs[key], n.kwargs[key]) for key in p.kwargs
        )  # fmt: skip

    if result.op == "placeholder" or not same(result, node):
        return None
    match = Match(node, known)
    inside = set(_inner(match))
    for p, n in known.items():
        if p.op != "placeholder" and p is not result and any(user not in inside for user in n.users):
            return None
    known[output] = node
    return match


def _same_constant(p: Any, n: Any, same: Callable[[Any, Any], bool], ignore_literals: bool) -> bool:
    if isinstance(p, (list, tuple)) and isinstance(n, (list, tuple)):
        return len(p) == len(n) and all(map(same, p, n))
    if isinstance(n, Node):
        return False
    return (ignore_literals and isinstance(p, (int, float, bool, str))) or (type(p) is type(n) and p == n)


def _same_call(p: Node, n: Node, gm: GraphModule, pattern: Any) -> bool:
    if p.op != n.op:
        return False
    if p.op != "call_module" or not isinstance(pattern, Module):
        return bool(p.target == n.target)
    return type(pattern.get_submodule(p.target)) is type(gm.get_submodule(n.target))


def _replace(gm: GraphModule, match: Match, sought: Graph, made: Graph) -> list[Node]:
    """Put the nodes of another graph in the place of a match; returns them."""
    old = sought.find_nodes(op="placeholder")
    new = made.find_nodes(op="placeholder")
    if len(old) != len(new):
        raise AssertionError(f"the pattern has {len(old)} parameters, the replacement {len(new)}")
    values: dict[Node, Any] = {n: match.nodes_map.get(o) for o, n in zip(old, new, strict=True)}
    before = set(gm.graph.nodes)
    with gm.graph.inserting_before(match.anchor):
        result = gm.graph.graph_copy(made, values)
    while isinstance(result, (tuple, list)) and len(result) == 1:
        result = result[0]
    if isinstance(result, Node):
        match.anchor.replace_all_uses_with(result)
    else:
        for user in list(match.anchor.users):
            user.args = map_aggregate(user.args, lambda a: result if a is match.anchor else a)
            user.kwargs = map_aggregate(user.kwargs, lambda a: result if a is match.anchor else a)
    for node in reversed(gm.graph.nodes):
        if node in set(_inner(match)) and not node.users:
            gm.graph.erase_node(node)
    return [node for node in gm.graph.nodes if node not in before]
