"""Modules and functions as graphs, to be read and changed, under the names of torch.fx (facade).

``symbolic_trace(module)`` calls a module with proxies and returns a GraphModule: its ``graph`` has a Node for each call, its
code is what the graph says. A program that decides by values can't be traced.

>>> import autograd_cy as ag
>>> traced = ag.fx.symbolic_trace(ag.nn.Sequential(ag.nn.Linear(2, 1), ag.nn.ReLU()))
>>> [(node.op, node.name) for node in traced.graph.nodes]
[('placeholder', 'input_1'), ('call_module', '_0'), ('call_module', '_1'), ('output', 'output')]
"""

from .._compat import names_later as _names_later
from ._patching import wrap
from ._symbolic_trace import PH as PH
from ._symbolic_trace import Tracer, symbolic_trace
from .graph import CodeGen as CodeGen
from .graph import Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy

__all__ = [
    "PH", "Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer", "has_side_effect", "map_arg",
    "replace_pattern", "symbolic_trace", "wrap",
]  # fmt: skip

__getattr__, __dir__ = _names_later(
    __name__, {"subgraph_rewriter": ["replace_pattern", "subgraph_rewriter"], "passes": [], "experimental": []}
)
