"""What an error shows of the package: one frame, of what was called; a hook's or a custom Function's frames stay."""

import dis
import inspect
import pickle
import re
import sys
import traceback

import numpy as np
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
    "method": (lambda x: x.view(7), "reshaping.view"),
    "attribute": (lambda x: setattr(x, "grad", 3), "tensor.Tensor.grad.__set__"),
    "in place": (lambda x: x.add_(1), "pointwise_inplace.add_"),
    "loss": (lambda x: F.cross_entropy(x, torch.tensor([0])), "cross_entropy.cross_entropy"),
}


@pytest.mark.parametrize("name", CALLS)
def test_one_frame(name):
    call, function = CALLS[name]
    assert frames_of(call, leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])) == ["<lambda>", function]


A, X = leaf([1.0, 2.0]), leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
COMPLEX = torch.tensor([1j])
forward_ad, grad, graph = torch.autograd.forward_ad, torch.autograd.grad, torch.autograd.graph
BAD_CALLS = [
    lambda: torch.tensor("a"), lambda: torch.tensor([[1], [1, 2]]), lambda: torch.tensor(1, dtype="a"),
    lambda: torch.tensor(1, requires_grad=True), lambda: torch.tensor([2**70]), lambda: torch.as_tensor({}),
    lambda: torch.asarray([1], copy=False), lambda: torch.from_numpy([1]), lambda: torch.from_numpy(np.array(["a"])),
    lambda: torch.zeros(-1), lambda: torch.ones("a"), lambda: torch.empty(2, device="cuda"), lambda: torch.full((2,), "a"),
    lambda: torch.full((2,), 300, dtype=torch.uint8), lambda: torch.eye("a"), lambda: torch.arange("a"),
    lambda: torch.arange(1, 2, -1), lambda: torch.linspace(0, 1, "a"), lambda: torch.zeros_like(1),
    lambda: torch.full_like(A, "a"), lambda: torch.rand_like(1), lambda: torch.manual_seed("a"),
    lambda: torch.rand(-1), lambda: torch.randn(2, generator=1), lambda: torch.randint(2, 1, (2,)), lambda: torch.randperm(-1),
    lambda: torch.set_rng_state(1), lambda: torch.Generator("cuda"), lambda: torch.device("a:b"), lambda: torch.Size(["a"]),
    lambda: torch.set_default_dtype(torch.int64),
    lambda: torch.Tensor("a"), lambda: A.new("a"), lambda: A.new_tensor("a"), lambda: A.new_zeros(-1),
    lambda: A.new_full((2,), "a"), lambda: torch.FloatTensor("a"), lambda: A.item(), lambda: float(A), lambda: int(A),
    lambda: bool(A), lambda: complex(A), lambda: [1][A], lambda: int(COMPLEX), lambda: A.sum(A), lambda: "a" in A,
    lambda: A.size(7), lambda: A.stride(7), lambda: A.to("a"), lambda: A.type("a"), lambda: A.type_as(1), lambda: A.view_as(X),
    lambda: A.reshape_as(X), lambda: A.numpy(), lambda: np.asarray(A), lambda: A.cuda(), lambda: A.register_hook(1),
    lambda: A.detach().retain_grad(), lambda: A.detach().register_hook(print), lambda: setattr(A, "_backward_hooks", 1),
    lambda: (A * 2).register_post_accumulate_grad_hook(print), lambda: (A * 2).grad_fn.register_hook(1),
    lambda: setattr(A, "data", 1), lambda: next(iter(torch.tensor(1.0))), lambda: reversed(A, 1), lambda: ~A,
    lambda: A.backward(), lambda: (A * 2).backward(torch.ones(7)), lambda: A.detach().sum().backward(),
    lambda: torch.autograd.backward("a"), lambda: torch.autograd.backward(A.sum(), inputs=[]),
    lambda: torch.autograd.backward(A.sum(), inputs="a"), lambda: grad(A, A), lambda: grad(1, A), lambda: grad(A.sum(), []),
    lambda: grad(A.sum(), X), lambda: grad(A.sum(), A, materialize_grads=True, allow_unused=False),
    lambda: grad(A.sum(), A, is_grads_batched=True), lambda: torch.autograd.Variable("a"),
    lambda: torch.autograd.gradcheck(torch.exp, 1), lambda: torch.autograd.gradcheck(torch.exp, A, eps="a"),
    lambda: torch.autograd.gradgradcheck(torch.exp, A.detach()), lambda: torch.set_grad_enabled(1),
    lambda: torch.autograd.set_detect_anomaly(1), lambda: torch.set_anomaly_enabled(1),
    lambda: forward_ad.make_dual(A, 1), lambda: forward_ad.make_dual(A, A), lambda: forward_ad.exit_dual_level(),
    lambda: graph.get_gradient_edge(1), lambda: graph.increment_version(1), lambda: graph.register_op_hook(1),
    lambda: graph.register_multi_grad_hook([A], print, mode="a"), lambda: graph.saved_tensors_hooks(1, 2).__enter__(),
    lambda: torch.utils.checkpoint.checkpoint(1, A), lambda: torch.utils.checkpoint.checkpoint_sequential(1, 2, 3),
    lambda: torch.autograd.Function.apply(A), lambda: torch.jit.load("a"), lambda: A.to_sparse_bsr, lambda: F.grouped_mm,
    lambda: torch.autograd.a,
    lambda: torch.nn.quantized, lambda: torch.ones(2, layout=1), lambda: torch.ones(2, foo=1),
    lambda: torch.mm(A, A, out_dtype=1), lambda: torch.sum(A, foo=1), lambda: torch.set_num_threads(0),
    lambda: torch.set_printoptions(profile="a"),
    lambda: pickle.dumps((A * 2).grad_fn),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(BAD_CALLS)))
