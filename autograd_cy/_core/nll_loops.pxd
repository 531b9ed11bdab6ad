"""The elements of an array that stand for a class: summed up, and spread over zeros."""

cimport numpy as cnp

cdef struct Totals:
    double loss
    double weight

cdef cnp.ndarray picked(cnp.ndarray x, cnp.ndarray target, cnp.ndarray weight, long long ignore_index, bint each,
                        Totals *totals)
cdef cnp.ndarray spread(cnp.ndarray g, tuple sizes, cnp.ndarray target, cnp.ndarray weight, long long ignore_index,
                        bint each, double divisor)
