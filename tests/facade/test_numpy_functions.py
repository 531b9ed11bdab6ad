"""NumPy's functions on tensors, DLPack, buffers: nothing loses a gradient in silence."""

import functools
import io

import numpy as np
import numpy_calls
import pytest
from common import ROOT, leaf
from op_calls import OURS

import autograd_cy as ag
from autograd_cy._core.runtime import once
from autograd_cy._numpy import counterparts
from autograd_cy._numpy._ufuncs import call_of

pytestmark = pytest.mark.skipif(not OURS, reason="PyTorch's tensors lose their history in NumPy's functions, or are refused")

X = np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]])
V = np.array([1.0, -2.0, 0.5])

DIFFERENTIABLE = {name: rest for name, *rest in numpy_calls.calls(numpy_calls.DIFFERENTIABLE)}
REFUSED = {name: rest for name, *rest in numpy_calls.calls(numpy_calls.REFUSED)}


def results(value, count=None):
    """The tensors and arrays of a result, or as many of the first as have a derivative."""
    if isinstance(value, (list, tuple)):
        return [x for part in list(value)[:count] for x in results(part)]
    return [value]


def plain(value):
    return value.detach().numpy() if isinstance(value, ag.Tensor) else np.asarray(value)


def test_every_function_of_numpy_is_known():
    differentiable = {name.partition(" ")[0] for name in numpy_calls.DIFFERENTIABLE}
    known = differentiable | {*numpy_calls.REFUSED, *numpy_calls.CONSTANT, *numpy_calls.OTHERS}
    assert known == numpy_calls.dispatched()
    assert {f"lib.{path}" if path.startswith(("scimath.", "stride_tricks.")) else path for path in counterparts()} <= known


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated")
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_values_are_numpys(name):
    function, array, _ = DIFFERENTIABLE[name]
    ours, theirs = results(function(ag.tensor(array))), results(function(array))
    assert len(ours) == len(theirs)
    for y, expected in zip(ours, theirs, strict=True):
        strict = not name.startswith(("linalg.eig", "linalg.lstsq"))  # complex without need; the rank is an int
        np.testing.assert_allclose(plain(y), expected, rtol=1e-10, atol=1e-12, strict=strict)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_pass(name):
    function, array, count = DIFFERENTIABLE[name]
    x = ag.tensor(array, requires_grad=True)
    value = function(x)
    assert all(isinstance(y, ag.Tensor) and y.requires_grad for y in results(value, count))
    if name.partition(":")[0] in ("round", "around", "fix", "linalg.eig", "intersect1d"):
        return  # steps; eigenvectors up to a factor; what moves away is not in both
    single = not isinstance(value, (list, tuple))
    ag.testing.check_gradients(function if single else lambda x: results(function(x), count), x)


@pytest.mark.parametrize("name", REFUSED)
def test_no_graph_is_cut(name):
    function, array, _ = REFUSED[name]
    with pytest.raises(TypeError, match="requires grad"):
        function(ag.tensor(array, requires_grad=True))
    with ag.no_grad():
        function(ag.tensor(array, requires_grad=True))
    for y, expected in zip(results(function(ag.tensor(array))), results(function(array)), strict=True):
        assert expected is y is None or np.allclose(plain(y), expected)


@pytest.mark.parametrize("call", [
    lambda x: np.spacing(x), lambda x: np.exp(x, where=X > 0), lambda x: np.sqrt(x, out=np.empty(X.shape)),
    lambda x: np.add.at(np.ones(2), [0], x), lambda x: np.interp(x, [0, 1], [0, 1], period=3), lambda x: np.sum([x, x]),
    lambda x: np.frompyfunc(float, 1, 1)(x), lambda x: np.array([x[0, 0]]), lambda x: np.vectorize(float)(x),
    lambda x: np.add(x, None), lambda x: np.zeros(X.shape).__setitem__(..., x), lambda x: np.ones(2).dot(x),
    lambda x: np.asarray(x), lambda x: memoryview(x),
    lambda x: np.from_dlpack(x),
])  # fmt: skip
def test_what_would_cut_the_graph_is_refused(call):
    x = ag.tensor(X, requires_grad=True)
    with pytest.raises((TypeError, RuntimeError, BufferError), match=r"requires? grad"):
        call(x)


