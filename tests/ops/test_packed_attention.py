"""Self-attention of one projection: against the same of other operations, in both layouts, with any mask."""

from typing import ClassVar

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._core.graph.tensor import array_of
from autograd_cy._core.ops.nn.attention import heads_of_projection, in_rows, packed_attention
from autograd_cy._core.ops.overrides import calls_handed_to

F = ag.nn.functional
HEADS, ROWS, SAMPLES, SIZE = 2, 5, 3, 4


def drawn(*sizes, seed=0, dtype="float64"):
    return ag.tensor(np.random.default_rng(seed).standard_normal(sizes).astype(dtype))


def projection(rows_first, dtype="float64", rows=ROWS, **options):
    sizes = (rows, SAMPLES) if rows_first else (SAMPLES, rows)
    return drawn(*sizes, 3 * HEADS * SIZE, dtype=dtype).requires_grad_(**options)


def by_operations(packed, heads, mask, rate, causal, rows_first):
    """What packed_attention computes, without blocks: the weights are made."""
    q, k, v = heads_of_projection(packed, heads, rows_first)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if causal:
        mask = ag.ones(scores.shape[-2:]).tril() != 0
    if mask is not None:
        scores = scores + mask if mask.is_floating_point() else scores.masked_fill(mask.logical_not(), -np.inf)
    return in_rows(scores.softmax(-1) @ v, rows_first)


MASKS = {
    "all": (None, False),
    "causal": (None, True),
    "bools": (ag.ones(ROWS, ROWS).tril(1) != 0, False),
    "added to a head": (drawn(SAMPLES, HEADS, ROWS, ROWS, seed=1), False),
    "added to keys": (drawn(SAMPLES, 1, 1, ROWS, seed=2), False),
}
every_mask = pytest.mark.parametrize(("mask", "causal"), MASKS.values(), ids=MASKS)
both_layouts = pytest.mark.parametrize("rows_first", [False, True], ids=["samples first", "rows first"])


def results(function, packed, mask, causal, rows_first, g=None):
    """The result and the gradient."""
    y = function(packed, HEADS, mask, 0.0, causal, rows_first)
    return y, *ag.autograd.grad(y, packed, drawn(*y.shape, seed=3, dtype=y.detach().numpy().dtype) if g is None else g)


@both_layouts
@every_mask
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-12)])
def test_blocks_are_the_formula(dtype, tolerance, mask, causal, rows_first):
    packed = projection(rows_first, dtype)
    mask = mask.to(packed.dtype) if mask is not None and mask.is_floating_point() else mask
    before = packed.detach().clone()
    y, gradient = results(packed_attention, packed, mask, causal, rows_first)
    assert y.grad_fn.name() == "PackedAttentionBackward0"
    for found, wanted in zip((y, gradient), results(by_operations, packed, mask, causal, rows_first), strict=True):
        assert found.dtype == wanted.dtype and found.is_contiguous()
        np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), rtol=tolerance, atol=tolerance)
    assert packed.detach().equal(before)
    assert not np.shares_memory(gradient.numpy(), packed.detach().numpy())


@both_layouts
@every_mask
def test_derivatives_of_both_orders_and_modes(mask, causal, rows_first):
    packed = projection(rows_first)
    def attention(x):
        return packed_attention(x, HEADS, mask, 0.0, causal, rows_first)
    assert ag.autograd.gradcheck(attention, packed, check_forward_ad=True, check_batched_grad=True)
    assert ag.autograd.gradgradcheck(attention, packed, check_fwd_over_rev=True)


@both_layouts
@pytest.mark.parametrize("rows", [16, 40, 150])
def test_a_mask_of_another_type_lives_as_long_as_it_is_read(rows, rows_first):
    """What is made of it is the kernel's alone: freed too early, its memory would be that of a block."""
    packed, draws = projection(rows_first, rows=rows), np.random.default_rng(0)
    for mask in (draws.random((rows, rows)) < 0.7, draws.standard_normal((rows, rows)).astype(np.float32)):
        mask[:, 0] = 1
        found = results(packed_attention, packed, ag.tensor(mask), False, rows_first)
        for a, b in zip(found, results(by_operations, packed, ag.tensor(mask), False, rows_first), strict=True):
            np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-10, atol=1e-12)


