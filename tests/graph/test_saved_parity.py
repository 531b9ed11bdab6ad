"""What nodes show of what they saved, and how many edges they have, against PyTorch. Skipped where there is none."""

import numpy as np
import pytest
from op_calls import Call, each_sample, one_dtype, to_numpy
from opinfo import DIFFERENTIABLE

import autograd_cy as ag

torch = pytest.importorskip("torch")

# Nodes whose operation is computed in another way here: what they save is what that way needs.
FUSED = {"einsum", "fft.fft", "matmul", "nn.functional.cross_entropy", "nn.functional.nll_loss"}
FUSED |= {"nn.functional.linear_cross_entropy"}  # scores, of which PyTorch keeps logarithms
FUSED |= {"inner", "tensordot", "cross", "linalg.matrix_power", "matrix_power", "linalg.vander"}
FUSED |= {"linalg.solve", "linalg.solve_ex"}
FUSED |= {"chain_matmul", "triangular_solve", "cholesky", "qr", "lu", "lu_solve"}  # of which PyTorch warns
FUSED |= {"linalg.svd", "svd", "linalg.svdvals"}  # signs of vectors
FUSED |= {"linalg.det", "det", "linalg.slogdet", "slogdet", "logdet"}  # no LU
FUSED |= {"fft.rfft", "fft.rfft2", "fft.rfftn", "fft.hfft"}  # no input
FUSED |= {"masked_select", "scatter_reduce", "index_reduce", "complex", "special.log_ndtr"}  # not all that PyTorch saves
FUSED |= {"embedding_bag"}  # not all that PyTorch saves, either
FUSED |= {"addcmul", "addcdiv"}  # tensor1 times value
FUSED |= {"addbmm", "linalg.lstsq", "cholesky_solve"}  # no sizes, no solution, no right side
FUSED |= {"lu", "lu_solve", "stft", "istft", "logsumexp"}  # PyTorch warns, or refuses to reduce no dimension
FUSED |= {"gradient", "narrow_copy", "slice_copy", "as_strided", "as_strided_copy", "as_strided_scatter"}  # resolved arguments
# What a node shows in another way than PyTorch's
DIFFERENT = {
    "nn.functional.rrelu": {"noise"},  # without training: there uninitialized memory, here the slope
    "nn.functional.scaled_dot_product_attention": {"key", "value"},  # of grouped queries: here they are repeated
}
# PyTorch refuses a target that requires a gradient, and has no edge for it
ONLY_FIRST = {"nn.functional.soft_margin_loss"}
ROWS = [row for row in DIFFERENTIABLE if row.name not in FUSED]


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")  # PyTorch's
@each_sample(ROWS, one_dtype)
def test_saved_attributes(row, sample):
    for ours, theirs in zip(nodes(row, sample, ag), nodes(row, sample, torch), strict=True):
        if theirs is None or ours.name() != theirs.name():
            continue  # names have a test of their own
        assert len(ours.next_functions) == len(theirs.next_functions) + (row.name in ONLY_FIRST)
        found, expected = saved(ours), saved(theirs)
        assert set(found) == set(expected)
        for name in set(expected) - {f"_saved_{name}" for name in DIFFERENT.get(row.name, ())}:
            assert_same(name, found[name], expected[name])


def nodes(row, sample, module):
    call = Call(row, sample, module)
    leaves = call.leaves()
    for leaf in leaves[1:] if row.name in ONLY_FIRST else ():
        leaf.requires_grad_(False)
    return [y.grad_fn for y in call(*leaves)]


def saved(node):
    return {name: getattr(node, name) for name in dir(node) if name.startswith("_saved_")}


def assert_same(name, ours, theirs):
    if isinstance(theirs, torch.Tensor):
        assert str(ours.dtype) == str(theirs.dtype), name
        np.testing.assert_allclose(to_numpy(ours), to_numpy(theirs), rtol=1e-10, err_msg=name)
    elif isinstance(theirs, tuple):
        assert len(ours) == len(theirs), name
        for a, b in zip(ours, theirs, strict=True):
            assert_same(name, a, b)
    elif type(theirs) is int and theirs >= 2**63:
        assert ours >= 0 or ours == theirs - 2**64, name  # PyTorch shows -1 without its sign; here: from the front
    else:
        assert (type(ours), ours) == (type(theirs), theirs), name


