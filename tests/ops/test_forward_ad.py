"""forward_ad: dual numbers, their levels, and forward mode together with reverse mode."""

import contextlib
import math

import pytest
from common import leaf, tangent

import autograd_cy as torch

fwd = torch.autograd.forward_ad


def f64(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_a_dual_tensor_is_a_primal_and_a_tangent():
    primal, direction = f64(1.0, 2.0), f64(3.0, 4.0)
    with fwd.dual_level():
        dual = fwd.make_dual(primal, direction)
        unpacked = fwd.unpack_dual(dual)
    assert unpacked.primal.tolist() == [1.0, 2.0] and unpacked.tangent is direction
    assert unpacked == (unpacked[0], unpacked[1]) and type(unpacked).__name__ == "UnpackedDualTensor"
    assert dual is not primal


def test_what_has_no_tangent_unpacks_to_none():
    x = f64(1.0)
    assert fwd.unpack_dual(x).tangent is None
    with fwd.dual_level():
        assert fwd.unpack_dual(x).tangent is None
        assert fwd.unpack_dual(x * 2).tangent is None


def test_ops_carry_tangents():
    assert tangent(lambda x: x * x + 3 * x, f64(1.0), f64(2.0)).tolist() == [7.0]
    assert tangent(lambda x: x.exp().sum(), f64(1.0, 0.0), f64(0.0, 1.0)).item() == 1.0
    assert tangent(lambda x: (x > 0) * 1.0, f64(1.0), f64(2.0)) is None


def test_two_dual_operands_add_up():
    a, b = f64(2.0), f64(3.0)
    with fwd.dual_level():
        product = fwd.make_dual(a, f64(1.0)) * fwd.make_dual(b, f64(10.0))
        assert fwd.unpack_dual(product).tangent.tolist() == [3.0 + 20.0]


def test_tangents_pass_through_functions_of_themselves():
    assert tangent(lambda x: x.sin().cos().sin(), f64(1.0), f64(0.0)).item() == pytest.approx(-0.0)
    second = tangent(lambda x: x.sin() * x.cos(), f64(1.0), f64(0.5)).item()
    assert second == pytest.approx(0.5403023058681398, rel=1e-14)  # cos(2x)


def test_complex_tangents():
    z, t = torch.tensor(1 + 2j, dtype=torch.complex128), torch.tensor(1j, dtype=torch.complex128)
    assert tangent(lambda z: z * z, t, z).item() == 2 * (1 + 2j) * 1j
    assert tangent(lambda z: z.conj(), t, z).item() == -1j
    assert tangent(lambda z: z.abs(), t, z).item() == pytest.approx(2 / 5**0.5)


def test_tangents_survive_no_grad_and_not_detach():
    with fwd.dual_level(), torch.no_grad():
        dual = fwd.make_dual(f64(3.0), f64(1.0))
        assert fwd.unpack_dual(dual * dual).tangent.item() == 6.0
        assert fwd.unpack_dual(dual.detach()).tangent is None


def test_a_dual_tensor_shows_its_tangent():
    with fwd.dual_level():
        assert repr(fwd.make_dual(torch.ones(1), torch.ones(1) * 2)) == "tensor([1.], tangent=tensor([2.]))"


# Levels


def test_tangents_die_with_their_level():
    x = f64(2.0)
    with fwd.dual_level():
        dual = fwd.make_dual(x, f64(1.0))
        y = dual * dual
    assert fwd.unpack_dual(dual).tangent is None and fwd.unpack_dual(y).tangent is None
    with fwd.dual_level():
        assert fwd.unpack_dual(y * dual).tangent is None
        assert fwd.unpack_dual(fwd.make_dual(y, f64(5.0)) * 2).tangent.item() == 10.0


def test_levels_can_be_entered_and_left_by_hand():
    level = fwd.enter_dual_level()
    try:
        assert fwd.unpack_dual(fwd.make_dual(f64(2.0), f64(1.0)) * 3).tangent.item() == 3.0
    finally:
        fwd.exit_dual_level(level=level)


def test_an_exception_leaves_the_level():
    with pytest.raises(KeyError), fwd.dual_level():
        raise KeyError
    with fwd.dual_level():
        pass


REFUSED = {
    "size": (lambda dual: fwd.make_dual(torch.ones(2), torch.ones(3)), RuntimeError,
             "forward gradient that has a different size than that of the original"),
    "integer primal": (lambda dual: fwd.make_dual(torch.tensor([1]), torch.ones(1)), ValueError,
                       "Expected primal to be floating point or complex"),
    "integer tangent": (lambda dual: fwd.make_dual(torch.ones(1), torch.tensor([1])), ValueError,
                        "Expected tangent to be floating point or complex"),
    "dual of a dual": (lambda dual: fwd.make_dual(dual, torch.ones(2)), RuntimeError,
                       "already has a forward gradient at the same level"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_within_a_level(case):
    call, error, message = REFUSED[case]
    with fwd.dual_level():
        dual = fwd.make_dual(torch.ones(2), torch.ones(2))
        with pytest.raises(error, match=message):
            call(dual)
        assert fwd.unpack_dual(dual * 2).tangent.tolist() == [2.0, 2.0]


def test_what_is_refused_without_a_level():
    with pytest.raises(RuntimeError, match="no level exists"):
        fwd.make_dual(f64(1.0), f64(1.0))
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        fwd.exit_dual_level()


# Together with reverse mode


def test_backward_of_a_tangent_is_a_hessian_vector_product():
    x = leaf([1.0, 2.0])
    with fwd.dual_level():
        y = (fwd.make_dual(x, f64(1.0, 10.0)) ** 3).sum()
        slope = fwd.unpack_dual(y).tangent
        (hvp,) = torch.autograd.grad(slope, x)
    assert slope.item() == 3.0 + 120.0 and hvp.tolist() == [6.0, 120.0]


def test_the_tangent_of_a_gradient_is_a_hessian_vector_product():
    with fwd.dual_level():
        dual = fwd.make_dual(leaf([1.0, 2.0]), f64(1.0, 10.0))
        (g,) = torch.autograd.grad((dual**3).sum(), dual, create_graph=True)
        assert fwd.unpack_dual(g).tangent.tolist() == [6.0, 120.0]


def test_a_tangent_itself_may_be_differentiated():
    t = leaf([1.0, 1.0])
    with fwd.dual_level():
        out = fwd.unpack_dual(fwd.make_dual(f64(2.0, 3.0), t) ** 2).tangent
    assert torch.autograd.grad(out.sum(), t)[0].tolist() == [4.0, 6.0]


SMOOTH = {
    "cube": lambda x: x * x * x, "power": lambda x: x**3, "sin": torch.sin, "exp": torch.exp, "tanh": torch.tanh,
    "quotient": lambda x: 1 / x, "sum": lambda x: (x * x).sum(), "softmax": lambda x: x.softmax(0),
    "product": lambda x: x[:, None] @ x[None] @ x,
}  # fmt: skip


@pytest.mark.parametrize("saved", ["plainly", "through hooks"])
@pytest.mark.parametrize("name", SMOOTH)
def test_the_gradient_of_a_tangent_by_its_direction_has_no_tangent(name, saved):
    """Case 5 of NOTE [Dual levels]: what a rule's operations saved had the tangents of the level that it computed for."""
    x, t = leaf([2.0, 3.0]), leaf([1.0, 1.0])
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda saved: saved, lambda saved: saved)
    with fwd.dual_level(), hooks if saved == "through hooks" else contextlib.nullcontext():
        slope = fwd.unpack_dual(SMOOTH[name](fwd.make_dual(x, t))).tangent
        (g,) = torch.autograd.grad(slope.sum(), t, create_graph=True)
        primal, tangent = fwd.unpack_dual(g)
        (expected,) = torch.autograd.grad(SMOOTH[name](x).sum(), x)
    assert tangent is None
    assert primal.tolist() == pytest.approx(expected.tolist(), abs=1e-14)


def test_a_rule_keeps_what_is_written_over():
    """The alias that a tangent rule saves of an in-place operation's target went on to share its memory."""

    def shifted_product(x):
        y = x.clone()
        y[1:].mul_(x[:-1])
        y[0] = x[-1] * 2
        return y

    x = leaf([0.5, 1.5, 2.0])
    with fwd.dual_level():
        slope = fwd.unpack_dual(shifted_product(fwd.make_dual(x, x * 0.5 + 1))).tangent
    assert torch.autograd.grad(slope.sum(), x)[0].tolist() == [2.5, 4.5, 3.5]


def test_a_rule_keeps_the_tangents_of_the_levels_around_its_own():
    def slope(f):
        def along(x):
            with fwd.dual_level():
                return fwd.unpack_dual(f(fwd.make_dual(x, torch.ones_like(x)))).tangent

        return along

    x = leaf([0.5])
    third = slope(slope(slope(lambda x: (2 * x).sin())))(x)
    assert third.tolist() == pytest.approx([-8 * math.cos(1.0)])
    assert torch.autograd.grad(third, x)[0].tolist() == pytest.approx([16 * math.sin(1.0)])


def test_backward_of_a_dual_root_fills_grad_of_the_primal():
    x = leaf([1.0, 2.0])
    with fwd.dual_level():
        (fwd.make_dual(x, f64(1.0, 0.0)) ** 2).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_grad_accumulates_in_place_in_a_dual_level():
    """It was replaced, so a `.grad` that was kept in sight stayed as it was."""
    x = leaf([1.0, 2.0])
    (x * 2).sum().backward()
    g = x.grad
    with fwd.dual_level():
        (x * 3).sum().backward()
        (fwd.make_dual(x, f64(1.0, 0.0)) ** 2).sum().backward()
        assert fwd.unpack_dual(x.grad).tangent.tolist() == [2.0, 0.0]
    assert x.grad is g and g.tolist() == [7.0, 9.0]


def test_the_number_of_the_level():
    assert fwd._current_level == -1
    with fwd.dual_level() as level:
        assert level == fwd._current_level == 0
    assert fwd._current_level == -1


def test_forward_mode_can_be_switched_off():
    with fwd.dual_level():
        x = fwd.make_dual(torch.ones(2), torch.ones(2))
        with fwd._set_fwd_grad_enabled(False):
            assert not fwd._is_fwd_grad_enabled()
            y = x * 2
            with torch.no_grad():
                z = x * 3
            assert [fwd.unpack_dual(t).tangent for t in (x, y, z)] == [None] * 3
            with fwd._set_fwd_grad_enabled(True):
                assert fwd.unpack_dual(x * 2).tangent.tolist() == [2.0, 2.0]
        assert fwd.unpack_dual(x * 2).tangent.tolist() == [2.0, 2.0] and fwd.unpack_dual(y).tangent is None
    torch._C._set_fwd_grad_enabled(False)
    assert not torch._C._is_fwd_grad_enabled()
    with fwd.dual_level():
        x = fwd.make_dual(torch.ones(2), torch.ones(2))
        assert fwd.unpack_dual(x * 2).tangent is None
    torch._C._set_fwd_grad_enabled(True)
    assert torch._C._is_fwd_grad_enabled()


def test_jvp_switches_it_on():
    with fwd._set_fwd_grad_enabled(False):
        _, t = torch.func.jvp(lambda x: x * (3 if fwd._is_fwd_grad_enabled() else 5), (torch.ones(2),), (torch.ones(2),))
        assert t.tolist() == [3.0, 3.0] and not fwd._is_fwd_grad_enabled()
        assert torch.func.jacfwd(torch.sin)(torch.zeros(())).item() == 1.0


def test_it_is_off_within_a_function():
    seen = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(x):
            seen.append(fwd._is_fwd_grad_enabled())
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def jvp(ctx, t):
            seen.append(fwd._is_fwd_grad_enabled())
            return t * 2

    assert torch.func.jvp(Double.apply, (torch.ones(2),), (torch.ones(2),))[1].tolist() == [2.0, 2.0]
    assert seen == [False, False] and fwd._is_fwd_grad_enabled()


def test_inference_mode_switches_it_off():
    with torch.inference_mode():
        assert not fwd._is_fwd_grad_enabled()
        with fwd.dual_level():
            x = fwd.make_dual(torch.ones(2), torch.ones(2))
            assert [fwd.unpack_dual(t).tangent for t in (x, x * 2)] == [None, None]
    with fwd.dual_level():
        x = fwd.make_dual(torch.ones(2), torch.ones(2))
        with torch.inference_mode():
            assert fwd.unpack_dual(x).tangent is None
        assert fwd.unpack_dual(x * 2).tangent.tolist() == [2.0, 2.0]


def test_the_primal_is_a_view_of_its_own():
    """Of a tensor without tangent it was the tensor itself."""
    x = leaf([1.0, 2.0])
    with fwd.dual_level():
        for tensor in (x, fwd.make_dual(x, f64(1.0, 1.0))):
            primal = fwd.unpack_dual(tensor).primal
            assert primal is not tensor and not primal.is_leaf and fwd.unpack_dual(primal).tangent is None
        (primal * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0] and fwd.unpack_dual(x).primal is x


def test_a_tangent_has_no_tangent():
    with fwd.dual_level():
        dual = fwd.make_dual(f64(1.0), f64(1.0))
        with pytest.raises(RuntimeError, match="Setting a forward grad that itself has a forward gradient at the same level"):
            fwd.make_dual(f64(1.0), dual * 2)


def test_detached_in_place_it_has_no_tangent():
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        d = forward.make_dual(torch.ones(2), torch.ones(2)) * 2
        assert forward.unpack_dual(d).tangent.tolist() == [2.0, 2.0]
        d.detach_()
        assert forward.unpack_dual(d).tangent is None


# The tangent that make_dual() was given: case 4 of NOTE [Dual levels], case 8 of NOTE [All or nothing]

IN_PLACE = {
    "mul_": (lambda d: d.mul_(3), [3.0, 3.0, 3.0, 3.0]),
    "a view": (lambda d: d[0:2].mul_(3), [3.0, 3.0, 1.0, 1.0]),
    "an item": (lambda d: d.__setitem__(0, d[1] * 3), [3.0, 1.0, 1.0, 1.0]),
    "a view of a view": (lambda d: d.view(2, 2)[1].mul_(2), [1.0, 1.0, 2.0, 2.0]),
    "zero_": (lambda d: d.zero_(), [0.0, 0.0, 0.0, 0.0]),
    "fill_": (lambda d: d.fill_(7.0), [0.0, 0.0, 0.0, 0.0]),
    "several": (lambda d: [d.mul_(3), d[1:].add_(d[:3].clone()), d[0].zero_()], [0.0, 6.0, 6.0, 6.0]),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_operations_write_the_given_tangent(name):
    write, expected = IN_PLACE[name]
    t = torch.ones(4)
    with fwd.dual_level():
        d = fwd.make_dual(torch.arange(1.0, 5.0), t)
        write(d)
        assert fwd.unpack_dual(d).tangent is t and fwd.unpack_dual(d.sum()).tangent.item() == sum(expected)
    assert t.tolist() == expected and t._version > 0


def test_no_other_tensor_has_the_given_tangent():
    """What was computed before keeps the tangent that it had: d + 1 has d's own."""
    t = torch.ones(2)
    with fwd.dual_level():
        d, e = fwd.make_dual(f64(1.0, 2.0).float(), t), fwd.make_dual(torch.zeros(2), t)
        others = [d + 1, d.clone(), d[:1] + 1, d + torch.zeros(3, 2), torch.cat([d]), d.sum(0, True), e]
        views = [d[:1], d.view(2, 1)]
        before = [fwd.unpack_dual(y).tangent.tolist() for y in others]
        d.mul_(3)
        assert [fwd.unpack_dual(y).tangent.tolist() for y in others] == before
        assert [fwd.unpack_dual(y).tangent.tolist() for y in views] == [[3.0], [[3.0], [3.0]]]
        others[0].mul_(5)
    assert t.tolist() == [3.0, 3.0]


def test_a_node_that_saved_its_output_keeps_the_tangent_as_it_was():
    x = leaf([0.0, 1.0])
    with fwd.dual_level():
        d = fwd.make_dual(x * 1, f64(1.0, 1.0))
        y = d.exp()
        d.mul_(2)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        assert fwd.unpack_dual(g).tangent.tolist() == pytest.approx([1.0, 2.718281828])


def test_given_tangents_that_are_not_written():
    """One that requires grad, one that lies in the primal, one that has a tangent itself."""
    t, x = leaf([1.0, 1.0]), f64(0.0, 1.0)
    with fwd.dual_level():
        d = fwd.make_dual(f64(2.0, 3.0), t)
        d.mul_(3)
        slope = fwd.unpack_dual(d).tangent
        e = fwd.make_dual(x, x)
        e.exp_()
        assert fwd.unpack_dual(e).tangent.tolist() == pytest.approx([0.0, 2.718281828]) and x.tolist() == e.tolist()
        outer = fwd.make_dual(f64(1.0), f64(5.0))
        with fwd.dual_level():
            inner = fwd.make_dual(f64(3.0), outer)
            inner.mul_(2)
            assert fwd.unpack_dual(inner).tangent.tolist() == [2.0]
    assert t.tolist() == [1.0, 1.0] and torch.autograd.grad(slope.sum(), t)[0].tolist() == [3.0, 3.0]


def test_a_tangent_is_laid_out_as_its_primal():
    primal = torch.arange(6.0).reshape(2, 3).t()
    with fwd.dual_level():
        t = torch.ones(3, 2, requires_grad=True)
        d = fwd.make_dual(primal, t)
        assert fwd.unpack_dual(d).tangent.stride() == (1, 3) and fwd.unpack_dual(d * 2).tangent.stride() == (1, 3)
        assert torch.autograd.grad(fwd.unpack_dual(d * 2).tangent.sum(), t)[0].tolist() == [[2.0, 2.0]] * 3
        e = fwd.make_dual(torch.zeros(2, 3), torch.ones(3).expand(2, 3))
        e[0].mul_(2)
        assert fwd.unpack_dual(e).tangent.tolist() == [[2.0] * 3, [1.0] * 3]


def test_a_function_that_writes_a_view_of_a_dual():
    """The tangent that its jvp wrote went to the view alone."""

    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def jvp(ctx, t):
            return t.mul_(2)

    with fwd.dual_level():
        y = fwd.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0])) * 1
        Doubled.apply(y[:1])
        assert (y.tolist(), fwd.unpack_dual(y).tangent.tolist()) == ([2.0, 2.0], [20.0, 20.0])


