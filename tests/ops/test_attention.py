"""Attention: blocks against the formula, masks, what is refused; with PyTorch's where it is installed."""

import itertools

import numpy as np
import pytest

import autograd_cy as ag

F = ag.nn.functional


def drawn(*sizes, seed=0):
    return np.random.default_rng(seed).standard_normal(sizes)


def run(module, arrays, **options):
    """The result, and the gradients of its squares' sum."""
    leaves = [module.tensor(x, requires_grad=True) for x in arrays]
    y = module.nn.functional.scaled_dot_product_attention(*leaves, **options)
    y.square().sum().backward()
    return [y.detach().numpy(), *(leaf.grad.numpy() for leaf in leaves)]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", [(2, 3, 5, 4), (1, 2, 70, 33), (2, 1, 130, 8)])
def test_blocks_are_the_formula(sizes, causal):
    """As the gradient of the same, computed by other operations."""
    arrays = [drawn(*sizes, seed=k) for k in range(3)]
    found = run(ag, arrays, is_causal=causal)
    q, k, v = leaves = [ag.tensor(x, requires_grad=True) for x in arrays]
    scores = q @ k.transpose(-2, -1) / sizes[-1] ** 0.5
    if causal:
        scores = scores.masked_fill(ag.ones(sizes[-2], sizes[-2]).tril() == 0, -np.inf)
    y = scores.softmax(-1) @ v
    y.square().sum().backward()
    for a, b in zip(found, [y.detach(), *(leaf.grad for leaf in leaves)], strict=True):
        np.testing.assert_allclose(a, b.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-5), ("float64", 1e-11)])
def test_products_of_any_size(dtype, tolerance, masked):
    """Rows and columns around the vectors and tiles that small products are made of; the gradients by the formula's."""
    for rows, columns, size, value_size in itertools.product((1, 5, 6, 11), (1, 7, 16, 19), (1, 8, 17), (3, 4, 9, 40)):
        shapes = [(2, rows, size), (2, columns, size), (2, columns, value_size)]
        arrays = [drawn(*shape, seed=k).astype(dtype) for k, shape in enumerate(shapes)]
        mask = ag.tensor(drawn(rows, columns, seed=3).astype(dtype)) if masked else None
        found = run(ag, arrays, attn_mask=mask)
        q, k, v = leaves = [ag.tensor(x.astype("float64"), requires_grad=True) for x in arrays]
        scores = q @ k.transpose(-2, -1) / size**0.5
        y = (scores if mask is None else scores + mask.double()).softmax(-1) @ v
        y.square().sum().backward()
        for a, b in zip(found, [y.detach(), *(leaf.grad for leaf in leaves)], strict=True):
            scale = max(1, abs(b.numpy()).max())
            np.testing.assert_allclose(a, b.numpy(), rtol=tolerance, atol=tolerance * scale, err_msg=f"{shapes}")


def test_heads_of_rows_that_come_first():
    """Projections (L, N, E) give the bits of those (N, L, E), and results that lie as they do."""
    for causal in (False, True):
        x = [ag.tensor(drawn(5, 2, 3, 8, seed=k), requires_grad=True) for k in range(3)]
        rows_first = [leaf.permute(1, 2, 0, 3) for leaf in x]
        y = F.scaled_dot_product_attention(*rows_first, is_causal=causal)
        assert y.permute(2, 0, 1, 3).is_contiguous()
        z = F.scaled_dot_product_attention(*[leaf.contiguous() for leaf in rows_first], is_causal=causal)
        assert y.equal(z)
        g = ag.tensor(drawn(2, 3, 5, 8, seed=4))
        for a, b in zip(ag.autograd.grad(y, x, g), ag.autograd.grad(z, x, g), strict=True):
            assert a.equal(b)


def test_who_sees_nothing_gets_zeros():
    q = ag.tensor(drawn(2, 3), requires_grad=True)
    mask = ag.tensor([[False, False], [True, False]])
    y = F.scaled_dot_product_attention(q, ag.ones(2, 3, dtype=ag.float64), ag.ones(2, 1, dtype=ag.float64), mask)
    assert y.tolist() == [[0.0], [1.0]]
    y.sum().backward()
    assert q.grad.abs().max() < 1e-12


def test_nan_stays():
    q = ag.full((1, 3), np.nan)
    assert F.scaled_dot_product_attention(q, ag.ones(2, 3), ag.ones(2, 1)).isnan().all()


