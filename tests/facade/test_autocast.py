"""autocast: which operations it casts, to what, and where it is in force. Needs ml_dtypes for bfloat16."""

import contextvars
import threading
import warnings

import numpy as np
import pytest
from autocast_facts import LOWERED, LOWERED_SAMPLES, TAKES_BFLOAT16, WIDENED, WIDENED_SAMPLES
from op_calls import Call
from op_case import Maker, Sample, map_arrays
from opinfo import OPS

import autograd_cy as ag

bfloat16 = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
LOW = (ag.bfloat16, ag.float16)
ROWS = {row.name: row for row in OPS}
PLAIN = [row for row in OPS if "float32" in row.dtypes + row.forward and row.through is None]


def dtypes_of(row, sample):
    """The dtypes of a row's results, None for those of values that are no tensors."""
    call = Call(row, sample)
    return [getattr(y, "dtype", None) for y in call(*call.leaves(requires_grad=False))]


def samples_of(row, count=6):
    return list(row.samples(Maker("float32", row.domain)))[:count]


def in_bfloat16(sample):
    def narrow(array):
        return array.astype(bfloat16) if array.dtype == np.float32 else array

    return Sample(map_arrays(narrow, sample.args), map_arrays(narrow, sample.kwargs))


@pytest.mark.parametrize("low", LOW, ids=str)
@pytest.mark.parametrize("row", PLAIN, ids=lambda row: row.name)
def test_results_of_float32(row, low):
    for k, sample in enumerate(samples_of(row)):
        expected = dtypes_of(row, sample)
        if row.name in LOWERED or LOWERED_SAMPLES.get(row.name, "")[k : k + 1] == "l":
            expected = [low if dtype is ag.float32 else dtype for dtype in expected]
        with ag.autocast("cpu", dtype=low):
            assert dtypes_of(row, sample) == expected, sample


@pytest.mark.parametrize("row", [row for row in PLAIN if "bfloat16" in row.dtypes + row.forward], ids=lambda row: row.name)
def test_results_of_bfloat16(row):
    for k, sample in enumerate(list(row.samples(Maker(bfloat16, row.domain)))[:6]):
        expected = dtypes_of(row, sample)
        if row.name in WIDENED or WIDENED_SAMPLES.get(row.name, "")[k : k + 1] == "w":
            expected = [ag.float32 if dtype is ag.bfloat16 else dtype for dtype in expected]
        with ag.autocast("cpu"):
            assert dtypes_of(row, sample) == expected, sample


@pytest.mark.parametrize("name", sorted(TAKES_BFLOAT16))
def test_operations_that_take_bfloat16_within_autocast_alone(name):
    row = ROWS[name]
    for sample in samples_of(row):
        with ag.autocast("cpu"):
            assert dtypes_of(row, in_bfloat16(sample)) == dtypes_of(row, sample)


@pytest.mark.parametrize("row", [row for row in PLAIN if "float64" in row.dtypes], ids=lambda row: row.name)
def test_float64_is_left_alone(row):
    for sample in list(row.samples(Maker("float64", row.domain)))[:3]:
        expected = dtypes_of(row, sample)
        with ag.autocast("cpu"):
            assert dtypes_of(row, sample) == expected


def product(*shape):
    return ag.mm(ag.ones(*shape), ag.ones(*shape)).dtype


def test_contexts_nest():
    assert not ag.is_autocast_enabled("cpu")
    with ag.autocast("cpu") as entered:
        assert isinstance(entered, ag.amp.autocast) and ag.is_autocast_enabled("cpu") and not ag.is_autocast_enabled()
        assert product(1, 1) is ag.bfloat16 is ag.get_autocast_dtype("cpu")
        with ag.autocast("cpu", dtype=ag.float16):
            assert product(1, 1) is ag.float16 is ag.get_autocast_dtype("cpu")
            with ag.autocast("cpu", enabled=False):
                assert product(1, 1) is ag.float32 and not ag.is_autocast_enabled("cpu")
                with ag.autocast("cpu"):
                    assert product(1, 1) is ag.float16
            assert product(1, 1) is ag.float16
        assert product(1, 1) is ag.bfloat16
    assert product(1, 1) is ag.float32


def test_one_context_is_entered_again_and_left_by_an_error():
    context = ag.autocast("cpu")
    with pytest.raises(ZeroDivisionError), context, context:
        raise ZeroDivisionError
    assert product(1, 1) is ag.float32


