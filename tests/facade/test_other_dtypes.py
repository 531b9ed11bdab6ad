"""dtypes that no tensor has here: code compares with them, and asks what they are. To make a tensor of one is an error."""

import copy
import pickle

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._core.arrays.dtypes import other_dtypes
from autograd_cy._core.ops.operations import OPS

NAMES = [dtype.name for dtype in other_dtypes()]
TAKING_A_DTYPE = [op for op in OPS.values() if "dtype" in op.function.__code__.co_varnames]
ASKED = ["itemsize", "is_floating_point", "is_complex"]


def test_they_are_the_other_dtypes_of_pytorch():
    torch = pytest.importorskip("torch")
    named = {str(d).removeprefix("torch.") for d in vars(torch).values() if isinstance(d, torch.dtype)}
    assert set(NAMES) == named - {d.name for d in vars(ag).values() if isinstance(d, ag.dtype) and d.name not in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_what_they_say_is_what_pytorch_says(name):
    theirs = getattr(pytest.importorskip("torch"), name)
    ours = getattr(ag, name)
    assert repr(ours) == repr(theirs) == str(ours)
    assert [getattr(ours, asked) for asked in ASKED] == [getattr(theirs, asked) for asked in ASKED]
    if not name.startswith(("bits", "q")):  # PyTorch knows no sign of them
        assert ours.is_signed == theirs.is_signed and str(ours.to_real()) == str(theirs.to_real())
    if name == "complex32":
        assert str(ours.to_complex()) == str(theirs.to_complex())


@pytest.mark.parametrize("name", NAMES)
def test_they_compare_and_copy(name):
    dtype = getattr(ag, name)
    assert isinstance(dtype, ag.dtype) and type(dtype) is ag.dtype
    assert dtype == dtype and dtype != ag.float32 and dtype not in (ag.float16, ag.float64, np.float64, None, name)
    assert len({dtype, ag.float32, getattr(ag, name)}) == 2
    assert (dtype == np.dtype("float64")) is False
    assert pickle.loads(pickle.dumps(dtype)) is copy.deepcopy(dtype) is dtype
    assert ag.ones(2).dtype != dtype


@pytest.mark.parametrize("name", NAMES)
def test_a_tensor_of_one_is_refused(name):
    dtype, x = getattr(ag, name), ag.ones(2)
    calls = [
        lambda: ag.ones(2, dtype=dtype), lambda: ag.tensor([1.0], dtype=dtype), lambda: ag.arange(2, dtype=dtype),
        lambda: x.to(dtype), lambda: x.type(dtype), lambda: x.view(dtype), lambda: x.new_ones(2, dtype=dtype),
        lambda: x.sum(dtype=dtype), lambda: ag.nn.Linear(2, 2, dtype=dtype), lambda: ag.nn.Linear(2, 2).to(dtype),
        lambda: ag.set_default_dtype(dtype), lambda: ag.can_cast(dtype, ag.float32),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(NotImplementedError, match=rf"^torch\.{name}: PyTorch has tensors of this dtype, .* does not"):
            call()
    text = "^Promotion for Float8 Types is not supported" if name.startswith("float8") else "PyTorch has tensors of this dtype"
    for pair in ((dtype, ag.float32), (ag.float32, dtype)):
        with pytest.raises(RuntimeError, match=text):
            ag.promote_types(*pair)


@pytest.mark.filterwarnings("ignore:Implicit dimension choice")
@pytest.mark.parametrize("op", TAKING_A_DTYPE, ids=lambda op: op.name)
def test_no_operation_takes_one(op):
    with pytest.raises((NotImplementedError, TypeError, RuntimeError, ValueError, IndexError)):
        op.function(ag.ones(2, 2), dtype=ag.float8_e5m2)


def test_a_gradient_of_one_is_refused():
    x = ag.ones(2, requires_grad=True)
    with pytest.raises(NotImplementedError, match="float8"):
        x.grad_dtype = ag.float8_e5m2


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith(("complex32", "float8"))])
def test_their_limits(name):
    torch = pytest.importorskip("torch")
    ours, theirs = ag.finfo(getattr(ag, name)), torch.finfo(getattr(torch, name))
    for asked in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "dtype"):
        assert getattr(ours, asked) == getattr(theirs, asked), asked
    assert ours.resolution == pytest.approx(theirs.resolution)
