"""Read handwritten digits: a network of two layers, trained in seconds on 1797 real scans of 8 x 8 pixels.

pip install "autograd_cy[examples]"
python examples/train_digits.py --picture digits.png
"""

import argparse
import itertools

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from tqdm import trange

import autograd_cy as torch

F = torch.nn.functional


class Network:
    """64 pixels -> 256 hidden numbers -> one score for each of the ten digits."""

    def __init__(self, sizes=(64, 256, 10)):
        self.parameters = []
        for n_in, n_out in itertools.pairwise(sizes):
            weight = torch.randn(n_out, n_in) * (2 / n_in) ** 0.5
            self.parameters += [weight.requires_grad_(), torch.zeros(n_out, requires_grad=True)]

    def __call__(self, images):
        weight1, bias1, weight2, bias2 = self.parameters
        return F.linear(F.linear(images, weight1, bias1).relu(), weight2, bias2)


class Adam:
    """Steps scaled by running averages of the gradient and of its square (Kingma and Ba, arXiv 1412.6980)."""

    def __init__(self, parameters, lr=2e-3, beta1=0.9, beta2=0.999):
        self.state = [(p, torch.zeros_like(p), torch.zeros_like(p)) for p in parameters]
        self.lr, self.beta1, self.beta2, self.steps = lr, beta1, beta2, 0

    @torch.no_grad()
    def step(self):
        self.steps += 1
        for p, mean, square in self.state:
            mean += (1 - self.beta1) * (p.grad - mean)
            square += (1 - self.beta2) * (p.grad**2 - square)
            scale = (square / (1 - self.beta2**self.steps)).sqrt() + 1e-8
            p -= self.lr * mean / (1 - self.beta1**self.steps) / scale
            p.grad = None


def load_data():
    """Images and labels for training, and every fifth one for testing."""
    pixels, labels = load_digits(return_X_y=True)
    images, labels = torch.tensor(pixels / 16, dtype=torch.float32), torch.tensor(labels)
    test = torch.from_numpy(np.arange(len(labels)) % 5 == 0)
    return images[~test], labels[~test], images[test], labels[test]


def train(network, images, labels, epochs, batch=64):
    """The loss of every step. Noise on the images keeps the network from memorizing them."""
    optimizer, losses = Adam(network.parameters), []
    for _ in (bar := trange(epochs, desc="training", unit="epoch")):
        order = torch.randperm(len(labels))
        for start in range(0, len(order), batch):
            chosen = order[start : start + batch]
            noisy = images[chosen] + 0.25 * torch.randn(len(chosen), 64)
            loss = F.cross_entropy(network(noisy), labels[chosen])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        bar.set_postfix(loss=f"{losses[-1]:.4f}")
    return losses


def draw(path, losses, images, labels, guesses):
    """The loss curve, and beside it up to twelve misread digits."""
    figure = Figure(figsize=(11, 4.5), layout="constrained")  # Agg needs no screen
    left, right = figure.subfigures(1, 2)
    curve = left.subplots()
    curve.semilogy(losses, color="0.8", linewidth=0.8, label="each step")
    smooth = np.convolve(losses, np.full(25, 1 / 25), mode="valid")
    curve.semilogy(np.arange(len(smooth)) + 12, smooth, label="mean of 25")
    curve.set(xlabel="step", ylabel="loss", title="training")
    curve.legend()
    wrong = np.flatnonzero(guesses != labels)
    right.suptitle(f"{len(wrong)} of {len(labels)} test digits misread")
    axes = right.subplots(3, 4).ravel()
    for axis in axes:
        axis.axis("off")
    for axis, i in zip(axes, wrong, strict=False):
        axis.imshow(images[i].reshape(8, 8), cmap="gray_r")
        axis.set_title(f"{labels[i]} read as {guesses[i]}", fontsize=9)
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--picture", default="digits.png", metavar="PATH")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    images, labels, test_images, test_labels = load_data()
    network = Network()
    losses = train(network, images, labels, options.epochs)

    with torch.no_grad():
        guesses = network(test_images).argmax(dim=1)
    accuracy = (guesses == test_labels).to(torch.float32).mean().item()
    draw(options.picture, losses, test_images.numpy(), test_labels.numpy(), guesses.numpy())
    print(f"loss {losses[0]:.2f} -> {np.mean(losses[-25:]):.2f}, test accuracy {accuracy:.1%}")
    print(f"drawn in {options.picture}")
    assert accuracy >= 0.97, f"only {accuracy:.1%} of the test digits were read; more epochs would help"


if __name__ == "__main__":
    main()
