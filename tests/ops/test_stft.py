"""Short-time transforms: what they refuse, PyTorch's results for each flag, and the way back."""

import importlib.util

import numpy as np
import pytest

import autograd_cy as ag

REFUSED = [
    ("stft(x, 8)", "return_complex parameter be given"),
    ("stft(x, 0, return_complex=True)", "expected 0 < n_fft < 20, but got n_fft=0"),
    ("stft(x, 24, center=False, return_complex=True)", "expected 0 < n_fft < 20, but got n_fft=24"),
    ("stft(x, 8, 0, return_complex=True)", "expected hop_length > 0, but got hop_length=0"),
    ("stft(x, 8, win_length=9, return_complex=True)", "expected 0 < win_length <= n_fft, but got win_length=9"),
    ("stft(x, 8, window=torch.ones(5), return_complex=True)", "expected a 1D window tensor of size equal to win_length=8"),
    ("stft(torch.ones(2, 2, 20), 8, return_complex=True)", "expected a 1D or 2D tensor"),
    ("stft(torch.arange(20), 8, return_complex=True)", "expected a tensor of floating point or complex values"),
    ("stft(x + 0j, 8, onesided=True)", "Cannot have onesided output if window or input is complex"),
    ("stft(x, 64, return_complex=True)", "Padding size should be less than the corresponding input dimension"),
    ("stft(x, 8, align_to_window=True, return_complex=True)", "should only be set when center = false"),
    ("istft(y.real, 8)", "istft requires a complex-valued input tensor"),
    ("istft(y, 8, 9)", "expected 0 < hop_length <= win_length"),
    ("istft(y, 8, 4, 9)", "expected 0 < win_length <= n_fft"),
    ("istft(y, 8, 4, window=torch.ones(4))", "Invalid window shape. window has to be 1D and length of `win_length`"),
    ("istft(y, 8, 2, window=w, center=False)", "window overlap add min"),
    ("istft(y, 8, 2, onesided=False)", "to match n_fft when onesided=False, but got 5"),
    ("istft(y, 10, 2)", "to match n_fft, but got 5|to match n_fft when onesided=False, but got 5|onesided=True, but got 5"),
    ("istft(y, 8, 2, return_complex=True)", "Cannot have onesided output if window or input is complex"),
    ("istft(y, 8, 2, window=w + 0j)", "Complex windows are incompatible with return_complex=False"),
    ("istft(y[None, None], 8, 2)", "expected a tensor with 3 or 4 dimensions, but got 5"),
    ("istft(y[:, :0], 8, 2)", "input tensor cannot be empty"),
]


def names(module):
    x = module.linspace(-1, 2, 20)
    w = module.hann_window(8)
    return {"torch": module, "x": x, "w": w, "y": module.stft(x, 8, 2, window=w, return_complex=True)}


@pytest.mark.parametrize(("call", "text"), REFUSED)
def test_refused(call, text):
    with pytest.raises(RuntimeError, match=text):
        eval(f"torch.{call}", names(ag))


def test_a_mode_of_padding_that_does_not_exist_is_refused():
    with pytest.raises(NotImplementedError, match="Unrecognised padding mode foo"):
        ag.stft(ag.ones(20), 8, pad_mode="foo", return_complex=True)


@pytest.mark.parametrize("n", [20, 23])
@pytest.mark.parametrize("hop", [1, 2, 4])
def test_there_and_back(n, hop):
    x, window = ag.randn(2, n, dtype=ag.float64), ag.hann_window(8, dtype=ag.float64)
    y = ag.stft(x, 8, hop, window=window, return_complex=True)
    np.testing.assert_allclose(ag.istft(y, 8, hop, window=window, length=n).numpy(), x.numpy(), atol=1e-12)


CALLS = [
    "stft(x, 8, pad_mode='replicate', return_complex=True)", "stft(x, 8, 3, 5, pad_mode='constant', return_complex=True)",
    "stft(x, 8, pad_mode='circular', return_complex=False)", "stft(x, 7, 2, 4, torch.ones(4), return_complex=True)",
    "stft(x, 8, center=False, win_length=4, align_to_window=True, return_complex=True)", "stft(x, 8, window=w + 0j)",
    "stft(x, 8, window=w, onesided=False, normalized=True, return_complex=True)", "x.stft(9, 2, return_complex=True)",
    "stft(x + 1j, 8)", "stft(x.double(), 8, return_complex=True)", "istft(y, 8)", "istft(y, 8, 2, window=w)", "istft(y, 9)",
    "istft(y, 8, 2, window=w, length=11)", "istft(y, 8, 2, 6, normalized=True)", "istft(y[None], 8, 2)",
    "istft(stft(x + 1j, 8, 2), 8, 2, return_complex=True)", "istft(stft(x + 1j, 8, 2), 8, 2)", "y.istft(8, 2)",
    "istft(y, 8, 2, window=w, length=30)",
]  # fmt: skip


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="compares with PyTorch")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_values_and_gradients_are_pytorch_s(call):
    import torch

    results = []
    for module in (torch, ag):
        scope = names(module) | {"stft": module.stft, "istft": module.istft}
        scope["x"].requires_grad_()
        scope["y"] = scope["y"].detach().requires_grad_()
        value = eval(call, scope)
        (value * value).abs().sum().backward()
        leaf = scope["x"] if scope["x"].grad is not None else scope["y"]
        results.append([t.detach().numpy() for t in (value, leaf.grad)])
    for expected, ours in zip(*results, strict=True):
        assert (ours.dtype, ours.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-4)
