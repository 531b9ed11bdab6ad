"""The functions of the Array API standard, version 2024.12, and calls of them."""


def _calls(text: str) -> list[str]:
    return [call.strip() for call in text.replace("\n", ";").split(";") if call.strip()]


# Names by the parameters.
SIGNATURES = {
    "": "__array_namespace_info__",
    "x, /": """
        abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan log
        log10 log1p log2 logical_not matrix_transpose negative nonzero positive real reciprocal round sign signbit sin sinh
        sqrt square tan tanh trunc unique_all unique_counts unique_inverse unique_values linalg.det linalg.eigh
        linalg.eigvalsh linalg.inv linalg.matrix_transpose linalg.slogdet linalg.svdvals
    """,
    "x1, x2, /": """
        add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal
        floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor matmul maximum
        minimum multiply nextafter not_equal pow remainder subtract linalg.matmul linalg.outer linalg.solve
    """,
    "x, /, *, axis=None, keepdims=False": "all any argmax argmin count_nonzero max mean min",
    "start, /, stop=None, step=1, *, dtype=None, device=None": "arange",
    "x, /, *, axis=-1, descending=False, stable=True": "argsort sort",
    "obj, /, *, dtype=None, device=None, copy=None": "asarray",
    "x, dtype, /, *, copy=True, device=None": "astype",
    "*arrays": "broadcast_arrays",
    "x, /, shape": "broadcast_to",
    "from_, to, /": "can_cast",
    "x, /, min=None, max=None": "clip",
    "arrays, /, *, axis=0": "concat stack",
    "x, /, *, axis=None, dtype=None, include_initial=False": "cumulative_prod cumulative_sum",
    "x, /, *, axis=-1, n=1, prepend=None, append=None": "diff",
    "shape, *, dtype=None, device=None": "empty ones zeros",
    "x, /, *, dtype=None, device=None": "empty_like ones_like zeros_like",
    "x, /, axis=0": "expand_dims",
    "n_rows, n_cols=None, /, *, k=0, dtype=None, device=None": "eye",
    "type, /": "finfo iinfo",
    "x, /, *, axis=None": "flip",
    "x, /, *, device=None, copy=None": "from_dlpack",
    "shape, fill_value, *, dtype=None, device=None": "full",
    "x, /, fill_value, *, dtype=None, device=None": "full_like",
    "dtype, kind": "isdtype",
    "start, stop, /, num, *, dtype=None, device=None, endpoint=True": "linspace",
    '*arrays, indexing="xy"': "meshgrid",
    "x, source, destination, /": "moveaxis",
    "x, /, axes": "permute_dims",
    "x, /, *, axis=None, dtype=None, keepdims=False": "prod sum",
    "x, repeats, /, *, axis=None": "repeat",
    "x, /, shape, *, copy=None": "reshape",
    "*arrays_and_dtypes": "result_type",
    "x, /, shift, *, axis=None": "roll",
    'x1, x2, /, *, side="left", sorter=None': "searchsorted",
    "x, /, axis": "squeeze",
    "x, /, *, axis=None, correction=0.0, keepdims=False": "std var",
    "x, indices, /, *, axis=None": "take",
    "x, indices, /, *, axis=-1": "take_along_axis",
    "x1, x2, /, *, axes=2": "tensordot linalg.tensordot",
    "x, repetitions, /": "tile",
    "x, /, *, k=0": "tril triu",
    "x, /, *, axis=0": "unstack",
    "x1, x2, /, *, axis=-1": "vecdot linalg.cross linalg.vecdot",
    "condition, x1, x2, /": "where",
    "x, /, *, upper=False": "linalg.cholesky",
    "x, /, *, offset=0": "linalg.diagonal",
    'x, /, *, keepdims=False, ord="fro"': "linalg.matrix_norm",
    "x, n, /": "linalg.matrix_power",
    "x, /, *, rtol=None": "linalg.matrix_rank linalg.pinv",
    'x, /, *, mode="reduced"': "linalg.qr",
    "x, /, *, full_matrices=True": "linalg.svd",
    "x, /, *, offset=0, dtype=None": "linalg.trace",
    "x, /, *, axis=None, keepdims=False, ord=2": "linalg.vector_norm",
    'x, /, *, n=None, axis=-1, norm="backward"': "fft.fft fft.hfft fft.ifft fft.ihfft fft.irfft fft.rfft",
    "n, /, *, d=1.0, dtype=None, device=None": "fft.fftfreq fft.rfftfreq",
    'x, /, *, s=None, axes=None, norm="backward"': "fft.fftn fft.ifftn fft.irfftn fft.rfftn",
    "x, /, *, axes=None": "fft.fftshift fft.ifftshift",
}  # fmt: skip