@pytest.mark.parametrize("function", [np.sum, np.sort, lambda x: np.roll(x, ag.ones(1)), lambda x: np.add(ag.ones(1), x)])
def test_a_list_that_contains_itself_is_refused(function):
    endless = [ag.ones(1)]
    endless += [endless, endless]
    with pytest.raises(ValueError, match=r"64|inhomogeneous"):
        function(endless)


P = np.abs(X) + 0.5
UFUNCS = sorted({f for f in vars(np).values() if isinstance(f, np.ufunc)}, key=lambda f: f.__name__)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda f: f.__name__)
def test_ufuncs(ufunc):
    """All of NumPy's: their values, and no silent loss of a gradient."""
    floats = any(set(types.partition("->")[0]) == {"d"} for types in ufunc.types)
    if ufunc in (np.isnat, np.ldexp):
        return  # of dates; below
    arrays = ([P + 1, np.abs(V) + 0.5] if floats else [np.array([6, 4]), np.array([2, 3])])[: ufunc.nin]
    if ufunc is np.vecmat or ufunc is np.matvec:
        arrays = [V[:2], X] if ufunc is np.vecmat else [X, V]
    if ufunc in (np.arccos, np.arcsin, np.arctanh):
        arrays = [arrays[0] / 10]
    for k in range(ufunc.nin):
        operands = [ag.tensor(x, requires_grad=floats) if i == k else x for i, x in enumerate(arrays)]
        try:
            ours = ufunc(*operands)
        except TypeError as error:
            assert "requires grad" in str(error) and ufunc is np.spacing
            continue
        for y, expected in zip(results(ours), results(ufunc(*arrays)), strict=True):
            np.testing.assert_allclose(plain(y), expected, rtol=1e-12)
            if floats and plain(y).dtype.kind == "f":
                assert isinstance(y, ag.Tensor) and (y.requires_grad or ufunc in (np.heaviside, np.nextafter))


METHODS = {
    "add": [
        lambda f, x: f.reduce(x), lambda f, x: f.reduce(x, axis=(0, 1), keepdims=True), lambda f, x: f.reduce(x, initial=2.0),
        lambda f, x: f.reduce(x, where=X > 0), lambda f, x: f.accumulate(x, 1), lambda f, x: f.outer(x, V),
        lambda f, x: f.reduceat(x, [0, 2, 1], axis=1), lambda f, x: f(x, V, dtype=np.float64, casting="same_kind"),
    ],
    "multiply": [lambda f, x: f.reduce(x, axis=None), lambda f, x: f.accumulate(x), lambda f, x: f.outer(V, x)],
    "subtract": [lambda f, x: f.reduce(x), lambda f, x: f.accumulate(x, axis=1), lambda f, x: f.outer(x, x)],
    "divide": [lambda f, x: f.reduce(x, axis=-1, keepdims=True), lambda f, x: f.reduceat(x, [0])],
    "maximum": [lambda f, x: f.reduce(x), lambda f, x: f.accumulate(x), lambda f, x: f.reduce(x, 1, initial=0.1)],
    "minimum": [lambda f, x: f.reduce(x, axis=None)], "hypot": [lambda f, x: f.reduce(x)],
    "logaddexp": [lambda f, x: f.reduce(x, axis=1), lambda f, x: f.accumulate(x)], "vecdot": [lambda f, x: f(x, x, axis=0)],
    "matmul": [lambda f, x: f(x, X.T)], "ldexp": [lambda f, x: f(x, [1, 2, 3])], "frexp": [lambda f, x: f(x)[0]],
    "modf": [lambda f, x: f(x + 0.1)[0]], "divmod": [lambda f, x: f(x, V)[1]], "cbrt": [lambda f, x: f(x)],
    "arctan2": [lambda f, x: f(2.0, x)], "heaviside": [lambda f, x: f(2.0, 0.5) * x],
}  # fmt: skip


