"""Learning to learn sines: gradients through the steps of an inner loop (MAML). Written for PyTorch."""

import json
import math

import torch
import torch.nn.functional as F
from shared.start import fill, normal
from torch import nn
from torch.func import functional_call


def adapt(model, x, y, rate=0.05, steps=2):
    """The model's parameters after some steps of descent, with the graph of these steps."""
    fast = dict(model.named_parameters())
    for _ in range(steps):
        loss = F.mse_loss(functional_call(model, fast, (x,)), y)
        grads = torch.autograd.grad(loss, tuple(fast.values()), create_graph=True)
        fast = {name: p - rate * g for (name, p), g in zip(fast.items(), grads, strict=True)}
    return fast


def main():
    model = fill(nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, amsgrad=True)
    losses, norms = [], []
    for step in range(15):
        optimizer.zero_grad()
        total = 0.0
        for task in range(3):
            phase, height = math.pi * (step + task) / 5, 1 + task
            x = 2 * normal(20, 1)
            y = height * torch.sin(x + phase)
            fast = adapt(model, x[:10], y[:10])
            loss = F.mse_loss(functional_call(model, fast, (x[10:],)), y[10:]) / 3
            loss.backward()
            total += loss.item()
        norms.append(torch.cat([p.grad.flatten() for p in model.parameters()]).norm().item())
        optimizer.step()
        losses.append(total)
    print(json.dumps({"losses": losses, "norms": norms}))


if __name__ == "__main__":
    main()
