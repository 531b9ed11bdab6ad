"""Loops of normalization over layers and channels."""

include "norm_loops/layer_norm_loops.pyx"
include "norm_loops/channel_columns.pyx"
include "norm_loops/channel_norm_loops.pyx"
include "norm_loops/channel_statistics.pyx"
