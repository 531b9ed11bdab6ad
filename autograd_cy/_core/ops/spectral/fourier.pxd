"""Discrete Fourier transforms, also of short times."""

from autograd_cy._core.graph.tensor cimport Tensor
