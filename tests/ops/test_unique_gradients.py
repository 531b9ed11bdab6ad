"""Different elements have no derivative: who asks for one is told so, as by PyTorch."""

import pytest

import autograd_cy as torch

fwd = torch.autograd.forward_ad
CALLS = {
    "Unique2Backward0": ("_unique2", lambda x: torch.unique(x)),
    "UniqueDimBackward0": ("unique_dim", lambda x: torch.unique(x, dim=0)),
    "UniqueConsecutiveBackward0": ("unique_consecutive", lambda x: torch.unique_consecutive(x)),
}  # fmt: skip


@pytest.mark.parametrize("node", CALLS)
def test_the_gradient_is_refused(node):
    name, call = CALLS[node]
    x = torch.tensor([1.0, 2.0, 1.0], requires_grad=True)
    y = call(x)
    assert y.grad_fn.name() == node
    with pytest.raises(NotImplementedError, match=f"derivative for '{name}' is not implemented"):
        y.sum().backward()


@pytest.mark.parametrize("node", CALLS)
def test_the_tangent_is_refused(node):
    name, call = CALLS[node]
    with fwd.dual_level(), pytest.raises(NotImplementedError, match=f"forward AD with {name}"):
        call(fwd.make_dual(torch.tensor([1.0, 2.0]), torch.ones(2)))


def test_places_and_counts_have_no_history():
    x = torch.tensor([1.0, 2.0, 1.0], requires_grad=True)
    values, places, counts = torch.unique(x, return_inverse=True, return_counts=True)
    assert [t.requires_grad for t in (values, places, counts)] == [True, False, False]


@pytest.mark.parametrize("node", CALLS)
def test_without_recording_there_is_no_history(node):
    x = torch.tensor([1.0, 2.0, 1.0], requires_grad=True)
    with torch.no_grad():
        assert CALLS[node][1](x).grad_fn is None
    assert CALLS[node][1](x.detach()).grad_fn is None
