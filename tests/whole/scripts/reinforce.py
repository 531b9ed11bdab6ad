"""REINFORCE with a baseline: balance a pole on a cart. Written for PyTorch."""

import json
import math

import torch
from shared.start import fill, rng
from torch import nn


def move(state, force):
    """The cart and the pole 0.02 s later (Barto, Sutton and Anderson 1983, without friction)."""
    x, v, angle, spin = state
    sine, cosine = math.sin(angle), math.cos(angle)
    push = (force + 0.05 * spin**2 * sine) / 1.1
    twist = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
    pull = push - 0.05 * twist * cosine / 1.1
    return [x + 0.02 * v, v + 0.02 * pull, angle + 0.02 * spin, spin + 0.02 * twist]


def play(policy, longest=60):
    """The logarithms of the chosen actions' probabilities, and the guessed values of the states, until the pole falls."""
    state, chosen, values = list(rng.uniform(-0.05, 0.05, 4)), [], []
    while len(chosen) < longest and abs(state[2]) < 0.21 and abs(state[0]) < 2.4:
        logits, value = policy(torch.tensor(state)).split([2, 1])
        log_p = torch.log_softmax(logits, 0)
        action = int(rng.random() < log_p[1].exp().item())
        chosen.append(log_p[action])
        values.append(value[0])
        state = move(state, 10.0 if action else -10.0)
    return torch.stack(chosen), torch.stack(values)


def main():
    policy = fill(nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3)))
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)
    losses, lengths = [], []
    for _ in range(15):
        chosen, values = play(policy)
        steps = torch.arange(len(chosen), 0, -1)
        returns = (1 - 0.97**steps) / (1 - 0.97)
        advantage = (returns - values).detach()
        loss = -(chosen * advantage).mean() + 0.1 * nn.functional.mse_loss(values, returns)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        lengths.append(len(chosen))
    print(json.dumps({"losses": losses, "lengths": lengths}))


if __name__ == "__main__":
    main()
