"""Rows of the op table: products that consist of others, linear algebra, Fourier transforms, windows.

Matrices that must be Hermitian are made so by `through`; of vectors that are unique but for their phase it takes what is.
"""

import functools

import numpy as np
import op_references as ref
from op_case import BOOL, COMPLEX, FLOATS, HALF, INTS, OpInfo, S
from op_promotion import promote
from op_samples import calls

PRODUCT = {"forward": INTS + HALF, "result": "first"}
INT32 = lambda args: np.dtype("int32")  # noqa: E731
INEXACT = {"forward": (), "method": False, "regular": True}


# references


def scaled_sum(product):
    def reference(x, a, b, beta=1, alpha=1):
        y = alpha * product(a, b)
        return np.broadcast_to(x, y.shape) * beta + y if beta else y

    return reference


PRODUCTS_OF_ROWS = "use_mm_for_euclid_dist"


def cdist(x, y, p=2.0, compute_mode=None):
    size = np.abs(x[..., :, None, :] - y[..., None, :, :])
    if p == np.inf:
        return size.max(-1)
    return (size**p).sum(-1) ** (1 / p)


def solve(a, b, left=True):
    if not left:
        return np.swapaxes(solve(np.swapaxes(a, -2, -1), np.swapaxes(b, -2, -1)), -2, -1)
    vectors = b.ndim == 1 or (a.ndim - 1 == b.ndim and b.shape == a.shape[:-1])
    return np.linalg.solve(a, b[..., None])[..., 0] if vectors else np.linalg.solve(a, b)


def triangle(a, upper, unitriangular):
    a = np.triu(a) if upper else np.tril(a)
    return a - a * np.eye(a.shape[-1]) + np.eye(a.shape[-1]) if unitriangular else a


def solve_triangular(a, b, *, upper, left=True, unitriangular=False):
    return solve(triangle(a, upper, unitriangular), b, left)


def triangular_solve(b, a, upper=True, transpose=False, unitriangular=False):
    matrix = triangle(a, upper, unitriangular)
    return np.linalg.solve(np.swapaxes(matrix, -2, -1) if transpose else matrix, b), a


def with_info(function):
    """A reference, and a result that says that nothing failed."""
    return lambda x, *args, **kwargs: (function(x, *args, **kwargs), np.zeros(x.shape[:-2]))


# samples


def regular(make, *sizes):
    """Matrices that are far from singular."""
    return make.of(make(*sizes, domain=((-0.6, 0.6),)) + 2 * np.eye(*sizes[-2:]))


def of_matrices(*cases, **kwargs):
    """The samples of a row that takes regular matrices: each case is the arguments, a list among them a matrix's sizes."""

    def generate(make):
        for case in cases:
            yield S(*[regular(make, *a) if isinstance(a, list) else a for a in case])
        for name, value in kwargs.items():
            yield S(regular(make, 3, 3), **{name: value})

    return generate


def sums(first):
    """A sum with a product of two tensors, of those sizes."""

    def generate(make):
        *_, a, b, y = first
        yield S(make(*y), make(*a), make(*b))
        yield S(make(1), make(*a), make(*b), beta=2, alpha=3)
        yield S(make(), make(*a), make(*b), beta=0)

    return generate


def systems(make):
    yield S(regular(make, 3, 3), make(3, 2))
    yield S(regular(make, 2, 2), make(2))
    yield S(regular(make, 2, 2, 2), make(2, 2))         # a batch of vectors
    yield S(regular(make, 2, 1, 2, 2), make(2, 2, 1))
    yield S(regular(make, 2, 2), make(1, 2), left=False)


def triangular_systems(make):
    yield S(regular(make, 3, 3), make(3, 2), upper=True)
    yield S(regular(make, 2, 2), make(2, 1), upper=False)
    yield S(regular(make, 2, 2), make(1, 2), upper=False, left=False)
    yield S(regular(make, 2, 2), make(2, 2), upper=True, unitriangular=True)
    yield S(regular(make, 2, 1, 2, 2), make(2, 2, 1), upper=True)


