"""Powers and their gradients at infinities, zeros of both signs and nan: PyTorch's, which takes roots where the exponent is
a Python number (0.5, -0.5, and where a derivative comes to these), and powers where it is a tensor."""

import math

import numpy as np
import pytest
from common import IS_TORCH, differs

import autograd_cy as torch

inf, nan = math.inf, math.nan
BASES = [-inf, -4.0, -0.0, 0.0, 4.0, inf, nan]
EXPONENTS = [-inf, -2.0, -0.5, -0.0, 0.5, 2.0, inf, nan]

# computed by PyTorch 2.13: the powers of BASES, their gradients, and those of the gradients
TO_NUMBERS = {
    -2: ("0 0.0625 inf inf 0.0625 0 nan", "0 0.03125 inf -inf -0.03125 -0 nan", "0 0.0234375 inf inf 0.0234375 0 nan"),
    -1.5: ("0 nan inf inf 0.125 0 nan", "-0 nan -inf -inf -0.046875 -0 nan", "0 nan inf inf 0.029296875 0 nan"),
    -1: ("-0 -0.25 -inf inf 0.25 0 nan", "-0 -0.0625 -inf -inf -0.0625 -0 nan", "-0 -0.03125 -inf inf 0.03125 0 nan"),
    -0.5: ("nan nan -inf inf 0.5 0 nan", "-0 nan -inf -inf -0.0625 -0 nan", "0 nan inf inf 0.0234375 0 nan"),
    0.0: ("1 1 1 1 1 1 1", "0 0 0 0 0 0 0", "0 0 0 0 0 0 0"),
    0.5: ("nan nan -0 0 2 inf nan", "nan nan -inf inf 0.25 0 nan", "-0 nan -inf -inf -0.03125 -0 nan"),
    1: ("-inf -4 -0 0 4 inf nan", "1 1 1 1 1 1 1", "0 0 0 0 0 0 0"),
    1.5: ("inf nan 0 0 8 inf nan", "nan nan -0 0 3 inf nan", "nan nan -inf inf 0.375 0 nan"),
    2: ("inf 16 0 0 16 inf nan", "-inf -8 -0 0 8 inf nan", "2 2 2 2 2 2 2"),
    2.5: ("inf nan 0 0 32 inf nan", "inf nan 0 0 20 inf nan", "nan nan -0 0 7.5 inf nan"),
    3: ("-inf -64 -0 0 64 inf nan", "inf 48 0 0 48 inf nan", "-inf -24 -0 0 24 inf nan"),
    4: ("inf 256 0 0 256 inf nan", "-inf -256 -0 0 256 inf nan", "inf 192 0 0 192 inf nan"),
    inf: ("inf inf 0 0 inf inf nan", "inf inf nan nan inf inf nan", "inf inf nan nan inf inf nan"),
    -inf: ("0 0 inf inf 0 0 nan", "nan nan -inf -inf nan nan nan", "nan nan inf inf nan nan nan"),
    nan: ("nan nan nan nan nan nan nan", "nan nan nan nan nan nan nan", "nan nan nan nan nan nan nan"),
}
# ... with the exponent as a tensor: the powers, the gradients of bases and exponents
TO_TENSORS = {
    -1.5: ("0 nan inf inf 0.125 0 nan", "-0 nan -inf -inf -0.046875 -0 nan", "nan nan -inf -inf 0.173286795 nan nan"),
    -0.5: ("0 nan inf inf 0.5 0 nan", "-0 nan -inf -inf -0.0625 -0 nan", "nan nan -inf -inf 0.693147181 nan nan"),
    0.0: ("1 1 1 1 1 1 1", "0 0 0 0 0 0 0", "nan nan 0 0 1.386294361 inf nan"),
    0.5: ("inf nan 0 0 2 inf nan", "0 nan inf inf 0.25 0 nan", "nan nan 0 0 2.772588722 inf nan"),
    1.5: ("inf nan 0 0 8 inf nan", "inf nan 0 0 3 inf nan", "nan nan 0 0 11.090354889 inf nan"),
    2: ("inf 16 0 0 16 inf nan", "-inf -8 -0 0 8 inf nan", "nan nan 0 0 22.180709778 inf nan"),
    inf: ("inf inf 0 0 inf inf nan", "inf inf nan nan inf inf nan", "nan nan 0 0 inf inf nan"),
}
# ... of numbers to EXPONENTS: the powers, their gradients, and those of the gradients
OF_NUMBERS = {
    -inf: ("0 0 0 1 inf inf inf nan", "nan nan nan nan nan nan nan nan", "nan nan nan nan nan nan nan nan"),
    -2: ("0 0.25 nan 1 nan 4 inf nan", "nan nan nan nan nan nan nan nan", "nan nan nan nan nan nan nan nan"),
    0.0: ("inf inf inf 1 0 0 0 nan", "-inf -inf -inf 0 0 0 0 nan", "inf inf inf nan nan nan nan nan"),
    2: (
        "0 0.25 0.707106781 1 1.414213562 4 inf nan",
        "0 0.173286795 0.490129072 0.693147181 0.980258143 2.772588722 inf nan",
        "0 0.120113253 0.339731584 0.480453014 0.679463168 1.921812056 inf nan",
    ),
    inf: ("0 0 0 1 inf inf inf nan", "nan nan nan inf inf inf inf nan", "nan nan nan inf inf inf inf nan"),
    nan: ("nan nan nan 1 nan nan nan nan", "nan nan nan nan nan nan nan nan", "nan nan nan nan nan nan nan nan"),
}
LENGTHS = [1, 40]  # a run of elements at a time, and how often: few and many take different loops


