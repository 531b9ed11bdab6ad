"""nn.grad: gradients of convolutions that are computed alone."""

import pytest

import autograd_cy as torch

F = torch.nn.functional


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("options", [(), (2, 1), (1, 2, 2), (2, 1, 1, 2)], ids=str)
def test_gradients_are_those_of_the_convolution(n, options):
    torch.manual_seed(0)
    groups = options[3] if len(options) > 3 else 1
    x = torch.randn(2, 4, *[7] * n, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(6, 4 // groups, *[3] * n, dtype=torch.float64, requires_grad=True)
    y = getattr(F, f"conv{n}d")(x, weight, None, *options)
    g = torch.randn_like(y)
    of_x, of_weight = torch.autograd.grad(y, (x, weight), g)
    with torch.no_grad():
        torch.testing.assert_close(getattr(torch.nn.grad, f"conv{n}d_input")(x.shape, weight, g, *options), of_x)
        torch.testing.assert_close(getattr(torch.nn.grad, f"conv{n}d_weight")(x, weight.shape, g, *options), of_weight)


def test_gradients_have_gradients():
    weight = torch.randn(2, 3, 2, dtype=torch.float64, requires_grad=True)
    g = torch.randn(1, 2, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *of: torch.nn.grad.conv1d_input((1, 3, 5), *of), (weight, g))
    assert not torch.nn.grad.conv1d_input((1, 3, 5), weight.detach(), g.detach()).requires_grad
