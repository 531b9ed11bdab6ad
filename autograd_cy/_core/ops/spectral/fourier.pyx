"""Discrete Fourier transforms, also of short times."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "fourier/transforms.pyx"
include "fourier/fft.pyx"
include "fourier/stft.pyx"
