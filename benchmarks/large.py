"""Workloads on large tensors, where memory and kernels count, for one thread and for two.

As in `workloads`, a function of the library makes the leaves and returns a step. Tensors are float32 unless the row says
otherwise. Each row has the required ratio for each number of threads; without one, the row is not measured.
"""

from collections.abc import Callable

import numpy as np

from benchmarks.workloads import Library, Step, Tensor, Workload, leaves, take_gradients

Shape = tuple[int, ...]


def backward_step(torch: Library, f: Callable[..., Tensor], inputs: list[Tensor]) -> Step:
    """backward_step(torch, f, inputs) -> a step: y = f(*inputs), and y's backward from ones."""
    with torch.no_grad():
        seed = torch.ones_like(f(*inputs))

    def step() -> tuple:
        f(*inputs).backward(seed)
        return take_gradients(*inputs)

    return step


def chain(torch: Library, shape: Shape, dtype: type = np.float32) -> Step:
    """tanh(a * b) + a: an input that is used twice, a product, a transcendental function."""
    return backward_step(torch, lambda a, b: (a * b).tanh() + a, leaves(torch, shape, shape, dtype=dtype))


def gelu_by_hand(torch: Library, shape: Shape) -> Step:
    """GELU's tanh approximation, from eight operators."""

    def gelu(x: Tensor) -> Tensor:
        return 0.5 * x * (1.0 + (0.7978845608 * (x + 0.044715 * x**3)).tanh())

    return backward_step(torch, gelu, leaves(torch, shape, mean=0.5))


def function(torch: Library, name: str, shape: Shape, dtype: type = np.float32) -> Step:
    """One function of one tensor."""
    return backward_step(torch, lambda x: getattr(x, name)(), leaves(torch, shape, dtype=dtype, mean=1.0))


def broadcast(torch: Library) -> Step:
    """Adds a row and multiplies by a column: their gradients are sums along columns and rows."""
    inputs = leaves(torch, (1024, 512), (512,), (1024, 1), mean=1.0)
    return backward_step(torch, lambda a, row, column: (a + row) * column, inputs)


def softmax(torch: Library) -> Step:
    """A reduction of 256 rows of 1024."""
    x, weight = leaves(torch, (256, 1024), (256, 1024))
    weight = weight.detach()

    def step() -> tuple:
        x.softmax(-1).backward(weight)
        return take_gradients(x)

    return step


def activation(torch: Library, name: str, size: int = 10**5) -> Step:
    """A function of nn.functional."""
    return backward_step(torch, getattr(torch.nn.functional, name), leaves(torch, (size,), mean=0.5))


def log_softmax(torch: Library, dim: int) -> Step:
    """256 rows of 1024, along the rows or across them."""
    return backward_step(torch, lambda x: x.log_softmax(dim), leaves(torch, (256, 1024)))


def cross_entropy(torch: Library, samples: int, classes: int) -> Step:
    """Cross entropy of scores that are a leaf."""
    (x,) = leaves(torch, (samples, classes))
    target = torch.tensor(np.arange(samples) * 5 % classes)

    def step() -> tuple:
        torch.nn.functional.cross_entropy(x, target).backward()
        return take_gradients(x)

    return step


def variance(torch: Library) -> Step:
    """Variance of 256 rows of 1024."""
    return backward_step(torch, lambda x: x.var(-1), leaves(torch, (256, 1024)))


def layer_norm(torch: Library) -> Step:
    """Layer norm of 256 rows of 512, with weight and bias."""
    inputs = leaves(torch, (256, 512), (512,), (512,), mean=0.5)
    weight = leaves(torch, (256, 512))[0].detach()
    norm = torch.nn.functional.layer_norm

    def step() -> tuple:
        x, scale, shift = inputs
        norm(x, (512,), scale, shift).backward(weight)
        return take_gradients(*inputs)

    return step


def convolution(torch: Library, channels: int, filters: int, size: int, batch: int) -> Step:
    """A 3x3 convolution of square pictures, with padding 1 and bias."""
    sizes = (batch, channels, size, size), (filters, channels, 3, 3), (filters,)
    conv2d = torch.nn.functional.conv2d
    return backward_step(torch, lambda x, w, b: conv2d(x, w, b, padding=1), leaves(torch, *sizes))


def matmul(torch: Library) -> Step:
    """512 x 512, three products."""
    return backward_step(torch, lambda a, b: a @ b, leaves(torch, (512, 512), (512, 512)))


def attention(torch: Library, batch: int = 8) -> Step:
    """softmax(q k^T / 8) v: 64 positions of 64 features."""

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return ((q @ k.transpose(-2, -1)) / 8.0).softmax(-1) @ v

    return backward_step(torch, attend, leaves(torch, *[(batch, 64, 64)] * 3))


def mlp(torch: Library, batch: int, hidden: int) -> Step:
    """A training step without the optimizer: 64 inputs, one hidden layer, 10 classes, cross entropy."""
    functional = torch.nn.functional
    (x,) = leaves(torch, (batch, 64))
    x = x.detach()
    target = torch.tensor(np.arange(batch) % 10)
    parameters = leaves(torch, (hidden, 64), (hidden,), (10, hidden), (10,))

    def step() -> tuple:
        w1, b1, w2, b2 = parameters
        y = functional.linear(functional.linear(x, w1, b1).relu(), w2, b2)
        functional.cross_entropy(y, target).backward()
        return take_gradients(*parameters)

    return step


