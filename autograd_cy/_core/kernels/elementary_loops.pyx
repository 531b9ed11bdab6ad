"""Loops of elementary functions that need more than one expression: sines, remainders, powers of two."""

include "elementary_loops/sines.pyx"
include "elementary_loops/remainders.pyx"
include "elementary_loops/powers_of_two.pyx"
include "elementary_loops/truth_loops.pyx"
include "elementary_loops/complex_logarithms.pyx"