def test_numbers_are_shown_as_they_were_given():
    for module in (ag, torch):
        x = module.tensor([1.0, 2.0], requires_grad=True)
        assert repr((x**2).grad_fn._saved_exponent) == "2" and repr((2**x).grad_fn._saved_self) == "2"
        assert repr((x**2.5).grad_fn._saved_exponent) == "2.5" and repr((x**3).grad_fn._saved_exponent) == "3"
        for y, dtype in (((1 / x), "int64"), (x * 2, "int64"), (x / 2.5, "float64"), (3.0 * x, "float64")):
            assert str(y.grad_fn._saved_other.dtype) == f"torch.{dtype}"
        with_numbers = (x * 2, 2 * x, 1 - x, x**2, 2**x, x.clamp(0, 1), x % 2)
        assert [len(y.grad_fn.next_functions) for y in with_numbers] == [2, 2, *[1] * 5]
        assert [y.grad_fn.next_functions[1][0] for y in (2 * x, 2 + x)] == [None, None]


def test_without_a_bias():
    for module in (ag, torch):
        x, w = module.ones(1, 1, 3, 3, requires_grad=True), module.ones(1, 1, 2, 2)
        shown = [
            module.conv2d(x, w).grad_fn._saved_bias_sym_sizes_opt,
            module.conv2d(x, w, module.ones(1)).grad_fn._saved_bias_sym_sizes_opt,
            module.convolution(x, w, None, [1], [0], [1], False, [0], 1).grad_fn._saved_bias_sym_sizes_opt,
        ]
        assert shown == [(0,), (1,), None]


def test_noise_of_training():
    for module in (ag, torch):
        x = module.tensor([-1.0, 2.0, -3.0], requires_grad=True)
        y = module.nn.functional.rrelu(x, training=True)
        noise = y.grad_fn._saved_noise
        np.testing.assert_allclose(to_numpy(x * noise), to_numpy(y), rtol=1e-6)
        assert noise[1] == 1 and 0.125 <= noise[0] <= 1 / 3
        assert (y.grad_fn._saved_lower, y.grad_fn._saved_upper, y.grad_fn._saved_training) == (0.125, 1 / 3, True)


def test_masks_of_attention():
    seen = np.array([[True, False], [True, True]])
    for module in (ag, torch):
        q = module.ones(1, 1, 2, 3, requires_grad=True)
        masks = (None, module.from_numpy(seen), module.ones(2, 2))
        nodes = [module.nn.functional.scaled_dot_product_attention(q, q, q, mask, scale=2).grad_fn for mask in masks]
        assert nodes[0]._saved_attn_mask is None and nodes[2]._saved_attn_mask.tolist() == [[1, 1], [1, 1]]
        assert nodes[1]._saved_attn_mask.tolist() == [[0, -np.inf], [0, 0]]
        assert str(nodes[1]._saved_attn_mask.dtype) == "torch.float32"
        assert [node._saved_scale for node in nodes] == [2.0] * 3


def test_a_changed_input_of_pad_is_refused():
    for module in (ag, torch):
        for mode in ("reflect", "replicate"):
            x = module.ones(1, 1, 4, requires_grad=True) * 1
            y = module.nn.functional.pad(x, (1, 1), mode)
            x.mul_(2)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                y.sum().backward()


def test_dimensions_that_were_not_given():
    for module in (ag, torch):
        x = module.tensor([[1.0, 2.0], [4.0, 3.0]], requires_grad=True)
        assert x.amax().grad_fn._saved_dim == () and x.amax((0, 1)).grad_fn._saved_dim == (0, 1)
        corrections = [y.grad_fn._saved_correction for y in (x.var(), x.var(0), x.var(0, correction=0), x.std(False))]
        assert corrections == [None, 1, 0, 0]
