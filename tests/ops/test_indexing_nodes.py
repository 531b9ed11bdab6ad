"""x[...]: the nodes that record it, what they keep, and writes in between."""

import numpy as np
import pytest
from common import differs, leaf

import autograd_cy as torch

ALL, ENDLESS = slice(None), 2**63 - 1


def index(*values, dtype=torch.int64):
    return torch.tensor(values, dtype=dtype)


SELECT, SLICE, UNSQUEEZE, PICK = "SelectBackward0", "SliceBackward0", "UnsqueezeBackward0", "IndexBackward0"
SIZES = (3, 4)

NODES = {
    "x[1]": (1, [SELECT], {"dim": 0, "index": 1, "self_sym_sizes": SIZES}),
    "x[:, 1]": ((ALL, 1), [SELECT], {"dim": 1, "index": 1, "self_sym_sizes": SIZES}),
    "x[..., 1]": ((..., 1), [SELECT], {"dim": 1, "index": 1}),
    "x[0, 1]": ((0, 1), [SELECT, SELECT], {"dim": 0, "index": 1, "self_sym_sizes": (4,)}),
    "x[1:]": (slice(1, None), [SLICE], {"dim": 0, "start": 1, "end": ENDLESS, "step": 1, "self_sym_sizes": SIZES}),
    "x[:]": (ALL, [SLICE], {"dim": 0, "start": 0, "end": ENDLESS, "step": 1}),
    "x[:2, ::2]": ((slice(2), slice(None, None, 2)), [SLICE, SLICE], {"dim": 1, "step": 2, "self_sym_sizes": (2, 4)}),
    "x[0:3, 1]": ((slice(3), 1), [SELECT], {"dim": 1}),
    "x[None]": (None, [UNSQUEEZE], {"dim": 0}),
    "x[1:, None]": ((slice(1, None), None), [UNSQUEEZE, SLICE], {"dim": 1}),
    "x[...]": (..., ["AliasBackward0"], {}),
    "x[()]": ((), ["AliasBackward0"], {}),
    "x[:, :]": ((ALL, ALL), ["AliasBackward0"], {}),
    "x[i]": (index(0, 1), [PICK], {"self_sym_sizes": SIZES}),
    "x[:, i]": ((ALL, index(0, 1)), [PICK], {"self_sym_sizes": SIZES}),
    "x[1, i]": ((1, index(0, 1)), [PICK, SELECT], {"self_sym_sizes": (4,)}),
    "x[i, 1]": ((index(0, 1), 1), [PICK, SELECT], {"self_sym_sizes": (3,)}),
    "x[1:, i]": ((slice(1, None), index(0)), [PICK, SLICE], {"self_sym_sizes": (2, 4)}),
    "x[True]": (True, [PICK, UNSQUEEZE], {"self_sym_sizes": (1, 3, 4)}),
}


@pytest.mark.parametrize("case", NODES)
def test_nodes(case):
    item, names, saved = NODES[case]
    node = torch.zeros(SIZES).requires_grad_()[item].grad_fn
    for name, value in saved.items():
        assert getattr(node, "_saved_" + name) == value
    for name in names:
        assert node.name() == name
        ((node, _),) = node.next_functions


def test_saved_indices():
    mask, i = torch.tensor([True, False, True]), index(1, 2)
    node = leaf(np.zeros((3, 4)))[mask, i].grad_fn
    assert [t.tolist() for t in node._saved_indices] == [mask.tolist(), i.tolist()]
    first, second = leaf(np.zeros((3, 4)))[:, i].grad_fn._saved_indices
    assert first is None and second.tolist() == [1, 2]


@pytest.mark.parametrize(("item", "name"), [
    (0, "SelectBackwardBackward0"),
    (slice(1, None), "SliceBackwardBackward0"),
    (index(0), "IndexPutImplBackward0"),
])  # fmt: skip
def test_nodes_of_the_second_order(item, name):
    x = leaf([1.0, 2.0])
    y = x[item]
    (g,) = torch.autograd.grad(y, x, torch.ones_like(y).requires_grad_(), create_graph=True)
    assert g.grad_fn.name() == name


# What changes between forward and backward


def test_a_changed_index_is_noticed():
    x, i = leaf([1.0, 2.0]), index(0, 1)
    y = x[i]
    i.add_(1)
    with pytest.raises(RuntimeError, match=r"inplace operation: \[torch.LongTensor \[2\]\] is at version 1"):
        y.backward(torch.ones_like(y))


@differs("targets and indices changed", "shares the memory of an array of int64, and puts the gradient where it says then")
@pytest.mark.parametrize("i", [np.array([0, 0]), np.array([True, False])], ids=["integers", "mask"])
def test_an_array_is_copied_if_a_node_keeps_it(i):
    x = leaf([1.0, 2.0])
    y = x[i]
    i[:] = 1
    y.backward(torch.ones_like(y))
    assert x.grad.tolist() == [float(len(y)), 0.0]


@differs("targets and indices changed", "reads and writes where the index says then")
def test_an_index_changed_behind_our_back_hits_no_foreign_memory():
    memory = np.array([0, 1])
    x, i = leaf([1.0, 2.0]), torch.from_numpy(memory)
    for y in (x[i], x.index_select(0, i), x[i, None]):
        memory[:] = [0, 10**9]
        with pytest.raises(IndexError, match="out of bounds for size 2"):
            y.backward(torch.ones_like(y))
        memory[:] = [0, 1]


def test_the_indices_are_given_up_after_backward():
    y = leaf([1.0, 2.0])[index(0)]
    node = y.grad_fn
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        _ = node._saved_indices


# Assignment

ASSIGNED = {
    "index": (index(0, 2), [0, 2]),
    "index and int": ((index(0, 2), 1), ([0, 2], 1)),
    "two indices": ((index(0, 2), index(1, 1)), ([0, 2], [1, 1])),
    "slice and index": ((ALL, index(3)), (ALL, [3])),
    "mask": (torch.tensor([True, False, True]), [True, False, True]),
    "list of tensors' numbers": ((torch.tensor(1), ...), (1, ...)),
}


@pytest.mark.parametrize("case", ASSIGNED)
def test_assignment_takes_tensors_as_indices(case):
    item, key = ASSIGNED[case]
    x, wanted = leaf(np.zeros((3, 4))), np.zeros((3, 4))
    wanted[key] = 7
    with torch.no_grad():
        x[item] = 7.0
    assert x._version == 1
    np.testing.assert_array_equal(x.detach().numpy(), wanted)