def old_triangular_systems(make):
    yield S(make(2, 1), regular(make, 2, 2))
    yield S(make(2, 1), regular(make, 2, 2), False)
    yield S(make(2, 2), regular(make, 2, 2), True, True)
    yield S(make(2, 2), regular(make, 2, 2), transpose=False, unitriangular=True)


SQUARES = of_matrices(([2, 2],), ([3, 3],), ([2, 2, 2],), ([0, 0],))
WIDE_AND_TALL = of_matrices(([2, 2],), ([3, 2],), ([2, 3],), ([2, 3, 2],))


# through


def on_hermitian(function, x, *args, **kwargs):
    return function(x + adjoint(x), *args, **kwargs)


def on_definite(function, x, *args, **kwargs):
    """On a definite matrix, well conditioned also where all rows of x are equal."""
    unit = np.eye(x.shape[-1])
    unit = unit.astype(x.dtype) if isinstance(x, np.ndarray) else x.new_tensor(unit)
    return function(x @ adjoint(x) + unit, *args, **kwargs)


def triangle_of(factor, upper):
    """The part of a Cholesky factor that is read: a gradient by both triangles is PyTorch's."""
    if isinstance(factor, np.ndarray):
        return np.triu(factor) if upper else np.tril(factor)
    return factor.triu() if upper else factor.tril()


def with_factor(function, b, factor, upper=False):
    return function(b, triangle_of(factor, upper), upper)


def of_factor(function, factor, upper=False):
    return function(triangle_of(factor, upper), upper)


def adjoint(x):
    return x.swapaxes(-2, -1).conj()


def polar(usv):
    """U @ Vh and S of a decomposition: what is left of the vectors' phases."""
    u, s, vh = usv
    k = s.shape[-1]
    return u[..., :k] @ vh[..., :k, :], s


def vectors_sizes(pair):
    values, vectors = pair
    return values, abs(vectors)


def taking(what, given=lambda function, *args, **kwargs: function(*args, **kwargs)):
    """What `what` makes of the results."""
    return lambda function, *args, **kwargs: what(given(function, *args, **kwargs))


def old_polar(usv):
    return polar((usv[0], usv[1], adjoint(usv[2])))


def row(path, function, samples, through=None, **columns):
    """One whose reference is NumPy's function, called by the same way."""
    reference = function if through is None else functools.partial(through, function)
    return OpInfo(path, reference, samples, through=through, **{**INEXACT, "result": "first", **columns})


def svd_reference(x, some=True, compute_uv=True):
    u, s, vh = np.linalg.svd(x, not some)
    return u, s, adjoint(vh)


def complex_result(args):
    return np.result_type(args[0], np.complex64)


