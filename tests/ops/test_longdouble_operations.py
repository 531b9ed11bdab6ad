"""Every operation on longdouble computes in longdouble, forward and backward, or refuses it by a clear error.

The inputs have digits that float64 has not. A result is close to that in float64, and has such digits, too.
"""

import contextlib
import re

import numpy as np
import pytest
from crossings import Checker, Trials, combinations, layouts_for, rng_of
from op_calls import Call, nonempty, samples_of, seeds_for, to_numpy
from op_case import Sample, map_arrays
from opinfo import OPS
from subjects import OpSubject, more_samples

import autograd_cy as ag

pytestmark = pytest.mark.skipif(ag.longdouble is ag.float64, reason="longdouble is float64 on this platform")

ROWS = [row for row in OPS if "float64" in row.dtypes + row.forward]


def extended(array):
    """The same numbers of longdouble, each but whole ones off by some units of its last place, equal ones by as many."""
    if array.dtype != np.float64:
        return array
    mixed = np.ascontiguousarray(array).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(55)
    off = np.where(np.rint(array) == array, 0, (mixed.reshape(array.shape) | np.uint64(1)).astype(np.longdouble) * 2.0**-63)
    return np.asarray(array.astype(np.longdouble) * (1 + off))


def in_longdouble(sample):
    kwargs = {k: np.longdouble if v is np.float64 else v for k, v in map_arrays(extended, sample.kwargs).items()}
    return Sample(map_arrays(extended, sample.args), kwargs)


def run(row, sample, second):
    """Outputs, gradients and (`second`) gradients of these, as arrays; no gradient is None."""
    call = Call(row, sample)
    leaves = call.leaves()
    outputs = list(call(*leaves))
    found = [to_numpy(y.detach()) for y in outputs]
    reached = [y for y in outputs if y.requires_grad]
    if not reached:
        return found, [], []
    seeds = [ag.from_numpy(extended(s.astype(np.float64)).astype(s.dtype)) for s in seeds_for([y.detach() for y in reached])]
    grads = ag.autograd.grad(reached, leaves, seeds, create_graph=second, allow_unused=True)
    again = []
    if second and (twice := [g for g in grads if g is not None and g.requires_grad]):
        again = ag.autograd.grad([(g * g).sum() for g in twice], leaves, allow_unused=True)
    return found, *([None if g is None else to_numpy(g.detach()) for g in some] for some in (grads, again))


def has_its_digits(array):
    """Whether there is a number that float64 does not hold; also where all are whole, infinite or NaN."""
    known = array[np.isfinite(array)]
    rest = known[known != np.rint(known)]
    return not rest.size or bool((rest != rest.astype(np.float64)).any())


def refusal(row, sample):
    """The error of an operation that refuses longdouble; None if it does not."""
    try:
        run(row, sample, second=False)
    except (NotImplementedError, RuntimeError, TypeError) as error:
        assert re.search(r"LongDouble|torch.longdouble tensor|no complex dtype", str(error)), f"{row.name}: {error!r}"
        return error
    return None


def compare(row, sample, second):
    narrow = run(row, sample, second)
    wide = run(row, in_longdouble(sample), second)
    for what, ours, theirs in zip(("output", "gradient", "second gradient"), wide, narrow, strict=True):
        assert len(ours) == len(theirs), what
        for a, b in zip(ours, theirs, strict=True):
            if a is None or b is None:
                assert a is b is None or not np.any(b if a is None else a), what
                continue
            if b.dtype != np.float64:
                assert a.dtype == b.dtype, what
                continue
            assert a.dtype == np.longdouble, f"{what} of {a.dtype}"
            top = np.abs(b[np.isfinite(b)]).max(initial=1e-6)
            near = 1e-7 if what == "second gradient" else 1e-11
            np.testing.assert_allclose(a.astype(np.float64), b, rtol=near, atol=near * top, err_msg=what)
            assert top <= 1e-6 or has_its_digits(a), f"{what} has the digits of float64 alone: {a}"


# No kernel of its own: these may refuse it. All others compute.
MAY_REFUSE = (
    r"(fft|linalg|special)\.|.*(conv|pool|norm|rnn|lstm|gru|grid|fold|bag|interpolate|upsample|attention|cholesky|hist)|"
    r".*(cross_entropy|nll_loss|ctc_loss|polynomial|inverse|solve|matrix_power|matrix_exp|dist|gamma|quantile|det|qr|svd|lu)|"
    r"(view_as_complex|complex|polar|stft|orgqr|ormqr|geqrf|erfinv|i0|igammac|nn.functional.affine_grid|affine_grid_generator|"
    r"hash_tensor)$"
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_operations_compute_in_longdouble_or_refuse_it(row):
    with contextlib.suppress(ImportError), np.errstate(all="ignore"):
        for sample in samples_of(row, "float64"):
            if not nonempty(row, sample):
                continue
            error = refusal(row, in_longdouble(sample))
            if error is None:
                compare(row, sample, second=row.differentiable)
            else:
                assert re.match(MAY_REFUSE, row.name), f"{row.name}: {error!r}"


@pytest.mark.parametrize("row", [row for row in ROWS if row.differentiable], ids=lambda row: row.name)
def test_forward_mode_and_backward_agree_to_the_digits_of_longdouble(row):
    with contextlib.suppress(ImportError), np.errstate(all="ignore"):
        for sample in samples_of(row, "float64"):
            sample = in_longdouble(sample)
            if not nonempty(row, sample) or refusal(row, sample) is not None:
                continue
            call = Call(row, sample)
            leaves = call.leaves()
            outputs = call.function(*leaves)
            seeds = [ag.from_numpy(s) for s in seeds_for([y.detach() for y in outputs])]
            u = [ag.from_numpy(s) for s in seeds_for([x.detach() for x in leaves], salt=1)]
            grads = ag.autograd.grad(outputs, leaves, seeds, allow_unused=True)
            with ag.autograd.forward_ad.dual_level():
                duals = [ag.autograd.forward_ad.make_dual(x.detach(), t) for x, t in zip(leaves, u, strict=True)]
                tangents = [ag.autograd.forward_ad.unpack_dual(y).tangent for y in call.function(*duals)]
            assert all(t is None or t.dtype is y.dtype for t, y in zip(tangents, outputs, strict=True))
            ours = [(s * t) for s, t in zip(seeds, tangents, strict=True) if t is not None]
            theirs = [(g * t) for g, t in zip(grads, u, strict=True) if g is not None]
            size = sum(x.abs().sum() for x in (*ours, *theirs)) + 1
            off = sum(x.sum() for x in ours) - sum(x.sum() for x in theirs)
            assert not off.abs() > 1e-15 * size, (off.item(), size.item())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", [row for row in ROWS if row.differentiable], ids=lambda row: row.name)
def test_gradients_are_the_same_by_any_way(row, record_property):
    """Whatever the sizes, layouts and consumers: what small arrays in C order give."""
    trials = Trials()
    samples = [in_longdouble(sample) for sample in samples_of(row, "float64") + more_samples(row, "float64")]
    with contextlib.suppress(ImportError):
        for i, sample in enumerate(samples):
            if not nonempty(row, sample) or refusal(row, sample) is not None:
                continue
            subject = OpSubject(row, sample, f"{row.name}-longdouble-{i}")
            rng, checker = rng_of(subject.name), Checker(subject)
            for combination in combinations(rng, inputs=layouts_for(row.name)):
                trials.make(checker.check, combination, checker.drawn_thresholds(rng), subject.name)
    trials.finish(record_property)
