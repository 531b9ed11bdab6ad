"""SavedTensor handles: what a node keeps of one tensor, and hooks on it."""

import pytest
from common import IS_TORCH, SaveBoth, differs, leaf

import autograd_cy as torch

FREED = "Calling register_hooks on a saved tensor after it has been freed"


def same(t):
    return t


def test_a_handle_is_always_the_same_object():
    y = leaf([1.0, 2.0]).exp()
    assert y.grad_fn._raw_saved_result is y.grad_fn._raw_saved_result


def test_data_of_an_input_is_the_tensor_itself():
    x = leaf([1.0, 2.0])
    handle = (x * x).grad_fn._raw_saved_self
    assert handle.data is x
    assert handle.unpack() is x
    assert handle.unpack_hook is None


@differs("`unpack()` of an output's", "SavedTensor.unpack() of an output is an error")
def test_unpack_rebuilds_an_output():
    y = leaf([1.0, 2.0]).exp()
    found = y.grad_fn._raw_saved_result.unpack()
    assert found.grad_fn is y.grad_fn
    assert found.tolist() == y.tolist()


def test_nodes_list_their_handles():
    x = leaf([1.0, 2.0])
    names = dir((x * x).grad_fn)
    assert {"_raw_saved_self", "_raw_saved_other"} <= set(names)
    assert not hasattr(x.sum(0).grad_fn, "_raw_saved_dim")


def test_hooks_replace_what_is_kept():
    x = leaf([1.0, 2.0])
    y = x * x
    handle = y.grad_fn._raw_saved_self
    handle.register_hooks(lambda t: t * 2, lambda t: t / 2)
    assert handle.data.tolist() == [2.0, 4.0]
    assert handle.unpack_hook(torch.ones(1)).item() == 0.5
    assert y.grad_fn._saved_self.tolist() == [1.0, 2.0]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_hooks_on_an_output_reach_backward():
    x = leaf([0.0, 1.0])
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t.tolist(), lambda values: torch.tensor(values, dtype=x.dtype) * 3)
    y.sum().backward()
    torch.testing.assert_close(x.grad, 3 * y.detach()) if IS_TORCH else None
    assert x.grad.tolist() == pytest.approx((3 * y).tolist())


def test_the_pack_hook_sees_an_alias_without_history():
    x = leaf([1.0, 2.0])
    seen = []
    handle = (x * x).grad_fn._raw_saved_self
    handle.register_hooks(lambda t: seen.append((t is x, t.requires_grad, torch.is_grad_enabled())), same)
    assert seen == [(False, False, False)]


def test_unpacked_leaf_still_leads_to_the_leaf():
    x = leaf([1.0, 2.0])
    y = x * x * x
    (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    node = y.grad_fn
    node._raw_saved_other.register_hooks(lambda t: t.clone(), same)
    found = node._saved_other
    assert found is not x
    assert found.is_leaf and found.requires_grad and found.grad is None
    (found * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert g.requires_grad


def test_double_backward_through_hooks():
    x = leaf([1.0, 2.0])
    y = x * x.exp()
    for handle in (y.grad_fn._raw_saved_self, y.grad_fn._raw_saved_other):
        handle.register_hooks(lambda t: t.clone(), same)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    e = x.detach().exp()
    assert h.tolist() == pytest.approx((2 * e + x.detach() * e).tolist())


def test_functions_hand_out_their_handles():
    x = leaf([1.0, 2.0])
    y = SaveBoth.apply(x)
    kept = y.grad_fn._raw_saved_tensors
    assert [h is k for h, k in zip(kept, y.grad_fn._raw_saved_tensors, strict=True)] == [True, True]
    kept[0].register_hooks(lambda t: t + 1, same)
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 6.0]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        _ = y.grad_fn._raw_saved_tensors


def test_indices_have_handles():
    x = leaf([1.0, 2.0, 3.0])
    y = x[torch.tensor([0, 2])]
    (handle,) = y.grad_fn._raw_saved_indices
    handle.register_hooks(lambda t: t - 1, lambda t: t + 1)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 1.0]


