"""Newton's method for a function of many variables, without its Hessian.

Newton's step s solves H s = -g. The conjugate gradient method needs only products H v for that, and such a
product is the gradient of a gradient: H v = d(g . v)/dx. It costs about as much as
two more gradients, however large H is (B. Pearlmutter, Fast exact multiplication by the Hessian, 1994).
"""

import functools

import autograd_cy as torch


def hessian_vector(f, x, v):
    """H v for the Hessian H of ``f`` at ``x``."""
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    (product,) = torch.autograd.grad(g, x, grad_outputs=v)
    return product


def conjugate_gradients(product, b, tolerance=1e-12):
    """The solution of H s = b for a positive definite H, given as the function ``product(v) = H v``."""
    s = torch.zeros_like(b)
    residual = direction = b
    for _ in range(len(b)):
        along = product(direction)
        step = (residual @ residual) / (direction @ along)
        s = s + step * direction
        remaining = residual - step * along
        if remaining.norm() < tolerance:
            break
        direction = remaining + (remaining @ remaining) / (residual @ residual) * direction
        residual = remaining
    return s


def main():
    torch.manual_seed(0)
    A = torch.randn(40, 16, dtype=torch.float64)

    def f(x):
        return (A @ x).logsumexp(0) + (x @ x) / 2

    x = torch.zeros(16, dtype=torch.float64, requires_grad=True)
    sizes = []
    for i in range(8):
        (g,) = torch.autograd.grad(f(x), x)
        sizes.append(g.norm().item())
        print(f"step {i}: f = {f(x).item():.12f}, |gradient| = {sizes[-1]:.1e}")
        if sizes[-1] < 1e-10:
            break
        s = conjugate_gradients(functools.partial(hessian_vector, f, x), -g)
        with torch.no_grad():
            x += s
    assert sizes[-1] < 1e-10, "Newton's method doubles the correct digits at every step"

    columns = [hessian_vector(f, x, v) for v in torch.eye(16, dtype=torch.float64)]
    p = (A @ x.detach()).softmax(0)
    formula = A.t() @ (p.unsqueeze(1) * A) - (A.t() @ p).unsqueeze(1) * (A.t() @ p) + torch.eye(16)
    worst = (torch.stack(columns) - formula).abs().max().item()
    print(f"all 16 columns of H agree with the formula to {worst:.1e}")
    assert worst < 1e-12


if __name__ == "__main__":
    main()
