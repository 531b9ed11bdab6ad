"""A network that solves u'' = -pi**2 sin(pi x), u(-1) = u(1) = 0, by its own derivatives. Written for PyTorch."""

import json
import math

import torch
from shared.start import fill
from torch import nn
from torch.autograd import grad


def main():
    model = fill(nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1)), 1.5)
    x = torch.linspace(-1, 1, 40).unsqueeze(1).requires_grad_()
    ends = torch.tensor([[-1.0], [1.0]])
    optimizer = torch.optim.LBFGS(model.parameters(), lr=1.0, max_iter=4, line_search_fn="strong_wolfe")
    losses = []

    def closure():
        optimizer.zero_grad()
        u = model(x)
        (du,) = grad(u, x, torch.ones_like(u), create_graph=True)
        (ddu,) = grad(du.sum(), x, create_graph=True)
        loss = (ddu + math.pi**2 * torch.sin(math.pi * x)).square().mean() + 100 * model(ends).square().mean()
        loss.backward()
        return loss

    for _ in range(12):
        losses.append(optimizer.step(closure).item())
    with torch.no_grad():
        error = (model(x) - torch.sin(math.pi * x)).abs().max().item()
    assert losses[-1] < 0.1 * losses[0]
    print(json.dumps({"losses": losses, "error": error}))


if __name__ == "__main__":
    main()
