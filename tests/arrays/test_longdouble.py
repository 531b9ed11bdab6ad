"""The dtype longdouble: tensors, promotion, numbers, printing, files; derivatives to its digits."""

import contextlib
import copy
import io
import pickle

import numpy as np
import pytest

import autograd_cy as ag

pytestmark = pytest.mark.skipif(ag.longdouble is ag.float64, reason="longdouble is float64 on this platform")

LONG = np.longdouble
EPSILON = np.finfo(LONG).eps
THIRD = LONG(1) / 3  # has digits that float64 has not


def x_of(*values, grad=False):
    return ag.tensor(np.array(values, LONG) + THIRD * 2.0**-55, requires_grad=grad)


def close(found, wanted, units=8):
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=units * float(EPSILON), atol=0)


# tensors


def test_arrays_and_factories_make_tensors_of_it():
    array = np.array([THIRD, 2], LONG)
    assert ag.from_numpy(array).dtype is ag.longdouble
    assert ag.from_numpy(array).numpy() is array or np.shares_memory(ag.from_numpy(array).numpy(), array)
    for t in (ag.zeros(2, dtype=ag.longdouble), ag.full((2,), THIRD, dtype=ag.longdouble), ag.tensor([1, 2], dtype=LONG)):
        assert t.dtype is ag.longdouble and t.element_size() == np.dtype(LONG).itemsize
    assert ag.tensor(THIRD).item() == ag.full((), THIRD, dtype=ag.longdouble).item() == THIRD
    assert ag.tensor([[THIRD], [1]], dtype=ag.longdouble)[0, 0].item() == THIRD
    assert ag.longdouble == np.dtype(LONG) and ag.longdouble.is_floating_point and ag.longdouble.is_signed


def test_linspace_has_its_digits():
    close(ag.linspace(0, 1, 4, dtype=ag.longdouble), [0, THIRD, 2 * THIRD, 1], 1)
    close(ag.logspace(0, 1, 4, dtype=ag.longdouble), LONG(10) ** np.array([0, THIRD, 2 * THIRD, 1]))


def test_item_and_tolist_lose_nothing():
    t = ag.tensor(np.array([THIRD, 1 / THIRD], LONG))
    assert type(t[0].item()) is LONG and t[0].item() == THIRD and t.tolist()[0] == THIRD
    assert type(float(t[0])) is float


def test_conversions():
    t = x_of(1.0)
    assert t.to(ag.float64).dtype is ag.float64 and t.double().to(ag.longdouble).item() == 1
    assert t.long().item() == 1 and t.type_as(ag.ones(1)).dtype is ag.float32
    with pytest.raises(RuntimeError, match=r"no dtype holds both"):
        ag.promote_types(ag.longdouble, ag.complex64)


@pytest.mark.parametrize("other", [ag.bool, ag.int64, ag.float16, ag.float32, ag.float64, ag.uint64])
def test_it_is_the_widest_real_type(other):
    assert ag.promote_types(other, ag.longdouble) is ag.promote_types(ag.longdouble, other) is ag.longdouble
    assert (ag.ones(2, dtype=other) + ag.ones(2, dtype=ag.longdouble)).dtype is ag.longdouble
    assert (ag.ones(2, dtype=ag.longdouble) * 2.5).dtype is ag.longdouble


def test_numbers_of_it_keep_their_digits_and_count_as_numbers():
    assert (ag.ones(2, dtype=ag.longdouble) * THIRD)[0].item() == THIRD
    assert (THIRD * ag.ones(2, dtype=ag.longdouble))[0].item() == THIRD
    assert (ag.ones(2) * THIRD).dtype is ag.float32
    t = ag.zeros(2, dtype=ag.longdouble)
    t[0] = THIRD
    t[1:].fill_(THIRD)
    assert t.tolist() == [THIRD, THIRD]


