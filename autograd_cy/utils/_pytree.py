"""Nested containers as flat lists of leaves and a description of their structure, under the names of torch.utils._pytree.

Containers are tuples, named tuples, lists, deques, dicts, OrderedDicts, defaultdicts, and registered classes; all other
objects are leaves (facade).
"""

import dataclasses
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .._types import Size

__all__ = [
    "LeafSpec", "TreeSpec", "register_dataclass", "register_pytree_node", "tree_all", "tree_any", "tree_flatten",
    "tree_leaves",
    "tree_map", "tree_map_", "tree_map_only", "tree_structure", "tree_unflatten",
]  # fmt: skip


class _Node(NamedTuple):
    """How to flatten a kind of container to (children, context), and how to rebuild it from both."""

    flatten: Callable[[Any], tuple[list[Any], Any]]
    unflatten: Callable[[Iterable[Any], Any], Any]


def _flatten_dict(container: Any) -> tuple[list[Any], list[Any]]:
    return list(container.values()), list(container)


_NODES: dict[type, _Node] = {
    tuple: _Node(lambda t: (list(t), None), lambda children, _: tuple(children)),
    list: _Node(lambda t: (list(t), None), lambda children, _: list(children)),
    dict: _Node(_flatten_dict, lambda children, keys: dict(zip(keys, children, strict=True))),
    OrderedDict: _Node(_flatten_dict, lambda children, keys: OrderedDict(zip(keys, children, strict=True))),
    defaultdict: _Node(
        lambda t: (list(t.values()), (t.default_factory, list(t))),
        lambda children, context: defaultdict(context[0], zip(context[1], children, strict=True)),
    ),
    deque: _Node(lambda t: (list(t), t.maxlen), lambda children, maxlen: deque(children, maxlen=maxlen)),
}
_NAMED_TUPLE = _Node(lambda t: (list(t), type(t)), lambda children, kind: kind._make(children))


def register_pytree_node(cls: type, flatten_fn: Callable[..., Any], unflatten_fn: Callable[..., Any], **_names: Any) -> None:
    """``register_pytree_node(cls, flatten, unflatten)`` makes instances of a class containers.

    flatten(instance) is (list of children, context), unflatten(children, context) an instance. ValueError for a class that is
    already registered.

    >>> from autograd_cy.utils import _pytree
    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> _pytree.register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda children, _: Pair(*children))
    >>> _pytree.tree_leaves([Pair(1, 2), 3])
    [1, 2, 3]
    """
    if cls in _NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    _NODES[cls] = _Node(flatten_fn, unflatten_fn)


def register_dataclass(cls: type) -> None:
    """``register_dataclass(cls)`` makes instances of a dataclass containers of its fields.

    >>> import dataclasses
    >>> from autograd_cy.utils import _pytree
    >>> @dataclasses.dataclass
    ... class Point:
    ...     x: float
    ...     y: float
    >>> _pytree.register_dataclass(Point)
    >>> _pytree.tree_map(lambda t: t * 2, Point(1.0, 2.0))
    Point(x=2.0, y=4.0)
    """
    names = [field.name for field in dataclasses.fields(cls)]
    register_pytree_node(
        cls,
        lambda instance: ([getattr(instance, name) for name in names], None),
        lambda children, _: cls(**dict(zip(names, children, strict=True))),
    )


def _node_of(tree: Any) -> tuple[Any, _Node | None]:
    """The kind of a container and its _Node; None for a leaf."""
    kind = type(tree)
    if kind is Size:  # as in PyTorch: a tuple
        kind = tuple
    node = _NODES.get(kind)
    if node is None and isinstance(tree, tuple) and hasattr(kind, "_fields") and hasattr(kind, "_make"):
        return kind, _NAMED_TUPLE
    return kind, node


class TreeSpec:
    """The structure of a tree: the kind of container, its context, the specs of its children.

    >>> from autograd_cy.utils import _pytree
    >>> _pytree.tree_structure((1, [2, 3]))
    TreeSpec(tuple, None, [*,
      TreeSpec(list, None, [*,
        *])])
    """

    __slots__ = ("children_specs", "context", "num_leaves", "type")

    def __init__(
        self, type: Any, context: Any, children_specs: list["TreeSpec"], num_leaves: int | None = None
    ) -> None:
        self.type, self.context, self.children_specs = type, context, children_specs
        if num_leaves is None:
            num_leaves = sum(spec.num_leaves for spec in children_specs) if type is not None else 1
        self.num_leaves: int = num_leaves

    def is_leaf(self) -> bool:
        """``is_leaf()`` is whether it is the spec of a leaf."""
        return self.type is None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (self.type, self.context, self.children_specs) == (other.type, other.context, other.children_specs)

    def __hash__(self) -> int:
        return hash((self.type, len(self.children_specs)))

    def __repr__(self) -> str:
        return self._text(0)

    def _text(self, indent: int) -> str:
        if self.type is None:
            return "*"
        gap = ",\n" + " " * (indent + 2)
        children = gap.join(spec._text(indent + 2) for spec in self.children_specs)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{children}])"


