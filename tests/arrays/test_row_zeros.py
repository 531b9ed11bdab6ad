"""NOTE [Rows]: a step looks only at the rows of a gradient that may not be zero; only the time shows it."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._core.optim.updates import rows_to_update
from autograd_cy.memory import empty_cache, memory_stats, set_cache_limit

F = ag.nn.functional
N, WIDTH = 2000, 16
INDICES = np.random.default_rng(0).integers(0, N, 60)
INDICES[7] = INDICES[3]
DIFFERENT = np.unique(INDICES).size


@pytest.fixture(autouse=True)
def clean_pool() -> Iterator[None]:
    before = set_cache_limit(1 << 30)
    empty_cache()
    yield
    set_cache_limit(before)
    empty_cache()


def table(dtype: Any = ag.float32) -> ag.Tensor:
    values = np.random.default_rng(1).standard_normal((N, WIDTH))
    values[::5] = -0.0
    values[1::50] = np.nan
    return ag.tensor(values, dtype=dtype, requires_grad=True)


def seed(n: int, dtype: Any = ag.float32) -> ag.Tensor:
    return ag.tensor(np.random.default_rng(2).standard_normal((n, WIDTH)), dtype=dtype)


def read(weight: ag.Tensor, indices: np.ndarray = INDICES, **options: Any) -> None:
    F.embedding(ag.tensor(indices), weight, **options).backward(seed(indices.size, weight.dtype))


def expected(indices: np.ndarray = INDICES, dtype: Any = np.float32) -> np.ndarray:
    gradient = np.zeros((N, WIDTH), dtype)
    np.add.at(gradient, indices, seed(indices.size).numpy().astype(np.float32) if dtype is np.float32
              else seed(indices.size, ag.float64).numpy())  # fmt: skip
    return gradient


def bits(x: ag.Tensor) -> bytes:
    return x.detach().numpy().tobytes()


# the rows are known, or not


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_rows_that_were_read_are_known(dtype: Any) -> None:
    weight = table(dtype)
    read(weight)
    assert rows_to_update(weight) == DIFFERENT
    np.testing.assert_array_equal(weight.grad.numpy(), expected(dtype=np.float32 if dtype is ag.float32 else np.float64))


def test_of_many_rows_and_of_small_tables_they_are_not() -> None:
    weight = table()
    read(weight, np.arange(N // 4 + 1))
    assert rows_to_update(weight) is None
    read(weight := table()[:100].detach().requires_grad_(), INDICES % 20)
    assert rows_to_update(weight) is None


def test_without_the_pool_they_are_not() -> None:
    set_cache_limit(0)
    read(weight := table())
    assert rows_to_update(weight) is None
    np.testing.assert_array_equal(weight.grad.numpy(), expected())


FORGOTTEN: dict[str, Callable[[ag.Tensor], Any]] = {
    "grad is looked at": lambda weight: weight.grad,
    "grad is written by NumPy": lambda weight: weight.grad.numpy().fill(2.0),
    "grad is zeroed": lambda weight: weight.grad.zero_(),
    "another backward": read,
    "a dense gradient is added": lambda weight: (weight * 2.0).sum().backward(),
    "a recorded gradient is added": lambda weight: (weight**2).sum().backward(create_graph=True),
    "clipped": lambda weight: ag.nn.utils.clip_grad_norm_([weight], 1.0),
    "copied": copy.deepcopy,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("how", FORGOTTEN)
def test_who_sees_or_writes_the_gradient_lets_them_be_forgotten(how: str) -> None:
    weight = table()
    read(weight)
    FORGOTTEN[how](weight)
    assert rows_to_update(weight) is None
    before, gradient = weight.detach().numpy().copy(), weight.grad.detach().numpy().copy()
    ag.optim.SGD([weight], lr=0.5).step()
    np.testing.assert_array_equal(weight.detach().numpy(), before - np.float32(0.5) * gradient)


HOOKED: dict[str, Callable[[ag.Tensor], Any]] = {
    "tensor": lambda weight: weight.register_hook(lambda g: g.numpy().fill(3.0)),
    "accumulated": lambda weight: weight.register_post_accumulate_grad_hook(lambda p: p.grad.numpy().fill(3.0)),
    "node": lambda weight: ag.autograd.graph.get_gradient_edge(weight).node.register_prehook(lambda g: g[0].numpy().fill(3.0)),
}


@pytest.mark.parametrize("how", HOOKED)
def test_hooks_that_write_to_the_gradient(how: str) -> None:
    weight = table()
    before = weight.detach().numpy().copy()
    handle = HOOKED[how](weight)
    read(weight)
    assert rows_to_update(weight) is None
    ag.optim.SGD([weight], lr=0.5).step()
    np.testing.assert_array_equal(weight.detach().numpy(), before - np.float32(1.5))
    handle.remove()
    weight.grad = None
    read(weight)
    np.testing.assert_array_equal(weight.grad.numpy(), expected())


@pytest.mark.parametrize("times", [1, 3])
def test_a_second_consumer_and_a_table_that_is_no_leaf(times: int) -> None:
    for _ in range(times):
        weight = table()
        (F.embedding(ag.tensor(INDICES), weight) * seed(INDICES.size)).sum().add(weight.sum()).backward()
        assert rows_to_update(weight) is None
        np.testing.assert_allclose(weight.grad.numpy(), expected() + 1, rtol=1e-6)
        weight = table()
        F.embedding(ag.tensor(INDICES), weight.mul(2.0)).backward(seed(INDICES.size))
        assert rows_to_update(weight) is None
        np.testing.assert_array_equal(weight.grad.numpy(), 2 * expected())
        (gradient,) = ag.autograd.grad(F.embedding(ag.tensor(INDICES), weight), weight, seed(INDICES.size))
        np.testing.assert_array_equal(gradient.numpy(), expected())
        gradient.fill_(5.0)  # what is given back is not zero elsewhere


# memory serves again


def test_memory_serves_again_with_other_rows() -> None:
    weight, random = table(), np.random.default_rng(3)
    read(weight)
    for step in range(6):
        weight.grad = None
        indices = random.integers(0, N, 20 + step)
        before = memory_stats()["misses"]
        read(weight, indices)
        assert memory_stats()["misses"] == before and rows_to_update(weight) == np.unique(indices).size
        if step % 2:  # it is seen, and written
            np.testing.assert_array_equal(weight.grad.numpy(), expected(indices))
            weight.grad.fill_(7.0)
    weight.grad = None
    read(weight)
    np.testing.assert_array_equal(weight.grad.numpy(), expected())


def test_memory_that_served_others_meanwhile_is_zeroed() -> None:
    weight = table()
    read(weight)
    weight.grad = None
    other = ag.ones(N, WIDTH) * 3.0
    del other
    read(weight)
    np.testing.assert_array_equal(weight.grad.numpy(), expected())


def test_a_gradient_of_another_shape_in_the_same_memory() -> None:
    read(weight := table())
    weight.grad = None
    wide = ag.zeros(N // 2, 2 * WIDTH - 2, requires_grad=True)
    F.embedding(ag.tensor(INDICES // 2), wide).sum().backward()
    read(weight)
    wide.grad = weight.grad = None
    F.embedding(ag.tensor(INDICES // 2), wide).sum().backward()
    np.testing.assert_array_equal(wide.grad.numpy()[:, 0], np.bincount(INDICES // 2, minlength=N // 2))
    read(weight)
    np.testing.assert_array_equal(weight.grad.numpy(), expected())


# steps: to the last bit what they are with a gradient that was read before

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {"lr": 0.1},
    "no step": {"lr": 0.0},
    "too large": {"lr": 1e300},
    "infinite": {"lr": float("inf")},
    "upwards": {"lr": 0.1, "maximize": True},
    "momentum": {"lr": 0.1, "momentum": 0.9},
    "decay": {"lr": 0.1, "weight_decay": 0.1},
    "nesterov": {"lr": 0.1, "momentum": 0.9, "nesterov": True},
}
READS: dict[str, dict[str, Any]] = {
    "all": {}, "padding": {"padding_idx": int(INDICES[3])}, "scaled": {"scale_grad_by_freq": True},
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.complex64])
@pytest.mark.parametrize("reading", READS)
@pytest.mark.parametrize("case", OPTIONS)
def test_steps_are_the_same_to_the_last_bit(case: str, reading: str, dtype: Any) -> None:
    known, seen = table(dtype), table(dtype)
    optimizers = [ag.optim.SGD([weight], **OPTIONS[case]) for weight in (known, seen)]
    for _ in range(2):
        for weight, optimizer in zip((known, seen), optimizers, strict=True):
            optimizer.zero_grad()
            read(weight, **READS[reading])
        assert rows_to_update(known) == DIFFERENT and seen.grad is not None and rows_to_update(seen) is None
        for optimizer in optimizers:
            optimizer.step()
        assert bits(known) == bits(seen) and known._version == seen._version
        assert rows_to_update(known) == DIFFERENT
    assert bits(known.grad) == bits(seen.grad)


def test_a_table_in_another_order_and_other_optimizers() -> None:
    for make in (lambda p: ag.optim.SGD(p, lr=0.1), lambda p: ag.optim.Adam(p, lr=0.1), lambda p: ag.optim.ASGD(p, lr=0.1)):
        known, seen = (table().detach().t().contiguous().t().requires_grad_() for _ in range(2))
        for weight in (known, seen):
            read(weight)
        assert seen.grad is not None
        for weight in (known, seen):
            make([weight]).step()
        assert bits(known) == bits(seen)


def test_shortened_rows_and_rows_twice() -> None:
    weight = ag.ones(N, WIDTH, requires_grad=True)
    optimizer = ag.optim.SGD([weight], lr=1.0)
    F.embedding(ag.tensor([5, 5, 6]), weight, max_norm=2.0).sum().backward()
    assert rows_to_update(weight) == 2
    optimizer.step()
    np.testing.assert_allclose(weight.detach().numpy()[4:8, 0], [1, -1.5, -0.5, 1], rtol=1e-6)


def test_steps_are_as_pytorch_has_them() -> None:
    torch = pytest.importorskip("torch")
    made = []
    for library in (ag, torch):
        weight = library.tensor(table().detach().nan_to_num(1.0).numpy().copy(), requires_grad=True)
        optimizer = library.optim.SGD([weight], lr=0.25)
        for k in range(4):
            optimizer.zero_grad(set_to_none=k != 2)
            y = library.nn.functional.embedding(library.tensor((INDICES * (k + 1)) % N), weight)
            (y * y).sum().backward()
            optimizer.step()
        made.append(weight.detach().numpy())
    np.testing.assert_allclose(*made, rtol=1e-5)
