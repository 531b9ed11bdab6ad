"""Distributions: a variational autoencoder's loss, a policy's score, divergences, transformed distributions."""

import autograd_cy as torch
import autograd_cy.nn.functional as F
from autograd_cy import Tensor, nn
from autograd_cy.distributions import (
    Categorical,
    Distribution,
    Independent,
    MultivariateNormal,
    Normal,
    TransformedDistribution,
    kl_divergence,
    transforms,
)


class Encoder(nn.Module):
    def __init__(self, inputs: int, latent: int) -> None:
        super().__init__()
        self.mean = nn.Linear(inputs, latent)
        self.log_scale = nn.Linear(inputs, latent)

    def forward(self, x: Tensor) -> Normal:
        return Normal(self.mean(x), self.log_scale(x).exp())


class Autoencoder(nn.Module):
    def __init__(self, inputs: int = 6, latent: int = 2) -> None:
        super().__init__()
        self.encoder = Encoder(inputs, latent)
        self.decoder = nn.Linear(latent, inputs)

    def forward(self, x: Tensor) -> tuple[Tensor, Normal]:
        posterior = self.encoder(x)
        return torch.sigmoid(self.decoder(posterior.rsample())), posterior

    def loss(self, x: Tensor) -> Tensor:
        reconstruction, posterior = self(x)
        prior = Normal(torch.zeros_like(posterior.loc), torch.ones_like(posterior.scale))
        return F.binary_cross_entropy(reconstruction, x, reduction="sum") + kl_divergence(posterior, prior).sum()


def act(logits: Tensor, reward: float) -> tuple[int, Tensor]:
    policy = Categorical(logits=logits)
    action = policy.sample()
    return int(action.item()), -policy.log_prob(action) * reward


def entropy(distribution: Distribution) -> float:
    return distribution.entropy().sum().item()


def main() -> None:
    torch.manual_seed(0)
    Autoencoder().loss(torch.rand(3, 6)).backward()
    action, score = act(torch.zeros(4, requires_grad=True), reward=2.0)
    score.backward()
    assert 0 <= action < 4
    joint = Independent(Normal(torch.zeros(3), torch.tensor([1.0, 2.0, 3.0])), 1)
    assert joint.sample(torch.Size([5])).shape == (5, 3) and joint.event_shape == (3,) and entropy(joint) > 0
    full = MultivariateNormal(torch.zeros(2), covariance_matrix=torch.eye(2))
    assert full.log_prob(full.rsample((4,))).shape == (4,) and full.mean.shape == full.variance.shape
    flow = TransformedDistribution(Normal(0.0, 1.0), [transforms.AffineTransform(1.0, 2.0), transforms.ExpTransform()])
    assert flow.log_prob(torch.tensor(2.0)).isfinite()


if __name__ == "__main__":
    main()
