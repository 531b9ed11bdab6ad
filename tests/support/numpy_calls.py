"""Calls of NumPy's functions as their users write them, for each function that asks an argument how to be called.

An expression has one small letter for a tensor: x and p are (3, 4), p is positive, s positive definite, u between 0 and 1,
v and w are vectors of 4 and 7, k one of integers. The same letter as a capital is that array. `;` separates calls.
"""

import re

import numpy as np

_random = np.random.default_rng(0)
X = _random.normal(size=(3, 4))
P = np.abs(X) + 0.5
V = _random.normal(size=4)
S = _random.normal(size=(3, 3))
S = S @ S.T + 3 * np.eye(3)
U = _random.uniform(0.2, 0.6, size=5)
W = _random.normal(size=7)
K = np.array([2, 0, 1])
NAMES = {"np": np, "X": X, "P": P, "V": V, "S": S, "U": U, "W": W, "K": K}

# What is differentiable. A number after a name: so many of the first results are, the others are constant.
DIFFERENTIABLE = {
    # reductions
    "sum":
        "np.sum(x); np.sum(x, 0); np.sum(x, axis=(0, 1)); np.sum(x, 1, None, None, True); np.sum(x, where=X > 0); "
        "np.sum(x, initial=3.0)",
    "prod":
        "np.prod(x); np.prod(x, 0); np.prod(x, axis=(0, 1)); np.prod(x, where=X > 0); "
        "np.prod(x, -1, keepdims=True, initial=2.0)",
    "max":
        "np.max(x); np.max(x, axis=1); np.max(x, initial=0.1); np.max(x, axis=0, initial=-9, where=X > 0); "
        "np.max(x, 1, None, True)",
    "min": "np.min(x, axis=(0, 1), keepdims=True)", "amax": "np.amax(x)", "amin": "np.amin(x, axis=1)",
    "mean":
        "np.mean(x); np.mean(x, 0); np.mean(x, axis=(0, 1), keepdims=True); np.mean(x, where=X > 0); "
        "np.mean(x, dtype=np.float64)",
    "std": "np.std(x); np.std(x, 0); np.std(x, axis=1, ddof=1); np.std(x, where=X > -1); np.std(x, correction=1)",
    "var": "np.var(x); np.var(x, (0, 1), keepdims=True); np.var(x, mean=np.mean(x, keepdims=True))",
    "ptp": "np.ptp(x); np.ptp(x, axis=0, keepdims=True)", "nansum": "np.nansum(x, 0, where=X > 0)",
    "nanprod": "np.nanprod(x, 1)", "nanmean": "np.nanmean(x, axis=0)", "nanstd": "np.nanstd(x, axis=1)",
    "nanvar": "np.nanvar(x, ddof=1)", "nanmax": "np.nanmax(x, axis=1)", "nanmin": "np.nanmin(x)",
    "median": "np.median(w); np.median(x, axis=1); np.median(x, axis=0, keepdims=True); np.median(x, overwrite_input=True)",
    "nanmedian": "np.nanmedian(x, 1)",
    "quantile": "np.quantile(w, 0.3); np.quantile(x, [0.3, 0.5], axis=1); np.quantile(w, 0.4, method='lower')",
    "percentile": "np.percentile(x, 40, axis=0, keepdims=True)", "nanquantile": "np.nanquantile(w, 0.3)",
    "nanpercentile": "np.nanpercentile(w, 30)",
    "average":
        "np.average(x); np.average(x, axis=1, weights=P[0]); np.average(X, axis=1, weights=np.abs(v)); "
        "np.average(x, 0, P)",
    "cumsum": "np.cumsum(x); np.cumsum(x, axis=1)", "cumprod": "np.cumprod(x, 0)", "nancumsum": "np.nancumsum(x)",
    "nancumprod": "np.nancumprod(x, 1)",
    "cumulative_sum": "np.cumulative_sum(w); np.cumulative_sum(x, axis=1, include_initial=True)",
    "cumulative_prod": "np.cumulative_prod(w)", "bincount": "np.bincount(K, weights=v[:3])",
    "trace": "np.trace(x); np.trace(x[None], 1, axis1=1, axis2=2)",
    "cov": "np.cov(x); np.cov(x, ddof=0); np.cov(x, rowvar=False); np.cov(v, V**2)", "corrcoef": "np.corrcoef(x)",
    # arrangement
    "reshape":
        "np.reshape(x, (2, 6)); np.reshape(x, -1); np.reshape(x, (2, -1), order='F'); "
        "np.reshape(x, shape=(4, 3), copy=True)",
    "ravel": "np.ravel(x); np.ravel(x, 'F')", "transpose": "np.transpose(x); np.transpose(x, axes=[1, 0])",
    "permute_dims": "np.permute_dims(x, (1, 0))", "matrix_transpose": "np.matrix_transpose(x)",
    "moveaxis": "np.moveaxis(x, source=[0], destination=[-1])", "rollaxis": "np.rollaxis(x, 1); np.rollaxis(x, 0, 2)",
    "swapaxes": "np.swapaxes(x, 0, 1)", "squeeze": "np.squeeze(x[None]); np.squeeze(x[None], axis=0)",
    "expand_dims": "np.expand_dims(x, 1); np.expand_dims(x, (0, 2))", "flip": "np.flip(x); np.flip(x, (0, 1))",
    "fliplr": "np.fliplr(x)", "flipud": "np.flipud(x)", "rot90": "np.rot90(x); np.rot90(x, 2, (1, 0))",
    "roll": "np.roll(x, 1); np.roll(x, 1, axis=1); np.roll(x, (1, 2), (0, 1))",
    "tile": "np.tile(x, 2); np.tile(x, (2, 1, 2))", "repeat": "np.repeat(x, 2); np.repeat(x, [1, 2, 0], axis=0)",
    "resize": "np.resize(x, (2, 7))", "broadcast_to": "np.broadcast_to(v, (2, 4))",
    "broadcast_arrays": "np.broadcast_arrays(v, v[:, None])", "copy": "np.copy(x)", "atleast_1d": "np.atleast_1d(v)",
    "atleast_2d": "np.atleast_2d(v, 2 * v)", "atleast_3d": "np.atleast_3d(v)",
    "concatenate":
        "np.concatenate([x, X], axis=1); np.concatenate([x, V], axis=None); np.concatenate((x, x), dtype=np.float64); "
        "np.concatenate(x)",
    "concat": "np.concat([x, [[1, 2, 3, 4]]])", "stack": "np.stack([x, X], axis=-1)", "vstack": "np.vstack([x, V])",
    "hstack": "np.hstack([X, x])", "dstack": "np.dstack([x, X])", "column_stack": "np.column_stack([v, V])",
    "block": "np.block([[x, X], [X, x]]); np.block([v, V])", "append": "np.append(x, V); np.append(x, X, axis=0)",
    "insert": "np.insert(x, 1, 5, axis=0); np.insert(X, 1, v, axis=0)",
    "delete": "np.delete(x, 1, axis=0); np.delete(w, [0, 1])",
    "pad": "np.pad(x, 1); np.pad(x, ((0, 1), (2, 0)), constant_values=2); np.pad(x, 1, 'reflect')",
    "array_split": "np.array_split(x, 3, 1); np.array_split(x, [1, 2])", "split": "np.split(x, 2, axis=1)",
    "hsplit": "np.hsplit(x, 2)", "vsplit": "np.vsplit(x, 3)", "dsplit": "np.dsplit(x[None], 2)",
    "unstack": "np.unstack(x, axis=1)",
    "meshgrid": "np.meshgrid(v, 2 * v); np.meshgrid(v, v[:2], indexing='ij'); np.meshgrid(v, v, sparse=True)",
    "diag": "np.diag(s); np.diag(v, 1); np.diag(s, k=-1)", "diagflat": "np.diagflat(v)",
    "diagonal": "np.diagonal(x, offset=0, axis1=1, axis2=0)", "tril": "np.tril(x); np.tril(x, k=-1)",
    "triu": "np.triu(x, 1)", "trim_zeros": "np.trim_zeros(v)",
    "lib.stride_tricks.sliding_window_view": "np.lib.stride_tricks.sliding_window_view(w, 3)",
    # choice and order
    "take": "np.take(x, K); np.take(x, [[0, 1], [2, 3]], axis=1); np.take(v, [-1, 5], mode='wrap')",
    "take_along_axis": "np.take_along_axis(x, np.argsort(X, 1), 1)",
    "compress": "np.compress([True, False, True], x, axis=0)", "extract": "np.extract(X > 0, x)",
    "choose": "np.choose(K, x[:, :3])", "select": "np.select([x < 0, x > 1], [x, x * x], default=0.0)",
    "where": "np.where(X > 0, x, 0); np.where(x > 0, x, V)",
    "piecewise": "np.piecewise(x, [X < 0, X >= 0], [lambda y: -y, lambda y: y * y])",
    "sort": "np.sort(x); np.sort(x, axis=None); np.sort(x, 0, kind='stable')", "partition": "np.partition(w, 2)",
    "unique": "np.unique(v); np.unique(x, axis=0)", "unique_values": "np.unique_values(v)",
    "unique_all 1": "np.unique_all(v)", "unique_counts 1": "np.unique_counts(v)", "unique_inverse 1": "np.unique_inverse(v)",
    "union1d": "np.union1d(v, W)", "setdiff1d": "np.setdiff1d(w, V)", "intersect1d": "np.intersect1d(v, W)",
    "apply_along_axis": "np.apply_along_axis(np.sum, 0, x); np.apply_along_axis(np.sum, 1, x, keepdims=True)",
    "apply_over_axes": "np.apply_over_axes(np.sum, x, [0])",
    # mathematics
    "angle": "np.angle(x); np.angle(x * 1j, deg=True)", "real": "np.real(x); np.real(x * (1 + 1j))",
    "imag": "np.imag(x * 1j)", "real_if_close": "np.real_if_close(x)", "round": "np.round(x); np.round(x, 1)",
    "around": "np.around(x, decimals=1)", "fix": "np.fix(x)", "i0": "np.i0(x)", "sinc": "np.sinc(x)",
    "clip": "np.clip(x, -1, 1); np.clip(x, None, 1); np.clip(x, min=-2.0, max=V); np.clip(X, v, 2)",
    "nan_to_num": "np.nan_to_num(x, nan=1.0)", "unwrap": "np.unwrap(4 * w); np.unwrap(4 * x, axis=0)",
    "diff": "np.diff(x); np.diff(x, 2, axis=1); np.diff(x, axis=0, prepend=0.0); np.diff(w, append=[9.0])",
    "ediff1d": "np.ediff1d(w)",
    "gradient":
        "np.gradient(w); np.gradient(x); np.gradient(x, 0.5, axis=1); np.gradient(w, np.arange(7.0) ** 2, edge_order=2)",
    "trapezoid": "np.trapezoid(x); np.trapezoid(x, dx=0.5, axis=0); np.trapezoid(V, v)",
    "interp": "np.interp(x, np.arange(5.0) - 2, np.arange(5.0) ** 2); np.interp([0.5, 1.5, 9], [0, 1, 2, 3], v)",
    "linspace": "np.linspace(v, 3, 4); np.linspace(0, v, 4, axis=-1); np.linspace(0, v, 4, endpoint=False)",
    "logspace": "np.logspace(v, 3, 4)", "geomspace": "np.geomspace(p, 3, 4)",
    "polyval": "np.polyval(v, 2.0); np.polyval(V, x)", "polyadd": "np.polyadd(v, W)", "polysub": "np.polysub(v, W)",
    "polymul": "np.polymul(v, W)", "polyder": "np.polyder(v, 2)", "polyint": "np.polyint(v)", "poly": "np.poly(v)",
    "vander": "np.vander(v, 3); np.vander(v, 3, increasing=True)",
    "convolve": "np.convolve(w, V); np.convolve(w, V, 'same'); np.convolve(V, w, 'valid')",
    "correlate": "np.correlate(w, V); np.correlate(w, V, 'full')", "astype": "np.astype(x, np.complex128)",
    "lib.scimath.sqrt": "np.emath.sqrt(p - 1)", "lib.scimath.log": "np.emath.log(p)",
    "lib.scimath.power": "np.emath.power(p, 2)", "lib.scimath.logn": "np.emath.logn(2.0, p)",
    "lib.scimath.log2": "np.emath.log2(p)", "lib.scimath.log10": "np.emath.log10(p)",
    "lib.scimath.arccos": "np.emath.arccos(u)", "lib.scimath.arcsin": "np.emath.arcsin(u)",
    "lib.scimath.arctanh": "np.emath.arctanh(u)",
    # products
    "dot": "np.dot(x, V); np.dot(2, x); np.dot(x, np.ones((2, 4, 3)))", "inner": "np.inner(x, V); np.inner(x, 2.0)",
    "outer": "np.outer(X, x)", "vdot": "np.vdot(x, X)", "kron": "np.kron(X, x)", "cross": "np.cross(x[:, :3], V[:3])",
    "tensordot": "np.tensordot(x, X); np.tensordot(x, V, 1); np.tensordot(x, X, axes=([0], [0]))",
    "einsum": "np.einsum('ij,j->i', x, V, optimize=True); np.einsum(x, [0, 1], V, [1], [0])",
    "linalg.matmul": "np.linalg.matmul(x, V)", "linalg.outer": "np.linalg.outer(v, V)",
    "linalg.vecdot": "np.linalg.vecdot(x, X, axis=0)", "linalg.cross": "np.linalg.cross(x[:, :3], X[:, :3])",
    "linalg.tensordot": "np.linalg.tensordot(x, X)", "linalg.multi_dot": "np.linalg.multi_dot([x, X.T, V[:3]])",
    # linear algebra
    "linalg.cholesky": "np.linalg.cholesky(s @ s.T)", "linalg.cond": "np.linalg.cond(s)", "linalg.det": "np.linalg.det(s)",
    "linalg.diagonal": "np.linalg.diagonal(x, offset=1)", "linalg.trace": "np.linalg.trace(x, offset=1)",
    "linalg.eigh 1": "np.linalg.eigh(s @ s.T)", "linalg.eigvalsh": "np.linalg.eigvalsh(s + s.T)",
    "linalg.inv": "np.linalg.inv(s)", "linalg.eig 1": "np.linalg.eig(s + np.diag([1, 2, 3]))",
    "linalg.eigvals": "np.linalg.eigvals(s + np.diag([1, 2, 3]))", "linalg.lstsq 2": "np.linalg.lstsq(x.T, V, rcond=None)",
    "linalg.matrix_norm": "np.linalg.matrix_norm(x, ord='nuc')", "linalg.matrix_power": "np.linalg.matrix_power(s, 3)",
    "linalg.matrix_transpose": "np.linalg.matrix_transpose(x)",
    "linalg.norm":
        "np.linalg.norm(x); np.linalg.norm(v, 1); np.linalg.norm(x, np.inf, axis=0); np.linalg.norm(x, 2); "
        "np.linalg.norm(x, axis=1, keepdims=True); np.linalg.norm(x[None])",
    "linalg.pinv": "np.linalg.pinv(x); np.linalg.pinv(x, rcond=1e-10)",
    "linalg.qr": "np.linalg.qr(x.T); np.linalg.qr(x.T, mode='r')", "linalg.slogdet": "np.linalg.slogdet(s)[1]",
    "linalg.solve": "np.linalg.solve(s, V[:3]); np.linalg.solve(S, x)",
    "linalg.svd": "np.linalg.svd(x)[1]; np.linalg.svd(x, compute_uv=False)", "linalg.svdvals": "np.linalg.svdvals(x)",
    "linalg.tensorinv": "np.linalg.tensorinv(s, ind=1)", "linalg.tensorsolve": "np.linalg.tensorsolve(s, V[:3])",
    "linalg.vector_norm": "np.linalg.vector_norm(x, axis=1, ord=1)",
    **{f"fft.{f}": f"np.fft.{f}(x); np.fft.{f}(x, n=3, axis=0, norm='ortho')" for f in ("fft", "ifft", "rfft", "ihfft")},
    **{f"fft.{f}": f"np.fft.{f}(x + 0j); np.fft.{f}(x + 0j, 5)" for f in ("irfft", "hfft")},
    **{f"fft.{f}": f"np.fft.{f}(x); np.fft.{f}(x, (2, 3), (0, 1))" for f in ("fft2", "ifft2", "rfft2", "fftn", "ifftn")},
    "fft.rfftn": "np.fft.rfftn(x); np.fft.rfftn(x, (2, 3), (0, 1))",
    **{f"fft.{f}": f"np.fft.{f}(x + 0j); np.fft.{f}(x + 0j, s=(3, 4), axes=(0, 1))" for f in ("irfft2", "irfftn")},
    **{f"fft.{f}": f"np.fft.{f}(x); np.fft.{f}(x, axes=(0,))" for f in ("fftshift", "ifftshift")},
}  # fmt: skip