FUNCTIONS = {name: parameters for parameters, names in SIGNATURES.items() for name in names.split()}

# Calls with one array x of shape (2, 3), of any type.
CALLS = _calls("""
    xp.astype(x, xp.float64); xp.astype(x, xp.int64, copy=False); xp.broadcast_arrays(x, x[0, :])
    xp.broadcast_to(x, (2, 2, 3)); xp.can_cast(x, xp.float64); xp.concat([x, x], axis=1)
    xp.concat([x, x[0, :]], axis=None); xp.concat([x, xp.asarray(x, dtype=xp.float64)]); xp.expand_dims(x, axis=-1)
    xp.flip(x); xp.flip(x, axis=1); xp.moveaxis(x, 0, -1); xp.permute_dims(x, (1, 0)); xp.repeat(x, 2)
    xp.repeat(x, xp.asarray([1, 2]), axis=0); xp.reshape(x, (3, 2)); xp.reshape(x, (-1,), copy=True); xp.roll(x, 1)
    xp.roll(x, (1, 2), axis=(0, 1)); xp.squeeze(x[None, ...], axis=0); xp.stack([x, x], axis=2); xp.tile(x, (2, 1))
    xp.unstack(x, axis=1); xp.take(x, xp.asarray([0, 2, -1]), axis=1)
    xp.take_along_axis(x, xp.asarray([[0, 1, 1], [1, 0, 0]]), axis=0); xp.matrix_transpose(x); xp.tril(x)
    xp.triu(x, k=1); xp.meshgrid(x[0, :], x[:, 0]); xp.meshgrid(x[0, :], x[:, 0], indexing='ij'); xp.all(x)
    xp.all(x, axis=0); xp.any(x, axis=(0, 1), keepdims=True); xp.any(x, axis=()); xp.sum(x)
    xp.sum(x, axis=1, keepdims=True); xp.sum(x, dtype=xp.float64); xp.sum(x, axis=(0, 1)); xp.prod(x, axis=(0, 1))
    xp.prod(x); xp.mean(x, axis=0); xp.mean(x); xp.std(x); xp.std(x, axis=0, correction=1.0)
    xp.var(x, axis=(0, 1), keepdims=True); xp.max(x); xp.max(x, axis=0); xp.min(x, axis=(0, 1))
    xp.min(x, keepdims=True); xp.cumulative_sum(x, axis=1); xp.cumulative_sum(x[0, :], include_initial=True)
    xp.cumulative_prod(x, axis=0, dtype=xp.float64); xp.diff(x); xp.diff(x, axis=0); xp.diff(x, n=2)
    xp.diff(x, prepend=x[:, :1], append=x); xp.argmax(x); xp.argmin(x, axis=1, keepdims=True)
    xp.argmax(x, keepdims=True); xp.count_nonzero(x); xp.count_nonzero(x, axis=0, keepdims=True); xp.nonzero(x)
    xp.searchsorted(xp.sort(x[0, :]), x[1, :]); xp.searchsorted(xp.sort(x[0, :]), x, side='right')
    xp.where(x > 0, x, xp.zeros_like(x)); xp.where(x == x, x, 1); xp.sort(x); xp.sort(x, axis=0, descending=True)
    xp.argsort(x); xp.argsort(x, axis=0, descending=True); xp.unique_all(x); xp.unique_counts(x); xp.unique_inverse(x)
    xp.unique_values(x); xp.clip(x, 0, 1); xp.clip(x, min=x[0, :]); xp.clip(x, max=1); xp.empty_like(x).shape
    xp.zeros_like(x, dtype=xp.int8); xp.ones_like(x); xp.full_like(x, 1); xp.isdtype(x.dtype, 'numeric')
    xp.matmul(x, xp.matrix_transpose(x)); xp.tensordot(x, x); xp.tensordot(x, x, axes=1 - 1)
    xp.tensordot(x, x, axes=((1,), (1,))); xp.vecdot(x, x); xp.vecdot(x, x, axis=-2); xp.linalg.diagonal(x, offset=1)
    xp.linalg.outer(x[0, :], x[1, :]); xp.linalg.trace(x); xp.linalg.vector_norm(x)
    xp.linalg.vector_norm(x, axis=1, keepdims=True, ord=1); xp.linalg.matrix_norm(x)
    xp.linalg.matrix_norm(x, ord='nuc', keepdims=True); xp.linalg.cross(x, x[::1, :] + x); xp.linalg.svdvals(x)
    xp.linalg.pinv(x); xp.linalg.pinv(x, rtol=0.1); xp.fft.fft(x); xp.fft.fft(x, n=4, axis=0, norm='ortho')
    xp.fft.ifft(x); xp.fft.fftn(x); xp.fft.ifftn(x, axes=(0,)); xp.fft.rfft(x); xp.fft.irfft(x); xp.fft.rfftn(x)
    xp.fft.irfftn(x); xp.fft.hfft(x); xp.fft.ihfft(x); xp.fft.fftshift(x); xp.fft.ifftshift(x, axes=1); x[0, ...]
    x[:, None, 1]; x[x > 0]; x[xp.asarray([0, 1]), xp.asarray([1, 1])]; -x; x + 1; 2 * x; x / 2.0; x**2; x @ x.T; x > 1
    x == x; abs(x); ~x; x & x; x // 2; x % 2; x << 1
""")