def test_where_a_place_is_written_twice_the_last_tangent_counts():
    with fwd.dual_level():
        values = fwd.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0]))
        twice = torch.tensor([1, 1])
        written = [torch.zeros(3).index_put((twice,), values), torch.zeros(3).scatter(0, twice, values)]
        assert [fwd.unpack_dual(y).tangent.tolist() for y in written] == [[0.0, 20.0, 0.0]] * 2
        added = torch.zeros(3).index_put((twice,), values, accumulate=True)
        assert fwd.unpack_dual(added).tangent.tolist() == [0.0, 30.0, 0.0]


def test_levels_nest():
    """Each level has its tangents, and the tangent at an inner one has those of the outer ones."""
    x = f64(2.0)[0]
    with fwd.dual_level():
        outer = fwd.make_dual(x, torch.ones_like(x))
        with fwd.dual_level():
            assert fwd._current_level == 1
            inner = fwd.make_dual(outer, torch.ones_like(x))
            y, t = fwd.unpack_dual(inner**3)
            assert fwd.unpack_dual(y).tangent is None and fwd.unpack_dual(outer * 2).tangent is None
        assert (y.item(), t.item()) == (8.0, 12.0)
        assert [fwd.unpack_dual(v).tangent.item() for v in (y, t)] == [12.0, 12.0]
    assert fwd._current_level == -1


