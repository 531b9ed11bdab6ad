"""Operations that write where an index points refuse operands in the memory that they write, as PyTorch does: they would read
what they have already overwritten. Nothing is changed. The answers are torch 2.13's.
"""

import pytest

import autograd_cy as ag

REFUSED = "some elements of the input tensor and the written-to tensor refer to a single memory location"
PLACES = ag.tensor([0, 1, 2])
MASK = ag.tensor([True, False, True])

WRITES = {
    "index_add_": lambda t, i, s: t.index_add_(0, i, s),
    "index_copy_": lambda t, i, s: t.index_copy_(0, i, s),
    "scatter_": lambda t, i, s: t.scatter_(0, i, s),
    "scatter_ with reduce": lambda t, i, s: t.scatter_(0, i, s, reduce="add"),
    "scatter_add_": lambda t, i, s: t.scatter_add_(0, i, s),
    "scatter_reduce_": lambda t, i, s: t.scatter_reduce_(0, i, s, "amax", include_self=False),
    "index_reduce_": lambda t, i, s: t.index_reduce_(0, i, s, "prod"),
    "index_put_": lambda t, i, s: t.index_put_((i,), s),
    "index_put_ with accumulate": lambda t, i, s: t.index_put_((i,), s, accumulate=True),
    "put_": lambda t, i, s: t.put_(i, s),
    "__setitem__": lambda t, i, s: t.__setitem__(i, s),
}
OUTS = {
    "index_select": lambda t, i, s: ag.index_select(s, 0, i, out=t),
    "take": lambda t, i, s: ag.take(s, i, out=t),
    "gather": lambda t, i, s: ag.gather(s, 0, index=i, out=t),
}
NEXT_TO_INPUT = {
    "index_add": lambda t, x, s: ag.index_add(x, 0, PLACES, s, out=t),
    "index_copy": lambda t, x, s: ag.index_copy(x, 0, PLACES, s, out=t),
    "scatter": lambda t, x, s: ag.scatter(x, 0, PLACES, s, out=t),
    "scatter_add": lambda t, x, s: ag.scatter_add(input=x, dim=0, index=PLACES, src=s, out=t),
    "scatter_reduce": lambda t, x, s: ag.scatter_reduce(x, 0, PLACES, s, "sum", out=t),
    "index_reduce": lambda t, x, s: ag.index_reduce(x, 0, PLACES, s, "prod", out=t),
}


def refused(b, call, *, text=REFUSED):
    """The call raises, and leaves the numbers of `b` and its version as they were."""
    before, version = b.clone(), b._version
    with pytest.raises(RuntimeError, match=text):
        call()
    assert ag.equal(b, before) and b._version == version


@pytest.mark.parametrize("name", [*WRITES, *OUTS])
@pytest.mark.parametrize("start", [0, 1])
def test_a_source_in_the_written_memory_is_refused(name, start):
    b = ag.arange(8)
    refused(b, lambda: (WRITES | OUTS)[name](b[:3], PLACES, b[start : start + 3]))


@pytest.mark.parametrize("name", [*WRITES, *OUTS])
def test_an_index_in_the_written_memory_is_refused(name):
    b = ag.arange(8)
    refused(b, lambda: (WRITES | OUTS)[name](b[1:4], b[:3], ag.tensor([5, 6, 7])))


@pytest.mark.parametrize("name", sorted((WRITES | OUTS).keys() - {"gather"}))
def test_the_written_tensor_is_refused_as_index(name):
    b = ag.arange(3)
    refused(b, lambda: (WRITES | OUTS)[name](b, b, ag.tensor([5, 6, 7])))


def test_gather_writes_over_its_index():
    b = ag.tensor([2, 0, 1])
    assert ag.gather(ag.tensor([5, 6, 7]), 0, b, out=b).tolist() == [7, 5, 6]


@pytest.mark.parametrize("name", [*WRITES, *OUTS])
def test_memory_with_gaps_is_not_looked_at(name):
    """PyTorch does not search the elements of strided tensors for a common one."""
    b = ag.arange(8)
    (WRITES | OUTS)[name](b[0:6:2], PLACES, b[1:7:2])
    assert b[1:7:2].tolist() == [1, 3, 5]