@pytest.mark.parametrize(("name", "k"), [(name, k) for name, calls in METHODS.items() for k in range(len(calls))])
def test_methods_of_ufuncs(name, k):
    call, ufunc = METHODS[name][k], getattr(np, name)
    x = ag.tensor(X, requires_grad=True)
    y = call(ufunc, x)
    np.testing.assert_allclose(plain(y), call(ufunc, X), rtol=1e-12)
    assert y.requires_grad

    def function(x):
        if x.is_complex() and name in ("maximum", "minimum", "hypot"):
            raise TypeError("NumPy would keep a tensor for ever whose __array_ufunc__ raises")
        return call(ufunc, x)

    ag.testing.check_gradients(function, x)


def test_the_sign_of_nan():
    for array in (np.array([np.nan, -2.0, 0.0, 3.0]), np.array([np.nan, 3 + 4j])):
        x = ag.tensor(array, requires_grad=True)
        np.testing.assert_array_equal(plain(np.sign(x)), np.sign(array))
        np.testing.assert_array_equal(plain(ag.array_api.sign(x)), np.sign(array))
        assert np.sign(x).requires_grad


def test_a_ufunc_of_another_is_not_ours():
    """A ufunc of another library named `add` was taken for NumPy's."""

    class Add:
        __name__ = "add"

        def __call__(self, x, y):
            return x - y

    assert call_of(Add()) is None
    special = pytest.importorskip("scipy.special")
    x = leaf([1.5, 2.5])
    assert special.gammaln(x).requires_grad and special.expit(x).requires_grad
    with pytest.raises(TypeError, match="gamma has no counterpart"):
        special.gamma(x)


@pytest.mark.parametrize("write", [
    lambda t: np.put(t, [0], 1), lambda t: np.place(t, V > 0, [1.0]), lambda t: np.copyto(t, V), lambda t: np.sin(V, out=t),
    lambda t: np.sum(X, axis=0, out=t), lambda t: np.median(X, axis=0, out=t), lambda t: np.spacing(V, out=t),
    lambda t: np.cbrt(V, out=t), lambda t: np.add.at(t, [0, 0], 1.0), lambda t: np.exp(V, out=t, where=V > 0),
    lambda t: np.nan_to_num(t, copy=False), lambda t: np.clip(V, 0, 1, out=t), lambda t: io.BytesIO(bytes(24)).readinto(t),
])  # fmt: skip
def test_writes_are_counted(write):
    """np.put(t, ...), np.spacing(a, out=t) and readinto(t) wrote to saved tensors without an error."""
    t, w = ag.tensor(V), leaf(V)
    y = t * w
    write(t)
    assert t._version > 0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_what_is_written_is_right():
    t = ag.tensor(V)
    assert np.spacing(X[0], out=t) is t and t.tolist() == np.spacing(X[0]).tolist()
    np.add.at(t, [0, 0], 1.0)
    np.putmask(t, V < 0, 7.0)
    array = np.spacing(X[0])
    np.add.at(array, [0, 0], 1.0)
    np.putmask(array, V < 0, 7.0)
    assert t.tolist() == array.tolist()
    x = leaf(V)
    t = ag.zeros(3, dtype=ag.float64)
    np.copyto(t, x, where=V > 0)
    assert t.requires_grad and t.tolist() == [1.0, 0.0, 0.5]


def test_buffers_of_what_a_graph_needs():
    with ag.autograd.graph.guard_buffers():
        x = ag.tensor(V)
        y = x * leaf(V)
        assert memoryview(x).readonly
        with pytest.raises(TypeError, match="read-write"):
            io.BytesIO(bytes(24)).readinto(x)
        del y
        assert not memoryview(x).readonly
    view = memoryview(ag.ones(10**5))
    ag.zeros(10**5)
    assert view[5] == 1  # a view keeps the memory


