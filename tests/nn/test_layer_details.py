"""What single layers do beyond their function: checks, buffers, first inputs, masks, initial values."""

import math
import warnings

import numpy as np
import pytest

import autograd_cy as ag

nn, F = ag.nn, ag.nn.functional


def close(a, b, tolerance=1e-6):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=tolerance, atol=tolerance)


# How they are made


@pytest.mark.parametrize(("make", "error", "text"), [
    (lambda: nn.Threshold(1.0), TypeError, r"Threshold.__init__\(\) missing a required argument: 'value'"),
    (lambda: nn.Hardtanh(1.0, 0.0), AssertionError, r"max_val \(0.0\) must be greater than min_val \(1.0\)"),
    (lambda: nn.Dropout(1.5), ValueError, "dropout probability has to be between 0 and 1, but got 1.5"),
    (lambda: nn.Unflatten(1, 4), TypeError, "unflattened_size must be a tuple of ints, but found type int"),
    (lambda: nn.Unflatten(1, (2, "a")), TypeError, "found element of type str at pos 1"),
    (lambda: nn.FractionalMaxPool2d(2), ValueError, "requires specifying either an output size, or a pooling ratio"),
    (lambda: nn.FractionalMaxPool2d(2, 3, 0.5), ValueError, "only one of output_size and output_ratio"),
    (lambda: nn.FractionalMaxPool3d(2, output_ratio=1.5), ValueError, r"must be between 0 and 1 \(got 1.5\)"),
    (lambda: nn.Conv1d(3, 4, 2, groups=2), ValueError, "in_channels must be divisible by groups"),
    (lambda: nn.Conv1d(4, 3, 2, groups=2), ValueError, "out_channels must be divisible by groups"),
    (lambda: nn.Conv1d(4, 4, 2, groups=0), ValueError, "groups must be a positive integer"),
    (lambda: nn.Conv2d(1, 1, 2, padding="some"), ValueError, "Invalid padding string 'some'"),
    (lambda: nn.Conv2d(1, 1, 2, stride=2, padding="same"), ValueError, "not supported for strided convolutions"),
    (lambda: nn.Conv2d(1, 1, 2, padding_mode="some"), ValueError, "padding_mode must be one of"),
    (lambda: nn.ConvTranspose2d(1, 1, 2, padding_mode="reflect"), ValueError, 'Only "zeros" padding mode is supported'),
    (lambda: nn.GroupNorm(3, 4), ValueError, r"num_channels \(4\) must be divisible by num_groups \(3\)"),
    (lambda: nn.HuberLoss(delta="1"), TypeError, "delta must be a float or int"),
    (lambda: nn.MultiMarginLoss(p=3), ValueError, "only p == 1 and p == 2 supported"),
    (lambda: nn.MultiMarginLoss(weight=ag.ones(1, 1)), ValueError, "expected weight to be None or 1D tensor, got 2D"),
    (lambda: nn.TripletMarginLoss(margin=0), ValueError, "TripletMarginLoss: expected margin to be greater than 0"),
    (lambda: nn.TripletMarginWithDistanceLoss(margin=-1), ValueError, "expected margin to be greater than 0, got -1"),
    (lambda: nn.Embedding(3, 2, padding_idx=3), AssertionError, "adding_idx must be within num_embeddings"),
    (lambda: nn.Embedding(3, 2, _weight=ag.ones(2, 2)), AssertionError, "Shape of weight does not match"),
    (lambda: nn.Embedding.from_pretrained(ag.ones(3)), AssertionError, "expected to be 2-dimensional"),
    (lambda: nn.SyncBatchNorm(3), NotImplementedError, "no torch.distributed"),
    (lambda: nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm1d(3)), NotImplementedError, "no torch.distributed"),
    (lambda: nn.MultiheadAttention(5, 2), AssertionError, "embed_dim must be divisible by num_heads"),
    (lambda: nn.MultiheadAttention(0, 2), ValueError, "must be greater than 0"),
    (lambda: nn.TransformerEncoderLayer(4, 2, activation="tanh"), RuntimeError, "should be relu/gelu, not tanh"),
    (lambda: nn.TransformerDecoder(..., 2**63), TypeError, "TransformerDecoder: expected a Module as the layer, got ellipsis"),
    (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 10, []), ValueError, "length larger than 0"),
    (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 10, [5, 2]), ValueError, "sorted in an increasing order"),
])  # fmt: skip
def test_what_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize(("layer", "shape", "text"), [
    (lambda: nn.BatchNorm1d(3), (2, 3, 4, 4), r"expected 2D or 3D input \(got 4D input\)"),
    (lambda: nn.BatchNorm2d(3), (2, 3, 4), r"expected 4D input \(got 3D input\)"),
    (lambda: nn.InstanceNorm2d(3), (3, 4), r"expected 3D or 4D input \(got 2D input\)"),
    (lambda: nn.InstanceNorm1d(3, affine=True), (2, 4, 5), r"size at dim=1 to match num_features \(3\), but got: 4"),
    (lambda: nn.CircularPad2d(1), (3, 4), r"expected 3D or 4D input \(got 2D input\)"),
    (lambda: nn.Softmax2d(), (3, 4), "expected input to be 3D or 4D, got 2D instead"),
    (lambda: nn.CrossMapLRN2d(3), (3, 4), "Expected input to be 4D, got 2D instead"),
    (lambda: nn.LazyConv1d(3, 2), (4,), r"Expected 2D \(unbatched\) or 3D \(batched\) input to LazyConv1d"),
    (lambda: nn.LazyConv1d(3, 2, groups=3), (1, 4, 4), "in_channels must be divisible by groups"),
])  # fmt: skip
def test_inputs_that_are_refused(layer, shape, text):
    with pytest.raises((ValueError, RuntimeError), match=text):
        layer()(ag.ones(shape))


