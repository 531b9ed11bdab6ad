"""Connectionist temporal classification: sums over all alignments of a sequence with a target."""

from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef struct Alignments:
    npy_intp samples, classes, blank
    npy_intp longest            # of the targets
    npy_intp steps
    const long long *targets    # (samples, longest)
    const long long *input_lengths
    const long long *target_lengths

cdef cnp.ndarray forward_sums(cnp.ndarray logs, Alignments *p, cnp.ndarray losses)
cdef cnp.ndarray gradient_of_sums(cnp.ndarray g, cnp.ndarray logs, cnp.ndarray alpha, cnp.ndarray losses, Alignments *p,
                                  bint zero_infinity)