@pytest.mark.parametrize("call", [
    lambda x, y: x @ y, lambda x, y: x.matmul(y), lambda x, y: x.mm(y), lambda x, y: ag.mm(input=x, mat2=y),
    lambda x, y: ag.nn.functional.linear(x, weight=y), lambda x, y: ag.ops.aten.mm(x, y),
    lambda x, y: ag.vmap(ag.mv, (None, 0))(x, y) @ y, lambda x, y: ag.nn.Linear(2, 2)(x),
    lambda x, y: ag.nn.MultiheadAttention(2, 1)(x, x, x)[0],
])  # fmt: skip
def test_ways_to_a_product(call):
    with ag.autocast("cpu"):
        assert call(ag.ones(2, 2), ag.ones(2, 2)).dtype is ag.bfloat16


@pytest.mark.parametrize(("make", "dtype"), [
    (lambda: ag.nn.LSTM(2, 2)(ag.ones(2, 1, 2))[0], ag.bfloat16), (lambda: ag.nn.GRU(2, 2)(ag.ones(2, 1, 2))[0], ag.float32),
    (lambda: ag.nn.LSTMCell(2, 2)(ag.ones(1, 2))[0], ag.float32), (lambda: ag.nn.RNN(2, 2)(ag.ones(2, 1, 2))[0], ag.bfloat16),
    (lambda: ag.nn.TransformerEncoderLayer(4, 2)(ag.ones(2, 1, 4)), ag.float32),
    (lambda: ag.nn.CrossEntropyLoss()(ag.nn.Linear(2, 2)(ag.ones(1, 2)), ag.tensor([0])), ag.float32),
    (lambda: ag.nn.Softmax(0)(ag.nn.Linear(2, 2)(ag.ones(2))), ag.bfloat16),
    (lambda: ag.nn.Conv2d(1, 1, 1)(ag.ones(1, 1, 2, 2)).relu(), ag.bfloat16),
    (lambda: ag.mm(ag.ones(1, 1), ag.ones(1, 1), out=ag.ones(1, 1)), ag.float32),
    (lambda: ag.ones(1, 1).addmm_(ag.ones(1, 1), ag.ones(1, 1)), ag.float32),
    (lambda: ag.nn.functional.max_pool3d(ag.ones(1, 1, 1, 1).bfloat16(), 1, return_indices=True)[0], ag.bfloat16),
])  # fmt: skip
def test_modules_and_writes(make, dtype):
    with ag.autocast("cpu"):
        assert make().dtype is dtype


def test_writes_are_computed_in_the_dtype_of_what_is_written():
    a = ag.full((1, 1), 1 + 2.0**-20)
    with ag.autocast("cpu"):
        assert ag.zeros(1, 1).addmm_(a, ag.ones(1, 1)).item() == a.item() == ag.mm(a, ag.ones(1, 1), out=ag.ones(1, 1)).item()


def test_gradients_have_the_dtypes_of_their_inputs():
    w, x = ag.randn(3, 2, requires_grad=True), ag.randn(2, 3)
    with ag.autocast("cpu"):
        loss = ag.nn.functional.mse_loss(x @ w, ag.zeros(2, 2))
    loss.backward()
    assert loss.dtype is ag.float32 is w.grad.dtype
    exact = w.detach().requires_grad_()
    ag.nn.functional.mse_loss(x @ exact, ag.zeros(2, 2)).backward()
    assert 0 < (w.grad - exact.grad).abs().max() < 0.1


def test_backward_within_autocast_has_the_dtypes_of_its_forward():
    x = ag.tensor([[1 + 2.0**-20]], requires_grad=True)
    y = (x @ x @ x).sum()
    with ag.autocast("cpu"):
        (g,) = ag.autograd.grad(y, x, create_graph=True)
        assert g.dtype is ag.float32
    np.testing.assert_allclose(g.item(), 3 * x.item() ** 2, rtol=1e-7)


