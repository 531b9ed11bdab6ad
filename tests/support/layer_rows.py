"""The table of layers for the generic tests: how each is made, called, shown, and what shape comes out."""

from dataclasses import dataclass, field
from typing import Any

import autograd_cy as ag


@dataclass(frozen=True)
class Given:
    """An input: its shape, and how its elements are drawn."""

    shape: tuple
    draw: Any = ag.randn
    differentiable: bool = True

    def make(self):
        made = self.draw(self.shape)
        return made.double().requires_grad_() if self.differentiable else made


def ints(high, *shape):
    return Given(shape, lambda shape: ag.randint(high, shape), differentiable=False)


def chances(*shape):
    return Given(shape, lambda shape: ag.rand(shape) * 0.8 + 0.1)


def constant(draw, *shape):
    return Given(shape, lambda shape: draw(shape).double(), differentiable=False)


def signs(*shape):
    return constant(lambda shape: ag.randint(2, shape) * 2 - 1, *shape)


def fixed(*data):
    return Given((), lambda shape: ag.tensor(*data), differentiable=False)


@dataclass(frozen=True)
class Row:
    """A layer.

    `unbatched`: it takes inputs without the first dimension. `random`: it draws in training. `smooth`: what it computes
    has the gradient that finite differences show. `made` makes what is made of other layers.
    """

    name: str
    args: tuple
    inputs: tuple
    out: tuple
    shown: str
    options: dict = field(default_factory=dict)
    unbatched: bool = False
    random: bool = False
    smooth: bool = True
    made: Any = None

    @property
    def id(self):
        return self.name if not self.options else f"{self.name}-{'-'.join(f'{k}={v}' for k, v in self.options.items())}"

    def make(self, **more):
        """The layer, with the same parameters at each call."""
        ag.manual_seed(0)
        if self.made is not None:
            return self.made()
        return getattr(ag.nn, self.name)(*self.args, **self.options, **more)

    def draw(self):
        """Inputs, the same at each call."""
        ag.manual_seed(1)
        return [given.make() if isinstance(given, Given) else Given(given).make() for given in self.inputs]

    def call(self, layer, inputs):
        """What comes out, the first of it where there is more; random numbers are the same at each call."""
        ag.manual_seed(2)
        made = layer(*inputs)
        return made[0] if isinstance(made, tuple) else made


def _row(name, args, inputs, out, shown, unbatched=False, random=False, smooth=True, made=None, **options):
    return Row(name, args, tuple(inputs), out, f"{name}({shown})", options, unbatched, random, smooth, made)


def _activation(name, *args, shown="", out=(2, 4), **options):
    return _row(name, args, [(2, 4)], out, shown, **options)


def _loss(name, *args, inputs=((3, 4), (3, 4)), out=(), **options):
    return _row(name, args, inputs, out, "", **options)


_IMAGES = {1: (2, 4, 6), 2: (2, 4, 5, 6), 3: (2, 4, 3, 4, 6)}


def _of_all_sizes(name, args, out, shown, of=(1, 2, 3), **options):
    """Rows of a layer for signals, images and volumes; what depends on that is a function of the number of dimensions."""
    rows = []
    for d in of:
        more = {key: value(d) if callable(value) else value for key, value in options.items()}
        rows.append(_row(f"{name}{d}d", args(d), [_IMAGES[d]], out(d), shown(d), **more))
    return rows


def _sizes(d, change):
    """The shape of images whose sizes are changed."""
    return _IMAGES[d][:2] + tuple(change(n) for n in _IMAGES[d][2:])


_PAD = {1: (1, 2), 2: (1, 2, 0, 1), 3: (1, 2, 0, 1, 2, 0)}


def _padded(d):
    *start, last = _IMAGES[d]
    more = {1: [], 2: [1], 3: [2, 1]}[d]
    return (*start[:2], *(n + m for n, m in zip(start[2:], more, strict=True)), last + 3)


def _wide(d, n):
    return (n,) * d