def test_settings_of_a_subclass_are_its_own():
    class Scaled(nn.ReLU):
        scale: float = 2.0

        def __init__(self, scale):
            super().__init__()
            self.scale = scale

        def forward(self, input):
            return self.scale * super().forward(input)

    assert Scaled.scale == 2.0 and repr(Scaled(3.0)) == "Scaled()"
    close(Scaled(3.0)(ag.tensor([-1.0, 1.0])), ag.tensor([0.0, 3.0]))


def test_old_names_of_reductions_warn():
    for old, reduction in (({"reduce": False}, "none"), ({"size_average": False}, "sum"), ({"size_average": True}, "mean")):
        with pytest.warns(UserWarning, match=f"please use reduction='{reduction}' instead"):
            assert nn.BCELoss(**old).reduction == reduction
    with pytest.warns(FutureWarning, match="renamed to `min_val`"):
        assert nn.Hardtanh(min_value=-2.0).min_val == -2.0
    with pytest.warns(FutureWarning, match="NLLLoss2d"):
        nn.NLLLoss2d()


def test_weights_of_losses_are_buffers():
    loss = nn.BCEWithLogitsLoss(weight=ag.ones(2), pos_weight=ag.ones(2))
    assert list(loss.state_dict()) == ["weight", "pos_weight"] and loss.double().weight.dtype == ag.float64
    assert nn.CrossEntropyLoss().weight is None and not nn.CrossEntropyLoss().state_dict()


# Initial values


@pytest.mark.parametrize(("layer", "inputs"), [
    (lambda: nn.Conv2d(8, 200, 3, groups=2), 4 * 9), (lambda: nn.ConvTranspose1d(60, 8, 3), 8 * 3),
])  # fmt: skip
def test_convolutions_start_uniform(layer, inputs):
    made, bound = layer(), 1 / math.sqrt(inputs)
    for tensor in (made.weight, made.bias):
        assert bound * 0.5 < float(tensor.detach().abs().max()) <= bound
    assert float(made.weight.detach().std()) == pytest.approx(bound / math.sqrt(3), rel=0.1)


def test_embeddings_start_normal_and_zero_at_padding():
    weight = nn.Embedding(200, 50, padding_idx=7).weight.detach()
    assert float(weight[7].abs().sum()) == 0 and float(weight.std()) == pytest.approx(1, rel=0.05)


def test_attention_starts_uniform():
    attention = nn.MultiheadAttention(40, 2)
    bound = math.sqrt(6 / (40 + 120))
    assert bound * 0.9 < float(attention.in_proj_weight.detach().abs().max()) <= bound
    assert not attention.in_proj_bias.any() and not attention.out_proj.bias.any()


# Statistics


def test_running_statistics():
    layer, x = nn.BatchNorm1d(2, momentum=0.25).double(), ag.randn(5, 2).double()
    layer(x)
    close(layer.running_mean, x.mean(0) * 0.25)
    close(layer.running_var, 0.75 + x.var(0) * 0.25)
    assert layer.num_batches_tracked == 1
    close(layer.eval()(x), (x - layer.running_mean) / (layer.running_var + 1e-5).sqrt())
    assert layer.num_batches_tracked == 1
    layer.reset_running_stats()
    assert layer.num_batches_tracked == 0 and not layer.running_mean.any()


