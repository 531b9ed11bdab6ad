"""Loops of recurrent layers."""

include "recurrent_loops/recurrent_loops.pyx"
include "recurrent_loops/recurrent_gradients.pyx"
include "recurrent_loops/recurrent_layers.pyx"