def test_writes_in_nested_levels():
    with fwd.dual_level():
        a = fwd.make_dual(f64(1.0, 2.0, 3.0), f64(1.0, 0.0, 0.0))
        with fwd.dual_level():
            b = fwd.make_dual(a * 1, f64(0.0, 1.0, 0.0))
            y = b * 1
            part = y[:2]
            part.mul_(b[1:])
            y[2] = b[0] * b[1]
            y.mul_(y.sum())
            values, tangents = fwd.unpack_dual(y)
        outer = [fwd.unpack_dual(v).tangent for v in (values, tangents)]

    def function(x):
        z = torch.stack([x[0] * x[1], x[1] * x[2], x[0] * x[1]])
        return z * z.sum()

    x, e0, e1 = f64(1.0, 2.0, 3.0), f64(1.0, 0.0, 0.0), f64(0.0, 1.0, 0.0)

    def along(v, e):
        return torch.func.jvp(function, (v,), (e,))[1]

    assert values.tolist() == function(x).tolist()
    assert tangents.tolist() == along(x, e1).tolist() and outer[0].tolist() == along(x, e0).tolist()
    step = 1e-6
    mixed = (along(x + step * e0, e1) - along(x - step * e0, e1)) / (2 * step)
    assert (outer[1] - mixed).abs().max() < 1e-6