def test_momentum_none_is_the_mean_of_all_batches():
    layer, batches = nn.BatchNorm1d(2, momentum=None).double(), [ag.randn(5, 2).double() for _ in range(3)]
    for batch in batches:
        layer(batch)
    close(layer.running_mean, sum(batch.mean(0) for batch in batches) / 3)


def test_without_running_statistics_the_batch_counts():
    layer, x = nn.BatchNorm1d(2, track_running_stats=False, affine=False).double().eval(), ag.randn(5, 2).double()
    close(layer(x).mean(0), ag.zeros(2).double())
    assert not layer.state_dict()


def test_dicts_of_old_versions():
    layer = nn.BatchNorm1d(2)
    old = {key: value for key, value in layer.state_dict().items() if key != "num_batches_tracked"}
    assert str(layer.load_state_dict(old)) == "<All keys matched successfully>"
    with pytest.raises(RuntimeError, match="Unexpected running stats buffer"):
        nn.InstanceNorm1d(2).load_state_dict({"running_mean": ag.ones(2)})


def test_instance_norm_warns_of_other_channels():
    with pytest.warns(UserWarning, match="does not match num_features"):
        nn.InstanceNorm1d(5)(ag.ones(2, 3, 4))


def test_cross_map_normalization():
    x = ag.randn(2, 6, 1, 2).double()
    size, alpha, beta, k = 5, 0.3, 0.6, 1.5
    padded = F.pad(x * x, (0, 0, 0, 0, 2, 2))
    expected = ag.stack([x[:, c] / (k + alpha / size * padded[:, c : c + size].sum(1)) ** beta for c in range(6)], 1)
    close(nn.CrossMapLRN2d(size, alpha, beta, k)(x), expected)


# First inputs


@pytest.mark.parametrize(("name", "args", "shape", "channels"), [
    ("LazyConv1d", (3, 2), (2, 4, 5), 4), ("LazyConv2d", (3, 2), (2, 4, 5, 5), 4), ("LazyConv3d", (3, 2), (2, 4, 5, 5, 5), 4),
    ("LazyConv2d", (3, 2), (4, 5, 5), 4), ("LazyConvTranspose1d", (3, 2), (2, 4, 5), 4),
    ("LazyConvTranspose2d", (3, 2), (2, 4, 5, 5), 4), ("LazyConvTranspose3d", (3, 2), (2, 4, 5, 5, 5), 4),
    ("LazyBatchNorm1d", (), (2, 4), 4), ("LazyBatchNorm2d", (), (2, 4, 3, 3), 4), ("LazyBatchNorm3d", (), (2, 4, 3, 3, 3), 4),
    ("LazyInstanceNorm1d", (1e-3,), (2, 4, 3), 4), ("LazyInstanceNorm2d", (), (2, 4, 3, 3), 4),
    ("LazyInstanceNorm3d", (), (2, 4, 3, 3, 3), 4),
])  # fmt: skip
def test_lazy_layers_become_what_they_are(name, args, shape, channels):
    layer = getattr(nn, name)(*args, dtype=ag.float64)
    assert layer.has_uninitialized_params() and all(p.dtype == ag.float64 for p in layer.parameters())
    y = layer(ag.randn(shape).double())
    assert type(layer) is getattr(nn, name.removeprefix("Lazy")) and str(channels) in repr(layer)
    y.sum().backward()
    eager = type(layer)(channels, *args, dtype=ag.float64)
    assert {k: v.shape for k, v in layer.state_dict().items()} == {k: v.shape for k, v in eager.state_dict().items()} or (
        "InstanceNorm" in name  # lazy ones have parameters by default
    )
    other = getattr(nn, name)(*args, dtype=ag.float64)
    other.load_state_dict(layer.state_dict())
    close(other.eval()(ag.ones(shape).double()), layer.eval()(ag.ones(shape).double()))


# Convolutions


def test_same_padding_keeps_sizes():
    for kernel, dilation in ((3, 1), (4, 1), (2, 3)):
        for mode in ("zeros", "reflect", "circular", "replicate"):
            layer = nn.Conv2d(2, 3, kernel, padding="same", dilation=dilation, padding_mode=mode)
            assert layer(ag.ones(1, 2, 7, 8)).shape == (1, 3, 7, 8)