PRODUCTS = [
    OpInfo("addmv", scaled_sum(np.matmul), sums(([2, 3], [3], [2])), **PRODUCT),
    OpInfo("addbmm", scaled_sum(lambda a, b: (a @ b).sum(0)), sums(([2, 2, 3], [2, 3, 1], [2, 1])), **PRODUCT),
    OpInfo("baddbmm", scaled_sum(np.matmul), sums(([2, 2, 3], [2, 3, 1], [2, 2, 1])), **PRODUCT),
    OpInfo("addr", scaled_sum(np.outer), sums(([2], [3], [2, 3])), result="first"),
    OpInfo("vdot", np.vdot, calls(([3], [3]), ([0], [0])), **PRODUCT),
    OpInfo("inner", np.inner, calls(([3], [3]), ([2, 3], [3]), ([2, 3], [1, 2, 3]), ([], [2])), **PRODUCT),
    OpInfo("outer", np.outer, calls(([2], [3]), ([0], [2]))),
    OpInfo("ger", np.outer, calls(([2], [3]), ([0], [2]))),
    OpInfo("kron", np.kron, calls(([2], [3]), ([2, 2], [2, 1]), ([2], [1, 2]), ([], [2]))),
    OpInfo("tensordot", np.tensordot, calls(([2, 3], [3, 2], 1), ([2], [2], 0), ([2, 3], [3, 2], ([0, 1], [1, 0])),
            ([2, 3, 1], [3, 1, 2])), method=False, **PRODUCT),
    OpInfo("cross", lambda x, y, dim=-1: np.cross(x, y, axis=dim), calls(([3], [3]), ([2, 3], [2, 3], 1), ([3, 2], [3, 2], 0)),
            forward=INTS + HALF),
    OpInfo("linalg.cross", np.cross, calls(([3], [3]), ([2, 3], [1, 3])), method=False, forward=INTS + HALF),
    OpInfo("linalg.vecdot", lambda x, y, dim=-1: (x.conj() * y).sum(dim),
            calls(([3], [3]), ([2, 3], [3]), ([2, 1, 3], [2, 3])), method=False, forward=HALF, result="first"),
    OpInfo("cdist", cdist, calls(([2, 3], [2, 3]), ([2, 3], [1, 3], 1.0), ([2, 1, 2], [3, 2], 3.0), ([2, 2], [2, 2], np.inf),
            ([2, 3], [3, 3], 2.0, PRODUCTS_OF_ROWS), ([2, 1, 3], [1, 2, 3])),
            method=False, dtypes=FLOATS, forward=HALF, result="first"),
    OpInfo("linalg.matrix_power", np.linalg.matrix_power, of_matrices(([2, 2], 3), ([2, 2], 0), ([2, 2, 2], 2), ([2, 2], -2),
            ([3, 3], 1)), **INEXACT, result="first"),
    OpInfo("matrix_power", np.linalg.matrix_power, of_matrices(([2, 2], 3), ([2, 2], -1)), forward=(), result="first",
            regular=True),
    OpInfo("linalg.multi_dot", np.linalg.multi_dot, lambda make: iter([
            S([make(2, 3), make(3, 1), make(1, 2)]), S([make(3), make(3, 2), make(2)]), S([make(2, 2), make(2, 2)])]),
            method=False, **PRODUCT),
    OpInfo("chain_matmul", lambda *m: functools.reduce(np.matmul, m), calls(([2, 3], [3, 1], [1, 2]), ([2, 2], [2, 1])),
            method=False, **PRODUCT),
    OpInfo("linalg.vander", lambda x, N=None: x[..., None] ** np.arange(N or x.shape[-1]),
            lambda make: iter([S(make(3)), S(make(2, 2), N=3)]), method=False, result="sum"),
]  # fmt: skip

SYSTEMS = [
    row("linalg.inv", np.linalg.inv, SQUARES),
    row("linalg.inv_ex", with_info(np.linalg.inv), SQUARES, result=("first", INT32)),
    row("inverse", np.linalg.inv, SQUARES, method=True),
    row("linalg.solve", solve, systems),
    row("linalg.solve_ex", with_info(solve), systems, result=("first", INT32)),
    row("linalg.solve_triangular", solve_triangular, triangular_systems),
    row("triangular_solve", triangular_solve, old_triangular_systems, method=True),
]