def test_levels_beyond_the_last_are_refused():
    opened = 0
    try:
        with pytest.raises(RuntimeError, match="more than 64 dual levels"):
            for _ in range(65):
                fwd.enter_dual_level()
                opened += 1
    finally:
        for _ in range(opened):
            fwd.exit_dual_level()
    assert opened == 64 and fwd._current_level == -1


def test_an_operation_without_a_derivative():
    with pytest.raises(NotImplementedError, match=r"Trying to use forward AD with .* that does not support it"):
        tangent(torch.igamma, torch.ones(3), torch.ones(3), torch.ones(3))


WHOLE, PART = "the whole of its memory", "a part of it"


def four(kind, start=0):
    """Four numbers, and how they lie in their memory."""
    return torch.ones(4) if kind == WHOLE else torch.ones(5)[start:start + 4]


@pytest.mark.parametrize(("primal", "tangent", "copied"), [
    (four(WHOLE), four(WHOLE), False), (four(PART), four(PART), False), (four(PART, 1), four(PART, 1), False),
    (four(PART), four(WHOLE), True), (four(WHOLE), four(PART), True), (four(PART, 1), four(PART), True),
    (four(WHOLE)[None], torch.ones(1, 4), False), (four(PART)[:0], torch.ones(0), False),
    (torch.ones(2, 2)[:, :1], torch.ones(2, 1), True),
])  # fmt: skip
def test_a_tangent_that_lies_otherwise_in_its_memory_is_copied(primal, tangent, copied):
    """Else as_strided() of the dual tensor would find another part of memory than the tangent's. So it is in PyTorch."""
    with fwd.dual_level():
        found = fwd.unpack_dual(fwd.make_dual(primal, tangent)).tangent
        assert (found is not tangent) == copied
        before = tangent.clone()
        found *= 2
        assert tangent.equal(before) == (copied or not tangent.numel())


