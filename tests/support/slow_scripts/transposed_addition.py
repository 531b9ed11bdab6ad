"""A matrix made symmetric: two operands that can't both be read in the order of their memory."""

import autograd_cy as ag

a = ag.randn(1000, 1000)
a_transposed = a.t().contiguous()


def slow():
    symmetric = a + a.t()  # planted
    return symmetric.mean()


def mended():
    symmetric = a + a_transposed
    return symmetric.mean()
