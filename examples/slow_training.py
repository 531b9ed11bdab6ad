"""A training loop with a slow line; docs/profiling.md finds it with the profiler.

Points in the plane are classified by their distance from the origin; inputs are masked at random, as dropout does.

python -m autograd_cy.profile examples/slow_training.py
python examples/slow_training.py --mended       # trains the same, without the slow line
"""

import argparse
import time

import autograd_cy as torch

SAMPLES, FEATURES, HIDDEN, CLASSES = 4096, 128, 32, 3
KEPT = 0.9


def data():
    """Random points, classified by their distance from the origin."""
    x = torch.randn(SAMPLES, FEATURES)
    distance = x[:, :8].norm(dim=1)
    labels = (distance > 2.4).long() + (distance > 3.1).long()
    return x, labels


def masks():
    """The mask of the inputs: ones and zeros, drawn once."""
    return (torch.rand(SAMPLES, FEATURES) < KEPT).long()


def network():
    """The weights of two layers."""
    first = (torch.randn(FEATURES, HIDDEN) / FEATURES**0.5).requires_grad_()
    second = (torch.randn(HIDDEN, CLASSES) / HIDDEN**0.5).requires_grad_()
    return first, second


def loss_of(weights, x, mask, labels):
    """The loss of all samples."""
    kept = x * mask
    hidden = (kept @ weights[0]).relu()
    return torch.nn.functional.cross_entropy(hidden @ weights[1], labels)


def train(steps, mended):
    """Plain gradient descent; returns the losses."""
    torch.manual_seed(0)
    x, labels = data()
    mask, weights, losses = masks(), network(), []
    if mended:
        mask = mask.to(x.dtype)  # once, not in each step
    for _ in range(steps):
        loss = loss_of(weights, x, mask, labels)
        loss.backward()
        with torch.no_grad():
            for w in weights:
                w -= 0.5 * w.grad
                w.grad = None
        losses.append(loss.item())
    return losses


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mended", action="store_true")
    parser.add_argument("--steps", type=int, default=50)
    options = parser.parse_args()
    start = time.perf_counter()
    losses = train(options.steps, options.mended)
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, {1e3 * (time.perf_counter() - start) / options.steps:.2f} ms a step")


if __name__ == "__main__":
    main()
