"""Every operation's gradients on both sides of every threshold: small arrays take the ways of large ones, see crossings.py.

AUTOGRAD_CY_CROSSINGS=full runs, for each sample of each operation and type, all pairs of layouts with all consumers; a
number runs so many combinations of each, drawn at random. `make fuzz` does the former. Layers, optimizers and transforms
are crossed in tests/nn, tests/optim and tests/batching.
"""

import itertools
import re

import numpy as np
import pytest
from common import ROOT
from crossings import LEVELS, MOST, Checker, Trials, combinations, layouts_for, levels_of, rng_of
from op_calls import Call, run_backward, samples_of, to_numpy
from op_case import S, map_arrays
from opinfo import DIFFERENTIABLE, ELEMENTWISE, OPS, REDUCTIONS
from subjects import op_subjects, shapes_of

import autograd_cy as ag
from autograd_cy._core.parallel.threads import get_thresholds, set_threshold

CORE = ROOT / "autograd_cy" / "_core"
TEMPLATES = ROOT / "codegen"
SUBJECTS = op_subjects()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SUBJECTS)
def test_gradients_are_the_same_by_any_way(name, record_property):
    """Whatever the sizes, layouts, types and consumers: what small arrays in C order give."""
    trials = Trials()
    for subject in SUBJECTS[name]:
        rng, checker = rng_of(subject.name), Checker(subject)
        for combination in combinations(rng, inputs=layouts_for(name)):
            trials.make(checker.check, combination, checker.drawn_thresholds(rng), subject.name)
    trials.finish(record_property)


# what is compiled in: sizes on both sides of it