DECOMPOSITIONS = [
    row("linalg.cholesky", np.linalg.cholesky, of_matrices(([2, 2],), ([3, 3],), ([2, 2, 2],), upper=True), on_definite),
    row("linalg.cholesky_ex", with_info(np.linalg.cholesky), of_matrices(([2, 2],), ([2, 3, 3],)), on_definite,
        result=("first", INT32)),
    row("cholesky", lambda x, upper=False: np.linalg.cholesky(x, upper=upper), of_matrices(([2, 2],), ([3, 3], True)),
        on_definite),
    row("linalg.qr", np.linalg.qr, of_matrices(([2, 2],), ([3, 2],), ([2, 3],), ([2, 2, 2],), ([2, 3], "complete"))),
    row("qr", lambda x, some=True: np.linalg.qr(x, "reduced" if some else "complete"), of_matrices(([3, 2],), ([2, 3], False)),
        method=True),
    row("linalg.svd", np.linalg.svd, of_matrices(([2, 2], False), ([3, 2], False), ([2, 3], False), ([2, 2, 2], False)),
        taking(polar), result=("first", "real")),
    row("svd", svd_reference, WIDE_AND_TALL, taking(old_polar), result=("first", "real")),
    row("linalg.svdvals", lambda x: np.linalg.svd(x, compute_uv=False), WIDE_AND_TALL, result="real"),
    row("linalg.eigh", np.linalg.eigh, of_matrices(([2, 2],), ([3, 3],), ([2, 2, 2],), ([2, 2], "U")),
        taking(vectors_sizes, on_hermitian), result="real"),
    row("linalg.eigvalsh", np.linalg.eigvalsh, of_matrices(([2, 2],), ([2, 2, 2],), ([2, 2], "U")), on_hermitian,
        result="real"),
    row("linalg.eig", np.linalg.eig, of_matrices(([2, 2],), ([3, 3],), ([2, 2, 2],)), taking(vectors_sizes),
        result=(complex_result, "real")),
    row("linalg.eigvals", np.linalg.eigvals, of_matrices(([2, 2],), ([3, 3],), ([2, 2, 2],)), result=complex_result),
]

def slogdet(x):
    return tuple(np.linalg.slogdet(x))


def logdet(x):
    sign, logarithm = np.linalg.slogdet(x)
    return np.log(sign) + logarithm if np.iscomplexobj(x) else np.where(sign < 0, np.nan, logarithm)


def matrix_norm(x, ord="fro", dim=(-2, -1), keepdim=False):
    return np.linalg.norm(x, ord, dim, keepdim)


def any_norm(x, ord=None, dim=None, keepdim=False):
    return np.linalg.norm(x, ord, dim, keepdim)


def norms(*cases):
    def generate(make):
        for sizes, *args in cases:
            if make.dtype.itemsize == 2 and args[:1] in (["nuc"], [2], [-2]):
                continue        # LAPACK has no half precision
            yield S(regular(make, *sizes) if len(sizes) > 1 else make(*sizes, domain=((0.5, 3.0),)), *args)

    return generate


def cholesky_solve(b, factor, upper=False):
    factor = np.triu(factor) if upper else np.tril(factor)
    return np.linalg.solve(adjoint(factor) @ factor if upper else factor @ adjoint(factor), b)


def factors(make):
    """Of Cholesky's kind: their diagonal is real."""
    for sizes, upper in (((2, 2), False), ((2, 2, 2), True)):
        factor = regular(make, *sizes)
        diagonal = np.einsum("...ii->...i", factor)
        diagonal[...] = abs(diagonal)
        yield S(factor, upper)


def exponential(x):
    term = total = np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape)
    for k in range(1, 60):
        term = term @ x / k
        total = total + term
    return total


def reflections(a, tau):
    q = np.broadcast_to(np.eye(a.shape[-2], dtype=a.dtype), a.shape[:-1] + a.shape[-2:-1])
    for k in range(tau.shape[-1]):
        v = (np.tril(a, -1) + np.eye(*a.shape[-2:]))[..., k:k + 1]
        q = q - tau[..., k:k + 1, None] * (q @ v) @ adjoint(v)
    return q


def ormqr(a, tau, c, left=True, transpose=False):
    q = reflections(a, tau)
    q = adjoint(q) if transpose else q
    return q @ c if left else c @ q


def tensors_as_matrices(make):
    yield S(make.of(make(2, 2, 4) * 0.2 + 2 * np.eye(4).reshape(2, 2, 4)))
    yield S(make.of(make(4, 2, 2) * 0.2 + 2 * np.eye(4).reshape(4, 2, 2)), ind=1)


def tensor_systems(make):
    yield S(make.of(make(2, 2, 4) * 0.2 + 2 * np.eye(4).reshape(2, 2, 4)), make(2, 2))


