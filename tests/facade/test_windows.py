"""Windows, frequencies, and the indices of triangles: NumPy's numbers, PyTorch's arguments and errors."""

import importlib.util

import numpy as np
import pytest

import autograd_cy as ag

TORCH = importlib.util.find_spec("torch")
OF_NUMPY = {
    "hann": np.hanning, "hamming": np.hamming, "blackman": np.blackman, "bartlett": np.bartlett,
    "kaiser": lambda n: np.kaiser(n, 12),
}  # fmt: skip
WINDOWS = ag.signal.windows.__all__
MORE = {"general_cosine": {"a": [0.5, 0.3, 0.2]}}


@pytest.mark.parametrize("name", OF_NUMPY)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 8])
def test_windows_are_numpy_s(name, n):
    ours, later = getattr(ag, f"{name}_window"), getattr(ag.signal.windows, name)
    symmetric, periodic = OF_NUMPY[name](n), OF_NUMPY[name](n + 1)[:n] if n > 1 else np.ones(n)
    for y, expected in (
        (ours(n, False, dtype=ag.float64), symmetric), (later(n, dtype=ag.float64), symmetric),
        (ours(n, dtype=ag.float64), periodic), (later(n, sym=False, dtype=ag.float64), periodic),
    ):  # fmt: skip
        np.testing.assert_allclose(y.numpy(), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", WINDOWS)
def test_a_window_may_be_a_leaf_of_another_dtype(name):
    y = getattr(ag.signal.windows, name)(5, dtype=ag.float64, requires_grad=True, **MORE.get(name, {}))
    assert (y.dtype, y.requires_grad) == (ag.float64, True)


@pytest.mark.parametrize("name", OF_NUMPY)
def test_windows_take_float16(name):
    assert getattr(ag, f"{name}_window")(5, dtype=ag.float16).dtype == ag.float16


CALLS = [
    "hann_window(-1)", "hann_window(4, dtype=torch.int64)", "hann_window(4, dtype=torch.complex64)", "hann_window(3.5)",
    "kaiser_window(4, True, 5.0)", "hamming_window(4, True, 0.5)", "hamming_window(4, True, alpha=0.5, beta=0.4)",
    "signal.windows.hann(-1)", "signal.windows.hann(4, dtype=torch.int64)", "signal.windows.gaussian(4, std=0)",
    "signal.windows.exponential(4, center=2)", "signal.windows.exponential(4, center=2, sym=False)",
    "signal.windows.exponential(0, center=2, sym=False)", "signal.windows.exponential(1, tau=0.5)",
    "signal.windows.exponential(4, tau=0)", "signal.windows.kaiser(4, beta=-1)", "signal.windows.general_cosine(4, a=[])",
    "signal.windows.general_cosine(4, a=3)", "signal.windows.general_cosine(1, a=3)",
    "signal.windows.hann(4, dtype=torch.float16)",
    "fft.fftfreq(5)", "fft.fftfreq(0)", "fft.rfftfreq(0)", "fft.fftfreq(-1)", "fft.rfftfreq(4, 0.5, dtype=torch.float64)",
    "fft.rfftfreq(5)", "fft.fftfreq(5, dtype=torch.int64)", "fft.fftfreq(5, d=0.0)", "fft.fftfreq(5.5)",
    "fft.fftfreq(4, out=torch.empty(0))", "fft.rfftfreq(4, dtype=torch.float16)",
    "tril_indices(3, 4)", "tril_indices(3, 4, -1)", "triu_indices(3, 4, 1, dtype=torch.int32)", "triu_indices(4, 3, -2)",
    "tril_indices(3, 3, 9)", "triu_indices(3, 3, 9)", "triu_indices(3, 3, -9)", "tril_indices(0, 3)", "triu_indices(3, 0)",
    "tril_indices(-1, 3)", "tril_indices(3, -1)", "tril_indices(3.0, 3)", "tril_indices(3, 3, dtype=torch.float32)",
]  # fmt: skip


@pytest.mark.skipif(TORCH is None, reason="compares with PyTorch")
@pytest.mark.parametrize("call", CALLS)
def test_a_call_gives_what_pytorch_gives(call):
    import torch

    results = []
    for module in (torch, ag):
        try:
            results.append(eval(f"torch.{call}", {"torch": module}))
        except Exception as error:
            results.append(type(error))
    expected, ours = results
    assert type(ours).__name__ == type(expected).__name__, results
    if isinstance(ours, ag.Tensor):
        assert (str(ours.dtype), ours.shape) == (str(expected.dtype), expected.shape)
        np.testing.assert_allclose(ours.numpy(), expected.numpy(), rtol=1e-6, atol=1e-6)
    else:
        assert ours is expected
