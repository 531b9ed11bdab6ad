"""Short-time Fourier transforms of signals, and their inverse."""

import numpy as np

from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT16, code_of
from autograd_cy._core.batching.batched cimport BatchedTensor
from autograd_cy._core.graph.record cimport as_tensor, int64_of, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.shapes.reshaping cimport overlapped
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.joining import constant_pad_nd
from autograd_cy._core.ops.shapes.reshaping import view_as_real


# The element to copy for each index from -n on. np.pad would crash if memory runs out.
PADDED = {
    "reflect": lambda k, length: np.minimum(abs(k), 2 * (length - 1) - abs(k)),
    "replicate": lambda k, length: np.clip(k, 0, length - 1),
    "circular": lambda k, length: k % length,
}


cdef bint is_complex(Tensor x) noexcept:
    return code_of(x.array) >= COMPLEX64


cdef object padded(object x, long long n, str mode):
    """The signal with n more elements at each end."""
    if mode == "constant":
        return constant_pad_nd(x, (n, n))
    if mode not in PADDED:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    cdef long long length = x.size(-1)
    if n >= length + (mode == "circular") and mode != "replicate":
        raise RuntimeError("Argument #4: Padding size should be less than the corresponding input dimension, but got: "
                           f"padding ({n}, {n}) at dimension {x.ndim - 1} of input {list(x.shape)}")
    return x.index_select(-1, new_tensor(PADDED[mode](np.arange(-n, length + n), length)))


cdef object full_window(object window, long long win_length, long long n_fft, Tensor like):
    """The window, padded with zeros on both sides to the length of a transform; None if it changes nothing."""
    cdef long long before = (n_fft - win_length) // 2
    if window is None:
        if win_length == n_fft:
            return None
        window = new_tensor(np.ones(win_length, like.array.real.dtype))
    return window if win_length == n_fft else constant_pad_nd(window, (before, n_fft - win_length - before))


cdef int check_window(object window, long long win_length, str name) except -1:
    if window is not None and shape_of(tensor_argument(window, name, "window", 5)) != (win_length,):
        raise RuntimeError(f"{name}: expected a 1D window tensor of size equal to win_length={win_length}, but got window "
                           f"with size {list(shape_of(window))}")
    return 0