def test_what_would_lose_a_tangent_is_refused():
    with ag.autograd.forward_ad.dual_level():
        dual = ag.autograd.forward_ad.make_dual(ag.tensor(V), ag.tensor(V))
        assert ag.autograd.forward_ad.unpack_dual(np.sin(dual)).tangent is not None
        assert ag.autograd.forward_ad.unpack_dual(np.median(dual)).tangent is not None
        with pytest.raises(TypeError, match=r"np\.histogram .* has a tangent"):
            np.histogram(dual)
        for share in (np.asarray, memoryview, np.from_dlpack, lambda x: np.array([x])):  # gave arrays
            with pytest.raises((RuntimeError, BufferError), match="tangent"):
                share(dual)


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


def test_dlpack_of_capsules_and_copies():
    x = ag.tensor(V)
    twin = ag.utils.dlpack.from_dlpack(ag.utils.dlpack.to_dlpack(x))
    own = ag.from_dlpack(x, device="cpu", copy=True)
    x[0] = 7
    assert twin[0] == 7 and own[0] == 1
    with pytest.raises(BufferError, match="unsupported device"):
        x.__dlpack__(dl_device=(2, 0))
    assert not np.from_dlpack(ag.from_numpy(np.broadcast_to(V, (2, 3)))).flags.writeable


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
                                   "complex64", "complex128"])  # fmt: skip
def test_dlpack_of_all_types(dtype):
    torch = pytest.importorskip("torch")
    x = ag.ones(2, 3, dtype=getattr(ag, dtype)).t()
    theirs = torch.from_dlpack(x)
    ours = ag.from_dlpack(theirs)
    assert str(theirs.dtype) == str(x.dtype) == str(ours.dtype)
    assert theirs.stride() == x.stride() == ours.stride()
    theirs[0, 0] = 0
    assert not x[0, 0] and not ours[0, 0] and theirs.data_ptr() == x.data_ptr() == ours.data_ptr()
    for shape in ((), (0, 3), (1, 1, 5)):
        assert torch.from_dlpack(ag.zeros(shape)).shape == ag.from_dlpack(torch.zeros(shape)).shape == shape


def test_dlpack_and_jax():
    jax = pytest.importorskip("jax")
    x = ag.tensor([1.0, 2.0])
    assert jax.numpy.from_dlpack(x).tolist() == [1.0, 2.0]
    assert ag.from_dlpack(jax.numpy.arange(3)).tolist() == [0, 1, 2]


def test_dlpack_and_torch():
    torch = pytest.importorskip("torch")
    with pytest.raises(BufferError, match="require gradient"):
        torch.from_dlpack(leaf([1.0]))
    with pytest.raises(BufferError, match="require gradient"):
        ag.from_dlpack(torch.ones(1, requires_grad=True))
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


def test_frombuffer_of_what_is_read_only(monkeypatch):
    monkeypatch.setattr(once, "_given", set())
    with pytest.warns(UserWarning, match="The given buffer is not writable") as given:
        x = ag.frombuffer(b"ab", dtype=ag.uint8)
        ag.frombuffer(b"cd", dtype=ag.uint8)
    assert len(given) == 1
    with pytest.raises((RuntimeError, ValueError), match="read-only"):
        x[0] = 1


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


def test_the_document_names_what_is_refused():
    text = (ROOT / "docs" / "numpy.md").read_text(encoding="utf-8")
    named = text.partition("<!-- refused -->")[2].partition("<!-- end -->")[0]
    partly = {name.partition(" ")[0] for name in numpy_calls.DIFFERENTIABLE}
    assert named.replace("`", "").split() == sorted(set(numpy_calls.REFUSED) - partly)


