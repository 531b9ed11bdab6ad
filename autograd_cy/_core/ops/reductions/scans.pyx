"""Scans along a dimension, differences of neighbours, and histograms."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "scans/scans.pyx"
include "scans/differences.pyx"
include "scans/histograms.pyx"