def test_sizes_of_transposed_convolutions_can_be_asked_for():
    layer, x = nn.ConvTranspose1d(1, 1, 3, stride=2, padding=1), ag.ones(1, 1, 5)
    assert layer(x).shape[-1] == 9 and layer(x, output_size=[10]).shape[-1] == 10
    assert layer(x, output_size=(1, 1, 9)).shape[-1] == 9 and layer(x[0], output_size=[10]).shape == (1, 10)
    with pytest.raises(ValueError, match=r"valid sizes range from \[9\] to \[10\]"):
        layer(x, output_size=[12])
    with pytest.raises(ValueError, match="output_size must have 1 or 3 elements"):
        layer(x, output_size=[1, 9])


def test_a_subclass_may_change_the_weight_of_a_convolution():
    class Standardized(nn.Conv1d):
        def forward(self, input):
            return self._conv_forward(input, self.weight - self.weight.mean(), self.bias)

    layer = Standardized(1, 1, 3, bias=False)
    close(layer(ag.ones(1, 1, 3)), ag.zeros(1, 1, 1))


# Attention


def attention(**options):
    ag.manual_seed(0)
    return nn.MultiheadAttention(8, 2, batch_first=True, **options).double()


def test_attention_weights():
    layer, x = attention(), ag.randn(2, 3, 8).double()
    y, weights = layer(x, x, x)
    close(weights.sum(-1), ag.ones(2, 3).double())
    each = layer(x, x, x, average_attn_weights=False)[1]
    assert each.shape == (2, 2, 3, 3)
    close(each.mean(1), weights)
    other, none = layer(x, x, x, need_weights=False)
    assert none is None
    close(other, y)


MISFITS = [  # sizes of query, key, value, key_padding_mask and attn_mask
    ((4, 4, 4), (4, 4), (4, 4, 4), None, None), ((4, 4, 4), (4, 4, 4), (4, 4), None, None),
    ((4, 4, 4), (4, 4, 4), (4, 4, 4), (4,), None), ((4, 4, 4), (4, 4, 4), (4, 4, 4), None, (4,)),
    ((4, 4), (4, 4, 4), (4, 4), None, None), ((4, 4), (4, 4), (4, 4), (4, 4), None), ((4, 4), (4, 4), (4, 4), None, (4,)),
    ((4, 4), (4, 4), (4, 4), None, (5, 4, 4)), ((4,), (4, 4), (4, 4), None, None),
    ((4, 4, 4), (4, 4, 4), (4, 4, 4), None, (5, 4)), ((4, 4, 4), (4, 4, 4), (4, 4, 4), None, (2, 4, 4)),
]  # fmt: skip


@pytest.mark.parametrize("sizes", MISFITS)
def test_errors_of_attention_are_pytorchs(sizes):
    texts = []
    for lib in (pytest.importorskip("torch"), ag):
        query, key, value, padding, mask = (None if size is None else lib.zeros(size) for size in sizes)
        with pytest.raises((AssertionError, RuntimeError)) as error:
            lib.nn.MultiheadAttention(4, 4)(query, key, value, key_padding_mask=padding, attn_mask=mask)
        texts.append((error.type, str(error.value)))
    assert texts[0] == texts[1]


def test_causal_masks_are_equal():
    layer, x = attention(), ag.randn(2, 4, 8).double()
    added = nn.Transformer.generate_square_subsequent_mask(4, dtype=ag.float64)
    expected = layer(x, x, x, attn_mask=added)[0]
    close(layer(x, x, x, attn_mask=added.bool())[0], expected)
    close(layer(x, x, x, attn_mask=added, is_causal=True, need_weights=False)[0], expected)
    changed = x.clone()
    changed[:, 3] += 1
    close(layer(changed, changed, changed, attn_mask=added)[0][:, :3], expected[:, :3])


def test_padded_keys_are_not_seen():
    layer, x = attention(), ag.randn(2, 4, 8).double()
    mask = ag.tensor([[False, False, True, True], [False] * 4])
    expected = layer(x[:1], x[:1, :2], x[:1, :2])[0]
    close(layer(x, x, x, key_padding_mask=mask)[0][:1], expected)


def test_merged_masks():
    layer, query = attention(), ag.ones(2, 3, 8)
    assert layer.merge_masks(None, None, query) == (None, None)
    padding = ag.zeros(2, 3)
    assert layer.merge_masks(None, padding, query) == (padding, 1)
    mask, kind = layer.merge_masks(ag.ones(3, 3), padding, query)
    assert mask.shape == (2, 2, 3, 3) and kind == 2


