"""Tensor: its data, views, gradient, class and life."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "tensor/tensor.pyx"
include "tensor/tensor_views.pyx"
include "tensor/tensor_arrays.pyx"
include "tensor/tensor_gradient.pyx"
include "tensor/tensor_class.pyx"
include "tensor/tensor_life.pyx"