@pytest.mark.parametrize("number", [THIRD, LONG("1e4000")])
@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (lambda x, t: x**t, lambda a, t: a**t), (lambda x, t: t**x, lambda a, t: t**a),
        (ag.pow, lambda a, t: a**t), (lambda x, t: ag.pow(t, x), lambda a, t: t**a),
        (ag.float_power, lambda a, t: a**t), (lambda x, t: ag.float_power(t, x), lambda a, t: t**a),
        (lambda x, t: ag.add(x, x, alpha=t), lambda a, t: a + a * t),
        (lambda x, t: x.clone().add_(x, alpha=t), lambda a, t: a + a * t),
        (lambda x, t: ag.sub(x, x, alpha=t), lambda a, t: a - a * t),
        (lambda x, t: ag.rsub(x, x, alpha=t), lambda a, t: a - a * t),
        (lambda x, t: ag.addcmul(x, x, x, value=t), lambda a, t: a + t * a * a),
        (lambda x, t: x.clone().addcmul_(x, x, value=t), lambda a, t: a + t * a * a),
        (lambda x, t: ag.addcdiv(x, x, x, value=t), lambda a, t: a + t * a / a),
        (lambda x, t: ag.lerp(x, x + 1, t), lambda a, t: a + t),
        (lambda x, t: x.clone().lerp_(x + 1, t), lambda a, t: a + t),
        (lambda x, t: x[:1].addmv(x[None], x, alpha=t, beta=t), lambda a, t: a[:1] * t + t * (a @ a)),
        (lambda x, t: ag.nn.functional.leaky_relu(-x, t), lambda a, t: -a * t),
        (lambda x, t: ag.nn.functional.threshold(x, t, t), lambda a, t: np.where(a > t, a, t)),
        (lambda x, t: ag.nn.functional.hardtanh(x, -t, t), lambda a, t: a.clip(-t, t)),
        (lambda x, t: ag.nn.functional.elu(-x, t), lambda a, t: t * np.expm1(-a)),
        (lambda x, t: x.index_add(0, ag.tensor([0, 1]), x, alpha=t), lambda a, t: a + a * t),
    ],
)  # fmt: skip
def test_factors_and_exponents_keep_their_digits_and_their_range(call, wanted, number):
    x = x_of(0.25, 0.75)
    with np.errstate(all="ignore"):
        found, right = call(x, number), wanted(x.numpy(), number)
    assert found.dtype is ag.longdouble
    close(found, right)


@pytest.mark.parametrize("order", [THIRD + 1, LONG("2.3")])
@pytest.mark.parametrize("call", [ag.norm, ag.linalg.vector_norm, lambda x, p: ag.dist(x, 0 * x, p)])
def test_orders_of_norms_keep_their_digits(call, order):
    x = x_of(0.25, 0.75)
    close(call(x, order), (x.numpy() ** order).sum() ** (1 / order))


def test_a_float32_tensor_refuses_a_number_beyond_its_range():
    with pytest.raises(RuntimeError, match="without overflow"):
        ag.add(ag.ones(2), ag.ones(2), alpha=LONG("1e4000"))
    with pytest.raises(RuntimeError, match="without overflow"):
        ag.full((2,), LONG("1e4000"), dtype=ag.float64)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x * 1j, lambda x: x + ag.ones(2, dtype=ag.complex128), lambda x: ag.complex(x, x), lambda x: ag.fft.fft(x),
        lambda x: ag.view_as_complex(x.reshape(1, 2)), lambda x: ag.polar(x, x), lambda x: ag.float_power(x, 1j),
    ],
)  # fmt: skip
def test_complex_numbers_are_refused(call):
    with pytest.raises((RuntimeError, NotImplementedError), match=r"longdouble|LongDouble"):
        call(x_of(1.0, 2.0))


def test_a_complex_number_does_not_fit():
    with pytest.raises(RuntimeError, match="long double"):
        ag.full((2,), 1j, dtype=ag.longdouble)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ag.linalg.inv(x), lambda x: ag.nn.functional.conv1d(x[None], x[None]), lambda x: ag.quantile(x, 0.5),
        lambda x: ag.randn(2, dtype=ag.longdouble), lambda x: ag.rand(2, dtype=ag.longdouble), lambda x: x.uniform_(),
        lambda x: ag.nn.functional.layer_norm(x, (2,)), lambda x: ag.nn.functional.dropout(x), lambda x: ag.cdist(x, x),
        lambda x: x.exponential_(), lambda x: x.log_normal_(), lambda x: x.cauchy_(), ag.poisson, lambda x: ag.binomial(x, x),
        lambda x: ag.distributions.Gamma(x, x).sample(), lambda x: ag.distributions.Dirichlet(x).sample(),
        lambda x: ag.nn.functional.max_pool1d(x, 2), lambda x: ag.nn.functional.cross_entropy(x, ag.tensor([0, 1])),
    ],
)  # fmt: skip
def test_what_has_no_kernel_names_itself_and_the_type(call):
    with pytest.raises(NotImplementedError, match=r'"\w[\w.]+" not implemented for \'LongDouble\''):
        call(x_of(1.0, 2.0, 3.0, 4.0).reshape(2, 2))