class TestErrors:
    def test_second_pair(self):
        x = leaf([1.0])
        handle = (x * x).grad_fn._raw_saved_self
        handle.register_hooks(same, same)
        with pytest.raises(RuntimeError, match="on a saved tensor whose hooks have already been set"):
            handle.register_hooks(same, same)

    def test_after_backward(self):
        x = leaf([1.0])
        y = x.exp()
        handle = y.grad_fn._raw_saved_result
        y.backward()
        with pytest.raises(RuntimeError, match=FREED):
            handle.register_hooks(same, same)
        with pytest.raises(RuntimeError, match=FREED):
            y.grad_fn._raw_saved_result.register_hooks(same, same)
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            _ = y.grad_fn._saved_result

    @differs("hooks on a saved tensor", "no error")
    def test_after_backward_of_a_function(self):
        y = SaveBoth.apply(leaf([1.0]))
        handle = y.grad_fn._raw_saved_tensors[1]
        y.backward()
        with pytest.raises(RuntimeError, match=FREED):
            handle.register_hooks(same, same)

    def test_none(self):
        handle = (leaf([1.0]) * 2).grad_fn._raw_saved_self
        with pytest.raises(RuntimeError, match="Calling register_hooks on a saved tensor with value None is forbidden"):
            handle.register_hooks(same, same)

    def test_a_pack_hook_that_writes(self):
        x = leaf([1.0, 2.0])
        y = x * x
        with pytest.raises(RuntimeError, match="pack hook is modifying its input in place"):
            y.grad_fn._raw_saved_self.register_hooks(lambda t: t.mul_(2), same)

    @differs("hooks on a saved tensor", "the hooks are set all the same")
    def test_a_pack_hook_that_raises_changes_nothing(self):
        x = leaf([1.0, 2.0])
        y = x * x
        with pytest.raises(ZeroDivisionError):
            y.grad_fn._raw_saved_self.register_hooks(lambda t: 1 / 0, same)
        y.sum().backward()
        assert x.grad.tolist() == [2.0, 4.0]

    def test_unpack_returns_something_else(self):
        x = leaf([1.0, 2.0])
        y = x * x
        y.grad_fn._raw_saved_other.register_hooks(same, lambda t: 1)
        with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor but got result of type int"):
            y.sum().backward()

    @differs("hooks on a saved tensor", "wrong values, or an error of the operation")
    def test_unpack_returns_another_shape(self):
        x = leaf([1.0, 2.0])
        y = x.exp()
        y.grad_fn._raw_saved_result.register_hooks(same, lambda t: t[:1])
        with pytest.raises(RuntimeError, match=r"of shape \[2\] .* as ExpBackward0 saved it, but got shape \[1\]"):
            y.sum().backward()

    @pytest.mark.parametrize("hooks", [(1, same), (same, 1), (same,)])
    def test_hooks_that_cannot_be_called(self, hooks):
        x = leaf([1.0])
        with pytest.raises(TypeError):
            (x * x).grad_fn._raw_saved_self.register_hooks(*hooks)

    @differs("hooks on a saved tensor", "what is packed is not checked")
    def test_hooks_on_what_was_written(self):
        x = torch.ones(2).requires_grad_()
        y = x * x
        x.detach().zero_()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.grad_fn._raw_saved_self.register_hooks(same, same)

    def test_made_by_hand(self):
        with pytest.raises(RuntimeError, match="create a SavedTensor object from Python is forbidden"):
            type((leaf([1.0]) * leaf([1.0])).grad_fn._raw_saved_self)()


@differs("`unpack()` of an output's", "SavedTensor.unpack() of an output is an error")
def test_a_handle_outlives_its_node():
    x = leaf([1.0])
    handle = x.exp().grad_fn._raw_saved_result
    assert handle.unpack().item() == pytest.approx(2.718281828)
    handle.register_hooks(same, same)
    assert not handle.unpack().requires_grad
