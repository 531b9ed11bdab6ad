"""The strides of results. The numbers are the cases of NOTE [Layouts of results]; the oracle is PyTorch."""

import itertools

import numpy as np
import pytest
from common import IS_TORCH

import autograd_cy as ag
from autograd_cy._core.graph.tensor import array_of

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


# chance


def step(x, chance):
    """A view of x."""
    at = int(chance.integers(max(x.ndim, 1)))
    size = x.shape[at] if x.ndim else 0
    kind = str(chance.choice(["permute", "slice", "every other", "expand", "expand more", "unsqueeze", "squeeze", "select"]))
    if kind == "unsqueeze":
        return x.unsqueeze(at)
    if kind == "expand more":
        return x.expand(int(chance.integers(1, 3)), *x.shape)
    if kind == "permute":
        return x.permute(chance.permutation(x.ndim).tolist())
    if x.ndim == 0:
        return x
    if kind == "expand":
        return x.expand(*x.shape[:at], 3, *x.shape[at + 1 :]) if size == 1 else x
    if kind == "squeeze":
        return x.squeeze(at)
    begin = int(chance.integers(size))
    return x[(slice(None),) * at + ({"slice": slice(begin, begin + 2), "every other": slice(None, None, 2)}.get(kind, begin),)]


def of_chance(module, seed):
    """A tensor whose dimensions are permuted, sliced, expanded, ..."""
    chance = np.random.default_rng(seed)
    sizes = [int(n) for n in chance.choice([1, 1, 2, 3, 4], int(chance.integers(5)))]
    x = module.arange(float(np.prod(sizes, dtype=int))).reshape(sizes)
    for _ in range(int(chance.integers(5))):
        x = step(x, chance) if x.ndim < 6 else x
    return x


def relevant(x):
    """The strides, but for those along dimensions of one element (docs/differences.md)."""
    return [stride for stride, size in zip(x.stride(), x.shape, strict=True) if size != 1]


def gradient(x):
    x = x.detach().requires_grad_()
    (x * x).sum().backward()
    return x.grad


OF_ONE = {
    "zeros_like": lambda m, x: m.zeros_like(x),
    "ones_like": lambda m, x: m.ones_like(x, dtype=m.float64),
    "empty_like": lambda m, x: m.empty_like(x),
    "full_like": lambda m, x: m.full_like(x, 2),
    "rand_like": lambda m, x: m.rand_like(x),
    "randn_like": lambda m, x: m.randn_like(x, dtype=m.complex64),
    "tensor": lambda m, x: m.tensor(x.numpy()),
    "clone": lambda m, x: x.clone(),
    "double": lambda m, x: x.double(),
    "half": lambda m, x: x.half(),
    "exp": lambda m, x: x.exp(),
    "with a number": lambda m, x: 2 - x,
    "square": lambda m, x: x**2,
    "of a number": lambda m, x: 2**x,
    "comparison": lambda m, x: x > 2,
    "where": lambda m, x: m.where(x > 1, x, 0.0),
    "softmax": lambda m, x: x.softmax(-1),
    ".grad": lambda m, x: gradient(x),
    "the view": lambda m, x: x,
}
OF_TWO = {
    "add": lambda m, x, y: x + y,
    "mul": lambda m, x, y: x * y,
    "pow": lambda m, x, y: x**y,
    "where": lambda m, x, y: m.where(x > y, x, y),
    "alpha": lambda m, x, y: m.add(x, y, alpha=2),
    "clamp": lambda m, x, y: x.clamp(min=y),
}


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_of_random_layouts(first):
    """`zeros_like` of expanded tensors was in C order, and so was `rand_like` of any; `.grad` of an expanded leaf was not."""
    theirs = pytest.importorskip("torch")
    for seed in range(first, first + 100):
        ours, other = (of_chance(module, seed) for module in (ag, theirs))
        for name, call in OF_ONE.items():
            found = call(ag, ours)
            assert relevant(found) == relevant(call(theirs, other)), (name, seed, ours.shape, ours.stride())
            assert found.shape == ours.shape


