"""Writes that fail, or that are looked at before they are done. The numbers are the cases of NOTE [All or nothing].

Case 1 to 3, with each allocation failing in turn: test_faults.py.
"""

import warnings

import numpy as np
import pytest
from common import IS_TORCH, define, leaf

import autograd_cy as torch

pytestmark = pytest.mark.skipif(IS_TORCH, reason="PyTorch has no such modes, and counts no failed writes")

NAN = float("nan")


def state_of(x):
    return x.tolist(), x._version, x.grad_fn


# 1


def test_a_write_that_a_pack_hook_forbids_changes_nothing():
    def forbid(tensor):
        raise ValueError("no")

    x = leaf([0.5, 1.0]) * 1
    before = state_of(x)
    with pytest.raises(ValueError, match="no"), torch.autograd.graph.saved_tensors_hooks(forbid, forbid):
        x.mul_(leaf([1.0, 2.0]))
    assert state_of(x) == before


def test_a_write_to_what_it_saves_under_guard_is_of_a_copy():
    x = leaf([0.5, 2.0])
    y = x * 1
    with torch.autograd.graph.guard_buffers():
        y.div_(y)
    y.backward(torch.ones(2, dtype=torch.float64))
    assert x.grad.tolist() == [0.0, 0.0]


def test_an_array_that_was_not_locked_for_lack_of_memory_is_writeable():
    x = leaf([0.5, 2.0])
    with torch.autograd.graph.guard_buffers():
        y = (x * 1).exp()
        del y
    x.detach().numpy()[0] = 1.0
    assert x.tolist() == [1.0, 2.0]


# 4


@pytest.mark.parametrize("through", [lambda x: x, lambda x: x[0:1]], ids=["tensor", "view"])
def test_numpys_errors_after_the_write_let_it_be_counted(through):
    x = torch.ones(2) * leaf([1.0, 1.0]).float()
    saved = x.exp()
    place = x.grad_fn
    with torch.no_grad(), np.errstate(over="raise"), pytest.raises(FloatingPointError):
        through(x).copy_(torch.tensor([1e300], dtype=torch.float64))
    assert x._version == 1 and x.grad_fn is place
    assert saved.grad_fn is not None


def test_who_saved_what_numpy_wrote_in_vain_notices():
    x = leaf([1.0, 1.0]).float() * 1
    y = x * x
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        x.copy_(torch.tensor([1e300, 1.0], dtype=torch.float64))
    assert x.grad_fn.name() == "MulBackward0"
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*last written by copy_\(\)"):
        y.sum().backward()


def test_a_warning_that_is_an_error_is_one_of_those():
    x = torch.ones(1)
    with warnings.catch_warnings(), pytest.raises(RuntimeWarning):
        warnings.simplefilter("error")
        x[...] = np.array([1e300])
    assert x._version == 1


def test_what_numpy_refuses_before_it_writes_is_not_counted():
    x = torch.ones(3)
    for index, value in [(np.array([0, 5]), 1.0), (np.array([0, 1]), np.ones(3)), (0, np.ones(2))]:
        with pytest.raises((IndexError, RuntimeError)):
            x[index] = value
    assert x._version == 0 and x.tolist() == [1.0, 1.0, 1.0]


# 5


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(leaf([NAN, 1.0])),
        lambda x: x.copy_(leaf([NAN, 1.0])),
        lambda x: x.fill_(NAN),
        lambda x: x.log_(),
        lambda x: x.__setitem__(0, NAN),
        lambda x: x.masked_fill_(x > 0, NAN),
    ],
    ids=["add_", "copy_", "fill_", "log_", "setitem", "masked_fill_"],
)
def test_a_nan_is_refused_before_it_is_written(write):
    x = leaf([-1.0, 1.0]) * 1
    before = state_of(x)
    with pytest.raises(RuntimeError, match="returned nan values"), torch.autograd.detect_nan():
        write(x)
    assert state_of(x) == before


def test_memory_that_is_written_over_may_hold_nan():
    x = torch.tensor([NAN, NAN])
    with torch.autograd.detect_nan():
        x.copy_(leaf([1.0, 2.0]))
    assert x.tolist() == [1.0, 2.0] and x.grad_fn.name() == "torch::autograd::CopyBackwards"


def test_hooks_on_operations_see_what_will_be_written():
    seen = []
    x = leaf([1.0, 2.0]) * 1
    hook = torch.autograd.graph.register_op_hook(
        lambda node, inputs, output: seen.append((node.name(), inputs[0].tolist(), output.tolist()))
    )
    with hook:
        x.add_(1.0)
        x.fill_(5.0)
    assert [item for item in seen if item[0] != "ToCopyBackward0"] == [
        ("AddBackward0", [1.0, 2.0], [2.0, 3.0]),
        ("FillBackward2", [2.0, 3.0], [5.0, 5.0]),
    ]


def test_alpha_is_kept_beside():
    x = leaf([1.0, 2.0]) * 1
    with torch.autograd.detect_nan():
        x.add_(1.0, alpha=3)
    assert x.grad_fn._saved_alpha == 3


# 6


@pytest.mark.parametrize("view", [False, True])
def test_a_function_whose_outputs_cannot_be_saved_leaves_the_graph_as_it_was(view):
    def forbid(tensor):
        raise ValueError("no")

    def forward(ctx, x):
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x.mul_(2)

    base = leaf([1.0, 2.0]) * 1
    x = base[0:1] if view else base
    place = base.grad_fn
    with pytest.raises(ValueError, match="no"), torch.autograd.graph.saved_tensors_hooks(forbid, forbid):
        define(forward, lambda ctx, g: g * 2).apply(x)
    assert base.grad_fn is place and x.tolist()[0] == 2.0 and x._version == 1


@pytest.mark.parametrize("view", [False, True])
def test_what_a_function_wrote_and_saved_is_not_stale(view):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x.exp_()

    a = leaf([0.0, 1.0])
    base = a * 1
    y = define(forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(base[0:1] if view else base)
    y.sum().backward()
    assert np.allclose(a.grad.numpy(), np.exp([0.0, 1.0]) * [1, not view])
    assert y._version == 2


# 7


def test_out_without_elements_gets_shape_and_elements_at_once():
    out, a = torch.empty(0), torch.ones(2, 3)
    assert torch.add(a, a, out=out) is out
    assert out.tolist() == [[2.0] * 3] * 2 and out._version == 1
    assert not np.shares_memory(torch.t(a, out=torch.empty(0)).numpy(), a.numpy())
