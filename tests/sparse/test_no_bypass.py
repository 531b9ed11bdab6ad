"""No function takes the placeholder of a sparse tensor for its elements: each gives the dense result, or refuses."""

import copy
import io
import pickle

import numpy as np
import pytest
from op_calls import samples_of
from op_case import map_arrays
from opinfo import OPS

import autograd_cy as ag

REFUSALS = (NotImplementedError, RuntimeError, TypeError, ValueError, IndexError, AttributeError, BufferError)


def flattened(value):
    if isinstance(value, ag.Tensor):
        return [value.to_dense().detach().numpy()]
    if isinstance(value, (list, tuple)):
        return [y for part in value for y in flattened(part)]
    return [np.asarray(value)]


def variants(sample):
    """The sample's arguments as tensors, and for each array in them the same with that one sparse."""
    arrays = []
    map_arrays(lambda a: arrays.append(a) or a, (sample.args, sample.kwargs))

    def made(chosen):
        count = iter(range(len(arrays)))

        def tensor(array):
            x = ag.from_numpy(array.copy())
            return x.to_sparse() if next(count) == chosen else x

        return map_arrays(tensor, (sample.args, sample.kwargs))

    return made(-1), [made(k) for k in range(len(arrays))]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in OPS])
def test_operations_give_the_dense_result_or_refuse(row):
    dtype = "float64" if "float64" in (*row.dtypes, *row.forward) else (*row.dtypes, *row.forward)[0]
    for sample in samples_of(row, dtype):
        dense, sparse = variants(sample)
        function = row.function()
        kwargs = {k: getattr(ag, v.__name__) if isinstance(v, type) else v for k, v in dense[1].items()}
        expected = None
        for args, _ in sparse:
            try:
                found = flattened(function(*args, **kwargs))
            except REFUSALS:
                continue
            expected = expected or flattened(function(*dense[0], **kwargs))
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=str(sample))


S = ag.tensor([[0.0, 0.5], [0.25, 0.0]]).to_sparse()
METHODS = sorted(name for name in dir(ag.Tensor) if callable(getattr(ag.Tensor, name, None)))
HARMLESS = {"__class__", "__init_subclass__", "__subclasshook__", "__new__", "__torch_function__", "_make_subclass"}


def other_arguments():
    yield ()
    yield (ag.ones(2, 2),)
    yield (2,)
    yield (0, 1)
    yield (ag.ones(2, 2), ag.ones(2, 2))
    yield (0, ag.tensor([[0, 1], [1, 0]]), ag.ones(2, 2))


def has_nan(value):
    try:
        return any(np.isnan(a).any() for a in flattened(value) if a.dtype.kind in "fc")
    except REFUSALS:
        return False


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in METHODS if name not in HARMLESS])
@pytest.mark.parametrize("place", ["self", "argument"])
def test_methods_never_read_the_placeholder(name, place):
    """It is NaN: a result or a written operand with a NaN shows that it was read."""
    for arguments in other_arguments():
        s, d = S.clone(), ag.ones(2, 2)
        try:
            if place == "self":
                result = getattr(s, name)(*arguments)
            else:
                result = getattr(d, name)(s, *arguments)
        except (*REFUSALS, AssertionError, StopIteration, OverflowError, KeyError):
            result = None
        assert not has_nan(d), (name, arguments)
        assert not has_nan(s), (name, arguments)
        assert result is None or not has_nan(result), (name, arguments)
        assert not any(has_nan(x) for x in arguments if isinstance(x, ag.Tensor))


def test_doors_that_are_no_operations():
    s = S.clone()
    for door in (
        lambda: np.asarray(s), lambda: memoryview(s), lambda: s.numpy(), lambda: s.data_ptr(), lambda: s.numpy(force=True),
        lambda: np.from_dlpack(s), lambda: ag.from_dlpack(s), lambda: s.tolist(), lambda: s.stride(),
        lambda: ag.ones(2, 2).copy_(s), lambda: ag.as_strided(s, (2,), (1,)), lambda: ag.ones(2)[s], lambda: s[s],
        lambda: s.view(4), lambda: s.untyped_storage(), lambda: s.storage(), lambda: ag.ones(2, 2).set_(s),
        lambda: s.set_(ag.ones(2, 2)),
        lambda: ag.vmap(lambda x: x * s)(ag.ones(3, 2, 2)), lambda: ag.vmap(lambda x: x * 2)(s),
        lambda: s.as_subclass(ag.Tensor),
        lambda: ag.Tensor._make_subclass(ag.Tensor, s), lambda: ag.stack([s, s]), lambda: s == s, lambda: hash(s) and s < 1,
        lambda: ag.where(s, 1.0, 2.0), lambda: s.apply_(lambda x: x), lambda: ag.save(object(), s), lambda: s.share_memory_(),
        lambda: np.mean(s), lambda: s.__array_interface__, lambda: ag.func.jvp(ag.exp, (s,), (s,)), lambda: ag.Tensor(s),
        lambda: ag.tensor([s, s]), lambda: ag.as_tensor(np.asarray(s)), lambda: s.map_(s, lambda a, b: a), lambda: s.fill_(1),
    ):  # fmt: skip
        with pytest.raises((*REFUSALS, AssertionError)):
            door()
    assert s.to_dense().equal(S.to_dense())


