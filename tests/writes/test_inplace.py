"""In-place writes that need no recording: what they change, count and invalidate. The others: test_inplace_recorded."""

import numpy as np
import pytest
from common import define, leaf

import autograd_cy as torch

two = torch.tensor([2.0, 4.0])

WRITES = {
    "add_": (lambda t: t.add_(two), [3.0, 6.0]),
    "add_ alpha": (lambda t: t.add_(two, alpha=10), [21.0, 42.0]),
    "sub_": (lambda t: t.sub_(1), [0.0, 1.0]),
    "mul_": (lambda t: t.mul_(two), [2.0, 8.0]),
    "div_": (lambda t: t.div_(two), [0.5, 0.5]),
    "zero_": (lambda t: t.zero_(), [0.0, 0.0]),
    "fill_": (lambda t: t.fill_(7), [7.0, 7.0]),
    "fill_ with a tensor": (lambda t: t.fill_(torch.tensor(7.0)), [7.0, 7.0]),
    "copy_": (lambda t: t.copy_(two), [2.0, 4.0]),
    "copy_ broadcast": (lambda t: t.copy_(torch.tensor(5, dtype=torch.int64)), [5.0, 5.0]),
    "+=": (lambda t: t.__iadd__(two), [3.0, 6.0]),
    "-=": (lambda t: t.__isub__(two), [-1.0, -2.0]),
    "*=": (lambda t: t.__imul__(3), [3.0, 6.0]),
    "/=": (lambda t: t.__itruediv__(2), [0.5, 1.0]),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("make", [
    pytest.param(lambda: torch.tensor([1.0, 2.0]), id="constant"),
    pytest.param(lambda: torch.tensor([1.0, 2.0], requires_grad=True), id="leaf"),
    pytest.param(lambda: torch.tensor([1.0, 2.0], requires_grad=True) * 1, id="result"),
])
def test_a_write_changes_the_tensor_itself(write, make):
    call, expected = WRITES[write]
    t = make()
    grad_fn, flag, where, version = t.grad_fn, t.requires_grad, t.data_ptr(), t._version
    with torch.no_grad():
        assert call(t) is t
    assert t.tolist() == expected and t.data_ptr() == where and t._version == version + 1
    assert t.grad_fn is grad_fn and t.requires_grad == flag


ITEMS = {
    "row": (0, 9.0, [[9, 9, 9], [3, 4, 5]]),
    "element": ((1, 2), torch.tensor(9.0), [[0, 1, 2], [3, 4, 9]]),
    "column": ((slice(None), 1), torch.tensor([7.0, 8.0]), [[0, 7, 2], [3, 8, 5]]),
    "broadcast": (slice(None), torch.tensor([7.0, 8.0, 9.0]), [[7, 8, 9], [7, 8, 9]]),
    "step": ((..., slice(None, None, 2)), 9, [[9, 1, 9], [9, 4, 9]]),
    "last": ((..., -1), 9, [[0, 1, 9], [3, 4, 9]]),
    "mask": (torch.tensor([[True, False, True], [False, False, True]]), 9.0, [[9, 1, 9], [3, 4, 9]]),
    "index": (([0, 1], [0, 2]), torch.tensor([7.0, 8.0]), [[7, 1, 2], [3, 4, 8]]),
    "index and slice": ((slice(None), torch.tensor([0, 2])), 9.0, [[9, 1, 9], [9, 4, 9]]),
}


@pytest.mark.parametrize("item", ITEMS)
def test_items_can_be_assigned(item):
    index, value, expected = ITEMS[item]
    t = torch.arange(6.0).reshape(2, 3)
    version = t._version
    t[index] = value
    assert t.tolist() == expected and t._version == version + 1


def test_item_assignment_may_add_in_place():
    t = torch.arange(4.0)
    t[1:] += 10
    assert t.tolist() == [0.0, 11.0, 12.0, 13.0]


def test_writes_reach_the_array_that_the_tensor_shares():
    array = np.zeros(3)
    t = torch.from_numpy(array)
    t.add_(1)
    t[1] = 7
    t.detach()[2] = 5
    assert array.tolist() == [1.0, 7.0, 5.0]


def test_a_step_of_gradient_descent_updates_the_parameter_itself():
    p, rate = leaf([1.0, 2.0]), 0.25
    for _ in range(2):
        (p * p).sum().backward()
        before = p
        with torch.no_grad():
            p -= rate * p.grad
            p.grad.zero_()
        assert p is before and p.is_leaf and p.requires_grad
    assert p.tolist() == [0.25, 0.5] and p.grad.tolist() == [0.0, 0.0]


def test_writes_that_keep_the_dtype():
    whole = torch.tensor([1, 2])
    whole.add_(torch.tensor([3, 4], dtype=torch.int32))
    whole[0] = 9.7
    assert whole.tolist() == [9, 6] and whole.dtype == torch.int64
    assert whole.copy_(torch.tensor([1.9, -1.9])).tolist() == [1, -1]
    single = torch.zeros(2).add_(torch.ones(2, dtype=torch.float64))
    assert single.dtype == torch.float32


REFUSED = {
    "broadcast result": (lambda t: t[:1].add_(two), RuntimeError,
                         r"output with shape \[1\] doesn't match the broadcast shape \[2\]"),
    "float into integers": (lambda t: torch.tensor([1, 2]).add_(0.5), RuntimeError,
                            "result type Float can't be cast"),
    "division of integers": (lambda t: torch.tensor([1, 2]).div_(2), RuntimeError,
                             "result type Float can't be cast"),
    "complex into reals": (lambda t: t.mul_(1j), RuntimeError, "result type ComplexFloat can't be cast"),
    "fill_ with many": (lambda t: t.fill_(two), RuntimeError, "fill_ only supports 0-dimension value tensor"),
    "index": (lambda t: t.__setitem__(5, 1.0), IndexError, "index 5 is out of bounds"),
    "expanded": (lambda t: t[0].expand(3).add_(1), RuntimeError, "refers? to a single memory location"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_writes_change_nothing(case):
    call, error, message = REFUSED[case]
    t = torch.tensor([1.0, 2.0])
    with pytest.raises(error, match=message):
        call(t)
    assert t.tolist() == [1.0, 2.0]


def test_copy_takes_numbers():
    t = torch.tensor([1.0, 2.0])
    assert t.copy_(3).tolist() == [3.0, 3.0] and t.copy_(True).tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match=r"argument 'other' .*must be Tensor, not list"):
        t.copy_([1.0, 2.0])
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y[0].copy_(5.0)
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 2.0]


LEAF_VIEWS = {"slice": lambda t: t[:, 0], "view": lambda t: t.view(-1), "unbind": lambda t: t.unbind(-1)[0]}
PART_WRITES = {
    "item": lambda x: x.__setitem__(slice(1, None), 0.0),
    "items": lambda x: x.__setitem__([0, 1], 0.0),
    "through a view": lambda x: x[:2].mul_(2.0),
    "itself": lambda x: x.mul_(2.0),
}


@pytest.mark.parametrize("write", PART_WRITES)
@pytest.mark.parametrize("view", LEAF_VIEWS)
def test_a_leaf_that_is_a_view_is_not_written(view, write):
    """`x[1:] = 0` was written, as its place is a view of a base that requires no grad; `x[:2].mul_(2)` made x no leaf."""
    base = torch.ones(3, 1)
    x = LEAF_VIEWS[view](base).requires_grad_()
    with pytest.raises(RuntimeError, match=r"is being (used in an in-place operation|modified inplace)"):
        PART_WRITES[write](x)
    assert base.flatten().tolist() == [1.0, 1.0, 1.0] and x.is_leaf
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_a_view_of_what_was_detached_in_place():
    """Its history is over when the memory is written; a write through it is refused, as the base is a leaf now."""
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    v = y.view(-1)
    y.detach_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        v.mul_(3)
    y.mul_(3)
    v.sum().backward()
    assert v.tolist() == [6.0, 6.0] and x.grad is None


OVERLAPPING = {
    "shifted": lambda t: t[0, 1:].add_(t[0, :-1]),
    "transposed": lambda t: t.mul_(t.t()),
    "a row": lambda t: t.sub_(t[0]),
    "an element": lambda t: t.div_(t[0, 0]),
    "copied": lambda t: t.copy_(t.t()),
    "assigned": lambda t: t.__setitem__(..., t.t()),
    "assigned rows": lambda t: t.__setitem__(slice(1, None), t[:-1]),
    "assigned to rows": lambda t: t.__setitem__([0, 1], t[1:]),
}


READ_FIRST = {
    "a row, by its first element": (lambda t: t.__setitem__(1, t[1][0]), [[0, 1, 2], [3, 3, 3], [6, 7, 8]]),
    "a row, by a part of one element": (lambda t: t.__setitem__(1, t[1][2:]), [[0, 1, 2], [5, 5, 5], [6, 7, 8]]),
    "all, by one element": (lambda t: t.__setitem__(..., t[1, 1]), [[4, 4, 4]] * 3),
    "all rows, by one": (lambda t: t.__setitem__(slice(None), t[1]), [[3, 4, 5]] * 3),
    "those of a mask": (lambda t: t.__setitem__(t > 5, t[2, 2]), [[0, 1, 2], [3, 4, 5], [8, 8, 8]]),
    "filled": (lambda t: t.fill_(t[1, 1]), [[4, 4, 4]] * 3),
    "a filled row": (lambda t: t[0].fill_(t[0, 2]), [[2, 2, 2], [3, 4, 5], [6, 7, 8]]),
}


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("case", READ_FIRST)
def test_what_is_broadcast_from_the_target_is_read_first(case, recorded):
    """PyTorch assigns such values, and refuses them in copy_()."""
    write, expected = READ_FIRST[case]
    leaf = torch.arange(9.0).reshape(3, 3).requires_grad_(recorded)
    t = leaf.clone()
    write(t)
    assert t.tolist() == expected
    if recorded:
        weights = torch.arange(1.0, 10).reshape(3, 3)
        (found,) = torch.autograd.grad(t, leaf, weights)
        sources = torch.tensor(expected).long().flatten()       # each element's value is the place that it came from
        assert found.flatten().tolist() == torch.zeros(9).index_add(0, sources, weights.flatten()).tolist()


@pytest.mark.parametrize("case", OVERLAPPING)
def test_a_partly_overlapping_operand_is_refused(case):
    t = torch.arange(9.0).reshape(3, 3)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        OVERLAPPING[case](t)
    assert t.flatten().tolist() == list(range(9)) and t._version == 0


def test_an_element_of_a_target_with_gaps_is_read_first():
    """`x[::2] /= x[0]` divided the later ones by the new x[0]."""
    t = torch.tensor([2.0, 9.0, 4.0, 9.0, 6.0])
    t[::2] /= t[0]
    assert t.tolist() == [1.0, 9.0, 2.0, 9.0, 3.0]


# Saved tensors that changed

STALE = (r"one of the variables needed for gradient computation has been modified by an inplace operation: "
         r"\[(torch\.)?{kind} \[3\]\]{which} is at version {now}; expected version {then} instead\. "
         r"Hint: enable anomaly")
OUTPUT = ", which is output 0 of {},"


def write(t):
    with torch.no_grad():
        t.mul_(1)


@pytest.mark.parametrize("op", ["exp", "tanh", "sigmoid", "sqrt"])
def test_a_changed_output_is_named_by_its_op(op):
    y = getattr(leaf([1.0, 2.0, 3.0], torch.float32), op)()
    write(y)
    message = STALE.format(kind="FloatTensor", which=OUTPUT.format(op.title()), now=1, then=0)
    with pytest.raises(RuntimeError, match=message):
        y.sum().backward()


@pytest.mark.parametrize("dtype, kind", [(torch.float32, "FloatTensor"), (torch.float64, "DoubleTensor")])
def test_a_changed_input_is_named_by_its_kind(dtype, kind):
    x = leaf([1.0, 2.0, 3.0], dtype)
    write(x)
    y = (x * x).sum()
    write(x)
    with pytest.raises(RuntimeError, match=STALE.format(kind=kind, which="", now=2, then=1)):
        y.backward()
    assert x.grad is None


@pytest.mark.parametrize("change", [
    pytest.param(lambda c: c.add_(1), id="itself"),
    pytest.param(lambda c: c.__setitem__(0, 5.0), id="an item"),
    pytest.param(lambda c: c.view(3).add_(1), id="a view"),
    pytest.param(lambda c: c.detach().add_(1), id="detached"),
])
def test_a_constant_that_a_node_saved_counts_every_write(change):
    x, c = leaf([1.0, 2.0, 3.0]), torch.ones(3, dtype=torch.float64)
    y = (x * c).sum()
    change(c)
    with pytest.raises(RuntimeError, match=STALE.format(kind="DoubleTensor", which="", now=1, then=0)):
        y.backward()


def test_reading_a_changed_saved_tensor_fails_too():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1

    x = leaf([1.0, 2.0, 3.0])
    product, custom = (x * x).grad_fn, define(forward, lambda ctx, g: g).apply(x).grad_fn
    write(x)
    for read in (lambda: product._saved_self, lambda: custom.saved_tensors):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            read()


def test_writes_to_what_no_gradient_needs_do_no_harm():
    x = leaf([1.0, 2.0, 3.0])
    y, z = x + 1, x * 3
    for t in (x, y, z):
        write(t)
    (y + z).sum().backward()
    assert x.grad.tolist() == [4.0] * 3


def test_data_is_written_behind_the_counters_back():
    x = leaf([1.0, 2.0, 3.0])
    version = x._version
    x.data.add_(1)
    assert x.tolist() == [2.0, 3.0, 4.0] and x._version == version


# Leaves


@pytest.mark.parametrize("change", [
    lambda x: x.add_(1), lambda x: x.zero_(), lambda x: x.__setitem__(0, 1.0), lambda x: x[1:].mul_(2)])
def test_a_leaf_that_requires_grad_is_not_written_in_grad_mode(change):
    x = leaf([1.0, 2.0])
    with pytest.raises(RuntimeError):
        change(x)
    assert x.tolist() == [1.0, 2.0] and x._version == 0


ASSIGNED = {
    "number, slice, list": (0, slice(None), [0, 1]),
    "list, slice, number": ([0, 1], slice(None), 0),
    "number, list": (1, [0, 2]),
    "ellipsis, list": (..., [1, 0]),
    "mask": (slice(None), torch.tensor([True, False, True])),
    "none": (None, 0),
    "negative": (-1, slice(0, 2)),
    "two lists": ([0, 1], [1, 2]),
    "0-d": (1, 2, 3),
}


@pytest.mark.parametrize("case", ASSIGNED)
def test_items_are_assigned_where_they_are_read(case):
    index, y = ASSIGNED[case], torch.zeros(2, 3, 4)
    value = torch.arange(1.0, 1.0 + y[index].numel()).reshape(y[index].shape)
    y[index] = value
    assert y[index].tolist() == value.tolist()
    assert y.sum().item() == value.sum().item()


def test_negative_steps_are_refused_in_assignments():
    y = torch.zeros(3)
    with pytest.raises(ValueError, match="step must be greater than zero"):
        y[::-1] = 1.0


OPERATORS = ["+", "-", "*", "/", "**", "&", "|", "^", "%", "//", "<<", ">>"]


class Reflecting:
    """An operand of another library, with the reflected operators."""

    def answer(self, other):
        return "reflected", other

    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rpow__ = __rand__ = __ror__ = __rxor__ = answer
    __rmod__ = __rfloordiv__ = __rlshift__ = __rrshift__ = answer


class Handling(Reflecting):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return "handled"


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_unknown_operand_of_an_operator_in_place_is_asked_for_its_own(operator):
    # a TypeError came before Python tried the other operand's operator
    x = torch.tensor([1, 2])
    names = {"x": x, "other": Reflecting()}
    exec(f"x {operator}= other", names)
    assert names["x"] == ("reflected", x) and x.tolist() == [1, 2] and x._version == 0
    names = {"x": x, "other": Handling()}
    exec(f"x {operator}= other", names)
    assert names["x"] == "handled"
    with pytest.raises(TypeError, match="unsupported operand type"):
        exec(f"x {operator}= other", {"x": x, "other": object()})
