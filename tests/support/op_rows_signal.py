"""Rows of the op table: short-time transforms."""

import numpy as np
from op_case import COMPLEX, OpInfo, S

MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap", "constant": "constant"}


def full_window(window, width, n):
    window = np.ones(width) if window is None else window
    return np.pad(window, ((n - width) // 2, n - width - (n - width) // 2))


def stft(x, n, hop=None, width=None, window=None, center=True, pad_mode="reflect", normalized=False, onesided=None,
         return_complex=None, align_to_window=None):  # fmt: skip
    hop, width = hop or n // 4, width or n
    if center or align_to_window:
        more = n // 2 if center else (n - width) // 2
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(more, more)], MODES[pad_mode if center else "constant"])
    pieces = np.lib.stride_tricks.sliding_window_view(x, n, -1)[..., ::hop, :] * full_window(window, width, n)
    whole = np.iscomplexobj(pieces) or onesided is False
    y = (np.fft.fft if whole else np.fft.rfft)(pieces, norm="ortho" if normalized else None).swapaxes(-1, -2)
    return np.stack([y.real, y.imag], -1) if return_complex is False else y


def istft(x, n, hop=None, width=None, window=None, center=True, normalized=False, onesided=None, length=None,
          return_complex=False):  # fmt: skip
    hop, window = hop or n // 4, full_window(window, width or n, n)
    x, norm = x.swapaxes(-1, -2), "ortho" if normalized else None
    pieces = (np.fft.ifft(x, norm=norm) if return_complex else np.fft.irfft(x[..., : n // 2 + 1], n, norm=norm)) * window
    signal = np.zeros((*pieces.shape[:-2], n + hop * (pieces.shape[-2] - 1)), pieces.dtype)
    envelope = np.zeros(signal.shape[-1], window.dtype)
    for i in range(pieces.shape[-2]):
        signal[..., hop * i : hop * i + n] += pieces[..., i, :]
        envelope[hop * i : hop * i + n] += window**2
    start, reach = n // 2 if center else 0, signal.shape[-1]
    end = start + length if length is not None else reach - start
    signal = signal[..., start:end] / envelope[start:end]
    return np.pad(signal, [(0, 0)] * (signal.ndim - 1) + [(0, max(end - reach, 0))])


def signals(make):
    window = make.of([0.5, 1.0, 2.0, 1.5]).real.copy()  # without one PyTorch warns
    yield S(make(9), 4, window=window, return_complex=True)
    yield S(make(2, 9), 5, 2, 3, make(3), True, "constant", return_complex=True)
    yield S(make(6), 4, 2, None, make(4), False, normalized=True, onesided=False, return_complex=True)
    yield S(make(6), 4, 1, 4, make(4), True, "circular", False, None, True)
    yield S(make(6), 4, 3, window=window, pad_mode="replicate", return_complex=True)
    yield S(make(8), 4, 2, 2, make(2), center=False, return_complex=True, align_to_window=True)


def frequencies(make):
    window = make.of([0.5, 1.0, 2.0, 0.5]).real.copy()
    yield S(make(3, 4), 4, window=window)
    yield S(make(2, 3, 4), 4, 2, window=window, length=7)
    yield S(make(4, 3), 4, 2, window=window, normalized=True, onesided=False, center=False)
    yield S(make(4, 3), 4, 2, None, make(4, domain=((0.5, 2.0),)), True, False, False, None, True)
    yield S(make(3, 4), 5, 1, 3, window=window[1:])


def to_complex(args):
    return np.result_type(*(a for a in args if isinstance(a, np.ndarray)), np.complex64)


def real_or_whole(args):
    """Real, unless return_complex is True."""
    return args[0].dtype if len(args) > 9 and args[9] else args[0].real.dtype


SIGNALS = [
    OpInfo("stft", stft, signals, forward=(), result=to_complex),
    OpInfo("istft", istft, frequencies, dtypes=COMPLEX, forward=(), result=real_or_whole),
]
