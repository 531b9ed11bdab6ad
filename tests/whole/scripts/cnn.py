"""A convolutional network with a residual block, groups, strides and pools. Written for PyTorch."""

import json

import torch
import torch.nn.functional as F
from shared.start import fill, normal
from torch import nn


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding="same", groups=2, bias=False),
            nn.GroupNorm(2, channels), nn.ReLU(inplace=True), nn.Conv2d(channels, channels, 3, padding=1))

    def forward(self, x):
        return F.relu(x + self.body(x))


def main():
    model = fill(nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1, padding_mode="circular"), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        Residual(8), nn.Conv2d(8, 12, 3, stride=2, dilation=2, padding=2), nn.ELU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(12, 4)), 2)
    labels = torch.arange(16) % 4
    row, column = torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij")
    waves = torch.stack([torch.sin(a * row + b * column) for a, b in [(1, 0), (0, 1), (1, 1), (1, -1)]])
    images = (waves[labels] + 0.3 * normal(16, 12, 12)).unsqueeze(1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=15)
    losses = []
    for _ in range(15):
        loss = F.nll_loss(F.log_softmax(model(images), dim=1), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    large = F.interpolate(images[:2], scale_factor=1.5, mode="bilinear")
    print(json.dumps({"losses": losses, "scores": model.eval()(large).tolist(), "variance": model[1].running_var.tolist()}))


if __name__ == "__main__":
    main()
