"""Weights of samples that are counts, converted to float on each call."""

import autograd_cy as ag

x = ag.randn(800, 1000)
bias = ag.zeros(1000, requires_grad=True)
counts = ag.ones(800, 1000, dtype=ag.int64)
weights = counts.float()


def slow():
    weighted = x * counts  # planted
    loss = (weighted + bias).mean()
    loss.backward()


def mended():
    weighted = x * weights
    loss = (weighted + bias).mean()
    loss.backward()
