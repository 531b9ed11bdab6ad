"""Loops of kernels on several threads, those of the BLAS library, and from which sizes on threads pay."""