def test_of_pairs_of_random_layouts():
    theirs = pytest.importorskip("torch")
    for seed in range(300):
        order = np.random.default_rng(seed)
        pair = []
        for module in (ag, theirs):
            x = of_chance(module, seed)
            axes = np.random.default_rng(seed).permutation(x.ndim)
            y = x.permute(axes.tolist()).contiguous().permute(np.argsort(axes).tolist())
            pair.append((x, y[:, :1] if x.ndim > 1 and order.random() < 0.5 else y))
        if pair[0][0].numel() == 0 or pair[0][1].shape != pair[1][1].shape:
            continue
        for name, call in OF_TWO.items():
            found = [relevant(call(module, *operands)) for module, operands in zip((ag, theirs), pair, strict=True)]
            assert found[0] == found[1], (name, seed, pair[0][0].stride(), pair[0][1].stride())


# PyTorch 2.13's
OF_VIEWS = [
    (lambda m: m.zeros(4, 2).expand(1, 4, 2), (8, 2, 1)),
    (lambda m: m.zeros(4, 2).t().expand(1, 2, 4), (2, 1, 2)),
    (lambda m: m.zeros(1, 4).expand(3, 4)[:1].unsqueeze(0), (0, 0, 1)),
    (lambda m: m.zeros(2, 1, 4).transpose(0, 1).expand(3, 2, 4), (0, 4, 1)),
    (lambda m: m.zeros_like(m.zeros(2, 1, 4).transpose(0, 1).expand(3, 2, 4)), (8, 4, 1)),
    (lambda m: m.zeros_like(m.zeros(4, 2).t()[None].expand(3, 2, 4)), (8, 1, 2)),
    (lambda m: m.zeros(0, 2), (2, 1)),
    (lambda m: m.zeros(2, 0, 3), (3, 3, 1)),
]


@pytest.mark.parametrize("call, expected", OF_VIEWS, ids=[str(k) for k in range(len(OF_VIEWS))])
def test_of_views(call, expected):
    """A new dimension of size 1 had the stride 0, that beside an expanded one another; without elements all were 0."""
    assert tuple(call(ag).stride()) == expected


def channels_last(module, *sizes):
    """(n, c, *others) whose channels are neighbours in memory."""
    n, c, *others = sizes
    return module.zeros(n, *others, c).permute(0, len(sizes) - 1, *range(1, len(sizes) - 1))


# PyTorch 2.13's
TOGETHER = [
    ("along the channels", lambda m, a: m.cat([a, channels_last(m, 2, 1, 4, 5)], 1), (80, 1, 20, 4)),
    ("along the batch", lambda m, a: m.cat([a, a], 0), (60, 1, 15, 3)),
    ("along a row", lambda m, a: m.cat([a, a], 3), (120, 1, 30, 3)),
    ("C order second", lambda m, a: m.cat([a, m.zeros(2, 3, 4, 5)], 1), (120, 20, 5, 1)),
    ("C order first", lambda m, a: m.cat([m.zeros(2, 3, 4, 5), a], 1), (120, 20, 5, 1)),
    ("stacked", lambda m, a: m.stack([a, a]), (120, 60, 1, 15, 3)),
    ("stacked at 1", lambda m, a: m.stack([a, a], 1), (120, 3, 1, 30, 6)),
    ("stacked at 2", lambda m, a: m.stack([a, a], 2), (120, 1, 60, 15, 3)),
    ("stacked at the end", lambda m, a: m.stack([a, a], -1), (120, 40, 10, 2, 1)),
    ("transposed", lambda m, a: m.cat([m.zeros(2, 3).t()] * 2), (2, 1)),
    ("transposed, stacked", lambda m, a: m.stack([m.zeros(2, 3).t()] * 2), (6, 2, 1)),
    ("volumes", lambda m, a: m.cat([channels_last(m, 1, 5, 2, 3, 4)] * 2, 1), (240, 1, 120, 40, 10)),
    ("one", lambda m, a: m.cat([a]), (60, 1, 15, 3)),
    ("sliced", lambda m, a: m.cat([a[:, :, ::2]] * 2, 1), (60, 1, 30, 6)),
]


@pytest.mark.parametrize("name, call, expected", TOGETHER, ids=[case[0] for case in TOGETHER])
def test_of_cat_and_stack(name, call, expected):
    assert tuple(call(ag, channels_last(ag, 2, 3, 4, 5)).stride()) == expected


def test_places_of_a_condition_are_dense():
    assert [t.stride() for t in ag.where(ag.tensor([[1, 0], [1, 1]]))] == [(1,), (1,)]
