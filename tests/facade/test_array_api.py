"""autograd_cy.array_api against the Array API standard: names, signatures, and array_api_strict's results, if installed."""

import inspect
import operator

import numpy as np
import pytest
from array_api_calls import CALLS, FUNCTIONS, MADE, SQUARE
from common import leaf
from op_calls import OURS

import autograd_cy as ag

pytestmark = pytest.mark.skipif(not OURS, reason="PyTorch has no namespace of the standard")

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "float32", "float64", "complex64", "complex128"]


@pytest.fixture(scope="module")
def xp():
    return ag.ones(1).__array_namespace__()


@pytest.fixture(scope="module")
def strict():
    module = pytest.importorskip("array_api_strict")
    module.set_array_api_strict_flags(api_version="2024.12")
    return module


@pytest.mark.parametrize("name", FUNCTIONS)
def test_names_and_signatures(xp, name):
    function = operator.attrgetter(name)(xp)
    parameters = [p.replace(annotation=p.empty) for p in inspect.signature(function).parameters.values()]
    assert str(inspect.Signature(parameters))[1:-1].replace("'", '"') == FUNCTIONS[name]
    assert function.__doc__ and function.__name__ == name.rpartition(".")[2]


def test_constants_and_types(xp):
    assert (xp.e, xp.pi, xp.inf, xp.newaxis) == (np.e, np.pi, np.inf, None) and np.isnan(xp.nan)
    assert [getattr(xp, name) is getattr(ag, name) for name in DTYPES] == [True] * len(DTYPES)
    missing = [name for name in ("uint16", "uint32", "uint64") if not hasattr(xp, name)]
    assert missing == ["uint16", "uint32", "uint64"]  # docs/numpy.md says so


def test_the_table_of_the_documents(xp):
    """docs/numpy.md names what is missing; all else is there."""
    shown = {name for name in dir(xp) if not name.startswith(("_", "@")) or name == "__array_namespace_info__"}  # @: pytest's
    names = {name for name in FUNCTIONS if "." not in name}
    assert names | set(DTYPES) | {"e", "pi", "inf", "nan", "newaxis", "linalg", "fft", "__array_namespace_info__"} == shown
    assert set(xp.__all__) == shown | {"__array_api_version__"}
    for part in ("linalg", "fft"):
        assert set(getattr(xp, part).__all__) == {name.partition(".")[2] for name in FUNCTIONS if name.startswith(f"{part}.")}


def test_inspection(xp):
    info = xp.__array_namespace_info__()
    assert xp.__array_api_version__ == "2024.12"
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    assert info.default_device() == ag.ones(1).device and info.devices() == [info.default_device()]
    assert info.default_dtypes() == {
        "real floating": xp.float32, "complex floating": xp.complex64, "integral": xp.int64, "indexing": xp.int64,
    }  # fmt: skip
    assert list(info.dtypes()) == ["bool", "int8", "int16", "int32", "int64", "uint8", *DTYPES[6:]]
    assert list(info.dtypes(kind=("unsigned integer", "complex floating"))) == ["uint8", "complex64", "complex128"]
    with pytest.raises(ValueError, match="unrecognized data type kind"):
        info.dtypes(kind="float")
    assert xp.isdtype(xp.int8, "integral") and not xp.isdtype(xp.int8, ("bool", xp.int16, "real floating"))
    assert xp.finfo(xp.complex64).dtype is xp.float32 and xp.iinfo(ag.ones(1, dtype=ag.int8)).max == 127
    assert xp.result_type(xp.int8, ag.ones(1, dtype=ag.float32), 1.0) is xp.float32
    assert xp.can_cast(xp.int8, xp.int16) and not xp.can_cast(xp.float64, xp.float32)


def test_array_object(xp):
    x = ag.ones(2, 3)
    assert x.__array_namespace__() is x.__array_namespace__(api_version="2022.12") is xp
    with pytest.raises(ValueError, match="unknown version"):
        x.__array_namespace__(api_version="1999.12")
    assert x.to_device(x.device) is x and x.mT.shape == (3, 2) and x.T.shape == (3, 2) and x.ndim == 2
    with pytest.raises(ValueError, match="streams"):
        x.to_device("cpu", stream=1)
    y = x
    y @= xp.ones((3, 3))
    assert y.tolist() == [[3.0] * 3] * 2 and operator.index(xp.asarray(3)) == 3
    with pytest.raises(AssertionError, match="CUDA"):
        xp.zeros(2, device="cuda")


