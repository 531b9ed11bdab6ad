"""Version counters in the user's hands: increment_version, _unsafe_preserve_version_counter."""

import pytest
from common import leaf

import autograd_cy as torch

graph = torch.autograd.graph


def test_increment_version():
    x, y = torch.ones(2), torch.ones(2)
    graph.increment_version(x)
    graph.increment_version([x, y, x])
    graph.increment_version(t for t in (y,))
    assert (x._version, y._version) == (3, 2)
    with torch.inference_mode():
        graph.increment_version(torch.ones(2))


@pytest.mark.parametrize("what, message", [
    (3, r"increment_version expect a Iterable\[Tensor\] as input"),
    ([torch.ones(1), 3], "increment_version expects each element of the iterable to be a tensor"),
])  # fmt: skip
def test_increment_version_refuses(what, message):
    with pytest.raises(RuntimeError, match=message):
        graph.increment_version(what)


def test_what_saved_the_tensor_notices():
    x = leaf([1.0, 2.0]) * 1
    y = (x * x).sum()
    graph.increment_version(x)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        y.backward()


def test_preserved_versions():
    x, y = torch.ones(2), torch.ones(2)
    x.add_(1)
    with torch.autograd._unsafe_preserve_version_counter((x, y)):
        x.add_(1)
        y[0] = 5.0
        assert (x._version, y._version) == (2, 1)
    assert (x._version, y._version) == (1, 0)
    with torch.autograd._unsafe_preserve_version_counter(x):
        x.zero_()
    assert x._version == 1
    for bad in (3, [x]):
        with pytest.raises(AssertionError, match="Expected tensors to be a tuple"):
            torch.autograd._unsafe_preserve_version_counter(bad)


def test_memory_that_is_taken_away_and_put_back():
    """And a later write is noticed as ever, through a view, too."""
    for write in (lambda x: x.mul_(2), lambda x: x[:1].mul_(2)):
        a = leaf([1.0, 2.0])
        x = a * 1
        y = (x * x).sum()
        with torch.no_grad():
            kept = x.clone()
            with torch.autograd._unsafe_preserve_version_counter(x):
                x.zero_()
                x.copy_(kept)
        y.backward(retain_graph=True)
        assert a.grad.tolist() == [2.0, 4.0]
        with torch.no_grad():
            write(x)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


def test_versions_can_be_set():
    x, y = torch.ones(2), torch.ones(2)
    torch._C._autograd._unsafe_set_version_counter((x,), (5,))
    assert x._version == 5
    with pytest.raises(RuntimeError, match="Cannot set a version_counter to a value below 0"):
        torch._C._autograd._unsafe_set_version_counter((y,), (-5,))
    assert y._version == 0
