"""What elementwise operations say of types that they don't take: PyTorch's class and text. An in-place operation looks
first whether the result fits in."""

import re

import pytest
from common import IS_TORCH

import autograd_cy as torch

TYPES = ["bool", "uint8", "int64", "float16", "float32", "float64", "complex64"]
BITS = ["and", "or", "xor", "left_shift", "right_shift"]


def made(module, what):
    return module.ones(2, dtype=getattr(module, what)) if isinstance(what, str) else what


# PyTorch 2.13's
REFUSALS = [
    (
        lambda: ones("int64").bitwise_and_(ones("float32")),
        RuntimeError,
        "result type Float can't be cast to the desired output type Long",
    ),
    (lambda: ones("bool").__ior__(2.5), RuntimeError, "result type Float can't be cast to the desired output type Bool"),
    (
        lambda: ones("float32").__ixor__(ones("float64")),
        NotImplementedError,
        "\"bitwise_xor_cpu\" not implemented for 'Double'",
    ),
    (lambda: ones("int64").__ilshift__(1.5), RuntimeError, "result type Float can't be cast to the desired output type Long"),
    (lambda: ones("float64").bitwise_right_shift_(2), NotImplementedError, "\"rshift_cpu\" not implemented for 'Double'"),
    (lambda: ones("float32") & 1, NotImplementedError, "\"bitwise_and_cpu\" not implemented for 'Float'"),
    (lambda: 1 << ones("float32"), NotImplementedError, "\"lshift_cpu\" not implemented for 'Float'"),
    (lambda: ~ones("float32"), TypeError, "~ (operator.invert) is only implemented on integer and Boolean-type tensors"),
    (lambda: ones("float32").bitwise_not(), NotImplementedError, "\"bitwise_not_cpu\" not implemented for 'Float'"),
    (
        lambda: ones("int64").remainder_(1j),
        RuntimeError,
        "result type ComplexFloat can't be cast to the desired output type Long",
    ),
    (lambda: ones("complex64").fmod_(2), NotImplementedError, "\"fmod_cpu\" not implemented for 'ComplexFloat'"),
    (lambda: ones("bool") // True, NotImplementedError, "\"div_floor_cpu\" not implemented for 'Bool'"),
    (lambda: ones("float32").gt_(1j), NotImplementedError, "\"gt_cpu\" not implemented for 'ComplexFloat'"),
    (lambda: ones("bool").pow(ones("bool")), NotImplementedError, "\"pow\" not implemented for 'Bool'"),
    (lambda: -ones("bool"), RuntimeError, "Negation, the `-` operator, on a bool tensor is not supported."),
    (lambda: ones("bool").abs(), NotImplementedError, "\"abs_cpu\" not implemented for 'Bool'"),
    (lambda: ones("complex64").abs_(), RuntimeError, "In-place abs is not supported for complex tensors."),
    (lambda: ones("bool").relu_(), RuntimeError, "Boolean inputs not supported for relu"),
    (lambda: torch.maximum(ones("complex64"), ones("bool")), RuntimeError, "maximum not implemented for complex tensors."),
    (lambda: ones("complex64").clamp(0), NotImplementedError, "clamp is not supported for complex types"),
    (lambda: torch.nn.functional.gelu(ones("int64")), NotImplementedError, "\"GeluKernelImpl\" not implemented for 'Long'"),
]


def ones(dtype):
    return made(torch, dtype)


@pytest.mark.parametrize("call, exception, text", REFUSALS, ids=[str(k) for k in range(len(REFUSALS))])
def test_refusals(call, exception, text):
    """`ints &= floats` was a NotImplementedError of our own."""
    with pytest.raises(exception, match=f"^{re.escape(text)}"):
        call()


@pytest.mark.skipif(IS_TORCH, reason="what the package says besides")
@pytest.mark.parametrize(("name", "call"), [
    ("nn.functional.gelu", lambda: torch.nn.functional.gelu(ones("int64"))),
    ("nn.functional.gelu", lambda: torch.nn.functional.gelu(ones("bool"), approximate="tanh")),
    ("nn.functional.gelu", lambda: torch.nn.functional.gelu(1)), ("pow", lambda: ones("bool").pow(ones("bool"))),
    ("div", lambda: torch.div(ones("complex64"), 2, rounding_mode="trunc")), ("remainder", lambda: ones("complex64") % 2),
    ("div", lambda: torch.div(ones("int64"), 0, rounding_mode="trunc")), ("remainder", lambda: ones("int64") % 0),
    ("fmod", lambda: ones("complex64").fmod(2)), ("fmod", lambda: ones("int64").fmod(0)),
    ("floor_divide", lambda: ones("int64") // 0),
])  # fmt: skip
def test_functions_are_called_by_their_public_names(name, call):
    """gelu(ints) said that gelu_erf() was not implemented."""
    with pytest.raises((RuntimeError, TypeError)) as found:
        call()
    assert re.findall(r"(\w+)\(\)", str(found.value)) == [name.rpartition(".")[2]]


def test_nothing_is_written():
    x = ones("int64")
    with pytest.raises(RuntimeError):
        x &= ones("float32")
    assert x.tolist() == [1, 1] and x._version == 0


CALLS = [f"bitwise_{bits}{end}" for bits in BITS for end in ("", "_")]
OPERATORS = [
    f"__{prefix}{name}__" for name in ("and", "or", "xor", "lshift", "rshift", "mod", "floordiv") for prefix in ("", "i")
]
OTHERS = ["remainder", "remainder_", "fmod", "fmod_", "floor_divide", "floor_divide_", "gt", "gt_", "le", "le_", "eq_", "mul_"]


def outcome(module, name, left, right):
    try:
        return str(getattr(made(module, left), name)(made(module, right)).dtype)
    except (RuntimeError, NotImplementedError) as error:
        return f"{type(error).__name__}: {error}".partition(" (")[0]


@pytest.mark.skipif(IS_TORCH, reason="against PyTorch")
@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize("name", [*CALLS, *OPERATORS, *OTHERS])
def test_refusals_are_those_of_pytorch(name):
    theirs = pytest.importorskip("torch")
    for left in TYPES:
        for right in [*TYPES, True, 2, 2.5, 1j]:
            if left == "float16" and right == 1j:
                continue  # complex64 here: "float16 beside complex numbers" in docs/differences.md
            assert outcome(torch, name, left, right) == outcome(theirs, name, left, right), (left, right)