def write(d, index, value):
    d[index] = value


def test_writes_with_sparse_operands_are_refused_or_right():
    for writing in (
        lambda d: write(d, 0, S[0]), lambda d: write(d, slice(None), S), lambda d: d.masked_fill_(S, 1.0),
        lambda d: d.index_copy_(0, ag.tensor([0, 1]), S), lambda d: d.data.copy_(S), lambda d: ag.add(S, S, out=d),
        lambda d: ag.mm(S, S, out=d), lambda d: d.div_(S),
    ):  # fmt: skip
        d = ag.ones(2, 2)
        with pytest.raises(REFUSALS):
            writing(d)
        assert d.equal(ag.ones(2, 2))
    d = ag.ones(2, 2)
    d += S
    assert d.equal(ag.ones(2, 2) + S.to_dense())
    d = ag.full((2, 2), 3.0)
    d *= S
    assert d.equal(3 * S.to_dense())
    d.data = ag.zeros(2, 2)
    d -= S
    assert d.equal(-S.to_dense())


def test_context_managers_that_switch_overrides_off_leave_sparse_tensors_alone():
    with ag._C.DisableTorchFunctionSubclass():
        assert (S * 2).to_dense().equal(S.to_dense() * 2)
        with pytest.raises(NotImplementedError, match="exp"):
            S.exp()

    class Named(ag.Tensor):
        pass

    named = ag.ones(2, 2).as_subclass(Named)
    assert (named + S).to_dense().equal(ag.ones(2, 2) + S.to_dense())
    assert ag.mm(S, named).to_dense().equal(S.to_dense() @ ag.ones(2, 2))


def test_functions_that_return_or_save_sparse_tensors():
    class Returning(ag.autograd.Function):
        @staticmethod
        def forward(ctx, s, x):
            y = s * 2
            ctx.save_for_backward(s, y, x)
            return y

        @staticmethod
        def backward(ctx, g):
            s, y, x = ctx.saved_tensors
            assert y.is_sparse and s.is_sparse and y.to_dense().equal(2 * s.to_dense())
            return g * 2, x

    s, x = S.clone().requires_grad_(), ag.ones(1, requires_grad=True)
    y = Returning.apply(s, x)
    y.to_dense().sum().backward()
    assert s.grad.is_sparse and s.grad.values().tolist() == [2.0, 2.0]

    class Same(ag.autograd.Function):
        @staticmethod
        def forward(ctx, s):
            return s

        @staticmethod
        def backward(ctx, g):
            return g

    with ag.no_grad():
        assert Same.apply(s).to_dense().equal(S.to_dense())


def test_subclasses_are_refused():
    with pytest.raises(TypeError, match="can't have subclasses"):
        type("Other", (type(S),), {})


def test_copies_and_pickles():
    for made in (copy.copy(S), copy.deepcopy(S), pickle.loads(pickle.dumps(S))):
        assert made.is_sparse and made.is_coalesced() and made.to_dense().equal(S.to_dense())
    leaf = S.clone().requires_grad_()
    (leaf.to_dense() * 3).sum().backward()
    made = copy.deepcopy(leaf)
    assert made.requires_grad and made.grad.to_dense().equal(leaf.grad.to_dense())
    assert made._values().data_ptr() != leaf._values().data_ptr()
    for saved in (S, S.to_sparse_csr(), leaf, ag.sparse_coo_tensor([[0, 0]], [1.0, 2.0], (3,))):
        buffer = io.BytesIO()
        ag.save({"a": saved, "b": [ag.ones(2)]}, buffer)
        for weights_only in (True, False):
            buffer.seek(0)
            found = ag.load(buffer, weights_only=weights_only)["a"]
            assert found.layout is saved.layout and found.to_dense().equal(saved.detach().to_dense())
            assert saved.layout is ag.sparse_csr or found.is_coalesced() == saved.is_coalesced()
