"""Gated activations, and random layers: dropout, noise."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "activation/gating.pyx"
include "activation/noise.pyx"
include "activation/dropout.pyx"
