"""A variational autoencoder of small bars, its noise given from outside. Written for PyTorch."""

import json

import torch
import torch.nn.functional as F
from shared.start import fill, normal
from torch import nn


class VAE(nn.Module):
    def __init__(self, hidden=24, latent=2):
        super().__init__()
        self.encode = nn.Sequential(nn.Flatten(), nn.Linear(36, hidden), nn.SiLU())
        self.mean, self.log_variance = nn.Linear(hidden, latent), nn.Linear(hidden, latent)
        self.decode = nn.Sequential(
            nn.Linear(latent, hidden), nn.LeakyReLU(0.1), nn.Linear(hidden, 36), nn.Unflatten(1, (6, 6)))

    def forward(self, x, noise):
        h = self.encode(x)
        mean, log_variance = self.mean(h), self.log_variance(h)
        return self.decode(mean + torch.exp(0.5 * log_variance) * noise), mean, log_variance


def main():
    rows = torch.eye(6).unsqueeze(2).expand(6, 6, 6)
    images = torch.cat([rows, rows.transpose(1, 2)])
    model = fill(VAE())
    optimizer = torch.optim.Adam(
        [{"params": model.encode.parameters()}, {"params": model.decode.parameters(), "lr": 5e-3}], lr=1e-2)
    optimizer.add_param_group({"params": [*model.mean.parameters(), *model.log_variance.parameters()]})
    losses, divergences = [], []
    for _ in range(25):
        logits, mean, log_variance = model(images, normal(12, 2))
        likelihood = F.binary_cross_entropy_with_logits(logits, images, reduction="none").sum(dim=(1, 2))
        divergence = -0.5 * (1 + log_variance - mean.pow(2) - log_variance.exp()).sum(dim=1)
        loss = (likelihood + 0.2 * divergence).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        divergences.append(divergence.mean().item())
    assert losses[-1] < losses[0]
    print(json.dumps({"losses": losses, "divergences": divergences}))


if __name__ == "__main__":
    main()
