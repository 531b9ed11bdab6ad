"""What the model of programs knows of errors and operations."""

import numpy as np

ERRORS = {
    "no grad": r"element 0 of tensors does not require grad and does not have a grad_fn",
    "hook": r"cannot register a hook on a tensor that doesn't require gradient",
    "leaf": r"a leaf Variable that requires grad is being used in an in-place operation",
    "view of leaf": r"a view of a leaf Variable that requires grad is being used in an in-place",
    "no_grad view": r"A view was created in no_grad mode and is being modified inplace with grad mode enabled",
    "stale no_grad view": r"A view was created in no_grad mode and its base or another view of its base has been modified",
    "freed": r"Trying to backward through the graph a second time",
    "stale": r"modified by an inplace operation",
    "wanted": r"One of the differentiated Tensors does not require grad",
    "unused": r"appears to not have been used in the graph",
}

# An operation: its value, its derivatives for each operand, and what it saves of (operands..., result) for each.
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