@pytest.mark.parametrize("call", [lambda t, i: t.index_fill_(0, i, 7), lambda t, i: t.scatter_(0, i, 7)])
@pytest.mark.parametrize("start", [0, 1])
def test_an_index_next_to_a_number_is_refused(call, start):
    b = ag.arange(8)
    refused(b, lambda: call(b[start : start + 3], b[:3]))


@pytest.mark.parametrize("name", NEXT_TO_INPUT)
def test_out_may_be_the_input_only(name):
    b = ag.arange(8)
    ones = ag.tensor([1, 1, 1])
    refused(b, lambda: NEXT_TO_INPUT[name](b[:3], b[1:4], ones))
    refused(b, lambda: NEXT_TO_INPUT[name](b[:3], ones, b[:3]))
    expected = NEXT_TO_INPUT[name](ag.empty(0, dtype=ag.int64), b[:3].clone(), ones)
    assert ag.equal(NEXT_TO_INPUT[name](b[:3], b[:3], ones), expected)


@pytest.mark.parametrize("join", [ag.cat, ag.stack, ag.hstack])
def test_joined_tensors_in_the_written_memory_are_refused(join):
    b = ag.arange(8.0)
    refused(b, lambda: join([b[:2], b[4:6]], out=b[1:5]))


def test_selected_tensors_in_the_written_memory_are_refused():
    b = ag.arange(8.0)
    refused(b, lambda: ag.masked_select(b[:3], MASK, out=b[:3]))
    m = ag.tensor([True] * 8)
    refused(m, lambda: ag.masked_select(ag.tensor([True] * 4), m[:4], out=m[:4]))


# masks: a write of a single value is masked_fill_(), which reads the value before it writes

def test_masks():
    m = ag.tensor([True] * 8)
    refused(m, lambda: m[:4].masked_fill_(m[1:5], False))
    refused(m, lambda: m[:4].index_put_((m[1:5],), ag.tensor(False)))
    refused(m, lambda: m.index_put_((m,), ag.zeros(8) > 0))
    refused(m, lambda: m.__setitem__(m, ag.zeros(8) > 0))
    m[m] = False
    assert not m.any()


def test_single_values_of_the_written_tensor():
    b = ag.arange(4.0)
    refused(b, lambda: b.__setitem__(PLACES, b[3]))
    mask = ag.tensor([True, True, False, False])
    refused(b, lambda: b.index_put_((mask,), b[3:], accumulate=True))
    refused(b, lambda: b.index_put_((mask,), b[2:]))
    b[mask] = b[3:]
    assert b.tolist() == [3, 3, 2, 3]
    b.masked_fill_(mask, b[2])
    b.index_fill_(0, ag.tensor([3]), b[0])
    assert b.tolist() == [2, 2, 2, 2]


def test_recorded_writes_refuse_the_same():
    b = ag.zeros(6, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match=REFUSED):
        b[:3][PLACES] = b[1:4]
    with pytest.raises(RuntimeError, match=REFUSED):
        b[PLACES] = b[3]
    with pytest.raises(RuntimeError, match=REFUSED):
        b[:3].scatter_add_(0, PLACES, b[:3])
    assert b._version == 0


def test_the_written_tensor_is_refused_as_source_of_nothing():
    """The numbers of the source that are read don't matter."""
    b = ag.arange(3.0)
    refused(b, lambda: b.scatter_(0, PLACES[:0], b))
    b.index_copy_(0, PLACES[:0], b[:0])
    b = ag.tensor(3.0)
    refused(b, lambda: b.index_add_(0, ag.tensor(0), b))


@pytest.mark.parametrize("name", WRITES)
def test_targets_that_overlap_themselves_are_refused(name):
    b = ag.tensor([3])
    refused(b, lambda: WRITES[name](b.expand(3), PLACES, ag.tensor([5, 6, 7])), text="more than one element of the written-to")