def LeafSpec() -> TreeSpec:
    """``LeafSpec()`` is the spec of a leaf.

    >>> from autograd_cy.utils import _pytree
    >>> _pytree.LeafSpec().is_leaf()
    True
    """
    return TreeSpec(None, None, [])


_LEAF = LeafSpec()


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """``tree_flatten(tree)`` is (leaves, spec): the leaves in order, and the structure.

    >>> from autograd_cy.utils import _pytree
    >>> leaves, spec = _pytree.tree_flatten({"a": 1, "b": (2, 3)})
    >>> leaves, _pytree.tree_unflatten([x * 10 for x in leaves], spec)
    ([1, 2, 3], {'a': 10, 'b': (20, 30)})
    """
    leaves: list[Any] = []
    return leaves, _flatten_into(tree, leaves, is_leaf)


def _flatten_into(tree: Any, leaves: list[Any], is_leaf: Callable[[Any], bool] | None) -> TreeSpec:
    kind = type(tree)
    node = _NODES.get(kind)
    if node is None and not isinstance(tree, tuple):  # the usual case, first
        leaves.append(tree)
        return _LEAF
    if node is None:
        kind, node = _node_of(tree)
    if node is None or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return _LEAF
    children, context = (tree, None) if kind is tuple or kind is list else node.flatten(tree)
    start = len(leaves)
    specs = []
    for child in children:
        if type(child) in _NODES or isinstance(child, tuple):
            specs.append(_flatten_into(child, leaves, is_leaf))
        else:
            leaves.append(child)
            specs.append(_LEAF)
    return TreeSpec(kind, context, specs, len(leaves) - start)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """``tree_unflatten(leaves, spec)`` rebuilds the tree; ValueError for a wrong number of leaves."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to a pytree that holds "
            f"{treespec.num_leaves} items ({treespec})."
        )
    return _nested(iter(leaves), treespec)


def _nested(leaves: Any, spec: TreeSpec) -> Any:
    if spec.type is None:
        return next(leaves)
    children = [next(leaves) if child is _LEAF else _nested(leaves, child) for child in spec.children_specs]
    if spec.type is tuple:
        return tuple(children)
    return _NODES.get(spec.type, _NAMED_TUPLE).unflatten(children, spec.context)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """``tree_leaves(tree)`` is the list of the leaves.

    >>> from autograd_cy.utils import _pytree
    >>> _pytree.tree_leaves([1, {"a": 2}])
    [1, 2]
    """
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """``tree_structure(tree)`` is the spec of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """``tree_map(func, tree)`` has func(leaf) for each leaf; with more trees of the same structure, func(leaf, ...).

    >>> from autograd_cy.utils import _pytree
    >>> _pytree.tree_map(lambda x, y: x + y, {"a": 1}, {"a": 10})
    {'a': 11}
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_leaves(rest, is_leaf) for rest in rests]
    return _nested(iter([func(*items) for items in zip(leaves, *others, strict=True)]), spec)


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """``tree_map_(func, tree)`` calls func for each leaf and returns the tree."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(kinds: Any, func: Callable[..., Any], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """``tree_map_only(kinds, func, tree)`` has func(leaf) for the leaves of a type (or of one of several).

    >>> from autograd_cy.utils import _pytree
    >>> _pytree.tree_map_only(int, lambda x: -x, [1, "a"])
    [-1, 'a']
    """
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kinds) else leaf, tree, is_leaf=is_leaf)


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """``tree_any(pred, tree)`` is whether pred is true for any leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """``tree_all(pred, tree)`` is whether pred is true for all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def _broadcast_to_and_flatten(tree: Any, treespec: TreeSpec, is_leaf: Callable[[Any], bool] | None = None) -> list[Any] | None:
    """One leaf for each leaf of the spec: a leaf of `tree` at a container of the spec is repeated for all leaves below it.
    None if they don't fit."""
    kind, node = _node_of(tree)
    if node is None or (is_leaf is not None and is_leaf(tree)):
        return [tree] * treespec.num_leaves
    if treespec.type is not kind:
        return None
    children, context = node.flatten(tree)
    if kind in (dict, OrderedDict) and set(context) == set(treespec.context):  # the order of keys does not matter
        children, context = [tree[key] for key in treespec.context], treespec.context
    if len(children) != len(treespec.children_specs) or context != treespec.context:
        return None
    result: list[Any] = []
    for child, spec in zip(children, treespec.children_specs, strict=True):
        flat = _broadcast_to_and_flatten(child, spec, is_leaf)
        if flat is None:
            return None
        result += flat
    return result
