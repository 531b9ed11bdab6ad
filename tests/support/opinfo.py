"""The op table: one row an op. A new op needs its row here, and the generic tests prove it.

See OpInfo in op_case.py for the columns, op_samples*.py for the arguments, op_references.py for the
references that NumPy has not.
"""

import operator

import numpy as np
import op_references as ref
import op_rows_activations as activations
import op_rows_elementwise as elementwise
import op_rows_recurrent as recurrent
import op_rows_special as special
import op_samples as samples
import op_samples_structural as structural
from op_case import ALL, BOOL, COMPLEX, FLOATS, HALF, INTS, NONZERO, POSITIVE, OpInfo
from op_promotion import promote
from op_rows_bilinear import BILINEAR_ROWS
from op_rows_conv import CONVS
from op_rows_grid import GRID
from op_rows_indexing import INDEXING_ROWS
from op_rows_layers import LAYER_ROWS
from op_rows_linalg import LINEAR_ALGEBRA
from op_rows_lstsq import LSTSQ_ROWS
from op_rows_lu import LU_ROWS
from op_rows_pooling import POOLING
from op_rows_scans import SCANS
from op_rows_shapes import SHAPE_ROWS
from op_rows_signal import SIGNALS
from op_rows_sorting import SORTING
from op_rows_statistics import STATISTICS
from op_samples import calls

NO_BOOL = INTS + HALF
REALS = tuple(d for d in ALL if d not in COMPLEX)
REAL_FLOATS = {"dtypes": FLOATS, "forward": HALF}


def _unary(path, reference, **columns):
    """An elementwise op of one tensor, which makes floats of integers."""
    defaults = {"result": "float", "extremes": samples.unary_extremes}
    return OpInfo(path, reference, samples.unary, **defaults | columns)


def _binary(path, reference, generate=samples.binary, **columns):
    return OpInfo(path, reference, generate, **{"extremes": samples.binary_extremes} | columns)


def _compare(path, reference, symbol, forward=REALS):
    columns = {"operator": symbol, "dtypes": (), "forward": forward, "result": "bool"}
    return _binary(path, reference, samples.comparable, **columns)


def _logical(path, reference, generate=samples.logical, **columns):
    return OpInfo(path, reference, generate, dtypes=(), forward=ALL, result="bool", **columns)


def _bitwise(path, reference, generate=samples.comparable, **columns):
    return OpInfo(path, reference, generate, dtypes=(), forward=BOOL + INTS, **columns)


def _classify(path, reference):
    return _logical(path, reference, samples.classified, extremes=samples.unary_extremes)


def _along(path, reference, generate, **columns):
    """A reduction or scan that must be given its dimension."""
    return OpInfo(path, reference, generate, **{"extremes": samples.along_dim_extremes} | columns)


def _shape(path, reference, generate, **columns):
    """An op that moves values about."""
    return OpInfo(path, reference, generate, **{"result": "first"} | columns)


def _product(path, reference, generate, **columns):
    return OpInfo(path, reference, generate, **{"forward": NO_BOOL, "result": "first"} | columns)


def _loss(path, reference, generate, **columns):
    return OpInfo(f"nn.functional.{path}", reference, generate, **REAL_FLOATS, **columns)


ELEMENTWISE = [
    _binary("add", ref.add, samples.binary_alpha, operator=operator.add),
    _binary("sub", ref.sub, samples.binary_alpha, operator=operator.sub, forward=NO_BOOL),
    _binary("mul", np.multiply, operator=operator.mul),
    _binary("div", ref.div, samples.quotients, operator=operator.truediv, domain=NONZERO, result="float"),
    _binary("floor_divide", np.floor_divide, samples.divisions, operator=operator.floordiv, domain=NONZERO, dtypes=(),
            forward=INTS + HALF + FLOATS),
    _binary("remainder", np.remainder, samples.divisions, operator=operator.mod, domain=NONZERO, dtypes=FLOATS,
            forward=INTS + HALF),
    _binary("fmod", np.fmod, samples.divisions, domain=NONZERO, dtypes=FLOATS, forward=INTS + HALF),
    _binary("pow", np.power, samples.powers, operator=operator.pow, domain=POSITIVE, forward=NO_BOOL),
    _binary("maximum", np.maximum, samples.broadcast, dtypes=FLOATS),
    _binary("minimum", np.minimum, samples.broadcast, dtypes=FLOATS),
    _unary("neg", np.negative, operator=operator.neg, forward=NO_BOOL, result="first"),
    _unary("abs", np.abs, operator=abs, domain=NONZERO, forward=NO_BOOL, result="real"),
    _unary("square", np.square, result=lambda args: promote(*args, 2)),
    _unary("reciprocal", lambda x: 1 / x, domain=NONZERO),
    _unary("exp", np.exp),
    _unary("log", np.log, domain=POSITIVE),
    _unary("sqrt", np.sqrt, domain=POSITIVE),
    _unary("rsqrt", lambda x: 1 / np.sqrt(x), domain=POSITIVE),
    _unary("sin", np.sin),
    _unary("cos", np.cos),
    _unary("tanh", np.tanh),
    _unary("sigmoid", ref.sigmoid),
    _unary("erf", ref.erf, dtypes=FLOATS),
    _unary("relu", ref.relu, domain=NONZERO, dtypes=FLOATS, forward=NO_BOOL, result="first"),
    _unary("nn.functional.silu", ref.silu, dtypes=FLOATS, forward=HALF + COMPLEX),
    OpInfo("nn.functional.leaky_relu", lambda x, slope=0.01: np.where(x > 0, x, x * slope), domain=NONZERO,
            samples=calls(([2, 3],), ([4], 0.2), ([], -1.5)), result="first", **REAL_FLOATS),
    OpInfo("nn.functional.gelu", ref.gelu, samples.gelu, **REAL_FLOATS, extremes=samples.finite_extremes),
    OpInfo("clamp", ref.clamp, samples.clamp, dtypes=FLOATS, forward=NO_BOOL),
    OpInfo("where", np.where, samples.where, method=False),
    _unary("real", np.real, result="real", method=False),
    _unary("imag", np.imag, dtypes=COMPLEX, forward=(), result="real", method=False),
    _unary("conj", np.conj, result="first"),
    _unary("sgn", ref.sgn, domain=NONZERO, forward=BOOL + NO_BOOL, result="first"),
]

