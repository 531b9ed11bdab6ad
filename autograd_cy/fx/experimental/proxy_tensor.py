"""make_fx(): what a function does with its tensors as a graph of operations (facade)."""

import functools
import inspect
import itertools
import operator
from collections.abc import Callable
from typing import Any

from ..._core.graph.tensor import Tensor
from ..._core.ops.overrides import calls_handed_to as _calls_handed_to
from ..._ops import overload_of as _overload_of
from ...nn.modules.module import Module
from ...nn.parameter import Parameter
from ...random import get_rng_state as _get_rng_state
from ...random import set_rng_state as _set_rng_state
from ...utils._pytree import tree_flatten as _tree_flatten
from ...utils._pytree import tree_map as _tree_map
from ..graph import Graph, _TreeCodeGen
from ..graph_module import GraphModule
from ..node import Node

__all__ = ["make_fx"]


def make_fx(f: Callable[..., Any], *_: Any, **options: Any) -> Callable[..., GraphModule]:
    """``make_fx(f)(*args)``: a GraphModule of the operations that f calls with these arguments, each an overload of
    torch.ops.aten.

    f is called twice, with tensors. What decides by values is recorded as it was decided; tensors that f finds elsewhere are
    attributes of the module. Each operation of this package is one node, those that PyTorch composes of others too.
    NotImplementedError where a tensor is made by what is no operation, as a gradient is by backward.

    >>> import autograd_cy as ag
    >>> from autograd_cy.fx.experimental.proxy_tensor import make_fx
    >>> traced = make_fx(lambda x: ag.sin(x) * 2)(ag.zeros(2))
    >>> [str(node.target) for node in traced.graph.nodes]
    ['x_1', 'aten.sin.default', 'aten.mul.Tensor', 'output']
    """

    @functools.wraps(f)
    def traced(*args: Any) -> GraphModule:
        return _module_of(f, lambda: _Recording(f, args))

    return traced


def _module_of(f: Callable[..., Any], record: Callable[[], "_Recording"]) -> GraphModule:
    """The graph of a recorded call as a module; it is recorded twice, from one state of random numbers."""
    state = _get_rng_state()
    first = record()
    _set_rng_state(state)
    first.check_against(record())
    name = type(f).__name__ if isinstance(f, Module) else getattr(f, "__name__", type(f).__name__)
    return GraphModule(first.root, first.graph, name)


class _Recording:
    """One call of a function, and the graph of what it called."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.graph, self.root = Graph(), Module()
        self.constants: list[Tensor] = []
        self._nodes: dict[int, Node] = {}
        self._kept: list[Any] = []  # so that no other object gets the id of one
        names = _parameter_names(f, len(args))
        given = [self._given(name, arg) for name, arg in zip(names, args, strict=True)]
        leaves, spec = _tree_flatten(args)
        if [id(leaf) for leaf in leaves] != [id(arg) for arg in args]:
            self.graph.set_codegen(_TreeCodeGen(names, spec))
        with _calls_handed_to(self._handle, creations=True):
            result = f(*given)
        self.graph.output(_tree_map(self._argument, result))

    def _given(self, name: str, arg: Any) -> Any:
        """An argument with a placeholder for each of its leaves."""
        numbers = itertools.count(1)
        return _tree_map(lambda leaf: self._placeholder(f"{name}_{next(numbers)}", leaf), arg)

    def _placeholder(self, name: str, value: Any) -> Any:
        node = self.graph.placeholder(name)
        if isinstance(value, Tensor):
            value = value.detach().requires_grad_(value.requires_grad)
            self._note(value, node)
        return value

    def _note(self, value: Any, node: Node) -> None:
        self._nodes[id(value)] = node
        self._kept.append(value)

    def _handle(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        target = _overload_of(function, args, kwargs)
        given, named = _tree_map(self._argument, args), _tree_map(self._argument, kwargs)
        result = function(*args, **kwargs)
        if function.__name__ in ("backward", "item", "numpy", "tolist"):
            return result
        node = self.graph.call_function(target, given, named, name=target._opname)
        if isinstance(result, Tensor):
            self._note(result, node)
        elif isinstance(result, (tuple, list)):
            for i, part in enumerate(result):
                if isinstance(part, Tensor):
                    self._note(part, self.part_of(node, i))
        return result

    def part_of(self, node: Node, number: int) -> Node:
        return self.graph.call_function(operator.getitem, (node, number))

    def _argument(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        node = self._nodes.get(id(value))
        if node is None:
            kind = "_param_constant" if isinstance(value, Parameter) else "_tensor_constant"
            name = f"{kind}{sum(hasattr(self.root, f'{kind}{i}') for i in range(len(self.constants)))}"
            setattr(self.root, name, value)
            self.constants.append(value)
            node = self.graph.get_attr(name)
            self._note(value, node)
        return node

    def check_against(self, again: "_Recording") -> None:
        """NotImplementedError for a tensor that f made unseen."""
        if not self.finds_the_same(again):
            raise NotImplementedError(
                "make_fx() sees the calls of operations: the function makes a tensor in another way, as a gradient by "
                "backward() or grad(), or an array of NumPy's"
            )

    def finds_the_same(self, again: "_Recording") -> bool:
        """Whether the tensors that f finds are the same ones in both calls."""
        if len(self.constants) != len(again.constants):
            return False
        return all(x is y for x, y in zip(self.constants, again.constants, strict=True))


def _parameter_names(f: Callable[..., Any], count: int) -> list[str]:
    function = f.forward if isinstance(f, Module) else f
    names: list[str] = []
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            names += [f"{p.name}_{i}" for i in range(count - len(names))]
        elif p.kind is not p.KEYWORD_ONLY and p.kind is not p.VAR_KEYWORD:
            names.append(p.name)
    return names[:count]
