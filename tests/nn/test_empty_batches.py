"""Every layer and loss with a batch of no samples: a result of its shape, and gradients of 0; or PyTorch's refusal."""

import types

import numpy as np
import pytest
from layer_rows import ROWS

import autograd_cy as ag

try:
    import torch
except ImportError:
    torch = None

REFUSED = {"CTCLoss": "log_probs tensor must not be empty"}
# a row in docs/differences.md names them: "batches of no samples of ..."
BETTER = ("FractionalMaxPool3d", "InstanceNorm", "MultiLabelMarginLoss", "MultiMarginLoss", "PixelShuffle", "PixelUnshuffle")
SEQUENCES = ("RNN", "LSTM", "GRU", "MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer",
             "TransformerEncoder", "TransformerDecoder", "Transformer")  # fmt: skip


def batch_dimension(row, k):
    """That of the k-th input; the outputs have the first one's."""
    if row.name in ("RNN", "LSTM", "GRU"):
        return 1 if k or not row.options.get("batch_first") else 0
    return 1 if (row.name in SEQUENCES and not row.options.get("batch_first")) or (row.name, k) == ("CTCLoss", 0) else 0


def made(row, lib, training):
    lib.manual_seed(0)
    if row.made is not None:
        layer = types.FunctionType(row.made.__code__, {"ag": lib})()
    else:
        layer = getattr(lib.nn, row.name)(*row.args, **row.options)
    return layer.double().train(training)


def inputs(row, lib):
    """The row's inputs without their samples."""
    found = []
    for k, x in enumerate(row.draw()):
        array = x.detach().numpy()
        none = np.take(array, np.arange(0), batch_dimension(row, k)) if array.ndim else array
        found.append(lib.from_numpy(none).requires_grad_(x.requires_grad))
    return found


def called(row, lib, training):
    """The layer, its inputs, its outputs; gradients have been computed."""
    layer, given = made(row, lib, training), inputs(row, lib)
    result = layer(*given)
    outputs = [y for y in (result if isinstance(result, tuple) else (result,)) if isinstance(y, lib.Tensor)]
    if outputs[0].requires_grad:
        outputs[0].sum().backward()
    return layer, given, outputs


@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_batches_of_no_samples(row, training):
    if row.name in REFUSED:
        with pytest.raises(RuntimeError, match=REFUSED[row.name]):
            called(row, ag, training)
        return
    layer, given, outputs = called(row, ag, training)
    sizes = list(row.out)
    if sizes:
        sizes[batch_dimension(row, 0)] = 0
    assert outputs[0].shape == tuple(sizes)
    for x in [*layer.parameters(), *given]:
        assert x.grad is None or (x.grad.shape == x.shape and not x.grad.any())
    assert all(y.ndim == 0 or not y.isnan().any() for y in outputs)  # the mean of nothing is nan
    assert all(not b.is_floating_point() or b.isfinite().all() for b in layer.buffers())


def summary(found):
    layer, given, outputs = found
    gradients = [None if x.grad is None else (tuple(x.grad.shape), bool(x.grad.any())) for x in [*layer.parameters(), *given]]
    return [(tuple(y.shape), y.detach().numpy().tolist()) for y in outputs], gradients


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("training", [True, False], ids=["training", "evaluation"])
@pytest.mark.parametrize("row", [row for row in ROWS if not row.name.startswith(BETTER)], ids=lambda row: row.id)
def test_batches_of_no_samples_as_in_pytorch(row, training):
    try:
        expected = summary(called(row, torch, training))
    except Exception as error:
        with pytest.raises(type(error)) as refused:
            called(row, ag, training)
        assert str(refused.value)[:40] == str(error)[:40]
        return
    assert str(summary(called(row, ag, training))) == str(expected)


@pytest.mark.parametrize("pads", [(-5, 0), (0, -5), (-2, -3)])
def test_circular_padding_may_leave_nothing(pads):
    x = ag.arange(5.0).reshape(1, 1, 5).requires_grad_()
    y = ag.nn.functional.pad(x, pads, mode="circular")
    y.sum().backward()
    assert y.shape == (1, 1, 0) and not x.grad.any()
    assert ag.vmap(lambda z: ag.nn.functional.pad(z, pads, mode="circular"))(ag.ones(2, 1, 1, 5)).shape == (2, 1, 1, 0)


@pytest.mark.parametrize("pads", [(2, -7), (-7, 2), (-7, 7)])
def test_padding_that_cuts_off_more_than_there_is(pads):
    with pytest.raises(RuntimeError, match=r"narrow\(\): length must be non-negative"):
        ag.nn.functional.pad(ag.ones(1, 1, 5), pads)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_transposed_convolutions_have_output_channels(n):
    x, weight = ag.ones(1, 2, *(3,) * n), ag.ones(2, 0, *(1,) * n)
    with pytest.raises(RuntimeError, match=r"non-empty .* weight tensor expected, but got"):
        getattr(ag.nn.functional, f"conv_transpose{n}d")(x, weight)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("transposed", [False, True])
def test_gradients_of_convolutions_of_no_samples_have_a_history(dims, transposed):
    """So that second derivatives of a whole network go through them."""
    convolution = getattr(ag.nn.functional, f"conv{'_transpose' if transposed else ''}{dims}d")
    x = ag.ones(0, 1, *[3] * dims, requires_grad=True)
    weight = ag.ones(1, 1, *[2] * dims, requires_grad=True)
    gx, gw = ag.autograd.grad(convolution(x, weight).sum(), (x, weight), create_graph=True)
    assert gx.requires_grad and gw.requires_grad and gx.shape == x.shape and not gw.any() and gw.is_contiguous()
    second = ag.autograd.grad(gw.sum() + gx.sum(), (x, weight), allow_unused=True)
    assert second[1] is None or not second[1].any()
