"""Interpolation, and sampling at the points of a grid."""
