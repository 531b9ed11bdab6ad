"""Spectral: discrete Fourier transforms."""
