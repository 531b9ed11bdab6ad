"""out=: results written into a tensor that is given, and refused where that would be recorded."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import autograd_cy as torch


def test_result_is_written_into_out_and_returned() -> None:
    a, b, out = torch.ones(3), torch.full((3,), 2.0), torch.zeros(3)
    memory = out.numpy()
    assert torch.add(a, b, out=out) is out
    np.testing.assert_array_equal(memory, [3.0, 3.0, 3.0])
    assert out._version == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda out: torch.exp(torch.ones(2), out=out),
        lambda out: torch.matmul(torch.ones(2, 3), torch.ones(3), out=out),
        lambda out: torch.cat((torch.ones(1), torch.ones(1)), out=out),
        lambda out: torch.sum(torch.ones(2, 3), 1, out=out),
    ],
    ids=["elementwise", "product", "of several", "reduction"],
)
def test_operations_of_all_kinds_take_it(call) -> None:
    out = torch.zeros(2)
    expected = call(None)
    np.testing.assert_array_equal(call(out).numpy(), expected.numpy())


def test_number_types_are_brought_to_outs() -> None:
    assert torch.add(torch.tensor([1, 2]), 1, out=torch.zeros(2)).tolist() == [2.0, 3.0]


ONE_TYPE = {
    "mm": lambda t, out: t.mm(t.ones(2, 2), t.ones(2, 2), out=out(2, 2, dtype=t.float64)),
    "index_select": lambda t, out: t.index_select(t.ones(2), 0, t.tensor([0]), out=out(1, dtype=t.float64)),
    "where": lambda t, out: t.where(t.ones(2) > 0, t.ones(2), t.ones(2), out=out(2, dtype=t.float64)),
    "tril": lambda t, out: t.tril(t.ones(2, 2), out=out(2, 2, dtype=t.float64)),
    "amax": lambda t, out: t.amax(t.ones(2), 0, out=out((), dtype=t.float64)),
    "inv": lambda t, out: t.linalg.inv(t.eye(2), out=out(2, 2, dtype=t.float64)),
    "argmax": lambda t, out: t.argmax(t.ones(2), 0, out=out(())),
    "numbers of sort": lambda t, out: t.sort(t.ones(2), out=(out(2), out(2))),
    "numbers of max": lambda t, out: t.max(t.ones(2), 0, out=(out(()), out(()))),
    "values of topk": lambda t, out: t.topk(t.ones(2), 1, out=(out(1, dtype=t.float64), out(1, dtype=t.int64))),
    "searchsorted": lambda t, out: t.searchsorted(t.ones(2), t.ones(2), out=out(2)),
    "isposinf": lambda t, out: t.isposinf(t.ones(2), out=out(2)),
    "any": lambda t, out: t.any(t.ones(2), 0, out=out(())),
    "nonzero": lambda t, out: t.nonzero(t.ones(2), out=out(2, 1)),
    "neg": lambda t, out: t.neg(t.ones(2), out=out(2, dtype=t.float64)),
    "ceil of integers": lambda t, out: t.ceil(t.tensor([1, 2]), out=out(2, dtype=t.int32)),
    "clamp by numbers": lambda t, out: t.clamp(t.ones(2), 0, 1, out=out(2, dtype=t.float64)),
    "values of max": lambda t, out: t.max(t.ones(2), 0, out=(out((), dtype=t.float64), out((), dtype=t.int64))),
    "values of sort": lambda t, out: t.sort(t.ones(2), out=(out(2, dtype=t.float64), out(2, dtype=t.int64))),
    "qr": lambda t, out: t.linalg.qr(t.eye(2), out=(out(2, 2, dtype=t.float64), out(2, 2, dtype=t.float64))),
    "isin": lambda t, out: t.isin(t.ones(2), t.ones(2), out=out(2)),
    "float_power": lambda t, out: t.float_power(t.ones(2), 2, out=out(2)),
    "quantile": lambda t, out: t.quantile(t.ones(2), 0.5, out=out((), dtype=t.float64)),
    "mantissas of frexp": lambda t, out: t.frexp(t.ones(2), out=(out(2, dtype=t.float64), out(2, dtype=t.int32))),
    "exponents of frexp": lambda t, out: t.frexp(t.ones(2), out=(out(2), out(2, dtype=t.int64))),
    "sum in another type than out's": lambda t, out: t.sum(t.ones(2), 0, dtype=t.float64, out=out(())),
    "cumsum in another type than out's": lambda t, out: t.cumsum(t.ones(2), 0, dtype=t.float64, out=out(2)),
    "norm": lambda t, out: t.norm(t.ones(2), 2, 0, out=out((), dtype=t.float64)),
    "slice_copy": lambda t, out: t.slice_copy(t.ones(2), out=out(2, dtype=t.float64)),
}

CONVERTED = {
    "clamp by tensors": lambda t, out: t.clamp(t.ones(2), t.zeros(2), out=out(2)),
    "abs of complex numbers": lambda t, out: t.abs(t.tensor([3 + 4j, 0]), out=out(2)),
    "sin": lambda t, out: t.sin(t.ones(2), out=out(2)),
    "sum": lambda t, out: t.sum(t.ones(2), 0, out=out(())),
}


@pytest.mark.parametrize("package", ["autograd_cy", "torch"])
@pytest.mark.parametrize("name", CONVERTED)
def test_others_are_converted(package, name) -> None:
    module = pytest.importorskip(package)
    out = CONVERTED[name](module, lambda size: module.zeros(size, dtype=module.float64))
    assert out.dtype is module.float64 and out.ne(0).any()


@pytest.mark.parametrize("package", ["autograd_cy", "torch"])
@pytest.mark.parametrize("name", ["arange", "linspace", "logspace"])
def test_counted_numbers_fill_an_out_of_as_many_elements(package, name) -> None:
    """They were written to a vector from the first element of `out` on, also across the rows of the tensor around it."""
    module = pytest.importorskip(package)
    around = module.full((2, 3), 7.0)
    out = around.narrow(1, 1, 2)
    calls = {"arange": (0, 4), "linspace": (0, 3, 4), "logspace": (0, 3, 4, 2)}
    assert getattr(module, name)(*calls[name], out=out) is out
    first, second, third, fourth = (0, 1, 2, 3) if name != "logspace" else (1, 2, 4, 8)
    assert around.tolist() == [[7, first, second], [7, third, fourth]] and out.shape == (2, 2)


@pytest.mark.parametrize("package", ["autograd_cy", "torch"])
def test_norm_and_nonzero(package) -> None:
    module = pytest.importorskip(package)
    x, out = module.tensor([[3.0, 4.0], [0.0, 1.0]]), module.empty(0)
    assert module.norm(x, 2, 1, out=out) is out and out.tolist() == [5.0, 1.0]
    assert module.norm(x[:1], out=module.empty(0)).item() == 5.0
    with pytest.raises(RuntimeError, match="nonzero does not support the out kwarg when as_tuple is True"):
        module.nonzero(x, as_tuple=True, out=module.empty(0, dtype=module.int64))


@pytest.mark.parametrize("package", ["autograd_cy", "torch"])
@pytest.mark.parametrize("name", ONE_TYPE)
def test_some_write_in_their_own_type_only(package, name) -> None:
    module, made = pytest.importorskip(package), []

    def out(*size, **options):
        made.append(module.full(size[0] if size == ((),) else size, 5, **{"dtype": module.float32, **options}))
        return made[-1]

    with pytest.raises(RuntimeError):
        ONE_TYPE[name](module, out)
    assert all((x == 5).all() and x._version == 0 for x in made)


def test_empty_out_takes_the_shape() -> None:
    assert torch.exp(torch.zeros(2, 2), out=torch.empty(0)).tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("which", ["an operand", "out", "one of a list"])
def test_refused_with_grad(which: str) -> None:
    x, out = torch.ones(2), torch.zeros(2)
    (out if which == "out" else x).requires_grad_()
    with pytest.raises(RuntimeError, match=r"functions with out=\.\.\. arguments don't support automatic differentiation"):
        if which == "one of a list":
            torch.cat((x[:1], x[1:]), out=out)
        else:
            torch.exp(x, out=out)
    assert out.tolist() == [0.0, 0.0] and out._version == 0


def test_taken_with_grad_under_no_grad() -> None:
    x = torch.zeros(2, requires_grad=True)
    with torch.no_grad():
        assert torch.exp(x, out=torch.zeros(2)).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("out", "kind", "message"),
    [
        ([0.0, 0.0], TypeError, "exp.*argument 'out' must be Tensor, not list"),
        (torch.zeros(2, dtype=torch.int64), RuntimeError, "result type .* can't be cast to the desired output type"),
    ],
    ids=["no tensor", "type"],
)
def test_bad_out_is_refused(out: object, kind: type, message: str) -> None:
    with pytest.raises(kind, match=message):
        torch.exp(torch.ones(2), out=out)  # type: ignore[arg-type]
    assert not isinstance(out, torch.Tensor) or not out.numpy().any()


def test_results_within_results_have_no_place_in_out() -> None:
    # the edges are a tuple of tensors: what stood for them in out= was written to as if they were one
    counts, edges = torch.zeros(2, 2), torch.zeros(2)
    with pytest.raises(TypeError, match="out= must have a tensor for each result"):
        torch.histogramdd(torch.rand(5, 2), [2, 2], out=(counts, edges))
    assert not counts.any() and not edges.any()


def test_other_type_errors_stay_what_they_are() -> None:
    with pytest.raises(TypeError, match="must be Tensor, not str"):
        torch.exp("x", out=torch.zeros(1))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword argument 'into'"):
        torch.exp(torch.ones(1), into=torch.zeros(1))  # type: ignore[call-arg]


def test_duals_are_refused() -> None:
    """As PyTorch refuses them: mul(d, d, out=d) wrote zeros and lost the tangent."""
    forward = torch.autograd.forward_ad
    plain = torch.ones(2)
    with forward.dual_level():
        d = forward.make_dual(torch.ones(2), torch.ones(2))
        for call in (lambda: torch.mul(d, d, out=d), lambda: torch.mul(d, 3.0, out=plain), lambda: torch.mul(plain, 3, out=d)):
            for mode in (torch.enable_grad, torch.no_grad):
                with mode(), pytest.raises(NotImplementedError, match="Trying to use forward AD with mul_out that does not"):
                    call()
        assert d.tolist() == plain.tolist() == forward.unpack_dual(d).tangent.tolist() == [1.0, 1.0]
        with forward._set_fwd_grad_enabled(False):
            assert torch.mul(d, 3.0, out=plain) is plain


def test_hooks_of_what_is_resized_stay() -> None:
    x = torch.ones(0, requires_grad=True)
    seen = []
    x.register_hook(seen.append)
    with torch.no_grad():
        torch.mul(torch.ones(2), 3.0, out=x)
    x.sum().backward()
    assert [g.tolist() for g in seen] == [[1.0, 1.0]]


def test_what_is_resized_has_the_order_of_the_result():
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).t()
    out = torch.empty(0, dtype=torch.float64)
    assert torch.sin(x, out=out) is out and out.stride() == (1, 3) and out.tolist() == x.sin().double().tolist()


def test_no_backward_begins_at_what_was_resized():
    x = torch.ones(0, requires_grad=True)
    y = x + x
    with torch.no_grad():
        torch.mul(torch.ones(2), 2, out=y)
    expected = r"AddBackward0 got an invalid gradient at index 0 - got \[2\] but expected shape compatible"
    with pytest.raises(RuntimeError, match=expected):
        y.backward(torch.ones(2))
    assert x.grad is None
    y.mul_(2)  # recorded: it passes a gradient on to what computed y
    with pytest.raises(RuntimeError, match="AddBackward0 got an invalid gradient"):
        y.sum().backward()
    assert x.grad is None


@pytest.mark.parametrize(
    ("call", "shape"),
    [
        (lambda out: torch.exp(torch.ones(2), out=out), (2,)), (lambda out: torch.sum(torch.ones(2), 0, out=out), ()),
        (lambda out: torch.mm(torch.ones(2, 1), torch.ones(1, 9), out=out), (2, 9)),
        (lambda out: torch.cat([torch.ones(2), torch.ones(3)], out=out), (5,)),
    ],
)  # fmt: skip
def test_an_out_of_another_shape_is_resized_with_a_warning(call: Callable[..., torch.Tensor], shape: tuple[int, ...]) -> None:
    out = torch.zeros(7)
    with pytest.warns(UserWarning, match=r"An output with one or more elements was resized since it had shape \[7\]"):
        assert call(out) is out
    assert torch.equal(out, call(torch.empty(0))) and out.shape == shape


def test_results_of_other_types_resize_out_as_well() -> None:
    x, places, truth = torch.tensor([1.0, 0.0, 2.0]), torch.zeros(7, dtype=torch.int64), torch.zeros(7, dtype=torch.bool)
    with pytest.warns(UserWarning, match="was resized") as given:
        torch.nonzero(x, out=places)
        torch.all(x.bool(), out=truth)
    assert len(given) == 2 and places.tolist() == [[0], [2]] and truth.shape == () and not truth.item()


def test_the_memory_of_a_resized_out_is_kept_where_it_suffices() -> None:
    out = torch.zeros(7)
    head = out[:2]
    with pytest.warns(UserWarning, match="was resized"):
        torch.exp(torch.zeros(2), out=out)
    assert head.tolist() == [1.0, 1.0]


def test_functions_that_make_tensors_resize_out_silently() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for made in (torch.zeros(2, out=torch.ones(3)), torch.linspace(0, 1, 2, out=torch.ones(3)),
                     torch.logspace(0, 1, 2, out=torch.ones(3)), torch.eye(2, out=torch.ones(3))):  # fmt: skip
            assert len(made) == 2
    with pytest.warns(
        UserWarning, match=r"out tensor of shape \[3\] is 3 which does not match the computed number of elements 2"
    ):
        assert torch.arange(2.0, out=torch.ones(3)).tolist() == [0.0, 1.0]


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("shape", [(3,), (1, 4), (0,)])
@pytest.mark.parametrize("is_leaf", [True, False])
def test_without_a_graph_a_tensor_that_requires_grad_is_resized(shape, is_leaf):
    out = torch.ones(shape, requires_grad=True)
    out = out if is_leaf else out * 1
    node = out.grad_fn
    with torch.no_grad():
        assert torch.add(torch.ones(2), torch.ones(2), out=out) is out
        assert torch.mm(torch.ones(2, 2), torch.ones(2, 2), out=torch.ones(1, requires_grad=True)).tolist() == [[2, 2], [2, 2]]
    assert out.tolist() == [2, 2] and out.requires_grad and out.grad_fn is node
    out.sum().backward(inputs=[out]) if is_leaf else None
    assert not is_leaf or out.grad.shape == (2,)
