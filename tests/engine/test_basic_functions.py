"""`_C._functions`: the node classes that scripts name, and Functions whose backward raises or gives nothing."""

import pytest
from common import IS_TORCH, define, leaf

import autograd_cy as torch
from autograd_cy.autograd.function import InplaceFunction, once_differentiable

functions = torch._C._functions


def once(backward):
    return define(lambda ctx, *args: tuple(x * 2 for x in args), once_differentiable(backward))


def test_the_class_of_a_leafs_node():
    node = (leaf(1.0) * 2).grad_fn.next_functions[0][0]
    assert type(node) is functions.AccumulateGrad and node.name() == "torch::autograd::AccumulateGrad"
    assert repr(node).startswith("<AccumulateGrad")
    with pytest.raises((RuntimeError, TypeError)):
        functions.AccumulateGrad()


def test_delayed_error():
    x = leaf([1.0, 2.0])
    y = functions.DelayedError("mine", 1)(x * 2)
    assert y.grad_fn.name() == "torch::autograd::Error" and type(y.grad_fn).__name__ == "Error" and y.tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match=r"^mine"):
        y.sum().backward()
    with torch.no_grad():
        assert functions.DelayedError("mine", 1)(x).requires_grad


def test_delayed_error_of_several():
    x = leaf([1.0, 2.0])
    several = functions.DelayedError("mine", 3)(x * 2, None, torch.ones(2))
    assert [None if y is None else y.output_nr for y in several] == [0, None, 2]
    assert [edge[0] is None for edge in several[0].grad_fn.next_functions] == [False, True, True]
    plain = functions.DelayedError("mine", 1)(torch.ones(2))
    assert plain.grad_fn is None and not plain.requires_grad


def test_delayed_error_refuses():
    with pytest.raises(RuntimeError, match="Requires two arguments, got 0"):
        functions.DelayedError()
    with pytest.raises(RuntimeError, match="argument 'msg' must be a string"):
        functions.DelayedError(3, 1)
    with pytest.raises(TypeError, match="expected 2 arguments, got 1 instead"):
        functions.DelayedError("mine", 2)(torch.ones(1))
    with pytest.raises(TypeError, match="argument 0 is not a Variable"):
        functions.DelayedError("mine", 1)(3)


def test_undefined_grad():
    x, seen = leaf([1.0, 2.0]), []
    y = x * 2
    y.register_hook(seen.append)
    z = functions.UndefinedGrad()(y)
    assert z.grad_fn.name() == "torch::autograd::UndefinedGradBackward" and z.tolist() == [2.0, 4.0]
    z.sum().backward()
    assert seen == [None] and x.grad is None


def test_the_node_of_what_is_once_differentiable():
    x, seed = leaf([1.0, 2.0]), leaf([1.0, 1.0])
    y, z = once(lambda ctx, g, h: (g * 2, None)).apply(x, x * 1)
    (g,) = torch.autograd.grad([y, z], x, [seed, seed], create_graph=True)
    assert g.grad_fn.name() == "torch::autograd::Error" and g.requires_grad and not g.is_leaf
    assert [edge[0] is None for edge in g.grad_fn.next_functions] == [False, True]
    with pytest.raises(RuntimeError, match="differentiate twice a function that was marked with @once_differentiable"):
        g.sum().backward()


def test_inplace_function():
    class F(InplaceFunction):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(1.0)
    F.apply(x).backward()
    assert x.grad.item() == 2.0
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        assert InplaceFunction(True).inplace is True


# what stands for outputs without a gradient


@pytest.mark.parametrize("zeros", [True, False])
def test_materialize_non_diff_grads(zeros):
    seen = []

    def forward(ctx, x):
        assert ctx._materialize_non_diff_grads is True
        ctx._materialize_non_diff_grads = zeros
        constant = x * 1
        ctx.mark_non_differentiable(constant)
        return x * 2, x.to(torch.int64), constant, x * 3

    define(forward, lambda ctx, *g: seen.append(g) or g[0]).apply(leaf([1.0]))[0].backward(torch.ones(1, dtype=torch.float64))
    assert [g is None for g in seen[0]] == [False, not zeros, not zeros, False] and seen[0][3].tolist() == [0.0]


def test_materialize_non_diff_grads_is_a_bool():
    def forward(ctx, x):
        ctx._materialize_non_diff_grads = 3

    with pytest.raises(TypeError, match="set_materialize_non_diff_grads received an invalid combination"):
        define(forward).apply(leaf(1.0))


# nodes in view


def test_node_is_a_virtual_base():
    Node, x = torch.autograd.graph.Node, leaf(1.0)
    y = x * 2
    own = define(lambda ctx, x: x * 2, lambda ctx, g: g).apply(x)
    for node in (y.grad_fn, own.grad_fn, y.grad_fn.next_functions[0][0]):
        assert isinstance(node, Node) and issubclass(type(node), Node) and Node not in type(node).__mro__
    for factory in (functions.DelayedError, functions.UndefinedGrad):
        assert issubclass(factory, Node) and Node not in factory.__mro__
    assert isinstance(functions.DelayedError("mine", 1), Node)
    assert not isinstance(x, Node) and not issubclass(int, Node)
    for abstract in (Node, type("Mine", (Node,), {})):
        with pytest.raises(TypeError, match="Can't instantiate abstract class"):
            abstract()
    assert not isinstance(y.grad_fn, type("Mine", (Node,), {}))


def test_input_metadata():
    x = torch.ones(2, 3, requires_grad=True)
    y = x * torch.ones(4, 1, 3)
    (seen,) = y.grad_fn._input_metadata
    assert list(seen.shape) == [4, 2, 3] and seen.dtype is torch.float32 and seen.device == torch.device("cpu")
    assert not seen.is_nested_tensor
    (of_leaf,) = torch.autograd.graph.get_gradient_edge(x).node._input_metadata
    assert list(of_leaf.shape) == [2, 3]
    parts = x.unbind(0)
    nodes = [part.grad_fn for part in parts]
    assert [list(m.shape) for m in nodes[0]._input_metadata] == [[3], [3]]
    own = define(lambda ctx, x: (x.sum(), x.to(torch.int64)), lambda ctx, g, h: g).apply(x)[0]
    assert list(own.grad_fn._input_metadata[0].shape) == []
    with pytest.raises(AttributeError):
        y.grad_fn._input_metadata = ()


@pytest.mark.skipif(IS_TORCH, reason="PyTorch notes it when it records")
def test_input_metadata_is_noted_when_the_tensor_is_in_hand():
    x = torch.ones(2, requires_grad=True)
    y = x.sin()
    node = (y + 1).grad_fn.next_functions[0][0]
    with pytest.raises(NotImplementedError, match="was asked for its grad_fn"):
        node._input_metadata  # noqa: B018
    assert y.grad_fn is node and len(node._input_metadata) == 1
