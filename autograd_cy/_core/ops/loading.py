"""Loading families of operations: their modules are imported, then their functions and nodes get the common parts."""

from itertools import islice
from os.path import dirname

from autograd_cy._core.graph.node import Node, finish_class
from autograd_cy._core.modules import collector_paused, compiled_below
from autograd_cy._core.modules import load as load_module
from autograd_cy._core.ops.overrides import make_overridable
from autograd_cy._core.ops.registry import OPS

_finished = 0  # this many of the table's operations have their steps


def load(*families):
    """load("pointwise", "shapes"): import all modules of these families. Their operations enter the table and get steps."""
    global _finished
    with collector_paused():
        for module in compiled_below(__package__, dirname(__file__)):
            if module.split(".")[-2] in families:
                load_module(module)
    for op in islice(OPS.values(), _finished, None):
        make_overridable(op.function)
    _finished = len(OPS)
    finish_class(Node)
