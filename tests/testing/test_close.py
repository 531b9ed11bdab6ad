"""assert_close: what is close, what is not, and PyTorch's words for it."""

import array
import collections
import decimal
import re
import subprocess
import sys
from math import inf, nan

import numpy as np
import pytest
from common import differs

import autograd_cy as ag
from autograd_cy.testing import assert_close

Pair = collections.namedtuple("Pair", "first second")


class Text(str):
    """A str of its own."""


class Floats(np.ndarray):
    """A subclass of arrays."""


def cases(m):
    """name: actual, expected, options; built of the tensors of one library."""
    t = m.tensor
    sub = type("Sub", (m.Tensor,), {})
    a, b = m.arange(6.0).reshape(2, 3), m.arange(6.0).reshape(2, 3) * 1.1
    one, two = m.ones(2), m.tensor([1.0, 1.25])
    huge = t([2**53 + 1]), t([2**53])
    third = t([1 + 2j, 3 - 4j, 0.1 + 0.7j]), t([1.1 + 2j, 3 - 4.3j, 0.1 + 0.9j])
    loops = [1.0, [2, {"x": (3.0, t([1.0, 2.0]))}]], [1.0, [2, {"x": (3.0, t([1.0, 3.0]))}]]
    array_of = np.array
    return {
        # numbers
        "ints": (1, 2, {}), "equal ints": (2, 2, {}), "floats": (1.0, 1.1, {}), "close floats": (1.0, 1.0 + 1e-9, {}),
        "complex numbers": (1 + 1j, 1j, {}), "int, float": (1, 1.0, {}), "int, complex": (2, 1j, {}),
        "int, float as values": (2, 2.0, {"check_dtype": False}), "int, float, not": (2, 3.0, {"check_dtype": False}),
        "to zero": (1.0, 0.0, {}), "to zero, exactly": (1.0, 0, {"check_dtype": False, "rtol": 0, "atol": 0}),
        "infinities": (inf, -inf, {}), "equal infinities": (inf, inf, {}), "one infinite": (1.0, inf, {}),
        "one infinite, coarse": (1.0, inf, {"rtol": 1, "atol": 1}),
        "nan": (nan, nan, {}), "nan equal": (nan, nan, {"equal_nan": True}), "nan, number": (nan, 1.0, {"equal_nan": True}),
        "nan complex": (complex(nan, 1), complex(nan, 2), {}),
        "nan complex equal": (complex(nan, 1), complex(nan, 2), {"equal_nan": True}),
        "inf complex": (complex(inf, 1), complex(inf, 2), {}),
        "at the tolerance": (10, 11, {"rtol": 0, "atol": 1}), "beyond the tolerance": (10, 12, {"rtol": 0, "atol": 1}),
        "relative tolerance": (10.0, 12.0, {"rtol": 0.1, "atol": 0}), "large ints": (2**53 + 1, 2**53, {}),
        "negative tolerance of numbers": (1.0, 1.0, {"rtol": -1, "atol": 0}),
        "numpy numbers": (np.float64(1), np.float64(2), {}), "numpy, python": (1.0, np.float64(2), {}),
        "numpy int": (np.int64(1), 2, {}), "numpy ints": (np.int32(1), np.int64(2), {}),
        "numpy float32": (np.float32(1), np.float32(1.1), {}), "numpy float, int": (np.float64(1), 1, {}),
        "numpy complex": (np.complex64(1), np.complex64(1.1), {}),
        # bools and None
        "bools": (True, False, {}), "equal bools": (True, True, {}), "numpy bool": (np.bool_(True), False, {}),
        "numpy bool, int": (np.bool_(True), 1, {}), "bool, tensor": (True, t(True), {}),
        "None": (None, None, {}), "None, int": (None, 1, {}), "None, tensor": (None, t(1.0), {}),
        "tensor, None": (t(1.0), None, {}), "None, text": (None, "a", {}), "bool, None": (True, None, {}),
        # tensors
        "equal": (a, a, {}), "differ": (a, b, {}), "exactly": (a, b, {"rtol": 0, "atol": 0}),
        "one tolerance": (a, b, {"rtol": 0, "atol": 0.3}), "wide": (a, b, {"rtol": 0.2, "atol": 0}),
        "transposed": (a.T, b.T, {}), "empty": (m.ones(0), m.ones(0), {}), "0-d": (t(1.0), t(1.1), {}),
        "0-d, close": (t(1.0), t(1.0 + 1e-6), {}), "0-d ints": (t(0), t(1), {}), "0-d bools": (t(True), t(False), {}),
        "float16": (one.half(), one.half() * 1.1, {}), "float64": (one.double(), one.double() * 1.1, {}),
        "float16 overflow": (t([60000.0]).half(), t([-60000.0]).half(), {}),
        "float64, close": (one.double(), one.double() + 5e-8, {}), "float64, not": (one.double(), one.double() + 5e-7, {}),
        "complex64": third + ({},), "complex128": (third[0].to(m.complex128), third[1].to(m.complex128), {}),
        "complex infinite": (t([complex(inf, 1)]), t([complex(inf, 2)]), {}),
        "ints of tensors": (t([1, 0, 5]), t([0, 0, 3]), {}), "ints, tolerance": (t([10]), t([11]), {"rtol": 0, "atol": 1}),
        "ints, beyond": (t([10]), t([12]), {"rtol": 0.1, "atol": 0.5}), "large ints of tensors": (*huge, {}),
        "large ints, tolerance": (*huge, {"rtol": 1e-30, "atol": 0}),
        "int64 overflow": (t([2**62]), t([-(2**62)]), {}),
        "int8": (t([100, -128]).to(m.int8), t([-100, 0]).to(m.int8), {}),
        "uint8": (t([1, 7]).to(m.uint8), t([2, 7]).to(m.uint8), {}),
        "uint8, tolerance": (t([1]).to(m.uint8), t([2]).to(m.uint8), {"rtol": 0, "atol": 1}),
        "uint8, tolerance, down": (t([2]).to(m.uint8), t([1]).to(m.uint8), {"rtol": 0, "atol": 1}),
        "bool tensors": (t([True, False]), t([True, True]), {}),
        "bool tensors, tolerance": (t([True]), t([False]), {"rtol": 0, "atol": 1}),
        "bool tensors, beyond": (t([True]), t([False]), {"rtol": 0, "atol": 0.5}),
        "zeros": (t([1.0, 0, 0]), t([0.0, 0, 1]), {}), "large": (m.zeros(1000), m.cat([m.zeros(999), m.ones(1)]), {}),
        "nan in tensors": (t([nan, 1]), t([nan, 1]), {}),
        "nan equal in tensors": (t([nan, 1]), t([nan, 1]), {"equal_nan": True}),
        "nan and another": (t([nan, 1]), t([nan, 2]), {"equal_nan": True}), "nan, inf": (t([nan, 1]), t([inf, 1]), {}),
        "inf in tensors": (t([inf, 1.0, 2.0]), t([2.0, inf, 2.0]), {}), "inf 0-d": (t(inf), t(-inf), {}),
        "nan equal of complex": (t([complex(nan, 1)]), t([complex(nan, 2)]), {"equal_nan": True}),
        "requires grad": (m.ones(2, requires_grad=True), two, {}),
        # attributes
        "shapes": (m.ones(2, 3), m.ones(3, 2), {}), "broadcast": (m.ones(2, 3), m.ones(2, 1), {}),
        "0-d, 1-d": (t(1.0), t([1.0]), {}), "empty shapes": (m.ones(0, 2), m.ones(2, 0), {}),
        "dtypes": (t(1.0), t(1), {}), "shape before dtype": (one, m.ones(3).double(), {}),
        "strides": (m.ones(2, 3), m.ones(3, 2).T, {"check_stride": True}), "any strides": (m.ones(2, 3), m.ones(3, 2).T, {}),
        "stride before dtype": (m.ones(2, 2), m.ones(2, 2).double().T, {"check_stride": True}),
        "promoted": (one, two.double(), {"check_dtype": False}), "promoted, half": (one, two.half(), {"check_dtype": False}),
        "promoted, larger tolerance": (one, (one + 1e-3).half(), {"check_dtype": False}),
        "promoted ints": (t([1, 2]), t([1, 3]).to(m.uint8), {"check_dtype": False}),
        "promoted int, float": (t([1, 2]), t([1.1, 2]), {"check_dtype": False}),
        "promoted int, float16": (t([1.5]), t([1]).to(m.float16), {"check_dtype": False}),
        "promoted to complex": (t([1, 2]), t([1.1, 2]) + 0j, {"check_dtype": False}),
        "promoted bool": (t([True, False]), t([1, 1]), {"check_dtype": False}),
        "subclass": (one.as_subclass(sub), two, {}), "no subclass": (one.as_subclass(sub), one, {"allow_subclasses": False}),
        "one subclass": (one.as_subclass(sub), one.as_subclass(sub), {"allow_subclasses": False}),
        # arrays
        "arrays": (array_of([1.0, 2]), array_of([1.0, 3]), {}), "arrays 0-d": (array_of(1.0), array_of(2.0), {}),
        "array, tensor": (array_of([1.0]), t([1.0]), {}), "array, number": (array_of(1.0), 1.0, {}),
        "array, list": ([1.0], array_of([1.0]), {}), "arrays, dtypes": (array_of([1.0]), array_of([1]), {}),
        "arrays, strides": (np.ones((2, 3)), np.ones((3, 2)).T, {"check_stride": True}),
        "arrays of objects": (array_of([object()]), array_of([object()]), {}),
        "arrays of text": (array_of(["a"]), array_of(["a"]), {}),
        "subclass of arrays": (np.ones(2).view(Floats), np.zeros(2), {}),
        "no subclass of arrays": (np.ones(2).view(Floats), np.zeros(2), {"allow_subclasses": False}),
        # containers
        "lists": ([one, one], [one, two], {}), "lengths": ([1, 2], [1], {}), "list, tuple": ([1, 2], (1, 3), {}),
        "nested lengths": ([[1], [2]], [[1], []], {}), "nested": (*loops, {}), "first failure": ([1, 2], [3, 4], {}),
        "what can't be compared comes first": ([1, "a"], [3, 4], {}), "range": (range(3), [0, 1, 2], {}),
        "namedtuple": (Pair(1, 2), Pair(1, 3), {}), "deque": (collections.deque([1]), [2], {}),
        "array.array": (array.array("d", [1]), array.array("d", [2]), {}), "bytes": (b"ab", b"ac", {}),
        "dicts": ({"a": one, "b": 1}, {"a": one, "b": 2}, {}), "keys": ({"a": 1, "b": 1}, {"a": 1, "c": 2, "d": 2}, {}),
        "nested keys": ({"a": {1: 1}}, {"a": {2: 2}}, {}), "sorted keys": ({3: 1, 1: 1}, {1: 2, 3: 2}, {}),
        "other mappings": (collections.UserDict(a=1), collections.OrderedDict(a=2), {}),
        "tuples as keys": ({1.5: 1, (1, 2): 2}, {1.5: 1, (1, 2): 3}, {}), "list, dict": ([1], {0: 1}, {}),
        "unsortable keys": ({3: 1, "a": 1}, {"a": 2, 3: 1}, {}), "None in lists": ([None], [1], {}),
        "list, tensor": ([1.0, 2.0], t([1.0, 2.0]), {}), "tensor, array in lists": ([t(1.0)], [array_of(1.0)], {}),
        "dtypes in lists": ([t(1.0), t(2)], [t(1.0), t(2.0)], {}),
        # what can't be compared
        "tensor, number": (t(1.0), 1.0, {}), "number, tensor": (1.0, t(1.0), {}), "text": ("a", "a", {}),
        "text in lists": (["a"], ["a"], {}), "text, number": (["a"], [1], {}), "subclass of str": (Text("a"), Text("a"), {}),
        "sets": ({1}, {1}, {}), "Decimal": (decimal.Decimal(1), decimal.Decimal(1), {}), "Ellipsis": (..., ..., {}),
        # options
        "rtol alone": (t(1.0), t(1.0), {"rtol": 1}), "atol alone": (1, 1, {"atol": 1}),
        "rtol alone, None": (None, None, {"rtol": 1}),
        "rtol alone, nothing": ([], [], {"rtol": 1}), "rtol alone, nested": ([[1.0]], [[2.0]], {"rtol": 1}),
        "text of ours": (1, 2, {"msg": "mine"}), "text made of theirs": ([1], [2], {"msg": lambda text: f"mine\n{text}"}),
        "no text": (1, 2, {"msg": ""}), "text, but for the types": (1, "2", {"msg": "mine"}),
        "text, but for the lengths": ([1], [1, 2], {"msg": "mine"}),
        "text, but for the keys": ({1: 1}, {2: 1}, {"msg": "mine"}),
        "text for the attributes": (one, one.double(), {"msg": lambda text: text.upper()}),
        "text for bools": (True, False, {"msg": lambda text: f"{text}!"}), "a text that is none": (1, 2, {"msg": 3}),
    }  # fmt: skip


