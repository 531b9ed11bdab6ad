"""A program on a module like torch."""

from functools import singledispatchmethod

from programs.instructions import VIEWS, Backward, Detach, Forget, Grad, Hook, Leaf, Mode, Op, View, Write


class Interpreter:
    """Runs instructions on a module: this package, or torch."""

    def __init__(self, module):
        self.module = module
        self.records = True
        self.tensors = []
        self.noted = []  # for each hook, the gradients that it saw

    def perform(self, instruction):
        """Run one instruction: None and what it computed, or the exception."""
        with self.module.set_grad_enabled(self.records):
            try:
                return None, self.run(instruction)
            except (RuntimeError, NotImplementedError) as error:
                return error, None

    def observe(self, register):
        """What can be seen of a register."""
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

    def name(self, register):
        """The name of the node of a register."""
        node = self.tensors[register].grad_fn
        return node and node.name()

    def seed(self, root):
        count = self.module.arange(1, root.numel() + 1, dtype=self.module.float64)
        return (count / 4).reshape(root.shape)

    @singledispatchmethod
    def run(self, instruction):
        raise TypeError(f"what is {instruction}?")

    @run.register
    def _(self, leaf: Leaf):
        values = self.module.tensor(leaf.values, dtype=self.module.float64).reshape(leaf.shape)
        self.tensors.append(values.clone().requires_grad_(leaf.requires_grad))

    @run.register
    def _(self, op: Op):
        self.tensors.append(getattr(self.module, op.name)(*[self.tensors[k] for k in op.operands]))

    @run.register
    def _(self, view: View):
        self.tensors.append(VIEWS[view.name](self.tensors[view.source]))

    @run.register
    def _(self, detach: Detach):
        self.tensors.append(self.tensors[detach.source].detach())

    @run.register
    def _(self, write: Write):
        source = self.tensors[write.source] if type(write.source) is int else write.source
        if write.name == "copy_" and type(source) is float:
            source = self.module.tensor(source, dtype=self.module.float64)
        getattr(self.tensors[write.target], write.name)(*([] if source is None else [source]))

    @run.register
    def _(self, mode: Mode):
        self.records = mode.records

    @run.register
    def _(self, hook: Hook):
        noted = []

        def note(g):
            noted.append(g.tolist())
            return g * hook.factor

        self.tensors[hook.target].register_hook(note)
        self.noted.append(noted)

    @run.register
    def _(self, backward: Backward):
        root = self.tensors[backward.root]
        root.backward(self.seed(root), retain_graph=backward.retain)

    @run.register
    def _(self, grad: Grad):
        root = self.tensors[grad.root]
        (found,) = self.module.autograd.grad(root, self.tensors[grad.wanted], self.seed(root), retain_graph=grad.retain)
        return found.tolist()

    @run.register
    def _(self, forget: Forget):
        self.tensors[forget.target].grad = None
