"""NOTE [Gradient ownership], case by case: what is written in place, and what never is (3 and 8: test_added_at_once.py)."""

import threading
import weakref

import numpy as np
import pytest
from counted import SEED, SHAPE, SIDE, backward_of, constant, leaf, same, values, with_grad

import autograd_cy as ag
from autograd_cy._core.graph.tensor import array_of

LONG = 1 << 18  # elements for which other threads may run meanwhile


# cases 1 and 6: the first is kept, and a leaf takes it over


def test_first_gradient_becomes_grad():
    x, c = leaf(), constant(1)
    made = backward_of(x * c)
    assert made == 1
    same(x.grad, SEED.numpy() * c.numpy())


def test_leaf_copies_what_somebody_else_holds():
    x = leaf()
    made = backward_of(x + 1.0)
    assert made == 1
    x.grad.zero_()
    assert SEED.numpy().any()


# case 2: a second one is added in place


def test_second_is_added_to_the_first():
    x, c = leaf(), constant(1)
    shifted, scaled = x + 1.0, x * c  # the product was recorded later: its gradient comes first
    made = backward_of(shifted + scaled)
    assert made == 1
    same(x.grad, SEED.numpy() * c.numpy() + SEED.numpy())


def test_first_is_added_to_the_second():
    x, w = leaf(), constant(1)
    made = backward_of(x @ w + x)
    assert made == 1
    same(x.grad, (SEED @ w.T).numpy() + SEED.numpy())


def test_sum_of_two_that_are_not_ours_is_new():
    x = leaf()
    made = backward_of(x + x)
    assert made == 1
    same(x.grad, SEED.numpy() + SEED.numpy())


# case 4: the gradient is written over the incoming one


def test_chain_is_computed_in_one_array():
    x = leaf()
    y, factors = x, [constant(k) for k in range(6)]
    for c in factors:
        y = y * c
    made = backward_of(y)
    assert made == 1


def test_reshaped_gradient_is_written_over():
    x, c = leaf(), constant(1)
    (row,) = [c.reshape(-1)]
    y = ((x * c).reshape(-1) * row).reshape(SHAPE) * c
    made = backward_of(y)
    assert made == 2  # the chain's, and a copy for the leaf
    same(x.grad, SEED.numpy() * c.numpy() * c.numpy() * c.numpy())
    assert array_of(x.grad).base is None


def test_reshaped_gradient_that_somebody_sees_is_not_written_over():
    x, c = leaf(), constant(1)
    seen = []
    u = x * c
    v = u.reshape(-1) * c.reshape(-1)
    v.register_hook(seen.append)
    (v.reshape(SHAPE) * c).backward(SEED)
    same(seen[0], (SEED.numpy() * c.numpy()).reshape(-1))
    same(x.grad, SEED.numpy() * c.numpy() * c.numpy() * c.numpy())


@pytest.mark.parametrize("watch", ["hook", "retain_grad", "capture", "prehook", "post_hook"])
def test_gradient_that_somebody_sees_is_not_written_over(watch):
    x, a, b = leaf(), constant(1), constant(2)
    u = x * a
    seen = []
    if watch == "hook":
        u.register_hook(seen.append)
    elif watch == "prehook":
        u.grad_fn.register_prehook(lambda g: seen.append(g[0]))
    elif watch == "post_hook":
        u.grad_fn.register_hook(lambda _, g: seen.append(g[0]))
    elif watch == "retain_grad":
        u.retain_grad()
    if watch == "capture":
        seen = ag.autograd.grad(u * b, [u, x], SEED)
        gradient = seen[1]
    else:
        (u * b).backward(SEED)
        gradient = x.grad
    same(u.grad if watch == "retain_grad" else seen[0], SEED.numpy() * b.numpy())
    same(gradient, SEED.numpy() * b.numpy() * a.numpy())


# case 5: the gradient is written over what was saved, if the graph is not retained


def test_saved_output_is_written_over():
    x = leaf()
    made = backward_of(x.exp() + 1.0)
    assert made == 0
    np.testing.assert_allclose(x.grad.numpy(), SEED.numpy() * np.exp(x.detach().numpy()), rtol=1e-6)


def test_saved_input_is_written_over():
    x, c = leaf(), constant(1)
    made = backward_of(x * (c + 1.0))
    assert made == 0
    same(x.grad, SEED.numpy() * (c.numpy() + 1))