LOGICAL = [
    _compare("eq", np.equal, operator.eq, ALL),
    _compare("ne", np.not_equal, operator.ne, ALL),
    _compare("lt", np.less, operator.lt),
    _compare("le", np.less_equal, operator.le),
    _compare("gt", np.greater, operator.gt),
    _compare("ge", np.greater_equal, operator.ge),
    _logical("logical_and", np.logical_and),
    _logical("logical_or", np.logical_or),
    _logical("logical_xor", np.logical_xor),
    _bitwise("bitwise_and", np.bitwise_and, operator=operator.and_),
    _bitwise("bitwise_or", np.bitwise_or, operator=operator.or_),
    _bitwise("bitwise_xor", np.bitwise_xor, operator=operator.xor),
    _bitwise("bitwise_not", np.invert, samples.unary),
    OpInfo("bitwise_left_shift", np.left_shift, samples.shifts, dtypes=(), forward=INTS, operator=operator.lshift),
    OpInfo("bitwise_right_shift", np.right_shift, samples.shifts, dtypes=(), forward=INTS, operator=operator.rshift),
    _classify("logical_not", np.logical_not),
    _classify("isnan", np.isnan),
    _classify("isinf", np.isinf),
    _classify("isfinite", np.isfinite),
]

REDUCTIONS = [
    OpInfo("sum", ref.reduction(np.sum), samples.sums, result="sum"),
    OpInfo("mean", ref.reduction(ref.mean), samples.sums, forward=HALF, result="first"),
    OpInfo("prod", ref.reduction(np.prod), samples.prods, result="sum"),
    OpInfo("max", ref.extremum(np.max, np.argmax, np.maximum), samples.extremum, dtypes=FLOATS,
            result=("first", "int64")),
    OpInfo("min", ref.extremum(np.min, np.argmin, np.minimum), samples.extremum, dtypes=FLOATS,
            result=("first", "int64")),
    OpInfo("amax", ref.reduction(np.max), samples.reduce_many, dtypes=FLOATS, result="first"),
    OpInfo("amin", ref.reduction(np.min), samples.reduce_many, dtypes=FLOATS, result="first"),
    OpInfo("argmax", ref.reduction(np.argmax), samples.reduce_one, dtypes=(), forward=NO_BOOL + FLOATS,
            result="int64"),
    OpInfo("argmin", ref.reduction(np.argmin), samples.reduce_one, dtypes=(), forward=NO_BOOL + FLOATS,
            result="int64"),
    OpInfo("var", ref.var, samples.variances, forward=HALF, result="real"),
    OpInfo("std", ref.std, samples.variances, forward=HALF, result="real"),
    OpInfo("norm", ref.norm, samples.norms, domain=NONZERO, forward=HALF, result="real",
            extremes=samples.norm_extremes),
    _along("logsumexp", ref.logsumexp, samples.logsumexps, result="float"),
    _along("softmax", ref.softmax, samples.along_dim_dtype, **REAL_FLOATS),
    _along("log_softmax", ref.log_softmax, samples.along_dim_dtype, **REAL_FLOATS),
    _along("nn.functional.softmax", ref.softmax, samples.along_dim_dtype, **REAL_FLOATS),
    _along("nn.functional.log_softmax", ref.log_softmax, samples.along_dim_dtype, **REAL_FLOATS),
    OpInfo("any", ref.reduction(np.any), samples.truths, dtypes=(), forward=ALL, result="truth"),
    OpInfo("all", ref.reduction(np.all), samples.truths, dtypes=(), forward=ALL, result="truth"),
]  # fmt: skip