@both_layouts
def test_more_rows_than_a_block(rows_first):
    packed = projection(rows_first, rows=150)
    for causal in (False, True):
        found = results(packed_attention, packed, None, causal, rows_first)
        for a, b in zip(found, results(by_operations, packed, None, causal, rows_first), strict=True):
            np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-10, atol=1e-12)


@both_layouts
def test_any_number_of_threads_gives_the_same_bits(rows_first):
    packed, threads, found = projection(rows_first, "float32", rows=150), ag.get_num_threads(), []
    try:
        for n in (1, 2, 3):
            ag.set_num_threads(n)
            found.append(results(packed_attention, packed, None, True, rows_first))
    finally:
        ag.set_num_threads(threads)
    for others in found[1:]:
        assert all(a.equal(b) for a, b in zip(found[0], others, strict=True))


@both_layouts
@pytest.mark.parametrize("laid", [
    lambda x: x.transpose(0, 2).contiguous().transpose(0, 2), lambda x: x.flip(0).flip(0),
    lambda x: ag.cat([x, x], -1)[..., : x.shape[2]], lambda x: x[:1].expand(x.shape)],
    ids=["turned", "copy", "cut", "expanded"])  # fmt: skip
def test_other_layouts_of_projection_and_gradient(laid, rows_first):
    packed = laid(projection(rows_first, requires_grad=False)).requires_grad_()
    g = laid(drawn(*packed.shape[:2], HEADS * SIZE, seed=4))
    found = results(packed_attention, packed, None, True, rows_first, g)
    same = packed.detach().contiguous().requires_grad_()
    for a, b in zip(found, results(packed_attention, same, None, True, rows_first, g.contiguous()), strict=True):
        assert a.equal(b)


@both_layouts
def test_vmap_is_a_loop(rows_first):
    many, masks = ag.stack([projection(rows_first).detach() * k for k in (1, 2)]), drawn(2, ROWS, ROWS, seed=5)
    found = ag.vmap(lambda x, mask: packed_attention(x, HEADS, mask, 0.0, False, rows_first))(many, masks)
    for k in range(2):
        wanted = packed_attention(many[k], HEADS, masks[k], 0.0, False, rows_first)
        np.testing.assert_allclose(found[k].numpy(), wanted.numpy(), rtol=1e-12)


def test_a_mask_with_a_gradient_gets_it():
    packed, mask = projection(False), drawn(ROWS, ROWS, seed=6).requires_grad_()
    found = ag.autograd.grad(packed_attention(packed, HEADS, mask, 0.0, False, False).square().sum(), (packed, mask))
    wanted = ag.autograd.grad(by_operations(packed, HEADS, mask, 0.0, False, False).square().sum(), (packed, mask))
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("which", ["mask", "projection"])
def test_what_was_changed_is_noticed(which):
    packed, mask = projection(False) * 1, ag.zeros(ROWS, ROWS, dtype=ag.float64)
    y = packed_attention(packed, HEADS, mask, 0.0, False, False)
    with ag.no_grad():
        (mask if which == "mask" else packed).add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("sizes", [(2, ROWS, 24), (SAMPLES, ROWS, 12), (SAMPLES, 9, 24), (SAMPLES, ROWS, 48), (7,), (2, 3)])
def test_memory_that_was_resized_is_not_read_beyond(sizes):
    packed = projection(False)
    y = packed_attention(packed, HEADS, None, 0.0, True, False)
    array_of(packed).resize(sizes, refcheck=False)
    with pytest.raises(RuntimeError, match="the memory of a saved tensor was resized"):
        y.sum().backward()


@pytest.mark.parametrize("changed", range(3))
def test_memory_of_heads_that_was_resized_is_not_read_beyond(changed):
    heads = [drawn(2, 3, 8, 4).requires_grad_() for _ in range(3)]
    y = F.scaled_dot_product_attention(*heads)
    array_of(heads[changed]).resize((2, 3, 4, 4), refcheck=False)
    with pytest.raises(RuntimeError, match="the memory of a saved tensor was resized"):
        y.sum().backward()


