"""Modules of a user: layers as attributes, containers, parameters and buffers, hooks, a state that is saved and loaded."""

import io
from collections import OrderedDict
from collections.abc import Callable, Iterator

import autograd_cy as torch
import autograd_cy.nn.functional as F
from autograd_cy import Tensor, nn


class Perceptron(nn.Module):
    def __init__(self, inputs: int, hidden: int, classes: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.dropout = nn.Dropout(dropout)
        self.fc2 = nn.Linear(hidden, classes, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(self.dropout(F.relu(self.norm(self.fc1(x)))))


class Scale(nn.Module):
    steps: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(size))
        self.shift = nn.Parameter(torch.zeros(size), requires_grad=False)
        self.register_buffer("steps", torch.zeros(1))

    def forward(self, x: Tensor, *, power: float = 1.0) -> tuple[Tensor, Tensor]:
        self.steps += 1
        return x**power * self.scale + self.shift, self.steps

    def extra_repr(self) -> str:
        return f"{self.scale.numel()}"


class Block(nn.Module):
    def __init__(self, channels: int, activation: type[nn.Module] = nn.ReLU) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, kernel_size=3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            activation(),
        )
        self.pool = nn.MaxPool2d(2)

    def forward(self, x: Tensor) -> Tensor:
        return self.pool(x + self.body(x))


class Picture(nn.Module):
    def __init__(self, depth: int = 2) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(2) for _ in range(depth)])
        self.heads = nn.ModuleDict({"color": nn.Linear(2, 3), "kind": nn.Linear(2, 5)})
        self.apply(self.initialize)

    @staticmethod
    def initialize(module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        for block in self.blocks:
            x = block(x)
        x = x.mean(dim=(2, 3))
        return {name: head(x) for name, head in self.heads.items()}


class Text(nn.Module):
    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 2, 8, batch_first=True), num_layers=1)
        self.out = nn.Linear(width, words)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens)
        x, (h, c) = self.lstm(x)
        x, h = self.gru(x, h + c)
        attended, _ = self.attention(x, x, x)
        return self.out(self.encoder(attended))


def count(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def weights(model: nn.Module) -> Iterator[nn.Parameter]:
    for name, parameter in model.named_parameters():
        if name.endswith("weight"):
            yield parameter


def watched(module: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
    assert output.shape[0] == args[0].shape[0]


def with_hook() -> Tensor:
    model = nn.Sequential(OrderedDict([("in", nn.Linear(3, 4)), ("act", nn.Tanh())]))
    handle = model[0].register_forward_hook(watched)
    y = model(torch.randn(2, 3))
    handle.remove()
    return y


def saved_and_loaded(model: nn.Module, into: nn.Module) -> list[str]:
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    into.load_state_dict(torch.load(file))
    return [*into.state_dict()]


def main() -> None:
    torch.manual_seed(0)
    model = Perceptron(4, 8, 3).train()
    criterion: Callable[[Tensor, Tensor], Tensor] = nn.CrossEntropyLoss(label_smoothing=0.1)
    loss = criterion(model(torch.randn(5, 4)), torch.randint(0, 3, (5,)))
    loss.backward()
    assert all(w.grad is not None for w in weights(model)) and count(model) == 4 * 8 + 8 + 8 + 8 + 3 * 8
    y, steps = Scale(3)(torch.ones(2, 3), power=2)
    assert y.shape == (2, 3) and int(steps) == 1
    assert Picture()(torch.randn(2, 2, 8, 8))["kind"].shape == (2, 5)
    assert Text(10, 4).eval()(torch.randint(0, 10, (2, 6))).size(-1) == 10
    assert with_hook().shape == (2, 4)
    assert saved_and_loaded(model, Perceptron(4, 8, 3))[0] == "fc1.weight"
    device = torch.device("cpu")
    assert model.to(device).double().fc1.weight.dtype is torch.float64
    assert isinstance(model.get_submodule("fc1"), nn.Linear)


if __name__ == "__main__":
    main()
