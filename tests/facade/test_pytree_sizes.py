"""torch.Size in nests: a container, as in PyTorch."""

import autograd_cy as ag
from autograd_cy.utils import _pytree


def test_a_size_is_a_tuple_of_its_numbers():
    assert _pytree.tree_leaves(ag.Size([1, 2])) == [1, 2]
    assert _pytree.tree_map(lambda n: n + 1, {"a": ag.ones(3).shape}) == {"a": (4,)}