# What is refused where a gradient is asked for.
REFUSED = {
    "histogram": "np.histogram(w); np.histogram(W, weights=w)", "histogram2d": "np.histogram2d(w, W)",
    "histogram_bin_edges": "np.histogram_bin_edges(w)", "histogramdd": "np.histogramdd(x)",
    "polydiv": "np.polydiv(v, V[:2])", "polyfit": "np.polyfit(np.arange(7.0), w, 2)", "roots": "np.roots(v)",
    "setxor1d": "np.setxor1d(v, W)", "sort_complex": "np.sort_complex(v)", "fill_diagonal": "np.fill_diagonal(x * 1, 5.0)",
    "place": "np.place(x * 1, X > 0, [1.0])", "put": "np.put(x * 1, [0], [1.0])",
    "put_along_axis": "np.put_along_axis(x * 1, K[:, None], 9.0, 1)", "putmask": "np.putmask(x * 1, X > 0, 1.0)",
    "pad": "np.pad(x, 1, 'mean'); np.pad(x, 1, constant_values=(0, 1))", "clip": "np.clip(x, -1, 1, out=np.empty((3, 4)))",
    "quantile": "np.quantile(w, 0.3, method='hazen')",
    "linalg.qr": "np.linalg.qr(x, mode='raw')", "linalg.svd": "np.linalg.svd(s, hermitian=True)",
}  # fmt: skip

