"""What the model of programs knows of operations.

Of each its value, its derivatives for each operand, and what it saves of (operands..., result) for each.
"""

import numpy as np

OPERATIONS = {
    "add": (np.add, [lambda a, b, y: 1, lambda a, b, y: 1], ["", ""]),
    "sub": (np.subtract, [lambda a, b, y: 1, lambda a, b, y: -1], ["", ""]),
    "mul": (np.multiply, [lambda a, b, y: b, lambda a, b, y: a], ["b", "a"]),
    "tanh": (np.tanh, [lambda a, y: 1 - y * y], ["y"]),
    "sigmoid": (lambda a: 1 / (1 + np.exp(-a)), [lambda a, y: y * (1 - y)], ["y"]),
    "exp": (np.exp, [lambda a, y: y], ["y"]),
    "sin": (np.sin, [lambda a, y: np.cos(a)], ["a"]),
    "sum": (lambda a: np.sum(a), [lambda a, y: 1], [""]),
    "mean": (lambda a: np.mean(a), [lambda a, y: 1 / a.size], [""]),
    "copy": (lambda a, b: b + 0 * a, [lambda a, b, y: 0, lambda a, b, y: 1], ["", ""]),
    "zero": (lambda a: 0 * a, [lambda a, y: 0], [""]),
}