# Lengths of arrays on the stack, and of pieces that a loop works on at a time, in elements.
BLOCKS = {
    "attention_loops.BLOCK": 1 << 15,
    "attention_loops.FEWEST_ROWS": 8,
    "attention_loops.MOST_ROWS": 64,
    "attention_loops.MOST_CAUSAL": 32,
    "attention_loops.LANES": 16,
    "attention_loops.RUN": 512,
    "broadcast_sums.SUM_BLOCK": 1024,
    "convolutions.FEWEST": 32,
    "convolutions.LINE": 16,
    "convolutions.PATCHES": 1 << 18,  # crossed in test_convolution.py
    "convolutions.PLACES": 256,
    "convolutions.SMALL_TOTALS": 1 << 17,  # crossed in test_convolution.py
    "broadcast_sums.RUNS": 64,
    "random_loops.TILE": 32,  # crossed in test_random_loops.py
    "cofactors.SMALL": 16,  # crossed in test_determinants.py
    "channel_convolutions.FEWEST": 64,  # crossed in test_channels_last.py, as are the next
    "channel_convolutions.LINE": 16,
    "channel_convolutions.PATCHES": 1 << 18,
    "channel_convolutions.PLACES": 256,
    "channel_convolutions.TOTALS": 1 << 17,
    "channel_dots.EASY": 3,  # crossed in test_channel_dots.py, as are the next
    "channel_dots.FEWEST": 8,
    "channel_dots.FOURS": 4,
    "channel_dots.MOST": 7,
    "channel_dots.RUNS": 64,
    "channel_dots.WHOLE": 64,
    "channel_lines.COPIED": 1 << 15,  # crossed in test_channels_last.py, as are the next
    "channel_lines.FEW": 4,
    "channel_lines.FEWEST": 4,
    "channel_places.DEPTH": 384,  # crossed in test_channel_places.py, as are the next
    "channel_places.ENOUGH": 6,
    "channel_places.FEWEST": 4,
    "channel_places.PLACES": 64,
    "channel_places.ROWS": 8,
    "channel_places.SEEN": 1 << 18,
    "channel_taps.HELD": 24 << 10,
    "channel_taps.PLACES": 64,
    "channel_taps.TOTALS": 1 << 17,
    "channels.LONG": 1024,
    "buffers.NARROW": 4,
    "channels.TILE": 16,
    "channel_lines.VECTORS": 2,
    "channel_columns.COLUMN_BLOCK": 1024,  # crossed in test_channels_last.py, as are the next
    "channel_columns.FAR": 4,
    "channel_columns.LARGE": 6 << 20,
    "channel_columns.ROW_BLOCK": 64,
    "channel_columns.SHORT": 256,
    "channel_columns.SLICE": 1 << 14,
    "channel_columns.STRIP": 64,
    "channel_columns.TILE": 1 << 14,
    "channel_windows.LEAST": 16,  # crossed in test_channels_last.py, as are the next
    "channel_windows.UNROLLED": 4,
    "conv_arrays.COPIED": 4,  # crossed in test_channels_last.py, as are the next
    "conv_arrays.LANES": 16,
    "conv_arrays.RESULTS": 8,
    "conv_arrays.SOURCES": 4,
    "conv_arrays.WIDE": 8,
    "label_loops.BLOCK": 1024,
    "elimination.PANEL": 16,
    "kernels.BLOCK": 512,
    "layer_norm_loops.BLOCK": 512,
    "layer_norm_loops.COLUMNS": 256,
    "layer_norm_loops.ROWS": 64,
    "gemm.FEW_SUMS": 4,  # crossed in test_extreme_reductions.py
    "gemm.LONG_SUM": 4096,  # crossed in test_extreme_reductions.py
    "loops.FLAT_BYTES": 2048,
    "nans.BLOCK": 4096,
    "partials.PARTS": 16,
    "plane_convolutions.LANES": 32,
    "runs.BLOCK": 1024,
    "plane_loops.COLUMNS": 2048,
    "reduction_loops.LANES": 32,
    "plane_loops.ROWS": 64,
    "recurrent_layer.TRANSPOSED_ONCE": 4,
    "recurrent_loops.LANES": 32,
    "remainders.BLOCK": 512,
    "scan_loops.COLUMNS": 256,
    "sines.SINE_BLOCK": 1024,
    "softmax_gradients.SHORT": 64,
    "softmax_loops.BLOCK": 1024,
    "softmax_loops.LANES": 32,
    "softmax_loops.WIDTH": 128,
    "taps.FEW": 4,  # crossed in test_channels_last.py, as are the next
    "taps.LANES": 64,
    "taps.WOVEN": 15,
    "triangles.BLOCK": 16,
    "variance_loops.VARIANCE_BLOCK": 512,
    "variance_loops.VARIANCE_COLUMNS": 256,
    "panels.DEPTH": 320,
    "panels.FEW_ROWS": 128,
    "variance_loops.COPIED": 4,
    "variance_loops.VARIANCE_ROWS": 64,
    "ufunc_loops.WIDE": 512,
}
# How finely work is shared, and what counts no elements: flags, dimensions, objects, lines of code.
NO_SIZES = {
    "batched": "MAX_DIMS",
    "buffers": "SHELVES SHELF_SIZE SPARE_DIMS MAX_DIMS",
    "channel_convolutions": "SLICES TO_AN_ELEMENT",
    "channel_columns": "SLICES",
    "channel_dots": "TO_AN_ELEMENT",
    "channel_places": "TO_AN_ELEMENT",
    "channel_taps": "SLICES TO_AN_ELEMENT LANE_BYTES",
    "channel_windows": "PARTS",  # crossed in test_channels_last.py
    "channels": "MOST",
    "convolutions": "LINE_BYTES PARTS SLICES TO_AN_ELEMENT",
    "costs": "AT_ONCE",
    "duals": "MOST_LEVELS",
    "module_slots": "FEW",
    "node_costs": "KINDS RECORDS HOOKED LONG RETRIED SURE SAMPLED",
    "update_loops": "KEPT NUMBERS OPTIONS SCALARS",
    "embedding": "MAX_DIMS",
    "engine": "NESTED_IN_ONE_THREAD MOST_NOTES MOST_FRAMES SIGNAL_INTERVAL",
    "events": "LONG MAX_FRAMES MEMORY SHAPES STACKS CAPACITY",
    "extreme_gradients": "MOST",  # elements that 32 bits count
    "freed": "KEPT LARGEST",
    "gemm": "TO_AN_ELEMENT STRIPES LANES",
    "guard": "FEW_NOTES",
    "holdings": "GRAPH_ALONE MAX_FOREIGN SKIPPED",
    "inplace": "HELD",
    "intermediates": "MOST",
    "location": "REMEMBERED",
    "loops": "MAX_OPERANDS",
    "node": "BOXED OUTPUT_SLOT",
    "op_hooks": "DEBUG_LEVEL",
    "random_fills": "MOST_DIMS MOST_ELEMENTS",  # test_random_refusals.py has sizes beyond
    "random_loops": "WEIGHT",
    "overrides": "SUBCLASSES WATCHED",
    "padding": "LONG",
    "panels": "ALIASED BY_ROWS HELD LINE MOST SHORT",  # crossed in test_panels.py
    "plane_convolutions": "FEW MARGIN STRIPS",
    "polynomials": "LIMIT",
    "pool": "ALIGNMENT SPAN",
    "quotients": "DEEPEST",
    "tangents": "MOST_TANGENTS FEW_LEVELS",
    "recorder": "MOST N_OPTIONS",
    "recurrent_layers": "GATE",
    "recursion": "LEVELS_PER_CALL",
    "region": "EFFORT",
    "rings": "DETAILS",
    "row_zeros": "FEWER",  # crossed in test_row_zeros.py
    "rules": "MOST_REPEATED",
    "take": "MAX_DIMS",
    "taps": "AS_THEY_ARE",
    "tensor": "ANY_TYPE",
    "threads": "UNIT LARGEST_CHUNK CHUNKS",
    "topk": "MANY",  # crossed in test_topk.py
    "versions": "REMEMBERED",
    "window_loops": "EXACT SHORT",  # crossed in test_pooling.py
    "nodes": "NONE MEAN SUM A B C Y",
    "record": "CACHED_NUMBERS",
    "sums": "SAVES_NOTHING SAVES_INPUT SAVES_OUTPUT",
    "ordering_loops": "FEW",  # crossed in test_topk.py
}
SIZES = sorted({n for size in BLOCKS.values() if size < 4096 for n in (size - 1, size, size + 1) if n > 1})  # of 1 no variance
LINE = re.compile(r"^    (\w+)(?: = ([^#\n]+))?", re.MULTILINE)


