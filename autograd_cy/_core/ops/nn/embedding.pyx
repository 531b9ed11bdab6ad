"""Embedding tables: rows, and bags of rows."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "embedding/embedding.pyx"
include "embedding/bags.pyx"