def test_at_most_one_frame(number):
    """`torch.tensor("a")` showed four, of its helpers, and `x.backward()` five."""
    with pytest.raises(Exception) as found:
        BAD_CALLS[number]()
    frames = [frame for frame, _ in traceback.walk_tb(found.value.__traceback__)]
    names = [frame.f_code.co_name for frame in frames if frame.f_globals["__name__"].startswith("autograd_cy")]
    assert len(names) <= 1, names


def test_backward_is_one_frame():
    y = leaf(2.0).exp()
    y.backward()
    assert frames_of(y.backward) == ["backward"]


def test_frames_of_a_hook_stay():
    def hook(g):
        return g @ g

    x = leaf([1.0, 2.0, 3.0, 4.0])
    y = x.reshape(2, 2)[:, :1].sum(1, keepdim=True) * 2
    y.register_hook(hook)
    names = frames_of(lambda: y.sum().backward())
    assert names == ["<lambda>", "backward", "hook", "tensor.Tensor.__matmul__"]


def test_frames_of_a_custom_function_stay():
    class Refuses(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return helper(x)

    def helper(x):
        return x[7]

    names = frames_of(lambda: Refuses.apply(leaf([1.0, 2.0])))
    assert names == ["<lambda>", "apply", "forward", "helper", "tensor.Tensor.__getitem__"]


@pytest.mark.parametrize("start", ["checkpoint", "gradcheck"])
def test_frames_of_a_function_that_is_called_stay(start):
    def refuses(x):
        return torch.zeros(-1) * x

    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    calls = {
        "checkpoint": lambda: torch.utils.checkpoint.checkpoint(refuses, x, use_reentrant=False),
        "gradcheck": lambda: torch.autograd.gradcheck(refuses, x),
    }
    assert frames_of(calls[start]) == ["<lambda>", start, "refuses", "zeros"]


@pytest.mark.parametrize("name", ["foo", "layout", "pin_memory"])
def test_arguments_that_a_function_does_not_take_show_no_frame(name):
    """As where Python refuses them."""
    assert frames_of(lambda: torch.ones(2, **{name: 1})) == ["<lambda>"]


def test_frames_of_an_override_stay():
    class Refuses(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            raise ValueError(function.__name__)

    x = leaf([1.0]).as_subclass(Refuses)
    assert frames_of(lambda: torch.ones_like(x)) == ["<lambda>", "ones_like", "__torch_function__"]
    assert frames_of(lambda: x.register_hook(print))[-1] == "__torch_function__"


@pytest.mark.parametrize("kind", ["Tensor", "subclass"])
def test_the_steps_for_subclasses_show_no_frame(kind):
    """Once there was a subclass, errors showed `call_with_subclasses` or `overridable.stepped` in place of what was called."""

    class Sub(torch.Tensor):
        pass

    x = leaf([1.0, 2.0]) if kind == "Tensor" else leaf([1.0, 2.0]).as_subclass(Sub)
    assert frames_of(lambda: x.expand(3)) == ["<lambda>", "reshaping.expand"]
    assert frames_of(lambda: x.register_hook(3)) == ["<lambda>", "register_hook"]
    assert frames_of(lambda: x.backward()) == ["<lambda>", "backward"]


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


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="later ones hold the number by other means")
@pytest.mark.parametrize("function", [torch.autograd.backward, torch.autograd.grad, torch.Tensor.backward])
def test_handlers_are_within_256_instructions(function):
    """Beyond, CPython 3.11 needs memory to note where an error came from, and without it tries for ever."""
    code = inspect.unwrap(function).__code__
    entries = dis._parse_exception_table(code)  # type: ignore[attr-defined]
    assert entries
    assert all(entry.end // 2 <= 256 for entry in entries if entry.lasti)
