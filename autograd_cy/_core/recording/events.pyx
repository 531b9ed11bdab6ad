"""Recorded events of operations and nodes, in a ring for each thread."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "events/rings.pyx"
include "events/events.pyx"
