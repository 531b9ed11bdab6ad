"""An op's method and its operator are the op."""

import numpy as np
import pytest
from op_calls import Call, each_sample, to_numpy
from opinfo import OPS

import autograd_cy as ag
from autograd_cy._compat.missing import torch_names


def check_same(row, sample, spelled):
    """`spelled` and the function give the same bits and the same node."""
    call = Call(row, sample, differentiable=row.differentiable)
    expected = call(*call.leaves())
    call.op = spelled
    for y, want in zip(call(*call.leaves()), expected, strict=True):
        np.testing.assert_array_equal(to_numpy(y), to_numpy(want))
        assert type(y.grad_fn) is type(want.grad_fn)


def starts_with_tensor(row, sample) -> bool:
    return isinstance(sample.args[0], np.ndarray)


def is_operator_call(row, sample) -> bool:
    return starts_with_tensor(row, sample) and not sample.kwargs


def double(row) -> tuple[str, ...]:
    return tuple(d for d in row.dtypes + row.forward if d in ("float64", "complex128"))[:1]


METHODS = [row for row in OPS if row.method and not row.path.startswith("nn.")]


@each_sample(METHODS, double, starts_with_tensor)
def test_method(row, sample):
    check_same(row, sample, lambda x, *args, **kwargs: getattr(x, row.name)(*args, **kwargs))


@each_sample([row for row in OPS if row.operator], double, is_operator_call)
def test_operator(row, sample):
    check_same(row, sample, row.operator)


def test_real_and_imag_are_attributes():
    z = ag.tensor([1 + 2j], requires_grad=True)
    assert z.real.tolist() == [1.0] and z.imag.tolist() == [2.0]
    x = ag.tensor([1.0])
    assert x.real is x
    with pytest.raises(RuntimeError, match="imag is not implemented for tensors with non-complex dtypes"):
        x.imag  # noqa: B018


def test_in_place_functions_stand_where_pytorch_has_them():
    functions = torch_names()["torch"]
    methods = {name for name in dir(ag.ones(1)) if name.endswith("_") and not name.startswith("_")}
    methods -= {"resize_as_sparse_"}  # of sparse tensors: there is no function of that name
    assert len(methods & set(functions)) > 20
    assert methods & set(functions) <= set(ag.__all__)


@pytest.mark.parametrize("name", ["abs_", "clamp_", "cos_", "exp_", "neg_", "relu_", "sqrt_", "tanh_", "fill_", "zero_"])
def test_in_place_functions_write_as_the_methods_do(name):
    arguments = {"clamp_": (0.5, 1.0), "fill_": (3.0,)}.get(name, ())
    x, y = (ag.tensor([0.25, 4.0]) for _ in range(2))
    assert getattr(ag, name)(x, *arguments) is x
    assert x.tolist() == getattr(y, name)(*arguments).tolist()
    with pytest.raises(TypeError, match=rf"^{name}\(\) "):
        getattr(ag, name)()
    with pytest.raises(TypeError, match=f"^{name}.*unexpected keyword argument 'out'"):
        getattr(y, name)(*arguments, out=x)
    assert not hasattr(ag, "add_")  # nor has PyTorch
