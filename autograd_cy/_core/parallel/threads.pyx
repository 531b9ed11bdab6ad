"""Threads of kernels: loops cut into parts, BLAS's own threads, and the sizes from which either pays."""

include "threads/thresholds.pyx"
include "threads/blas_threads.pyx"
include "threads/threads.pyx"
