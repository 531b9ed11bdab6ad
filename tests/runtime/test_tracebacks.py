"""What an error shows of the package: one frame, of what was called; a hook's or a custom Function's frames stay."""

import re
import traceback

import pytest
from common import leaf

import autograd_cy as torch
from autograd_cy._core.runtime import state

pytestmark = pytest.mark.skipif(state.is_debug_build(), reason="the debug build shows all frames")
F = torch.nn.functional


def frames_of(call, *args):
    """The functions that a call's error came through, from the call on, each with its module."""
    with pytest.raises(Exception) as found:
        call(*args)
    names = [frame.name for frame in traceback.extract_tb(found.value.__traceback__)[1:]]
    return [re.sub(r"^autograd_cy\._core\.(ops\.)?\w+\.", "", name) for name in names]


CALLS = {
    "operator": (lambda x: x @ x, "tensor.Tensor.__matmul__"),
    "reflected operator": (lambda x: 2 - x.to(torch.bool), "tensor.Tensor.__rsub__"),
    "broadcasting": (lambda x: x + torch.ones(5), "tensor.Tensor.__add__"),
    "comparison": (lambda x: x < torch.ones(5), "tensor.Tensor.__richcmp__"),
    "sign": (lambda x: -x.to(torch.bool), "tensor.Tensor.__neg__"),
    "item": (lambda x: x[7], "tensor.Tensor.__getitem__"),
    "assignment": (lambda x: x.detach().__setitem__(7, 1), "tensor.Tensor.__setitem__"),
    "function": (lambda x: torch.mul(x, torch.ones(5)), "pointwise.mul"),
    "method": (lambda x: x.view(7), "shape_views.view"),
    "attribute": (lambda x: setattr(x, "grad", 3), "tensor.Tensor.grad.__set__"),
    "in place": (lambda x: x.add_(1), "pointwise_inplace.add_in_place"),
    "loss": (lambda x: F.cross_entropy(x, torch.tensor([0])), "cross_entropy.cross_entropy"),
}


@pytest.mark.parametrize("name", CALLS)
def test_one_frame(name):
    call, function = CALLS[name]
    assert frames_of(call, leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])) == ["<lambda>", function]


def test_the_engine_is_one_frame():
    y = leaf(2.0).exp()
    y.backward()
    assert [name for name in frames_of(y.backward) if name.startswith("engine.")] == ["engine.run_task"]


def test_frames_of_a_hook_stay():
    def hook(g):
        return g @ g

    x = leaf([1.0, 2.0, 3.0, 4.0])
    y = x.reshape(2, 2)[:, :1].sum(1, keepdim=True) * 2
    y.register_hook(hook)
    names = frames_of(lambda: y.sum().backward())
    assert names[-2:] == ["hook", "tensor.Tensor.__matmul__"] and names.count("engine.run_task") == 1


def test_frames_of_a_custom_function_stay():
    class Refuses(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return helper(x)

    def helper(x):
        return x[7]

    names = frames_of(lambda: Refuses.apply(leaf([1.0, 2.0])))
    assert names[-3:] == ["forward", "helper", "tensor.Tensor.__getitem__"]


def test_an_error_that_is_raised_again_keeps_its_frames():
    caught = []

    def hook(g):
        try:
            return g[7]
        except IndexError as error:
            caught.append(error)
            raise

    x = leaf([1.0, 2.0])
    x.register_hook(hook)
    names = frames_of(lambda: (x * 2).sum().backward())
    assert names[-2:] == ["hook", "tensor.Tensor.__getitem__"] and len(caught) == 1


@pytest.mark.parametrize("start", [lambda x: x.backward(), lambda x: torch.autograd.backward(x, torch.ones(7))])
def test_a_backward_that_cannot_start(start):
    """The method, the function, what checks the arguments; and a fourth once a subclass has taken over methods."""
    names = [name for name in frames_of(start, leaf([1.0, 2.0]) * 2)[1:] if name != "overridable.stepped"]
    assert names[-1] == "backward_arguments.make_seeds" and set(names[:-1]) == {"backward"} and len(names) <= 3