def constants() -> dict[str, int | None]:
    """Each number in an enum of the core, but for those of modes and types."""
    found = {}
    for path in sorted([*CORE.rglob("*.p*"), *TEMPLATES.glob("*.pyx.in")]):
        module = path.name.partition(".")[0]
        if path.suffix not in (".pyx", ".pxd", ".in") or module in ("state", "dtypes"):
            continue
        for block in re.findall(r"^cdef enum:.*\n((?:    .*\n)+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            for name, value in LINE.findall(block):
                if value and re.fullmatch(r"[\d_x<+\- A-F]+", value.strip()):
                    found[f"{module}.{name}"] = eval(value)
    return found


def test_every_threshold_is_crossed():
    """A new one is set by the test above, or is a block with sizes on both sides below."""
    assert set(get_thresholds()) == set(MOST)
    for name in MOST:
        low, *_, high = levels_of(name, 100, 8)
        assert low == 1 and high is None
    named = {f"{module}.{name}" for module, names in NO_SIZES.items() for name in names.split()}
    unknown = {name for name in constants() if name not in BLOCKS and name not in named}
    assert not unknown, "is it a threshold (thresholds.pyx), a block (BLOCKS), or no size at all (NO_SIZES)?"
    assert {name: constants().get(name) for name in BLOCKS} == BLOCKS


def test_a_threshold_out_of_range_is_refused():
    before = get_thresholds()
    for name, value in (("few", 0), ("strided_run", 65), ("chunk", -1)):
        with pytest.raises(ValueError, match=f"expected {name} from 1 to"):
            set_threshold(name, value)
    assert get_thresholds() == before


def as_dtype(sample, dtype):
    return type(sample)(map_arrays(lambda a: a.astype(dtype) if a.dtype.kind == "f" else a, sample.args), sample.kwargs)


def derivative(row, sample, seed, step=1e-6):
    """Of the reference, along a direction for each argument, and the directions."""
    rng, ways = np.random.default_rng(5), []
    map_arrays(lambda a: ways.append(rng.uniform(-1, 1, a.shape)) if a.dtype.kind == "f" else None, sample.args)

    def moved(by):
        way = iter(ways)
        args = map_arrays(lambda a: a + by * next(way) if a.dtype.kind == "f" else a, sample.args)
        return row.expected(type(sample)(args, sample.kwargs))[0]

    change = (moved(step) - moved(-step)) / (2 * step)
    return float((change * seed).sum()), ways


def check_blocks(row, sample, layouts):
    """Values are those of the reference; gradients have its derivative along a direction, in float64 and in float32."""
    (want, *_), gradients = row.expected(sample), None
    for layout in layouts:
        for dtype, near in ((np.float64, 1e-6), (np.float32, 1e-4)):
            _, (y, *_), (seed, *_), found = run_backward(Call(row, as_dtype(sample, dtype), wrap=layout), layout)
            np.testing.assert_allclose(to_numpy(y), want, rtol=near, atol=near)
            change, ways = derivative(row, sample, to_numpy(seed).astype(np.float64))
            along = sum(float((to_numpy(g).astype(np.float64) * way).sum()) for g, way in zip(found, ways, strict=True))
            size = sum(float(np.abs(to_numpy(g) * way).sum()) for g, way in zip(found, ways, strict=True))
            assert abs(along - change) <= near * max(size, 1), f"{layout.__name__} {dtype.__name__}: {along}, not {change}"
            if gradients is None:
                gradients = [to_numpy(g) for g in found]
            for g, other in zip(found, gradients, strict=True):
                np.testing.assert_allclose(to_numpy(g), other, rtol=near, atol=near * max(1, np.abs(other).max(initial=0)))


def near_one(*shape):
    return np.random.default_rng(3).permutation(np.linspace(0.9, 1.1, int(np.prod(shape)))).reshape(shape)


SOME = (np.copy, *[layout for layout in LEVELS["inputs"] if layout.__name__ in ("transposed", "sliced")])


@pytest.mark.parametrize("row", [row for row in REDUCTIONS if row.differentiable], ids=lambda row: row.name)
def test_reductions_at_the_ends_of_blocks(row):
    for k, n in enumerate(SIZES):
        shape, dim = [((n,), 0), ((3, n), 1), ((n, 3), 0), ((2, n, 2), 1)][k % 4]
        check_blocks(row, S(near_one(*shape), dim=dim), SOME)
        if row.name in ("sum", "mean", "var", "std", "norm", "amax"):
            check_blocks(row, S(near_one(3, n), dim=0), SOME[k % 3 : k % 3 + 1])


@pytest.mark.parametrize("row", [row for row in ELEMENTWISE if row.differentiable], ids=lambda row: row.name)
def test_elementwise_at_the_ends_of_blocks(row):
    """Element i of n is what it is of 6."""
    for dtype in row.dtypes:
        few = next(s for s in samples_of(row, dtype) if set(shapes_of(s)) == {(2, 3)})
        _, (y,), (seed,), gradients = run_backward(Call(row, few))
        for n in SIZES:
            many = type(few)(map_arrays(lambda a, n=n: np.resize(a, n), few.args), few.kwargs)
            for layout in (np.copy, SOME[2]):
                seeds = [np.resize(to_numpy(seed), n)]
                _, (z,), _, found = run_backward(Call(row, many, wrap=layout), layout, seeds)
                near = 1e-12 if np.dtype(dtype).char in "dD" else 1e-5
                for g, want in zip([z, *found], [y, *gradients], strict=True):
                    np.testing.assert_allclose(to_numpy(g), np.resize(to_numpy(want), n), rtol=near, atol=near)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fused_sums_at_the_ends_of_blocks(dtype):
    """The gradient of an operand that was broadcast along rows, columns, or both."""
    rng = np.random.default_rng(4)
    for rows, n in itertools.product((1, 63, 64, 65, 128, 129, 300), (127, 128, 129, 1023, 1024, 1025, 2049)):
        x, g = [rng.uniform(-1, 1, (2, rows, n)).astype(dtype) for _ in "xg"]
        for shape, axes in (((n,), (0, 1)), ((rows, 1), (0, 2)), ((2, 1, n), (1,)), ((1, rows, n), (0,)), ((), (0, 1, 2))):
            b = ag.ones(shape, dtype=getattr(ag, dtype), requires_grad=True)
            (ag.from_numpy(x) * b).backward(ag.from_numpy(g))
            want = (x.astype(np.float64) * g).sum(axes).reshape(shape)
            near = 1e-4 if dtype == "float32" else 1e-11
            np.testing.assert_allclose(b.grad.numpy(), want, rtol=near, atol=near, err_msg=f"{rows}, {n}, {shape}")


ROW = {row.name: row for row in OPS}


@pytest.mark.parametrize("n", [n for n in SIZES if n < 2000])
def test_layers_and_losses_at_the_ends_of_blocks(n):
    rng = np.random.default_rng(2)
    layer, loss = ROW["nn.functional.layer_norm"], ROW["nn.functional.cross_entropy"]
    check_blocks(layer, S(near_one(3, n), (n,), near_one(n), near_one(n)), SOME)
    check_blocks(layer, S(near_one(n, 5), (5,), near_one(5), near_one(5)), SOME[:1])
    check_blocks(loss, S(near_one(3, n), rng.integers(0, n, 3)), SOME)
    check_blocks(loss, S(near_one(n, 5), rng.integers(0, 5, n)), SOME[:1])
    check_blocks(loss, S(near_one(2, 5, n), rng.integers(0, 5, (2, n))), SOME)


@pytest.mark.parametrize("where", [4095, 4096, 4097])
def test_nan_at_the_end_of_a_block(where):
    x = ag.zeros(8192)
    x[where] = float("nan")
    with pytest.raises(RuntimeError, match=f"at \\[{where}\\]"), ag.autograd.detect_nan():
        x.requires_grad_() * 2.0


def test_every_differentiable_operation_is_run():
    assert set(SUBJECTS) == {row.name for row in DIFFERENTIABLE}
