"""Docstrings of the public rows of pointwise_table.py: a sentence, and an example with its result."""

from codegen.activation_docs import DOCS as ACTIVATIONS
from codegen.elementary_docs import DOCS as ELEMENTARY
from codegen.special_docs import DOCS as SPECIAL

DOCS = ACTIVATIONS | ELEMENTARY | SPECIAL | {
    "mul": (
        "The product input * other.",
        "ag.mul(ag.tensor([1.0, 2.0]), 3.0)", "tensor([3., 6.])"),
    "neg": (
        "-input.",
        "ag.neg(ag.tensor([1.0, -2.0]))", "tensor([-1.,  2.])"),
    "reciprocal": (
        "1 / input.",
        "ag.reciprocal(ag.tensor([2.0, 4.0]))", "tensor([0.5000, 0.2500])"),
    "abs": (
        "The absolute value; its gradient at 0 is 0.",
        "ag.abs(ag.tensor([-1.0, 2.0]))", "tensor([1., 2.])"),
    "sgn": (
        "input / abs(input), the sign of a real number; 0 at 0 and NaN.",
        "ag.sgn(ag.tensor([-3.0, 0.0, 2.0]))", "tensor([-1.,  0.,  1.])"),
    "maximum": (
        "The larger of input and other; where they are equal, they share the gradient.",
        "ag.maximum(ag.tensor([1.0, 4.0]), ag.tensor([3.0, 2.0]))", "tensor([3., 4.])"),
    "minimum": (
        "The smaller of input and other; where they are equal, they share the gradient.",
        "ag.minimum(ag.tensor([1.0, 4.0]), ag.tensor([3.0, 2.0]))", "tensor([1., 2.])"),
    "exp": (
        "e to the power of input.",
        "ag.exp(ag.tensor([0.0, 1.0]))", "tensor([1.0000, 2.7183])"),
    "log": (
        "The natural logarithm.",
        "ag.log(ag.tensor([1.0, 10.0]))", "tensor([0.0000, 2.3026])"),
    "sqrt": (
        "The square root; its gradient at 0 is infinite.",
        "ag.sqrt(ag.tensor([4.0, 9.0]))", "tensor([2., 3.])"),
    "rsqrt": (
        "1 / sqrt(input).",
        "ag.rsqrt(ag.tensor([4.0, 16.0]))", "tensor([0.5000, 0.2500])"),
    "sin": (
        "The sine of an angle in radians.",
        "ag.sin(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 0.8415])"),
    "cos": (
        "The cosine of an angle in radians.",
        "ag.cos(ag.tensor([0.0, 1.0]))", "tensor([1.0000, 0.5403])"),
    "tanh": (
        "The hyperbolic tangent.",
        "ag.tanh(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 0.7616])"),
    "sigmoid": (
        "The logistic function 1 / (1 + exp(-input)).",
        "ag.sigmoid(ag.tensor([0.0, 1.0]))", "tensor([0.5000, 0.7311])"),
    "erf": (
        "The error function 2 / sqrt(pi) * integral of exp(-t**2) from 0 to input.",
        "ag.erf(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 0.8427])"),
    "relu": (
        "max(input, 0); its gradient at 0 is 0.",
        "ag.relu(ag.tensor([-1.0, 2.0]))", "tensor([0., 2.])"),
    "silu": (
        'input * sigmoid(input).\n\n    Source: Elfwing, Uchibe, Doya, "Sigmoid-weighted linear units" (2018).',
        "ag.nn.functional.silu(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 0.7311])"),
    "leaky_relu": (
        "input where it is positive, else negative_slope * input.",
        "ag.nn.functional.leaky_relu(ag.tensor([-1.0, 2.0]))", "tensor([-0.0100,  2.0000])"),
    "eq": (
        "input == other, a bool tensor.",
        "ag.eq(ag.tensor([1, 2, 3]), 2)", "tensor([False,  True, False])"),
    "ne": (
        "input != other, a bool tensor.",
        "ag.ne(ag.tensor([1, 2, 3]), 2)", "tensor([ True, False,  True])"),
    "lt": (
        "input < other, a bool tensor.",
        "ag.lt(ag.tensor([1, 2, 3]), 2)", "tensor([ True, False, False])"),
    "le": (
        "input <= other, a bool tensor.",
        "ag.le(ag.tensor([1, 2, 3]), 2)", "tensor([ True,  True, False])"),
    "gt": (
        "input > other, a bool tensor.",
        "ag.gt(ag.tensor([1, 2, 3]), 2)", "tensor([False, False,  True])"),
    "ge": (
        "input >= other, a bool tensor.",
        "ag.ge(ag.tensor([1, 2, 3]), 2)", "tensor([False,  True,  True])"),
    "logical_and": (
        "AND of the truth values, a bool tensor.",
        "ag.logical_and(ag.tensor([0, 1, 1]), ag.tensor([0, 0, 1]))", "tensor([False, False,  True])"),
    "logical_or": (
        "OR of the truth values, a bool tensor.",
        "ag.logical_or(ag.tensor([0, 1, 1]), ag.tensor([0, 0, 1]))", "tensor([False,  True,  True])"),
    "logical_xor": (
        "XOR of the truth values, a bool tensor.",
        "ag.logical_xor(ag.tensor([0, 1, 1]), ag.tensor([0, 0, 1]))", "tensor([False,  True, False])"),
    "logical_not": (
        "Whether each element is zero, a bool tensor.",
        "ag.logical_not(ag.tensor([0, 1, 2]))", "tensor([ True, False, False])"),
    "bitwise_and": (
        "AND of the bits of integers, or of bools.",
        "ag.bitwise_and(ag.tensor([6]), ag.tensor([3]))", "tensor([2])"),
    "bitwise_or": (
        "OR of the bits of integers, or of bools.",
        "ag.bitwise_or(ag.tensor([6]), ag.tensor([3]))", "tensor([7])"),
    "bitwise_xor": (
        "XOR of the bits of integers, or of bools.",
        "ag.bitwise_xor(ag.tensor([6]), ag.tensor([3]))", "tensor([5])"),
    "bitwise_left_shift": (
        "The bits of integers shifted left by other; a negative or too large shift removes all bits.",
        "ag.bitwise_left_shift(ag.tensor([1, -2]), 2)", "tensor([ 4, -8])"),
    "bitwise_right_shift": (
        "The bits of integers shifted right by other; a negative or too large shift leaves the sign only.",
        "ag.bitwise_right_shift(ag.tensor([1, -2]), 2)", "tensor([ 0, -1])"),
    "bitwise_not": (
        "The inverted bits of integers; NOT of bools.",
        "ag.bitwise_not(ag.tensor([6]))", "tensor([-7])"),
    "isnan": (
        "Whether each element is NaN, a bool tensor.",
        "ag.isnan(ag.tensor([1.0, float('inf'), float('nan')]))", "tensor([False, False,  True])"),
    "isinf": (
        "Whether each element is infinite, a bool tensor.",
        "ag.isinf(ag.tensor([1.0, float('inf'), float('nan')]))", "tensor([False,  True, False])"),
    "isfinite": (
        "Whether each element is neither infinite nor NaN, a bool tensor.",
        "ag.isfinite(ag.tensor([1.0, float('inf'), float('nan')]))", "tensor([ True, False, False])"),
}
