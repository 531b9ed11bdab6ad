"""What PyTorch takes and refuses in calls that few programs make. The answers and texts are torch 2.13's."""

import pytest

import autograd_cy as ag

C64 = ag.tensor([[1 + 2j, 3 - 1j, 2j], [1, 2, 3j]])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ag.chain_matmul(), "Expected one or more matrices"),
        (lambda: ag.cartesian_prod(), "meshgrid expects a non-empty TensorList"),
        (lambda: ag.int64.to_complex(), "Unknown Complex ScalarType for Long"),
        (lambda: ag.bool.to_complex(), "Unknown Complex ScalarType for Bool"),
        (lambda: ag.longdouble.to_complex(), "Unknown Complex ScalarType for LongDouble"),
        (lambda: ag.abs(C64, out=ag.empty(0, dtype=ag.complex128)), "Found dtype ComplexDouble but expected ComplexFloat"),
        (lambda: ag.nansum(C64, 1, out=ag.empty(0, dtype=ag.complex64)), "nansum on CPU does not support complex inputs"),
    ],
)
def test_refused(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "ihfft", "fft2", "ifftn", "rfft2", "ihfftn"])
def test_transforms_with_complex_results(name):
    text = {"fft2": "fftn", "ifftn": "fftn", "rfft2": "rfftn"}.get(name, name)
    with pytest.raises(RuntimeError, match=f"^{text} expects a complex output tensor, but got Float"):
        getattr(ag.fft, name)(ag.ones(2, 3), out=ag.empty(0))


@pytest.mark.parametrize("name", ["irfft", "hfft", "irfft2", "irfftn", "hfft2", "hfftn"])
@pytest.mark.parametrize("dtype", [ag.complex64, ag.int64])
def test_transforms_with_real_results(name, dtype):
    with pytest.raises(RuntimeError, match=f"^{name.replace('2', 'n')} expects a floating point output tensor, but got"):
        getattr(ag.fft, name)(C64, out=ag.empty(0, dtype=dtype))


def test_transforms_of_real_numbers_that_symmetry_completes():
    for transform in (ag.fft.ifft, ag.fft.ihfft):
        with pytest.raises(RuntimeError, match="Found dtype ComplexDouble but expected ComplexFloat"):
            transform(C64.real, out=ag.empty(0, dtype=ag.complex128))
    out = ag.empty(0, dtype=ag.complex128)
    assert ag.fft.ifft(C64, out=out) is out and out.shape == (2, 3)
    assert ag.fft.fft(C64.real, out=out).dtype is ag.complex128


def test_complex_out_of_real_statistics():
    assert ag.std(C64, 1, out=ag.empty(0, dtype=ag.complex64)).dtype is ag.complex64
    assert ag.abs(C64, out=ag.empty(0, dtype=ag.float64)).dtype is ag.float64
    with pytest.raises(RuntimeError, match="nansum on CPU does not support complex inputs"):
        ag.nanmean(C64, 1, out=ag.empty(0, dtype=ag.complex128))


def test_from_by_keyword():
    assert ag.zeros(2).random_(**{"from": 2, "to": 3}).tolist() == [2, 2]
    assert (ag.zeros(2).random_(**{"from": 2, "to": None}) >= 2).all()
    assert ag.zeros(2).uniform_(**{"from": 2, "to": 2}).tolist() == [2, 2]
    assert ag.zeros(2).uniform_(**{"from": 1}).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="got from=3 >= to=2"):
        ag.zeros(2).random_(**{"from": 3, "to": 2})
    for call in (lambda x: x.random_(**{"from": 2}), lambda x: x.random_(1, **{"from": 2, "to": 3})):
        with pytest.raises(TypeError, match="received an invalid combination of arguments"):
            call(ag.zeros(2))


def test_numbers_count_as_their_types_for_to():
    assert ag.ones(2).to(True).tolist() == [True, True] and ag.ones(2).to(False).dtype is ag.bool
    assert ag.ones(2).to(1.0).dtype is ag.float64


@pytest.mark.parametrize(
    "args",
    [
        ("cpu", True),
        (ag.float64, "cpu"),
        (ag.float64, ag.float32),
        (ag.float64, True, True, True),
        (ag.ones(1), ag.int64),
        ("cpu", "cpu"),
    ],
)
def test_positions_of_to(args):
    with pytest.raises(TypeError, match="received an invalid combination of arguments"):
        ag.ones(2).to(*args)


def test_positions_of_to_that_are_taken():
    x = ag.ones(2)
    assert x.to("cpu", ag.float64).dtype is x.to(None, ag.float64, True).dtype is x.to(ag.float64, True, True).dtype
    assert x.to(ag.float32) is x and x.to(ag.float32, False, True) is not x