def leaf(module, values, dtype, repeats=1):
    return module.tensor([*values] * repeats, dtype=getattr(module, dtype)).requires_grad_()


def derivatives(module, y, *inputs):
    """The result, its gradients without and with a graph, and the gradient of the first of these."""
    plain = module.autograd.grad(y.sum(), inputs, retain_graph=True)
    first = module.autograd.grad(y.sum(), inputs, create_graph=True)
    if not first[0].requires_grad:
        return [y, *plain, *first, first[0] * 0]
    return [y, *plain, *first, *module.autograd.grad(first[0].sum(), inputs)]


def assert_same(found, expected, tolerance=1e-7):
    """As numbers; and zeros of one sign."""
    found, expected = (np.asarray(x, "f8") for x in (found, expected))
    np.testing.assert_allclose(found, expected, tolerance, 1e-9)
    zeros = expected == 0
    np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(expected[zeros]))


def numbers(text, repeats):
    return [float(word) for word in text.split()] * repeats


@pytest.mark.parametrize("repeats", LENGTHS)
@pytest.mark.parametrize("exponent", TO_NUMBERS)
def test_to_a_number(exponent, repeats):
    """`x ** 0.5` had 0 as gradient at -inf and inf at -0.0: it was the power -0.5, where PyTorch takes the root."""
    x = leaf(torch, BASES, "float64", repeats)
    y, plain, first, second = derivatives(torch, x**exponent, x)
    for found, text in zip((y, plain, first, second), np.array(TO_NUMBERS[exponent])[[0, 1, 1, 2]], strict=True):
        assert_same(found.tolist(), numbers(text, repeats))


@pytest.mark.parametrize("repeats", LENGTHS)
@pytest.mark.parametrize("shape", ["elements", "one element", "0-d"])
@pytest.mark.parametrize("exponent", TO_TENSORS)
def test_to_a_tensor(exponent, shape, repeats):
    """`x ** tensor(0.5)` was nan at -inf: NumPy's loop takes the root where the exponent is the same for all elements."""
    x = leaf(torch, BASES, "float64", repeats)
    e = torch.tensor(exponent, dtype=torch.float64, requires_grad=True)
    e = e.expand(1) if shape == "one element" else e.expand(x.shape).contiguous() if shape == "elements" else e
    y, base, of_exponent, *_ = derivatives(torch, x**e, x, e)
    for found, text in zip((y, base, of_exponent), TO_TENSORS[exponent], strict=True):
        expected = numbers(text, repeats)
        assert_same(found.tolist(), expected if found.numel() > 1 else np.full(found.shape, sum(expected)))


