"""Tensors joined and split: concatenation, stacking, blocks, diagonals."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "joining/concatenation.pyx"
include "joining/split_views.pyx"
include "joining/joining.pyx"
include "joining/diagonals.pyx"
