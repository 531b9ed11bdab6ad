"""Against PyTorch on the same samples: values, dtypes, gradients, node names. Skipped where there is none."""

import numpy as np
import pytest
from op_calls import Call, each_sample, one_dtype, run_backward, to_numpy
from opinfo import DIFFERENTIABLE, OPS, SHAPES

import autograd_cy as ag

torch = pytest.importorskip("torch")

pytestmark = [pytest.mark.filterwarnings(f"ignore:{text}") for text in (
    "index_reduce", "Using torch.cross", "torch.chain_matmul is dep", "torch.triangular_solve is dep", "torch.cholesky is dep",
    "torch.qr is dep", "torch.lu", "A window was not provided", "Using padding='same' with even kernel",
)]  # fmt: skip

NEAR = {"float16": 4e-3, "float32": 1e-5, "complex64": 1e-5, "float64": 1e-12, "complex128": 1e-12}


def assert_same(found, expected, near=0.0):
    assert len(found) == len(expected)
    for ours, theirs in zip(map(to_numpy, found), map(to_numpy, expected), strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        tolerance = max(NEAR.get(str(ours.dtype), 0), near)
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def is_there(row, sample):
    """Over no dimension logsumexp is an error there; ldl_solve reads beyond the pivots where batches are broadcast; of
    group_norm with a bias alone there is no gradient."""
    if row.name == "logsumexp":
        return sample.kwargs.get("dim") != ()
    if row.name.endswith("group_norm"):
        return len(sample.args) < 3 or sample.args[2] is not None
    return row.name != "linalg.ldl_solve" or sample.args[0].ndim == 2


@each_sample(OPS, lambda row: row.dtypes or row.forward, is_there)
def test_values(row, sample):
    ours, theirs = calls(row, sample)
    try:
        expected = theirs(*theirs.leaves(requires_grad=False))
    except NotImplementedError:
        return  # float16 in special functions
    found = [y.detach() for y in ours(*ours.leaves(requires_grad=False))]
    if row.name == "embedding_bag":  # the other results are what its own gradient needs
        found, expected = found[:1], expected[:1]
    assert_same(found, expected, LESS_EXACT.get(row.name, 0))


@each_sample(DIFFERENTIABLE, lambda row: row.dtypes, is_there)
def test_gradients(row, sample):
    is_complex = any(isinstance(x, np.ndarray) and x.dtype.kind == "c" for x in sample.args)
    if (row.name in REFUSED_COMPLEX and is_complex) or row.name in WRONG_IN_PYTORCH:
        return
    found, expected = (run_backward(c)[3] for c in calls(row, sample))
    assert_same(found, expected, LESS_EXACT.get(row.name, 0))


# PyTorch has no gradients of these for complex numbers.
REFUSED_COMPLEX = {
    "embedding", "native_dropout", "nn.functional.bilinear", "nn.functional.embedding", "scatter_reduce", "select_copy",
    "select_scatter", "slice_copy", "slice_scatter",
}  # fmt: skip

# It has none for the target of soft_margin_loss, nor of native_channel_shuffle. It gives the tensor the gradient of what was
# replaced; the half of a triangular factor that is not read one that isn't 0. Of linalg.cond of a batch there is an error.
WRONG_IN_PYTORCH = {"as_strided_scatter", "cholesky_inverse", "cholesky_solve", "linalg.cond"}
WRONG_IN_PYTORCH |= {"native_channel_shuffle", "nn.functional.soft_margin_loss"}

# Its trigamma and its Bessel functions are short series, its quotients are taken in single precision, its sums of
# reflections in another order, and its sixth of hardsigmoid.
LESS_EXACT = {"nn.functional.hardsigmoid": 1e-7, "digamma": 1e-8, "polygamma": 1e-8, "gradient": 1e-6, "ormqr": 1e-4}
LESS_EXACT |= {f"special.bessel_{name}": 1e-10 for name in ("j0", "j1", "y0", "y1")}


# They are composed of operations here, of others than in PyTorch, or are one there.
COMPOSED = {
    "aminmax", "cdist", "chain_matmul", "cholesky", "cholesky_inverse", "cholesky_solve", "copysign", "cross",
    "cumulative_trapezoid", "diff", "dist", "fft.fft2", "fft.fftn", "fft.ifft", "fft.ifft2", "fft.ifftn", "kron",
    "linalg.cond",
    "linalg.cross", "linalg.householder_product", "linalg.matrix_norm", "linalg.matrix_power", "linalg.multi_dot",
    "linalg.solve", "linalg.solve_ex", "linalg.vander", "linalg.vecdot", "mvlgamma", "nanquantile", "nansum", "orgqr", "ormqr",
    "polygamma", "quantile", "renorm", "rsub", "sort", "special.ndtr", "stft", "istft",
    "trapezoid", "trapz", "triangular_solve",
    "vdot",
    # Of networks: one node each are layers that are many there, and attention of fewer than four dimensions.
    "channel_shuffle", "gru", "gru_cell", "lstm", "lstm_cell", "native_channel_shuffle", "native_dropout",
    "nn.functional.binary_cross_entropy_with_logits", "nn.functional.kl_div", "nn.functional.lp_pool1d",
    "nn.functional.lp_pool2d", "nn.functional.lp_pool3d", "nn.functional.multi_margin_loss",
    "nn.functional.multilabel_margin_loss", "nn.functional.pad", "nn.functional.scaled_dot_product_attention",
    "nn.functional.soft_margin_loss", "nn.functional.softsign", "nn.functional.tanhshrink",
    "pairwise_distance", "pdist", "rnn_relu", "rnn_relu_cell", "rnn_tanh", "rnn_tanh_cell",
}  # fmt: skip


@each_sample([row for row in DIFFERENTIABLE if row.name not in COMPOSED], one_dtype, is_there)
def test_node_names(row, sample):
    assert_same_names(*calls(row, sample))


@each_sample(SHAPES, one_dtype)
def test_node_names_of_transposed_inputs(row, sample):
    if row.strided:
        assert_same_names(*calls(row, sample, wrap=lambda a: a.T.copy().T))


def calls(row, sample, **options) -> tuple[Call, Call]:
    return Call(row, sample, ag, **options), Call(row, sample, torch, **options)


def assert_same_names(ours, theirs):
    names = [[y.grad_fn and y.grad_fn.name() for y in call(*call.leaves())] for call in (ours, theirs)]
    if names == [["NllLoss2DBackward0"], ["ViewBackward0"]]:  # cross_entropy is one node, without reshaping
        return
    assert names[0] == names[1]
