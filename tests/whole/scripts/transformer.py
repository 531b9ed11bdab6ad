"""A character transformer: causal attention, a warm-up of the rate, and text written greedily. Written for PyTorch."""

import json
import math

import torch
import torch.nn.functional as F
from shared.start import fill
from torch import nn

TEXT = "the cat sat on the mat and the rat sat on the hat; the bat ate the rat. " * 2
LETTERS = sorted(set(TEXT))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(approximate="tanh"), nn.Linear(2 * width, width))

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.norms[0](x)).chunk(3, dim=-1))
        found = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(found.transpose(1, 2).flatten(-2))
        return x + self.mlp(self.norms[1](x))


class Model(nn.Module):
    def __init__(self, length=24, width=32):
        super().__init__()
        self.length = length
        self.letter, self.place = nn.Embedding(len(LETTERS), width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(Block(width, 4), Block(width, 4))
        self.norm = nn.LayerNorm(width)
        self.register_buffer("places", torch.arange(length))

    def forward(self, x):
        x = self.letter(x) + self.place(self.places[: x.shape[1]])
        return F.linear(self.norm(self.blocks(x)), self.letter.weight)

    @torch.inference_mode()
    def write(self, start, n):
        letters = torch.tensor([[LETTERS.index(c) for c in start]])
        for _ in range(n):
            following = self(letters[:, -self.length :])[:, -1].argmax(dim=-1, keepdim=True)
            letters = torch.cat([letters, following], dim=1)
        return "".join(LETTERS[i] for i in letters[0].tolist())


def main():
    model = fill(Model())
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
    ids = torch.tensor([LETTERS.index(c) for c in TEXT])
    pieces = ids.unfold(0, model.length + 1, 7)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95))
    warm_up = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / 5) * math.exp(-step / 40))
    losses = []
    for _ in range(30):
        loss = F.cross_entropy(model(pieces[:, :-1]).flatten(0, 1), pieces[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        warm_up.step()
        losses.append(loss.item())
    print(json.dumps({"losses": losses, "written": model.eval().write("the ", 40)}))


if __name__ == "__main__":
    main()