MATRICES: dict[str, Callable[..., Tensor]] = {
    "cholesky": lambda torch, a: torch.linalg.cholesky(a),
    "inv": lambda torch, a: torch.linalg.inv(a),
    "lu": lambda torch, a: torch.linalg.lu(a).U,
    "solve": lambda torch, a, b: torch.linalg.solve(a, b),
    "eigh": lambda torch, a: torch.linalg.eigh(a).eigenvalues.square(),  # the signs of the vectors differ between libraries
    "svd": lambda torch, a: torch.linalg.svd(a).S.square(),
    "cdist": lambda torch, a, b: torch.cdist(a, b),
}


def matrices(torch: Library, name: str, shape: Shape, dtype: type) -> Step:
    """Linear algebra on positive definite matrices, with its backward."""
    random = np.random.default_rng(0).standard_normal(shape)
    definite = random @ np.swapaxes(random, -2, -1) / shape[-1] + np.eye(shape[-1])
    values = [definite, random] if name in ("solve", "cdist") else [definite]
    inputs = [torch.tensor(np.asarray(x, dtype=dtype), requires_grad=True) for x in values]
    return backward_step(torch, lambda *x: MATRICES[name](torch, *x), inputs)


ROWS: list[tuple[str, str, dict[int, float], Callable[[Library], Step]]] = [
    *(
        (f"chain_1e{power}", f"tanh(a * b) + a, 10^{power} elements", minimum, lambda t, n=10**power: chain(t, (n,)))
        for power, minimum in {3: {1: 6.0}, 4: {1: 2.2}, 5: {1: 2.2, 2: 1.4}, 6: {1: 1.6, 2: 1.3}, 7: {1: 2.2, 2: 2.0}}.items()
    ),
    *(
        (f"{name}_1e{power}", f"the same, {name}, 10^{power}", {1: 1.0, 2: 1.0},
         lambda t, n=10**power, dtype=dtype: chain(t, (n,), dtype))
        for name, dtype in (("float64", np.float64), ("complex128", np.complex128))
        for power in (4, 5, 6)
    ),
    ("gelu_1e4", "tanh-GELU from 8 operators, 10^4", {1: 2.0}, lambda t: gelu_by_hand(t, (10**4,))),
    ("gelu_1e6", "the same, 10^6", {1: 1.8, 2: 1.5}, lambda t: gelu_by_hand(t, (10**6,))),
    *(
        (f"{name}_1e5", f"{name}, 10^5", {1: 1.3, 2: 1.2}, lambda t, name=name: function(t, name, (10**5,)))
        for name in ("exp", "log", "sin", "sqrt", "sigmoid")
    ),
    ("broadcast", "((1024, 512) + (512,)) * (1024, 1)", {1: 1.2, 2: 1.1}, broadcast),
    ("softmax", "softmax over 1024, 256 rows", {1: 1.0, 2: 1.0}, softmax),
    ("log_softmax", "log_softmax over 1024, 256 rows", {1: 1.0, 2: 1.0}, lambda t: log_softmax(t, -1)),
    ("log_softmax_across", "log_softmax over 256, 1024 columns", {1: 1.0, 2: 1.0}, lambda t: log_softmax(t, 0)),
    *(
        (name, f"cross_entropy, {samples} samples of {classes} classes", {1: 1.0, 2: 1.0},
         lambda t, samples=samples, classes=classes: cross_entropy(t, samples, classes))
        for name, samples, classes in (
            ("cross_entropy", 256, 1024), ("cross_entropy_long", 64, 32000), ("cross_entropy_many", 8192, 512))
    ),
    ("gelu_erf", "gelu by erf, 10^5", {1: 1.0, 2: 1.0}, lambda t: activation(t, "gelu")),
    ("silu", "silu, 10^5", {1: 1.0, 2: 1.0}, lambda t: activation(t, "silu")),
    ("var", "var over 1024, 256 rows", {1: 1.0, 2: 1.0}, variance),
    ("layer_norm", "layer_norm over 512, 256 rows", {1: 1.0, 2: 1.0}, layer_norm),
    ("conv2d", "conv2d 32 to 64 channels, 3x3, 28 x 28, batch 16", {1: 0.9, 2: 0.9}, lambda t: convolution(t, 32, 64, 28, 16)),
    ("conv2d_small", "conv2d 16 to 32 channels, 3x3, 4 x 4, batch 64", {1: 1.0}, lambda t: convolution(t, 16, 32, 4, 64)),
    ("matmul", "matmul 512 x 512", {1: 0.95, 2: 0.95}, matmul),
    ("attention", "softmax(q k^T / 8) v, batch 8, 64 x 64", {1: 1.2, 2: 1.0}, attention),
    *(
        (f"{name}_{shape[-1]}_{dtype.__name__}", f"{name}, {' x '.join(map(str, shape))}, {dtype.__name__}",
         {1: 0.7 if name in ("lu", "cdist") and len(shape) == 3 else 0.9},
         lambda t, name=name, shape=shape, dtype=dtype: matrices(t, name, shape, dtype))
        for name in MATRICES for shape in ((64, 8, 8), (256, 256)) for dtype in (np.float32, np.float64)
    ),
    ("mlp_32", "MLP step, batch 32, 64 hidden", {1: 1.5}, lambda t: mlp(t, 32, 64)),
    ("mlp_128", "MLP step, batch 128, 512 hidden", {1: 0.95, 2: 0.95}, lambda t: mlp(t, 128, 512)),
]


def large_workloads(threads: int) -> tuple[Workload, ...]:
    """large_workloads(threads) -> the rows for that many threads, with their required ratios."""
    return tuple(
        Workload(name, title, minimum[threads], setup) for name, title, minimum, setup in ROWS if threads in minimum
    )
