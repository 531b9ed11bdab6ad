"""Scripts whose result is a smooth function of their leaves, and the derivatives of it found in four ways.

What needs no other library: reverse mode, recorded and not, forward mode, and differences of the function must agree.
"""

import math
import random
from operator import mul

from random_scripts.more_phrases import (
    BRANCHES,
    BRANCHING,
    DISTRIBUTIONS,
    SMOOTH_FUNCTIONS,
    SMOOTH_LAYERS,
    SMOOTH_TRANSFORMS,
)  # fmt: skip
from random_scripts.phrases import OPERATIONS, PARTS, REDUCTIONS, VIEWS, WRITES
from random_scripts.session import Session
from random_scripts.writer import FLOATS, INTEGERS, Writer

LEAVES = [(3,), (2, 2), ()]
STEP = 1e-5
REFUSALS = ("modified by an inplace operation", "returns multiple views")

# Words of phrases that hide something from one of the ways, or are not smooth.
HIDING = (
    "detach", ".data", "numpy", "tolist", "requires_grad", "InPlace", "Same", "Parts", "out=", "resize_", "reciprocal", "sqrt",
    "/", "** {b}", "pow_", "** {f}", "_like", "sgn", "float()", "half()", "div_", "norm", "std", ".to(", "type_as", "dtype=",
    "relu", "abs", "[[0, -1]] = ",
)  # fmt: skip


def is_smooth(phrase):
    return not any(word in phrase for word in HIDING)


class SmoothWriter(Writer):
    """Lines that are differentiable, in float64, with constants of other types among the operands."""

    functions = SMOOTH_FUNCTIONS + BRANCHING

    def __init__(self, seed, session):
        super().__init__(seed, session)
        self.palette = ["torch.float64"] * 6 + self.random.choice([[], INTEGERS, FLOATS])
        kinds = [(24, OPERATIONS), (4, REDUCTIONS), (16, VIEWS), (5, PARTS), (21, WRITES)]
        more = [(3, SMOOTH_LAYERS), (2, DISTRIBUTIONS), (4, SMOOTH_TRANSFORMS), (4, BRANCHES)]
        self.kinds = [list(filter(is_smooth, phrases)) for _, phrases in kinds] + [phrases for _, phrases in more], [
            weight for weight, _ in kinds + more]
        self.chance_of_mode = 0

    def lines(self, count):
        yield "t1, t2, t3 = leaves"
        yield "t4, t5, t6 = t1 * 1, t2 * 1, t3 * 1"
        self.count = 6
        for _ in range(count):
            yield self.line()

    def leaf(self, **_):
        return super().leaf(requires_grad=False)

    def constant(self, shape, dtype, requires_grad=False):
        return super().constant(shape, dtype)


def numbers_of(seed):
    """Numbers for the leaves that are on no edge of any function."""
    source = random.Random(seed)
    return [[source.uniform(0.3, 1.1) * source.choice([-1, 1]) for _ in range(math.prod(shape))] for shape in LEAVES]