def test_random_integers_are_those_of_int64():
    x = ag.empty(100, dtype=ag.longdouble).random_()
    assert (x == x.floor()).all() and 2**60 < x.max().item() < 2**63 and x.min().item() >= 0


@pytest.mark.parametrize("name", ["LongDoubleTensor", "torch.LongDoubleTensor"])
def test_the_name_of_its_type_is_one_to_convert_to(name):
    x = ag.ones(2).type(name)
    assert x.dtype is ag.longdouble and x.type() == "torch.LongDoubleTensor"


def test_can_cast_refuses_a_number_as_pytorch_does():
    assert ag.can_cast(LONG, ag.float32) and not ag.can_cast(ag.longdouble, ag.int64)
    with pytest.raises(TypeError, match=r"can_cast\(\): argument 'from_' \(position 1\) must be torch.dtype, not longdouble"):
        ag.can_cast(THIRD, ag.float32)


def losses_of(make):
    """The losses of three steps on the sum of (e^p - p^2)^2, of longdouble and float64."""
    found = []
    for dtype in (ag.longdouble, ag.float64):
        p = ag.nn.Parameter(ag.tensor([[0.5, 1.5], [1.0, 0.25]], dtype=dtype))
        optimizer = make([p])

        def closure(p=p, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (p.exp() - p**2).square().sum()
            loss.backward()
            return loss

        found.append([optimizer.step(closure).item() for _ in range(3)])
        assert p.dtype is dtype
    return found


@pytest.mark.parametrize("make", [ag.optim.LBFGS, ag.optim.Adafactor])
def test_optimizers_that_are_made_of_operations_take_its_steps(make):
    extended, double = losses_of(make)
    np.testing.assert_allclose(np.array(extended, float), double, rtol=1e-9)
    assert extended[2] < extended[0]


@pytest.mark.parametrize("make", [ag.optim.SGD, ag.optim.Adam])
def test_an_optimizer_refuses_it_before_it_changes_anything(make):
    p = ag.nn.Parameter(ag.ones(3, dtype=ag.longdouble))
    p.grad = ag.ones(3, dtype=ag.longdouble)
    with pytest.raises(NotImplementedError, match="LongDouble"):
        make([p], lr=0.1).step()
    assert p.tolist() == [1, 1, 1]


def test_finfo():
    limits = ag.finfo(ag.longdouble)
    assert limits.eps == EPSILON and limits.max == np.finfo(LONG).max and np.isfinite(limits.max)
    assert "dtype=longdouble" in repr(limits) and "max=inf" not in repr(limits)


@contextlib.contextmanager
def precision_of(digits):
    ag.set_printoptions(precision=digits)
    try:
        yield
    finally:
        ag.set_printoptions(profile="default")


def test_it_cannot_be_the_default():
    with pytest.raises(TypeError, match="cannot be the default"):
        ag.set_default_dtype(ag.longdouble)


def test_it_prints_all_digits_that_are_asked_for():
    t = ag.tensor(np.array([THIRD], LONG))
    assert repr(t) == "tensor([0.3333], dtype=torch.longdouble)"
    with precision_of(19):
        assert np.format_float_positional(THIRD, 19, unique=False) in repr(t)
    assert repr(ag.tensor(np.array([1, 2], LONG))) == "tensor([1., 2.], dtype=torch.longdouble)"
    assert repr(ag.tensor(np.array(["1e4000"], LONG))) == "tensor([1.0000e+4000], dtype=torch.longdouble)"


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_pickles_and_copies_keep_it_and_files_refuse_it():
    t = x_of(0.1, 0.2, grad=True)
    for other in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t)):
        assert other.dtype is ag.longdouble and other.requires_grad and other.tolist() == t.tolist()
    for value in (t, t.detach().storage()):
        with pytest.raises(NotImplementedError, match="longdouble differ between platforms"):
            ag.save(value, io.BytesIO())


# values and derivatives


