"""NumPy's functions on tensors, DLPack, buffers: nothing loses a gradient in silence."""

import numpy as np
import pytest
from common import leaf
from op_calls import OURS

import autograd_cy as ag

pytestmark = pytest.mark.skipif(not OURS, reason="PyTorch's tensors lose their history in NumPy's functions, or are refused")

X = np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]])
V = np.array([1.0, -2.0, 0.5])

FUNCTIONS = {
    "sin": np.sin, "exp": np.exp, "negative": np.negative, "absolute": np.absolute, "square": np.square, "tanh": np.tanh,
    "add": lambda x: np.add(x, V), "radd": lambda x: np.add(V, x), "multiply": lambda x: np.multiply(x, x),
    "divide": lambda x: np.divide(V, x), "power": lambda x: np.power(x, 2), "maximum": lambda x: np.maximum(x, V),
    "operator": lambda x: V * x - V / x, "sum": np.sum, "sum axis": lambda x: np.sum(x, axis=1, keepdims=True),
    "mean": lambda x: np.mean(x, 0), "std": lambda x: np.std(x, axis=1), "var": lambda x: np.var(x, ddof=1),
    "prod": lambda x: np.prod(x, axis=0), "max": lambda x: np.max(x, axis=1), "amin": lambda x: np.amin(x),
    "add.reduce": np.add.reduce, "add.accumulate": lambda x: np.add.accumulate(x, axis=1), "cumsum": np.cumsum,
    "concatenate": lambda x: np.concatenate([x, X], axis=1), "flat": lambda x: np.concatenate([x, x], axis=None),
    "stack": lambda x: np.stack([x, X]), "where": lambda x: np.where(X > 0, x, 0.0), "clip": lambda x: np.clip(x, -1, 1),
    "transpose": np.transpose, "swapaxes": lambda x: np.swapaxes(x, 0, 1), "reshape": lambda x: np.reshape(x, (3, 2)),
    "ravel": np.ravel, "expand_dims": lambda x: np.expand_dims(x, 1), "squeeze": lambda x: np.squeeze(x[:, None]),
    "flip": np.flip, "roll": lambda x: np.roll(x, 1), "broadcast_to": lambda x: np.broadcast_to(x, (2, 2, 3)),
    "dot": lambda x: np.dot(x, V), "matmul": lambda x: np.matmul(X.T, x), "einsum": lambda x: np.einsum("ij,j->i", x, V),
    "norm": np.linalg.norm, "norm axis": lambda x: np.linalg.norm(x, axis=1), "copy": np.copy, "diagonal": np.diagonal,
    "fft": lambda x: np.fft.fft(x).real,
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name):
    function = FUNCTIONS[name]
    x = ag.tensor(X, requires_grad=True)
    y = function(x)
    np.testing.assert_allclose(y.detach().numpy(), function(X), rtol=1e-12)
    assert y.requires_grad
    ag.testing.check_gradients(function, x)


@pytest.mark.parametrize("call", [
    lambda x: np.median(x), lambda x: np.percentile(x, 50), lambda x: np.modf(x), lambda x: np.multiply.outer(x, x),
    lambda x: np.exp(x, where=X > 0), lambda x: np.sqrt(x, out=np.empty(X.shape)), lambda x: np.add.at(np.ones(2), [0], x),
    lambda x: np.interp(x, [0, 1], [0, 1]), lambda x: np.sum([x, x]), lambda x: np.asarray(x), lambda x: memoryview(x),
    lambda x: np.from_dlpack(x),
])  # fmt: skip
def test_what_would_cut_the_graph_is_refused(call):
    x = ag.tensor(X, requires_grad=True)
    with pytest.raises((TypeError, RuntimeError, BufferError), match=r"requires? grad"):
        call(x)


def test_what_would_lose_a_tangent_is_refused():
    with ag.autograd.forward_ad.dual_level():
        dual = ag.autograd.forward_ad.make_dual(ag.tensor(V), ag.tensor(V))
        assert ag.autograd.forward_ad.unpack_dual(np.sin(dual)).tangent is not None
        with pytest.raises(TypeError, match=r"np\.median .* has a tangent"):
            np.median(dual)


def test_arrays_in_place():
    array = np.ones(3)
    array += ag.tensor(V)
    assert type(array) is np.ndarray and array.tolist() == (V + 1).tolist()
    with pytest.raises(TypeError, match="requires grad"):
        array += leaf([1.0, 2.0, 3.0])


def test_what_has_no_derivative_is_answered():
    x = leaf(X)
    assert np.shape(x) == (2, 3) and np.ndim(x) == 2 and np.size(x) == 6
    assert np.allclose(x, X) and np.array_equal(x, X) and np.argsort(x).tolist() == np.argsort(X).tolist()
    assert np.isnan(x).tolist() == [[False] * 3] * 2 and np.median(x.detach()) == np.median(X)


def test_within_transforms():
    assert ag.func.grad(lambda x: np.sum(np.sin(x)))(ag.tensor(V)).tolist() == np.cos(V).tolist()
    assert ag.func.vmap(lambda x: np.sum(x * x))(ag.tensor(X)).tolist() == pytest.approx((X * X).sum(1).tolist())


def test_dlpack_shares_memory():
    x = ag.tensor(V)
    array, twin = np.from_dlpack(x), ag.from_dlpack(x)
    x[0] = 7
    assert array[0] == 7 and twin[0] == 7
    array = V.copy()
    t = ag.from_dlpack(array)
    t[1] = 5
    assert array[1] == 5 and x.__dlpack_device__() == array.__dlpack_device__()
    with pytest.raises(BufferError, match="Can't export tensors that require gradient"):
        leaf(1.0).__dlpack__()
    with pytest.raises(TypeError, match="__dlpack__"):
        ag.from_dlpack([1.0])


def test_dlpack_and_torch():
    torch = pytest.importorskip("torch")
    theirs = torch.ones(2, 3).t()
    ours = ag.from_dlpack(theirs)
    ours.fill_(3)
    assert theirs.sum() == 18 and ours.stride() == theirs.stride()
    x = ag.tensor(X)
    torch.from_dlpack(x).zero_()
    assert x.tolist() == [[0.0] * 3] * 2


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float64", "complex64"])
def test_memoryview(dtype):
    x = ag.ones(2, 3, dtype=getattr(ag, dtype)).t()
    view = memoryview(x)
    assert view.shape == (3, 2) and view.strides == tuple(s * x.itemsize for s in x.stride())
    np.asarray(view)[0, 0] = 0
    assert x.tolist()[0][0] == 0
    assert memoryview(ag.tensor(3)).shape == ()


def test_frombuffer():
    data = bytearray(b"\x01\x02\x03\x04\x05\x06\x07\x08")
    x = ag.frombuffer(data, dtype=ag.uint8, count=3, offset=2)
    data[2] = 9
    assert x.tolist() == [9, 4, 5]
    assert ag.frombuffer(data, dtype=ag.float32, requires_grad=True).requires_grad
    for options, text in [
        ({"offset": 9}, "no greater than buffer length"), ({"count": 5}, "requested buffer length"),
        ({"offset": 1}, "must be a multiple of element size"), ({"count": 0}, "must not be 0"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=text):
            ag.frombuffer(data, dtype=ag.int32, **options)
    with pytest.raises(ValueError, match="does not implement Python buffer protocol"):
        ag.frombuffer(3, dtype=ag.int32)
