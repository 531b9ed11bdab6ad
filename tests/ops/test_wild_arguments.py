"""Arguments that crashed the interpreter, hung it, or were taken for something else. Found by the calls of test_garbage.py."""

import numpy as np
import pytest
from common import IS_TORCH, leaf

import autograd_cy as torch


def nested():
    items = [torch.ones(1)]
    items.append(items)
    return items


def test_a_list_that_contains_itself_beside_out_is_refused():
    """It overflowed the stack."""
    with pytest.raises(ValueError, match="contain themselves"):
        torch.mul(torch.ones(2), nested(), out=torch.ones(2))


@pytest.mark.parametrize("factor", [1, torch.ones(2, 2)])
def test_a_number_in_an_older_place_beside_its_keyword_is_refused(factor):
    """It was called again and again."""
    with pytest.raises(TypeError):
        torch.ones(2).add_(2, torch.ones(2), alpha=factor)


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence")
@pytest.mark.parametrize("use", [
    lambda x: x[nested()], lambda x: x.__setitem__(nested(), 1), lambda x: x.__setitem__(0, nested()),
    lambda x: x.add_(nested()),
    lambda x: x.masked_fill_(x > 0, nested()), lambda x: torch.cat(nested()), lambda x: torch.tensor(nested()),
    lambda x: x.copy_(nested()), lambda x: torch.where(x > 0, nested(), x),
])  # fmt: skip
def test_a_list_that_contains_itself_is_refused(use):
    """Whoever walked it overflowed the stack."""
    x = torch.ones(2)
    with pytest.raises((TypeError, ValueError, IndexError, RuntimeError)):
        use(x)
    assert x.tolist() == [1, 1] and x._version == 0


DIMS = [31, 33, 60]


@pytest.mark.parametrize("n", DIMS)
@pytest.mark.parametrize("add", [
    lambda x, i, s: x.index_add(1, i, s), lambda x, i, s: x.scatter_add(1, i.reshape(s.shape), s),
    lambda x, i, s: x.index_put((torch.tensor([0, 0]), i), s.reshape((2,) + s.shape[2:]), accumulate=True),
], ids=["index_add", "scatter_add", "index_put"])  # fmt: skip
def test_adding_to_places_in_many_dimensions(add, n):
    """NumPy's ufunc.at() crashes where there are more than 32."""
    x = torch.zeros((1, 3) + (1,) * (n - 2), dtype=torch.float64, requires_grad=True)
    source = leaf([2.0, 3.0]).reshape((1, 2) + (1,) * (n - 2))
    y = add(x, torch.tensor([2, 2]), source)
    assert y.flatten().tolist() == [0, 0, 5]
    gradients = torch.autograd.grad(y.sum(), [x, source])
    assert [g.sum().item() for g in gradients] == [3, 2]


@pytest.mark.parametrize("use", [
    lambda x: x.reshape("23"), lambda x: x.reshape(2.5, 2), lambda x: x.expand(2.7, 6), lambda x: x.view("6"),
    lambda x: x.flip(range(1)), lambda x: x.permute(range(2**62)), lambda x: torch.zeros("3"),
    lambda x: torch.cat(range(2**62)),
    lambda x: torch.stack(iter([x])), lambda x: torch.cat(x), lambda x: x.permute({0: 1}),
    lambda x: x.flip(torch.tensor([0, 0])),
])  # fmt: skip
def test_sizes_and_dimensions_are_integers_in_a_tuple_or_list(use):
    """Strings and fractions were made integers, and a range or a tensor with many rows walked to its end."""
    with pytest.raises(TypeError):
        use(torch.ones(6))


@pytest.mark.parametrize("shape, dim", [((0, 2**40), 0), ((2**40, 0), 1)], ids=str)
def test_many_rows_of_nothing_take_no_time(shape, dim):
    """cumsum() went along all 2**40 columns."""
    x = torch.ones(1, 0, requires_grad=True).expand(2**40, 0)
    x = x if shape == tuple(x.shape) else x.t()
    assert x.cumsum(dim).shape == shape and x.softmax(dim).shape == shape


@pytest.mark.parametrize("value", [[1, 2], "1", np.ones(2), {}, object()], ids=lambda value: type(value).__name__)
def test_masked_fill_takes_a_number_or_a_tensor(value):
    x = torch.ones(2)
    with pytest.raises((TypeError, RuntimeError)):
        x.masked_fill_(x > 0, value)
    with pytest.raises((TypeError, RuntimeError)):
        torch.masked_fill(x, x > 0, value)
    assert x.tolist() == [1, 1]


@pytest.mark.skipif(IS_TORCH, reason="has no attribute of that name")
@pytest.mark.parametrize("node_class", [5, int, None, object()], ids=["5", "int", "None", "object"])
def test_a_function_whose_node_class_was_replaced(node_class):
    """What stood there was taken for a class of nodes."""
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    Twice._backward_cls = node_class
    with pytest.raises(TypeError, match="must be a subclass of FunctionCtx"):
        Twice.apply(torch.ones(1))


