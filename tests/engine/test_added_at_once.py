"""Cases 3 and 8 of NOTE [Gradient ownership]: a node adds what it computes to what is there, in one pass."""

import numpy as np
import pytest
from counted import SEED, SHAPE, SIDE, backward_of, constant, leaf, new_arrays, same, values, with_grad

import autograd_cy as ag

# case 3: the node adds its gradient to what is there, with the bits of two steps


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_gradient_is_added_to_the_first_at_once(dtype):
    x, seed = leaf(dtype=dtype), constant(9, dtype=dtype)
    a, b, c = [constant(k, dtype=dtype) for k in (1, 2, 3)]
    made = backward_of(x * a + x * b + x * c, seed)
    assert made == 1
    g, a, b, c = [t.numpy() for t in (seed, a, b, c)]
    expected = ((g * c.conj()) + (g * b.conj())) + (g * a.conj())
    if x.is_complex():
        np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5)
    else:
        same(x.grad, expected)


def test_gradient_is_added_over_the_incoming_one():
    x, a, b = leaf(), constant(1), constant(2)
    made = backward_of((x * a) * b + x)  # one for `g * b`; the sum is written over that
    assert made == 1
    same(x.grad, SEED.numpy() * b.numpy() * a.numpy() + SEED.numpy())


def test_gradient_is_added_in_a_new_array():
    a, b = leaf(1), leaf(2)
    t = np.tanh(a.detach().numpy() * b.detach().numpy())
    made = backward_of((a * b).tanh() + a)  # the other one is written over what tanh had saved
    assert made == 1
    g = SEED.numpy() * (1 - t * t)
    same(a.grad, g * b.detach().numpy() + SEED.numpy())
    same(b.grad, g * a.detach().numpy())


PARTS = {
    "row": lambda x, k: x[k],
    "column": lambda x, k: x[:, k],
    "rows": lambda x, k: x[k : k + 7],
    "every other": lambda x, k: x[:, k::3],
    "none": lambda x, k: x[9:9],
    "last": lambda x, k: x[-1 - k],
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_are_added_to_the_whole(name):
    """Each in its place, without a whole of zeros around it."""
    x, parts = leaf(), [PARTS[name](constant(9), k) for k in range(4)]
    outputs = [PARTS[name](x, k) * 1.0 for k in range(4)]
    made = new_arrays(lambda: ag.autograd.backward(outputs, parts))
    assert made <= 4  # the gradients of the products, where they are large: NumPy makes the zeros
    expected = np.zeros(SHAPE, np.float32)
    for k in reversed(range(4)):
        PARTS[name](expected, k)[...] += parts[k].numpy()
    np.testing.assert_array_equal(x.grad.numpy(), expected)


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("name", PARTS)
def test_bits_do_not_depend_on_who_holds_the_sum(name, held):
    """Zeros around a part would turn each -0.0 of the sum into 0.0: a sum that others hold is copied instead."""
    y = leaf() * 1.0
    part, seed = PARTS[name](y, 1), ag.full(SHAPE, -0.0)
    whole = y if held else y * 2.0  # the caller holds a seed; nothing else holds the gradient of a product
    (found,) = ag.autograd.grad([part, whole], y, [PARTS[name](constant(9), 1), seed])
    expected = np.full(SHAPE, -0.0, np.float32)
    PARTS[name](expected, 1)[...] += PARTS[name](constant(9), 1).numpy()
    assert found.numpy().tobytes() == expected.tobytes()
    assert np.signbit(seed.numpy()).all() and not seed.numpy().any()


def test_parts_are_added_to_grad():
    x = leaf()
    x.grad = constant(50)
    grad, before = x.grad, x.grad.numpy().copy()
    x[3].backward(SEED[0])
    before[3] += SEED[0].numpy()
    assert x.grad is grad
    same(grad, before)


@pytest.mark.parametrize("seed", ["the same row", "the next row", "overlapping"])
def test_part_of_grad_is_added_to_grad(seed):
    memory = values(3, (SIDE + 1, SIDE))
    x = leaf()
    x.grad = ag.from_numpy(memory[:-1])
    g = {"the same row": memory[5], "the next row": memory[6], "overlapping": memory.reshape(-1)[5 * SIDE + 3 : 6 * SIDE + 3]}
    expected, g = memory[:-1].copy(), g[seed]
    expected[5] += g
    x[5].backward(ag.from_numpy(g))
    same(x.grad, expected)


@pytest.mark.parametrize("layout", ["transposed", "every other", "reversed", "unaligned", "broadcast"])
def test_operands_of_any_layout_are_added(layout):
    x = leaf()
    c = {
        "transposed": values(1).T,
        "every other": values(1, (SIDE, 2 * SIDE))[:, ::2],
        "reversed": values(1)[::-1, ::-1],
        "unaligned": np.frombuffer(b"." + values(1).tobytes(), np.uint8)[1:].view(np.float32).reshape(SHAPE),
        "broadcast": values(1, (SIDE, 1)),
    }[layout]
    (x + x * ag.from_numpy(c.copy() if layout == "unaligned" else c)).backward(SEED)
    np.testing.assert_array_equal(x.grad.numpy(), SEED.numpy() * c + SEED.numpy())


# case 8: the node adds its gradient to `.grad` at once


def test_gradient_is_added_to_grad_at_once():
    x, grad, before = with_grad()
    c = constant(1)
    version = grad._version
    made = backward_of(x * c)
    assert made == 0
    assert x.grad is grad and grad._version == version + 1
    same(grad, before + SEED.numpy() * c.numpy())


def test_several_gradients_are_summed_before_they_reach_grad():
    """Else the sum would have other bits: `.grad` + (f1 + f2)."""
    x, grad, before = with_grad()
    a, b = constant(1), constant(2)
    (x * a + x * b).backward(SEED)
    same(grad, before + (SEED.numpy() * b.numpy() + SEED.numpy() * a.numpy()))


@pytest.mark.parametrize("watch", ["hook", "post_accumulate", "prehook", "node_hook"])
def test_hooks_of_a_leaf_with_grad_see_the_gradient_alone(watch):
    x, grad, before = with_grad()
    c, seen = constant(1), []
    if watch == "hook":
        x.register_hook(lambda g: seen.append(g.numpy().copy()))
    elif watch == "post_accumulate":
        x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.numpy() - before))
    else:
        node = (x * c).grad_fn.next_functions[0][0]
        if watch == "prehook":
            node.register_prehook(lambda g: seen.append(g[0].numpy().copy()))
        else:
            node.register_hook(lambda _, g: seen.append(g[0].numpy().copy()))
    (x * c).backward(SEED)
    (found,) = seen
    np.testing.assert_allclose(found, SEED.numpy() * c.numpy(), rtol=1e-3, atol=1e-5)
    same(grad, before + SEED.numpy() * c.numpy())


