"""Writes random scripts, line by line: what stands in a line is chosen by the tensors that are there when it is run."""

import math
import random

import numpy as np

from random_scripts.more_phrases import FUNCTIONS
from random_scripts.phrases import KINDS, LAST, MODES

SHAPES = [(), (), (1,), (2,), (3,), (2, 2), (2, 3), (3, 1), (2, 1, 2), (0,)]
FLOATS = ["torch.float16", "torch.float32", "torch.float64"]
COMPLEX = ["torch.complex64", "torch.complex128"]
INTEGERS = ["torch.int64", "torch.int32", "torch.uint8", "torch.int8", "torch.bool"]
REALS = [-1.5, -0.5, 0.25, 0.75, 2.0, 1.25, 0.5]
NUMBERS = ["2", "0.5", "-1", "3", "1.5", "True", "-0.25", "0", "1"]
CHANCE_OF_MODE, LAST_LINES = 0.13, 4


class Stuck(Exception):
    """There is nothing to fill a slot with."""


class Writer:
    """Lines for a session, whose tensors it looks at. One of them is the palette: how often which dtype comes."""

    functions = FUNCTIONS

    def __init__(self, seed, session):
        self.random = random.Random(seed)
        self.session = session
        self.count = 0
        self.chance_of_mode = CHANCE_OF_MODE
        main = self.random.choice(["torch.float64"] * 3 + ["torch.float32"] * 2 + ["torch.float16", "torch.complex128"])
        self.palette = [main] * 8 + FLOATS + self.random.choice([[], INTEGERS, COMPLEX, INTEGERS + COMPLEX])
        # some scripts have much of one kind
        weights = [weight * self.random.choice([0.3, 1, 1, 1, 3]) for _, weight in KINDS]
        self.kinds = [phrases for phrases, _ in KINDS], weights

    def lines(self, count):
        """The lines of one script; each is to be run before the next is asked for."""
        for _ in range(2):
            yield self.leaf(main=True, requires_grad=True)
        yield self.leaf()
        if self.random.random() < 0.2:
            yield "level = fw.enter_dual_level()"
        for _ in range(count):
            yield self.line()
        for _ in range(LAST_LINES):
            try:
                yield self.filled(self.random.choice(LAST))
            except Stuck:
                return

    def line(self):
        while True:
            if self.random.random() < 0.08:
                return self.leaf()
            (phrases,) = self.random.choices(*self.kinds)
            try:
                line = self.filled(self.random.choice(phrases))
                if self.random.random() < self.chance_of_mode:
                    line = self.random.choice(MODES).format_map(Slots(self, line=line))
            except Stuck:
                continue
            return line

    def leaf(self, main=False, requires_grad=None):
        dtype = self.palette[0] if main else self.dtype()
        shape = self.random.choice(SHAPES)
        flag = self.random.random() < 0.5 if requires_grad is None else requires_grad
        flag = flag and dtype not in INTEGERS
        return f"{self.name()} = {self.constant(shape, dtype, flag)}"

    def constant(self, shape, dtype, requires_grad=False):
        values = self.values(shape, dtype)
        if shape and math.prod(shape) == 0:
            values = []
        return f"torch.tensor({values}, dtype={dtype}{', requires_grad=True' if requires_grad else ''})"

    def values(self, shape, dtype):
        if shape:
            return [self.values(shape[1:], dtype) for _ in range(shape[0])]
        if dtype in COMPLEX:
            return complex(self.random.choice(REALS), self.random.choice(REALS))
        return self.random.choice(REALS if dtype in FLOATS else [True, False] if dtype == "torch.bool" else [0, 1, 2, 3, 100])

    def filled(self, phrase):
        return phrase.format_map(Slots(self))

    def name(self, kind="t"):
        self.count += 1
        return f"{kind}{self.count}"

    def known(self, kind):
        """The name of an object of a kind that is there."""
        names = [name for name in self.session.names if name[0] == kind and name[1:].isdigit()]
        if not names:
            raise Stuck
        return self.random.choice(names)

    def dtype(self):
        return self.random.choice(self.palette)

    def number(self):
        return self.random.choice(NUMBERS)

    def tensor(self, fits=lambda t: True):
        """The name of one of the session's tensors, late ones rather."""
        names = [name for name, t in self.session.tensors.items() if fits(t)]
        if not names:
            raise Stuck
        k = max(self.random.randrange(len(names)), self.random.randrange(len(names)))
        return names[k if self.random.random() < 0.7 else self.random.randrange(len(names))]


