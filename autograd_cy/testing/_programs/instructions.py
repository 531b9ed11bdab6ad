"""The instructions of a program. Operands are numbers of registers; an instruction that makes a tensor appends one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Leaf:
    values: tuple[float, ...]
    shape: tuple[int, ...]
    requires_grad: bool


@dataclass(frozen=True)
class Op:
    name: str  # of UNARY, BINARY, REDUCING
    operands: tuple[int, ...]


@dataclass(frozen=True)
class View:
    name: str  # of VIEWS
    source: int


@dataclass(frozen=True)
class Detach:
    source: int


@dataclass(frozen=True)
class Write:
    name: str  # of WRITES
    target: int
    source: int | float | None  # a register, a number, or nothing


@dataclass(frozen=True)
class Branch:
    """One of two operations; the first if all elements of the condition are positive."""

    condition: int
    names: tuple[str, str]  # of UNARY
    operand: int


@dataclass(frozen=True)
class Scaled:
    operand: int
    source: int  # the sum of its elements is read by item()


@dataclass(frozen=True)
class Halved:
    operand: int
    limit: float  # until no element is larger


@dataclass(frozen=True)
class Transform:
    """A transform of the function x -> names[0](x) if (x > 0).all() else names[1](x), at the operand."""

    name: str  # of TRANSFORMS
    names: tuple[str, str]  # of UNARY
    operand: int


@dataclass(frozen=True)
class Mode:
    records: bool  # from here on


@dataclass(frozen=True)
class Hook:
    target: int
    factor: float  # it notes the gradient, and multiplies it


@dataclass(frozen=True)
class Backward:
    root: int
    retain: bool


@dataclass(frozen=True)
class Grad:
    root: int
    wanted: int
    retain: bool


@dataclass(frozen=True)
class Forget:
    target: int  # its .grad becomes None


Instruction = (
    Leaf | Op | View | Detach | Write | Branch | Scaled | Halved | Transform | Mode | Hook | Backward | Grad | Forget
)  # fmt: skip

# Of an array and a tensor alike; False where the view does not exist.
VIEWS: dict[str, Callable[[Any], Any]] = {
    "first": lambda x: x.ndim > 0 and x[0],
    "tail": lambda x: x.ndim > 0 and x.shape[0] > 1 and x[1:],
    "every second": lambda x: x.ndim > 0 and x.shape[0] > 1 and x[::2],
    "transposed": lambda x: x.ndim == 2 and x.T,
    "deeper": lambda x: x.ndim < 2 and x[None],
}
UNARY, BINARY, REDUCING = ("tanh", "sigmoid", "sin", "exp"), ("add", "sub", "mul"), ("sum", "mean")
WRITES = ("add_", "mul_", "copy_", "zero_")
# Source of a transform of f at x, and the derivative of f that it gives at each element.
TRANSFORMS = {
    "grad": ("torch.func.grad(lambda z: f(z).sum())(x)", 1),
    "jvp": ("torch.func.jvp(f, (x,), (torch.ones_like(x),))[1]", 1),
    "vjp": ("torch.func.vjp(f, x)[1](torch.ones_like(x))[0]", 1),
    "jacrev": ("torch.func.jacrev(f)(x).sum(tuple(range(x.ndim)))", 1),
    "jacfwd": ("torch.func.jacfwd(f)(x).sum(tuple(range(x.ndim)))", 1),
    "hessian": ("torch.func.hessian(lambda z: f(z).sum())(x).sum(tuple(range(x.ndim)))", 2),
    "grad of grad": ("torch.func.grad(lambda z: torch.func.grad(lambda w: f(w).sum())(z).sum())(x)", 2),
    "jacfwd of jacfwd": ("torch.func.jacfwd(torch.func.jacfwd(lambda z: f(z).sum()))(x).sum(tuple(range(x.ndim)))", 2),
    "vmap of grad": ("torch.func.vmap(torch.func.grad(lambda z: f(z).sum()))(x[None])[0]", 1),
}
