"""A program on a module like torch."""

from functools import singledispatchmethod
from typing import Any

from .instructions import (
    TRANSFORMS,
    VIEWS,
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


class Interpreter:
    """Runs instructions on a module: this package, or torch. Leaves that require grad are taken from `leaves`, if given."""

    def __init__(self, module: Any, leaves: Any = None):
        self.module = module
        self.leaves = None if leaves is None else list(leaves)
        self.records = True
        self.tensors: list[Any] = []
        self.outcomes: list[tuple[Exception | None, Any]] = []  # of the performed instructions
        self.noted: list[list[Any]] | None = []  # for each hook, the gradients that it saw; None: hooks note nothing

    def perform(self, instruction: Instruction) -> tuple[Exception | None, Any]:
        """Run one instruction: None and what it computed, or the exception."""
        outcome: tuple[Exception | None, Any]
        try:
            outcome = None, self.run_in_mode(instruction)
        except (RuntimeError, NotImplementedError) as error:
            outcome = error, None
        self.outcomes.append(outcome)
        return outcome

    def run_in_mode(self, instruction: Instruction) -> Any:
        with self.module.set_grad_enabled(self.records and self.module.is_grad_enabled()):
            return self.run(instruction)

    def observe(self, register: int) -> dict[str, Any]:
        """The observable state of a register."""
        x = self.tensors[register]
        try:
            leaf = x.is_leaf
        except RuntimeError as error:
            return {"error": str(error)}
        grad = x.grad if leaf else None
        return {
            "values": x.detach().tolist(), "requires_grad": x.requires_grad, "is_leaf": leaf, "version": x._version,
            "grad": None if grad is None else grad.tolist(),
        }  # fmt: skip

    def seed(self, root: Any) -> Any:
        count = self.module.arange(1, root.numel() + 1, dtype=self.module.float64)
        return (count / 4).reshape(root.shape)

    @singledispatchmethod
    def run(self, instruction: Any) -> Any:
        raise TypeError(f"what is {instruction}?")

    @run.register
    def _(self, leaf: Leaf) -> None:
        if leaf.requires_grad and self.leaves is not None:
            self.tensors.append(self.leaves.pop(0))
            return
        values = self.module.tensor(leaf.values, dtype=self.module.float64).reshape(leaf.shape)
        self.tensors.append(values.clone().requires_grad_(leaf.requires_grad))

    @run.register
    def _(self, op: Op) -> None:
        self.tensors.append(getattr(self.module, op.name)(*[self.tensors[k] for k in op.operands]))

    @run.register
    def _(self, view: View) -> None:
        self.tensors.append(VIEWS[view.name](self.tensors[view.source]))

    @run.register
    def _(self, detach: Detach) -> None:
        self.tensors.append(self.tensors[detach.source].detach())

    @run.register
    def _(self, write: Write) -> None:
        source = self.tensors[write.source] if type(write.source) is int else write.source
        if write.name == "copy_" and type(source) is float:
            source = self.module.tensor(source, dtype=self.module.float64)
        getattr(self.tensors[write.target], write.name)(*([] if source is None else [source]))

    @run.register
    def _(self, branch: Branch) -> None:
        condition, x = self.tensors[branch.condition], self.tensors[branch.operand]
        self.tensors.append(getattr(self.module, branch.names[0 if (condition > 0).all() else 1])(x))

    @run.register
    def _(self, scaled: Scaled) -> None:
        self.tensors.append(self.tensors[scaled.operand] * self.tensors[scaled.source].sum().item())

    @run.register
    def _(self, halved: Halved) -> None:
        x = self.tensors[halved.operand] * 0.5
        while (x.abs() > halved.limit).any():
            x = x * 0.5
        self.tensors.append(x)

    @run.register
    def _(self, transform: Transform) -> None:
        x, (first, second) = self.tensors[transform.operand], transform.names

        def f(z: Any) -> Any:
            name = first if first == second or (z > 0).all() else second
            return getattr(self.module, name)(z)

        self.tensors.append(eval(TRANSFORMS[transform.name][0], {"torch": self.module, "f": f, "x": x}))

    @run.register
    def _(self, mode: Mode) -> None:
        self.records = mode.records

    @run.register
    def _(self, hook: Hook) -> None:
        x = self.tensors[hook.target]
        if self.noted is None:
            if x.requires_grad:  # not so if the whole program runs without recording
                x.register_hook(lambda g: None if g is None else g * hook.factor)
            return
        noted: list[Any] = []

        def note(g: Any) -> Any:
            noted.append(g.tolist())
            return g * hook.factor

        x.register_hook(note)
        self.noted.append(noted)

    @run.register
    def _(self, backward: Backward) -> None:
        root = self.tensors[backward.root]
        root.backward(self.seed(root), retain_graph=backward.retain)

    @run.register
    def _(self, grad: Grad) -> Any:
        root = self.tensors[grad.root]
        (found,) = self.module.autograd.grad(root, self.tensors[grad.wanted], self.seed(root), retain_graph=grad.retain)
        return found.tolist()

    @run.register
    def _(self, forget: Forget) -> None:
        self.tensors[forget.target].grad = None
