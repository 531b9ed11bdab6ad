"""functionalize(): what a function writes in place, as operations that write nothing (facade).

The function is recorded as make_fx() does it, on copies of its arguments. A `Memory` is what tensors share, with the node
that has its latest value; an `Alias` is a tensor: the memory itself, or a view of another alias. A write gives the memory a
new node; the views of it are made again from that one when they are asked for next.
"""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..._core.graph.tensor import Tensor
from ..._core.ops.overrides import calls_handed_to
from ..._ops import overload_of
from ...autograd.function import BackwardCFunction
from ...autograd.grad_mode import is_grad_enabled
from ...random import get_rng_state, set_rng_state
from ...utils._pytree import tree_leaves, tree_map
from ..node import Node
from ._aliases import Alias, Memory, View, all_of, aten, copy_of, name_of, place_of, share
from .proxy_tensor import _module_of, _Recording

__all__ = ["functional_module"]

# Calls that only read a tensor: the graph needs no node for them.
_NO_NODE = ("item", "tolist", "is_contiguous", "stride", "size", "dim", "numel")
_REFUSED = ("backward", "numpy", "register_hook", "retain_grad", "resize_", "resize_as_", "set_")
_VIEWS_IN_PLACE = ("t_", "transpose_", "swapaxes_", "swapdims_", "squeeze_", "unsqueeze_", "as_strided_", "detach_")
# Operations that take other arguments under the name without the underscore: the graph calls them on a copy.
_ON_A_COPY = ("normal_", "bernoulli_", "polygamma_", "set_item")
# Operations whose result has the type of the inputs, where all of them have one floating-point or complex type.
_SAME_TYPE = ("add_", "sub_", "mul_", "div_", "copy_", "fill_", "zero_", "neg_", "exp_", "relu_", "clamp_")
# Operations that may write to arguments, though no name says so.
_WRITING = ("batch_norm", "instance_norm", "embedding", "embedding_bag")