@pytest.mark.parametrize(
    ("name", "value", "slope"),  # at 1/2, to 25 digits
    [
        ("exp", "1.648721270700128146848651", "1.648721270700128146848651"),
        ("erf", "0.5204998778130465376827466", "0.8787825789354447940937240"),
        ("tanh", "0.4621171572600097585023184", "0.7864477329659274101496989"),
        ("sigmoid", "0.6224593312018545646389005", "0.2350037122015944890692774"),
        ("exp2", "1.414213562373095048801689", "0.9802581434685471915370402"),
        ("log10", "-0.3010299956639811952137389", "0.8685889638065036553022579"),
        ("sinc", "0.6366197723675813430755351", "-1.273239544735162686151070"),
    ],
)
def test_values_and_slopes_have_the_digits_of_longdouble(name, value, slope):
    x = ag.tensor(LONG(0.5), requires_grad=True)
    y = getattr(ag, name)(x)
    (g,) = ag.autograd.grad(y, x)
    (recorded,) = ag.autograd.grad(getattr(ag, name)(x), x, create_graph=True)
    close(y.item(), LONG(value))
    close(g.item(), LONG(slope))
    close(recorded.item(), LONG(slope))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (x.exp() * x.sin()).sum(), lambda x: x.softmax(0).log().mean(), lambda x: x.logsumexp(0), lambda x: x.prod(),
        lambda x: x.var(), lambda x: x.std(), lambda x: x.norm(), lambda x: x.cumsum(0) ** 2, lambda x: x.cumprod(0),
        lambda x: x.outer(x) @ x, lambda x: ag.cat([x, x.flip(0)])[1:4] / x[:3], lambda x: x.logcumsumexp(0),
        lambda x: x.max() * x, lambda x: ag.nn.functional.gelu(x), lambda x: ag.nn.functional.mse_loss(x, x.flip(0)),
        lambda x: ag.einsum("i,j->ij", x, x), lambda x: x.gather(0, ag.tensor([1, 1, 2])), lambda x: x.erf().where(x > 1, x),
    ],
)  # fmt: skip
def test_derivatives_are_checked_in_extended_precision(f):
    x = x_of(0.7, 1.3, 2.1, grad=True)
    verdict = ag.testing.check_gradients(f, x)
    assert verdict.outcome == "right" and verdict.digits >= 11
    assert ag.autograd.gradcheck(f, (x,), check_forward_ad=True)
    assert ag.autograd.gradgradcheck(f, (x,))


class Off(ag.autograd.Function):
    """The square, with a derivative that is wrong in its 11th digit: for differences in float64, right."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x * (2 + 1e-7)


def test_checks_see_errors_that_are_small_for_float64():
    ag.autograd.gradcheck(Off.apply, (ag.ones(2, dtype=ag.float64, requires_grad=True),))
    with pytest.raises(RuntimeError, match="Jacobian"):
        ag.autograd.gradcheck(Off.apply, (ag.ones(2, dtype=ag.longdouble, requires_grad=True),))


def test_tolerances_that_are_given_are_kept():
    assert ag.autograd.gradcheck(Off.apply, (ag.ones(2, dtype=ag.longdouble, requires_grad=True),), atol=1e-5, rtol=1e-3)


@pytest.mark.parametrize("f", [lambda x: x.sin() * x, lambda x: x.softmax(0), lambda x: x @ x, lambda x: x.norm(), ag.sort])
def test_vmap_computes_each_sample_in_it(f):
    x = x_of(0.7, 1.3, 2.1, 0.4).reshape(2, 2)
    found, wanted = ag.func.vmap(f)(x), [f(row) for row in x]
    found, wanted = (found[0], [w[0] for w in wanted]) if f is ag.sort else (found, wanted)
    assert found.dtype is ag.longdouble
    close(found, ag.stack(wanted), 2)


def test_unaligned_memory_is_copied():
    memory = np.zeros(3 * np.dtype(LONG).itemsize + 1, np.uint8)
    array = memory[1:].view(LONG)
    array[:] = [THIRD, 2, 3]
    t = ag.from_numpy(array).requires_grad_()
    (t.exp().sum() + t.cumsum(0).max() + t.softmax(0)[0]).backward()
    assert not array.flags.aligned and t.grad.dtype is ag.longdouble and ag.isfinite(t.grad).all()