# ------------------------------------------------------------------------------------------------------------
# results


def sample(dtype, size=(2, 3), low=-3):
    random = np.random.default_rng(len(dtype))
    if "int" in dtype:
        return random.integers(max(low, 0) if "u" in dtype else low, 4, size).astype(dtype)
    numbers = random.uniform(low, 3, size)
    return (numbers + (1j * random.uniform(-3, 3, size) if "complex" in dtype else 0)).astype(dtype)


def flat(result):
    return [x for part in result for x in flat(part)] if isinstance(result, (tuple, list)) else [result]


def agree(call, xp, strict, arrays, **options):
    """What ours returns is what array_api_strict does, if it takes the call."""
    try:
        with np.errstate(all="ignore"):
            expected = call(strict, *map(strict.asarray, arrays))
    except (TypeError, NotImplementedError, np.exceptions.ComplexWarning):
        return False  # the standard says nothing of these types
    for y, wanted in zip(flat(call(xp, *map(xp.asarray, arrays))), flat(expected), strict=True):
        if not hasattr(wanted, "dtype"):
            assert y == wanted or str(y).rpartition(".")[2] == str(wanted).rpartition(".")[2]
            continue
        assert str(y.dtype).rpartition(".")[2] == str(wanted.dtype).rpartition(".")[2].replace("uint64", "int64")
        tolerance = 1e-5 if "32" in str(wanted.dtype) or "complex64" in str(wanted.dtype) else 1e-11
        np.testing.assert_allclose(np.asarray(y), np.asarray(wanted), rtol=tolerance, atol=tolerance, strict=False)
        assert y.shape == wanted.shape
    return True


@pytest.mark.parametrize("name", [name for name, shown in FUNCTIONS.items() if shown == "x, /" and "." not in name])
def test_functions_of_one_array(xp, strict, name):
    call = lambda xp, x: getattr(xp, name)(x)  # noqa: E731
    taken = [agree(call, xp, strict, [sample(dtype, (3, 3), 1.1 if name == "acosh" else -3)]) for dtype in DTYPES]
    assert any(taken)


@pytest.mark.parametrize("name", [name for name, shown in FUNCTIONS.items() if shown == "x1, x2, /" and "." not in name])
def test_functions_of_two_arrays(xp, strict, name):
    call = lambda xp, x, y: getattr(xp, name)(x, y)  # noqa: E731
    low = 0 if "shift" in name or name in ("pow", "remainder", "floor_divide") else -3
    taken = 0
    for first in DTYPES:
        for second in DTYPES:
            a, b = sample(first, (3, 3), low), sample(second, (3, 3), low)
            if name in ("remainder", "floor_divide"):
                b = np.where(b == 0, b.dtype.type(1), b)
            if name == "matmul" and (a.dtype.kind in "fc") != (b.dtype.kind in "fc"):
                continue  # the standard says nothing of it
            taken += agree(call, xp, strict, [a, b])
            if name != "matmul":
                taken += agree(lambda xp, x, y: call(xp, x, xp.reshape(y, ())), xp, strict, [a, b[0, :1]])
    assert taken


@pytest.mark.parametrize("name", ["add", "atan2", "maximum", "less", "multiply", "pow", "copysign", "nextafter", "hypot"])
@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "complex64"])
def test_numbers_beside_arrays(xp, strict, name, dtype):
    number = {"i": 2, "f": 1.5, "c": 1.5 + 1j}[dtype[0]]
    agree(lambda xp, x: getattr(xp, name)(x, number), xp, strict, [sample(dtype)])
    agree(lambda xp, x: getattr(xp, name)(number, x), xp, strict, [sample(dtype, low=0)])


@pytest.mark.parametrize("call", CALLS)
def test_calls(xp, strict, call):
    function = eval(f"lambda xp, x: {call}")
    assert [agree(function, xp, strict, [sample(dtype)]) for dtype in DTYPES].count(True)


