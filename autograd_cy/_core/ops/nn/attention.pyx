"""Attention: scaled dot products of queries, keys and values."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "attention/attention_blocks.pyx"
include "attention/attention.pyx"
include "attention/packed_attention.pyx"
