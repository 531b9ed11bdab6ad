"""A spiral learnt as the flow of a network, integrated by Runge and Kutta's method. Written for PyTorch."""

import itertools
import json

import torch
from shared.start import fill
from torch import nn


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, t, y):
        return self.net(y**3) * torch.exp(-0.1 * t)


def odeint(f, y, times):
    """y at all times: one step of fourth order from each to the next."""
    path = [y]
    for t, after in itertools.pairwise(times):
        h = after - t
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(after, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(y)
    return torch.stack(path)


def main():
    times = torch.linspace(0, 1.5, 12)
    turn = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
    start = torch.tensor([[2.0, 0.0], [0.0, 1.5], [-1.0, 1.0]])
    with torch.no_grad():
        truth = odeint(lambda t, y: y**3 @ turn.T * torch.exp(-0.1 * t), start, times)
    flow = fill(Flow(), 0.5)
    optimizer = torch.optim.RMSprop(flow.parameters(), lr=0.02, momentum=0.5)
    losses = []
    for _ in range(15):
        loss = nn.functional.smooth_l1_loss(odeint(flow, start, times), truth)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    print(json.dumps({"losses": losses, "end": odeint(flow, start, times)[-1].tolist()}))


if __name__ == "__main__":
    main()
