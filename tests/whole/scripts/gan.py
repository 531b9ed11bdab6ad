"""A Wasserstein GAN with a gradient penalty, learning a ring of points. Written for PyTorch."""

import json
import math

import torch
from shared.start import fill, normal, rng
from torch import nn


def penalty(critic, real, fake):
    """How far the norms of the critic's gradients are from one, between real points and made ones."""
    mix = torch.from_numpy(rng.random((len(real), 1)))
    points = (mix * real + (1 - mix) * fake).requires_grad_()
    scores = critic(points)
    (g,) = torch.autograd.grad(scores, points, grad_outputs=torch.ones_like(scores), create_graph=True)
    return ((g.norm(2, dim=1) - 1) ** 2).mean()


def main():
    generator = fill(nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Linear(24, 2)))
    critic = fill(nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2), nn.Linear(24, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1)))
    for_generator = torch.optim.Adam(generator.parameters(), lr=5e-3, betas=(0.5, 0.9))
    for_critic = torch.optim.Adam(critic.parameters(), lr=5e-3, betas=(0.5, 0.9))
    angle = torch.arange(32.0) * 2 * math.pi / 8
    ring = 2 * torch.stack([angle.cos(), angle.sin()], dim=1)
    losses = {"critic": [], "penalty": [], "generator": []}
    for _ in range(10):
        for _ in range(2):
            real, fake = ring + 0.1 * normal(32, 2), generator(normal(32, 2)).detach()
            gp = penalty(critic, real, fake)
            loss = critic(fake).mean() - critic(real).mean() + 10 * gp
            for_critic.zero_grad()
            loss.backward()
            for_critic.step()
            losses["critic"].append(loss.item())
            losses["penalty"].append(gp.item())
        critic.requires_grad_(False)
        loss = -critic(generator(normal(32, 2))).mean()
        for_generator.zero_grad()
        loss.backward()
        for_generator.step()
        critic.requires_grad_(True)
        losses["generator"].append(loss.item())
    print(json.dumps(losses))


if __name__ == "__main__":
    main()
