"""Loops of losses by label, and of alignments of labels."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "label_loops/nll_loops.pyx"
include "label_loops/cross_entropy_loops.pyx"
include "label_loops/cross_entropy_gradient.pyx"
include "label_loops/ctc_loops.pyx"
