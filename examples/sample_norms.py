"""Find mislabelled digits by the gradients of single samples: a wrong label pulls harder at the network than a right one.

pip install "autograd_cy[examples]"
python examples/sample_norms.py --picture norms.png
"""

import argparse

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

import autograd_cy as torch
from autograd_cy.func import grad, per_sample_grads

F = torch.nn.functional


def scores(parameters, images):
    weight1, bias1, weight2, bias2 = parameters
    return F.linear(F.linear(images, weight1, bias1).tanh(), weight2, bias2)


def loss(parameters, images, labels):
    return F.cross_entropy(scores(parameters, images), labels)


def loss_of_one(parameters, image, label):
    return loss(parameters, image.unsqueeze(0), label.unsqueeze(0))


def load_data(wrong, random):
    """Images, labels of which some are wrong, and the indices of the wrong ones."""
    pixels, labels = load_digits(return_X_y=True)
    chosen = random.choice(len(labels), wrong, replace=False)
    labels[chosen] = (labels[chosen] + random.integers(1, 10, wrong)) % 10
    is_wrong = np.zeros(len(labels), bool)
    is_wrong[chosen] = True
    return torch.tensor(pixels / 16, dtype=torch.float32), torch.tensor(labels), is_wrong


def train(images, labels, steps, random):
    """The parameters after some steps of gradient descent, too few to memorize single samples."""
    sizes = [(32, 64), (32,), (10, 32), (10,)]
    parameters = tuple(torch.tensor(0.2 * random.standard_normal(size), dtype=torch.float32) for size in sizes)
    slope = grad(loss)
    for _ in range(steps):
        parameters = tuple(p - g for p, g in zip(parameters, slope(parameters, images, labels), strict=True))
    return parameters


def gradient_norms(parameters, images, labels):
    """The norm of each sample's gradient with respect to all parameters."""
    gradients = per_sample_grads(loss_of_one, parameters, images, labels, chunk_size=256)
    return sum(g.flatten(1).square().sum(1) for g in gradients).sqrt().numpy()


def draw(path, norms, is_wrong, images, labels):
    """The distribution of the norms, and the sixteen samples with the largest."""
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subfigures(1, 2)
    axis = left.subplots()
    bins = np.linspace(0, norms.max(), 60)
    axis.hist([norms[~is_wrong], norms[is_wrong]], bins, stacked=True, label=["right label", "wrong label"])
    axis.set(xlabel="norm of the sample's gradient", ylabel="samples", yscale="log", title="gradients of single samples")
    axis.legend()
    right.suptitle("the sixteen that pull hardest (wrong labels in orange)")
    for axis, i in zip(right.subplots(2, 8).ravel(), np.argsort(-norms), strict=False):
        axis.imshow(images[i].reshape(8, 8), cmap="gray_r")
        axis.set_title(str(labels[i]), color="C1" if is_wrong[i] else "C0")
        axis.axis("off")
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--wrong", type=int, default=60, help="labels that are made wrong")
    parser.add_argument("--picture", default="norms.png", metavar="PATH")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    random = np.random.default_rng(options.seed)
    images, labels, is_wrong = load_data(options.wrong, random)
    parameters = train(images, labels, options.steps, random)
    norms = gradient_norms(parameters, images, labels)
    found = is_wrong[np.argsort(-norms)[: options.wrong]].sum()
    draw(options.picture, norms, is_wrong, images.numpy(), labels.numpy())
    print(f"of the {options.wrong} samples that pull hardest {found} have a wrong label; by chance it would be 2")
    print(f"drawn in {options.picture}")

    sum_of_samples = [g.mean(0) for g in per_sample_grads(loss_of_one, parameters, images, labels)]
    for mean, whole in zip(sum_of_samples, grad(loss)(parameters, images, labels), strict=True):
        assert (mean - whole).abs().max().item() < 1e-5, "the mean of the samples' gradients is that of the batch"
    assert found >= 0.8 * options.wrong, f"only {found} wrong labels were found"


if __name__ == "__main__":
    main()
