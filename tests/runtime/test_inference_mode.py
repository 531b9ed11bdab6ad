"""inference_mode and inference tensors: what they are, and what they refuse."""

import copy
import threading

import pytest
from common import differs, leaf

import autograd_cy as torch

SAVED = "Inference tensors cannot be saved for backward"
WRITTEN = "Inplace update to inference tensor outside InferenceMode is not allowed"


def inferred(*data):
    with torch.inference_mode():
        return torch.tensor(data or [1.0, 2.0, 3.0])


# The mode


def test_the_mode_can_be_asked_for():
    assert not torch.is_inference_mode_enabled()
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()
        with torch.inference_mode(False):
            assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()
        assert torch.is_inference_mode_enabled()
        with torch.enable_grad():
            assert torch.is_inference_mode_enabled() and torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()


def test_switched_off_within_no_grad_it_records():
    with torch.no_grad(), torch.inference_mode(mode=False):
        assert torch.is_grad_enabled() and (leaf(1.0) * 2).requires_grad


@pytest.mark.parametrize("decorator, mode", [
    (torch.inference_mode, True),
    (torch.inference_mode(), True),
    (torch.inference_mode(mode=False), False),
])  # fmt: skip
def test_decorators(decorator, mode):
    @decorator
    def ask():
        return torch.is_inference_mode_enabled(), torch.ones(1).is_inference()

    assert ask() == ask() == (mode, mode) and not torch.is_inference_mode_enabled()


def test_an_exception_ends_it():
    with pytest.raises(KeyError), torch.inference_mode():
        raise KeyError
    assert not torch.is_inference_mode_enabled() and not torch.ones(1).is_inference()


def test_it_belongs_to_its_thread():
    seen = []

    def look():
        seen.append((torch.is_inference_mode_enabled(), torch.ones(1).is_inference()))

    with torch.inference_mode():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen == [(False, False)]


# What is an inference tensor


def test_results_and_new_tensors_are():
    x = leaf([1.0, 2.0])
    with torch.inference_mode():
        made = {
            "created": torch.ones(2),
            "data": torch.tensor([1.0]),
            "operation": x * 2,
            "reduction": x.sum(),
            "clone": x.clone(),
            "comparison": x > 0,
            "product": x @ x,
            "asked for": torch.ones(2, requires_grad=True) * 2,
        }
        with torch.enable_grad():
            made["enable_grad"] = x * 2
    assert {name: (y.is_inference(), y.requires_grad) for name, y in made.items()} == dict.fromkeys(made, (True, False))
    assert torch.is_inference(made["data"]) and not torch.is_inference(x)


def test_views_of_others_are_not():
    x, plain = leaf([[1.0, 2.0]]), torch.ones(2, 2)
    with torch.inference_mode():
        views = [x[0], plain[0], x.detach(), plain.view(4), plain.expand(3, 2, 2), plain.t()]
        views += [*plain.unbind(), *plain.split(1)]
    assert not any(view.is_inference() for view in views)


def test_views_and_aliases_of_them_are():
    a = inferred()
    assert all(view.is_inference() for view in (a[0], a.detach(), a.view(3, 1), a.data))
    assert not a.clone().is_inference() and not copy.deepcopy(a).is_inference()


def test_is_inference_takes_a_tensor():
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        torch.is_inference(3)


def test_no_tangents_are_carried():
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.tensor(2.0), torch.tensor(1.0))
        with torch.inference_mode():
            assert forward_ad.unpack_dual(x * x).tangent is None
        assert forward_ad.unpack_dual(x * x).tangent.item() == 4.0


# What can be done with one


def test_operations_that_save_nothing_are_recorded():
    x, a = leaf([1.0, 1.0, 1.0], torch.float32), inferred()
    y = a + x
    assert y.requires_grad and not y.is_inference()
    y.sum().backward()
    assert x.grad.tolist() == [1.0] * 3


def test_unrecorded_operations_on_them_are_normal():
    y = inferred() * 2
    assert not y.is_inference() and y._version == 0
    assert (y * leaf(2.0, torch.float32)).requires_grad


def test_it_is_written_within_the_mode():
    a, plain, x = inferred(), torch.ones(3), leaf([1.0, 2.0])
    with torch.inference_mode():
        a.add_(1)
        a[0] = 7.0
        plain.mul_(2)
        x.add_(1)
    assert a.tolist() == [7.0, 3.0, 4.0]
    assert plain._version == 1 and x._version == 1 and x.tolist() == [2.0, 3.0]


