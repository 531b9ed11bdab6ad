"""Fit a differential equation to noisy measurements: u'' = -k u - d u' + c cos(t), all times at once.

The unknowns are the angle at each of 2000 times and three constants. Each residual depends on a few of them, so the Jacobian
is sparse: six products with vectors determine it, not 2003, and the Gauss-Newton method uses a sparse factorization.

pip install "autograd_cy[examples]"
python examples/fit_oscillator.py --picture fit.png
"""

import argparse

import numpy as np
from matplotlib.figure import Figure
from scipy.sparse.linalg import spsolve

import autograd_cy as torch
from autograd_cy.func import sparse_jacobian

TIMES = np.linspace(0, 20, 2000)
STEP = TIMES[1] - TIMES[0]
CONSTANTS = {"k": 2.0, "d": 0.3, "c": 1.0}
NOISE, STRICTNESS = 0.1, 20.0  # noise of the measurements; weight of the equation relative to them


def simulate():
    """The exact course from rest at 1, by small Runge-Kutta steps."""
    k, d, c = CONSTANTS.values()
    substeps, state, course = 4, np.array([1.0, 0.0]), [1.0]
    h = STEP / substeps
    for t in np.arange(substeps * (len(TIMES) - 1)) * h:

        def slope(t, state):
            return np.array([state[1], -k * state[0] - d * state[1] + c * np.cos(t)])

        k1 = slope(t, state)
        k2 = slope(t + h / 2, state + h / 2 * k1)
        k3 = slope(t + h / 2, state + h / 2 * k2)
        k4 = slope(t + h, state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        course.append(state[0])
    return np.array(course[::substeps])


def residuals(unknowns, measured):
    """The residuals of the measurements, and of the equation at each time by central differences."""
    u, k, d, c = unknowns[:-3], unknowns[-3], unknowns[-2], unknowns[-1]
    middle, velocity = u[1:-1], (u[2:] - u[:-2]) / (2 * STEP)
    acceleration = (u[2:] - 2 * u[1:-1] + u[:-2]) / STEP**2
    forcing = torch.tensor(np.cos(TIMES[1:-1]))
    equation = acceleration + k * middle + d * velocity - c * forcing
    return torch.cat([(u - measured) / NOISE, STRICTNESS * equation])


def fit(measured, steps):
    """The Gauss-Newton method; returns the sum of squares after each step."""
    unknowns = torch.tensor(np.concatenate([measured, [1.0, 0.0, 0.0]]))
    target = torch.tensor(measured)
    pattern = sparse_jacobian(residuals)(unknowns + 1, target)  # probed at a point where no product is zero
    jacobian = sparse_jacobian(residuals, pattern=pattern)
    sums = []
    for _ in range(steps):
        r, matrix = residuals(unknowns, target).numpy(), jacobian(unknowns, target)
        sums.append(r @ r)
        unknowns = unknowns - torch.tensor(spsolve((matrix.T @ matrix).tocsc(), matrix.T @ r))
    return unknowns.numpy(), sums, matrix


def draw(path, measured, course, matrix):
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[2, 1])
    left.plot(TIMES, measured, ".", color="0.8", markersize=3, label="measured")
    left.plot(TIMES, simulate(), "k--", label="exact")
    left.plot(TIMES, course, alpha=0.8, label="fitted")
    left.set(xlabel="time", ylabel="u")
    left.legend()
    corner = np.r_[0:30, len(TIMES) : len(TIMES) + 30]
    right.spy(matrix[corner][:, np.r_[0:40, matrix.shape[1] - 3 : matrix.shape[1]]], markersize=3)
    right.set_title("corners of the Jacobian")
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--picture", default="fit.png", metavar="PATH")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    truth = simulate()
    measured = truth + NOISE * np.random.default_rng(options.seed).standard_normal(len(TIMES))
    unknowns, sums, matrix = fit(measured, options.steps)
    course, found = unknowns[:-3], dict(zip(CONSTANTS, unknowns[-3:], strict=True))
    draw(options.picture, measured, course, matrix)
    error, noise = abs(course - truth).mean(), abs(measured - truth).mean()
    print(f"sum of squares {sums[0]:.0f} -> {sums[-1]:.0f} by a Jacobian of {matrix.shape} with {matrix.nnz} entries")
    print(", ".join(f"{name} = {value:.3f} (exact {CONSTANTS[name]})" for name, value in found.items()))
    print(f"mean error {error:.3f}, of the measurements {noise:.3f}; drawn in {options.picture}")
    assert all(abs(found[name] - value) < 0.1 for name, value in CONSTANTS.items()) and error < 0.5 * noise


if __name__ == "__main__":
    main()
