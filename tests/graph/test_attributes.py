"""Attributes of a tensor: which can be read, set and deleted, and as what; the same in PyTorch."""

from collections import OrderedDict

import pytest
from common import IS_TORCH, run_script

import autograd_cy as torch

TENSORS = {
    "constant": lambda: torch.ones(2),
    "leaf": lambda: torch.ones(2, requires_grad=True),
    "result": lambda: torch.ones(2, requires_grad=True) * 2,
    "integers": lambda: torch.tensor([1, 2]),
}
VALUES = {"None": None, "5": 5, "True": True, "a tensor": torch.ones(2)}
BOOL = (RuntimeError, "requires_grad must be a bool")
NOT_TENSOR = (TypeError, "assigned grad expected to be a Tensor or None but got grad of type")
ONLY_NONE = (RuntimeError, "_grad_fn can be only set to None")
DTYPE = (RuntimeError, "grad_dtype must be a torch.dtype or None, but got")
LEAVES = (RuntimeError, "you can only change requires_grad flags of leaf variables")
FIXED = (AttributeError, "not writable|no setter|no deleter|can't set|can't delete")

# What setting to each of VALUES, and deleting, gives: an error, or what is read afterwards. A callable says it by tensor.
EXPECTED = {
    "data": {"None": (TypeError, "Variable data has to be a tensor, but got NoneType"),
             "5": (TypeError, "Variable data has to"),
             "True": (TypeError, "Variable data has to"), "a tensor": [1.0, 1.0],
             "del": (RuntimeError, "Deleting tensor data is not allowed. Delete tensor instead!")},
    "requires_grad": {"None": BOOL, "5": BOOL, "a tensor": BOOL, "del": BOOL, "True": lambda kind: {
        "integers": (RuntimeError, "only Tensors of floating point and complex dtype can require gradients"),
        "result": LEAVES}.get(kind, True)},
    "grad": {"None": None, "5": NOT_TENSOR, "True": NOT_TENSOR, "del": None, "a tensor": lambda kind: (
        (RuntimeError, "attempting to assign a gradient with dtype 'float' to a tensor with grad_dtype")
        if kind == "integers" else [1.0, 1.0])},
    "_grad_fn": {"None": None, "5": ONLY_NONE, "True": ONLY_NONE, "a tensor": ONLY_NONE,
                 "del": (RuntimeError, "Deletion of _grad_fn not allowed. Detach tensor instead!")},
    "_backward_hooks": {"None": None, "del": (RuntimeError, "Deletion of _backwards?_hooks not allowed!")},
    "_post_accumulate_grad_hooks": {
        "None": None, "del": (RuntimeError, "Deletion of _post_accumulate_grad_hooks not allowed!")},
    "grad_dtype": {"5": DTYPE, "True": DTYPE, "a tensor": DTYPE, "None": lambda kind: (
        (RuntimeError, "grad_dtype can only be set on leaf tensors.") if kind == "result" else None)},
}  # fmt: skip
EXPECTED["_grad"] = EXPECTED["grad"]
for _name in ("grad_fn", "is_leaf", "output_nr", "_version", "_base", "shape", "dtype", "device", "T", "mT", "ndim"):
    EXPECTED[_name] = dict.fromkeys([*VALUES, "del"], FIXED)

CASES = [(name, value, kind) for name, by_value in EXPECTED.items() for value in by_value for kind in TENSORS]


def change(x, name, value):
    if value == "del":
        delattr(x, name)
    else:
        setattr(x, name, VALUES[value])


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
@pytest.mark.parametrize(("name", "value", "kind"), CASES)
def test_setting_and_deleting(name, value, kind):
    x, expected = TENSORS[kind](), EXPECTED[name][value]
    expected = expected(kind) if callable(expected) else expected
    before = x.requires_grad, x.is_leaf
    if isinstance(expected, tuple):
        with pytest.raises(expected[0], match=expected[1]):
            change(x, name, value)
        assert (x.requires_grad, x.is_leaf) == before
    else:
        change(x, name, value)
        found = getattr(x, name)
        assert (found.tolist() if isinstance(found, torch.Tensor) else found) == expected


def test_grad_fn_set_to_none_detaches():
    x = torch.ones(2, requires_grad=True) * 2
    assert x._grad_fn is x.grad_fn
    x._grad_fn = None
    assert x.is_leaf and not x.requires_grad


