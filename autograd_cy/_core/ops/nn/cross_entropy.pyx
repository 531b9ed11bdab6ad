"""Cross entropy, and losses by likelihood."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "cross_entropy/cross_entropy.pyx"
include "cross_entropy/likelihoods.pyx"