@pytest.mark.skipif(IS_TORCH, reason="has no functions of that name")
@pytest.mark.parametrize("garbage", [4, None, "x", np.ones(2)], ids=lambda value: type(value).__name__)
def test_who_counts_writes_takes_tensors_only(garbage):
    """autograd.graph.count_writes((4, 2)) was a segmentation fault."""
    inplace = pytest.importorskip("autograd_cy._core.writes.inplace")
    x = torch.ones(2)
    with pytest.raises(TypeError):
        inplace.count_writes((garbage,))
    with pytest.raises(TypeError):
        inplace.set_versions((garbage,), (1,))
    with pytest.raises(TypeError):
        inplace.set_versions((x,), ("a",))
    assert x._version == 0


NODE = type(leaf(1.0).exp().grad_fn)
METHODS = sorted(n for n, f in vars(torch.Tensor).items() if callable(f) and not n.startswith("__") and not IS_TORCH)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_of_tensors_refuses_what_is_none(name):
    """`Tensor.zero_(None)` and `Tensor.requires_grad_([])` read the fields of a Tensor where there are none."""
    for wrong in (None, [], 3):
        for arguments in ((), (None,), (2,), (None, None), (0, None, None)):
            try:
                getattr(torch.Tensor, name)(wrong, *arguments)
            except (TypeError, AttributeError, RuntimeError, ValueError, NotImplementedError, IndexError, AssertionError) as e:
                assert str(e)


@pytest.mark.parametrize("call", [
    lambda wrong: torch.utils.hooks.warn_if_has_hooks(wrong), lambda wrong: torch.autograd.graph.unchain(wrong),
    lambda wrong: torch.autograd.graph.unchain_backward(wrong), lambda wrong: NODE.register_hook(wrong, print),
    lambda wrong: torch.autograd.function.FunctionCtx.save_for_backward(wrong, torch.ones(1)),
    lambda wrong: torch.autograd.function.FunctionCtx.mark_dirty(wrong, torch.ones(1)),
    lambda wrong: torch.autograd.SavedTensor.unpack(wrong),
    lambda wrong: torch.autograd.SavedTensor.register_hooks(wrong, id, id),
    lambda wrong: torch.dtype.to_complex(wrong),
])  # fmt: skip
@pytest.mark.parametrize("wrong", [None, [], 3])
def test_functions_and_methods_refuse_what_is_none(call, wrong):
    with pytest.raises(TypeError):
        call(wrong)


@pytest.mark.parametrize("kind", [list, tuple])
def test_there_must_be_something_to_join(kind):
    with pytest.raises(ValueError, match=r"cat\(\): expected a non-empty list of Tensors"):
        torch.cat(kind())
    with pytest.raises(RuntimeError, match=r"stack.* a non-empty"):
        torch.stack(kind())


def test_a_gamma_function_of_too_many_dimensions_is_refused():
    """It took a step for each of them, without an end."""
    with pytest.raises(RuntimeError, match="at most 65536, but got 2147483648"):
        torch.mvlgamma(torch.ones(1), 2**31)


@pytest.mark.parametrize("weight", [True, np.ones(3), "a", [1.0, 2.0, 3.0]], ids=str)
@pytest.mark.parametrize("count", [
    lambda x, w: torch.histogram(x, 2, weight=w), lambda x, w: torch.histogramdd(x[:, None].expand(3, 2), [2, 2], weight=w),
    lambda x, w: torch.bincount(x.long(), w),
])  # fmt: skip
def test_weights_are_tensors(count, weight):
    """They were taken for one whatever they were, which crashed."""
    with pytest.raises(TypeError, match=r"argument 'weights?' \(position \d\) must be Tensor"):
        count(torch.ones(3), weight)


def test_there_is_a_weight_for_each_element():
    with pytest.raises(RuntimeError, match=r"expected Float of \[3\], but got Float of \[2\]"):
        torch.histogram(torch.ones(3), 2, weight=torch.ones(2))


def test_more_parts_than_memory_holds_are_refused_by_name():
    with pytest.raises(MemoryError, match=r"tensor_split.*9223372036854775807 parts"):
        torch.ones(3).tensor_split(2**63 - 1)


def test_a_size_of_a_long_range_is_refused_before_it_fills_the_memory():
    assert torch.Size(range(3)) == (0, 1, 2)
    with pytest.raises(MemoryError, match="at most 1000000 numbers of a range, but got 2147483648"):
        torch.Size(range(2**31))
    with pytest.raises(MemoryError, match="numbers of a range"):
        torch.distributions.ExponentialFamily(range(2**31))


def test_a_size_that_memory_does_not_hold_is_refused_by_name():
    with pytest.raises(MemoryError, match="no memory for 4611686018427387904 times"):
        torch.Size((1, 2)) * 2**62
