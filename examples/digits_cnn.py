"""Read handwritten digits with convolutions, and draw the filters of the first layer.

pip install "autograd_cy[examples]"
python examples/digits_cnn.py --picture filters.png
"""

import argparse

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from tqdm import trange

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.utils.data import DataLoader, TensorDataset

F = nn.functional


def build():
    """1797 scans of 8 x 8 pixels -> ten scores each."""
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(12, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.2), nn.Linear(128, 10))


def load_data():
    """Images and labels for training, and every fifth one for testing."""
    pixels, labels = load_digits(return_X_y=True)
    images = torch.tensor(pixels.reshape(-1, 1, 8, 8) / 16, dtype=torch.float32)
    labels, test = torch.tensor(labels), torch.from_numpy(np.arange(len(labels)) % 5 == 0)
    return TensorDataset(images[~test], labels[~test]), images[test], labels[test]


def train(model, data, epochs):
    """The loss of every step."""
    loader = DataLoader(data, batch_size=64, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=epochs * len(loader))
    losses = []
    for _ in (bar := trange(epochs, desc="training", unit="epoch")):
        for images, labels in loader:
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        bar.set_postfix(loss=f"{losses[-1]:.4f}")
    return losses


def draw(path, model, image):
    """The twelve filters of the first layer, each above its response to an image."""
    figure = Figure(figsize=(13, 3), layout="constrained")  # Agg needs no screen
    filters = model[0].weight.detach().numpy()[:, 0]
    with torch.no_grad():
        found = model[:3](image.unsqueeze(0))[0].numpy()
    width = np.abs(filters).max()
    axes = figure.subplots(2, 1 + len(filters))
    axes[1, 0].imshow(image[0].numpy(), cmap="gray_r")
    for above, below, weight, activity in zip(*axes[:, 1:], filters, found, strict=True):
        above.imshow(weight, cmap="RdBu", vmin=-width, vmax=width)
        below.imshow(activity, cmap="gray_r")
    for axis in axes.ravel():
        axis.axis("off")
    figure.suptitle("above: filters, blue where they want ink, red where none; below: what they find in the digit")
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--picture", default="filters.png", metavar="PATH")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    data, test_images, test_labels = load_data()
    model = build()
    losses = train(model, data, options.epochs)

    model.eval()
    with torch.no_grad():
        accuracy = (model(test_images).argmax(dim=1) == test_labels).double().mean().item()
    draw(options.picture, model, test_images[3])
    print(f"loss {losses[0]:.2f} -> {np.mean(losses[-10:]):.3f}, test accuracy {accuracy:.1%}")
    print(f"drawn in {options.picture}")
    assert accuracy >= 0.97, f"only {accuracy:.1%} of the test digits were read; more epochs would help"


if __name__ == "__main__":
    main()