@pytest.mark.parametrize("call", SQUARE)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_calls_of_matrices(xp, strict, call, dtype):
    function = eval(f"lambda xp, x: {call.replace('xp.eye(3)', 'xp.eye(3, dtype=x.dtype)')}")
    assert agree(function, xp, strict, [sample(dtype, (3, 3))])


@pytest.mark.parametrize("call", MADE)
def test_what_is_made(xp, strict, call):
    assert agree(eval(f"lambda xp: {call}"), xp, strict, [])


# ------------------------------------------------------------------------------------------------------------
# errors, gradients


@pytest.mark.parametrize("call", [
    lambda xp, x: xp.squeeze(x, 0), lambda xp, x: xp.nonzero(xp.asarray(1.0)), lambda xp, x: xp.cumulative_sum(x),
    lambda xp, x: xp.take(x, xp.asarray([0])), lambda xp, x: xp.isdtype(x.dtype, "floats"), lambda xp, x: xp.result_type(1.0),
    lambda xp, x: xp.asarray([1, 2], copy=False), lambda xp, x: xp.asarray([x, x], copy=False),
    lambda xp, x: xp.reshape(x.mT, (-1,), copy=False),
    lambda xp, x: xp.take(x, xp.asarray([3]), axis=1), lambda xp, x: xp.max(xp.zeros((0,))),
])  # fmt: skip
def test_values_that_are_refused(xp, call):
    with pytest.raises((ValueError, IndexError, RuntimeError)):
        call(xp, ag.ones(2, 3))


@pytest.mark.parametrize("call", [
    lambda xp, x: xp.add(1.0, 2.0), lambda xp, x: xp.finfo(xp.int8), lambda xp, x: xp.iinfo(xp.float32),
    lambda xp, x: xp.add(x, "1"), lambda xp, x: xp.expand_dims(x=x), lambda xp, x: xp.sum(x, 0),
])  # fmt: skip
def test_types_that_are_refused(xp, call):
    with pytest.raises(TypeError):
        call(xp, ag.ones(2, 3))


@pytest.mark.parametrize("call", [
    lambda xp, x: xp.sum(xp.sin(x) * x), lambda xp, x: xp.concat([x, x], axis=None),
    lambda xp, x: xp.var(x, axis=0, correction=1),
    lambda xp, x: xp.take(x, xp.asarray([0, 1]), axis=1), lambda xp, x: xp.sort(x), lambda xp, x: xp.unique_all(x).values,
    lambda xp, x: xp.clip(x, 0, x[0, :]), lambda xp, x: xp.real(xp.fft.rfft(x)), lambda xp, x: xp.linalg.pinv(x),
    lambda xp, x: xp.astype(x, xp.complex128), lambda xp, x: xp.cumulative_prod(x, axis=1, include_initial=True),
    lambda xp, x: xp.tensordot(x, x), lambda xp, x: xp.where(x > 0, x, 2.0), lambda xp, x: xp.linalg.vector_norm(x),
])  # fmt: skip
def test_gradients_pass(xp, call):
    x = ag.tensor(sample("float64"), requires_grad=True)
    assert call(xp, x).requires_grad
    ag.testing.check_gradients(lambda x: call(xp, x), x)


def test_a_sequence_of_arrays_keeps_its_gradients(xp):
    x = leaf([1.0, 2.0])
    y = xp.asarray([[x[0], 2.0], [3.0, x[1]]])
    y.sum().backward()
    assert y.dtype == x.dtype and y.tolist() == [[1.0, 2.0], [3.0, 2.0]] and x.grad.tolist() == [1.0, 1.0]


def test_what_the_documents_say_differs(xp):
    x = ag.arange(4.0)
    with pytest.raises(ValueError, match="step must be greater than zero"):
        x[::-1]
    zero_d = ag.tensor(1.0, dtype=ag.float64)
    assert (x + zero_d).dtype == ag.float32 and xp.add(x, zero_d).dtype == ag.float64
    assert x.size() == (4,) and xp.sum(ag.ones(2, dtype=ag.uint8)).dtype == ag.int64


def test_a_library_written_for_the_standard():
    compat = pytest.importorskip("array_api_compat")
    x = leaf([3.0, 4.0])
    assert compat.is_array_api_obj(x)
    y = compat.array_namespace(x).linalg.vector_norm(x)
    y.backward()
    assert x.grad.tolist() == pytest.approx([0.6, 0.8])
