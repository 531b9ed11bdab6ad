"""Recorded events as the user reads them."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "recorder/event_reader.pyx"
include "recorder/recorder.pyx"
