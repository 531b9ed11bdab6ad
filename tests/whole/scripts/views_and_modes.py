"""Views, writes, modes, retained gradients, errors that a user meets, and a recurrence. Written for PyTorch."""

import json

import torch
from torch import nn
from torch.autograd.graph import get_gradient_edge, saved_tensors_hooks
from torch.utils.checkpoint import checkpoint

found = {}


def views():
    x = torch.arange(12.0, dtype=torch.float64).reshape(3, 4).requires_grad_()
    y = (x.t()[1:, ::2] * x.flatten()[:6].view(3, 2)).expand(2, 3, 2)
    a, b = y.unbind(0)
    z = torch.cat([a, b.flip(0)], 1).permute(1, 0)
    z.retain_grad()
    nn.functional.softmax(z, 1).pow(2).sum().backward()
    found["views"] = [x.grad.tolist(), z.grad.tolist()]
    base = torch.zeros(2, 3)
    base[1] += 5
    base.t()[0].mul_(2).add_(1)
    found["writes"] = [base.tolist(), base._version]


def modes():
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    with torch.no_grad():
        frozen = w * 2
        with torch.enable_grad():
            thawed = w * 2
    average = w.detach().clone()
    for _ in range(3):
        (w.exp() * frozen).sum().backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            average.copy_(0.5 * average + 0.5 * w)
        w.grad = None
    found["modes"] = [frozen.requires_grad, thawed.requires_grad, w.tolist(), average.tolist(), w._version]


def refusals():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    z = (y * y).sum()
    y.data.fill_(0)
    z.backward()
    messages = []
    for attempt in (lambda: z.backward(), lambda: x.add_(1), lambda: (x * 2).backward(), lambda: x.numpy()):
        try:
            attempt()
        except RuntimeError as error:
            messages.append(str(error).split(". ")[0].split(":")[0][:40])
    found["refusals"] = messages


def recurrence():
    h, xs = torch.zeros(2, 3, dtype=torch.float64), torch.linspace(-1, 1, 8, dtype=torch.float64).view(4, 2, 1)
    w = torch.eye(3, dtype=torch.float64).mul(0.9).requires_grad_()
    states = []
    for x in xs:
        h = torch.tanh(h @ w + x)
        h.register_hook(lambda g: states.append(g.abs().max().item()))
    edge = get_gradient_edge(h)
    h.sum().backward()
    found["recurrence"] = [w.grad.tolist(), states, edge.output_nr, edge.node.name()]


def recomputation():
    calls, packed = [], []

    def block(x, w):
        calls.append(torch.is_grad_enabled())
        return torch.tanh(x * w).exp()

    def pack(t):
        packed.append(list(t.shape))
        return t.tolist()

    w = torch.linspace(0.5, 1.5, 3, dtype=torch.float64, requires_grad=True)
    finished = []
    w.register_post_accumulate_grad_hook(lambda p: finished.append(p.grad.sum().item()))
    x = torch.ones(2, 3, dtype=torch.float64)
    for reentrant in (False, True):
        checkpoint(block, x.clone().requires_grad_(), w, use_reentrant=reentrant).sum().backward()
    with saved_tensors_hooks(pack, lambda p: torch.tensor(p, dtype=torch.float64)):
        y = (w * w.sin()).sum()
    y.backward()
    found["recomputation"] = [w.grad.tolist(), len(calls), packed, finished]


if __name__ == "__main__":
    for part in (views, modes, refusals, recurrence, recomputation):
        part()
    print(json.dumps(found))
