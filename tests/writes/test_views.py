"""Views: their base, and their place in the graph after a write. The numbers are the cases of NOTE [Views]."""

import gc
import weakref

import pytest
from common import define, differs, leaf

import autograd_cy as torch

VIEWS = {
    "int": lambda x: x[0],
    "slice": lambda x: x[1:],
    "ellipsis": lambda x: x[...],
    "None": lambda x: x[None],
    "tuple": lambda x: x[1, :2],
    "transpose": lambda x: x.transpose(0, 1),
    "permute": lambda x: x.permute(1, 0),
    "t": lambda x: x.t(),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "reshape": lambda x: x.reshape(3, 2),
    "view": lambda x: x.view(6),
    "view_as": lambda x: x.view_as(torch.zeros(3, 2)),
    "flatten": lambda x: x.flatten(),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "squeeze": lambda x: x.squeeze(),
    "squeeze(0)": lambda x: x.squeeze(0),
    "expand": lambda x: x.expand(2, 2, 3),
    "diagonal": lambda x: x.diagonal(),
    "split": lambda x: x.split(1)[1],
    "unbind": lambda x: x.unbind(1)[2],
    "view_as_complex": lambda x: torch.view_as_complex(x.view(3, 2)),
    "a view of a view": lambda x: x[1][1:],
}


