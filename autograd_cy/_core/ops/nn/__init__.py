"""Networks: normalization over layers, convolutions, pooling, recurrent layers, losses; all loaded when one is requested."""

from autograd_cy._core.ops.loading import load

load("nn")