def test_the_encoder_finds_causal_masks(monkeypatch):
    seen = []
    layer = nn.TransformerEncoderLayer(4, 2, 4, 0.0, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2)
    monkeypatch.setattr(
        nn.TransformerEncoderLayer, "_sa_block", lambda self, x, mask, padding, is_causal: seen.append(is_causal) or x
    )
    causal = nn.Transformer.generate_square_subsequent_mask(3)
    for mask, said in ((causal, None), (causal.bool(), None), (causal + 1, None), (None, None), (causal, False)):
        encoder(ag.ones(1, 3, 4), mask, is_causal=said)
    assert seen[::2] == [True, True, False, False, False]


def test_layers_of_a_stack_are_copies():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 4), 2)
    first, second = (layer.linear1.weight for layer in encoder.layers)
    assert first is not second
    close(first, second)


def test_sizes_of_a_transformer():
    model = nn.Transformer(4, 2, 1, 1, 4)
    with pytest.raises(RuntimeError, match="batch number of src and tgt must be equal"):
        model(ag.ones(3, 2, 4), ag.ones(3, 1, 4))
    with pytest.raises(RuntimeError, match="feature number of src and tgt must be equal to d_model"):
        model(ag.ones(3, 2, 5), ag.ones(3, 2, 5))


# Adaptive softmax


def test_adaptive_softmax_is_a_distribution():
    layer, x = nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 7], div_value=2.0).double(), ag.randn(5, 8).double()
    everything = layer.log_prob(x)
    close(everything.exp().sum(1), ag.ones(5).double())
    target = ag.tensor([0, 3, 6, 11, 7])
    output, loss = layer(x, target)
    close(output, everything.gather(1, target.unsqueeze(1)).squeeze(1))
    close(loss, -output.mean())
    close(layer(x[0], target[0]).output, output[0])
    assert layer.predict(x).tolist() == everything.argmax(1).tolist()


def test_adaptive_softmax_refuses():
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3])
    for shape, target, text in (
        ((2, 8), [0, 12], r"should be in \[0, 11\], but values in range \[0, 12\]"),
        ((3, 8), [0, 1], "same size in the batch"),
        ((2, 8), 0, "0D target tensor expects 1D"), ((2, 8), [[0, 1]], "multi-target not supported"),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=text):
            layer(ag.ones(shape), ag.tensor(target))


def test_dropout_scales_what_stays():
    ag.manual_seed(0)
    for name, shape in (("Dropout", (1000,)), ("Dropout1d", (10, 50, 2)), ("Dropout2d", (10, 50, 2, 2))):
        layer = getattr(nn, name)(0.2)
        y = layer(ag.ones(shape))
        assert set(np.unique(y.numpy().round(4))) == {0.0, 1.25} and float(y.mean()) == pytest.approx(1, abs=0.1)
        assert layer.eval()(ag.ones(shape)).min() == 1


def test_pretrained_tables_are_frozen():
    table = ag.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert not nn.Embedding.from_pretrained(table).weight.requires_grad
    assert nn.EmbeddingBag.from_pretrained(table, freeze=False).weight.requires_grad


def test_implicit_dimension_of_softmax_warns():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        nn.Softmax()(ag.ones(2, 2))
    assert "Implicit dimension choice" in str(caught[0].message)


@pytest.mark.parametrize("options", [
    {}, {"bias": True, "reduction": "sum", "label_smoothing": 0.25}, {"out_features": (2, 3), "bias": True},
    {"ignore_index": 1}, {"weighted": True, "reduction": "none"},
])  # fmt: skip
def test_linear_cross_entropy_is_that_of_pytorch(options):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    options = dict(options)
    weighted, shape = options.pop("weighted", False), options.get("out_features", ())
    parameters, x = rng.normal(size=(4, 3 * math.prod(shape))), rng.normal(size=(5, 4))
    classes, probabilities = rng.integers(0, 3, (5, *shape)).tolist(), rng.random((5, 3, *shape)).tolist()
    results = []
    for lib in (ag, torch):
        kept = {"weight": lib.tensor([1.0, 2.0, 0.5], dtype=lib.float64)} if weighted else {}
        loss = lib.nn.LinearCrossEntropyLoss(4, 3, dtype=lib.float64, **options, **kept)
        loss.linear.weight.data = lib.tensor(parameters.T.tolist(), dtype=lib.float64)
        if options.get("bias"):
            loss.linear.bias.data = lib.tensor(parameters[0].tolist(), dtype=lib.float64)
        inputs = lib.tensor(x.tolist(), dtype=lib.float64, requires_grad=True)
        targets = [lib.tensor(classes)]
        if "ignore_index" not in options:
            targets.append(lib.tensor(probabilities, dtype=lib.float64))
        found = [loss(inputs, target) for target in targets]
        sum(y.sum() for y in found).backward()
        results.append([repr(loss), sorted(loss.state_dict()), *found, inputs.grad, *[p.grad for p in loss.parameters()]])
    for ours, theirs in zip(*results, strict=True):
        if isinstance(theirs, torch.Tensor):
            np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-12, atol=1e-14)
        else:
            assert ours == theirs


