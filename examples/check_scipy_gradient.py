"""A hand-written gradient for scipy.optimize, and a property test that finds its mistake.

The loss is logistic regression with a penalty, for `minimize(loss, w, jac=gradient)`. The gradient lacks the penalty's term
where a weight is negative, so a test at positive weights passes.

    python examples/check_scipy_gradient.py
"""

import numpy as np

from autograd_cy.testing import GradientError, check_gradients, strategies

X = np.array([[1.0, 0.5, -1.2], [0.3, -0.7, 0.8], [-0.4, 1.1, 0.2], [0.9, -0.2, -0.6]])
Y = np.array([1.0, -1.0, 1.0, 1.0])


def loss(w):
    """The logistic loss of the weights, with half of each square as a penalty."""
    return np.logaddexp(0, -Y * (X @ w)).sum() + 0.5 * (w * w).sum()


def gradient(w):
    """Its gradient, with the mistake."""
    return -(Y / (1 + np.exp(Y * (X @ w)))) @ X + np.maximum(w, 0)


def mended(w):
    """Its gradient, corrected."""
    return -(Y / (1 + np.exp(Y * (X @ w)))) @ X + w


def weights():
    """Arrays of three numbers in all of NumPy's layouts."""
    return strategies.tensors(shape=(3,)).map(lambda w: w.numpy())


if __name__ == "__main__":
    start = np.array([0.1, 0.2, 0.3])
    print(check_gradients(loss, start, gradient=gradient).outcome, "at the point that one tries first")
    try:
        check_gradients(loss, weights(), gradient=gradient)
    except GradientError as error:
        print(error)
    print()
    print(check_gradients(loss, weights(), gradient=mended).text.splitlines()[0])
