"""Write like Python's manual: a transformer on letters, trained on the help texts that come with Python.

Every step is saved to a file. After an interruption, the same command resumes the training.

pip install "autograd_cy[examples]"
python examples/train_text.py --picture text.png --checkpoint text.pt
"""

import argparse
import math
import os
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
from matplotlib.figure import Figure
from tqdm import tqdm

import autograd_cy as torch
from autograd_cy import nn

F = nn.functional

TEXT = "\n".join(topics[name] for name in sorted(topics))
LETTERS = sorted(set(TEXT))
NUMBERS = {letter: i for i, letter in enumerate(LETTERS)}


class Block(nn.Module):
    """Each position attends to earlier positions; a feed-forward network follows."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def split(self, x):
        """Queries, keys and values of shape (batch, head, position, feature)."""
        return [t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, dim=-1)]

    def forward(self, x):
        seen = F.scaled_dot_product_attention(*self.split(x), is_causal=True)
        x = x + self.out(seen.transpose(1, 2).flatten(-2))
        return x + self.mlp(self.norm2(x))

    def attention(self, x):
        """The attention of each position to each other one, for every head: the weights of the values in forward()."""
        q, k, _ = self.split(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        return scores.masked_fill(later, -math.inf).softmax(-1)


class Writer(nn.Module):
    """Letters -> scores for the next letter after each."""

    def __init__(self, length=64, width=96, heads=4, depth=2):
        super().__init__()
        self.length = length
        self.letter, self.place = nn.Embedding(len(LETTERS), width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm, self.score = nn.LayerNorm(width), nn.Linear(width, len(LETTERS))

    def embed(self, letters):
        return self.letter(letters) + self.place.weight[: letters.shape[1]]

    def forward(self, letters):
        x = self.embed(letters)
        for block in self.blocks:
            x = block(x)
        return self.score(self.norm(x))

    @torch.no_grad()
    def write(self, n, start="\n", temperature=0.7):
        letters = torch.tensor([[NUMBERS[letter] for letter in start]])
        for _ in range(n):
            scores = self(letters[:, -self.length :])[0, -1] / temperature
            letters = torch.cat([letters, torch.multinomial(scores.softmax(0), 1).unsqueeze(0)], dim=1)
        return "".join(LETTERS[i] for i in letters[0].tolist())


def loss_of(model, pieces):
    return F.cross_entropy(model(pieces[:, :-1]).flatten(0, 1), pieces[:, 1:].flatten())


class Training:
    """A model, its optimizer and the losses so far, in memory and in a file."""

    def __init__(self, path, steps):
        self.path, self.steps, self.losses = Path(path), steps, []
        self.model = Writer()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-3)
        if self.path.exists():
            self.load()

    def load(self):
        kept = torch.load(self.path)
        self.model.load_state_dict(kept["model"])
        self.optimizer.load_state_dict(kept["optimizer"])
        self.losses = kept["losses"]
        torch.set_rng_state(kept["random"])

    def save(self):
        """Replace the file when the new one is complete, so that an interrupted process leaves a whole file."""
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        fresh = self.path.with_name(self.path.name + ".new")
        torch.save(state | {"losses": self.losses, "random": torch.get_rng_state()}, fresh)
        os.replace(fresh, self.path)

    def step(self, pieces):
        done = len(self.losses) / self.steps
        self.optimizer.param_groups[0]["lr"] = 3e-3 * min(1, 20 * done + 0.02) * (1 - 0.9 * done)
        loss = loss_of(self.model, pieces)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.losses.append(loss.item())

    def run(self, pieces, letters, batch=24):
        """Train to the last step, and print four times a text of the model."""
        with tqdm(total=self.steps, initial=len(self.losses), desc="training", unit="step") as bar:
            while len(self.losses) < self.steps:
                self.step(pieces[torch.randint(0, len(pieces), (batch,))])
                self.save()
                bar.set_postfix(loss=f"{self.losses[-1]:.3f}", refresh=False)
                bar.update()
                if len(self.losses) % max(1, self.steps // 4) == 0:
                    bar.write(f"--- step {len(self.losses)}: {self.model.write(letters)}")


def draw(path, training, text):
    """The loss curve, and the attention of each letter of a text in the heads of the first block."""
    figure = Figure(figsize=(13, 4.5), layout="constrained")  # Agg needs no screen
    left, right = figure.subfigures(1, 2, width_ratios=(1, 2))
    left.subplots().plot(training.losses)
    left.axes[0].set(xlabel="step", ylabel="loss, nats per letter", title="training")
    model = training.model
    with torch.no_grad():
        weights = model.blocks[0].attention(model.embed(torch.tensor([[NUMBERS[letter] for letter in text]])))[0].numpy()
    right.suptitle("attention: each row's letter looks at the columns'")
    for axis, head in zip(right.subplots(1, len(weights)), weights, strict=True):
        axis.imshow(head, cmap="Blues")
        axis.set_xticks(np.arange(len(text)), text, fontsize=7)
        axis.set_yticks(np.arange(len(text)), text, fontsize=7)
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--letters", type=int, default=200, help="how many to write on the way; twice as many at the end")
    parser.add_argument("--checkpoint", default="text.pt", metavar="PATH")
    parser.add_argument("--picture", default="text.png", metavar="PATH")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    training = Training(options.checkpoint, options.steps)
    numbers = torch.tensor([NUMBERS[letter] for letter in TEXT])
    pieces = numbers.unfold(0, training.model.length + 1, 1)
    n_train = len(pieces) * 9 // 10
    training.run(pieces[:n_train], options.letters)

    with torch.no_grad():
        unseen = loss_of(training.model, pieces[n_train + 65 :: 131]).item()
    draw(options.picture, training, "the class statement")
    losses = training.losses
    print(training.model.write(2 * options.letters, "\nThe "))
    print(f"loss {losses[0]:.3f} -> {np.mean(losses[-20:]):.3f} after {len(losses)} steps, {unseen:.3f} on text never read")
    print(f"drawn in {options.picture}")


if __name__ == "__main__":
    main()
