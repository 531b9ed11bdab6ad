"""Networks: normalization over layers, convolutions, pooling, recurrent layers, losses; loaded when first asked for, all of it."""

from autograd_cy._core.ops.loading import load

load("nn")