# Those with square matrices.
SQUARE = _calls("""
    xp.linalg.cholesky(xp.matmul(x, xp.conj(x.mT)) + xp.eye(3)); xp.linalg.det(x); xp.linalg.inv(x)
    xp.linalg.matrix_power(x, 3); xp.linalg.solve(x, x[:, 0]); xp.linalg.solve(x, x + 1)
    xp.linalg.slogdet(x).logabsdet; xp.linalg.slogdet(x).sign; xp.abs(xp.linalg.qr(x).R)
    xp.abs(xp.linalg.qr(x, mode='complete').Q); xp.linalg.svd(x).S; xp.abs(xp.linalg.svd(x, full_matrices=False).Vh)
    xp.linalg.eigvalsh(x + xp.conj(x.mT)); xp.linalg.eigh(x + xp.conj(x.mT)).eigenvalues
    xp.linalg.cholesky(xp.matmul(x, xp.conj(x.mT)) + xp.eye(3), upper=True); xp.linalg.matrix_rank(x)
    xp.linalg.matrix_rank(x, rtol=0.9)
""")

# Those without arrays.
MADE = _calls("""
    xp.arange(5); xp.arange(1, 5, 2); xp.arange(5, 1); xp.arange(0.0, 1.0, 0.25, dtype=xp.float64)
    xp.arange(3, dtype=xp.int8); xp.zeros(3, dtype=xp.int8); xp.zeros((2, 3), dtype=xp.float32)
    xp.ones((), dtype=xp.float64); xp.full((2,), 3); xp.full(2, True); xp.full((), 1.5, dtype=xp.float32)
    xp.eye(2, dtype=xp.int64); xp.eye(2, 3, k=1, dtype=xp.float64); xp.eye(3, 2, k=-1, dtype=xp.complex64)
    xp.linspace(0, 1, 5, dtype=xp.float64); xp.linspace(0, 1, 5, endpoint=False, dtype=xp.float32); xp.asarray([1, 2])
    xp.asarray(True); xp.asarray([[1.0, 2]], dtype=xp.float64); xp.asarray([1j, 2], dtype=xp.complex128)
    xp.asarray(3, dtype=xp.int8); xp.fft.fftfreq(5, d=0.5, dtype=xp.float64); xp.fft.rfftfreq(4, dtype=xp.float64)
    xp.from_dlpack(xp.asarray([1, 2])); xp.result_type(xp.int8, xp.int32); xp.iinfo(xp.int16).max
    xp.finfo(xp.float32).eps; xp.finfo(xp.complex128).bits; xp.can_cast(xp.int8, xp.float32)
    xp.isdtype(xp.int8, 'signed integer')
""")
