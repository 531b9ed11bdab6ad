"""autograd.functional: what strict mode refuses, and what is said of wrong arguments, as in PyTorch."""

import pytest

import autograd_cy as ag
from autograd_cy.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

X = ag.tensor([0.5, -1.0, 2.0], dtype=ag.float64)
NEEDS = X.clone().requires_grad_()


def cube(x):
    return (x**3).sum()


def first(x, y):
    return (x**3).sum()


LINEAR = "While computing the hessian, found that the jacobian .* with respect to input 0 is independent of the input"
REFUSED = {
    "output without gradient": (lambda: vjp(lambda x: ag.ones(3), X, X, strict=True), "Output 0 .* not require gradients"),
    "vjp of one input": (lambda: vjp(lambda x, y: x * 2, (X, X), X, strict=True), "The output .* is independent of input 1"),
    "jvp of one input": (lambda: jvp(lambda x, y: x * 2, (X, X), (X, X), strict=True), "The output .* independent of input 1"),
    "jvp, linear": (
        lambda: jvp(lambda x: x * 2, NEEDS, X, strict=True, create_graph=True),
        "The jacobian .* is independent of input 0. .* when create_graph=True",
    ),
    "vhp, linear": (lambda: vhp(lambda x: x.sum(), X, X, strict=True), LINEAR),
    "hvp, linear": (lambda: hvp(lambda x: x.sum(), X, X, strict=True), LINEAR),
    "hessian, linear": (lambda: hessian(lambda x: x.sum(), X, strict=True), LINEAR),
    "hvp of one input": (lambda: hvp(first, (X, X), (X, X), strict=True), "The output .* is independent of input 1"),
    "hessian of one input": (lambda: hessian(first, (X, X), strict=True), "the jacobian .* with respect to input 1"),
    "jacobian of one input": (lambda: jacobian(first, (X, X), strict=True), "Output 0 .* is independent of input 1"),
    "strict and vectorized": (lambda: jacobian(cube, X, strict=True, vectorize=True), "`vectorized=True` are not supported"),
    "strict and forward": (
        lambda: jacobian(cube, X, strict=True, vectorize=True, strategy="forward-mode"),
        '`strict=True` and `strategy="forward-mode"` are not supported together',
    ),
    "several elements": (lambda: hessian(lambda x: x * x, X), "given to hessian should contain a single element"),
    "a tuple": (lambda: vhp(lambda x: (cube(x),), X, X), "The function given to vhp should return a single Tensor"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_strict_mode(name):
    call, message = REFUSED[name]
    with pytest.raises(RuntimeError, match=message):
        call()


@pytest.mark.parametrize("function", [vjp, jvp, vhp, hvp])
def test_the_error_for_a_vector_names_the_function(function):
    with pytest.raises(TypeError, match=f"The v given to {function.__name__} must be either a Tensor or a tuple of Tensors"):
        function(cube, X, 2.0)
    with pytest.raises(RuntimeError, match="v has invalid size"):
        function(cube, X, X[:2])


def test_what_a_function_returns():
    for function in (jacobian, hessian):
        with pytest.raises(TypeError, match=f"outputs of the user-provided function given to {function.__name__} must be"):
            function(lambda x: 1, X)


def test_combinations_without_a_way():
    with pytest.raises(NotImplementedError, match='`create_graph=True` and `strategy="forward-mode"` are not supported'):
        jacobian(cube, X, create_graph=True, vectorize=True, strategy="forward-mode")
    with pytest.raises(NotImplementedError, match="only implemented for `vectorize=True`"):
        hessian(cube, X, outer_jacobian_strategy="forward-mode")
    with pytest.raises(AssertionError, match='Expected strategy to be either "forward-mode" or "reverse-mode"'):
        jacobian(cube, X, strategy="sideways")


@pytest.mark.parametrize("options", [
    {}, {"vectorize": True}, {"vectorize": True, "outer_jacobian_strategy": "forward-mode"}, {"strict": True},
])  # fmt: skip
def test_all_ways_to_a_hessian_agree(options):
    expected = ag.eye(3, dtype=ag.float64) * (6 * X)
    assert hessian(cube, X, **options).tolist() == expected.tolist()
    blocks = hessian(lambda x, y: (x**3 * y).sum(), (X, X), **options) if "strict" not in options else None
    if blocks is not None:
        assert blocks[0][1].tolist() == (ag.eye(3, dtype=ag.float64) * (3 * X * X)).tolist()
        assert not blocks[1][1].any()


def test_products_in_strict_mode_are_those_without():
    for function in (vhp, hvp):
        strict, plain = function(cube, X, X, strict=True), function(cube, X, X)
        assert strict[1].tolist() == plain[1].tolist() == (6 * X * X).tolist()


@pytest.mark.parametrize("vectorize", [False, True])
def test_an_output_that_does_not_depend_on_an_input_of_no_dimension(vectorize):
    """The zeros of shape () could not be made."""
    x, y = ag.tensor(2.0), ag.tensor([3.0])
    found = jacobian(lambda x, y: (y.sum(), x * y), (x, y), vectorize=vectorize)
    assert [[part.tolist() for part in row] for row in found] == [[0.0, [1.0]], [[3.0], [[2.0]]]]
