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


def test_internal_names():
    """`_unique`, `_unique2` and `_VF.unique_dim`, which PyTorch's own tests call, were missing."""
    x = torch.tensor([3.0, 1.0, 3.0], requires_grad=True)
    found, inverse = torch._unique(x, sorted=True, return_inverse=True)
    assert (found.tolist(), inverse.tolist()) == ([1.0, 3.0], [1, 0, 1])
    assert found.requires_grad and not inverse.requires_grad
    assert [t.tolist() for t in torch._unique(x)] == [[1.0, 3.0], []]
    assert [t.tolist() for t in torch._unique2(x, return_counts=True)] == [[1.0, 3.0], [], [1, 2]]
    found, inverse, counts = torch._VF.unique_dim(torch.stack([x, x]), 0)
    assert found.requires_grad and (found.tolist(), inverse.tolist(), counts.tolist()) == ([[3, 1, 3]], [0, 0], [2])
    assert torch._VF.lstm is torch.lstm
