"""functionalize(): what a function writes in place, as operations that write nothing (facade).

The function is recorded as make_fx() does it, on copies of its arguments. A `Memory` is what tensors share, with the node
that has its latest value; an `Alias` is a tensor: the memory itself, or a view of another alias. A write gives the memory a
new node; the views of it are made again from that one when they are asked for next.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

import numpy as np

from ..._core.graph.memory import add_watcher, memory_of, remove_watcher
from ..._core.graph.tensor import Tensor
from ..._core.ops.overrides import calls_handed_to
from ..._ops import overload_of
from ...autograd.function import BackwardCFunction
from ...autograd.grad_mode import is_grad_enabled
from ...utils._pytree import tree_map
from ..node import Node
from ._aliases import Alias, Memory, View, all_of, aten, copy_of, name_of, place_of, share, version_of
from ._settings import Settings
from ._writes import Call, dtype_of_value, targets_of, tensors_in, twin_of, without_write
from .proxy_tensor import _module_of, _Recording

__all__ = ["functional_module"]

# Methods that are no operations, and of which a graph would know nothing.
_REFUSED = ("backward", "numpy", "register_hook", "retain_grad")
_TRANSFORMS = (
    "a transform (grad, vjp, jvp, vmap, ...), backward(), .data or NumPy. Call the transform on the functionalized function, "
    "as in grad(functionalize(f))"
)


class _Functional(_Recording):
    """One call of a function, and the graph of what it called without writes."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], views: bool) -> None:
        self._aliases: dict[int, Alias] = {}
        self._inputs: list[tuple[Node, Alias, Tensor]] = []
        self._places: dict[int, Any] = {}
        self._found: dict[int, list[Tensor]] = {}  # what the function finds elsewhere, by its memory
        self._called, self._touched = "", set[int]()  # the call that is made, and the memory that it writes
        self._views, self._records = views, is_grad_enabled()
        self._settings = Settings()
        try:
            with _told_of_writes(self._before_write):
                super().__init__(f, args)
            self._settings.check()
        finally:
            self._settings.restore()
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

    def call_node(self, call: Call, instead: dict[int, Node], suffix: str = "") -> Node:
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

    def view_node(self, call: Call, instead: dict[int, Node]) -> Node:
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
            self._found.setdefault(memory_of(all_of(x)), []).append(x)
        elif self._places[id(x)] != place_of(x):
            raise NotImplementedError("functionalize(): the function gave a tensor other memory, as by setting its .data")
        if not alias.memory.is_found and isinstance(x.grad_fn, BackwardCFunction):
            raise NotImplementedError(f"functionalize(): the graph doesn't have the backward of {x.grad_fn.name()}")
        if not alias.memory.is_found and x.requires_grad and x.is_leaf:
            raise NotImplementedError(f"functionalize(): the function makes a leaf that requires grad, maybe by {_TRANSFORMS}")
        return self._current(alias)

    def _check_found(self, x: Tensor) -> None:
        """NotImplementedError for a tensor in the memory of another one that no operation made, as x.data is."""
        for other in self._kept:
            if isinstance(other, Tensor) and not self._aliases[id(other)].memory.is_found and share(x, other):
                raise NotImplementedError(
                    f"functionalize(): a tensor in the memory of another one, made by what is no operation: {_TRANSFORMS}"
                )

    def check_against(self, again: _Recording) -> None:
        if not self.finds_the_same(again):
            raise NotImplementedError(f"functionalize(): the function makes a tensor by what is no operation: {_TRANSFORMS}")

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
        self._called, self._touched = name, set()
        self._settings.before_call((args, kwargs))
        tree_map(self._argument, (args, kwargs))  # what is found elsewhere gets its node before anything is written
        targets = targets_of(call)
        for x in targets:
            self._check_own(name, x)
        return self._written(call, targets) if targets else self._computed(call)

    def _before_write(self, array: np.ndarray) -> None:
        """NotImplementedError if what will be written is found elsewhere, though the call doesn't say that it writes."""
        self._touched.add(memory_of(array))
        for x in self._found.get(memory_of(array), ()):
            if np.may_share_memory(all_of(x), array):
                self._check_own(self._called, x)

    def _as_recorded(self, node: Node, given: Any) -> Node:
        """The node, without the way of gradients if there is none in the function: within no_grad()."""
        if self._records and not is_grad_enabled() and any(x.requires_grad for x in tensors_in(given)):
            return self.new(aten.detach, node)
        return node

    def _check_own(self, name: str, x: Tensor) -> None:
        if self._aliases[id(x)].memory.is_found:
            raise NotImplementedError(
                f"functionalize(): {name}() writes to a tensor that the function finds elsewhere: make it an argument"
            )

    def _written(self, call: Call, targets: list[Tensor]) -> Any:
        """A call that says what it writes: the value is that of the call that returns it instead."""
        function, args, kwargs = call
        name, instead = name_of(function), without_write(call)
        if self._records and not is_grad_enabled() and any(x.requires_grad for x in targets):
            raise NotImplementedError(f"functionalize(): {name}() writes within no_grad() to a tensor that requires grad")
        node = self._as_recorded(self._value_node(instead), list(tensors_in((args, kwargs))))
        before = [(x.detach(), place_of(x), x.requires_grad) for x in targets]
        result = function(*args, **kwargs)
        self._settings.after_call()
        several = isinstance(kwargs.get("out"), (tuple, list))
        for i, (x, (earlier, place, required)) in enumerate(zip(targets, before, strict=True)):
            if place_of(x) != place and "out" not in kwargs:
                self._view_in_place(call, earlier)
            elif memory_of(all_of(x)) not in self._touched:
                if required and not x.requires_grad:  # detach_()
                    self._view_in_place(call, earlier)
            else:
                value = self.part_of(node, i) if several else node
                if several or dtype_of_value(instead) != x.dtype:
                    value = self.new(aten.to, value, x.dtype)
                if place_of(x) == place:
                    self._write(self._aliases[id(x)], value)
                else:
                    self._resized(name, x, value)
        return result

    def _value_node(self, call: tuple[Any, tuple[Any, ...], dict[str, Any]]) -> Node:
        """The node of a call of `without_write`."""
        function, args, kwargs = call
        if not hasattr(function, "overloads"):
            return self.call_node(call, {})
        given, named = tree_map(self._argument, (args, kwargs))
        return self.new(function, *given, **named)

    def _view_in_place(self, call: Call, earlier: Tensor) -> None:
        """The tensor became a view of what it was, as by t_(); NotImplementedError if it got other memory, as by resize_()."""
        function, args, kwargs = call
        x, twin, before = args[0], twin_of(function).op, self._aliases[id(args[0])]
        if name_of(twin) == name_of(function):
            raise NotImplementedError(f"functionalize(): the function calls {name_of(function)}(), which is no operation")
        if any(before is alias for _, alias, _ in self._inputs):
            raise NotImplementedError(f"functionalize(): {function.__name__}() changes the shape of an argument")
        self._check_strides(twin, before, earlier)
        self._add(earlier, before)
        view = View(self, (twin, (earlier, *args[1:]), kwargs), earlier, None, x)
        self._add(x, Alias(before.memory, view.again(self._current(before)), before, view))

    def _check_strides(self, function: Callable[..., Any], alias: Alias, x: Tensor) -> None:
        """NotImplementedError for strides in a memory that nodes have another view of."""
        if name_of(function) == "as_strided" and not (alias.parent is None and x.is_contiguous()):
            raise NotImplementedError("functionalize(): as_strided() of a view, or of a tensor that is not in C order")

    def _resized(self, name: str, x: Tensor, value: Node) -> None:
        """out= got another shape, and other memory."""
        if any(self._aliases[id(x)] is alias for _, alias, _ in self._inputs):
            raise NotImplementedError(f"functionalize(): {name}(out=) changes the shape of an argument")
        self._add(x, Alias(Memory(value), value))

    def _computed(self, call: Call) -> Any:
        """A call whose results are new tensors or views. One that writes to arguments all the same, as batch_norm() does to
        its statistics, is given copies of these in the graph."""
        function, args, kwargs = call
        given = {id(x): x for x in tensors_in((args, kwargs))}
        versions = {key: version_of(x) for key, x in given.items()}
        before = {key: self._current(self._aliases[key]) for key in given}
        result = function(*args, **kwargs)
        written = [x for key, x in given.items() if version_of(x) != versions[key]]
        if any(result is x for x in written):
            raise NotImplementedError(f"functionalize(): {function.__name__}() writes to its argument, and doesn't say so")
        if not written and not list(tensors_in(result)):  # only reads
            return result
        self._settings.after_call()
        copies = {id(x): self.new(aten.clone, before[id(x)]) for x in written}
        self._note_results(call, result, list(given.values()), copies)
        for x in written:
            self._write(self._aliases[id(x)], copies[id(x)])
        return result

    def _note_results(self, call: Call, result: Any, given: list[Tensor], copies: dict[int, Node]) -> None:
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

    def _note_result(self, call: Call, x: Tensor, node: Node | None, parent: Tensor | None, part: int | None) -> None:
        """A new tensor with its node, or a view of `parent`, whose node is made where there is none."""
        if parent is None:
            assert node is not None
            self._add(x, Alias(Memory(node), node))
            return
        above, view = self._aliases[id(parent)], View(self, call, parent, part, x)
        self._check_strides(call[0], above, parent)
        own = view.again(self._current(above)) if node is None else node
        self._add(x, Alias(above.memory, self._as_recorded(own, call[1:]), above, view))


@contextmanager
def _told_of_writes(watcher: Callable[[np.ndarray], None]) -> Iterator[None]:
    """Within it, `watcher` is called with each array before this thread writes to it."""
    thread = get_ident()

    def of_this_thread(array: np.ndarray) -> None:
        if get_ident() == thread:
            watcher(array)

    add_watcher(of_this_thread)
    try:
        yield
    finally:
        remove_watcher(of_this_thread)


def functional_module(f: Callable[..., Any], args: tuple[Any, ...], views: bool) -> Any:
    """A GraphModule of what f calls with these arguments, without writes but those to arguments at the end."""
    with calls_handed_to(None):
        return _module_of(f, lambda: _Functional(f, args, views))
