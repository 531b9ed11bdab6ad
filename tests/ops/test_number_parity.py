"""Tensors of all dtypes beside Python numbers of all sizes, against PyTorch: each operator, its reflected and in-place form,
and what else takes a number. Skipped where there is no PyTorch."""

import operator
import warnings

import numpy as np
import pytest
from common import said
from op_calls import to_numpy

import autograd_cy as ag

torch = pytest.importorskip("torch")

inf, nan = float("inf"), float("nan")
NUMBERS = [
    True, False, 0, 1, 2, 3, -1, -2, 127, 128, 200, 255, 256, 300, -129, 2**15, 2**16, 2**31, 2**53 + 1, 2**63 - 1, -(2**63),
    2**63, 2**64, -(2**63) - 1, 0.0, -0.0, 0.1, 1 / 3, 1.5, -1.5, 255.0, 256.0, 1e5, 1e-5, 65504.0, 65520.0, 65536.0, 1e38,
    1e39, inf, -inf, nan, 1j, 1 + 2j,
]  # fmt: skip
HALF = [0.25, 0.0, -0.0, 1.0, -1.0, 1e-5, 6e4, inf, -inf, nan, 0.3333, -7.5]
VALUES = {
    "bool": [True, False, True],
    # without the least number of a signed type: PyTorch divides it by -1, which kills the process
    "uint8": [0, 1, 255, 200, 7], "int8": [0, 1, -1, 127, 100], "int16": [0, 1, -1, 2**15 - 1, 300],
    "int32": [0, 1, -1, 2**31 - 1, 300], "int64": [0, 1, -1, 2**63 - 1, 300],
    "float16": HALF, "float32": [*HALF, 1e38], "float64": [*HALF, 1e300],
    "complex64": [1, 1j, 0, 1 + 2j, -0.3 - 4j], "complex128": [1, 1j, 0, 1 + 2j, -0.3 - 4j],
}  # fmt: skip
NEAR = {"float16": 1e-3, "float32": 1e-6, "complex64": 1e-5}
LEAST = {"float16": 6e-8, "float32": 2e-45}


def assigned(index):
    def assign(m, x, n):
        x[index if index is not None else x == x] = n
        return x

    return assign


def everywhere(m, x):
    return m.ones_like(x).bool()


CALLS = {
    "clamp from": lambda m, x, n: x.clamp(min=n),
    "clamp to": lambda m, x, n: x.clamp(max=n),
    "clamp within": lambda m, x, n: x.clamp(0, n),
    "clamp_": lambda m, x, n: x.clamp_(max=n),
    "where": lambda m, x, n: m.where(everywhere(m, x), n, x),
    "where not": lambda m, x, n: m.where(everywhere(m, x), x, n),
    "fill_": lambda m, x, n: x.fill_(n),
    "full": lambda m, x, n: m.full((2,), n, dtype=x.dtype),
    "full_like": lambda m, x, n: m.full_like(x, n),
    "new_full": lambda m, x, n: x.new_full((2,), n),
    "an element": assigned(0),
    "some elements": assigned([0, 1]),
    "a mask": assigned(None),
    "all elements": assigned(...),
    "masked_fill": lambda m, x, n: x.masked_fill(everywhere(m, x), n),
    "masked_fill_": lambda m, x, n: x.masked_fill_(everywhere(m, x), n),
    "scatter": lambda m, x, n: x.scatter(0, m.tensor([0, 1]), n),
    "add, alpha": lambda m, x, n: m.add(x, x, alpha=n),
    "sub, alpha": lambda m, x, n: m.sub(x, x, alpha=n),
    "add_, alpha": lambda m, x, n: x.add_(x.clone(), alpha=n),
    "add a number, alpha": lambda m, x, n: m.add(x, 2, alpha=n),
    "addmm, alpha": lambda m, x, n: m.addmm(*[m.ones(2, 2).to(x.dtype)] * 3, alpha=n),
    "addmm, beta": lambda m, x, n: m.addmm(*[m.ones(2, 2).to(x.dtype)] * 3, beta=n),
    "fmod": lambda m, x, n: m.fmod(x, n),
    "fmod_": lambda m, x, n: x.fmod_(n),
    "div, floor": lambda m, x, n: m.div(x, n, rounding_mode="floor"),
    "div, trunc": lambda m, x, n: m.div(x, n, rounding_mode="trunc"),
    "div_, trunc": lambda m, x, n: x.div_(n, rounding_mode="trunc"),
    "in": lambda m, x, n: m.tensor(n in x),
    "a 0-d tensor": lambda m, x, n: x[1] * n,
    "a 0-d tensor of its own": lambda m, x, n: x * m.tensor(n),
}
ARITHMETIC = "add sub mul truediv floordiv mod pow lshift rshift and_ or_ xor".split()


