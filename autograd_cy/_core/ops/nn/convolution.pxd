"""Convolutions, and the columns of their windows."""

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.kernels.patches cimport Geometry
from autograd_cy._core.runtime cimport numpy_api as cnp