def test_a_second_backward_needs_the_graph():
    packed = projection(False)
    y = packed_attention(packed, HEADS, None, 0.0, True, False).sum()
    y.backward(retain_graph=True)
    first = packed.grad.clone()
    y.backward()
    assert packed.grad.equal(2 * first)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_saved_tensor_hooks_see_the_projection():
    packed, seen = projection(False), []
    with ag.autograd.graph.saved_tensors_hooks(lambda x: seen.append(x.shape) or x.numpy().copy(), ag.from_numpy):
        y = packed_attention(packed, HEADS, None, 0.0, True, False)
    assert seen == [packed.shape]
    assert ag.autograd.grad(y.sum(), packed)[0].equal(results(
        packed_attention, packed, None, True, False, ag.ones(y.shape, dtype=y.dtype))[1])


class Seen(ag.Tensor):
    """Notes the operations that are called on it."""

    calls: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        cls.calls.append(function.__name__)
        return super().__torch_function__(function, types, args, kwargs)


def test_subclasses_see_the_operations():
    layer, x = ag.nn.MultiheadAttention(8, HEADS, batch_first=True), ag.randn(SAMPLES, ROWS, 8)
    seen = x.as_subclass(Seen)
    Seen.calls.clear()
    y = layer(seen, seen, seen, need_weights=False)[0]
    assert type(y) is Seen and "scaled_dot_product_attention" in Seen.calls
    plain = layer(x, x, x, need_weights=False)[0]
    np.testing.assert_allclose(y.detach().numpy(), plain.detach().numpy(), rtol=1e-6, atol=1e-7)


def test_who_answers_calls_sees_the_operations():
    names = []

    def answer(function, args, kwargs):
        names.append(function.__name__)
        return function(*args, **kwargs)

    with calls_handed_to(answer):
        packed_attention(projection(False), HEADS, None, 0.0, True, False)
    assert "scaled_dot_product_attention" in names


def test_a_profiler_shows_the_operation_and_its_shapes():
    packed = projection(False)
    with ag.profiler.profile(record_shapes=True) as profile:
        packed_attention(packed, HEADS, None, 0.0, True, False).sum().backward()
    events = {event.name: event for event in profile.events()}
    assert [list(shape) for shape in events["aten::scaled_dot_product_attention"].input_shapes] == [list(packed.shape)]
    assert events["PackedAttentionBackward0"].sequence_nr == events["aten::scaled_dot_product_attention"].sequence_nr


@pytest.mark.parametrize("sizes", [(13, 4), (11, 4), (9, 4), (4,), (2, 12, 4), (12, 5), (0, 4)])
def test_weights_of_the_wrong_size_are_refused(sizes):
    x = ag.ones(ROWS, 1, 4)
    with pytest.raises(RuntimeError):
        F.multi_head_attention_forward(
            x, x, x, 4, 2, ag.ones(sizes), None, None, None, False, 0.0, ag.ones(4, 4), None, need_weights=False)


@pytest.mark.parametrize("heads", [0, -1, 5])
def test_numbers_of_heads_that_are_refused(heads):
    with pytest.raises(RuntimeError):
        packed_attention(projection(False), heads, None, 0.0, True, False)


def nodes_below(node):
    yield node
    for after, _ in node.next_functions:
        if after is not None:
            yield from nodes_below(after)


@pytest.mark.parametrize(("mask", "causal", "message"), [
    (ag.zeros(ROWS, ROWS, dtype=ag.float64), False, "Expected attn_mask dtype"),
    (ag.zeros(ROWS, ROWS), True, "should not be set when is_causal=True"),
    (ag.zeros(ROWS, ROWS + 1), False, "The size of tensor a"),
])  # fmt: skip
def test_masks_are_refused_as_by_other_operations(mask, causal, message):
    with pytest.raises(RuntimeError, match=message):
        packed_attention(projection(False, "float32"), HEADS, mask, 0.0, causal, False)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_the_layer_takes_one_path_or_the_other(batch_first, rate):
    """With dropout, and with the weights, the layer is made of other operations."""
    layer = ag.nn.MultiheadAttention(8, HEADS, rate, batch_first=batch_first).double()
    x = drawn(SAMPLES, ROWS, 8).requires_grad_()
    names = {node.name() for node in nodes_below(layer(x, x, x, need_weights=False)[0].grad_fn)}
    assert ("PackedAttentionBackward0" in names) == (rate == 0)
    y, wanted = (layer.eval()(x, x, x, need_weights=need)[0] for need in (False, True))
    for a, b in zip(ag.autograd.grad(y.sum(), [x, *layer.parameters()], retain_graph=True),
                    ag.autograd.grad(wanted.sum(), [x, *layer.parameters()]), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-10, atol=1e-12)