def outcome(call, *arguments, **options):
    """The error of a call, in words that hold for both libraries."""
    try:
        return call(*arguments, **options)
    except Exception as error:
        text = re.sub(r"<class '(autograd_cy|torch)\.Tensor'>", "<class 'Tensor'>", str(error))
        return type(error), re.sub(r"<class '[\w.]*(<locals>\.)?Sub'>", "<class 'Sub'>", text)


NAMES = list(cases(ag))


@pytest.mark.parametrize("name", NAMES)
def test_pytorch_says_the_same(name):
    torch = pytest.importorskip("torch")
    actual, expected, options = cases(ag)[name]
    theirs_actual, theirs_expected, _ = cases(torch)[name]
    ours = outcome(assert_close, actual, expected, **options)
    assert ours == outcome(torch.testing.assert_close, theirs_actual, theirs_expected, **options)


def test_the_table_has_all_outcomes():
    found = [outcome(assert_close, actual, expected, **options) for actual, expected, options in cases(ag).values()]
    assert {result and result[0] for result in found} == {None, AssertionError, TypeError, ValueError}
    assert 25 < found.count(None) < 60


@pytest.mark.parametrize("arguments", [(1,), (1, 1, True)])
def test_wrong_calls(arguments):
    with pytest.raises(TypeError, match=r"assert_close\(\)"):
        assert_close(*arguments)