def test_retained_graph_keeps_what_it_saved():
    x, c = leaf(), constant(1)
    y = x.exp() * (c + 1.0)
    made = backward_of(y, retain_graph=True)
    assert made == 1
    first, x.grad = x.grad, None
    y.backward(SEED)
    same(x.grad, first.numpy())


def held_by(holder, t):
    """Something that sees the memory of t."""
    return {
        "tensor": lambda: t,
        "array": t.detach().numpy,
        "view": lambda: t[1:],
        "detached": t.detach,
        "buffer": lambda: memoryview(t.detach().numpy()),
        "weak reference": lambda: weakref.ref(array_of(t)),
        "another node": lambda: t * t,
        "its own node": lambda: t.grad_fn._saved_result,
        "handle": lambda: t.grad_fn._raw_saved_result,
    }[holder]()


@pytest.mark.parametrize(
    "holder", ["tensor", "array", "view", "detached", "buffer", "weak reference", "another node", "its own node", "handle"]
)
def test_saved_array_that_somebody_sees_is_not_written_over(holder):
    x = leaf()
    with ag.no_grad():
        before = x.exp()
    t = x.exp()
    y, held = t + 1.0, held_by(holder, t)
    del t
    made = backward_of(y)
    assert made == 1
    same(x.grad, SEED.numpy() * before.numpy())
    if holder in ("tensor", "detached", "its own node"):
        same(held.detach(), before.numpy())
    elif holder in ("array", "buffer"):
        same(before, np.asarray(held))


def test_saved_array_that_a_later_gradient_reads_is_not_written_over():
    """a / b: the gradients of both read b."""
    results = []
    for retain in (True, False):
        a, b = leaf(1), leaf(2)
        ((a + 1.0) / (b + 2.0)).backward(SEED, retain_graph=retain)
        results.append((a.grad.numpy(), b.grad.numpy()))
    for kept, freed in zip(*results, strict=True):
        assert kept.tobytes() == freed.tobytes()


def test_square_reads_its_input_twice():
    x, c = leaf(), constant(1)
    u = x + 1.0
    y = u * u + c
    del u
    y.backward(SEED)
    g = SEED.numpy() * (x.detach().numpy() + 1)
    same(x.grad, g + g)


def entropies(x):
    """Of the rows: a column."""
    return ag.nn.functional.cross_entropy(x, ag.arange(SIDE), reduction="none").unsqueeze(1)


