"""Programs of operations, views, writes, branches, transforms, modes and hooks, and what runs them on a module like torch.

>>> import autograd_cy as ag
>>> from autograd_cy.testing._programs import Leaf, Op, Program, View
>>> program = Program([Leaf((1.0, 2.0, 3.0), (3,), True), View("tail", 0), Op("mul", (1, 1))])
>>> program(ag.tensor([1.0, 2.0, 3.0]))
tensor([2., 3., 4., 9.])
>>> print(program.text())
import autograd_cy as torch
<BLANKLINE>
<BLANKLINE>
def f(x0):
    x1 = x0[1:]
    x2 = torch.mul(x1, x1)
    return torch.cat([x.reshape(-1) for x in (x1, x2)])
"""

from .instructions import (
    BINARY,
    REDUCING,
    TRANSFORMS,
    UNARY,
    VIEWS,
    WRITES,
    Backward,
    Branch,
    Detach,
    Forget,
    Grad,
    Halved,
    Hook,
    Instruction,
    Leaf,
    Mode,
    Op,
    Scaled,
    Transform,
    View,
    Write,
)  # fmt: skip
from .interpreter import Interpreter
from .outline import Outline
from .program import Program

__all__ = [
    "BINARY", "REDUCING", "TRANSFORMS", "UNARY", "VIEWS", "WRITES", "Backward", "Branch", "Detach", "Forget", "Grad", "Halved",
    "Hook", "Instruction", "Interpreter", "Leaf", "Mode", "Op", "Outline", "Program", "Scaled", "Transform", "View", "Write",
]  # fmt: skip