@pytest.mark.parametrize(
    ("script", "printed"),
    [
        ("import autograd_cy; print(any('testing' in name for name in sys.modules))", "False"),
        ("import autograd_cy; print(autograd_cy.testing.assert_close(1, 1))", "None"),
        (
            "import autograd_cy; autograd_cy.install_as_torch(); import torch.testing; print(torch.testing.__name__)",
            "torch.testing",
        ),
        (
            "import autograd_cy; autograd_cy.install_as_torch(); from torch.testing import assert_close, make_tensor\n"
            "print(make_tensor.__module__)",
            "torch.testing",
        ),
    ],
)
def test_it_is_imported_when_it_is_asked_for(script, printed):
    run = subprocess.run([sys.executable, "-W", "error", "-c", f"import sys; {script}"], capture_output=True, text=True)
    assert (run.stdout.strip(), run.stderr) == (printed, "")


def test_what_is_missing():
    with pytest.raises(AttributeError, match=r"has no attribute 'FileCheck': PyTorch has it, this package does not \(yet\)"):
        _ = ag.testing.FileCheck


# where PyTorch fails itself: docs/differences.md


@differs("`assert_close` of a bool and a number", "a KeyError in between")
def test_a_bool_is_no_number():
    for other in (1, 1.0):
        with pytest.raises(TypeError, match="No comparison pair was able to handle inputs of type <class 'bool'> and"):
            assert_close(True, other, check_dtype=False)


