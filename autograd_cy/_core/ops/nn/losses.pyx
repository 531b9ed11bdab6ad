"""Losses of elements, labels, margins and alignments."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "losses/losses.pyx"
include "losses/nll_loss.pyx"
include "losses/ctc_loss.pyx"
include "losses/elementwise_losses.pyx"
include "losses/similarity.pyx"
include "losses/margin_losses.pyx"
