"""Elementwise operations that are more than a row of a table."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "elementwise/arithmetic.pyx"
include "elementwise/blends.pyx"
include "elementwise/powers.pyx"
include "elementwise/division.pyx"
include "elementwise/steps.pyx"
include "elementwise/rectifiers.pyx"
include "elementwise/activations.pyx"
include "elementwise/gamma_functions.pyx"
include "elementwise/logarithms.pyx"
include "elementwise/masked_fill.pyx"
