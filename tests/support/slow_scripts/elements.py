"""A sum over a tensor, element by element."""

import autograd_cy as ag

signal = ag.randn(500)


def slow():
    energy = 0.0
    for k in range(500):
        value = signal[k]  # planted
        energy = energy + value * value
    return energy


def mended():
    return (signal * signal).sum()
