"""functionalize(): what a function writes in place, as operations that write nothing (facade).

The function is recorded as make_fx() does it, on copies of its arguments. A `_Memory` is what tensors share, with the node
that has its latest value; an `_Alias` is a tensor: the memory itself, or a view of another alias. A write gives the memory a
new node; the views of it are made again from that one when they are asked for next.
"""

from collections.abc import Callable
from typing import Any

import numpy as _np

from ..._core.batching.batched import all_samples as _all_samples
from ..._core.batching.batched import levels_of as _levels_of
from ..._core.graph.tensor import Tensor
from ..._core.graph.tensor import array_of as _array_of
from ..._core.graph.tensor import from_array as _from_array
from ..._core.ops.overrides import calls_handed_to as _calls_handed_to
from ..._ops import ops
from ..._ops import overload_of as _overload_of
from ...random import get_rng_state as _get_rng_state
from ...random import set_rng_state as _set_rng_state
from ...utils._pytree import tree_leaves as _tree_leaves
from ...utils._pytree import tree_map as _tree_map
from ..node import Node
from .proxy_tensor import _module_of, _Recording

__all__ = ["functional_module"]

_aten = ops.aten
_NO_NODE = ("backward", "item", "numpy", "tolist", "requires_grad_", "retain_grad", "register_hook")
_VIEWS_IN_PLACE = ("t_", "transpose_", "swapaxes_", "swapdims_", "squeeze_", "unsqueeze_", "as_strided_", "detach_")
_OWN_INVERSE = ("t", "transpose", "swapaxes", "swapdims")
_ON_A_COPY = ("normal_", "bernoulli_", "polygamma_", "set_item")  # without the underscore they take other arguments


class _Memory:
    """What tensors share: the node that has its value, and how often it was written."""

    def __init__(self, node: Node, is_argument: bool, is_found: bool = False) -> None:
        self.node, self.is_argument, self.is_found, self.writes = node, is_argument, is_found, 0


class _Alias:
    """A tensor: all of a memory, or a view of another alias."""

    def __init__(self, memory: _Memory, node: Node, parent: "_Alias | None" = None, view: "_View | None" = None) -> None:
        self.memory, self.node, self.parent, self.view, self.writes = memory, node, parent, view, memory.writes


class _View:
    """A call that gave a view of one of its arguments: how it is made again, and how a value of it is put back."""

    def __init__(self, recording: "_Functional", call: tuple[Any, Any, Any], of: Tensor, part: int | None, result: Tensor):
        self.recording, self.call, self.of, self.part = recording, call, of, part
        self.shape, self.own_shape, self.same_type = tuple(of.shape), tuple(result.shape), of.dtype == result.dtype

    def again(self, parent: Node) -> Node:
        if _name_of(self.call[0]) in ("view", "view_as") and self.same_type:  # the parent may have another layout now
            return self.recording.new(_aten.reshape, parent, self.own_shape)
        node = self.recording.view_node(self.call, {id(self.of): parent})
        return node if self.part is None else self.recording.item(node, self.part)

    def put_back(self, parent: Node, value: Node) -> Node:
        """The parent's value with this one in the place of the view."""
        function, args, kwargs = self.call
        if not self.same_type:
            raise NotImplementedError(f"functionalize(): a write through {function.__name__}(), a view of another dtype")
        new, name, count = self.recording.new, _name_of(function), int(_np.prod(self.shape))
        if _np.array_equal(self._positions().ravel(), _np.arange(count)):
            return new(_aten.reshape, value, self.shape)
        if name in _OWN_INVERSE:
            return new(self.recording.view_packet(name), value, *args[1:], **kwargs)
        if name in ("select", "diagonal"):
            return new(getattr(_aten, f"{name}_scatter"), parent, value, *args[1:], **kwargs)
        numbers = new(_aten.reshape, new(_aten.arange, count), self.shape)
        return new(_aten.put, parent, self.again(numbers), value)

    def _positions(self) -> _np.ndarray:
        """Where the elements of the view are among those of the parent, which are counted in order."""
        function, args, kwargs = self.call
        numbers = _from_array(_np.arange(int(_np.prod(self.shape))).reshape(self.shape))
        args, kwargs = _tree_map(lambda x: numbers if x is self.of else x, (args, kwargs))
        found = function(*args, **kwargs)
        return _array_of((found if self.part is None else found[self.part]).detach().contiguous())


