"""Sizes of 2**31 and more: of expanded tensors, of tensors without elements, of what doesn't fit into memory.

The values are PyTorch's; the test holds for it as well.
"""

import pytest
from common import IS_TORCH

import autograd_cy as torch

WIDE = 2**31


def one():
    return torch.zeros(1)


RESULTS = {
    "expand": (lambda: (one().expand(WIDE).stride(), one().expand(WIDE).numel()), ((0,), WIDE)),
    "select": (lambda: one().expand(WIDE + 5)[WIDE + 3].item(), 0.0),
    "select the last": (lambda: one().expand(3, WIDE)[1, -1].item(), 0.0),
    "slice": (lambda: sizes(one().expand(WIDE + 5)[WIDE:]), (5,)),
    "slice with a step": (lambda: sizes(one().expand(WIDE + 5)[WIDE::2]), (3,)),
    "sum of a slice": (lambda: (one() + 1).expand(WIDE + 5)[WIDE:].sum().item(), 5.0),
    "view": (lambda: sizes(one().expand(WIDE).view(2, -1)), (2, WIDE // 2)),
    "split": (lambda: [sizes(t) for t in one().expand(WIDE).split(WIDE // 2 + 1)], [(WIDE // 2 + 1,), (WIDE // 2 - 1,)]),
    "transpose": (lambda: sizes(one().expand(3, WIDE).transpose(0, 1)), (WIDE, 3)),
    "unsqueeze, t": (lambda: sizes(one().expand(WIDE).unsqueeze(0).t()), (WIDE, 1)),
    "squeeze": (lambda: sizes(one().expand(1, WIDE).squeeze(0)), (WIDE,)),
    "an index": (lambda: one().expand(WIDE)[torch.tensor([WIDE - 1, 0])].tolist(), [0.0, 0.0]),
    "index_select": (lambda: one().expand(WIDE).index_select(0, torch.tensor([WIDE - 1])).tolist(), [0.0]),
    "gather": (lambda: one().expand(WIDE).gather(0, torch.tensor([WIDE - 1])).tolist(), [0.0]),
    "no elements": (lambda: (sizes(torch.zeros(0, WIDE)), torch.zeros(WIDE, 0).numel()), ((0, WIDE), 0)),
    "their strides": (lambda: torch.zeros(0, WIDE).stride(), (WIDE, 1)),
    "their view": (lambda: sizes(torch.zeros(0).view(0, WIDE)), (0, WIDE)),
    "their sum": (lambda: sizes(torch.zeros(0, WIDE).sum(1)), (0,)),
    "their maximum": (lambda: sizes(torch.zeros(0, WIDE).amax(1)), (0,)),
    "their product with a number": (lambda: sizes(torch.zeros(0, WIDE) * 2), (0, WIDE)),
    "cat": (lambda: sizes(torch.cat([torch.zeros(0, WIDE)] * 2, 1)), (0, 2 * WIDE)),
    "stack": (lambda: sizes(torch.stack([torch.zeros(0, WIDE)] * 2)), (2, 0, WIDE)),
    "t": (lambda: sizes(torch.zeros(0, WIDE).t()), (WIDE, 0)),
    "flatten": (lambda: sizes(torch.zeros(0, WIDE).flatten()), (0,)),
    "eye": (lambda: sizes(torch.eye(0, WIDE)), (0, WIDE)),
    "rand": (lambda: sizes(torch.rand(0, WIDE)), (0, WIDE)),
    "arange": (lambda: torch.arange(WIDE, WIDE + 3).tolist(), [WIDE, WIDE + 1, WIDE + 2]),
}


def sizes(x):
    return tuple(x.shape)


@pytest.mark.parametrize("name", RESULTS)
def test_results(name):
    call, expected = RESULTS[name]
    assert call() == expected


def test_gradient_of_an_expanded_tensor():
    w = torch.zeros(1, 1, requires_grad=True)
    w.expand(0, WIDE).sum().backward()
    assert w.grad.tolist() == [[0.0]]


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.zeros(2**50),
        lambda: torch.empty(2**50),
        lambda: torch.ones(2**50),
        lambda: torch.full((2**50,), 1.0),
        lambda: torch.arange(2**50),
        lambda: torch.linspace(0, 1, 2**50),
        lambda: one().resize_(2**50),
    ],
)
def test_what_does_not_fit(call):
    """A row of docs/differences.md: PyTorch raises RuntimeError for want of memory."""
    with pytest.raises(RuntimeError if IS_TORCH else MemoryError):
        call()


@pytest.mark.skipif(IS_TORCH, reason="the system ends its process")
@pytest.mark.parametrize("with_replacement", [True, False])
def test_choices_that_do_not_fit(with_replacement):
    with pytest.raises(MemoryError, match=r"combinations\(\): no memory for rows of 9223372036854775807 out of 1 elements"):
        torch.combinations(torch.zeros(1), 2**63 - 1, with_replacement)


@pytest.mark.parametrize("call", [lambda: torch.zeros(2**40, 2**40), lambda: torch.zeros(2**62, 2**10, 0)])
def test_what_cannot_be_counted(call):
    """A row of docs/differences.md: an address space that is too small is NumPy's ValueError."""
    with pytest.raises(RuntimeError if IS_TORCH else ValueError):
        call()


def test_more_elements_than_an_address_counts():
    with pytest.raises(ValueError if not IS_TORCH else RuntimeError):
        one().expand(2**40, 2**40).numel()


@pytest.mark.parametrize("call", [lambda: torch.zeros(-WIDE), lambda: one().reshape(WIDE)])
def test_errors(call):
    with pytest.raises(RuntimeError):
        call()


@pytest.mark.parametrize("index", [WIDE + 5, -WIDE - 6])
def test_an_index_out_of_bounds(index):
    with pytest.raises(IndexError, match=f"index {index} is out of bounds for dimension 0 with size {WIDE + 5}"):
        one().expand(WIDE + 5)[index]
