"""view_as_complex views pairs that begin at even elements of the memory, as in PyTorch."""

import pytest

import autograd_cy as ag


@pytest.mark.parametrize("x", [
    ag.ones(2, 4)[:, 2:], ag.ones(7)[:6].view(3, 2), ag.ones(1, 3)[:, :2], ag.ones(2, 2, 2).transpose(0, 1),
    ag.ones(2).expand(3, 2), ag.ones(0, 2),
])  # fmt: skip
def test_pairs_at_even_places_are_viewed(x):
    found = ag.view_as_complex(x)
    assert found.shape == x.shape[:-1] and found.data_ptr() == x.data_ptr() and found._is_view()


@pytest.mark.parametrize(("x", "text"), [
    (ag.ones(6)[1:5].view(2, 2), "Tensor must have a storage_offset divisible by 2"),
    (ag.ones(2, 4)[:, 1:3], "Tensor must have a storage_offset divisible by 2"),
    (ag.ones(2, 3)[:, :2], "Tensor must have a stride divisible by 2 for all but last dimension"),
    (ag.ones(2, 4)[:, ::2], "Tensor must have a last dimension with stride 1"),
])  # fmt: skip
def test_others_are_refused(x, text):
    with pytest.raises(RuntimeError, match=text):
        ag.view_as_complex(x)