@differs("of subclasses of int and float", "a KeyError in between")
def test_subclasses_of_numbers_are_numbers():
    number = type("Number", (float,), {})
    assert_close(number(1), 1.0)
    with pytest.raises(AssertionError, match=r"Expected 2.0 but got 1.0\."):
        assert_close(number(1), number(2))


@differs("with negative tolerances", "the same, wrapped")
def test_negative_tolerances():
    with pytest.raises(RuntimeError, match="rtol must be greater than or equal to zero, but got -1"):
        assert_close(ag.ones(1), ag.ones(1), rtol=-1, atol=0)


def test_numbers_too_large_to_subtract():
    with pytest.raises(AssertionError, match="Absolute difference: inf"):
        assert_close(10**400, 1.0, check_dtype=False)


@differs("of arrays with negative strides", "has no tensor of them")
def test_arrays_that_run_backwards():
    assert_close(np.arange(3.0)[::-1], np.array([2.0, 1.0, 0.0]))


def test_the_default_dtype_counts_for_integers():
    torch = pytest.importorskip("torch")
    results = []
    for m in (ag, torch):
        m.set_default_dtype(m.float64)
        try:
            results.append(outcome(m.testing.assert_close, m.tensor([1]), m.tensor([3])))
        finally:
            m.set_default_dtype(m.float32)
    assert results[0] == results[1]
    assert "0.6666666666666666 " in results[0][1]


def test_nothing_is_recorded_and_nothing_changed():
    x = ag.ones(3, requires_grad=True)
    y = x * 2
    assert_close(y, ag.full((3,), 2.0))
    assert x.grad is None and y.grad_fn is not None
    frozen = np.ones(3)
    frozen.flags.writeable = False
    assert_close(frozen, np.ones(3))


def test_no_warnings_of_numpy():
    with pytest.raises(AssertionError):
        assert_close(np.array([1e308, inf, nan, 0.0]), np.array([-1e308, inf, 1.0, 1.0]))
