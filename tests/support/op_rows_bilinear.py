"""Rows of the op table: nn.functional.bilinear."""

import numpy as np
from op_case import HALF, INTS, OpInfo, S


def bilinear(x1, x2, weight, bias=0):
    return np.einsum("...i,kij,...j->...k", x1, weight, x2) + bias


def pairs(make):
    yield S(make(2, 3), make(2, 2), make(4, 3, 2), make(4))
    yield S(make(3), make(1), make(2, 3, 1))
    yield S(make(2, 1, 2), make(2, 1, 2), make(1, 2, 2), make(1))
    yield S(make(0, 2), make(0, 1), make(2, 2, 1), make(2))


BILINEAR_ROWS = [OpInfo("nn.functional.bilinear", bilinear, pairs, forward=INTS + HALF, result="first")]