class _Functional(_Recording):
    """One call of a function, and the graph of what it called without writes."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], views: bool) -> None:
        self._aliases: dict[int, Alias] = {}
        self._inputs: list[tuple[Node, Alias, Tensor]] = []
        self._places: dict[int, Any] = {}
        self._views, self._records = views, is_grad_enabled()
        super().__init__(f, args)
        output = self.graph.output_node()
        with self.graph.inserting_before(output):
            for node, alias, given in self._inputs:
                if alias.memory.writes:
                    self._check_alone(node, given)
                    self.new(aten.copy_, node, self._current(alias))
        self.graph.eliminate_dead_code()

    def _check_alone(self, node: Node, given: Tensor) -> None:
        """NotImplementedError if an argument that is written shares memory with another one."""
        for other_node, _, other in self._inputs:
            if other_node is not node and np.shares_memory(all_of(other), all_of(given)):
                raise NotImplementedError(
                    "functionalize(): the function writes to an argument that shares memory with another"
                )

    def _placeholder(self, name: str, value: Any) -> Any:
        node = self.graph.placeholder(name)
        if not isinstance(value, Tensor):
            return value
        own = copy_of(value)
        alias = self._add(own, Alias(Memory(node), node))
        self._inputs.append((node, alias, value))
        return own

    def _add(self, tensor: Tensor, alias: Alias) -> Alias:
        self._aliases[id(tensor)] = alias
        self._places[id(tensor)] = place_of(tensor)
        self._kept.append(tensor)
        return alias

    # nodes

    def new(self, packet: Any, *args: Any, **kwargs: Any) -> Node:
        """A node that calls an operation of `aten`."""
        overload = getattr(packet, packet.overloads()[0])
        return self.graph.call_function(overload, args, kwargs, name=packet.__name__)

    def call_node(self, call: tuple[Any, Any, Any], instead: dict[int, Node], suffix: str = "") -> Node:
        """A node of the call, with nodes for its tensors: those of `instead`, by the tensors' ids, or the current ones."""
        function, args, kwargs = call
        given, named = tree_map(lambda x: instead.get(id(x)) or self._argument(x), (args, kwargs))
        target = overload_of(function, args, kwargs)
        if suffix:
            packet = getattr(aten, target._opname + suffix)
            target = getattr(packet, packet.overloads()[0])
        return self.graph.call_function(target, given, named, name=target._opname)

    def view_packet(self, name: str) -> Any:
        return getattr(aten, f"{name}_copy" if self._views else name)

    def view_node(self, call: tuple[Any, Any, Any], instead: dict[int, Node]) -> Node:
        """`call_node` of what gives a view; of a copy, if views are to be removed."""
        if not self._views:
            return self.call_node(call, instead)
        name = overload_of(*call)._opname
        if name == "index" or not hasattr(aten, f"{name}_copy"):  # index_copy() is something else
            return self.new(aten.clone, self.call_node(call, instead))
        return self.call_node(call, instead, "_copy")

    # values

    def _argument(self, value: Any) -> Any:
        return self.current(value) if isinstance(value, Tensor) else value

    def current(self, x: Tensor) -> Node:
        """The node that has the tensor's value now."""
        alias = self._aliases.get(id(x))
        if alias is None:
            self._check_found(x)
            node = super()._argument(x)
            alias = self._add(x, Alias(Memory(node, True), node))
        elif self._places[id(x)] != place_of(x):
            raise NotImplementedError("functionalize(): the function gave a tensor other memory, as by setting its .data")
        if not alias.memory.is_found and isinstance(x.grad_fn, BackwardCFunction):
            raise NotImplementedError(f"functionalize(): the graph doesn't have the backward of {x.grad_fn.name()}")
        if not alias.memory.is_found and x.requires_grad and x.is_leaf:
            raise NotImplementedError("functionalize(): the function makes a leaf that requires grad")
        return self._current(alias)

    def _check_found(self, x: Tensor) -> None:
        """NotImplementedError for a tensor in the memory of another one that no operation made, as x.data is."""
        for other in self._kept:
            if isinstance(other, Tensor) and not self._aliases[id(other)].memory.is_found and share(x, other):
                raise NotImplementedError(
                    "functionalize(): a tensor in the memory of another one, made by what is no operation, as .data is"
                )

    def _current(self, alias: Alias) -> Node:
        """The node that has the alias's value now."""
        if alias.writes != alias.memory.writes:
            if alias.parent is None or alias.view is None:
                alias.node = alias.memory.node
            else:
                alias.node = alias.view.again(self._current(alias.parent))
            alias.writes = alias.memory.writes
        return alias.node

    def _write(self, alias: Alias, node: Node) -> None:
        """The alias's value is that of a new node, and so is what it is a view of."""
        if alias.parent is None or alias.view is None:
            alias.memory.node = node
            alias.memory.writes += 1
        else:
            self._write(alias.parent, alias.view.put_back(self._current(alias.parent), node))
        alias.node, alias.writes = node, alias.memory.writes

    # calls

    def _handle(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name, call = name_of(function), (function, args, kwargs)
        if name in _REFUSED:
            raise NotImplementedError(f"functionalize(): the function calls {name}(), which is no operation of its graph")
        if name in _NO_NODE:
            return function(*args, **kwargs)
        tree_map(self._argument, (args, kwargs))  # what the function finds elsewhere gets its node before anything is written
        targets = _targets(call)
        for x in targets:
            self._check_own(name, x)
        if name in _VIEWS_IN_PLACE:
            return self._view_in_place(call)
        if targets:
            return self._written(name, call, targets)
        return self._computed(call)

    def _as_recorded(self, node: Node, given: Any) -> Node:
        """The node, without the way of gradients if there is none in the function: within no_grad()."""
        if self._records and not is_grad_enabled() and any(x.requires_grad for x in _tensors_in(given)):
            return self.new(aten.detach, node)
        return node

    def _check_own(self, name: str, x: Tensor) -> None:
        if self._aliases[id(x)].memory.is_found:
            raise NotImplementedError(
                f"functionalize(): {name}() writes to a tensor that the function finds elsewhere: make it an argument"
            )

    def _view_in_place(self, call: tuple[Any, Any, Any]) -> Any:
        """t_() and its like: the tensor becomes a view of what it was."""
        function, args, kwargs = call
        x, before = args[0], self._aliases[id(args[0])]
        if any(before is alias for _, alias, _ in self._inputs):
            raise NotImplementedError(f"functionalize(): {function.__name__}() changes the shape of an argument")
        earlier = x.detach()
        twin = (getattr(aten, name_of(function).removesuffix("_")).op, (earlier, *args[1:]), kwargs)
        self._add(earlier, before)
        result = function(*args, **kwargs)
        view = View(self, twin, earlier, None, x)
        self._add(x, Alias(before.memory, view.again(self._current(before)), before, view))
        return result

    def _written(self, name: str, call: tuple[Any, Any, Any], targets: list[Tensor]) -> Any:
        """A call that says what it writes: the value is that of the operation that returns it instead."""
        function, args, kwargs = call
        given = list(_tensors_in((args, kwargs)))
        if self._records and not is_grad_enabled() and any(x.requires_grad for x in targets):
            raise NotImplementedError(f"functionalize(): {name}() writes within no_grad() to a tensor that requires grad")
        node = self._as_recorded(self._value_node(name, call), given)
        same = name in _SAME_TYPE and all(x.dtype == targets[0].dtype for x in given) and not _is_whole(targets[0])
        shapes = [x.shape for x in targets]
        result = function(*args, **kwargs)
        several = isinstance(kwargs.get("out"), (tuple, list))
        for i, x in enumerate(targets):
            value = self.part_of(node, i) if several else node
            if not same:
                value = self.new(aten.to, value, x.dtype)
            if x.shape == shapes[i]:
                self._write(self._aliases[id(x)], value)
            else:
                self._resized(name, x, value)
        return result

    def _value_node(self, name: str, call: tuple[Any, Any, Any]) -> Node:
        """What a call that writes would return if it didn't."""
        function, args, kwargs = call
        if "out" in kwargs or kwargs.get("inplace"):
            others = {k: v for k, v in kwargs.items() if k not in ("out", "inplace")}
            if not list(_tensors_in((args, others))) and isinstance(kwargs.get("out"), Tensor):
                others.setdefault("dtype", kwargs["out"].dtype)  # numbers are drawn in the type of out=
            return self.call_node((function, args, others), {})
        if _ends_in_place(function, args):
            return self.call_node((function, args[:-1], kwargs), {})
        given, named = tree_map(self._argument, (args, kwargs))
        twin = f"{name.removesuffix('_')}_functional" if name in _ON_A_COPY else name.removesuffix("_")
        return self.new(getattr(aten, twin), *given, **named)

    def _resized(self, name: str, x: Tensor, value: Node) -> None:
        """out= got another shape, and other memory."""
        if any(self._aliases[id(x)] is alias for _, alias, _ in self._inputs):
            raise NotImplementedError(f"functionalize(): {name}(out=) changes the shape of an argument")
        self._add(x, Alias(Memory(value), value))

    def _computed(self, call: tuple[Any, Any, Any]) -> Any:
        """A call whose results are new tensors or views. One that writes to arguments all the same, as batch_norm() does to
        its statistics, is given copies of these in the graph."""
        function, args, kwargs = call
        given = {id(x): x for x in _tensors_in((args, kwargs))}
        if name_of(function) in _WRITING:
            self._check_found_are_kept(call, list(given.values()))
        versions = {key: x._version for key, x in given.items()}
        before = {key: self._current(self._aliases[key]) for key in given}
        result = function(*args, **kwargs)
        written = [x for key, x in given.items() if x._version != versions[key]]
        for x in written:
            self._check_own(function.__name__, x)
            if result is x:
                raise NotImplementedError(f"functionalize(): {function.__name__}() writes to its argument, and doesn't say so")
        copies = {id(x): self.new(aten.clone, before[id(x)]) for x in written}
        self._note_results(call, result, list(given.values()), copies)
        for x in written:
            self._write(self._aliases[id(x)], copies[id(x)])
        return result

    def _check_found_are_kept(self, call: tuple[Any, Any, Any], given: list[Tensor]) -> None:
        """NotImplementedError if a call would write to a tensor that the function finds elsewhere: tried on copies."""
        function, args, kwargs = call
        copies = {id(x): x.detach().clone() for x in given}
        versions = {key: x._version for key, x in copies.items()}
        state = get_rng_state()
        args, kwargs = tree_map(lambda x: copies[id(x)] if isinstance(x, Tensor) else x, (args, kwargs))
        function(*args, **kwargs)
        set_rng_state(state)
        for x in given:
            if copies[id(x)]._version != versions[id(x)]:
                self._check_own(function.__name__, x)

    def _note_results(
        self, call: tuple[Any, Any, Any], result: Any, given: list[Tensor], copies: dict[int, Node]
    ) -> None:
        if isinstance(result, Tensor):
            if id(result) in self._aliases:  # an argument, as it is
                return
            parent = next((x for x in given if share(result, x)), None)
            node = None if parent is not None else self._as_recorded(self.call_node(call, copies), call[1:])
            self._note_result(call, result, node, parent, None)
            return
        parts = [(i, x) for i, x in enumerate(result) if isinstance(x, Tensor)] if isinstance(result, (tuple, list)) else []
        parents = [next((y for y in given if share(x, y)), None) for _, x in parts]
        viewed = {id(p) for p in parents if p is not None}
        if viewed and len(given) > 1:
            raise NotImplementedError(f"functionalize(): {name_of(call[0])}() gives views of one of several tensors")
        node = self._as_recorded((self.view_node if viewed else self.call_node)(call, copies), call[1:])
        for (i, x), parent in zip(parts, parents, strict=True):
            if id(x) not in self._aliases:
                self._note_result(call, x, self.part_of(node, i), parent, i)

    def _note_result(
        self, call: tuple[Any, Any, Any], x: Tensor, node: Node | None, parent: Tensor | None, part: int | None
    ) -> None:
        """A new tensor with its node, or a view of `parent`, whose node is made where there is none."""
        if parent is None:
            assert node is not None
            self._add(x, Alias(Memory(node), node))
            return
        above, view = self._aliases[id(parent)], View(self, call, parent, part, x)
        if name_of(call[0]) == "as_strided" and not (above.parent is None and parent.is_contiguous()):
            raise NotImplementedError("functionalize(): as_strided() of a view, or of a tensor that is not in C order")
        own = view.again(self._current(above)) if node is None else node
        self._add(x, Alias(above.memory, self._as_recorded(own, call[1:]), above, view))


def _targets(call: tuple[Any, Any, Any]) -> list[Tensor]:
    """The tensors that a call says it writes."""
    function, args, kwargs = call
    name = name_of(function)
    if kwargs.get("out") is not None:
        return list(_tensors_in(kwargs["out"]))
    in_place = name == "set_item" or (name.endswith("_") and not name.endswith("__"))
    if not in_place and not kwargs.get("inplace") and not _ends_in_place(function, args):
        return []
    first = args[0] if args else kwargs.get("input", kwargs.get("self"))
    return [first] if isinstance(first, Tensor) else []


def _ends_in_place(function: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    """Whether the last argument is one more than the function has parameters: `inplace`, and True."""
    if not args or args[-1] is not True or name_of(function).endswith("_"):
        return False
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return False
    return len(args) > sum(p.kind is not p.KEYWORD_ONLY for p in parameters)


def _tensors_in(tree: Any) -> Iterator[Tensor]:
    return (x for x in tree_leaves(tree) if isinstance(x, Tensor))


def _is_whole(x: Tensor) -> bool:
    return not (x.dtype.is_floating_point or x.dtype.is_complex)


def functional_module(f: Callable[..., Any], args: tuple[Any, ...], views: bool) -> Any:
    """A GraphModule of what f calls with these arguments, without writes but those to arguments at the end."""
    with calls_handed_to(None):
        state = get_rng_state()
        module = _module_of(f, lambda: _Functional(f, args, views))
        set_rng_state(state)
    return module