def test_a_dual_tensor_shows_the_memory_around_it():
    with fwd.dual_level():
        dual = fwd.make_dual(torch.arange(5.0)[:4], torch.ones(4))
        primal, tangent = fwd.unpack_dual(dual.as_strided((5,), (1,), 0))
    assert (primal.tolist(), tangent.tolist()) == ([0, 1, 2, 3, 4], [1, 1, 1, 1, 0])


# how a complex tensor may be made of another one: PyTorch only notes conjugates and negatives of its memory
MADE = {
    "itself": lambda x: x,
    "conj": lambda x: x.conj(),
    "imag of conj": lambda x: x.conj().imag,
    "part of conj": lambda x: x.conj()[1:, ::2],
}


@pytest.mark.parametrize("of_tangent", MADE)
@pytest.mark.parametrize("of_primal", MADE)
def test_conjugated_primals_and_tangents(of_primal, of_tangent):
    primal = MADE[of_primal](torch.randn(3, 4, dtype=torch.complex128))
    made = MADE[of_tangent](torch.randn(3, 4, dtype=torch.complex128))
    given = made if made.shape == primal.shape and made.dtype == primal.dtype else torch.rand_like(primal).conj()
    with fwd.dual_level():
        dual = fwd.make_dual(primal, given)
        assert fwd.unpack_dual(dual).tangent.equal(given)
        assert fwd.unpack_dual(dual[1:]).tangent.equal(given[1:])
        assert fwd.unpack_dual(dual.conj()).tangent.equal(given.conj())
        assert fwd.unpack_dual(torch.view_as_real(dual) if dual.is_complex() else dual).tangent is not None
        assert fwd.unpack_dual(dual.real).tangent.equal(given.real)
