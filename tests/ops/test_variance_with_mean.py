"""var_mean and std_mean: one node with two outputs, whose gradients are those of the two functions together."""

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy.autograd import forward_ad, gradcheck, gradgradcheck

PAIRS = {"var_mean": ("var", "VarMeanBackward0"), "std_mean": ("std", "StdMeanBackward0")}
CALLS = [{}, {"dim": 0}, {"dim": (0, -1), "keepdim": True, "correction": 0}, {"dim": 1, "unbiased": False}]
DTYPES = ["float16", "float32", "float64", "complex64", "complex128"]

each_pair = pytest.mark.parametrize("name", PAIRS)
each_call = pytest.mark.parametrize("call", CALLS, ids=str)


def leaf(dtype="float64", shape=(5, 3, 4)):
    torch.manual_seed(1)
    return torch.randn(*shape, dtype=torch.complex128 if "complex" in dtype else torch.float64).to(
        getattr(torch, dtype)).requires_grad_()


def apart(name, x, **call):
    """The same two results, from two operations."""
    unbiased = {"correction": int(call["unbiased"])} if "unbiased" in call else {}
    rest = {key: value for key, value in call.items() if key != "unbiased"}
    dims = {key: value for key, value in rest.items() if key != "correction"}
    return getattr(torch, PAIRS[name][0])(x, **rest, **unbiased), torch.mean(x, **{"dim": None, **dims})


@each_pair
def test_one_node_with_two_outputs(name):
    x = leaf()
    spread, mean = getattr(torch, name)(x, dim=0)
    assert spread.grad_fn is mean.grad_fn
    assert spread.grad_fn.name() == PAIRS[name][1]
    assert (spread.output_nr, mean.output_nr) == (0, 1)
    assert [tuple(entry.shape) for entry in mean.grad_fn._input_metadata] == [(3, 4), (3, 4)]


@each_pair
@pytest.mark.parametrize(("wanted", "seen"), [((True, True), "11"), ((True, False), "10"), ((False, True), "01")])
def test_prehooks_see_both_gradients(name, wanted, seen):
    x, found = leaf(), []
    outputs = getattr(torch, name)(x, dim=0)
    outputs[0].grad_fn.register_prehook(lambda gradients: found.append(["01"[g is not None] for g in gradients]))
    sum(y.sum() for y, used in zip(outputs, wanted, strict=True) if used).backward()
    assert found == [list(seen)]


@each_pair
def test_prehooks_replace_both_gradients(name):
    x, y = leaf(), leaf()
    outputs = getattr(torch, name)(x, dim=0)
    outputs[0].grad_fn.register_prehook(lambda gradients: tuple(g * 2 for g in gradients))
    sum(outputs).sum().backward()
    (2 * sum(apart(name, y, dim=0))).sum().backward()
    torch.testing.assert_close(x.grad, y.grad)


@each_pair
def test_unpack_hooks_run_once_and_may_register_a_post_hook(name):
    x, y, unpacked = leaf(), leaf(), []

    def unpack(tensor):
        unpacked.append(tensor.shape)
        torch._C._current_autograd_node().register_hook(lambda results, _: tuple(r / 2 for r in results))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        outputs = torch.var_mean(x, dim=0)
    sum(outputs).sum().backward()
    sum(apart("var_mean", y, dim=0)).sum().backward()
    assert unpacked == [(5, 3, 4)]
    torch.testing.assert_close(x.grad, y.grad / 2)


@each_pair
@each_call
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("used", [(0, 1), (0,), (1,)])
@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_are_those_of_the_two_operations(name, call, dtype, used, create_graph):
    x = leaf(dtype)
    found, wanted = ([f(x)[k] for k in used] for f in (
        lambda x: getattr(torch, name)(x, **call), lambda x: apart(name, x, **call)))
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype is b.dtype
        np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())
    gradients = [torch.rand_like(y) for y in found]
    ours, = torch.autograd.grad(found, x, gradients, create_graph=create_graph)
    theirs, = torch.autograd.grad(wanted, x, gradients, create_graph=create_graph)
    torch.testing.assert_close(ours, theirs)


@each_pair
@each_call
def test_all_derivatives(name, call):
    x = leaf(shape=(3, 2, 2))
    gradcheck(lambda x: getattr(torch, name)(x, **call), (x,), check_forward_ad=True, check_batched_grad=True)
    gradgradcheck(lambda x: getattr(torch, name)(x, **call), (x,), check_fwd_over_rev=True, check_batched_grad=True)


@each_pair
def test_tangents(name):
    x, t = leaf().detach(), leaf().detach() * 0.5 + 1
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, t)
        found = [forward_ad.unpack_dual(y).tangent for y in getattr(torch, name)(dual, dim=0)]
        wanted = [forward_ad.unpack_dual(y).tangent for y in apart(name, dual, dim=0)]
    torch.testing.assert_close(found, wanted)


@each_pair
@pytest.mark.parametrize("call", [{}, {"dim": 0}, {"dim": (0, 1), "keepdim": True}, {"unbiased": False}], ids=str)
def test_of_each_sample(name, call):
    x = leaf()
    found = torch.func.vmap(lambda r: getattr(torch, name)(r, **call))(x)
    wanted = [torch.stack(rows) for rows in zip(*[getattr(torch, name)(r, **call) for r in x], strict=True)]
    torch.testing.assert_close(list(found), wanted)
    gradients = torch.func.vmap(torch.func.grad(lambda r: sum(getattr(torch, name)(r, **call)).sum()))(x.detach())
    torch.testing.assert_close(gradients, torch.stack([
        torch.func.grad(lambda r: sum(getattr(torch, name)(r, **call)).sum())(r) for r in x.detach()]))


def test_equal_elements_leave_the_gradient_of_the_mean():
    """The deviation of equal elements has the gradient 0, which is added to that of the mean."""
    x = torch.ones(4, requires_grad=True)
    sum(torch.std_mean(x)).backward()
    assert x.grad.tolist() == [0.25] * 4


@pytest.mark.parametrize("name", PAIRS)
def test_zeros_stay_under_safe_where(name):
    """Two equal numbers have an infinite derivative without degrees of freedom: 0 times it does not reach the mean's."""
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    with pytest.warns(UserWarning, match="degrees of freedom"):
        spread, mean = getattr(torch, name)(x, correction=2)
    with torch.autograd.safe_where():
        (spread.where(torch.tensor(False), 0) + mean).backward()
    assert x.grad.tolist() == [0.5, 0.5]


def test_writing_to_an_output():
    """std_mean saved its deviation, no other output."""
    x = leaf(shape=(4,))
    for name, k in (("var_mean", 0), ("var_mean", 1), ("std_mean", 1)):
        outputs = getattr(torch, name)(x)
        outputs[k].mul_(2)
        found, = torch.autograd.grad(sum(outputs), x)
        both = list(apart(name, x))
        both[k] = both[k] * 2
        torch.testing.assert_close(found, torch.autograd.grad(sum(both), x)[0])
    spread, mean = torch.std_mean(x)
    spread.add_(1)
    with pytest.raises(RuntimeError, match="output 0 of StdMean"):
        (spread + mean).backward()


@each_pair
def test_integers_are_refused_by_name(name):
    with pytest.raises(RuntimeError, match=f"{name} only support floating point and complex dtypes"):
        getattr(torch, name)(torch.ones(3, dtype=torch.int64))
