"""Convolutions over images with the channels last, tap by tap along lines."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "channel_taps/channel_lines.pyx"
include "channel_taps/channel_taps.pyx"