FUNCTIONS = {
    "a * b": lambda a, b: a * b,
    "a / b": lambda a, b: a / b,
    "a - b": lambda a, b: a - b,
    "a ** b": lambda a, b: (a * a + 1) ** b,
    "maximum": ag.maximum,
    "tanh": lambda a, b: (a * b).tanh() + a,
    "sigmoid": lambda a, b: a.sigmoid() * b.sigmoid(),
    "sqrt": lambda a, b: (a * a + 1.0).sqrt() * b,
    "gelu": lambda a, b: 0.5 * a * (1.0 + (0.8 * (b + 0.04 * a**3)).tanh()),
    "reciprocal": lambda a, b: (a * a + 1.0).reciprocal() + b * b,
    "where": lambda a, b: ag.where(a > 0, a * b, b.exp()),
    "clamp": lambda a, b: (a * b).clamp(-1, 1) * a,
    "abs": lambda a, b: (a - b).abs() * b,
    "broadcast": lambda a, b: (a * b[0]) * b[:, :1] + a,
    "layer_norm": lambda a, b: ag.nn.functional.layer_norm(a * b, (SIDE,)) * a,
    "softmax": lambda a, b: (a * b).softmax(-1) * a,
    "cross_entropy": lambda a, b: entropies(a * b) * a,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_writing_in_place_changes_no_bit(name):
    """A retained graph, hooks and the search for NaN leave less or nothing to be written over."""
    found = []
    for run in ("free", "retained", "watched", "nan"):
        a, b = leaf(1), leaf(2)
        with ag.autograd.detect_nan() if run == "nan" else ag.enable_grad():
            inputs = [a + 0.0, b * 1.0]
            y = FUNCTIONS[name](*inputs)
            if run == "watched":
                kept = []
                for tensor in (*inputs, y):
                    tensor.register_hook(kept.append)
            inputs = None
            y.backward(SEED, retain_graph=run == "retained")
        found.append((a.grad.numpy().tobytes(), b.grad.numpy().tobytes()))
    assert found[1:] == found[:1] * 3


def test_freed_graph_says_so_after_saved_arrays_were_written_over():
    x = leaf()
    y = x.exp() * 2.0
    y.backward(SEED)
    with pytest.raises(RuntimeError, match="second time"):
        y.backward(SEED)


# case 7: `.grad` is added to in place


def test_grad_stays_the_same_tensor():
    x, w = leaf(), constant(1)
    (x @ w).backward(SEED)
    first, memory, version, before = x.grad, x.grad.data_ptr(), x.grad._version, x.grad.numpy().copy()
    (x @ w).backward(SEED)
    assert x.grad is first and first.data_ptr() == memory and first._version == version + 1
    same(x.grad, before + before)


@pytest.mark.parametrize("kernel", [True, False])
def test_read_only_grad_is_replaced(kernel):
    x, c = leaf(), constant(1)
    array = values(5)
    array.flags.writeable = False
    x.grad = ag.from_numpy(array) if np.shares_memory(ag.from_numpy(array).numpy(), array) else ag.tensor(array)
    (x * c if kernel else x + 0.0).backward(SEED)
    same(x.grad, values(5) + (SEED.numpy() * c.numpy() if kernel else SEED.numpy()))
    np.testing.assert_array_equal(array, values(5))


def test_threads_lose_no_gradient():
    x, c = ag.zeros(LONG, requires_grad=True), ag.ones(LONG)
    ones = ag.ones(LONG)

    def work():
        for _ in range(25):
            (x * c).backward(ones)
            (x * c + x).backward(ones)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (x.grad.numpy() == 4 * 25 * 3).all()


def test_threads_share_a_retained_graph():
    x, c = ag.zeros(LONG, requires_grad=True), ag.ones(LONG)
    y = (x * c).exp() * c + x
    ones = ag.ones(LONG)

    def work():
        for _ in range(20):
            y.backward(ones, retain_graph=True)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (x.grad.numpy() == 4 * 20 * 2).all()


# all of them


STEPS = [
    lambda x, y: (x * 0.1).exp(),
    lambda x, y: x.tanh() ** 2,
    lambda x, y: (x * x + 1.0).sqrt(),
    lambda x, y: (x * x + 1.0).reciprocal(),
    lambda x, y: x.reshape(-1).sigmoid().reshape(SHAPE),
    lambda x, y: x.t(),
    lambda x, y: x + y[0],
    lambda x, y: x * y[:, :1] * 0.1,
    lambda x, y: ag.where(x > 0, x, y),
    lambda x, y: ag.maximum(x, y),
    lambda x, y: x / (y * y + 1.0),
    lambda x, y: x - y,
    lambda x, y: x.tanh() * y,
    lambda x, y: ag.cat([x[:9], y[9:]]),
    lambda x, y: x + y,
    lambda x, y: entropies(x) * y * 0.1,
]


def gradients_of_program(seed, run):
    random = np.random.default_rng(seed)
    leaves = [leaf(seed + k) for k in range(3)]
    if seed % 2:
        for x in leaves:
            x.grad = constant(seed + 50)
    tensors, kept = list(leaves), []
    for _ in range(random.integers(4, 20)):
        x, y = random.choice(len(tensors), 2)
        tensors.append(STEPS[random.choice(len(STEPS))](tensors[x], tensors[y]))
        if random.random() < 0.4 and len(tensors) > 4:
            del tensors[random.integers(3, len(tensors) - 1)]
    if run == "watched":
        for x in tensors:
            x.register_hook(kept.append)
    y, inputs = tensors[-1], [x.detach().numpy().copy() for x in tensors]
    if run not in ("held", "watched"):
        tensors = None
    y.backward(SEED, retain_graph=run == "retained")
    if run in ("held", "watched"):
        for x, before in zip(tensors, inputs, strict=True):
            same(x.detach(), before)
    return [None if x.grad is None else x.grad.numpy().tobytes() for x in leaves]


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_have_the_same_bits_whoever_holds_what(seed):
    free = gradients_of_program(seed, "free")
    for run in ("retained", "held", "watched"):
        assert gradients_of_program(seed, run) == free


# case 9: under create_graph nothing is written


@pytest.mark.filterwarnings("ignore:Using backward")
def test_created_graph_has_sums_of_its_own():
    x, grad, before = with_grad()
    a = leaf(1)
    y = (x * a).exp() * a + x
    y.backward(SEED, create_graph=True)
    assert x.grad is not grad and x.grad.requires_grad
    same(grad, before)
    plain = leaf(0)
    plain.grad = ag.tensor(before)
    ((plain * a).exp() * a + plain).backward(SEED)
    np.testing.assert_allclose(x.grad.detach().numpy(), plain.grad.numpy(), rtol=1e-5, atol=1e-5)
