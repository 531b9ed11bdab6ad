"""Keywords that PyTorch takes besides those of its signatures: NumPy's names of parameters, and `inplace=`."""

import pytest

import autograd_cy as torch

F = torch.nn.functional
x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])

CALLS = {
    "axis": (lambda: torch.sum(x, axis=0), lambda: torch.sum(x, dim=0)),
    "axis of a method": (lambda: x.sum(axis=1), lambda: x.sum(dim=1)),
    "several axes": (lambda: x.amax(axis=(0, 1)), lambda: x.amax(dim=(0, 1))),
    "keepdims": (lambda: x.mean(axis=0, keepdims=True), lambda: x.mean(dim=0, keepdim=True)),
    "a dimension by position": (lambda: x.std(0, keepdims=True), lambda: x.std(0, keepdim=True)),
    "x": (lambda: torch.exp(x=x), lambda: torch.exp(x)),
    "a": (lambda: torch.sum(a=x), lambda: torch.sum(x)),
    "x1, x2": (lambda: torch.add(x1=x, x2=2, alpha=3), lambda: torch.add(x, 2, alpha=3)),
    "cat": (lambda: torch.cat([x, x], axis=1), lambda: torch.cat([x, x], dim=1)),
    "shape": (lambda: torch.reshape(x, shape=(4,)), lambda: x.reshape(4)),
    "shape of a method": (lambda: x.reshape(shape=(4,)), lambda: x.reshape(4)),
    "size of a view": (lambda: x.view(size=(4, 1)), lambda: x.view(4, 1)),
    "size of an expanded tensor": (lambda: x.expand(size=(2, 2, 2)), lambda: x.expand(2, 2, 2)),
    "size to sum to": (lambda: x.sum_to_size(size=(1, 2)), lambda: x.sum_to_size(1, 2)),
    "size of another tensor": (lambda: x.new_ones(size=(2, 3)), lambda: x.new_ones(2, 3)),
    "size, in place": (lambda: x.clone().resize_(size=(1, 2)), lambda: x.clone().resize_(1, 2)),
    "dims": (lambda: torch.permute(x, dims=(1, 0)), lambda: x.permute(1, 0)),
    "dims of a method": (lambda: x.flip(dims=(0,)), lambda: x.flip(0)),
    "split_size": (lambda: x.split(split_size=1)[1], lambda: x.split(1)[1]),
    "axes": (lambda: x[None].swapaxes(axis0=0, axis1=2), lambda: x[None].swapaxes(0, 2)),
    "self": (lambda: torch.pow(self=2, exponent=x), lambda: 2**x),
    "not in place": (lambda: F.relu(x, inplace=False), lambda: F.relu(x)),
    "out": (lambda: torch.sum(x, axis=0, out=torch.empty(2)), lambda: torch.sum(x, dim=0)),
}


@pytest.mark.parametrize("name", CALLS)
def test_another_name(name):
    found, expected = (call() for call in CALLS[name])
    assert found.tolist() == expected.tolist() and found.shape == expected.shape


IN_PLACE = {
    "other": lambda name, y: getattr(x.clone(), name)(other=y),
    "x2": lambda name, y: getattr(x.clone(), name)(x2=y),
    "x1, x2": lambda name, y: getattr(torch.Tensor, name)(x.clone(), x2=y),
}
IN_PLACE_METHODS = "add_ sub_ mul_ div_ true_divide_ floor_divide_ remainder_ fmod_ eq_ lt_ logical_and_ copy_".split()


@pytest.mark.parametrize("spelling", IN_PLACE)
@pytest.mark.parametrize("name", IN_PLACE_METHODS)
def test_another_name_in_place(name, spelling):
    """`copy_(other=y)` was refused."""
    y = torch.tensor([[2.0, 3.0], [-1.0, 0.5]])
    expected = getattr(x.clone(), name)(y)
    found = IN_PLACE[spelling](name, y)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["scatter_", "scatter_add_", "index_add_"])
def test_another_name_of_a_dimension_in_place(name):
    index = torch.tensor([1, 0]) if name == "index_add_" else torch.tensor([[1, 0], [0, 1]])
    source = {"source" if name == "index_add_" else "src": torch.ones(2, 2)}
    expected = getattr(x.clone(), name)(dim=1, index=index, **source)
    assert getattr(x.clone(), name)(axis=1, index=index, **source).tolist() == expected.tolist()


def test_a_size_is_given_once_and_by_its_name():
    for call in (lambda: x.reshape(4, shape=(4,)), lambda: x.view(size=(4,), foo=1), lambda: x.permute(size=(1, 0))):
        with pytest.raises(TypeError):
            call()


def test_gradients_are_those_of_the_usual_call():
    w = torch.ones(2, 2, requires_grad=True)
    torch.prod(w * x, axis=1, keepdims=True).sum().backward()
    assert w.grad.tolist() == [[-2.0, -2.0], [12.0, 12.0]]


@pytest.mark.parametrize("function", [F.relu, F.silu], ids=lambda f: f.__name__)
def test_in_place(function):
    w = torch.tensor([-1.0, 2.0], requires_grad=True)
    y, expected = w * 1, function(w)
    assert function(y, inplace=True) is y
    assert y.tolist() == expected.tolist() and y.grad_fn.name() == expected.grad_fn.name()
    seed = torch.ones(2)
    assert torch.autograd.grad(y, w, seed)[0].tolist() == torch.autograd.grad(expected, w, seed)[0].tolist()


IN_PLACE_BY_POSITION = {
    "relu": (lambda y: F.relu(y, True), F.relu), "silu": (lambda y: F.silu(y, True), F.silu),
    "leaky_relu": (lambda y: F.leaky_relu(y, 0.2, True), lambda y: F.leaky_relu(y, 0.2)),
    "relu_": (F.relu_, F.relu), "leaky_relu_": (F.leaky_relu_, F.leaky_relu),
    "leaky_relu_ with a slope": (lambda y: F.leaky_relu_(y, 0.2), lambda y: F.leaky_relu(y, 0.2)),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_PLACE_BY_POSITION)
def test_in_place_by_position_and_by_name(name):
    """`F.silu(x, True)` was refused, and there was no `F.relu_`."""
    w = torch.tensor([-1.0, 2.0], requires_grad=True)
    call, function = IN_PLACE_BY_POSITION[name]
    y, expected = w * 1, function(w)
    assert call(y) is y
    assert y.tolist() == expected.tolist()
    assert torch.autograd.grad(y.sum(), w)[0].tolist() == torch.autograd.grad(expected.sum(), w)[0].tolist()


@pytest.mark.parametrize("call", [lambda x: F.silu(x, False), lambda x: F.leaky_relu(x, 0.01, False)])
def test_not_in_place_by_position(call):
    w = torch.tensor([-1.0, 2.0])
    assert call(w) is not w and w.tolist() == [-1.0, 2.0]


def test_a_leaf_is_not_written_in_place():
    w = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        F.relu(w, inplace=True)
    assert w.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.exp(x, axis=0),
        lambda: torch.sum(x, axis=0, dim=0),
        lambda: torch.exp(x, x=x),
        lambda: torch.exp(x, inplace=True),
        lambda: torch.sum(x, axis="a"),
        lambda: torch.sum(x, axes=0),
        lambda: x.clone().add_(1, axis=0),
        lambda: x.clone().copy_(src=x),
        lambda: F.silu(x, True, True),
        lambda: F.silu(x, True, inplace=True),
        lambda: F.leaky_relu(x, True, 0.1),
        lambda: torch.tanh(x, True),
    ],
)
def test_what_fits_in_no_way(call):
    with pytest.raises(TypeError):
        call()
