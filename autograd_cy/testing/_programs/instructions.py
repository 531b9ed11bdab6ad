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


Instruction = Leaf | Op | View | Detach | Write | Mode | Hook | Backward | Grad | Forget

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
