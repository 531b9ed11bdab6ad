"""A row that is written out for all samples before it is used once."""

import autograd_cy as ag

x = ag.randn(1000, 1000)
scale = ag.randn(1000)


def slow():
    rows = scale.expand(1000, 1000).contiguous()  # planted
    scaled = x * rows
    return scaled.mean()


def mended():
    scaled = x * scale
    return scaled.mean()
