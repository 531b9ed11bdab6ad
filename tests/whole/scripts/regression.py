"""A regression trained by hand: autograd, hooks on gradients, momentum written under no_grad. Written for PyTorch."""

import json
import sys

import torch
import torch.nn.functional as F


def data(n):
    grid = torch.linspace(-1.0, 1.0, n, dtype=torch.float64)
    x = torch.stack([grid, grid * grid, torch.sin(3 * grid)], 1)
    y = 2 * grid - 0.5 * grid.pow(2) + 0.1 * torch.cos(5 * grid)
    return x, y.unsqueeze(1)


def model(x, w1, b1, w2, b2):
    return torch.tanh(x @ w1 + b1) @ w2 + b2


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    x, y = data(16)
    w1 = ((torch.arange(12, dtype=torch.float64).reshape(3, 4) - 5.5) / 10).requires_grad_()
    b1 = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    w2 = torch.full((4, 1), 0.3, dtype=torch.float64, requires_grad=True)
    b2 = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    parameters = [w1, b1, w2, b2]
    norms = []
    w1.register_hook(lambda g: norms.append(g.norm().item()))
    b2.register_hook(lambda g: g.clamp(-0.5, 0.5))
    velocity = [torch.zeros_like(p) for p in parameters]
    losses = []
    for _ in range(steps):
        loss = F.mse_loss(model(x, *parameters), y) + 1e-3 * sum((p**2).sum() for p in parameters)
        losses.append(loss.item())
        loss.backward()
        with torch.no_grad():
            for p, v in zip(parameters, velocity, strict=True):
                v.mul_(0.8).add_(p.grad)
                p -= 0.1 * v
                p.grad.zero_()
    assert losses[-1] < losses[0] and not any(p.grad.any() for p in parameters)
    print(json.dumps({"losses": losses, "norms": norms, "parameters": [p.tolist() for p in parameters]}))


if __name__ == "__main__":
    main()
