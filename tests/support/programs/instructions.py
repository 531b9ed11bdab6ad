"""The instructions of a program. Operands are numbers of registers; an instruction that makes a tensor appends one."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Leaf:
    values: tuple
    shape: tuple
    requires_grad: bool


@dataclass(frozen=True)
class Op:
    name: str  # of OPERATIONS
    operands: tuple


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


# Of an array and a tensor alike; False where the view does not exist.
VIEWS = {
    "first": lambda x: x.ndim > 0 and x[0],
    "tail": lambda x: x.ndim > 0 and x.shape[0] > 1 and x[1:],
    "every second": lambda x: x.ndim > 0 and x.shape[0] > 1 and x[::2],
    "transposed": lambda x: x.ndim == 2 and x.T,
    "deeper": lambda x: x.ndim < 2 and x[None],
}
UNARY, BINARY, REDUCING = ("tanh", "sigmoid", "sin", "exp"), ("add", "sub", "mul"), ("sum", "mean")
WRITES = ("add_", "mul_", "copy_", "zero_")


def program_text(instructions) -> str:
    """A program as a list that can be pasted into a test."""
    return "[\n" + "".join(f"    {instruction},\n" for instruction in instructions) + "]"