class Slots(dict):
    """Fills the slots of a phrase, each once."""

    def __init__(self, writer, **known):
        super().__init__(known)
        self.writer = writer
        self.random = writer.random
        self.first = None  # the tensor that the others fit to

    def __missing__(self, slot):
        self[slot] = text = getattr(self, "slot_" + slot.rstrip("23"))()
        return text

    def chosen(self, fits=lambda t: True):
        name = self.writer.tensor(fits)
        if self.first is None:
            self.first = self.writer.session.tensors[name]
        return name

    def slot_a(self):
        return self.chosen()

    def slot_v(self):
        return self.chosen(lambda t: t.ndim > 0 and t.shape[0] > 0)

    def slot_m(self):
        return self.chosen(lambda t: t.ndim == 2)

    def slot_f(self):
        return self.chosen(lambda t: t.is_floating_point())

    def slot_q(self):
        return self.chosen(is_small)

    def slot_u(self):
        return self.chosen(lambda t: is_small(t) and t.ndim > 0 and t.shape[0] > 0)

    def slot_z(self):
        return self.chosen(lambda t: t.is_complex())

    def slot_p(self):
        """Pairs that may be complex numbers."""
        return self.chosen(lambda t: t.is_floating_point() and t.itemsize > 2 and t.ndim > 0 and t.shape[-1] == 2
                           and t.numel() and t.stride()[-1] == 1)

    def slot_g(self):
        return self.chosen(requires_grad)

    def slot_x(self):
        return self.chosen(requires_grad) if self.random.random() < 0.5 else self.slot_l()

    def slot_l(self):
        return self.chosen(is_wanting_leaf)

    def slot_w(self):
        """What is written: rarely a leaf that requires grad, which is an error."""
        often = self.random.random() < 0.95
        return self.chosen(lambda t: not (often and is_wanting_leaf(t)))

    def slot_wf(self):
        return self.chosen(lambda t: t.is_floating_point() and not is_wanting_leaf(t))

    def slot_wv(self):
        often = self.random.random() < 0.95
        return self.chosen(lambda t: t.ndim > 0 and t.shape[0] > 0 and not (often and is_wanting_leaf(t)))

    def slot_b(self):
        return self.operand(lambda shape: are_broadcastable(shape, self.first.shape), writes=False)

    def slot_c(self):
        return self.operand(lambda shape: fits_into(shape, self.first.shape))

    def slot_e(self):
        return self.operand(lambda shape: fits_into(shape, self.first.shape[1:]))

    def operand(self, fits, writes=True):
        """A number, a constant, or a tensor; some that don't fit."""
        kind = self.random.random()
        if kind < 0.2:
            return self.writer.number()
        if kind < 0.4:
            shape = self.random.choice([(), self.first.shape, self.first.shape[1:], self.first.shape[-1:]])
            shape = tuple(shape) if fits(shape) else ()
            dtype = self.writer.dtype()
            needs = "int" not in dtype and dtype != "torch.bool" and self.random.random() < 0.3
            return self.writer.constant(shape, dtype, needs)
        always = self.random.random() < 0.03
        name = self.writer.tensor(lambda t: always or fits(t.shape))
        if writes and overlap(self.writer.session.tensors[name], self.first):
            raise Stuck  # what PyTorch makes of it depends on the order in which it walks
        return name

    def slot_like(self):
        return self.chosen(lambda t: t.shape == self.first.shape and t.dtype == self.first.dtype)

    def slot_seed(self):
        """A constant of the shape and type of the first tensor."""
        return self.writer.constant(tuple(self.first.shape), str(self.first.dtype), False)

    def slot_number(self):
        return self.writer.number()

    def slot_integer(self):
        return self.random.choice("0123")

    def slot_dtype(self):
        return self.writer.dtype()

    def slot_bool(self):
        return self.random.choice(["True", "False"])

    def slot_dim(self):
        ndim = self.first.ndim
        return str(self.random.randrange(-ndim, ndim) if ndim else self.random.choice([0, -1]))

    def slot_shape(self):
        return self.slot_sizes() if self.random.random() < 0.8 else "-1"

    def slot_sizes(self):
        """A shape of as many elements."""
        size = self.first.numel()
        halves = [f"({k}, {size // k})" for k in (2, 3) if size and size % k == 0]
        return self.random.choice([f"({size},)", f"({size}, 1)", f"(1, {size})", *halves])

    def slot_open(self):
        """Nothing, where a dual level is open."""
        if "level" not in self.writer.session.names:
            raise Stuck
        return ""

    def slot_closed(self):
        """Nothing, where no dual level is open."""
        if "level" in self.writer.session.names:
            raise Stuck
        return ""

    def slot_y(self):
        return self.writer.name()

    def slot_F(self):
        """A function of a tensor, which may use others."""
        return self.random.choice(self.writer.functions).format_map(Slots(self.writer))

    def slot_h(self):
        return self.writer.name("h")

    def slot_old(self):
        return self.writer.known("h")

    def slot_o(self):
        return self.writer.name("o")

    def slot_oldo(self):
        return self.writer.known("o")

    def slot_d(self):
        return self.writer.name("d")

    def slot_oldd(self):
        return self.writer.known("d")


def requires_grad(t):
    try:
        return t.requires_grad
    except RuntimeError:
        return False


def is_small(t):
    return t.is_floating_point() and t.numel() <= 8


def is_wanting_leaf(t):
    """Whether it is a leaf that requires grad; not asked of a view, which would make it find its node."""
    return t._base is None and t.requires_grad and t.is_leaf


def overlap(source, target):
    """Whether two tensors may share memory."""
    return np.may_share_memory(source.detach().numpy(), target.detach().numpy())


def are_broadcastable(s, t):
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(s), reversed(t), strict=False))


def fits_into(s, t):
    return len(s) <= len(t) and all(a in (1, b) for a, b in zip(reversed(s), reversed(t), strict=False))