SHAPES = [
    _shape("reshape", ref.reshape, structural.reshapes),
    _shape("Tensor.view", ref.reshape, structural.views, strided=False),
    _shape("flatten", ref.flatten, structural.flattens),
    _shape("squeeze", ref.squeeze, structural.squeezes),
    _shape("unsqueeze", ref.unsqueeze, structural.unsqueezes),
    _shape("transpose", ref.transpose, structural.transposes),
    _shape("permute", np.transpose, structural.permutes),
    _shape("t", np.transpose, structural.up_to_2d),
    _shape("Tensor.expand", ref.expand, structural.expands),
    _shape("cat", ref.cat, structural.cats, result="promote", method=False),
    _shape("stack", ref.stack, structural.stacks, result="promote", method=False),
    _shape("split", ref.split, structural.splits),
    _shape("unbind", ref.unbind, structural.unbinds),
    _shape("flip", np.flip, structural.flips),
    OpInfo("topk", ref.topk, calls(([5], 2), ([4, 2], 3, 0, False), ([2, 3], 0), ([], 1), ([2, 3, 2], 3, 1)),
           dtypes=FLOATS, forward=INTS + HALF, result=("first", "int64")),
    _shape("roll", lambda x, shifts, dims=None: np.roll(x, shifts, dims),
           calls(([5], 2), ([2, 3], -1), ([2, 3], (1, -4), (0, 1)), ([2, 3], 1, -1), ([], 1), ([0, 2], 1, 0))),
    _shape("diagonal", ref.diagonal, structural.diagonals),
    _shape("view_as_real", ref.view_as_real, structural.nonempty, dtypes=COMPLEX, forward=(), result="real", method=False),
    _shape("view_as_complex", ref.view_as_complex, structural.pairs, dtypes=FLOATS, forward=(), strided=False,
           result=lambda args: np.result_type(args[0].dtype, np.complex64), method=False),
    _shape("clone", np.copy, samples.unary),
    _shape("Tensor.__getitem__", operator.getitem, structural.getitems, name="getitem", method=False),
    _shape("index_select", ref.index_select, structural.index_selects),
    _shape("gather", ref.gather, structural.gathers),
    _shape("masked_fill", ref.masked_fill, structural.masked_fills),
    _shape("index_put", ref.index_put, structural.index_puts),
    _shape("index_add", ref.index_add, structural.index_adds),
    _shape("scatter", ref.scatter, structural.scatters_of_numbers),
    _shape("scatter_add", ref.scatter_add, structural.scatter_adds),
]

LINALG = [
    _product("matmul", np.matmul, structural.matmuls, operator=operator.matmul),
    _product("mm", np.matmul, structural.mms),
    _product("bmm", np.matmul, structural.bmms),
    _product("mv", np.matmul, structural.mvs),
    _product("dot", np.dot, structural.dots),
    _product("addmm", ref.addmm, structural.addmms),
    _product("einsum", np.einsum, structural.einsums, method=False),
    _product("nn.functional.linear", ref.linear, structural.linears),
]

LOSSES = [
    _loss("cross_entropy", ref.cross_entropy, structural.cross_entropies, extremes=structural.loss_extremes),
    _loss("nll_loss", ref.nll_loss, structural.nll_losses),
    _loss("mse_loss", ref.mse_loss, structural.mse_losses),
    OpInfo("nn.functional.l1_loss", lambda x, y, reduction="mean": ref.reduce_loss(abs(x - y), reduction),
           structural.mse_losses, forward=HALF, result="real"),
]

SPECTRAL = [
    OpInfo("fft.fft", np.fft.fft, calls(([4],), ([2, 3], 5, 0), ([2, 3], 2, -1, "ortho"), ([3, 2], None, 0, "forward")),
            forward=BOOL + INTS, result=lambda args: np.result_type(promote(args[0], 1.0), np.complex64), method=False),
]  # fmt: skip

LAYERS = [
    OpInfo("nn.functional.layer_norm", ref.layer_norm, samples.layer_norms, **REAL_FLOATS, result="first",
            extremes=samples.layer_norm_extremes),
]  # fmt: skip

OPS = ELEMENTWISE + LOGICAL + REDUCTIONS + LAYERS + SHAPES + LINALG + LOSSES + SPECTRAL + LINEAR_ALGEBRA
OPS += LU_ROWS + LSTSQ_ROWS + SCANS + SIGNALS + SORTING + STATISTICS + SHAPE_ROWS + INDEXING_ROWS + elementwise.ROWS
OPS += special.ROWS + activations.ROWS + BILINEAR_ROWS + CONVS + GRID + LAYER_ROWS + POOLING + recurrent.ROWS
DIFFERENTIABLE = [row for row in OPS if row.differentiable]
