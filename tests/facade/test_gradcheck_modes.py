"""gradcheck with complex numbers, in fast mode and in forward mode; gradgradcheck."""

import pytest
from gradcheck_functions import BOTH_MODES, MISMATCH, leaf, none_or, twice, wrong_twice

import autograd_cy as torch
from autograd_cy.autograd.gradcheck import GradcheckError

gradcheck = torch.autograd.gradcheck
gradgradcheck = torch.autograd.gradgradcheck
Function = torch.autograd.Function


# -- complex numbers -----------------------------------------------------------------------------------------


COMPLEX = {
    "holomorphic": lambda z: z * z * (2 + 1j),
    "conjugate": lambda z: z.conj() * z,
    "to real": lambda z: (z * z.conj()).real,
    "abs": lambda z: z.abs(),
    "real and complex outputs": lambda z: (z.imag, z * 1j),
}


@BOTH_MODES
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_input(name, fast_mode):
    z = leaf(2, 2, dtype="complex128")
    assert gradcheck(COMPLEX[name], (z,), fast_mode=fast_mode, check_forward_ad=True)


@BOTH_MODES
def test_real_input_complex_output(fast_mode):
    assert gradcheck(lambda x: x * (2 + 1j), (leaf(3),), fast_mode=fast_mode, check_forward_ad=True)


@BOTH_MODES
def test_missing_conjugate(fast_mode):
    class Rotate(Function):
        @staticmethod
        def forward(ctx, z):
            return z * (2 + 1j)

        @staticmethod
        def backward(ctx, g):
            return g * (2 + 1j)

    text = "While considering the imaginary part of complex outputs only, " + MISMATCH
    with pytest.raises(GradcheckError, match=text):
        gradcheck(Rotate.apply, (leaf(2, dtype="complex128"),), fast_mode=fast_mode)


def test_gradient_follows_pytorch_convention():
    """abs(z)**2 has the gradient 2z, the direction of steepest ascent."""

    class Square(Function):
        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return (z * z.conj()).real

        @staticmethod
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]

    assert gradcheck(Square.apply, (leaf(2, dtype="complex128"),))


def test_complex_gradgradcheck():
    assert gradgradcheck(lambda z: z * z, (leaf(2, dtype="complex128"),))


# -- fast mode -----------------------------------------------------------------------------------------------


def test_fast_mode_report():
    pattern = rf"(?s){MISMATCH}.*in fast mode.*max per-element difference \(slow mode\) is: (1\.|0\.99)"
    with pytest.raises(GradcheckError, match=pattern):
        gradcheck(wrong_twice, (leaf(30),), fast_mode=True)


def test_fast_mode_takes_few_evaluations():
    calls = []

    def counted(x):
        calls.append(1)
        return x * 2

    assert gradcheck(counted, (leaf(100),), fast_mode=True)
    assert len(calls) < 10


