"""A training loop without modules: weights in a list, updates in place, modes as decorators."""

import itertools
from typing import Any

import autograd_cy as torch
import autograd_cy.nn.functional as F
from autograd_cy import Tensor
from autograd_cy.autograd import Function, grad


class Square(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        saved: tuple[Tensor, ...] = ctx.saved_tensors
        return 2 * saved[0] * g


class Named(torch.Tensor):
    pass


class Net:
    def __init__(self, sizes: list[int]) -> None:
        self.weights = [torch.randn(n, m, requires_grad=True) for n, m in itertools.pairwise(sizes)]

    def __call__(self, x: Tensor) -> Tensor:
        for w in self.weights[:-1]:
            x = (x @ w).tanh()
        return x @ self.weights[-1]


@torch.no_grad()
def update(parameters: list[Tensor], rate: float) -> None:
    for p in parameters:
        if p.grad is not None:
            p -= rate * p.grad
            p.grad = None


@torch.inference_mode()
def accuracy(net: Net, x: Tensor, target: Tensor) -> float:
    return (net(x).argmax(1) == target).double().mean().item()


@torch.enable_grad()
def penalty(w: Tensor) -> Tensor:
    (g,) = grad(Square.apply(w).sum(), w, create_graph=True)
    return (g * g).sum()


def find_nan(loss: Tensor) -> None:
    with torch.autograd.detect_anomaly(), torch.autograd.set_detect_anomaly(True, check_nan=True):
        loss.backward()


def train(steps: int = 3) -> tuple[float, float]:
    torch.manual_seed(0)
    x, target = torch.randn(16, 4), torch.randint(0, 3, (16,))
    net = Net([4, 8, 3])
    best = float("inf")
    for _ in range(steps):
        loss = F.cross_entropy(net(x), target) + 1e-3 * penalty(net.weights[0])
        loss.backward()
        update(net.weights, 0.1)
        if loss.item() < best:
            best = float(loss.item())
    handle = net.weights[0].register_hook(lambda g: g * 2)
    handle.remove()
    with torch.no_grad(), torch.set_grad_enabled(False):
        named: Named = x.as_subclass(Named)
        assert named.shape[0] == len(x)
    for g in grad(net(x).sum(), net.weights):
        assert (g == g).all()
    return best, accuracy(net, x, target)


def main() -> None:
    best, share = train()
    assert 0 < best < 10 and 0 <= share <= 1


if __name__ == "__main__":
    main()
