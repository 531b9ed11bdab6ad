"""Normalization over layers, channels and groups."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "norms/layer_norm.pyx"
include "norms/channel_norm.pyx"
include "norms/batch_norm.pyx"
include "norms/group_norm.pyx"
include "norms/rms_norm.pyx"