class _Functional(_Recording):
    """One call of a function, and the graph of what it called without writes."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], views: bool) -> None:
        self._aliases: dict[int, _Alias] = {}
        self._inputs: list[tuple[Node, _Alias, Tensor]] = []
        self._views = views
        super().__init__(f, args)
        output = self.graph.output_node()
        with self.graph.inserting_before(output):
            for node, alias, given in self._inputs:
                if alias.memory.writes:
                    self._check_alone(given)
                    self.new(_aten.copy_, node, self._current(alias))
        self.graph.eliminate_dead_code()

    def _check_alone(self, given: Tensor) -> None:
        """NotImplementedError if an argument that is written shares memory with another one."""
        for _, _, other in self._inputs:
            if other is not given and _np.may_share_memory(_all_of(other), _all_of(given)):
                raise NotImplementedError(
                    "functionalize(): the function writes to an argument that shares memory with another"
                )

    def _placeholder(self, name: str, value: Any) -> Any:
        node = self.graph.placeholder(f"{name}_1")
        if not isinstance(value, Tensor):
            return value
        own = (value.detach().requires_grad_() if value.requires_grad else value).clone()
        alias = self._add(own, _Alias(_Memory(node, True), node))
        self._inputs.append((node, alias, value))
        return own

    def _add(self, tensor: Tensor, alias: _Alias) -> _Alias:
        self._aliases[id(tensor)] = alias
        self._kept.append(tensor)
        return alias

    # nodes

    def new(self, packet: Any, *args: Any, **kwargs: Any) -> Node:
        """A node that calls an operation of `aten`."""
        overload = getattr(packet, packet.overloads()[0])
        return self.graph.call_function(overload, args, kwargs, name=packet.__name__)

    def item(self, node: Node, number: int) -> Node:
        return self._part_of(node, number)

    def call_node(self, call: tuple[Any, Any, Any], instead: dict[int, Node], suffix: str = "") -> Node:
        """A node of the call, with nodes for its tensors: those of `instead`, by the tensors' ids, or the current ones."""
        function, args, kwargs = call
        given, named = _tree_map(lambda x: instead.get(id(x)) or self._argument(x), (args, kwargs))
        target = _overload_of(function, args, kwargs)
        if suffix:
            packet = getattr(_aten, target._opname + suffix)
            target = getattr(packet, packet.overloads()[0])
        return self.graph.call_function(target, given, named, name=target._opname)

    def view_packet(self, name: str) -> Any:
        return getattr(_aten, f"{name}_copy" if self._views else name)

    def view_node(self, call: tuple[Any, Any, Any], instead: dict[int, Node]) -> Node:
        """`call_node` of what gives a view; of a copy, if views are to be removed."""
        if not self._views:
            return self.call_node(call, instead)
        if _overload_of(*call)._opname == "index":  # index_copy() is something else
            return self.new(_aten.clone, self.call_node(call, instead))
        return self.call_node(call, instead, "_copy")

    # values

    def _argument(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        alias = self._aliases.get(id(value))
        if alias is None:
            node = super()._argument(value)
            alias = self._add(value, _Alias(_Memory(node, False, True), node))
        return self._current(alias)

    def _current(self, alias: _Alias) -> Node:
        """The node that has the alias's value now."""
        if alias.writes != alias.memory.writes:
            if alias.parent is None or alias.view is None:
                alias.node = alias.memory.node
            else:
                alias.node = alias.view.again(self._current(alias.parent))
            alias.writes = alias.memory.writes
        return alias.node

    def _write(self, alias: _Alias, node: Node) -> None:
        """The alias's value is that of a new node, and so is what it is a view of."""
        if alias.parent is None or alias.view is None:
            alias.memory.node = node
            alias.memory.writes += 1
        else:
            self._write(alias.parent, alias.view.put_back(self._current(alias.parent), node))
        alias.node, alias.writes = node, alias.memory.writes

    # calls

    def _handle(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name, call = _name_of(function), (function, args, kwargs)
        if name in _NO_NODE:
            return function(*args, **kwargs)
        _tree_map(self._argument, (args, kwargs))  # what the function finds elsewhere gets its node before anything is written
        targets = _targets(name, args, kwargs)
        for x in targets:
            self._check_own(name, x)
        if name in _VIEWS_IN_PLACE:
            return self._view_in_place(call)
        if targets:
            return self._written(name, call, targets)
        return self._computed(call)

    def _check_own(self, name: str, x: Tensor) -> None:
        if self._aliases[id(x)].memory.is_found:
            raise NotImplementedError(
                f"functionalize(): {name}() writes to a tensor that the function finds elsewhere: make it an argument"
            )

    def _view_in_place(self, call: tuple[Any, Any, Any]) -> Any:
        """t_() and its like: the tensor becomes a view of what it was."""
        function, args, kwargs = call
        x, before = args[0], self._aliases[id(args[0])]
        earlier = x.detach()
        twin = (getattr(_aten, _name_of(function).removesuffix("_")).op, (earlier, *args[1:]), kwargs)
        self._add(earlier, before)
        result = function(*args, **kwargs)
        view = _View(self, twin, earlier, None, x)
        self._add(x, _Alias(before.memory, view.again(self._current(before)), before, view))
        return result

    def _written(self, name: str, call: tuple[Any, Any, Any], targets: list[Tensor]) -> Any:
        """A call that says what it writes: the value is that of the operation that returns it instead."""
        function, args, kwargs = call
        if "out" in kwargs:
            node = self.call_node((function, args, {k: v for k, v in kwargs.items() if k != "out"}), {})
        elif kwargs.get("inplace") or (args[-1] is True and name[-1] != "_"):
            without = args if "inplace" in kwargs else (*args[:-1], False)
            node = self.call_node((function, without, {k: v for k, v in kwargs.items() if k != "inplace"}), {})
        else:
            nodes = _tree_map(self._argument, (args, kwargs))
            twin = f"{name.removesuffix('_')}_functional" if name in _ON_A_COPY else name.removesuffix("_")
            node = self.new(getattr(_aten, twin), *nodes[0], **nodes[1])
        others = [x.dtype for x in _tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
        shapes = [x.shape for x in targets]
        result = function(*args, **kwargs)
        several = isinstance(kwargs.get("out"), (tuple, list))
        for i, x in enumerate(targets):
            value = self.item(node, i) if several else node
            if any(dtype != x.dtype for dtype in others):
                value = self.graph.call_function(_aten._to_copy.default, (value,), {"dtype": x.dtype})
            if x.shape != shapes[i]:  # out= was resized
                self._add(x, _Alias(_Memory(value, False), value))
            else:
                self._write(self._aliases[id(x)], value)
        return result

    def _computed(self, call: tuple[Any, Any, Any]) -> Any:
        """A call whose results are new tensors or views; one that wrote to arguments all the same gets copies of these."""
        function, args, kwargs = call
        given = {id(x): x for x in _tree_leaves((args, kwargs)) if isinstance(x, Tensor)}
        versions = {key: _version(x) for key, x in given.items()}
        before = {key: self._current(self._aliases[key]) for key in given}
        result = function(*args, **kwargs)
        written = [x for key, x in given.items() if _version(x) != versions[key]]
        for x in written:
            self._check_own(function.__name__, x)
        copies = {id(x): self.new(_aten.clone, before[id(x)]) for x in written}
        self._note_results(call, result, list(given.values()), copies)
        for x in written:
            self._write(self._aliases[id(x)], copies[id(x)])
        return result

    def _note_results(
        self, call: tuple[Any, Any, Any], result: Any, given: list[Tensor], copies: dict[int, Node]
    ) -> None:
        if isinstance(result, Tensor):
            parent = next((x for x in given if _share(result, x)), None)
            if id(result) in self._aliases:  # an argument, as it is
                return
            node = None if parent is not None else self.call_node(call, copies)
            self._note_result(call, result, node, parent, None)
            return
        parts = [(i, x) for i, x in enumerate(result) if isinstance(x, Tensor)] if isinstance(result, (tuple, list)) else []
        parents = [next((y for y in given if _share(x, y)), None) for _, x in parts]
        node = (self.view_node if any(p is not None for p in parents) else self.call_node)(call, copies)
        for (i, x), parent in zip(parts, parents, strict=True):
            if id(x) not in self._aliases:
                self._note_result(call, x, self.item(node, i), parent, i)

    def _note_result(
        self, call: tuple[Any, Any, Any], x: Tensor, node: Node | None, parent: Tensor | None, part: int | None
    ) -> None:
        """A new tensor with its node, or a view of `parent`, whose node is made where there is none."""
        if parent is None:
            assert node is not None
            self._add(x, _Alias(_Memory(node, False), node))
            return
        above, view = self._aliases[id(parent)], _View(self, call, parent, part, x)
        self._add(x, _Alias(above.memory, view.again(self._current(above)) if node is None else node, above, view))


def _targets(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
    """The tensors that a call says it writes."""
    if kwargs.get("out") is not None:
        return [x for x in _tree_leaves(kwargs["out"]) if isinstance(x, Tensor)]
    in_place = name == "set_item" or (name.endswith("_") and not name.endswith("__"))
    if not in_place and args and isinstance(args[0], Tensor):
        in_place = bool(kwargs.get("inplace")) or (len(args) > 1 and args[-1] is True and name in _WITH_INPLACE)
    return [args[0]] if in_place and args and isinstance(args[0], Tensor) else []


_WITH_INPLACE = frozenset(
    "relu relu6 hardtanh elu selu celu leaky_relu rrelu silu mish hardswish hardsigmoid threshold dropout alpha_dropout "
    "dropout1d dropout2d dropout3d feature_alpha_dropout".split()
)


def _name_of(function: Callable[..., Any]) -> str:
    return getattr(function, "_opname", None) or function.__name__


def _version(x: Tensor) -> int:
    return 0 if x.is_inference() else x._version


def _all_of(x: Tensor) -> _np.ndarray:
    """The array of a tensor; of all samples, within vmap."""
    return _array_of(_all_samples(x, _levels_of(x)))


def _share(x: Tensor, y: Tensor) -> bool:
    return bool(_np.may_share_memory(_all_of(x), _all_of(y)))


def functional_module(f: Callable[..., Any], args: tuple[Any, ...], views: bool) -> Any:
    """A GraphModule of what f calls with these arguments, without writes but those to arguments at the end."""
    with _calls_handed_to(None):
        state = _get_rng_state()
        module = _module_of(f, lambda: _Functional(f, args, views))
        _set_rng_state(state)
    return module
