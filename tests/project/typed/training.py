"""Datasets, loaders, an optimizer with a schedule, validation without gradients, and a checkpoint."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import autograd_cy as torch
from autograd_cy import Tensor, nn, optim
from autograd_cy.optim.lr_scheduler import CosineAnnealingLR, LRScheduler, StepLR
from autograd_cy.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, random_split


class Points(Dataset[tuple[Tensor, int]]):
    def __init__(self, size: int, transform: nn.Module | None = None) -> None:
        generator = torch.Generator().manual_seed(0)
        self.x = torch.randn(size, 2, generator=generator)
        self.transform = transform

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        x = self.x[index]
        return x, int(x.sum() > 0)


class Numbers(IterableDataset[Tensor]):
    def __iter__(self) -> Any:
        yield from torch.arange(4).float()


def collate(samples: Sequence[tuple[Tensor, int]]) -> tuple[Tensor, Tensor]:
    xs, labels = zip(*samples, strict=True)
    return torch.stack(xs), torch.tensor(labels)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)


def train_epoch(
    model: nn.Module, loader: DataLoader[Any], criterion: nn.Module, optimizer: optim.Optimizer, device: torch.device
) -> float:
    model.train()
    total = 0.0
    for x, target in loader:
        x, target = x.to(device), target.to(device)
        optimizer.zero_grad()
        loss: Tensor = criterion(model(x), target)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        total += loss.item() * x.size(0)
    return total / len(loader)


@torch.no_grad()
def evaluate(model: nn.Module, loader: DataLoader[tuple[Tensor, int]]) -> float:
    model.eval()
    correct = 0
    for x, target in loader:
        output = model(x)
        correct += (output.argmax(dim=1) == target).sum().item()
    return correct / 16


def closed(model: Model, x: Tensor, target: Tensor) -> float:
    optimizer = optim.LBFGS(model.parameters(), lr=0.1, max_iter=2)

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), target)
        loss.backward()
        return loss

    loss: Tensor = optimizer.step(closure)
    return loss.item()


def main(epochs: int = 2) -> None:
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    training, held_out = random_split(Points(48), [32, 16])
    train_loader = DataLoader(training, batch_size=8, shuffle=True, collate_fn=collate, num_workers=0)
    test_loader = DataLoader(held_out, batch_size=16)
    model = Model().to(device)
    optimizer = optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.99), weight_decay=1e-3)
    schedulers: list[LRScheduler] = [StepLR(optimizer, step_size=1, gamma=0.5), CosineAnnealingLR(optimizer, T_max=epochs)]
    criterion = nn.CrossEntropyLoss()
    for _ in range(epochs):
        loss = train_epoch(model, train_loader, criterion, optimizer, device)
        for scheduler in schedulers:
            scheduler.step()
        assert loss > 0 and 0 <= evaluate(model, test_loader) <= 1
    assert optimizer.param_groups[0]["lr"] < 1e-2 and schedulers[0].get_last_lr()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint.pt"
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epochs}, path)
        checkpoint = torch.load(path, map_location=device)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    groups = [{"params": model.net[0].parameters(), "lr": 0.1}, {"params": model.net[2].parameters()}]
    sgd = optim.SGD(groups, lr=0.01, momentum=0.9)
    sgd.zero_grad(set_to_none=True)
    x, target = next(iter(DataLoader(TensorDataset(torch.randn(4, 2), torch.zeros(4, dtype=torch.long)), batch_size=4)))
    assert closed(model, x, target) > 0
    assert [float(number) for number in Numbers()] == [0, 1, 2, 3]


if __name__ == "__main__":
    main()