def test_an_attribute_of_ones_own():
    x = torch.ones(1)
    x.mine = 3
    assert x.mine == 3
    del x.mine
    assert not hasattr(x, "mine")


# hooks as an attribute


def test_hooks_are_given_as_a_dict():
    x = torch.ones(2, requires_grad=True)
    x._backward_hooks = {1: lambda g: g * 3}
    (x * 2).sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]
    x._backward_hooks = None
    (x * 2).sum().backward()
    assert x.grad.tolist() == [8.0, 8.0] and not x._backward_hooks


@pytest.mark.skipif(IS_TORCH, reason="PyTorch takes anything, and crashes when it is called")
def test_hooks_that_are_none_are_refused():
    for wrong in (5, [print], {1: 2}):
        with pytest.raises(TypeError):
            torch.ones(2, requires_grad=True)._backward_hooks = wrong


def test_hooks_wait_on_a_tensor_without_gradient():
    """The dict was dropped, and `_backward_hooks` stayed None."""
    x, hooks = torch.ones(2), OrderedDict()
    x._backward_hooks = None
    assert x._backward_hooks is None
    x._backward_hooks = hooks
    assert x._backward_hooks is hooks
    x._backward_hooks["mine"] = lambda g: g * 3
    (x * torch.ones(2, requires_grad=True)).sum().backward()
    assert x.grad is None
    x.requires_grad_()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [6.0, 6.0] and list(hooks) == ["mine"]


def test_post_accumulate_hooks_are_given_as_a_dict():
    x, seen = torch.ones(2, requires_grad=True), []
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append("first"))
    x._post_accumulate_grad_hooks = None
    (x * 2).sum().backward()
    assert seen == []


# grad_dtype


def test_grad_dtype_by_default():
    assert torch.ones(2).grad_dtype is torch.float32 and torch.tensor([1]).grad_dtype is torch.int64
    with pytest.raises(RuntimeError, match=r"grad_dtype can only be accessed on leaf tensors"):
        TENSORS["result"]().grad_dtype  # noqa: B018


def test_gradients_come_in_grad_dtype():
    x, seen = torch.ones(2, requires_grad=True), []
    x.grad_dtype = torch.float64
    x.register_hook(lambda g: seen.append(g.dtype))
    assert torch.autograd.grad((x * 2).sum(), x)[0].dtype is torch.float64
    for _ in range(2):
        (x * 2).sum().backward()
    assert x.grad.dtype is torch.float64 and x.grad.tolist() == [4.0, 4.0] and set(seen) == {torch.float64}
    x.grad = None
    (g,) = torch.autograd.grad((x * x).sum(), x, create_graph=True)
    g.sum().backward()
    assert g.dtype is x.grad.dtype is torch.float64 and x.grad.tolist() == [2.0, 2.0]


def test_any_grad_dtype():
    x = torch.ones(2, requires_grad=True)
    x.grad_dtype = None
    x.grad = torch.ones(2, dtype=torch.float64)
    (x * 2).sum().backward()
    assert x.grad_dtype is None and x.grad.dtype is torch.float64 and x.grad.tolist() == [3.0, 3.0]


def test_a_gradient_that_is_there_keeps_its_type():
    """The bytes of one type were added as those of the other."""
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    x.data = x.data.double()
    (x * 2).sum().backward()
    assert x.grad.dtype is torch.float32 and x.grad.tolist() == [4.0, 4.0]


def test_a_grad_dtype_that_the_gradient_has_not():
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(2)
    with pytest.raises(RuntimeError, match="because there is already a gradient with dtype"):
        x.grad_dtype = torch.float64
    assert x.grad_dtype is torch.float32
    x.grad = None
    x.grad_dtype = torch.float64
    with pytest.raises(RuntimeError, match=r"to a tensor with grad_dtype '[dD]ouble'"):
        x.grad = torch.ones(2)


# warnings that are given once, and what stands in torch._C

