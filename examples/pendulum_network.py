"""Solve a differential equation with a network that has no data, only the equation u'' = -sin(u) of a pendulum.

The network's time derivatives use forward mode within forward mode; their gradient with respect to the weights uses reverse
mode over both. Source: Raissi, Perdikaris and Karniadakis, "Physics-informed neural networks" (2019).

pip install "autograd_cy[examples]"
python examples/pendulum_network.py --picture pendulum.png
"""

import argparse

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize
from scipy.special import ellipj, ellipk

import autograd_cy as torch
from autograd_cy.func import grad_and_value, jvp

START, END = 1.5, 6.0  # the initial angle, the final time
SIZES = [(24, 1), (24,), (24, 24), (24,), (1, 24)]


def angle(parameters, t):
    """The network's angle at each time of a column; at time 0 it is START with velocity 0, for any weights."""
    weight1, bias1, weight2, bias2, weight3 = parameters
    hidden = (t @ weight1.t() + bias1).tanh()
    return START + t**2 * ((hidden @ weight2.t() + bias2).tanh() @ weight3.t())


def acceleration(parameters, t):
    """The second time derivative of the angle."""
    ones = torch.ones_like(t)

    def velocity(t):
        return jvp(lambda t: angle(parameters, t), (t,), (ones,))[1]

    return jvp(velocity, (t,), (ones,))[1]


def residual(parameters, t):
    """The mean square of the equation's residual."""
    return (acceleration(parameters, t) + angle(parameters, t).sin()).square().mean()


def exact(t):
    """The angle by elliptic functions. Source: Belendez et al., "Exact solution for the nonlinear pendulum" (2007)."""
    m = np.sin(START / 2) ** 2
    return 2 * np.arcsin(np.sin(START / 2) * ellipj(ellipk(m) - t, m)[0])


def train(t, random, steps):
    """Fit the weights with SciPy; returns the residual after each step."""
    ends = np.cumsum([np.prod(size) for size in SIZES])
    slope, losses = grad_and_value(residual), []

    def parameters_of(flat):
        parts = np.split(flat, ends[:-1])
        return tuple(torch.tensor(part.reshape(size)) for part, size in zip(parts, SIZES, strict=True))

    def objective(flat):
        gradients, value = slope(parameters_of(flat), t)
        losses.append(value.item())
        return value.item(), np.concatenate([g.numpy().ravel() for g in gradients])

    start = np.concatenate([random.standard_normal(size).ravel() / np.sqrt(size[-1]) for size in SIZES])
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": steps, "maxcor": 50, "ftol": 0})
    return parameters_of(found.x), losses


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--picture", default="pendulum.png", metavar="PATH")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    t = torch.tensor(np.linspace(0, END, 64)[:, None])
    parameters, losses = train(t, np.random.default_rng(options.seed), options.steps)
    times = np.linspace(0, END, 200)
    found = angle(parameters, torch.tensor(times[:, None])).numpy().ravel()
    error = abs(found - exact(times)).max()

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(times, exact(times), "k--", label="exact")
    left.plot(times, found, alpha=0.7, label="network")
    left.set(xlabel="time", ylabel="angle", title=f"largest error {error:.1e}")
    left.legend()
    right.semilogy(losses)
    right.set(xlabel="evaluation", ylabel="mean square of the residual")
    figure.savefig(options.picture, dpi=100)
    print(f"residual {losses[0]:.1e} -> {min(losses):.1e}, largest error of the angle {error:.1e}")
    print(f"drawn in {options.picture}")
    assert error < 2e-2, "more steps would help"


if __name__ == "__main__":
    main()
