"""get_numerical_jacobian and get_analytical_jacobian, and what gradcheck tries of 0-d outputs."""

import pytest
from gradcheck_functions import leaf

import autograd_cy as torch
from autograd_cy.autograd.gradcheck import get_analytical_jacobian, get_numerical_jacobian

pytestmark = pytest.mark.filterwarnings("ignore:.get_(numerical|analytical)_jacobian")


def rounded(jacobians):
    return [[[round(value, 6) if isinstance(value, float) else complex(round(value.real, 6), round(value.imag, 6))
              for value in row] for row in j.tolist()] for j in jacobians]  # fmt: skip


def tensor(values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def test_numerical_jacobians():
    x, y = tensor([1.0, 2.0]), tensor([3.0, 4.0, 5.0])
    assert rounded(get_numerical_jacobian(lambda inputs: inputs[0] * inputs[0], (x,))) == [[[2.0, 0.0], [0.0, 4.0]]]
    both = get_numerical_jacobian(lambda inputs: (inputs[0] * inputs[1].sum(), inputs[0]), (x, y), eps=1e-4)
    assert rounded(both) == [[[12.0, 0.0], [0.0, 12.0]], [[1.0, 2.0]] * 3]
    assert x.tolist() == [1.0, 2.0]


def test_numerical_jacobian_of_a_target():
    """It need not be among the inputs."""
    x, w = tensor([1.0, 2.0]), tensor(3.0)
    assert rounded(get_numerical_jacobian(lambda inputs: inputs[0] * w, (x,), target=[w])) == [[[1.0, 2.0]]]
    assert rounded(get_numerical_jacobian(lambda inputs: inputs[0] * w, (x,), x)) == [[[3.0, 0.0], [0.0, 3.0]]]


def test_analytical_jacobians():
    x, unused = tensor([1.0, 2.0]), tensor([5.0])
    jacobians, reentrant, sizes, types = get_analytical_jacobian((x, 3, unused), x * x)
    assert rounded(jacobians) == [[[2.0, 0.0], [0.0, 4.0]], [[0.0, 0.0]]] and (reentrant, sizes, types) == (True,) * 3


def test_jacobians_for_a_complex_input():
    z = tensor([1 + 2j, 3 + 0j], torch.complex128)
    expected = [[[2 + 4j, 0j], [0j, 6 + 0j]]]
    assert rounded(get_analytical_jacobian((z,), (z * z).abs())[0]) == expected
    assert rounded(get_numerical_jacobian(lambda inputs: (inputs[0] * inputs[0]).abs(), (z,), eps=1e-4)) == expected


def test_what_jacobians_refuse():
    x, z = tensor([1.0, 2.0]), tensor([1j], torch.complex128)
    with pytest.raises(ValueError, match=r"Expected grad_out to be 1.0. get_numerical_jacobian no longer"):
        get_numerical_jacobian(lambda inputs: inputs[0], (x,), grad_out=2.0)
    with pytest.raises(ValueError, match=r"Expected grad_out to be 1.0. get_analytical_jacobian no longer"):
        get_analytical_jacobian((x,), x * 2, grad_out=2.0)
    with pytest.raises(ValueError, match=r"Expected output to be non-complex. get_numerical_jacobian no longer"):
        get_numerical_jacobian(lambda inputs: inputs[0] * 2, (z,))
    with pytest.raises(ValueError, match=r"Expected output to be non-complex. get_analytical_jacobian no"):
        get_analytical_jacobian((z,), z * 2)


def test_jacobians_are_deprecated():
    x = tensor([1.0])
    with pytest.warns(FutureWarning, match="`get_numerical_jacobian` was part of PyTorch's private API"):
        get_numerical_jacobian(lambda inputs: inputs[0], (x,))
    with pytest.warns(FutureWarning, match="`get_analytical_jacobian` was part of PyTorch's private API"):
        get_analytical_jacobian((x,), x * 1)


@pytest.mark.parametrize("output", ["0-d", "1-d", "0-d beside 1-d", "complex 0-d", "no gradient for one input"])
@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_batched_gradients_of_any_output(output):
    """A 0-d output raised TypeError."""
    functions = {
        "0-d": lambda x, y: (x * y).sum(),
        "1-d": lambda x, y: x * y,
        "0-d beside 1-d": lambda x, y: (x.sum() * y[0], x * y),
        "complex 0-d": lambda x, y: (x * y).sum() * 1j,
        "no gradient for one input": lambda x, y: (x.sum(), y * 2),
    }
    for fast_mode in (False, True):
        assert torch.autograd.gradcheck(functions[output], (leaf(2), leaf(2)), check_batched_grad=True, fast_mode=fast_mode)