_PARTS = "..."  # its repr() shows the layers that it consists of
_NORM_1 = "4, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True"
_NORM_2 = "4, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=False"

ROWS = [
    # activations
    _activation("CELU", 2.0, shown="alpha=2.0"), _activation("ELU", shown="alpha=1.0"),
    _activation("GELU", shown="approximate='none'"), _activation("GELU", "tanh", shown="approximate='tanh'"),
    _activation("GLU", shown="dim=-1", out=(2, 2)), _activation("Hardshrink", shown="0.5", smooth=False),
    _activation("Hardsigmoid"), _activation("Hardswish"), _activation("Hardtanh", shown="min_val=-1.0, max_val=1.0"),
    _activation("LeakyReLU", 0.2, shown="negative_slope=0.2"), _activation("LogSigmoid"),
    _activation("LogSoftmax", dim=1, shown="dim=1"), _activation("Mish"), _activation("PReLU", shown="num_parameters=1"),
    _activation("PReLU", 4, shown="num_parameters=4"), _activation("ReLU"), _activation("ReLU6"),
    _activation("RReLU", 0.1, 0.3, shown="lower=0.1, upper=0.3", random=True), _activation("SELU"), _activation("SiLU"),
    _activation("Sigmoid"), _activation("Softmax", dim=1, shown="dim=1"), _activation("Softmin", dim=1, shown="dim=1"),
    _row("Softmax2d", (), [(2, 3, 2, 2)], (2, 3, 2, 2), "", unbatched=True),
    _activation("Softplus", shown="beta=1.0, threshold=20.0"), _activation("Softshrink", shown="0.5"),
    _activation("Softsign"), _activation("Tanh"), _activation("Tanhshrink"),
    _activation("Threshold", 0.1, 2.0, shown="threshold=0.1, value=2.0", smooth=False),
    # shapes
    _row("ChannelShuffle", (2,), [(2, 4, 3)], (2, 4, 3), "groups=2"),
    _row("Flatten", (), [(2, 3, 4)], (2, 12), "start_dim=1, end_dim=-1"),
    _row("Unflatten", (1, (2, 3)), [(4, 6)], (4, 2, 3), "dim=1, unflattened_size=(2, 3)"),
    _row("PixelShuffle", (2,), [(2, 4, 2, 3)], (2, 1, 4, 6), "upscale_factor=2", unbatched=True),
    _row("PixelUnshuffle", (2,), [(2, 1, 4, 6)], (2, 4, 2, 3), "downscale_factor=2", unbatched=True),
    _row("Fold", ((3, 4), 2), [(2, 8, 6)], (2, 2, 3, 4),
         "output_size=(3, 4), kernel_size=2, dilation=1, padding=0, stride=1", unbatched=True),
    _row("Unfold", (2,), [(2, 2, 3, 4)], (2, 8, 6), "kernel_size=2, dilation=1, padding=0, stride=1", unbatched=True),
    _row("Upsample", (), [(1, 2, 3)], (1, 2, 6), "scale_factor=2.0, mode='nearest'", scale_factor=2),
    _row("Upsample", (), [(1, 2, 3, 3)], (1, 2, 5, 4), "size=(5, 4), mode='bilinear'", size=(5, 4), mode="bilinear"),
    _row("UpsamplingNearest2d", (), [(1, 2, 2, 3)], (1, 2, 4, 6), "scale_factor=2.0, mode='nearest'", scale_factor=2),
    _row("UpsamplingBilinear2d", ((4, 5),), [(1, 2, 2, 3)], (1, 2, 4, 5), "size=(4, 5), mode='bilinear'"),
    # distances and dropout
    _row("CosineSimilarity", (), [(3, 4), (3, 4)], (3,), ""), _row("PairwiseDistance", (), [(3, 4), (3, 4)], (3,), ""),
    *[_row(name, (0.3,), [(2, 4, 3)], (2, 4, 3), "p=0.3, inplace=False", random=True)
      for name in ("Dropout", "Dropout1d", "AlphaDropout", "FeatureAlphaDropout")],
    _row("Dropout2d", (0.3,), [(2, 4, 3, 2)], (2, 4, 3, 2), "p=0.3, inplace=False", random=True),
    _row("Dropout3d", (0.3,), [(2, 4, 1, 2, 2)], (2, 4, 1, 2, 2), "p=0.3, inplace=False", random=True),
    # padding
    *[row for name in ("CircularPad", "ReflectionPad", "ReplicationPad", "ZeroPad")
      for row in _of_all_sizes(name, lambda d: (_PAD[d],), _padded, lambda d: f"{_PAD[d]}", unbatched=True)],
    *_of_all_sizes("ConstantPad", lambda d: (1, 2.0), lambda d: _sizes(d, lambda n: n + 2),
                   lambda d: f"padding={_wide(2 * d, 1)}, value=2.0", unbatched=True),
    # pooling
    *_of_all_sizes("MaxPool", lambda d: (2,), lambda d: _sizes(d, lambda n: n // 2), lambda d:
                   "kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False", unbatched=True),
    *_of_all_sizes("AvgPool", lambda d: (3, 2, 1), lambda d: _sizes(d, lambda n: (n - 1) // 2 + 1), lambda d:
                   f"kernel_size={(3,) if d == 1 else 3}, stride={(2,) if d == 1 else 2}, padding={(1,) if d == 1 else 1}",
                   unbatched=True),
    *_of_all_sizes("LPPool", lambda d: (2, 2), lambda d: _sizes(d, lambda n: n // 2), lambda d:
                   "norm_type=2, kernel_size=2, stride=None, ceil_mode=False", unbatched=True),
    *_of_all_sizes("AdaptiveMaxPool", lambda d: (2,), lambda d: _sizes(d, lambda n: 2), lambda d: "output_size=2",
                   unbatched=True),
    *_of_all_sizes("AdaptiveAvgPool", lambda d: (2,), lambda d: _sizes(d, lambda n: 2), lambda d: "output_size=2",
                   unbatched=True),
    *_of_all_sizes("FractionalMaxPool", lambda d: (2,), lambda d: _sizes(d, lambda n: 2), lambda d: "", of=(2, 3),
                   output_size=2, random=True),
    _row("MaxUnpool1d", (2,), [(1, 2, 2), fixed([[[0, 2], [1, 3]]])], (1, 2, 4),
         "kernel_size=(2,), stride=(2,), padding=(0,)"),
    _row("MaxUnpool2d", (2,), [(1, 1, 1, 2), fixed([[[[0, 3]]]])], (1, 1, 2, 4),
         "kernel_size=(2, 2), stride=(2, 2), padding=(0, 0)"),
    _row("MaxUnpool3d", (2,), [(1, 1, 1, 1, 1), fixed([[[[[5]]]]])], (1, 1, 2, 2, 2),
         "kernel_size=(2, 2, 2), stride=(2, 2, 2), padding=(0, 0, 0)"),
    # convolutions
    *_of_all_sizes("Conv", lambda d: (4, 2, 3), lambda d: (2, 2, *(n - 2 for n in _IMAGES[d][2:])),
                   lambda d: f"4, 2, kernel_size={_wide(d, 3)}, stride={_wide(d, 1)}", unbatched=True),
    *_of_all_sizes("ConvTranspose", lambda d: (4, 2, 2), lambda d: (2, 2, *(n + 1 for n in _IMAGES[d][2:])),
                   lambda d: f"4, 2, kernel_size={_wide(d, 2)}, stride={_wide(d, 1)}", unbatched=True),
    _row("Conv1d", (4, 2, 3), [(2, 4, 6)], (2, 2, 6),
         "4, 2, kernel_size=(3,), stride=(1,), padding=same, padding_mode=circular",
         padding="same", padding_mode="circular"),
    _row("Conv2d", (4, 2, 3), [(2, 4, 5, 5)], (2, 2, 2, 2),
         "4, 2, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), dilation=(2, 2), groups=2, bias=False",
         stride=2, padding=1, dilation=2, groups=2, bias=False),
    # normalization
    _row("BatchNorm1d", (4,), [(3, 4)], (3, 4), _NORM_1),
    *[_row(f"BatchNorm{d}d", (4,), [_IMAGES[d]], _IMAGES[d], _NORM_1) for d in (2, 3)],
    *_of_all_sizes("InstanceNorm", lambda d: (4,), lambda d: _IMAGES[d], lambda d: _NORM_2, affine=True, unbatched=True),
    _row("LayerNorm", (4,), [(2, 3, 4)], (2, 3, 4), "(4,), eps=1e-05, elementwise_affine=True, bias=True", unbatched=True),
    _row("RMSNorm", ([3, 4],), [(2, 3, 4)], (2, 3, 4), "(3, 4), eps=None, elementwise_affine=True", unbatched=True),
    _row("GroupNorm", (2, 4), [(2, 4, 3)], (2, 4, 3), "2, 4, eps=1e-05, affine=True, bias=True"),
    _row("LocalResponseNorm", (3,), [(2, 4, 3)], (2, 4, 3), "3, alpha=0.0001, beta=0.75, k=1.0"),
    _row("CrossMapLRN2d", (3,), [(2, 4, 3, 2)], (2, 4, 3, 2), "3, alpha=0.0001, beta=0.75, k=1"),
    # linear and recurrent layers
    _row("Linear", (4, 3), [(2, 4)], (2, 3), "in_features=4, out_features=3, bias=True", unbatched=True),
    _row("Linear", (4, 3), [(2, 3, 4)], (2, 3, 3), "in_features=4, out_features=3, bias=False", bias=False),
    _row("Bilinear", (3, 4, 2), [(5, 3), (5, 4)], (5, 2), "in1_features=3, in2_features=4, out_features=2, bias=True"),
    _row("RNN", (4, 3), [(5, 2, 4), (1, 2, 3)], (5, 2, 3), "4, 3"),
    _row("LSTM", (4, 3), [(2, 5, 4)], (2, 5, 4), "4, 3, proj_size=2, num_layers=2, batch_first=True, bidirectional=True",
         num_layers=2, batch_first=True, bidirectional=True, proj_size=2),
    _row("GRU", (4, 3), [(5, 2, 4)], (5, 2, 3), "4, 3, num_layers=2, dropout=0.3", num_layers=2, dropout=0.3, random=True),
    *[_row(f"{kind}Cell", (4, 3), [(2, 4)], (2, 3), "4, 3", unbatched=kind != "LSTM") for kind in ("RNN", "LSTM", "GRU")],
    # embeddings
    _row("Embedding", (5, 3), [ints(5, 2, 4)], (2, 4, 3), "5, 3", unbatched=True),
    _row("Embedding", (5, 3), [ints(4, 2, 4)], (2, 4, 3), "5, 3, padding_idx=4", padding_idx=-1),
    _row("EmbeddingBag", (5, 3), [ints(5, 2, 4)], (2, 3), "5, 3, mode='mean'"),
    _row("EmbeddingBag", (5, 3), [ints(5, 6), fixed([0, 2, 2])], (3, 3), "5, 3, mode='sum'", mode="sum"),
    # losses
    _loss("L1Loss"), _loss("MSELoss"), _loss("MSELoss", reduction="none", out=(3, 4)), _loss("SmoothL1Loss"),
    _loss("HuberLoss"), _loss("BCELoss", inputs=[chances(3, 4), constant(ag.rand, 3, 4)]),
    _loss("BCEWithLogitsLoss", inputs=[(3, 4), constant(ag.rand, 3, 4)]),
    _loss("CrossEntropyLoss", inputs=[(3, 4), ints(4, 3)]), _loss("NLLLoss", inputs=[(3, 4), ints(4, 3)]),
    _row("LinearCrossEntropyLoss", (4, 3), [(2, 4), ints(3, 2)], (),
         "\n  in_features=4, num_classes=3, out_features=(), bias=False, reduction=mean, ignore_index=None, "
         "label_smoothing=0.0, options=None\n  (linear): Linear(in_features=4, out_features=3, bias=False)\n"),
    _loss("KLDivLoss", reduction="batchmean", inputs=[(3, 4), constant(ag.rand, 3, 4)]),
    _loss("PoissonNLLLoss", inputs=[(3, 4), constant(ag.rand, 3, 4)]),
    _loss("GaussianNLLLoss", inputs=[(3, 4), (3, 4), chances(3, 4)]),
    _loss("HingeEmbeddingLoss", inputs=[(3, 4), signs(3, 4)]), _loss("SoftMarginLoss", inputs=[(3, 4), signs(3, 4)]),
    _loss("MultiLabelMarginLoss", inputs=[(2, 4), fixed([[3, 0, -1, 1], [1, -1, 0, 0]])]),
    _loss("MultiLabelSoftMarginLoss", inputs=[(3, 4), constant(ag.rand, 3, 4)]),
    _loss("MultiMarginLoss", inputs=[(3, 4), ints(4, 3)]), _loss("CosineEmbeddingLoss", inputs=[(3, 4), (3, 4), signs(3)]),
    _loss("MarginRankingLoss", inputs=[(3,), (3,), signs(3)]),
    _loss("TripletMarginLoss", inputs=[(3, 4), (3, 4), (3, 4)]),
    _row("TripletMarginWithDistanceLoss", (), [(3, 4), (3, 4), (3, 4)], (), "\n  (distance_function): PairwiseDistance()\n"),
    _loss("CTCLoss", inputs=[(5, 2, 3), ints(2, 2, 2), fixed([5, 4]), fixed([2, 1])], blank=2, smooth=False),
    # several parts
    _row("MultiheadAttention", (4, 2), [(3, 2, 4)] * 3, (3, 2, 4), _PARTS),
    _row("MultiheadAttention", (4, 2), [(2, 3, 4), (2, 5, 6), (2, 5, 3)], (2, 3, 4), _PARTS,
         kdim=6, vdim=3, batch_first=True, add_bias_kv=True, add_zero_attn=True),
    _row("TransformerEncoderLayer", (4, 2, 6, 0.0), [(3, 2, 4)], (3, 2, 4), _PARTS),
    _row("TransformerDecoderLayer", (4, 2, 6, 0.0), [(3, 2, 4), (5, 2, 4)], (3, 2, 4), _PARTS, norm_first=True),
    _row("TransformerEncoder", (), [(3, 2, 4)], (3, 2, 4), _PARTS, made=lambda: ag.nn.TransformerEncoder(
        ag.nn.TransformerEncoderLayer(4, 2, 6, 0.0, "gelu"), 2)),
    _row("TransformerDecoder", (), [(3, 2, 4), (5, 2, 4)], (3, 2, 4), _PARTS, made=lambda: ag.nn.TransformerDecoder(
        ag.nn.TransformerDecoderLayer(4, 2, 6, 0.0), 2, ag.nn.LayerNorm(4))),
    _row("Transformer", (4, 2, 1, 1, 6, 0.0), [(2, 3, 4), (2, 5, 4)], (2, 5, 4), _PARTS, batch_first=True),
    _row("AdaptiveLogSoftmaxWithLoss", (4, 10, [2, 5], 2.0), [(6, 4), fixed([0, 4, 9, 2, 1, 7])], (6,), _PARTS),
]  # fmt: skip

# Not in the table: what becomes another layer, takes all arguments, is a base of others, is refused, or warns.
ELSEWHERE = {
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d",
    "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d",
    "LazyLinear", "Identity", "NLLLoss2d", "RNNBase", "RNNCellBase", "SyncBatchNorm",
}  # fmt: skip
