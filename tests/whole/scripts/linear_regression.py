"""Linear regression: a layer, SGD with momentum and weight decay, a schedule of the rate. Written for PyTorch."""

import json

import torch
from shared.start import fill, normal
from torch import nn


def main():
    x = normal(64, 5)
    truth = torch.tensor([[1.0], [-2.0], [0.5], [0.0], [3.0]])
    y = x @ truth + 0.7 + 0.05 * normal(64, 1)
    model = fill(nn.Linear(5, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3, nesterov=True)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.5)
    criterion = nn.MSELoss()
    losses, rates = [], []
    for _ in range(30):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        rates.append(schedule.get_last_lr()[0])
    assert losses[-1] < 0.01 * losses[0]
    print(json.dumps({"losses": losses, "rates": rates, "weight": model.weight.tolist(), "bias": model.bias.tolist()}))


if __name__ == "__main__":
    main()