def test_a_weight_is_cast_once():
    w = ag.ones(2, 2, requires_grad=True)

    def cast_of(y):
        return y.grad_fn.next_functions[0][0]

    with ag.autocast("cpu"):
        first, second = w @ w, w @ w
        assert cast_of(first) is cast_of(second) is first.grad_fn.next_functions[1][0]
        with ag.autocast("cpu"), ag.autocast("cpu", cache_enabled=False):
            assert not ag.is_autocast_cache_enabled() and cast_of(w @ w) is not cast_of(first)
        assert cast_of(w @ w) is cast_of(first)
        ag.clear_autocast_cache()
        assert cast_of(w @ w) is not cast_of(first)
    with ag.autocast("cpu"):
        assert cast_of(w @ w) is not cast_of(first)
    (first + second).sum().backward()
    assert w.grad.tolist() == [[8, 8], [8, 8]]


def test_a_kept_cast_is_that_of_the_weight_as_it_is():
    w = ag.ones(1, 1, requires_grad=True)
    with ag.autocast("cpu"):
        with ag.no_grad():
            assert not (w @ w).requires_grad
        assert (w @ w).requires_grad
        with ag.no_grad():
            w.add_(1)
        assert (w @ w).item() == 4
        with ag.autograd.forward_ad.dual_level():
            dual = ag.autograd.forward_ad.make_dual(w, ag.ones(1, 1))
            assert ag.autograd.forward_ad.unpack_dual(dual @ dual).tangent.item() == 4


def test_a_function_is_decorated():
    @ag.autocast("cpu")
    def double(x, times=2):
        """Twice."""
        return x @ x * times

    assert double(ag.ones(1, 1), times=3).dtype is ag.bfloat16 and double.__doc__ == "Twice."
    assert product(1, 1) is ag.float32


def test_other_threads_have_their_own():
    found = []
    with ag.autocast("cpu"):
        thread = threading.Thread(target=contextvars.Context().run, args=(lambda: found.append(product(1, 1)),))
        thread.start()
        thread.join()
    assert found == [ag.float32]


def test_a_context_that_was_copied_within_casts_after_the_end():
    with ag.autocast("cpu"):
        copied = contextvars.copy_context()
    assert copied.run(lambda: (ag.is_autocast_enabled("cpu"), product(1, 1))) == (True, ag.bfloat16)
    assert product(1, 1) is ag.float32


def test_a_context_that_is_left_elsewhere_stays_enabled():
    def entered():
        context = ag.autocast("cpu").__enter__()
        contextvars.copy_context().run(context.__exit__, None, None, None)
        return ag.is_autocast_enabled("cpu"), product(1, 1)

    assert contextvars.copy_context().run(entered) == (True, ag.bfloat16)
    assert product(1, 1) is ag.float32


def test_arguments():
    with ag.autocast("cpu:0"):
        assert product(1, 1) is ag.bfloat16
    for enabled in (None, 0, "x"):
        with pytest.raises(TypeError, match=r"argument 'enabled' must be bool"):
            ag.autocast("cpu", enabled=enabled)
    with pytest.raises(TypeError, match=r"argument 'enabled' must be bool"):
        ag.set_autocast_enabled("cpu", "x")
    with pytest.raises(RuntimeError, match="unsupported autocast device_type 'meta'"):
        ag.autocast("meta")


def test_settings():
    try:
        ag.set_autocast_enabled("cpu", True)
        ag.set_autocast_dtype("cpu", ag.float16)
        assert product(1, 1) is ag.float16 and ag.is_autocast_cpu_enabled() and ag.get_autocast_cpu_dtype() is ag.float16
        assert ag.autocast("cpu").fast_dtype is ag.float16
    finally:
        ag.set_autocast_enabled("cpu", False)
        ag.set_autocast_dtype("cpu", ag.bfloat16)
    assert product(1, 1) is ag.float32
    with pytest.raises(TypeError, match=r"must be torch\.dtype"):
        ag.set_autocast_dtype("cpu", "half")
    with pytest.raises(RuntimeError, match="device"):
        ag.is_autocast_enabled("nothing")


