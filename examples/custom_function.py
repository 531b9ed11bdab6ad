"""A function without a formula: where on its orbit is a comet today?

Kepler's equation, M = E - e sin(E), determines the position E at the time M on an orbit of eccentricity e.
Newton's method solves it in a loop. Recording the loop is not necessary, because the derivatives of the
solution are known:

    dE/dM = 1 / (1 - e cos E)    and    dE/de = sin E / (1 - e cos E).

A Function has both: forward solves the equation, backward multiplies by the derivatives.
"""

import math

import autograd_cy as torch


class Kepler(torch.autograd.Function):
    """``Kepler.apply(M, e)`` is E: angles in radians, all of one shape."""

    @staticmethod
    def forward(ctx, M, e):
        E = torch.full_like(M, math.pi)  # from this start Newton's method finds every E
        for _ in range(30):
            E = E - (E - e * E.sin() - M) / (1 - e * E.cos())
        ctx.save_for_backward(E, e)
        return E

    @staticmethod
    def backward(ctx, g):
        E, e = ctx.saved_tensors
        g = g / (1 - e * E.cos())  # recorded operations: the derivative has a derivative
        return g, g * E.sin()


def main():
    names = ["Earth", "Mercury", "Pluto", "Halley's comet"]
    e = torch.tensor([0.0167, 0.2056, 0.2488, 0.9671], dtype=torch.float64, requires_grad=True)
    M = torch.full_like(e, 0.5, requires_grad=True)

    E = Kepler.apply(M, e)
    E.sum().backward()
    print(f"{'at the time M = 0.5':<22}{'E':>8}{'dE/dM':>8}{'dE/de':>8}")
    for name, *row in zip(names, E.tolist(), M.grad.tolist(), e.grad.tolist(), strict=True):
        print(f"{name:<22}" + "".join(f"{x:8.4f}" for x in row))

    assert (E - e * E.sin() - M).abs().max() < 1e-12, "Kepler's equation is solved"
    assert type(E.grad_fn).__name__ == "KeplerBackward"
    assert torch.autograd.gradcheck(Kepler.apply, (M, e)), "backward agrees with finite differences"
    assert torch.autograd.gradgradcheck(Kepler.apply, (M, e)), "and so does the backward of backward"


if __name__ == "__main__":
    main()
