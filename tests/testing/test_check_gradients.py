"""check_gradients: what is right passes, what is wrong is named."""

import numpy as np
import pytest

import autograd_cy as ag

check = ag.testing.check_gradients
f64 = {"dtype": ag.float64}


def leaf(*shape, seed=0, dtype=np.float64):
    values = np.random.default_rng(seed).uniform(0.3, 2, shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * np.random.default_rng(seed + 1).uniform(0.3, 2, shape)
    return ag.from_numpy(np.asarray(values, dtype)).requires_grad_()


def verdict_of(f, *inputs, **options):
    return check(f, *inputs, raise_exception=False, **options)


def function(forward, backward, **methods):
    """A Function of one saved input: backward(x, g)."""

    class Written(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx, g):
            return backward(ctx.saved_tensors[0], g)

    for name, method in methods.items():
        setattr(Written, name, staticmethod(method))
    return Written.apply


RIGHT = {
    "elementwise": (lambda x: x.exp().sin(), [(3, 2)]),
    "several inputs": (lambda x, y: (x * y).tanh() / y, [(3,), (3,)]),
    "several outputs": (lambda x: (x.sin(), x.sum()), [(4,)]),
    "one number": (lambda x: x * x, [()]),
    "broadcast": (lambda x, y: x * y, [(3, 1), (4,)]),
    "empty": (lambda x: x * 2, [(0, 3)]),
    "linear": (lambda x: x.flip(0), [(4,)]),
    "large": (lambda x, y: x @ y, [(40, 30), (30, 50)]),
    "scan": (lambda x: x.cumsum(0), [(60,)]),
}


@pytest.mark.parametrize("mode", ["auto", "full", "probe"])
@pytest.mark.parametrize("name", [name for name in RIGHT if name != "large"])
def test_right(name, mode):
    f, shapes = RIGHT[name]
    verdict = check(f, *[leaf(*shape, seed=i) for i, shape in enumerate(shapes)], mode=mode)
    assert verdict and verdict.outcome == "right" and verdict.digits >= 10 and verdict.culprit is None
    assert set(verdict.checks.values()) <= {"passed"} | {v for v in verdict.checks.values() if v.startswith("not applicable")}


def test_large_inputs_are_probed():
    f, shapes = RIGHT["large"]
    verdict = check(f, *[leaf(*shape) for shape in shapes])
    assert verdict.outcome == "right" and "3 random directions" in verdict.odds and "0.001" in verdict.odds
    assert not check(RIGHT["elementwise"][0], leaf(2)).odds


def test_complex():
    z = leaf(3, dtype=np.complex128)
    assert check(lambda z: z * z.conj() + z.exp(), z).digits >= 10
    assert check(lambda z: (z * z).abs(), z).digits >= 10
    wrong = function(lambda z: z * z, lambda z, g: 2 * z * g)
    assert verdict_of(wrong, z).culprit == "conj"


class Affine:
    """What a module has: named tensors, and a call."""

    def __init__(self, right=True):
        self.weight, self.right = leaf(2, 3), right
        self.offset = leaf(2, seed=4)

    def __call__(self, x):
        return self.weight @ x + (self.offset if self.right else self.offset * self.offset.detach())

    def named_parameters(self, remove_duplicate=True):
        return [("weight", self.weight), ("offset", self.offset)]

    def named_buffers(self, remove_duplicate=True):
        return []


def test_modules():
    """Their parameters are checked, whether an input requires grad or not."""
    module = Affine()
    assert check(module, leaf(3)).digits >= 10 and check(module, leaf(3).detach()).digits >= 10
    assert module.offset.grad is None and module.weight.tolist() == leaf(2, 3).tolist()
    wrong = verdict_of(Affine(right=False), leaf(3))
    assert wrong.culprit == "factor" and "'offset'[" in wrong.text and "Affine" in wrong.text


def test_nested_inputs_and_outputs():
    weights = {"w": leaf(2, 3), "b": [leaf(2, seed=3)]}
    verdict = check(lambda p, x: {"y": (p["w"] @ x + p["b"][0]).tanh()}, weights, leaf(3, seed=5))
    assert verdict.outcome == "right"


def test_inputs_in_single_precision_are_checked_in_double():
    assert check(lambda x: x.exp(), leaf(3, dtype=np.float32)).digits >= 10


def test_the_users_tensors_are_left_alone():
    x = leaf(3)
    before = x.tolist(), x._version
    check(lambda x: x.exp(), x)
    assert (x.tolist(), x._version, x.grad) == (*before, None)


@pytest.mark.parametrize("slope", [0.0, 0.5, 1.0])
def test_any_slope_between_those_of_a_kink_is_right(slope):
    f = function(lambda x: x.relu(), lambda x, g: g * ag.where(x == 0, slope, (x > 0) * 1.0))
    assert check(f, ag.tensor([0.0, 1.0, -1.0], **f64, requires_grad=True), skip=["second order"]).outcome == "right"


@pytest.mark.parametrize("slope", [-0.1, 1.1, 2.0])
def test_another_slope_is_wrong(slope):
    f = function(lambda x: x.relu(), lambda x, g: g * ag.where(x == 0, slope, (x > 0) * 1.0))
    verdict = verdict_of(f, ag.tensor([0.0, 1.0, -1.0], **f64, requires_grad=True))
    assert (verdict.outcome, verdict.culprit) == ("wrong", "ties")
    assert "slopes to its left and right 0 and 1" in verdict.text and "inputs[0][0]" in verdict.text


def test_our_own_operations_at_their_kinks():
    zero, tied = ag.zeros(2, **f64, requires_grad=True), ag.ones(3, **f64, requires_grad=True)
    for f in (ag.relu, ag.abs, lambda x: x.clamp(0, 1), lambda x: ag.maximum(x, -x), lambda x: ag.where(x > 0, x, 2 * x)):
        assert check(f, zero).outcome == "right"
    for f in (lambda x: x.max(), lambda x: x.amax(), lambda x: x.max(0).values, lambda x: x.topk(2).values):
        assert check(f, tied).outcome == "right"


@pytest.mark.parametrize("shared", ["all of it each", "half each"])
def test_tied_entries_share_a_gradient(shared):
    """Each of them may have any part of it, but the parts add up."""
    part = 1.0 if shared == "all of it each" else 0.5
    f = function(lambda x: x.max(), lambda x, g: g * part * (x == x.max()))
    verdict = verdict_of(f, ag.tensor([1.0, 2.0, 2.0], **f64, requires_grad=True), skip=["second order"])
    assert verdict.culprit == ("ties" if part == 1 else None)


@pytest.mark.parametrize("size", [3, 60])
def test_sorting_equal_values_is_right(size):
    values = np.arange(size) // 3 * 1.0
    x = ag.from_numpy(values).requires_grad_()
    assert check(lambda x: x.topk(2).values, x).outcome == "right"


def test_a_jump_or_an_edge_cannot_be_told():
    x = ag.tensor([0.0], **f64, requires_grad=True)
    assert verdict_of(lambda x: x.sqrt(), x).outcome == "cannot tell"
    assert "cannot tell" in verdict_of(lambda x: x.sqrt(), x).text
    jump = ag.tensor([0.0], **f64, requires_grad=True)
    assert verdict_of(lambda x: ag.where(x > 0, x + 1, x), jump).outcome == "cannot tell"


@pytest.mark.parametrize("seed", range(30))
def test_five_percent_in_one_of_1600_entries(seed):
    """What PyTorch's fast mode passes 30 times of 30."""

    def backward(x, g):
        factor = np.ones((40, 40))
        factor[seed, 3] = 1.05
        return 2 * x * g * ag.from_numpy(factor)

    verdict = verdict_of(function(lambda x: x * x, backward), leaf(40, 40), seed=seed)
    assert verdict.culprit == "one entry" and f"({seed}, 3)" in verdict.text


@pytest.mark.parametrize("miss", [0.3, 0.05])
def test_probes_miss_no_more_than_they_say(miss):
    """An error of the size that Verdict.odds names, of rank one: how often is it seen?"""
    from autograd_cy.testing._compare import Probes, probe_backward, probes_for
    from autograd_cy.testing._point import Point

    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((8, 8))
    count, seen = probes_for(miss)
    runs, missed = 200, 0
    for seed in range(runs):
        error = rng.standard_normal((8, 1)) * rng.standard_normal((1, 8))
        right = function(lambda x: ag.from_numpy(matrix) @ x, lambda x, g: ag.from_numpy(matrix.T) @ g)
        probes = Probes(Point(right, [leaf(8)]), count, seed)
        size = probe_backward(probes).resolution / seen
        wrong = matrix + error * size / np.linalg.norm(error)
        probes.point.f = function(lambda x: ag.from_numpy(matrix) @ x, lambda x, g, wrong=wrong: ag.from_numpy(wrong.T) @ g)
        missed += not probe_backward(probes).mismatches
    assert missed / runs < miss + 3 * (miss / runs) ** 0.5


CULPRITS = {
    "sign": function(lambda x: x.cos(), lambda x, g: x.sin() * g),
    "factor": function(lambda x: x * x, lambda x, g: x * g),
    "dropped term": function(lambda x: x * x.exp(), lambda x, g: x * x.exp() * g),
    "detached": function(lambda x: x * x, lambda x, g: None),
    "shape": function(lambda x: x * 2, lambda x, g: (2 * g)[:, :1]),
    "transposed": function(lambda x: x * x, lambda x, g: (2 * x * g).t()),
    "shifted index": function(lambda x: x * x, lambda x, g: (2 * x * g).roll(1, 0)),
    "not repeatable": function(lambda x: x * 2, lambda x, g: g * 2 + ag.rand((), **f64) * 1e-6),
    "recorded": function(lambda x: x * 2, lambda x, g: g * (2.0 if not ag.is_grad_enabled() else 2.1)),
    "layout": function(lambda x: x * 2, lambda x, g: g * (2 if x.is_contiguous() else 3)),
    "dtype": function(lambda x: x * 2, lambda x, g: (g * 2).to(ag.complex128)),
    "input changed": function(lambda x: x * 1, lambda x, g: g * x.detach().add_(1).sub(x.detach() - 1)),
    "seed changed": function(lambda x: x * 2, lambda x, g: g.mul_(2)),
    "float32": function(lambda x: x * x, lambda x, g: g * 2 * x * (1 + 1e-3 * (x.dtype is ag.float32))),
    "undefined": function(lambda x: x * 1, lambda x, g: g + (1e-3 if not g.any() else 0)),
    "forward mode": function(lambda x: x * 2, lambda x, g: g * 2, jvp=lambda ctx, t: t * 3),
    "second order": function(lambda x: x * x, lambda x, g: 2 * x.detach() * g),
    "raises": function(lambda x: x * 2, lambda x, g: g * undefined_name),  # noqa: F821
}


@pytest.mark.parametrize("culprit", CULPRITS)
def test_the_culprit_is_named(culprit):
    with pytest.raises(ag.testing.GradientError) as caught:
        check(CULPRITS[culprit], leaf(3, 3))
    assert caught.value.verdict.culprit == culprit, str(caught.value)
    assert f"'{culprit}'" in str(caught.value) and "Written.apply" in str(caught.value)


def test_a_nan_is_named_and_safe_where_mends_it():
    def f(x):
        return ag.where(x > 1, (x - 1).sqrt() * x, x * 2)

    x = ag.tensor([-2.0, 0.5, 3.0], dtype=ag.float64, requires_grad=True)
    with pytest.raises(ag.testing.GradientError, match=r"2 of 3 entries are NaN.*safe_where\(\)") as caught:
        ag.testing.check_gradients(f, x)
    assert caught.value.verdict.culprit == "nan"
    with ag.autograd.safe_where():
        assert ag.testing.check_gradients(f, x).outcome == "right"


def test_a_broadcast_that_is_not_summed():
    class Add(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g, g[0]

    assert verdict_of(Add.apply, leaf(3, 2), leaf(2)).culprit == "broadcast not summed"


def test_an_input_that_is_needed_for_anothers_gradient():
    class Multiply(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return (g * y, g * x) if all(ctx.needs_input_grad) else (g, g)

    assert verdict_of(Multiply.apply, leaf(3), leaf(3, seed=1)).culprit == "subset of inputs"


def test_the_report_can_be_pasted():
    verdict = verdict_of(CULPRITS["factor"], leaf(2))
    lines = verdict.text.split("To see it again:\n")[1].splitlines()
    names = {"Written": type("Written", (), {"apply": staticmethod(CULPRITS["factor"])})}
    with pytest.raises(ag.testing.GradientError):
        exec("\n".join(line.strip() for line in lines), names)


def test_numpy_functions():
    x = np.linspace(0.5, 2, 4)
    assert check(lambda x: (x**3).sum(), x, gradient=lambda x: 3 * x**2).digits >= 10
    assert check(lambda x, y: float(x @ y), x, x + 1, gradient=lambda x, y: (y, x)).digits >= 10
    assert check(lambda x: np.sin(x), x, gradient=lambda x: np.diag(np.cos(x))).digits >= 10  # a Jacobian
    assert check(lambda x, n: (x**n).sum(), x, 3, gradient=lambda x, n: 3 * x**2).digits >= 10
    verdict = verdict_of(lambda x: (x**3).sum(), x, gradient=lambda x: 3 * x)
    assert verdict.culprit == "dropped term" and "np.array" in verdict.text


def test_skipped_checks():
    f = CULPRITS["second order"]
    verdict = check(f, leaf(3, 3), skip=["second order", "forward over reverse"])
    assert verdict.outcome == "right" and verdict.checks["second order"] == "skipped"


def test_once_differentiable_and_without_forward_mode():
    class Square(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @ag.autograd.function.once_differentiable
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g

    verdict = check(Square.apply, leaf(3))
    assert verdict.outcome == "right"
    for name in ("forward mode", "second order", "batched tangents", "forward over reverse"):
        assert verdict.checks[name].startswith("not applicable"), name


BAD_ARGUMENTS = {
    "no function": (lambda: check(3, leaf(2)), TypeError, "expects a function, not int"),
    "nothing to differentiate": (lambda: check(lambda x: x, ag.ones(2)), ValueError, "at least one input that requires grad"),
    "no tensor returned": (lambda: check(lambda x: 3, leaf(2)), ValueError, "returns a floating point or complex tensor"),
    "unknown mode": (lambda: check(lambda x: x, leaf(2), mode="slow"), ValueError, "'auto', 'full' or 'probe', not 'slow'"),
    "no probability": (lambda: check(lambda x: x, leaf(2), miss=2), ValueError, "miss= from 1e-30 to 0.5, not 2"),
    "unknown check": (lambda: check(lambda x: x, leaf(2), skip=["speed"]), ValueError, "skip= to be a sequence of 'shape'"),
    "one name": (lambda: check(lambda x: x, leaf(2), skip="shape"), ValueError, "skip= to be a sequence"),
    "no gradient": (lambda: check(lambda x: x, np.ones(2), gradient=3), TypeError, "function for gradient=, not int"),
    "no examples": (lambda: check(lambda x: x, leaf(2), max_examples=0), ValueError, "max_examples= of at least 1, not 0"),
}


@pytest.mark.parametrize("name", BAD_ARGUMENTS)
def test_bad_arguments(name):
    call, error, text = BAD_ARGUMENTS[name]
    with pytest.raises(error, match=text):
        call()


def test_what_the_function_raises_is_the_users():
    with pytest.raises(ZeroDivisionError):
        check(lambda x: x * (1 // 0), leaf(2))


def test_the_decorator():
    @ag.testing.gradients(leaf(3))
    def test_sine(x):
        "Its docstring."
        return x.sin()

    assert (test_sine.__name__, test_sine.__doc__) == ("test_sine", "Its docstring.")
    assert test_sine() is None
    with pytest.raises(ag.testing.GradientError):
        ag.testing.gradients(leaf(3, 3))(CULPRITS["sign"])()