@pytest.mark.parametrize("kind", ["constant", "leaf", "result"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_knows_its_base(view, kind):  # 1
    x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3).clone()
    if kind != "constant":
        x.requires_grad_()
    x = x * 1 if kind == "result" else x
    y = VIEWS[view](x)
    assert y._is_view() and y._base is x and not x._is_view() and x._base is None


@pytest.mark.parametrize("alias", [
    lambda x: x.detach(), lambda x: x.data, lambda x: x.clone(), lambda x: x * 1, lambda x: x[[0, 1]],
    lambda x: x.contiguous(), lambda x: x.t().reshape(6)])
def test_what_is_no_view(alias):  # 5
    x = torch.ones(2, 3)
    assert not alias(x)._is_view() and alias(x)._base is None


def test_real_and_imaginary_parts_are_views():
    z = torch.tensor([1 + 2j, 3 - 1j])
    assert z.real._base is z and z.imag._base is z and torch.view_as_real(z)._base is z


def test_a_view_holds_its_base_and_no_more():
    x = torch.ones(3)
    view, base = x[1:][1:], weakref.ref(x)
    del x
    assert base() is view._base
    del view
    assert base() is None


def test_views_get_new_nodes_when_the_base_is_written():  # 2
    x = leaf([1.0, 2.0, 3.0])
    y = x * 2
    view, other = y[1:], y.view(3, 1)
    before = view.grad_fn
    y.mul_(3)
    assert view.grad_fn is not before and view.grad_fn.name() == "AsStridedBackward0" and view.grad_fn is view.grad_fn
    assert view.grad_fn.next_functions == ((y.grad_fn, 0),) and view.output_nr == 0
    assert (view.grad_fn._saved_size, view.grad_fn._saved_stride, view.grad_fn._saved_storage_offset) == ((2,), (1,), 1)
    (view.sum() + (other * other).sum()).backward()
    assert x.grad.tolist() == [72.0, 150.0, 222.0]


def test_a_view_follows_a_write_through_another_view():  # 2
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    view, other = y[:2], y[1:]
    other.mul_(x.detach()[1:])
    assert y.grad_fn.name() == "torch::autograd::CopySlices" and repr(y.grad_fn) == "<CopySlices>"
    view.sum().backward()
    assert x.grad.tolist() == [1.0, 2.0, 0.0]


def test_a_view_of_a_constant_requires_grad_when_its_base_does():  # 1
    x, constant = leaf([1.0, 2.0]), torch.zeros(2, 2, dtype=torch.float64)
    row, column, mask = constant[0], constant[:, 0], constant.t().diagonal()
    assert not row.requires_grad and row.is_leaf
    constant[0] = x
    assert row.requires_grad and not row.is_leaf and column.requires_grad and (mask * 2).requires_grad
    (row * 10 + column).sum().backward()
    assert x.grad.tolist() == [11.0, 10.0]


def test_nobody_asks_nothing_is_made():  # 3
    y = leaf([1.0, 2.0]) * 1
    view = y[0]
    node = weakref.ref(view.grad_fn)
    y.mul_(2)
    gc.collect()
    assert node() is not None  # the view still has the old one
    view.grad_fn  # noqa: B018
    assert node() is None


def identity(x):
    return define(lambda ctx, x: x.view(x.shape), lambda ctx, g: g).apply(x)


def backwards(x):
    class Backwards(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(x.shape)

        @staticmethod
        def backward(ctx, g):
            return g

    return Backwards.apply(x)


def in_no_grad(x):
    with torch.no_grad():
        return x[:2]


STUCK = {
    "unbind": (lambda x: x.unbind()[0], "Output 0 of Unbind is a view and {}.*returns multiple views"),
    "split": (lambda x: x.split(1)[1], "Output 1 of Split is a view and {}.*returns multiple views"),
    "view of unbind": (lambda x: x.unbind()[1].view(1), "Output 0 of View is a view and {}.*returns multiple views"),
    "no_grad": (in_no_grad, "A view was created in no_grad mode and {}"),
    "Function": (identity, "Output 0 of F is a view and {}.*created inside a custom Function"),
    "Function named like a node": (backwards, "Output 0 of Backwards is a view and {}.*created inside a custom Function"),
}


@pytest.mark.parametrize("case", STUCK)
def test_views_that_cannot_follow_are_not_written(case):  # 4
    make, message = STUCK[case]
    x = leaf([1.0, 2.0, 3.0]) * 1
    view = make(x)
    with pytest.raises(RuntimeError, match=message.format("is being modified inplace")):
        view.mul_(2)
    assert view.flatten()[0] in x and x._version == 0
    with torch.no_grad():
        view.mul_(2)


@pytest.mark.parametrize("case", [c for c in STUCK if c != "no_grad"])
def test_views_that_cannot_follow_are_not_used_after_a_write(case):  # 4
    make, message = STUCK[case]
    x = leaf([1.0, 2.0, 3.0]) * 1
    view = make(x)
    x.mul_(2)
    message = message.format("its base or another view of its base has been modified inplace")
    for use in (lambda: view.grad_fn, lambda: view * 2, lambda: view.sum().backward()):
        with pytest.raises(RuntimeError, match=message):
            use()
    assert (view.detach() * 2).numel() == view.numel()


def test_the_refusal_says_where_the_view_was_made():
    x = leaf([1.0, 2.0]) * 1
    view = x.unbind()[0]
    with pytest.raises(RuntimeError, match=r"The view was made at .*test_views\.py:\d+, in test_the_refusal_says"):
        view.add_(1)


def test_a_no_grad_view_of_a_constant_is_not_written_with_what_requires_grad():  # 4
    x, w = torch.zeros(3), torch.ones(1, requires_grad=True)
    with torch.no_grad():
        view = x[:1]
    view.mul_(2)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        view.mul_(w)


def test_a_view_does_not_outlive_an_exchange_of_memory():
    x = leaf([1.0, 2.0, 3.0]) * 1
    view = x[1:]
    x.data = torch.zeros(3, dtype=torch.float64)
    with pytest.raises(RuntimeError, match=r"a view has other memory than its base: `\.data`"):
        view.mul_(2)


@pytest.mark.parametrize("cut", [
    lambda y: y[1], lambda y: y[:, ::2], lambda y: y.t()[1:], lambda y: y.diagonal(), lambda y: y.view(6)[1::2],
    lambda y: y.view(3, 2).t()[:, 1:], lambda y: y[0, 1]])
@pytest.mark.parametrize("lay", [
    lambda y: y, lambda y: (y.t() * 1).t(), lambda y: torch.stack([y, y], 2)[:, :, 0].contiguous()])
def test_gradients_of_gradients_pass_writes_through_views(cut, lay):
    def function(x, w):
        y = lay(x * x)
        if not y.is_contiguous():
            y = y * 1
        view = cut(y)
        view.mul_(w[0])
        cut(y).exp_()
        return y * x

    x = leaf([[0.1, 0.2, -0.3], [0.5, -0.4, 0.7]])
    w = leaf([1.5])
    assert torch.autograd.gradcheck(function, (x, w))
    assert torch.autograd.gradgradcheck(function, (x, w))


def test_a_real_view_of_complex_numbers_is_written():
    z = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128, requires_grad=True)

    def function(z):
        y = z * 1
        y.real.mul_(y.imag.clone())
        y.imag[0] = 5.0
        return torch.view_as_real(y)

    assert function(z).tolist() == [[2.0, 5.0], [-3.0, -1.0]]
    assert torch.autograd.gradcheck(function, (z,)) and torch.autograd.gradgradcheck(function, (z,))


def test_an_expanded_view_adds_up_after_a_write():
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    wide = y.view(3, 1).expand(3, 2)
    y.mul_(2)
    (wide * torch.arange(6.0, dtype=torch.float64).view(3, 2)).sum().backward()
    assert x.grad.tolist() == [2.0, 10.0, 18.0]


FILLS = {"fill_": (lambda x: x.fill_(3), 3), "zero_": (lambda x: x.zero_(), 0)}
SHARED = {
    "expanded": lambda y: y[1:3].unsqueeze(0).expand(2, 2),
    "expanded, along the last dimension": lambda y: y[1:3].unsqueeze(1).expand(2, 2),
    "overlapping windows": lambda y: y[1:].unfold(0, 2, 1),
}


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("shared", SHARED)
def test_elements_that_share_memory_are_filled(fill, shared):
    (write, value), make = FILLS[fill], SHARED[shared]
    plain = make(torch.ones(4))
    assert write(plain) is plain and (plain == value).all()
    x = leaf([1.0, 2.0, 3.0, 4.0])
    y = x * 2
    view = make(y)
    write(view)
    assert (view == value).all() and y[0] == 2
    written = (y == value).tolist()
    if torch.__name__ == "torch":
        return  # whose backward of such a write fails
    (g,) = torch.autograd.grad(y.square().sum() + view.square().sum(), x)
    assert g.tolist() == [0 if done else 8 * n for done, n in zip(written, x.tolist(), strict=True)]


@pytest.mark.parametrize(
    "write", [lambda x: x.fill_(torch.tensor(3.0)), lambda x: x.copy_(torch.ones(2, 2)), lambda x: x.add_(1)])
def test_other_writes_to_expanded_tensors_are_refused(write):
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="single memory location"):
        write(x.expand(2, 2))
    assert x.tolist() == [1, 1]


