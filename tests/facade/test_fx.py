"""torch.fx: modules and functions as graphs that are read, changed, run and written as code."""

import copy
import math
import operator
import pickle
from typing import get_args

import pytest

import autograd_cy as torch
from autograd_cy import fx, nn

F = nn.functional


class Small(nn.Module):
    """A module with all kinds of nodes."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 3)
        self.blocks = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("shift", torch.zeros(3))

    def forward(self, x, times=2, *, flag=True):
        y = F.relu(self.blocks(self.linear(x)) * self.scale + self.shift)
        y = y + self.scale.sum()
        return torch.cat([y, y.exp()], dim=-1) * times, y.shape[0], y[:, 0]


class Wide(nn.Module):
    """Functions of networks, as code names them."""

    def forward(self, x):
        a = F.softmax(F.dropout(x, 0.3, training=False), dim=-1)
        b = F.gelu(F.linear(a, torch.ones(2, 2)))
        c = F.layer_norm(b, (2,)).view(x.shape[0], -1)
        return c.to(torch.float64).clamp(min=0).T, -a, abs(1 - b), a @ b.T, math.sqrt(4.0)


def same(found, expected):
    if isinstance(expected, torch.Tensor):
        return torch.equal(found, expected)
    if isinstance(expected, (tuple, list)):
        return len(found) == len(expected) and all(map(same, found, expected))
    return found == expected


@pytest.mark.parametrize("module", [Small, Wide, lambda: nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2), nn.Tanh())])
def test_a_traced_module_does_what_the_module_does(module):
    torch.manual_seed(0)
    module, x = module(), torch.randn(3, 2)
    traced = fx.symbolic_trace(module)
    traced.graph.lint()
    assert same(traced(x), module(x))
    assert same(fx.Interpreter(traced).run(x), module(x))
    assert same(fx.Transformer(traced).transform()(x), module(x))
    assert set(traced.state_dict()) <= set(module.state_dict())


def test_the_graph_and_its_code():
    traced = fx.symbolic_trace(Small())
    lines = str(traced.graph).splitlines()
    assert lines[:3] == [
        "graph():",
        "    %x : [num_users=1] = placeholder[target=x]",
        "    %times : [num_users=1] = placeholder[target=times](default=2)",
    ]
    assert "    %blocks_0 : [num_users=1] = call_module[target=blocks.0](args = (%linear,), kwargs = {})" in lines
    assert (
        "    %relu : [num_users=1] = call_function[target=torch.nn.functional.relu](args = (%add,), kwargs = {inplace: False})"
        in lines
    )
    code = traced.code.splitlines()
    assert code[:3] == ["", "", ""]
    assert '    blocks_0 = getattr(self.blocks, "0")(linear);  linear = None' in code
    assert "    mul = blocks_1 * scale;  blocks_1 = None" in code
    assert str(traced).endswith("# To see more debug info, please use `graph_module.print_readable()`")


def test_gradients_reach_the_parameters_of_the_module():
    module = Small()
    fx.symbolic_trace(module)(torch.ones(1, 2))[0].sum().backward()
    assert module.scale.grad is not None and module.linear.weight.grad is not None


def test_values_decide_nothing():
    for function in (lambda x: 1 if x > 0 else 2, lambda x: list(x), lambda x: 1 in x):
        with pytest.raises(fx.proxy.TraceError):
            fx.symbolic_trace(function)
    with pytest.raises(RuntimeError, match="'len' is not supported in symbolic tracing by default"):
        fx.symbolic_trace(lambda x: len(x))
    with pytest.raises(TypeError):
        fx.symbolic_trace(lambda x: x.__setitem__(0, 1) if False else operator.setitem(x, 0, 1))


def test_unpacking_takes_as_many_items_as_there_are_names():
    def halves(x):
        a, b = x.chunk(2)
        return b - a

    traced = fx.symbolic_trace(halves)
    assert [n.name for n in traced.graph.nodes] == ["x", "chunk", "getitem", "getitem_1", "sub", "output"]
    assert traced(torch.tensor([1.0, 4.0])).tolist() == [3.0]


def test_nodes_are_inserted_replaced_and_erased():
    traced = fx.symbolic_trace(lambda x: torch.exp(x) + 1)
    graph = traced.graph
    node = graph.find_nodes(op="call_function", target=torch.exp)[0]
    with graph.inserting_after(node):
        new = graph.call_function(torch.sin, (node.args[0],))
    with pytest.raises(RuntimeError, match="still had 1 users"):
        graph.erase_node(node)
    assert node.replace_all_uses_with(new) == [graph.find_nodes(op="call_function", target=operator.add)[0]]
    graph.erase_node(node)
    graph.lint()
    traced.recompile()
    assert traced(torch.zeros(2)).tolist() == [1.0, 1.0] and len(graph.nodes) == 4
    with graph.inserting_before(new):
        graph.call_function(torch.cos, (new.args[0],))
    assert graph.eliminate_dead_code() and not graph.eliminate_dead_code()
    assert [n.name for n in graph.nodes] == ["x", "sin", "add", "output"]


def test_a_graph_out_of_order_is_refused():
    traced = fx.symbolic_trace(lambda x: torch.exp(torch.sin(x)))
    first, second = [n for n in traced.graph.nodes if n.op == "call_function"]
    second.append(first)
    with pytest.raises(RuntimeError, match="was used before it has been defined"):
        traced.graph.lint()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), copy.copy])
def test_copies(copied):
    traced, x = fx.symbolic_trace(Small()), torch.ones(2, 2)
    made = copied(traced)
    assert made.code == traced.code and type(made).__name__ == "Small" and same(made(x), traced(x))
    assert [n.name for n in made.graph.nodes] == [n.name for n in traced.graph.nodes]


def test_parts_are_replaced():
    traced = fx.symbolic_trace(lambda x, y: torch.exp(x + y).relu() + torch.exp(y + x))
    found = fx.replace_pattern(traced, lambda a, b: torch.exp(a + b), lambda a, b: torch.sin(a) * b)
    assert len(found) == 2
    x, y = torch.tensor([1.0]), torch.tensor([2.0])
    assert torch.equal(traced(x, y), (torch.sin(x) * y).relu() + torch.sin(y) * x)


def test_a_part_whose_inner_results_are_used_elsewhere_stays():
    traced = fx.symbolic_trace(lambda x: (torch.exp(x).sin(), torch.exp(x)))
    assert len(fx.replace_pattern(traced, lambda a: torch.exp(a).sin(), lambda a: a)) == 1
    traced = fx.symbolic_trace(lambda x: (lambda e: (e.sin(), e))(torch.exp(x)))
    assert fx.replace_pattern(traced, lambda a: torch.exp(a).sin(), lambda a: a) == []


def test_arguments_that_have_values():
    def either(x, twice=True):
        return x * 2 if twice else x.exp()

    traced = fx.symbolic_trace(either, concrete_args={"twice": False})
    assert [n.name for n in traced.graph.nodes] == ["x", "twice_1", "exp", "output"]
    assert traced(torch.zeros(1)).tolist() == [1.0]


def test_slots_of_modules_are_as_before():
    linear = nn.Linear(2, 2)
    fx.symbolic_trace(linear)
    with pytest.raises(NameError):
        fx.Tracer().path_of_module(linear)
    assert "traced" not in nn.Module.__call__.__name__ and linear(torch.ones(1, 2)).shape == (1, 2)


def test_what_calls_know_of_shapes():
    from autograd_cy.fx.passes.shape_prop import ShapeProp

    traced = fx.symbolic_trace(nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten()))
    ShapeProp(traced).propagate(torch.ones(1, 1, 4, 4))
    metas = [n.meta["tensor_meta"] for n in traced.graph.nodes]
    assert [tuple(m.shape) for m in metas] == [(1, 1, 4, 4), (1, 2, 2, 2), (1, 8), (1, 8)]
    assert metas[-1].dtype == torch.float32


def test_arguments_of_nodes_can_not_be_changed_in_place():
    node = fx.symbolic_trace(lambda x: torch.cat([x, x])).graph.find_nodes(op="call_function")[0]
    with pytest.raises(NotImplementedError, match="does not support mutation"):
        node.args[0].append(1)
    assert hash(node.args[0]) == hash((node.args[0][0], node.args[0][1]))


def test_a_table_of_the_nodes(capsys):
    fx.symbolic_trace(lambda x: torch.exp(x)).graph.print_tabular()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["opcode", "name", "target", "args", "kwargs"] and lines[2].startswith("placeholder")


def test_types_of_targets_and_arguments():
    """Tracers are annotated with them."""
    from autograd_cy.fx.node import Argument, BaseArgumentTypes, Target, base_types

    assert set(get_args(BaseArgumentTypes)) == set(base_types) and {str, int, torch.Tensor, torch.dtype} <= set(base_types)
    assert {type(None), slice, *base_types} <= set(get_args(Argument)) and str in get_args(Target)
    for module in (fx.graph, fx.proxy, fx.interpreter):
        assert (module.Argument, module.Target) == (Argument, Target)


def test_regions_of_the_profiler_are_recorded_as_nodes():
    begin, end = torch.ops.profiler._record_function_enter, torch.ops.profiler._record_function_exit

    class Regions(fx.Tracer):
        def trace(self, root, concrete_args=None):
            def enter(region):
                region.handle = self.create_proxy("call_function", begin, (region.name,), {})

            def leave(region, *error):
                end(region.handle)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(torch.profiler.record_function, "__enter__", enter)
                patch.setattr(torch.profiler.record_function, "__exit__", leave)
                return super().trace(root, concrete_args)

    class Step(nn.Module):
        def forward(self, x):
            with torch.profiler.record_function("step"):
                return x.exp()

    graph = Regions().trace(Step())
    graph.eliminate_dead_code()
    assert [node.target for node in graph.nodes] == ["x", begin, "exp", end, "output"]
    with torch.profiler.profile() as prof:
        assert fx.GraphModule(Step(), graph)(torch.zeros(1)).tolist() == [1.0]
    step = prof.key_averages()[0]
    assert (step.key, step.count) == ("step", 1) and {child.name for child in prof.events()[0].cpu_children} == {"aten::exp"}


def test_operations_that_write_are_no_dead_code():
    @torch.library.custom_op("tests_fx::fill_with_one", mutates_args=("x",))
    def fill_with_one(x: torch.Tensor) -> None:
        x.fill_(1)

    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(torch.ops.tests_fx.fill_with_one.default, (x,))
    graph.call_function(torch.ops.aten.exp.default, (x,))
    graph.output(x)
    graph.eliminate_dead_code()
    assert [node.name for node in graph.nodes] == ["x", "fill_with_one_default", "output"]
    assert fx.GraphModule({}, graph)(torch.zeros(2)).tolist() == [1.0, 1.0]