def spelled(function, reflected):
    return (lambda m, x, n: function(n, x)) if reflected else (lambda m, x, n: function(x, n))


for name in [*ARITHMETIC, "eq", "ne", "lt", "le", "gt", "ge"]:
    CALLS[name] = spelled(getattr(operator, name), False)
    CALLS[f"reflected {name}"] = spelled(getattr(operator, name), True)
for name in ARITHMETIC:
    CALLS[f"in place {name}"] = spelled(getattr(operator, f"i{name.rstrip('_')}"), False)


LEFT_OUT = {
    "float16 beside complex numbers": lambda call, dtype, n: isinstance(n, complex) and dtype == "float16",
    "`bool_tensor * 2**63`": lambda call, dtype, n: n == 2**63 and dtype == "bool",
    "a complex number with infinite parts": lambda call, dtype, n: (
        ("add" in call or "sub" in call)
        and (isinstance(n, complex) if dtype.startswith("float") else dtype.startswith("complex") and not abs(n) < 1e39)
    ),
    "0 and infinite numbers to the power of complex": lambda call, dtype, n: (
        call == "reflected pow" and dtype.startswith("complex") and not 0 < abs(n) < 1e39
    ),
}


def is_left_out(call, dtype, n):
    """What differs on purpose: a row of docs/differences.md each."""
    return any(differs(call, dtype, n) for differs in LEFT_OUT.values())


def test_what_is_left_out_is_said():
    rows = said()
    for name in LEFT_OUT:
        assert any(name in row for row in rows), name


def outcome(call, module, dtype, n):
    x = module.from_numpy(np.array(VALUES[dtype], dtype))
    try:
        return to_numpy(call(module, x, n))
    except Exception:  # which one is for other tests to say
        return None


def assert_alike(found, expected, words):
    assert (found is None) == (expected is None), (*words, found, expected)
    if found is None:
        return
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), words
    near, least = NEAR.get(str(found.dtype), 1e-12), LEAST.get(str(found.dtype), 0)
    np.testing.assert_allclose(found, expected, rtol=near, atol=least, err_msg=str(words))


@pytest.mark.parametrize("name", CALLS)
def test_all_dtypes_and_numbers(name):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for dtype in VALUES:
            for n in NUMBERS:
                if not is_left_out(name, dtype, n):
                    ours, theirs = (outcome(CALLS[name], module, dtype, n) for module in (ag, torch))
                    assert_alike(ours, theirs, (name, dtype, n))


DIFFERENTIABLE = {
    "add": lambda x, n: x + n, "sub": lambda x, n: x - n, "rsub": lambda x, n: n - x, "mul": lambda x, n: x * n,
    "rmul": lambda x, n: n * x, "div": lambda x, n: x / n, "rdiv": lambda x, n: n / x, "pow": lambda x, n: x**n,
    "rpow": lambda x, n: n**x, "mod": lambda x, n: x % n, "fmod": lambda x, n: x.fmod(n), "clamp": lambda x, n: x.clamp(-n, n),
    "alpha": lambda x, n: x.add(x, alpha=n), "imul": lambda x, n: x.clone().mul_(n), "idiv": lambda x, n: x.clone().div_(n),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients(name, dtype):
    for n in (2, 3, 0.1, 1 / 3, 65536.0, 65536, 1e5, 1e-5):
        results = []
        for module in (ag, torch):
            x = module.from_numpy(np.array([0.25, 1.0, 0.02, 3.0], dtype)).requires_grad_()
            try:
                y = DIFFERENTIABLE[name](x, n)
            except RuntimeError:  # a number that float16 can't hold
                results.append(None)
                continue
            (g,) = module.autograd.grad(y, x, module.ones_like(y) / 8)
            results.append(to_numpy(g))
        ours, theirs = results
        assert (ours is None) == (theirs is None), n
        if ours is not None:
            near = {"float16": 4e-3, "float32": 1e-5, "float64": 1e-12}[dtype]
            np.testing.assert_allclose(ours, theirs, rtol=near, atol=1e-7 if dtype == "float16" else 0, err_msg=str(n))