def test_tangents_follow_writes():  # 6
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        y = fw.make_dual(torch.tensor([1.0, 2.0, 3.0]), torch.ones(3)) * 1
        first, last = y[:2], y[1:]
        first.mul_(y.detach().clone()[1:])
        tangents = [fw.unpack_dual(t).tangent.tolist() for t in (y, first, last)]
        constant = torch.zeros(3)
        part = constant[1]
        constant[1:] = y[:2]
        gained = [fw.unpack_dual(t).tangent.tolist() for t in (constant, part)]
    assert tangents == [[2.0, 3.0, 1.0], [2.0, 3.0], [3.0, 1.0]]
    assert gained == [[0.0, 2.0, 3.0], 2.0]


def test_writing_to_a_dual_leaves_the_primal_without_tangent():  # 6
    fw = torch.autograd.forward_ad
    with fw.dual_level():
        x = torch.ones(2)
        dual = fw.make_dual(x, torch.ones(2))
        dual.mul_(3)
        assert fw.unpack_dual(dual).tangent.tolist() == [3.0, 3.0] and fw.unpack_dual(x).tangent is None


def test_a_view_without_a_place_in_the_graph_can_be_shown():
    x = leaf([1.0, 2.0]) * 1
    view = x.unbind()[0]
    x.mul_(2)
    assert "grad_fn=<Invalid>" in repr(view)


def test_what_was_written_is_freed_at_once(no_collector):
    x = leaf([1.0, 2.0, 3.0])
    y, z = x * 1, x * 1
    y.exp_()
    view = z[1:]
    view.exp_().mul_(y[1:])
    z[0] = z[1] + x[0]
    view.grad_fn  # noqa: B018
    dead = [weakref.ref(o) for o in (y, z, view, y.grad_fn, z.grad_fn, view.grad_fn)]
    del y, z, view
    assert [d() for d in dead] == [None] * 6


@pytest.mark.parametrize("offset", [-(2**31), 2**31, -(2**63), 2**63 - 1, -3, 4, -4], ids=str)
def test_a_diagonal_outside_of_the_matrix_is_empty(offset):
    """That of -2**31 began 25 GB before the matrix."""
    x = torch.ones(3, 4, requires_grad=True)
    y = x.diagonal(offset)
    assert y.shape == (0,)
    y.sum().backward()
    assert x.grad.sum() == 0


