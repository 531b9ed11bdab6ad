"""In-place operations that change the form of a tensor: its sizes, its place in the graph, who saved it, and views."""

import numpy as np
import pytest

import autograd_cy as ag

CALLS = {
    "t_": ((), lambda x: x.t()),
    "transpose_": ((0, 1), lambda x: x.transpose(0, 1)),
    "swapaxes_": ((0, -1), lambda x: x.transpose(0, -1)),
    "swapdims_": ((1, 0), lambda x: x.transpose(0, 1)),
    "unsqueeze_": ((1,), lambda x: x.unsqueeze(1)),
    "squeeze_": ((), lambda x: x.squeeze()),
    "as_strided_": (((2, 2), (1, 1)), lambda x: x.as_strided((2, 2), (1, 1))),
}
NODES = {
    "t_": "TBackward1", "transpose_": "TransposeBackward1", "swapaxes_": "TransposeBackward1",
    "swapdims_": "TransposeBackward1", "unsqueeze_": "UnsqueezeBackward1", "squeeze_": "SqueezeBackward3",
    "as_strided_": "AsStridedBackward1",
}  # fmt: skip
METHODS = pytest.mark.parametrize("name", CALLS)


def leaf(*shape):
    return ag.arange(float(np.prod(shape))).reshape(shape).requires_grad_()


@METHODS
def test_the_tensor_is_what_the_view_is(name):
    arguments, view = CALLS[name]
    x, w = leaf(2, 3), leaf(2, 3)
    y, expected = (x * x), view(w * w)
    assert getattr(y, name)(*arguments) is y
    assert (y.shape, y.stride(), y.tolist()) == (expected.shape, expected.stride(), expected.tolist())
    assert y.grad_fn.name() == NODES[name] and y._version == 1
    (y * y).sum().backward()
    (expected * expected).sum().backward()
    assert x.grad.tolist() == w.grad.tolist()


@METHODS
def test_without_a_graph_and_in_forward_mode(name):
    arguments, view = CALLS[name]
    x = leaf(2, 3).detach()
    assert getattr(x, name)(*arguments) is x and x.grad_fn is None and x._version == 1
    with ag.autograd.forward_ad.dual_level():
        dual = ag.autograd.forward_ad.make_dual(leaf(2, 3).detach(), ag.ones(2, 3) * 2) * 3
        expected = view(dual)
        getattr(dual, name)(*arguments)
        unpack = ag.autograd.forward_ad.unpack_dual
        assert unpack(dual).tangent.tolist() == unpack(expected).tangent.tolist()


@METHODS
def test_leaves_that_require_grad_are_refused(name):
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        getattr(leaf(2, 3), name)(*CALLS[name][0])


def test_who_saved_the_tensor_notices():
    x = leaf(2, 3)
    y = x * 2
    z = y * y
    y.t_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_of_a_view_the_base_stays_as_it_is():
    x = leaf(3, 2)
    base = x * 1
    row, other = base[1:], base[0]
    row.t_()
    (row * ag.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward(retain_graph=True)
    assert x.grad.tolist() == [[0, 0], [1, 3], [2, 4]]
    assert base.shape == (3, 2) and base.grad_fn.name() == "MulBackward0"
    row.mul_(10)
    assert base.tolist() == [[0, 1], [20, 30], [40, 50]]
    other.sum().backward(retain_graph=True)
    base.sum().backward()
    assert x.grad.tolist() == [[2, 2], [11, 13], [12, 14]]


def test_views_of_a_tensor_that_changes_lead_to_its_new_place():
    x = leaf(2, 3)
    base = x * 1
    row = base[1]
    base.t_()
    base.mul_(2)
    (row * row).sum().backward()
    assert row.tolist() == [6, 8, 10] and x.grad.tolist() == [[0, 0, 0], [24, 32, 40]]


def test_hooks_and_retained_gradients_move_on():
    x = leaf(2, 3)
    y = x * 1
    y.retain_grad()
    y.t_()
    (y * 2).sum().backward()
    assert y.grad.shape == (3, 2)


def test_fill_diagonal_and_resize_as():
    for shape, wrap in (((3, 3), False), ((7, 3), True), ((2, 4), False), ((2, 2, 2), False), ((7, 3), False)):
        x, want = ag.zeros(*shape), np.zeros(shape)
        if len(shape) == 2:
            np.fill_diagonal(want, 5, wrap)
        else:
            want[0, 0, 0] = want[1, 1, 1] = 5
        assert x.fill_diagonal_(5, wrap) is x
        np.testing.assert_array_equal(x.numpy(), want)
    x = leaf(2, 2)
    y = x * 1
    y.fill_diagonal_(3)
    y.sum().backward()
    assert x.grad.tolist() == [[0, 1], [1, 0]]
    z = ag.ones(2)
    assert ag.resize_as_(z, ag.ones(3, 1)) is z and z.shape == (3, 1)


def test_gradients_of_overlapping_views_of_a_written_base_are_added_up():
    """Region.embedded wrote them, so that the last one counted."""
    x = leaf(4)
    base = x * 1
    windows = base.unfold(0, 2, 1)
    base.mul_(2)
    windows.sum().backward()
    assert x.grad.tolist() == [2, 4, 4, 2]


@pytest.mark.parametrize("name", [*CALLS, "squeeze_copy"])
def test_an_intermediate_of_a_function_changes_its_form(name):
    """forward runs without grad mode, so the view has no node; what it saves is an intermediate all the same."""
    arguments = CALLS.get(name, ((),))[0]

    class Scaled(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            y = getattr(ag, name)(y) if name == "squeeze_copy" else getattr(y, name)(*arguments)
            ctx.save_for_backward(y)
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0].sum()

    for _ in range(2):
        x = ag.ones(3, 3, requires_grad=True)
        (g,) = ag.autograd.grad(Scaled.apply(x).sum(), x, create_graph=True)
        assert g.tolist() == [[float(2 * CALLS[name][1](x).numel() if name in CALLS else 18)] * 3] * 3
        with pytest.raises(RuntimeError, match="intermediate"):
            g.sum().backward()
