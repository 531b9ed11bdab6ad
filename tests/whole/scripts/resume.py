"""Training stopped, saved to a file, loaded into new objects and resumed: as if never stopped. Written for PyTorch."""

import json
import tempfile
from pathlib import Path

import torch
from shared.start import fill, normal
from torch import nn


def build():
    model = nn.Sequential(nn.Linear(3, 8, bias=False), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    return model, optimizer, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)


def train(model, optimizer, schedule, x, y, steps):
    losses = []
    for _ in range(steps):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def main():
    x = normal(32, 3)
    y = x.prod(dim=1, keepdim=True) + x[:, :1]
    parts = build()
    fill(parts[0])
    losses = train(*parts, x, y, 10)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint.pt"
        torch.save({"parts": [part.state_dict() for part in parts], "step": 10, "data": x}, path)
        kept = torch.load(path, weights_only=True)
    again = build()
    for part, state in zip(again, kept["parts"], strict=True):
        part.load_state_dict(state)
    resumed = train(*again, kept["data"], y, 10)
    assert resumed == train(*parts, x, y, 10) and again[0][1].num_batches_tracked.item() == 20
    print(json.dumps({"losses": losses + resumed, "step": kept["step"], "keys": list(again[0].state_dict())}))


if __name__ == "__main__":
    main()