COUNT = """
import warnings
def count(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(); call()
    return len(caught)
def cycle():
    x = torch.ones(1, requires_grad=True)
    (x * x).backward(create_graph=True)
    x.grad = None
def number():
    float(torch.ones(1, requires_grad=True))
def cast():
    assert torch.tensor([1 + 2j]).to(torch.float32).tolist() == [1]
    torch.tensor([1 + 2j]).to(torch.bool), torch.tensor([], dtype=torch.complex64).float()
def reverse():
    torch.ones(2, 3).T, torch.ones(2, 3, 4).T
def reverse_nothing():
    torch.tensor(1.0).T
def transpose_nothing():
    torch.tensor(1.0).mT
for call in (cycle, number, cast, reverse, reverse_nothing, transpose_nothing):
    print(torch.is_warn_always_enabled(), count(call))
    torch.set_warn_always(True)
    print(torch.is_warn_always_enabled(), count(call))
    torch.set_warn_always(False)
    print(count(call))
"""


def test_warnings_are_given_once_or_always():
    """Casts of complex numbers to real ones, and `.T` of other tensors than matrices, didn't warn."""
    assert run_script(COUNT) == ["False", "1", "True", "2", "0"] * 6


CASTS = [
    lambda z: z.float(), lambda z: z.int(), lambda z: torch.zeros(2).copy_(z),
    lambda z: torch.zeros(2).__setitem__(slice(2), z), lambda z: torch.zeros(2).__setitem__(0, z[0]),
    lambda z: torch.zeros(2).fill_(z[0]), lambda z: z.type(torch.float64), lambda z: torch.as_tensor(z, dtype=torch.float32),
    lambda z: z.sum(dtype=torch.float32), lambda z: torch.mean(z, 0, dtype=torch.float64),
]  # fmt: skip


@pytest.fixture
def warn_always():
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


@pytest.mark.parametrize("cast", CASTS)
def test_each_cast_to_real_numbers_warns(cast, warn_always):
    with pytest.warns(UserWarning, match="^Casting complex values to real discards the imaginary part") as caught:
        cast(torch.tensor([1j, 2]))
    assert [warning.filename for warning in caught] == [__file__]


def test_gradients_of_real_tensors_do_not_warn(warn_always):
    x = torch.ones(2, requires_grad=True)
    z = torch.tensor([1j, 2])
    for y in (x.to(torch.complex64) * z, x * z, x + z):
        y.sum().abs().backward()


@pytest.mark.parametrize(("shape", "text"), [
    ((), "Tensor.T is deprecated on 0-D tensors"), ((3,), "The use of `x.T` on tensors of dimension other than 2"),
    ((2, 3, 4), "The use of `x.T` on tensors of dimension other than 2"),
])  # fmt: skip
def test_reversed_dimensions_of_other_tensors_than_matrices(shape, text, warn_always):
    with pytest.warns(UserWarning, match=f"^{text}") as caught:
        assert torch.ones(shape).T.shape == shape[::-1]
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("values", [3.0, [1.0, 2.0], [[1.0, 2.0], [3.0, 4.0]]])
def test_a_tensor_is_reversed_along_its_first_dimension(values):
    """It was Python's iterator over it, and an error for a 0-d tensor."""
    x = torch.tensor(values, requires_grad=True)
    y = reversed(x)
    assert y.tolist() == (values[::-1] if isinstance(values, list) else values)
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == torch.ones_like(x).tolist()


def test_set_warn_always_wants_a_bool():
    with pytest.raises((TypeError, RuntimeError), match="setWarnOnlyOnce expects a bool, but got int"):
        torch.set_warn_always(1)


def test_weak_tensor_references():
    x = torch.ones(2)
    reference = torch._C._WeakTensorRef(x)
    assert not reference.expired()
    del x
    assert reference.expired()
    with pytest.raises(TypeError):
        torch._C._WeakTensorRef(3)


def test_modes_are_asked_of_c():
    assert torch._C.is_grad_enabled() and not torch._C.is_inference_mode_enabled()
    with torch.no_grad():
        assert not torch._C.is_grad_enabled()


def test_a_tensor_of_64_dimensions_has_a_text():
    text = repr(torch.ones([1] * 64))
    assert text == "tensor(" + "[" * 64 + "1." + "]" * 64 + ")"


def test_a_view_of_the_last_dimensions_of_a_vector_is_refused():
    with pytest.raises(RuntimeError, match=r"tensor\.mT is only supported on matrices or batches of matrices\."):
        torch.ones(3).mT  # noqa: B018


def test_there_is_no_gpu():
    assert torch.ones(1).is_cuda is False
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        torch.ones(1).cuda()
