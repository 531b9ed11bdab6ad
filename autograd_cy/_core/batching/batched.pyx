"""Batched tensors, their levels, and a call on them."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "batched/levels.pyx"
include "batched/batched.pyx"
include "batched/batched_call.pyx"
