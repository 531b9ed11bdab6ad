"""Loops of cross_entropy over dense arrays."""

cimport numpy as cnp

cdef cnp.ndarray log_probabilities(cnp.ndarray x, cnp.ndarray target, long long ignore_index, cnp.ndarray kept)
cdef int put_gradient(cnp.ndarray g, cnp.ndarray x, cnp.ndarray target, cnp.ndarray weight, long long ignore_index,
                      cnp.ndarray kept, bint each, double divisor, cnp.ndarray addend, cnp.ndarray out) except -1