# Answered, as arrays or numbers: they have no derivative.
CONSTANT = """
    allclose argmax argmin argpartition argsort argwhere array2string array_equal array_equiv array_repr array_str can_cast
    common_type count_nonzero diag_indices_from digitize einsum_path flatnonzero iscomplex iscomplexobj isclose isin isneginf
    isposinf isreal isrealobj ix_ lexsort linalg.matrix_rank may_share_memory min_scalar_type nanargmax nanargmin ndim nonzero
    packbits ravel_multi_index result_type save savetxt savez savez_compressed searchsorted shape shares_memory size
    tril_indices_from triu_indices_from unpackbits unravel_index
    """.split()

# Neither: booleans, tensors of one number, what is written to, dates.
OTHERS = """
    all any empty_like full_like ones_like zeros_like copyto busday_count busday_offset datetime_as_string is_busday
    """.split()


def calls(table):
    """(name, function of a tensor, array, how many results are differentiable) for each expression of a table."""
    for name, text in table.items():
        path, _, count = name.partition(" ")
        for expression in text.split("; "):
            letter = re.search(r"(?<![\w.'])([xpvwsuk])(?![\w'=(])", re.sub(r"lambda y: [^,\]]*", "", expression)).group(1)
            function = eval(f"lambda {letter}: {expression}", NAMES)
            yield f"{path}: {expression}", function, NAMES[letter.upper()], int(count) if count else None


def dispatched():
    """The paths of all functions of NumPy that ask their arguments."""
    found = set()
    modules = {"": np, "linalg.": np.linalg, "fft.": np.fft, "lib.scimath.": np.emath}
    modules["lib.stride_tricks."] = np.lib.stride_tricks
    for prefix, module in modules.items():
        for name in dir(module):
            if not name.startswith("_") and hasattr(getattr(module, name), "_implementation"):
                found.add(prefix + name)
    return found