FUNCTIONS = [
    row("linalg.det", np.linalg.det, of_matrices(([2, 2],), ([3, 3],), ([2, 2, 2],), ([1, 1],))),
    row("det", np.linalg.det, of_matrices(([2, 2],)), method=True),
    row("linalg.slogdet", slogdet, of_matrices(([2, 2],), ([2, 2, 2],)), result=("first", "real")),
    row("slogdet", slogdet, of_matrices(([2, 2],)), result=("first", "real"), method=True),
    row("logdet", logdet, of_matrices(([2, 2],), ([2, 2, 2],)), method=True),
    row("linalg.vector_norm", ref.norm, norms(((3,),), ((3,), 1), ((2, 3), 3, 1), ((2, 2), np.inf, (0, 1))), result="real",
        forward=HALF),
    row("linalg.matrix_norm", matrix_norm, norms(((2, 2),), ((2, 3), "nuc"), ((2, 3), 2), ((2, 2), -2), ((2, 2, 2), 1, (0, 2)),
        ((2, 3), np.inf), ((2, 3), -1, (0, 1), True), ((3, 2), 2, (1, 0), True)), result="real", forward=HALF),
    row("linalg.norm", any_norm, norms(((2, 2), "nuc"), ((3,),), ((2, 2), 1, 0), ((3,), 3)), result="real",
        forward=HALF),
    row("linalg.cond", np.linalg.cond, of_matrices(([2, 2],), ([3, 2],), ([2, 2, 2], "fro"), ([2, 2], -2)), result="real"),
    row("linalg.pinv", np.linalg.pinv, WIDE_AND_TALL),
    row("pinverse", np.linalg.pinv, of_matrices(([3, 2],)), method=True),
    row("linalg.matrix_rank", np.linalg.matrix_rank, of_matrices(([2, 2],), ([2, 3, 2],)), dtypes=(), forward=FLOATS + COMPLEX,
        result="int64"),
    row("cholesky_solve", cholesky_solve, of_matrices(([2, 1], [2, 2]), ([2, 2], [2, 2], True)), with_factor,
        method=True),
    row("cholesky_inverse", lambda x, upper=False: cholesky_solve(np.eye(x.shape[-1]), x, upper),
        factors, of_factor, method=True),
    row("linalg.matrix_exp", exponential, of_matrices(([2, 2],), ([2, 2, 2],), ([1, 1],)), forward=HALF),
    row("matrix_exp", exponential, of_matrices(([2, 2],)), method=True, forward=HALF),
    row("linalg.tensorinv", lambda x, ind=2: np.linalg.tensorinv(x, ind), tensors_as_matrices),
    row("linalg.tensorsolve", np.linalg.tensorsolve, tensor_systems),
    row("linalg.diagonal", lambda x, offset=0: np.diagonal(x, offset, -2, -1),
        lambda make: iter([S(make(2, 3)), S(make(2, 3, 2), offset=1)]), forward=BOOL + INTS + HALF),
    row("linalg.householder_product", lambda a, tau: reflections(a, tau)[..., : a.shape[-1]],
        calls(([3, 2], [2]), ([2, 2, 2], [2, 1]))),
    row("orgqr", lambda a, tau: reflections(a, tau)[..., : a.shape[-1]], calls(([3, 2], [2]))),
    row("ormqr", ormqr, calls(([2, 2], [2], [2, 1]), ([2, 1], [1], [1, 2], False), ([2, 1], [1], [2, 2], True, True)),
        method=True),
    row("geqrf", lambda x: tuple(np.swapaxes(y, -2, -1) if y.ndim >= x.ndim else y for y in np.linalg.qr(x, "raw")),
        of_matrices(([3, 2],), ([2, 2, 2],)), dtypes=(), forward=FLOATS + COMPLEX, method=True),
]  # fmt: skip

def complex_or_first(args):
    return np.result_type(promote(args[0], 1.0), np.complex64)


def real_or_float(args):
    return np.empty(0, complex_or_first(args)).real.dtype


