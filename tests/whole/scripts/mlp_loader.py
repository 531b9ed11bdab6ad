"""A classifier of spirals: batches from a DataLoader, batch norm, AdamW, clipped gradients, train and eval. For PyTorch."""

import json

import torch
import torch.nn.functional as F
from shared.start import fill, normal
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Spirals(Dataset):
    """Three arms of points in the plane."""

    def __init__(self, n):
        t = torch.linspace(0.2, 1.0, n).repeat(3)
        self.arms = torch.arange(3).repeat_interleave(n)
        angle = 4 * t + 2.1 * self.arms + 0.1 * normal(3 * n)
        self.points = torch.stack([t * angle.cos(), t * angle.sin()], 1)

    def __len__(self):
        return len(self.arms)

    def __getitem__(self, i):
        return {"point": self.points[i], "arm": int(self.arms[i])}


def main():
    data = Spirals(24)
    order = [i * 29 % len(data) for i in range(len(data))]
    loader = DataLoader(data, batch_size=16, sampler=order, drop_last=True)
    model = fill(nn.Sequential(
        nn.Linear(2, 32, bias=False), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 3)), 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-2)
    losses, norms, accuracies = [], [], []
    for _ in range(6):
        model.train()
        for batch in loader:
            loss = F.cross_entropy(model(batch["point"]), batch["arm"], label_smoothing=0.05)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            norms.append(nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            guess = model(data.points).argmax(dim=1)
        accuracies.append((guess == data.arms).double().mean().item())
    assert losses[-1] < losses[0]
    print(json.dumps({"losses": losses, "norms": norms, "accuracies": accuracies, "mean": model[1].running_mean.tolist()}))


if __name__ == "__main__":
    main()