def test_other_dtypes_are_warned_of():
    with pytest.warns(UserWarning, match="target dtype is not supported. Disabling autocast"):
        context = ag.autocast("cpu", dtype=ag.float32)
    with context:
        assert product(1, 1) is ag.float32 and not ag.is_autocast_enabled("cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ag.autocast("cpu"), ag.autocast("cpu", dtype=ag.float32, enabled=False)


def test_modes_of_users_see_calls_as_they_were_made():
    seen = []

    class Noted(ag.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append((func.__name__, args[0].dtype))
            return func(*args, **(kwargs or {}))

    x = ag.ones(1, 1)
    with ag.autocast("cpu"), Noted():
        assert (x @ x).dtype is ag.bfloat16
    with Noted(), ag.autocast("cpu"):
        assert (x @ x).dtype is ag.bfloat16
    assert seen == [("matmul", ag.float32)] * 2


def test_subclasses_take_over_first():
    class Named(ag.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((func.__name__, args[0].dtype))
            return super().__torch_function__(func, types, args, kwargs)

    seen = []
    x = ag.ones(1, 1).as_subclass(Named)
    seen.clear()
    with ag.autocast("cpu"):
        y = x @ x
    assert y.dtype is ag.bfloat16 and type(y) is Named and seen[0] == ("matmul", ag.float32)


seen_in_backward = []


class Cube(ag.autograd.Function):
    """x @ x @ x, which notes what is in force in backward."""

    @staticmethod
    @ag.amp.custom_fwd(device_type="cpu")
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x @ x @ x

    @staticmethod
    @ag.amp.custom_bwd(device_type="cpu")
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        seen_in_backward.append((ag.is_autocast_enabled("cpu"), (x @ x).dtype))
        return (3 * x * x * g).float()


def test_functions_have_in_backward_the_autocast_of_their_forward():
    x = ag.ones(1, 1, requires_grad=True)
    seen_in_backward.clear()
    with ag.autocast("cpu", dtype=ag.float16):
        y = Cube.apply(x)
    y.backward()
    z = Cube.apply(x)
    with ag.autocast("cpu"):
        z.backward()
    assert (y.dtype, z.dtype) == (ag.float16, ag.float32)
    assert seen_in_backward == [(True, ag.float16), (False, ag.float32)]


def test_cast_inputs_of_functions():
    class Square(ag.autograd.Function):
        @staticmethod
        @ag.amp.custom_fwd(device_type="cpu", cast_inputs=ag.float32)
        def forward(ctx, xs, y):
            assert not ag.is_autocast_enabled("cpu") or xs[0].dtype is ag.float16
            return xs[0] @ xs[0] + y

        @staticmethod
        @ag.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            return None, g

    half = ag.ones(1, 1, dtype=ag.float16)
    with ag.autocast("cpu"):
        assert Square.apply([half], half).dtype is ag.float32
    assert Square.apply([half], half).dtype is ag.float16


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_checkpoints_compute_again_under_the_autocast_of_their_forward(use_reentrant):
    seen = []

    def f(x):
        y = x @ x
        seen.append(y.dtype)
        return y.exp().sum()

    for first, second, expected in ((True, False, ag.bfloat16), (False, True, ag.float32)):
        x = ag.ones(2, 2, requires_grad=True)
        with ag.autocast("cpu", enabled=first):
            y = ag.utils.checkpoint.checkpoint(f, x, use_reentrant=use_reentrant)
        with ag.autocast("cpu", enabled=second):
            y.backward()
        assert seen == [expected] * 2 and x.grad.dtype is ag.float32
        seen.clear()


def test_a_step_with_a_scaler():
    model, scaler = ag.nn.Linear(2, 1), ag.amp.GradScaler("cpu", init_scale=1024.0)
    optimizer = ag.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(20):
        with ag.autocast("cpu", dtype=ag.float16):
            loss = ag.nn.functional.mse_loss(model(ag.eye(2)), ag.ones(2, 1))
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 10 and model.weight.grad.dtype is ag.float32


def test_transforms():
    w = ag.ones(2, 2)
    with ag.autocast("cpu"):
        assert ag.func.grad(lambda w: (w @ w).sum())(w).tolist() == [[4, 4], [4, 4]]
        assert ag.vmap(ag.mm)(ag.ones(2, 2, 2), ag.ones(2, 2, 2)).dtype is ag.bfloat16
        y, tangent = ag.func.jvp(lambda w: w @ w, (w,), (w,))
        assert y.dtype is ag.bfloat16 is tangent.dtype


def test_the_end_of_a_block_that_was_not_entered():
    context = ag.autocast("cpu", dtype=ag.float16)
    with pytest.raises(AttributeError, match="'autocast' object has no attribute 'prev'"):
        context.__exit__(None, None, None)
    with context:
        assert ag.is_autocast_enabled("cpu")
    assert not ag.is_autocast_enabled("cpu")
    with pytest.raises(AttributeError, match="left already"):
        context.__exit__(None, None, None)
