"""Loops of pooling and padding."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "window_loops/window_loops.pyx"
include "window_loops/pad_loops.pyx"