class Smooth:
    """A script as a function of its leaves: one number, the sum of the sines of all that it leaves behind."""

    def __init__(self, module, lines):
        self.module = module
        self.lines = lines

    def leaves(self, numbers, requires_grad=True):
        return [self.module.tensor(x, dtype=self.module.float64).reshape(s).clone().requires_grad_(requires_grad)
                for x, s in zip(numbers, LEAVES, strict=True)]

    def leaves_of(self, seed):
        return self.leaves(numbers_of(seed))

    def result(self, leaves):
        session = Session(self.module)
        session.names["leaves"] = leaves
        for line in self.lines:
            session.run(line)
        double = self.module.float64
        parts = [t.to(double).sin().sum() for t in session.tensors.values() if t.is_floating_point() and t.numel()]
        return sum(parts, start=self.module.zeros((), dtype=double))

    def value(self, numbers):
        return self.result(self.leaves(numbers)).item()

    def reverse(self, numbers, **options):
        """The leaves and the gradients by reverse mode."""
        leaves = self.leaves(numbers)
        return leaves, self.module.autograd.grad(self.result(leaves), leaves, materialize_grads=True, **options)

    def gradient(self, numbers, **options):
        return flat(self.reverse(numbers, **options)[1])

    def along(self, numbers, direction):
        """The derivative along a direction, by forward mode."""
        fw = self.module.autograd.forward_ad
        with fw.dual_level():
            pairs = zip(self.leaves(numbers), self.leaves(direction, requires_grad=False), strict=True)
            tangent = fw.unpack_dual(self.result([fw.make_dual(x, t) for x, t in pairs])).tangent
            return 0.0 if tangent is None else tangent.item()

    def second(self, numbers, direction):
        """The gradient of the derivative along a direction, by reverse mode through reverse mode."""
        leaves, gradients = self.reverse(numbers, create_graph=True)
        along = sum((g * t).sum() for g, t in zip(gradients, self.leaves(direction, requires_grad=False), strict=True))
        if not along.requires_grad:
            return [0.0] * sum(x.numel() for x in leaves)
        return flat(self.module.autograd.grad(along, leaves, materialize_grads=True))


def disagreement(script, seed):
    """How the ways to the derivatives of a script differ: ("none", None), or by what name, and how."""
    try:
        return compared(script, numbers_of(seed), numbers_of(~seed))
    except RuntimeError as error:
        if any(text in str(error) for text in REFUSALS):
            return "refused", None
        return "error", repr(error)


def compared(script, numbers, direction):
    gradient, weights = script.gradient(numbers), [weight for weights in direction for weight in weights]
    along, scale = sum(map(mul, gradient, weights)), 1e-3 + sum(abs(g * w) for g, w in zip(gradient, weights, strict=True))
    if not math.isfinite(script.value(numbers)) or not scale < 1e6:
        return "refused", None
    text = "".join(script.lines)
    rounding = 1e-1 if "float16" in text else 1e-3 if "float32" in text else 1e-8
    recorded = script.gradient(numbers, create_graph=True)
    if not near(gradient, recorded, 1e-12 if rounding == 1e-8 else rounding / 10):  # each operation that is recorded rounds
        return "recorded", (gradient, recorded)
    if not near([along], [found := script.along(numbers, direction)], rounding, scale):
        return "forward", (along, found)
    if rounding > 1e-8:
        return "none", None
    steps, halves = ([script.value(moved(numbers, direction, h)) for h in (h, -h)] for h in (STEP, STEP / 2))
    if differ([along], *slopes([steps[0]], [steps[1]], [halves[0]], [halves[1]]), scale):
        return "differences", (along, steps)
    second = script.second(numbers, direction)
    ahead, behind, half_ahead, half_behind = (
        script.gradient(moved(numbers, direction, h)) for h in (STEP, -STEP, STEP / 2, -STEP / 2))
    if differ(second, *(found := slopes(ahead, behind, half_ahead, half_behind)), scale + max(map(abs, second))):
        return "second", (second, found)
    return "none", None


def moved(numbers, direction, h):
    return [[x + h * v for x, v in zip(*pair, strict=True)] for pair in zip(numbers, direction, strict=True)]


def slopes(ahead, behind, half_ahead, half_behind):
    """Central differences, with the step and with half of it."""
    return ([(a - b) / 2 / STEP for a, b in zip(ahead, behind, strict=True)],
            [(a - b) / STEP for a, b in zip(half_ahead, half_behind, strict=True)])


def differ(exact, coarse, fine, scale):
    """Whether differences that agree with each other show another derivative."""
    return any(abs(c - f) < 1e-5 * scale and abs(f - x) > 1e-3 * scale for x, c, f in zip(exact, coarse, fine, strict=True))


def near(found, expected, tolerance, scale=None):
    scale = max(map(abs, expected), default=0) if scale is None else scale
    return all(abs(x - y) <= tolerance * scale for x, y in zip(found, expected, strict=True))


def flat(tensors):
    return [x for t in tensors for x in t.detach().reshape(-1).tolist()]