def test_a_normal_tensor_takes_its_values():
    plain = torch.zeros(3)
    plain.copy_(inferred())
    plain.add_(inferred())
    assert plain.tolist() == [2.0, 4.0, 6.0]


def test_it_may_require_grad_within_the_mode():
    with torch.inference_mode():
        a = torch.ones(2).requires_grad_()
        b = torch.ones(2, requires_grad=True)
        assert not (a * 2).requires_grad
    assert a.requires_grad and a.is_leaf and b.is_inference()
    (a + 1).sum().backward()
    assert a.grad.tolist() == [1.0, 1.0]


def test_backward_within_the_mode():
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    with torch.inference_mode():
        y.backward()
    assert x.grad.tolist() == [2.0, 4.0] and x.grad.is_inference()
    with pytest.raises(RuntimeError, match=WRITTEN):
        (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


# What it refuses


@pytest.mark.parametrize("operation", [
    lambda a, x: a * x,
    lambda a, x: x / a,
    lambda a, x: x @ a,
    lambda a, x: torch.where(a > 0, x, a) * a,
    lambda a, x: (x * a[0]),
])  # fmt: skip
def test_to_be_saved(operation):
    with pytest.raises(RuntimeError, match=SAVED):
        operation(inferred(), leaf([1.0, 2.0, 3.0], torch.float32))


def test_to_be_saved_by_a_function():
    class Times(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, a):
            ctx.save_for_backward(a)
            return x * a

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0], None

    x, a = leaf([1.0, 2.0, 3.0], torch.float32), inferred()
    with pytest.raises(RuntimeError, match=SAVED):
        Times.apply(x, a)
    with torch.inference_mode():
        assert Times.apply(x, a).is_inference()


@differs("what errors tell", "the node isn't named")
def test_the_refusal_names_the_node():
    with pytest.raises(RuntimeError, match=r"clone.*\(MulBackward0 would have saved it\)"):
        inferred() * leaf(1.0)


WRITES = {
    "add_": lambda a: a.add_(1),
    "mul_": lambda a: a.mul_(2),
    "zero_": lambda a: a.zero_(),
    "fill_": lambda a: a.fill_(2.0),
    "copy_": lambda a: a.copy_(torch.zeros(3)),
    "+=": lambda a: a.__iadd__(1),
    "item": lambda a: a.__setitem__(0, 5.0),
    "view": lambda a: a[0].add_(1),
    "detached": lambda a: a.detach().add_(1),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("grad", [True, False])
def test_to_be_written_outside(write, grad):
    a = inferred()
    with pytest.raises(RuntimeError, match=WRITTEN), torch.set_grad_enabled(grad):
        write(a)
    assert a.tolist() == [1.0, 2.0, 3.0]


def test_to_require_grad_outside():
    a = inferred()
    for switch in (lambda: a.requires_grad_(), lambda: setattr(a, "requires_grad", True)):
        with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor outside InferenceMode"):
            switch()
    assert not a.requires_grad and not a.requires_grad_(False).requires_grad


def test_to_count_versions():
    a = inferred()
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        print(a._version)
    with torch.inference_mode(), pytest.raises(RuntimeError, match="do not track version counter"):
        print(a._version)


def test_spares_forget_that_they_were_inference_tensors():
    with torch.inference_mode():
        many = [torch.ones(2) * 2 for _ in range(100)]
    del many
    assert not any((torch.ones(2) * 2).is_inference() for _ in range(100))


def test_out_is_no_inference_tensor_outside_of_inference_mode():
    with torch.inference_mode():
        y = torch.ones(0)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        torch.sin(torch.ones(2), out=y)
    assert y.shape == (0,)


def test_resize_in_place():
    """Refused for a tensor that requires grad; nothing is recorded in inference mode."""
    with torch.inference_mode():
        x = torch.ones(1, 2, 3, requires_grad=True)
        assert x.resize_(1, 2).shape == (1, 2) and x.is_inference() and x.requires_grad
        assert x.resize_as_(torch.ones(2)).shape == (2,)
    with torch.no_grad(), pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        torch.ones(2, requires_grad=True).resize_(1)