def spectral(name, *cases, real_input=False, real_result=False, **columns):
    """A transform, whose reference is NumPy's, or for several dimensions of Hermitian input made of those."""
    dtypes = {"dtypes": FLOATS} if real_input else {}
    return OpInfo(f"fft.{name}", columns.pop("reference", None) or getattr(np.fft, name), calls(*cases), method=False,
                  forward=BOOL + INTS, result=real_or_float if real_result else complex_or_first, **dtypes)


def hfftn(x, s=None, dim=None, norm=None):
    dim = tuple(range(x.ndim)) if dim is None else dim
    s = [None] * len(dim) if s is None else s
    for n, d in zip(s[:-1], dim[:-1], strict=True):
        x = np.fft.fft(x, n, d, norm)
    return np.fft.hfft(x, s[-1], dim[-1], norm)


def ihfftn(x, s=None, dim=None, norm=None):
    dim = tuple(range(x.ndim)) if dim is None else dim
    s = [None] * len(dim) if s is None else s
    x = np.fft.ihfft(x, s[-1], dim[-1], norm)
    for n, d in zip(s[:-1], dim[:-1], strict=True):
        x = np.fft.ifft(x, n, d, norm)
    return x


def along_all(name):
    """NumPy's, whose sizes without dimensions are those of the last ones."""
    return lambda x, s=None, dim=None, norm=None: getattr(np.fft, name)(
        x, s, tuple(range(-len(s), 0)) if dim is None and s is not None else dim, norm)


def last_two(function):
    return lambda x, s=None, dim=(-2, -1), norm=None: function(x, s, dim, norm)


ALONG_ONE = ([4],), ([2, 3], 5, 0), ([2, 3], 2, -1, "ortho"), ([3, 3], None, 0, "forward")
ALONG_SEVERAL = ([2, 3],), ([2, 3], (3, 2)), ([2, 2, 3], (2, 3), (0, 2), "ortho"), ([2, 3], None, (-1, 0), "forward")

TRANSFORMS = [
    spectral("ifft", *ALONG_ONE),
    spectral("rfft", *ALONG_ONE, real_input=True),
    spectral("irfft", *ALONG_ONE, real_result=True),
    spectral("hfft", *ALONG_ONE, real_result=True),
    spectral("ihfft", *ALONG_ONE, real_input=True),
    spectral("fft2", *ALONG_SEVERAL),
    spectral("fftn", *ALONG_SEVERAL, ([2, 1, 2],), reference=along_all("fftn")),
    spectral("ifft2", *ALONG_SEVERAL),
    spectral("ifftn", *ALONG_SEVERAL, ([2, 1, 2],), reference=along_all("ifftn")),
    spectral("rfft2", *ALONG_SEVERAL, real_input=True),
    spectral("rfftn", *ALONG_SEVERAL, real_input=True, reference=along_all("rfftn")),
    spectral("irfft2", *ALONG_SEVERAL, real_result=True),
    spectral("irfftn", *ALONG_SEVERAL, real_result=True, reference=along_all("irfftn")),
    spectral("hfft2", *ALONG_SEVERAL, real_result=True, reference=last_two(hfftn)),
    spectral("hfftn", *ALONG_SEVERAL, real_result=True, reference=hfftn),
    spectral("ihfft2", *ALONG_SEVERAL, real_input=True, reference=last_two(ihfftn)),
    spectral("ihfftn", *ALONG_SEVERAL, real_input=True, reference=ihfftn),
    OpInfo("fft.fftshift", np.fft.fftshift, calls(([3],), ([2, 3], 1), ([2, 3], (0, -1)), ([0, 2],)), method=False,
            result="first"),
    OpInfo("fft.ifftshift", np.fft.ifftshift, calls(([3],), ([2, 3], 1), ([4],)), method=False, result="first"),
]

LINEAR_ALGEBRA = PRODUCTS + SYSTEMS + DECOMPOSITIONS + FUNCTIONS + TRANSFORMS