@pytest.mark.parametrize("repeats", LENGTHS)
@pytest.mark.parametrize("base", OF_NUMBERS)
def test_of_a_number(base, repeats):
    x = leaf(torch, EXPONENTS, "float64", repeats)
    y, plain, first, second = derivatives(torch, base**x, x)
    for found, text in zip((y, plain, first, second), np.array(OF_NUMBERS[base])[[0, 1, 1, 2]], strict=True):
        assert_same(found.tolist(), numbers(text, repeats))


MORE = [-inf, -3, -2, -1.5, -1, -0.5, -0.0, 0, 0.3, 0.5, 1, 1.0, 1.5, 2, 2.5, 3, 3.0, 4, 2.5 + 1, inf, nan]
SPELLINGS = {
    "a number": lambda m, x, e: x**e,
    "in place": lambda m, x, e: (x * 1).pow_(e),
    "0-d": lambda m, x, e: x ** m.tensor(e, dtype=x.dtype),
    "a number by hand": lambda m, x, e: m.pow(x, e),
    "elements": lambda m, x, e: x ** m.tensor([e], dtype=x.dtype).expand(x.shape),
    "an integer": lambda m, x, e: x ** m.tensor(int(e) if abs(e) < inf else 2),
    "of a number": lambda m, x, e: e**x,
    "of 0-d": lambda m, x, e: m.tensor(e, dtype=x.dtype) ** x,
    "forward mode": lambda m, x, e: tangent(m, x, lambda d: d**e),
    "forward mode of a number": lambda m, x, e: tangent(m, x, lambda d: e**d),
}


def tangent(module, x, function):
    forward_ad = module.autograd.forward_ad
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(function(forward_ad.make_dual(x, module.ones_like(x)))).tangent


@pytest.mark.filterwarnings("ignore:.torch.jit")
@pytest.mark.skipif(IS_TORCH, reason="against PyTorch")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_special_values_are_those_of_pytorch(spelling, dtype):
    theirs = pytest.importorskip("torch")
    tolerance = {"float16": 4e-3, "float32": 1e-5, "float64": 1e-12}[dtype]
    for repeats in LENGTHS:
        for e in MORE:
            results = []
            for module in (torch, theirs):
                x = leaf(module, [*BASES, -1.0, 0.5, 1.0, 2.5], dtype, repeats)
                y = SPELLINGS[spelling](module, x, e)
                if not y.requires_grad:
                    results.append([y.tolist()])
                else:
                    results.append([t.detach().tolist() for t in derivatives(module, y, x)])
            for found, expected in zip(*results, strict=True):
                assert_same(found, expected, tolerance)


def test_an_exponent_that_rounds_to_a_half_takes_no_root():
    base, exponent = torch.tensor([-inf]), torch.tensor(0.5 + 1e-12, dtype=torch.float64)
    assert (base**exponent).item() == inf


@pytest.mark.parametrize("operands", [(torch.ones(2), 2), (2, torch.ones(2)), (torch.ones(2), torch.ones(2))])
def test_there_is_no_modulus(operands):
    """It was a NotImplementedError, and 2 ** x without a word."""
    with pytest.raises(TypeError, match=r"^unsupported operand type\(s\) for \*\* or pow\(\)"):
        pow(*operands, 3)


@differs("`_saved_result` of a power whose exponent requires no grad", "keeps the result")
def test_a_result_is_kept_for_the_exponent_alone():
    x, exponent = torch.ones(2, requires_grad=True), torch.full((2,), 3.0)
    assert (x**exponent).grad_fn._saved_result is None
    exponent.requires_grad_()
    assert (x**exponent).grad_fn._saved_result.tolist() == [1, 1]
