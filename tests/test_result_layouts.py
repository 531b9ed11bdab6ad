"""The strides of results. The numbers are the cases of NOTE [Layouts of results]; the oracle is PyTorch."""

import itertools

import numpy as np
import pytest
from common import IS_TORCH

import autograd_cy as ag
from autograd_cy._core.tensor import array_of

pytestmark = pytest.mark.skipif(IS_TORCH, reason="compares with PyTorch, or looks at arrays")


def numbers(*shape):
    return np.random.default_rng(0).random(shape).astype(np.float32)


def operands(module):
    """Tensors that can be broadcast to each other, in many layouts."""
    t = module.from_numpy(numbers(4, 3)).t()
    row, column = module.from_numpy(numbers(4)), module.from_numpy(numbers(3, 1))
    sliced, permuted = module.from_numpy(numbers(3, 8))[:, ::2], module.from_numpy(numbers(4, 2, 3)).permute(1, 2, 0)
    return {
        "rows": module.from_numpy(numbers(3, 4)), "transposed": t, "row": row, "column": column, "sliced": sliced,
        "sliced columns": module.from_numpy(numbers(8, 3)).t()[:, ::2], "expanded": row.expand(3, 4),
        "expanded column": column.expand(3, 4), "number": module.from_numpy(np.array(2.0, np.float32)),
        "three": module.from_numpy(numbers(2, 3, 4)), "permuted": permuted, "one of it": permuted[:, :1],
        "last two": module.from_numpy(numbers(2, 4, 3)).transpose(1, 2), "double": t.double(), "half": t.half(),
        "int": (t * 10).int(), "clone": t.clone(), "clone of expanded": row.expand(3, 4).clone(), "a row": row[None],
        "sliced double": sliced.double(), "expanded double": column.expand(3, 4).double(), "a column": row[None].t().t(),
    }  # fmt: skip


UNARY = ["neg", "abs", "exp", "tanh", "sigmoid", "relu", "isnan", "clone", "double", "contiguous"]
BINARY = ["add", "sub", "mul", "div", "maximum", "lt", "eq"]


def strides(module, call):
    """What a call for each operand, or each pair, gives: the strides, None where they can't be broadcast."""
    made, found = operands(module), {}
    for names in itertools.product(made, repeat=call.__code__.co_argcount):
        try:
            found[names] = tuple(call(*[made[name] for name in names]).stride())
        except (RuntimeError, NotImplementedError):
            found[names] = None
    return found


# 1 to 4


@pytest.mark.parametrize("name", UNARY)
def test_of_one_operand(name):
    theirs = pytest.importorskip("torch")
    assert strides(ag, lambda x: getattr(x, name)()) == strides(theirs, lambda x: getattr(x, name)())


@pytest.mark.parametrize("name", BINARY)
def test_of_two_operands(name):
    theirs = pytest.importorskip("torch")
    assert strides(ag, lambda x, y: getattr(x, name)(y)) == strides(theirs, lambda x, y: getattr(x, name)(y))


def test_of_an_operand_and_a_number():
    theirs = pytest.importorskip("torch")
    assert strides(ag, lambda x: 2.0 - x) == strides(theirs, lambda x: 2.0 - x)


def test_of_three_operands():
    theirs = pytest.importorskip("torch")
    found = [strides(module, lambda c, x, y: module.where(c > 0.5, x, y)) for module in (ag, theirs)]  # noqa: B023
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like"])
def test_of_tensors_like_others(name):
    theirs = pytest.importorskip("torch")
    dense = ["rows", "transposed", "permuted", "last two", "row", "column", "three"]
    made = [[tuple(getattr(module, name)(operands(module)[k]).stride()) for k in dense] for module in (ag, theirs)]
    assert made[0] == made[1]


@pytest.mark.parametrize("shape", [(3, 4), (300, 200)], ids=["small", "from the pool"])
def test_results_own_their_memory(shape):
    array = array_of(ag.from_numpy(numbers(*shape)).t() + 1)
    assert array.flags.owndata and array.base is None and array.flags.f_contiguous and array.flags.aligned
    assert np.array_equal(array, numbers(*shape).T + 1)


def test_negative_strides_have_an_order():
    y = ag.from_numpy(numbers(4, 3)[::-1, ::-1].T) * 1
    assert y.stride() == (1, 3) and np.array_equal(y.numpy(), numbers(4, 3)[::-1, ::-1].T)


def test_a_view_that_does_not_fit_the_strides_is_refused_as_in_pytorch():
    for module in (ag, pytest.importorskip("torch")):
        y = module.from_numpy(numbers(4, 3)).t() + 1
        with pytest.raises(RuntimeError, match="view size is not compatible"):
            y.view(-1)
        assert y.reshape(-1).tolist() == y.contiguous().view(-1).tolist()


def test_dead_results_serve_again_in_any_order():
    """They lie on one shelf: NOTE [Spare arrays]."""
    x = ag.from_numpy(numbers(4, 4))
    for _ in range(3):
        for y in (x.t() + 1, x + 1, x.t() * x, x * x.t()):
            expected = (1, 4) if y.numpy().flags.f_contiguous else (4, 1)
            assert y.stride() == expected
            del y
        assert (x.t() + 1).stride() == (1, 4) and (x + 1).stride() == (4, 1)
        assert np.array_equal((x.t() + 1).numpy(), numbers(4, 4).T + 1)


# 5


STEPS = {
    "elementwise": lambda w, z: (w.t() * z.t()).tanh(),
    "mixed": lambda w, z: (w.t() + z).exp() * w.t(),
    "back in order": lambda w, z: ((w.t() * 2.0).tanh() + z.t()).t(),
    "broadcast": lambda w, z: w.t() * z[0] + w.t()[:, :1],
    "clone": lambda w, z: w.t().clone() * z,
    "convert": lambda w, z: w.t().double() * z,
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("leaf_is_transposed", [False, True])
@pytest.mark.parametrize("seed_is_transposed", [False, True])
@pytest.mark.parametrize("size", [4, 40])
def test_the_gradient_has_the_leafs_layout(name, leaf_is_transposed, seed_is_transposed, size):
    found = []
    for module in (ag, pytest.importorskip("torch")):
        w = module.from_numpy(numbers(size, size))
        w = (w.t() if leaf_is_transposed else w).requires_grad_()
        y = STEPS[name](w, module.from_numpy(numbers(size, size)))
        g = module.ones(size, size, dtype=y.dtype)
        y.backward(g.t() if seed_is_transposed else g)
        found.append((tuple(y.stride()), tuple(w.grad.stride()), w.grad.numpy()))
    assert found[0][:2] == found[1][:2]
    assert np.allclose(found[0][2], found[1][2], rtol=1e-5)


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph")
@pytest.mark.parametrize("transposed", [False, True])
def test_a_recorded_gradient_of_a_leaf_in_order_is_in_order(transposed):
    w = ag.from_numpy(numbers(3, 4)).requires_grad_()
    g = ag.ones(4, 3) if not transposed else ag.ones(3, 4).t()
    (w.t() * w.t()).backward(g, create_graph=True)
    assert w.grad.stride() == (4, 1)
    w.grad = None


def test_the_order_changes_no_bit():
    x = numbers(50, 70)
    results = []
    for layout in (np.ascontiguousarray, np.asfortranarray):
        w = ag.from_numpy(layout(x)).requires_grad_()
        y = (w * w).tanh() / (w + 2.0)
        y.backward(ag.ones(50, 70))
        results.append((y.detach().numpy(), w.grad.numpy()))
    for a, b in zip(*results, strict=True):
        assert np.array_equal(a, b)