def test_captured_gradient_does_not_reach_grad():
    x, grad, before = with_grad()
    c = constant(1)
    (g,) = ag.autograd.grad(x * c, x, SEED)
    same(g, SEED.numpy() * c.numpy())
    same(grad, before)


def test_backward_to_named_inputs_adds_at_once():
    x, grad, before = with_grad()
    z, other, untouched = with_grad(1)
    (x * z).backward(SEED, inputs=[z])
    same(other, untouched + SEED.numpy() * x.detach().numpy())
    same(grad, before)


def test_stale_operand_leaves_grad_alone():
    """The gradient for the first input can be computed, that for the second can not."""
    x, grad, before = with_grad()
    z = leaf(1)
    y = x * z
    with ag.no_grad():
        x.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward(SEED)
    same(grad, before)
    assert z.grad is None


def test_nan_leaves_grad_alone():
    x, grad, before = with_grad()
    with ag.no_grad():
        x[0, 0] = -1.0
    with ag.autograd.detect_nan():
        y = x.detach().requires_grad_()
        y.grad = grad
        z = y * (constant(1) * float("inf"))
        with pytest.raises(RuntimeError, match="nan"):
            (z * 0.0).backward(SEED)
    same(grad, before)


def test_grad_in_another_layout_is_added_to():
    x, c = leaf(), constant(1)
    x.grad = ag.from_numpy(values(5).T)
    (x * c).backward(SEED)
    np.testing.assert_array_equal(x.grad.numpy(), values(5).T + SEED.numpy() * c.numpy())


def test_grad_that_is_the_operand_is_read_before_it_is_written():
    x, grad, before = with_grad()
    (x * grad).backward(SEED)
    same(grad, before + SEED.numpy() * before)


def test_grad_that_is_the_seed_is_read_before_it_is_written():
    x, grad, before = with_grad()
    (x * 3.0).backward(grad)
    same(grad, before + before * np.float32(3))


@pytest.mark.parametrize("shift", [1, 700, -1, -700])
def test_grad_that_overlaps_an_operand_is_not_written_block_by_block(shift):
    n = SIDE * SIDE
    memory = values(7, (n + 1000,))
    before = memory.copy()
    first, second = (0, shift) if shift > 0 else (-shift, 0)
    x = leaf(shape=(n,))
    c = ag.from_numpy(memory[first : first + n])
    x.grad = ag.from_numpy(memory[second : second + n])
    seed = constant(9, shape=(n,))
    (x * c).backward(seed)
    same(x.grad, before[second : second + n] + seed.numpy() * before[first : first + n])


# what waits is not owned: a node whose incoming gradient has another shape than the input's can't write over that

REDUCED = {
    "var": lambda y: y.var(0),
    "std": lambda y: y.std(0),
    "norm": lambda y: y.norm(2, 0),
    "norm of a kept dimension": lambda y: y.norm(2, 0, True),
    "var of all": lambda y: y.var(),
}


@pytest.mark.parametrize("name", REDUCED)
def test_reduced_gradient_is_not_written_over(name):
    """The sum of (128, 128) went into the gradient of var, of shape (128,), where the one that waited was transposed."""
    results = []
    for transposed in (False, True):
        x = leaf()
        h = x.t() * 1.0 if transposed else x.t().contiguous() * 1.0
        y = REDUCED[name](h) * 2.0  # recorded first: so something waits when its gradient comes
        z = h * (constant(1).t() if transposed else constant(1).t().contiguous())
        seed = SEED.t() if transposed else SEED.t().contiguous()
        ag.autograd.backward([y, z], [ag.ones(y.shape), seed])
        results.append(x.grad.numpy())
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-6)


def test_standardized_columns_of_a_transposed_matrix():
    """The gradient of the bias is about 0; it was -538."""
    a, bias = (ag.arange(16384.0) * 0.37).sin().reshape(128, 128), ag.zeros(128, requires_grad=True)
    y = a.t() + bias
    mean, std = y.mean(0), y.std(0)
    (((y - mean) / std) ** 3).sum().backward()
    assert np.abs(bias.grad.numpy()).max() < 1e-3