def test_a_changed_mask_is_noticed():
    q, mask = ag.ones(2, 3, requires_grad=True), ag.zeros(2, 2)
    y = F.scaled_dot_product_attention(q, ag.ones(2, 3), ag.ones(2, 1), mask)
    mask.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


REFUSED = {
    "types": (lambda x: F.scaled_dot_product_attention(x, x.double(), x), RuntimeError, "to have the same dtype"),
    "a vector": (lambda x: F.scaled_dot_product_attention(x[0], x, x), RuntimeError, "at least 2 dimensional"),
    "two masks": (lambda x: F.scaled_dot_product_attention(x, x, x, ag.ones(2, 2), is_causal=True), RuntimeError,
                  "Explicit attn_mask should not be set when is_causal=True"),
    "sizes": (lambda x: F.scaled_dot_product_attention(x, x[:, :2], x), RuntimeError, "queries and keys of one size"),
    "rows": (lambda x: F.scaled_dot_product_attention(x, x, x[:1]), RuntimeError, "as many values as keys"),
    "integers": (lambda x: F.scaled_dot_product_attention(x.long(), x.long(), x.long()), NotImplementedError, "'Long'"),
    "dropout": (lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=2.0), RuntimeError, "between 0 and 1"),
    "heads": (lambda x: F.scaled_dot_product_attention(x.expand(3, 2, 3), x.expand(2, 2, 3), x.expand(2, 2, 3),
                                                       enable_gqa=True), RuntimeError, "must divide"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call(ag.ones(2, 3))


def test_dropout_drops_and_scales():
    ag.manual_seed(0)
    y = F.scaled_dot_product_attention(ag.zeros(50, 2), ag.zeros(40, 2), ag.eye(40), dropout_p=0.5)
    assert set(np.unique(y.numpy())) == {0.0, np.float32(0.05)}
    assert 0.3 < (y == 0).float().mean().item() < 0.7


def test_a_mask_has_pytorchs_gradient():
    torch = pytest.importorskip("torch")
    arrays = [drawn(2, 4, 3), drawn(2, 5, 3), drawn(2, 5, 2), drawn(4, 5)]
    for a, b in zip(run(ag, arrays), run(torch, arrays), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("options", [
    {}, {"need_weights": False}, {"average_attn_weights": False}, {"add_zero_attn": True}, {"bias": True},
    {"attn_mask": "causal"}, {"key_padding_mask": "bool"}, {"separate": True}], ids=str)
def test_several_heads_as_in_pytorch(options):
    torch = pytest.importorskip("torch")
    found = [heads(module, **options) for module in (ag, torch)]
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)


def heads(module, add_zero_attn=False, bias=False, separate=False, **options):
    """Results and gradients of multi_head_attention_forward: 5 queries and 4 keys of 2 samples, 6 numbers in 3 heads."""
    def leaf(*sizes, seed):
        return module.tensor(drawn(*sizes, seed=seed), requires_grad=True)

    query, key = leaf(5, 2, 6, seed=0), leaf(4, 2, 6, seed=1)
    packed, packed_bias, out, out_bias = leaf(18, 6, seed=2), leaf(18, seed=3), leaf(6, 6, seed=4), leaf(6, seed=5)
    bias_k, bias_v = (leaf(1, 1, 6, seed=6), leaf(1, 1, 6, seed=7)) if bias else (None, None)
    if options.get("attn_mask"):
        options["attn_mask"] = module.ones(5, 4).tril() == 0
    if options.get("key_padding_mask"):
        options["key_padding_mask"] = module.tensor([[False, True, False, False], [False, False, False, True]])
    if separate:
        parts = packed.chunk(3)
        options |= {"use_separate_proj_weight": True, "q_proj_weight": parts[0], "k_proj_weight": parts[1],
                    "v_proj_weight": parts[2]}  # fmt: skip
    y, weights = module.nn.functional.multi_head_attention_forward(
        query, key, key, 6, 3, None if separate else packed, packed_bias, bias_k, bias_v, add_zero_attn, 0.0, out, out_bias,
        **options)  # fmt: skip
    (y.square().sum() + (0 if weights is None else weights.square().sum())).backward()
    grads = [x.grad for x in (query, key, packed, packed_bias, out, out_bias)]
    return [x.detach().numpy() for x in (y, *([] if weights is None else [weights]), *grads)]