@pytest.mark.parametrize(("error", "options", "text"), [
    (RuntimeError, {"weight": ag.ones(2)}, r"^expected weight shape to be \(3,\), got \(2,\)$"),
    (RuntimeError, {"label_smoothing": 2}, r"^expected label_smoothing to be in range \[0, 1\], got 2$"),
])  # fmt: skip
def test_what_linear_cross_entropy_refuses(error, options, text):
    with pytest.raises(error, match=text):
        nn.LinearCrossEntropyLoss(4, 3, **options)


@pytest.mark.parametrize("options", [
    {"acc_policy": "other"}, {"chunking_method": "other"}, {"chunking_method": "aspect_ratio:0"},
    {"chunking_method": "aspect_ratio:"}, {"batch_chunk_size": 0}, {"batch_chunk_size": 1.5}, {"acc_dtype": "int32"},
    {"batch_chunk_size": 1, "chunking_method": "aspect_ratio:2"}, {"batch_chunk_size": 7, "chunking_method": "aspect_ratio"},
])  # fmt: skip
def test_options_of_linear_cross_entropy_that_are_refused(options):
    texts = []
    for lib in (pytest.importorskip("torch"), ag):
        given = {name: getattr(lib, value) if name == "acc_dtype" else value for name, value in options.items()}
        with pytest.raises(ValueError) as error:
            lib.nn.LinearCrossEntropyLoss(4, 9, options=lib.nn.LinearCrossEntropyOptions(**given))(
                lib.ones(10, 4), lib.zeros(10, dtype=lib.int64)
            )
        texts.append(str(error.value))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("options", [
    {}, {"batch_chunk_size": 2}, {"chunking_method": "aspect_ratio:2"}, {"acc_dtype": ag.float32, "acc_policy": "accurate"},
    {"batch_chunk_size": 2, "chunking_method": "aspect_ratio:2"}, {"batch_chunk_size": 99, "chunking_method": None},
])  # fmt: skip
def test_options_of_linear_cross_entropy_change_nothing(options):
    layer, x, classes = nn.LinearCrossEntropyLoss(4, 9), ag.randn(10, 4), ag.arange(10) % 9
    expected = layer(x, classes)
    layer.options = nn.LinearCrossEntropyOptions(**options)
    assert layer(x, classes).equal(expected) and layer(x[0], classes[0]).shape == ()


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("masks", ["none", "added", "bools", "heads", "padding", "both", "causal"])
def test_attention_is_the_same_with_and_without_weights(masks, batch_first):
    """Without weights, the heads are views of the projections; with them, they are copies."""
    ag.manual_seed(0)
    length, samples, heads = 5, 3, 2
    layer = nn.MultiheadAttention(8, heads, batch_first=batch_first, dtype=ag.float64)
    x = ag.randn(*((samples, length, 8) if batch_first else (length, samples, 8)), dtype=ag.float64, requires_grad=True)
    padding = ag.tensor([[False] * 5, [False] * 4 + [True], [False] * 3 + [True] * 2])
    causal = nn.Transformer.generate_square_subsequent_mask(length, dtype=ag.float64)
    options = {
        "none": {},
        "added": {"attn_mask": ag.randn(length, length, dtype=ag.float64)},
        "bools": {"attn_mask": causal != 0},
        "heads": {"attn_mask": ag.randn(samples * heads, length, length, dtype=ag.float64)},
        "padding": {"key_padding_mask": padding},
        "both": {"attn_mask": causal, "key_padding_mask": padding},
        "causal": {"attn_mask": causal, "is_causal": True},
    }[masks]
    found = []
    for need_weights in (False, True):
        y = layer(x, x, x, need_weights=need_weights, **options)[0]
        found.append([y, *ag.autograd.grad(y.square().sum(), [x, *layer.parameters()])])
    for a, b in zip(*found, strict=True):
        ag.testing.assert_close(a, b)