def test_fast_mode_allows_each_entry_its_error():
    """An error of 0.9e-3 in all of 30 entries is one of 0.9e-3 times their weights in the product."""

    class Sum(Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum()

        @staticmethod
        def backward(ctx, g):
            return (g * (1 + 0.9e-3)).expand(30)

    class Expand(Function):
        @staticmethod
        def forward(ctx, x):
            return x.expand(30).clone()

        @staticmethod
        def backward(ctx, g):
            return (g.sum() * (1 + 0.9e-3)).expand(1)

    for func, x in ((Sum.apply, leaf(30)), (Expand.apply, leaf(1))):
        assert gradcheck(func, (x,), fast_mode=True, atol=1e-3, rtol=0.0)
        with pytest.raises(GradcheckError):
            gradcheck(func, (x,), fast_mode=True, atol=0.8e-3, rtol=0.0)


def test_fast_gradgradcheck():
    assert gradgradcheck(lambda a, b: a * b.tanh(), (leaf(2, 3), leaf(3, seed=1)), fast_mode=True)


def test_fast_mode_output_without_gradient():
    with pytest.raises(GradcheckError, match="Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, (leaf(3),), fast_mode=True)


# -- forward mode --------------------------------------------------------------------------------------------


@BOTH_MODES
def test_forward_mode(fast_mode):
    flags = {"check_forward_ad": True, "fast_mode": fast_mode}
    assert gradcheck(lambda a, b: (a * b, a.exp()), (leaf(3), leaf(3, seed=1)), **flags)
    assert gradcheck(lambda a: a * a, (leaf(3),), check_backward_ad=False, **flags)


@BOTH_MODES
def test_wrong_jvp(fast_mode):
    func = twice(none_or(lambda g: g * 2), jvp=lambda t: t * 3)
    assert gradcheck(func, (leaf(3),))
    text = "Jacobian computed with forward mode mismatch for output 0 with respect to input 0"
    with pytest.raises(GradcheckError, match=text):
        gradcheck(func, (leaf(3),), check_forward_ad=True, fast_mode=fast_mode)


def test_wrong_complex_jvp():
    func = twice(none_or(lambda g: g * 2), jvp=lambda t: (t * 2).conj())
    text = "While considering the imaginary part of complex inputs only, Jacobian computed with forward mode"
    with pytest.raises(GradcheckError, match=text):
        gradcheck(func, (leaf(3, dtype="complex128"),), check_forward_ad=True)


def test_wrong_tangent_dtype():
    class ToComplex(Function):
        @staticmethod
        def forward(ctx, x):
            return x * (1 + 0j)

        @staticmethod
        def backward(ctx, g):
            return g.real

        @staticmethod
        def jvp(ctx, t):
            return t * 1

    with pytest.raises(GradcheckError, match="Forward AD gradient has dtype mismatch"):
        gradcheck(ToComplex.apply, (leaf(3),), check_forward_ad=True, check_grad_dtypes=True)


def test_undefined_tangent():
    class Sum(Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.set_materialize_grads(False)
            return a + b

        @staticmethod
        def backward(ctx, g):
            return g, g

        @staticmethod
        def jvp(ctx, s, t):
            if s is None or t is None:
                return 7 * (t if s is None else s)
            return s + t

    inputs = (leaf(3), leaf(3, seed=1))
    with pytest.raises(GradcheckError, match="Mismatch in tangent values for output with index"):
        gradcheck(Sum.apply, inputs, check_forward_ad=True)
    assert gradcheck(Sum.apply, inputs, check_forward_ad=True, check_undefined_grad=False)


# -- gradgradcheck -------------------------------------------------------------------------------------------


def test_gradgradcheck_right():
    assert gradgradcheck(lambda a, b: (a * b).tanh(), (leaf(2, 3), leaf(3, seed=1))) is True
    assert gradgradcheck(lambda a: (a * 2).sum(), (leaf(3),))  # linear: its gradient doesn't depend on a
    assert gradgradcheck(lambda a: (a * a, a.argmax()), (leaf(3),))


def test_gradgradcheck_given_seeds():
    seed = leaf(3, seed=2)
    assert gradgradcheck(lambda a: a * a, (leaf(3),), (seed,))
    assert gradgradcheck(lambda a: a * a, (leaf(3),), seed)
    assert gradgradcheck(lambda a: a * a * a, (leaf(3),), seed.detach())


class Squaring(Function):
    """The forward of x**2."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x


def test_gradgradcheck_strided_seeds():
    strides = []

    class Watch(Squaring):
        @staticmethod
        def backward(ctx, g):
            strides.append(g.stride())
            return 2 * ctx.saved_tensors[0] * g

    flags = {"gen_non_contig_grad_outputs": True, "check_undefined_grad": False}
    assert gradgradcheck(Watch.apply, (leaf(2, 3),), **flags)
    assert strides[0][-1] == 2


def test_gradgradcheck_wrong():
    class Square(Squaring):
        """Its backward forgets that it depends on x."""

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0].detach() * g

    assert gradcheck(Square.apply, (leaf(3),))
    with pytest.raises(GradcheckError, match=MISMATCH):
        gradgradcheck(Square.apply, (leaf(3),))


def test_forward_over_reverse():
    def func(a, b):
        return (a * b).tanh()

    inputs = (leaf(3), leaf(3, seed=1))
    assert gradgradcheck(func, inputs, check_fwd_over_rev=True)
    assert gradgradcheck(
        func, inputs, check_fwd_over_rev=True, check_rev_over_rev=False, check_undefined_grad=False
    )


@pytest.mark.parametrize("batched", [False, True])
def test_forward_mode_sees_inputs_that_require_no_grad(batched):
    """So that the function records nothing meanwhile."""
    seen = []

    class Both(Function):
        @staticmethod
        def forward(ctx, x, y):
            if torch.autograd.forward_ad._current_level >= 0:
                seen.append(x.requires_grad or y.requires_grad)
            return x * 2, y.clone()

        @staticmethod
        def jvp(ctx, x_tangent, y_tangent):
            return x_tangent * 2, y_tangent

    flags = {"check_backward_ad": False, "check_batched_grad": False, "check_batched_forward_grad": batched}
    assert gradcheck(Both.apply, (leaf(2), leaf(2, seed=1)), check_forward_ad=True, **flags)
    assert seen and not any(seen)