cdef int check_pieces(long long n, long long hop, long long width, long long length) except -1:
    if not 0 < n <= length:
        raise RuntimeError(f"stft: expected 0 < n_fft < {length}, but got n_fft={n}")
    if hop <= 0:
        raise RuntimeError(f"stft: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < width <= n:
        raise RuntimeError(f"stft: expected 0 < win_length <= n_fft, but got win_length={width}")
    return 0


cdef object frequencies(Tensor pieces, object onesided, int normalization):
    """The transform along the last dimension; all frequencies for complex numbers."""
    cdef tuple dims = (cnp.PyArray_NDIM(pieces.array) - 1,)
    if is_complex(pieces) and onesided:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if is_complex(pieces) or onesided is not None and not onesided:
        return transformed(pieces, dims, normalization, True)
    return half_of_real(pieces, dims, normalization)


@op(methods=("stft",), batch=COMPOSITE)
def stft(input, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
         center: bool = True, pad_mode: str = "reflect", normalized: bool = False, onesided: bool | None = None,
         return_complex: bool | None = None, align_to_window: bool | None = None):
    """stft(input, n_fft, hop_length=None, win_length=None, window=None) -> Tensor: the short-time Fourier transform.

    Pieces of n_fft numbers, each hop_length (by default n_fft // 4) after the one before, are multiplied by the window and
    transformed. The result is (frequencies, pieces), with a first dimension if there are several signals. `center`: pieces are
    centered on both ends of the signal, which is padded by `pad_mode`. `onesided`: half of the frequencies, which suffices for
    real numbers. `normalized` divides by sqrt(n_fft). return_complex=False returns view_as_real() of the result; real input
    needs an explicit choice. `align_to_window`, without `center`: the first piece has a shorter window at its start.

    >>> import autograd_cy as ag
    >>> ag.stft(ag.tensor([1.0, 0.0, -1.0, 0.0, 1.0]), 4, 2, return_complex=True)
    tensor([[ 0.+0.j,  0.+0.j,  0.+0.j],
            [-2.+0.j,  2.+0.j, -2.+0.j],
            [ 0.+0.j,  0.+0.j,  0.+0.j]])
    """
    cdef Tensor x = as_tensor(input, "stft")
    cdef long long n = int64_of(n_fft), hop = n // 4 if hop_length is None else int64_of(hop_length)
    cdef long long width = n if win_length is None else int64_of(win_length), more
    cdef int rank = cnp.PyArray_NDIM(x.array)
    cdef bint complex_window = window is not None and is_complex(tensor_argument(window, "stft", "window", 5))
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if return_complex is None and not is_complex(x) and not complex_window:
        raise RuntimeError("stft requires the return_complex parameter be given for real inputs, and will further require "
                           "that return_complex=True in a future PyTorch release.")
    if code_of(x.array) < FLOAT16:
        raise RuntimeError("stft: expected a tensor of floating point or complex values")
    if not 1 <= rank <= 2:
        raise RuntimeError("stft: expected a 1D or 2D tensor")
    x = given(x, "stft") if rank == 2 else given(x, "stft").unsqueeze(0)
    if center:
        x = padded(x, n // 2, pad_mode)
    check_pieces(n, hop, width, cnp.PyArray_DIM(x.array, 1))
    check_window(window, width, "stft")
    if align_to_window and n > width:
        more = n - width
        x = constant_pad_nd(x, (more // 2, more - more // 2))
    pieces = (<object> x).unfold(1, n, hop)
    window = full_window(window, width, n, x)
    pieces = pieces if window is None else pieces.mul(window)
    y = frequencies(pieces, onesided, code_of_norm("ortho" if normalized else None, True)).transpose_(1, 2)
    y = y.squeeze_(0) if rank == 1 else y
    return y if return_complex is None or return_complex else view_as_real(y)


cdef Tensor added_up(Tensor pieces, long long hop):
    """Signals from their pieces, each `hop` after the one before; overlapping pieces are summed."""
    rows, count, size = shape_of(pieces)
    return overlapped(pieces, (rows, size + hop * (count - 1)), 1, hop)


cdef object pieces_of(Tensor x, long long n, object onesided, int normalization, bint return_complex, object window):
    """The inverse transforms of the frequencies of each piece."""
    cdef tuple sizes = shape_of(x)
    cdef long long found = sizes[len(sizes) - 2]
    cdef bint half = found != n if onesided is None else onesided
    if found != (n // 2 + 1 if half else n):
        raise RuntimeError("istft: expected the frequency dimension (3rd to the last) of the input tensor to match "
                           f"{'n_fft / 2 + 1 when onesided=True' if half else 'n_fft when onesided=False'}, but got {found}")
    if return_complex and half:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if not return_complex and window is not None and is_complex(window):
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    y = (<object> x).transpose(-1, -2)
    if return_complex:
        return transformed(y, (len(sizes) - 1,), normalization, False)
    return real_of_half(y.narrow(-1, 0, n // 2 + 1), (len(sizes) - 1,), normalization, n)


cdef object divided(object signal, object envelope, long long start, long long end):
    """The signal from start to end, divided by the sum of the windows."""
    signal, envelope = signal[:, start:end], envelope[:, start:end]
    cdef Tensor weights = envelope
    while weights.batched:
        weights = (<BatchedTensor> weights).value
    if cnp.PyArray_DIM(weights.array, cnp.PyArray_NDIM(weights.array) - 1) == 0:
        raise RuntimeError(f"istft: no samples are left from {start} to {end}")
    if np.abs(weights.array).min(initial=np.inf) < 1e-11:
        raise RuntimeError("istft: window overlap add min: 1: there are samples to which no window leads")
    return signal.div(envelope)


@op(methods=("istft",), batch=COMPOSITE)
def istft(input, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
          center: bool = True, normalized: bool = False, onesided: bool | None = None, length: int | None = None,
          return_complex: bool = False):
    """istft(input, n_fft, hop_length=None, win_length=None, window=None) -> Tensor: the signal of a short-time transform.

    The inverse of stft() with the same arguments. Overlapping pieces are combined by least squares. `length` is the length of
    the signal, by default as far as the pieces reach. RuntimeError if the windows leave samples out.

    >>> import autograd_cy as ag
    >>> y = ag.stft(ag.tensor([1.0, 2.0, 3.0, 4.0]), 4, 2, return_complex=True)
    >>> ag.istft(y, 4, 2)
    tensor([1., 2., 3., 4.])
    """
    cdef Tensor x = as_tensor(input, "istft")
    cdef long long n = int64_of(n_fft), hop = n // 4 if hop_length is None else int64_of(hop_length)
    cdef long long width = n if win_length is None else int64_of(win_length), start = n // 2 if center else 0, end, reach
    if not is_complex(x):
        raise RuntimeError("istft requires a complex-valued input tensor matching the output from stft with "
                           "return_complex=True.")
    if cnp.PyArray_SIZE(x.array) == 0:
        raise RuntimeError("istft: input tensor cannot be empty.")
    if not 2 <= cnp.PyArray_NDIM(x.array) <= 3:
        raise RuntimeError(f"istft: expected a tensor with 3 or 4 dimensions, but got {cnp.PyArray_NDIM(x.array) + 1}")
    if not 0 < hop <= width:
        raise RuntimeError("istft: expected 0 < hop_length <= win_length")
    if not 0 < width <= n:
        raise RuntimeError("istft: expected 0 < win_length <= n_fft")
    if window is not None and shape_of(tensor_argument(window, "istft", "window", 5)) != (width,):
        raise RuntimeError("istft: Invalid window shape. window has to be 1D and length of `win_length`")
    cdef bint is_one = cnp.PyArray_NDIM(x.array) == 2
    x = x.unsqueeze(0) if is_one else x
    pieces = pieces_of(x, n, onesided, code_of_norm("ortho" if normalized else None, False), return_complex, window)
    window = full_window(window, width, n, x)
    window = new_tensor(np.ones(n, x.array.real.dtype)) if window is None else window
    signal = added_up(pieces.mul(window), hop)
    envelope = added_up((window * window).expand(1, pieces.size(-2), n), hop)
    reach = signal.size(-1)
    end = reach - n // 2 if center else reach
    if length is not None:
        end = start + int64_of(length)
    signal = divided(signal, envelope, start, end)
    signal = signal.squeeze(0) if is_one else signal
    return constant_pad_nd(signal, (0, end - reach)) if end > reach else signal
