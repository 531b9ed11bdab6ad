"""allow_mutation_on_saved_tensors: what is saved is cloned before it is written."""

import gc
import math
import weakref

import pytest
from common import differs, in_threads, leaf

import autograd_cy as torch

allowed = torch.autograd.graph.allow_mutation_on_saved_tensors


def write(tensor, value=0.0):
    with torch.no_grad():
        tensor.fill_(value)


def test_an_input_is_cloned_before_it_is_written():
    x = leaf([1.0, 2.0])
    with allowed() as ctx:
        y = (x * x).sum()
        assert (len(ctx.original), len(ctx.cloned)) == (1, 0)
        write(x)
        assert (len(ctx.original), len(ctx.cloned)) == (0, 1)
        y.backward()
        assert (len(ctx.original), len(ctx.cloned)) == (0, 0)
    assert x.grad.tolist() == [2.0, 4.0]


def test_an_output_is_cloned():
    x = leaf([1.0, 2.0])
    with allowed() as ctx:
        y = x.exp()
        z = y.sum()
        write(y)
        assert len(ctx.cloned) == 1
        z.backward()
    assert x.grad.tolist() == pytest.approx([math.e, math.e**2])


@differs("`allow_mutation_on_saved_tensors`", "a view at another address is not seen")
def test_a_view_writes_the_same_memory():
    x = leaf([1.0, 2.0, 3.0])
    view = x.detach()[1:]
    with allowed() as ctx:
        y = (x * x).sum()
        write(view)
        assert len(ctx.cloned) == 1
        y.backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


def test_the_second_write_clones_nothing():
    x = leaf([1.0, 2.0])
    with allowed() as ctx:
        y = (x * x).sum()
        write(x)
        write(x, 1.0)
        assert len(ctx.cloned) == 1
        y.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_saved_before_and_after_a_write():
    x = leaf([1.0, 2.0])
    with allowed() as ctx:
        y = (x * x).sum()
        write(x, 3.0)
        z = (x * x).sum()
        write(x, 5.0)
        assert len(ctx.cloned) == 2
        y.backward()
        z.backward()
    assert x.grad.tolist() == [8.0, 10.0]


def test_what_is_not_written_is_not_cloned():
    x, other = leaf([1.0, 2.0]), leaf([1.0, 2.0])
    with allowed() as ctx:
        y = (x * x).sum()
        write(other)
        assert (len(ctx.original), len(ctx.cloned)) == (1, 0)
        y.backward()


def test_another_part_of_the_memory_is_not_cloned():
    base = torch.zeros(4)
    x = base[:2].requires_grad_()
    with allowed() as ctx:
        y = (x * x).sum()
        base[2:].fill_(1.0)
        assert len(ctx.cloned) == 0
        y.backward()


def test_double_backward():
    x = leaf([2.0])
    with allowed():
        y = x**3
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        write(x)
        (h,) = torch.autograd.grad(g, x)
    assert h.tolist() == [12.0]


def test_contexts_cannot_be_nested():
    message = "contexts cannot be nested"
    with allowed():
        with pytest.raises(RuntimeError, match=message), allowed():
            pass
    with allowed():
        pass


def test_backward_outside():
    x = leaf([1.0])
    with allowed():
        y = x.exp()
    with pytest.raises(AssertionError, match="outside of the 'allow_mutation_on_saved_tensors'"):
        y.backward()


def test_afterwards_writes_are_errors_again():
    x = leaf([1.0])
    with allowed():
        pass
    y = x * x
    write(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_an_exception_ends_the_context():
    with pytest.raises(ZeroDivisionError), allowed():
        raise ZeroDivisionError
    with allowed() as ctx:
        assert len(ctx.original) == 0


@differs("`allow_mutation_on_saved_tensors`", "not seen")
def test_a_write_in_another_thread_is_seen():
    x = leaf([1.0, 2.0])
    with allowed():
        y = (x * x).sum()
        in_threads(1, lambda _: write(x))
        y.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_the_context_holds_nothing_afterwards():
    x = leaf([1.0, 2.0])
    with allowed() as ctx:
        y = x.exp()
        write(y)
    ref = weakref.ref(y)
    del y
    gc.collect()
    assert ref() is None
    assert len(ctx.cloned) == 0