@pytest.mark.parametrize("array", [
    np.array(2.0), V, X, X[:, None], np.zeros((2, 0)), np.array([True, False]), np.array([3, 1]),
], ids=lambda a: f"{a.dtype}{a.shape}")  # fmt: skip
@pytest.mark.parametrize("axis", [None, 0, -1, (0,), ()], ids=str)
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "max", "all", "any", "nansum", "nanmean", "median", "ptp"])
@pytest.mark.filterwarnings("ignore")  # NumPy's, of what is empty
def test_axes_of_reductions(name, axis, array):
    """axis=() reduced all for some, and axes of 0-d tensors were refused."""
    function = getattr(np, name)
    try:
        expected = function(array, axis=axis, keepdims=True)
    except (ValueError, IndexError, TypeError):
        return
    y = function(ag.tensor(array), axis=axis, keepdims=True)
    np.testing.assert_allclose(plain(y), expected)
    assert plain(y).shape == expected.shape


def test_a_gradient_past_nan():
    """gradient() multiplied what lies between by 0, and nan by that is nan."""
    array = np.array([1.0, np.nan, 3.0, 5.0])
    np.testing.assert_array_equal(plain(np.gradient(ag.tensor(array))), np.gradient(array))


BINARY = [ufunc for ufunc in UFUNCS if ufunc.nin == 2 and ufunc.signature is None]


@pytest.mark.parametrize("ufunc", BINARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("number", [1.5, 2, np.float32(1.5), np.float64(1.5), np.int8(2)], ids=repr)
def test_ufuncs_with_a_number_on_either_side(ufunc, number):
    """np.logaddexp(t, 1.5) refused the number, and np.heaviside(t, np.float32(1)) NumPy's."""
    for array in (np.array([1.0, 0.25, 3.0]), np.array([1, 2, 3])):
        for place in range(2):
            operands = [array, number] if place else [number, array]
            try:
                expected = ufunc(*operands)
            except TypeError:
                continue  # no such loop
            ours = ufunc(*(ag.tensor(x) if x is array else x for x in operands))
            for y, e in zip(results(ours), results(expected), strict=True):
                np.testing.assert_allclose(plain(y), e, rtol=2e-3 if e.dtype == np.float16 else 1e-6)
            if array.dtype == np.float64 and ufunc not in (np.nextafter, np.heaviside) and plain(y).dtype.kind == "f":
                leaf = ag.tensor(array, requires_grad=True)
                assert results(ufunc(*(leaf if x is array else x for x in operands)))[0].requires_grad


def test_functions_that_only_bear_the_name_of_one_of_numpys():
    """Counterparts go by the function itself."""
    def sum(x):
        return "mine"

    sum.__module__ = "numpy"
    x = ag.tensor(X)
    assert x.__array_function__(sum, (ag.Tensor,), (x,), {}) == "mine"
    assert x.__array_function__(np.sum, (ag.Tensor,), (x,), {}).equal(x.sum())
    nameless = functools.partial(sum)
    assert x.__array_function__(nameless, (ag.Tensor,), (x,), {}) == "mine"
    with pytest.raises(TypeError, match="has no counterpart here"):
        leaf = ag.tensor(X, requires_grad=True)
        leaf.__array_function__(nameless, (ag.Tensor,), (leaf,), {})


@pytest.mark.parametrize(("split", "least"), [(np.hsplit, 1), (np.vsplit, 2), (np.dsplit, 3)])
def test_numpy_splits_refuse_too_few_dimensions_as_for_arrays(split, least):
    # an IndexError of the size's tuple
    x = np.ones((2,) * (least - 1))
    for given in (x, ag.tensor(x)):
        with pytest.raises(ValueError, match=f"{split.__name__} only works on arrays of {least} or more dimensions"):
            split(given, 2)
    assert [part.shape for part in split(ag.ones((2,) * least), 2)] == [part.shape for part in split(np.ones((2,) * least), 2)]