def test_a_written_view_whose_base_was_detached_in_place_is_refused():
    """It can't be told any more where its gradient goes; before that it can."""
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    v = y.view(2, 1)
    v.mul_(3)
    y.detach_()
    with pytest.raises(RuntimeError, match="base of this view was detached in place"):
        v.sum()
    y = x * 1
    v = y.view(2, 1)
    v.mul_(3)
    total = v.sum()
    y.detach_()
    total.backward()
    assert x.grad.tolist() == [3.0, 3.0]


IN_OTHER_TYPES = {
    "smaller elements": (lambda m: m.ones(2, 2), "int16"),
    "larger elements": (lambda m: m.ones(2, 4), "float64"),
    "complex numbers": (lambda m: m.ones(3, 2), "complex64"),
    "elements of the same size, in any layout": (lambda m: m.ones(2, 3).t()[::2], "int32"),
    "a last dimension of size 1": (lambda m: m.ones(4)[::2].unsqueeze(-1), "uint8"),
    "a last dimension of size 1, sliced": (lambda m: m.ones(2, 4)[:, :1], "int16"),
    "size 1 in the middle": (lambda m: m.ones(2, 1, 2), "float64"),
    "rows apart": (lambda m: m.ones(4, 4)[:, :2], "float64"),
    "expanded rows": (lambda m: m.ones(1, 2).expand(3, 2), "float64"),
    "no rows": (lambda m: m.ones(0, 2), "float64"),
}
REFUSED_TYPES = {
    "0 dimensions": (lambda m: m.ones(()), "int16", r"self.dim\(\) cannot be 0 to view Float as Short \(different"),
    "columns apart": (lambda m: m.ones(2, 2).t(), "int16", r"self.stride\(-1\) must be 1 to view Float as Short .* got 2"),
    "half an element": (lambda m: m.ones(3), "float64", r"self.size\(-1\) must be divisible by 2 .* Double .* got 3"),
    "rows that begin within an element": (lambda m: m.ones(2, 5)[:, :4], "float64", r"self.stride\(0\) must be divisible by"),
    "a tensor that begins within an element": (
        lambda m: m.ones(5)[1:], "float64", r"self.storage_offset\(\) must be divisible by 2 .*, but got 1"),
}


@pytest.mark.parametrize("case", IN_OTHER_TYPES)
def test_memory_as_elements_of_another_type(case):
    make, name = IN_OTHER_TYPES[case]
    x = make(torch).requires_grad_()
    kind = getattr(torch, name)
    for y in (x.view(kind), x.view(dtype=kind)):
        assert y.dtype == kind and not y.requires_grad and y.grad_fn is None
        assert (y.data_ptr() == x.data_ptr() or not x.numel()) and y.shape[:-1] == x.shape[:-1]
        assert y.numel() * y.element_size() == x.numel() * x.element_size()
        assert y.contiguous().view(x.dtype).tolist() == x.tolist()
        assert y.numpy().tobytes() == x.detach().numpy().tobytes()


@pytest.mark.parametrize("case", REFUSED_TYPES)
def test_memory_that_has_no_elements_of_that_type(case):
    make, name, message = REFUSED_TYPES[case]
    with pytest.raises(RuntimeError, match=message):
        make(torch).view(getattr(torch, name))


def test_writes_to_memory_in_another_type_count():
    x = torch.ones(2)
    y = x.view(torch.int32)
    y.zero_()
    assert x.tolist() == [0, 0] and x._version == y._version == 1
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        x.view(2, dtype=torch.int32)


def test_samples_in_another_type():
    x = torch.ones(3, 2)
    assert torch.func.vmap(lambda row: row.view(torch.int16))(x).shape == (3, 4)
    assert torch.func.vmap(lambda row: row.view(dtype=torch.int32))(x).tolist() == x.view(torch.int32).tolist()
    with pytest.raises(RuntimeError):
        torch.func.vmap(lambda number: number.view(torch.int16))(x[0])


@differs("transposed in place", "the gradient goes to the places from before")
def test_a_write_to_a_view_of_another_type_that_was_transposed_in_place():
    weights = torch.arange(18.0).view(3, 3, 2)
    results = []
    for transpose in (lambda b: b.transpose(0, 1), lambda b: b.transpose_(0, 1)):
        x = torch.ones(3, 3, dtype=torch.complex64, requires_grad=True)
        b = transpose(torch.view_as_real(x.clone()))
        b += 1
        b.backward(weights)
        results.append(x.grad)
    assert torch.equal(results[0], results[1]) and torch.equal(torch.view_as_real(results[0]), weights.transpose(0, 1))
