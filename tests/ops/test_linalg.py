"""Linear algebra beyond the rows of the op table: what is refused, singular matrices, sizes of several blocks."""

import numpy as np
import pytest
from common import leaf

import autograd_cy as ag

rng = np.random.default_rng(0)


def matrices(*sizes, dtype="float64"):
    made = rng.normal(size=sizes)
    return np.asarray(made + 1j * rng.normal(size=sizes) if dtype.startswith("complex") else made, dtype)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 33, 70])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unitriangular", [False, True])
def test_triangular_systems_of_several_blocks(n, dtype, upper, unitriangular):
    a = (matrices(2, n, n, dtype=dtype) / n + np.eye(n)).astype(dtype)
    b = matrices(n, 3, dtype=dtype)
    x = ag.linalg.solve_triangular(ag.tensor(a), ag.tensor(b), upper=upper, unitriangular=unitriangular).numpy()
    triangle = np.triu(a) if upper else np.tril(a)
    if unitriangular:
        triangle = triangle - triangle * np.eye(n) + np.eye(n)
    assert x.dtype == dtype
    near = 1e-3 if dtype in ("float32", "complex64") else 1e-10
    np.testing.assert_allclose(triangle @ x, np.broadcast_to(b, x.shape), rtol=near, atol=near)


SINGULAR = np.stack([np.eye(2), np.ones((2, 2))])
NOT_POSITIVE = np.stack([np.eye(2), np.diag([1.0, -1.0])])
REFUSED = {
    "inv": (lambda: ag.linalg.inv(ag.ones(2, 2)),
            "^linalg.inv: The diagonal element 2 is zero, the inversion could not be completed because the input matrix is s"),
    "inv of a batch": (lambda: ag.linalg.inv(ag.tensor(SINGULAR)), r"\(Batch element 1\): The diagonal element 2 is zero"),
    "inv_ex": (lambda: ag.linalg.inv_ex(ag.ones(2, 2), check_errors=True), "linalg.inv_ex: The diagonal element 2 is zero"),
    "solve": (lambda: ag.linalg.solve(ag.ones(2, 2), ag.ones(2)), "torch.linalg.solve: The solver failed because the input"),
    "lu_factor": (lambda: ag.linalg.lu_factor(ag.tensor(SINGULAR)), r"\(Batch element 1\): U\[2,2\] is zero"),
    "lu without pivots": (lambda: ag.linalg.lu(ag.eye(2), pivot=False), "LU without pivoting is not implemented on the CPU"),
    "lu of a vector": (lambda: ag.linalg.lu(ag.ones(2)), "Expected tensor with 2 or more dimensions"),
    "pivots that are no rows": (lambda: ag.lu_unpack(ag.eye(2), ag.tensor([3, 1], dtype=ag.int32)), "must be between 1 and"),
    "pivots above LU's rows": (
        lambda: ag.linalg.lu_solve(ag.eye(2), ag.tensor([1, 3], dtype=ag.int32), ag.ones(2, 1)), "to 2, but got 1 to 3"),
    "a pivot of 0": (
        lambda: ag.lu_solve(ag.ones(2, 1), ag.eye(2), ag.tensor([0, 2], dtype=ag.int32)), "from 1 to 2, but got 0 to 2"),
    "LDL pivots that are no rows": (
        lambda: ag.linalg.ldl_solve(ag.eye(2), ag.tensor([3, 2], dtype=ag.int32), ag.ones(2, 1)), r"but got \[3, 2\]"),
    "half a block of LDL": (
        lambda: ag.linalg.ldl_solve(ag.eye(2), ag.tensor([1, -1], dtype=ag.int32), ag.ones(2, 1)), r"but got \[1, -1\]"),
    "pivots in int64": (lambda: ag.lu_unpack(ag.eye(2), ag.tensor([2, 2])), "tensor of torch.int32 dtype"),
    "ormqr with too many reflections": (
        lambda: ag.ormqr(ag.ones(2, 2), ag.ones(3), ag.ones(2, 1)),
        r"tau.shape\[-1\] must be equal to min\(other.shape\[-2\], input.shape\[-1\]\)"),
    "ormqr with too few reflections, from the right": (
        lambda: ag.ormqr(ag.ones(2, 2), ag.ones(1), ag.ones(1, 2), False), r"min\(other.shape\[-1\], input.shape\[-1\]\)"),
    "cholesky_solve of other sizes": (
        lambda: ag.cholesky_solve(ag.ones(2, 1), ag.eye(3)), "each A matrix is 3 by 3 but each b matrix is 2 by 1"),
    "cholesky_solve of another type": (
        lambda: ag.cholesky_solve(ag.ones(2, 1), ag.eye(2).double()), "found b of type Float and A of type Double"),
    "cholesky": (lambda: ag.linalg.cholesky(ag.tensor(NOT_POSITIVE)), "leading minor of order 2 is not positive-definite"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    call, message = REFUSED[case]
    with pytest.raises(RuntimeError, match=message):
        call()


def test_info_tells_which_matrices_fail():
    inverse, info = ag.linalg.inv_ex(ag.tensor(SINGULAR))
    assert info.tolist() == [0, 2] and inverse[0].tolist() == [[1, 0], [0, 1]]
    assert ag.linalg.cholesky_ex(ag.tensor(NOT_POSITIVE)).info.tolist() == [0, 2]
    assert ag.linalg.solve_ex(ag.tensor(SINGULAR), ag.ones(2, 1).double()).info.tolist() == [0, 2]


@pytest.mark.parametrize("a", [np.ones((2, 2)), np.diag([1.0, 2.0, 0.0]), np.zeros((2, 2)), np.zeros((3, 3))], ids=str)
def test_the_gradient_of_a_determinant_that_is_zero(a):
    assert ag.testing.check_gradients(ag.linalg.det, leaf(a)).outcome == "right"


VECTORS = {
    "svd": lambda x: ag.linalg.svd(x, full_matrices=False).U.real.sum(),
    "eigh": lambda x: ag.linalg.eigh(x + x.transpose(0, 1).conj()).eigenvectors.real.sum(),
    "eig": lambda x: ag.linalg.eig(x).eigenvectors.real.sum(),
}


@pytest.mark.parametrize("name", VECTORS)
def test_losses_that_depend_on_a_phase_are_refused(name):
    x = ag.tensor(matrices(3, 3, dtype="complex128"), requires_grad=True)
    with pytest.raises(RuntimeError, match=f"{name}_backward: The .* specified up to multiplication by e"):
        VECTORS[name](x).backward()


@pytest.mark.parametrize("mode, sizes, message", [
    ("r", (2, 2), "The derivative of linalg.qr depends on Q"),
    ("complete", (3, 2), "QR decomposition is not differentiable when mode='complete' and nrows > ncols"),
])
def test_modes_of_qr_without_a_derivative(mode, sizes, message):
    y = ag.linalg.qr(ag.tensor(matrices(*sizes), requires_grad=True), mode).R.sum()
    with pytest.raises(RuntimeError, match=message):
        y.backward()


def test_a_write_to_an_output_that_was_saved_is_found():
    values, vectors = ag.linalg.eigh(leaf(np.diag([1.0, 2.0])))
    vectors.detach().mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        values.sum().backward()


def test_saved_outputs_go_through_hooks():
    packed = []
    with ag.autograd.graph.saved_tensors_hooks(lambda x: packed.append(x) or x, lambda x: x):
        y = ag.linalg.svd(leaf(np.diag([1.0, 2.0])), full_matrices=False)
    assert len(packed) == 3
    y.S.sum().backward()


def test_sums_with_products_in_place_on_a_view():
    x, a, b = leaf(matrices(2, 3)), leaf(matrices(2)), leaf(matrices(3))
    copy = x.transpose(0, 1).clone()
    copy.transpose(0, 1).addr_(a, b, beta=2, alpha=3)
    copy.square().sum().backward()
    found = [y.grad.clone() for y in (x, a, b)]
    for y in (x, a, b):
        y.grad = None
    ag.addr(x, a, b, beta=2, alpha=3).square().sum().backward()
    for g, y in zip(found, (x, a, b), strict=True):
        np.testing.assert_allclose(g.numpy(), y.grad.numpy())


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("sizes", [(1, 1), (16, 16), (17, 40), (70, 33), (3, 50, 50), (2, 5, 20), (0, 3), (2, 3, 0)])
def test_lu_decompositions_of_several_panels(sizes, dtype):
    a = matrices(*sizes, dtype=dtype)
    near = 1e-4 if dtype in ("float32", "complex64") else 1e-11
    for p, lower, upper in (ag.linalg.lu(ag.tensor(a)), ag.lu_unpack(*ag.linalg.lu_factor(ag.tensor(a)))):
        product = (p.to(ag.tensor(a).dtype) @ lower @ upper).numpy()
        assert product.dtype == dtype
        np.testing.assert_allclose(product, a, rtol=near, atol=near)
        assert np.abs(lower.numpy()).max(initial=0) <= 2 ** 0.5 + 1e-6     # LAPACK's measure of complex pivots


def test_parts_of_an_unpacked_decomposition():
    lu, pivots = ag.linalg.lu_factor(leaf(np.array([[1.0, 2.0], [3.0, 4.0]])))
    p, lower, upper = ag.lu_unpack(lu, pivots, unpack_data=False)
    assert p.tolist() == [[0, 1], [1, 0]] and lower.shape == upper.shape == (0,)
    p, lower, _ = ag.lu_unpack(lu, pivots, unpack_pivots=False)
    assert p.shape == (0,) and lower.requires_grad and not p.requires_grad


def test_a_singular_matrix_has_an_lu_decomposition():
    lu, pivots, info = ag.linalg.lu_factor_ex(ag.tensor(SINGULAR))
    assert info.tolist() == [0, 2] and pivots.tolist() == [[1, 2], [1, 2]] and lu[1].tolist() == [[1, 1], [1, 0]]


@pytest.mark.parametrize("driver", [None, "gelsy", "gelsd", "gelss"])
def test_least_squares_without_full_rank(driver):
    a, b = ag.tensor(SINGULAR)[1].float(), ag.tensor([[2.0], [4.0]])
    solution, residuals, rank, values = ag.linalg.lstsq(a, b, driver=driver)
    np.testing.assert_allclose(solution.numpy(), [[1.5], [1.5]], rtol=1e-5)
    assert residuals.shape == (0,) and rank.item() == 1
    assert values.shape == ((2,) if driver in ("gelsd", "gelss") else (0,))


def test_least_squares_of_full_rank_by_gels_refuses_others():
    with pytest.raises(ag.linalg.LinAlgError, match="does not have full rank"):
        ag.linalg.lstsq(ag.zeros(3, 2), ag.ones(3, 1), driver="gels")


def test_the_gradient_of_least_squares_without_full_rank_is_that_of_the_pseudoinverse():
    u, v, b = leaf(matrices(4, 2)), leaf(matrices(2, 3)), leaf(matrices(4, 2))
    found = ag.autograd.grad(ag.linalg.lstsq(u @ v, b).solution.square().sum(), (u, v, b))
    expected = ag.autograd.grad((ag.linalg.pinv(u @ v, rtol=1e-10) @ b).square().sum(), (u, v, b))
    for g, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(g.numpy(), wanted.numpy(), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("hermitian", [False, True])
def test_systems_with_ldl_decompositions_that_exchange_rows(dtype, hermitian):
    x = matrices(3, 9, 9, dtype=dtype)
    x = x + (np.swapaxes(x, -2, -1).conj() if hermitian else np.swapaxes(x, -2, -1))
    x[:, range(9), range(9)] = 0
    b = matrices(9, 2, dtype=dtype)
    ld, pivots = ag.linalg.ldl_factor(ag.tensor(x), hermitian=hermitian)
    y = ag.linalg.ldl_solve(ld, pivots, ag.tensor(b), hermitian=hermitian).numpy()
    near = 1e-3 if dtype in ("float32", "complex64") else 1e-9
    assert (pivots.numpy() < 0).any()
    np.testing.assert_allclose(x @ y, np.broadcast_to(b, y.shape), rtol=near, atol=near)


@pytest.mark.parametrize("sizes", [(9, 5), (5, 9), (2, 6, 6)])
def test_decompositions_of_low_rank(sizes):
    a = matrices(*sizes[:-2], sizes[-2], 3) @ matrices(*sizes[:-2], 3, sizes[-1])
    u, s, v = ag.svd_lowrank(ag.tensor(a), q=4)
    np.testing.assert_allclose(((u * s.unsqueeze(-2)) @ v.mH).numpy(), a, atol=1e-10)
    mean = np.mean(a, -2, keepdims=True)
    u, s, v = ag.pca_lowrank(ag.tensor(a), q=3)
    np.testing.assert_allclose(((u * s.unsqueeze(-2)) @ v.mH).numpy(), a - mean, atol=1e-10)
    u, s, v = ag.svd_lowrank(ag.tensor(a), q=4, M=ag.tensor(mean))
    np.testing.assert_allclose(((u * s.unsqueeze(-2)) @ v.mH).numpy(), a - mean, atol=1e-10)


def test_sizes_of_a_principal_component_analysis():
    assert ag.pca_lowrank(ag.ones(9, 8))[1].shape == (6,)
    for q, niter in ((4, 2), (-1, 2), (1, -1)):
        with pytest.raises(ValueError, match="must be non-negative integer"):
            ag.pca_lowrank(ag.ones(3, 3), q=q, niter=niter)


def test_ldl_decompositions_have_no_derivative():
    ld, pivots = ag.linalg.ldl_factor(leaf(np.eye(2)))
    with pytest.raises(RuntimeError, match="derivative for aten::linalg_ldl_factor_ex is not implemented"):
        ld.sum().backward()
    y = ag.linalg.ldl_solve(ld.detach(), pivots, leaf(np.ones((2, 1))))
    with pytest.raises(RuntimeError, match="derivative for aten::linalg_ldl_solve is not implemented"):
        y.sum().backward()


@pytest.mark.parametrize("dtype, near", [("float16", 1e-2), ("float32", 1e-5), ("float64", 1e-12)])
@pytest.mark.parametrize("mode", [None, "donot_use_mm_for_euclid_dist", "use_mm_for_euclid_dist"])
def test_distances_of_many_rows(dtype, near, mode):
    x, y = matrices(2, 30, 4, dtype=dtype), matrices(5, 4, dtype=dtype)
    found = ag.cdist(ag.tensor(x), ag.tensor(y), compute_mode=mode).numpy()
    expected = np.linalg.norm(x[:, :, None].astype(float) - y.astype(float), axis=-1)
    np.testing.assert_allclose(found, expected, rtol=near)


@pytest.mark.parametrize("mode", ["donot_use_mm_for_euclid_dist", "use_mm_for_euclid_dist"])
def test_the_gradient_of_a_distance_that_is_zero_is_zero(mode):
    x = leaf([[1.0, 2.0], [4.0, 6.0]])
    (g,) = ag.autograd.grad(ag.cdist(x, ag.tensor([[1.0, 2.0]]).double(), compute_mode=mode).sum(), x, create_graph=True)
    np.testing.assert_allclose(g.tolist(), [[0, 0], [0.6, 0.8]], atol=1e-12)
    assert ag.autograd.grad(g.sum(), x)[0].isfinite().all()


def test_ways_to_compute_distances_that_are_not_known():
    with pytest.raises(ValueError, match="quickly is not a valid value for compute_mode"):
        ag.cdist(ag.ones(1, 1), ag.ones(1, 1), compute_mode="quickly")


def test_single_precision_is_computed_by_lapack_in_single_precision():
    x = matrices(3, 4, 4, dtype="float32")
    hermitian = x @ np.swapaxes(x, -2, -1) + np.eye(4, dtype="float32")
    assert ag.linalg.svdvals(ag.tensor(x)).dtype == ag.float32
    for function in (ag.linalg.eigvalsh, ag.linalg.cholesky):
        assert function(ag.tensor(hermitian)).dtype == ag.float32


def test_both_gradients_of_a_system_whatever_is_asked_for_first():
    a, b = leaf(matrices(4, 4) + 4 * np.eye(4)), leaf(matrices(4, 2))
    y = ag.linalg.solve(a, b)
    together = ag.autograd.grad(y.sum(), (a, b), retain_graph=True)
    for _ in range(2):
        for k, x in enumerate((a, b)):
            (alone,) = ag.autograd.grad(y.sum(), x, retain_graph=True)
            np.testing.assert_allclose(alone.numpy(), together[k].numpy())


def test_pivots_that_were_written_to_are_refused():
    """lu_solve() took them for those that it had used, and read rows that no matrix has."""
    lu, pivots = ag.linalg.lu_factor(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    y = ag.linalg.lu_solve(lu.requires_grad_(), pivots, ag.ones(2, 1))
    pivots.fill_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("sizes", [(0, 2**40), (2**40, 0), (2, 0, 3), (0, 2, 3)])
def test_matrices_without_elements(sizes):
    """Of 2**40 columns without rows NumPy's loops took an hour."""
    x = ag.from_numpy(np.empty(sizes, np.float32)).requires_grad_()
    *batch, m, n = sizes
    k = min(m, n)
    shapes = [tuple(y.shape) for y in (*ag.linalg.svd(x, full_matrices=False), ag.linalg.svdvals(x), *ag.linalg.qr(x))]
    assert shapes == [(*batch, m, k), (*batch, k), (*batch, k, n), (*batch, k), (*batch, m, k), (*batch, k, n)]
    assert ag.linalg.pinv(x).shape == (*batch, n, m) and ag.linalg.matrix_rank(x).tolist() == np.zeros(batch).tolist()
    assert ag.linalg.qr(x, mode="r").R.shape == (*batch, k, n)


NAN = np.stack([np.eye(2), np.full((2, 2), np.nan)])
SVD = "linalg.svd: {}The algorithm failed to converge because the input matrix contained non-finite values."
EIGH = "linalg.eigh: {}The algorithm failed to converge because the input matrix is ill-conditioned or has too many"
DEFINITE = "{}The factorization could not be completed because the input is not positive-definite (the leading minor of"
LSTSQ = "torch.linalg.lstsq: {}The least squares solution could not be computed because the input matrix contained non-finite"
NOT_FINITE = {
    "svd": (ag.linalg.svd, SVD),
    "svd of an earlier PyTorch": (ag.svd, SVD),
    "svdvals": (ag.linalg.svdvals, SVD),
    "cond": (ag.linalg.cond, SVD),
    "pinv": (ag.linalg.pinv, SVD),
    "pinv, hermitian": (lambda x: ag.linalg.pinv(x.repeat(1, 2, 2), hermitian=True), EIGH),
    "matrix_rank": (ag.linalg.matrix_rank, SVD),
    "matrix_rank, hermitian": (lambda x: ag.linalg.matrix_rank(x.repeat(1, 2, 2), hermitian=True), EIGH),
    "lstsq": (lambda x: ag.linalg.lstsq(x, ag.ones(2, 2, 1).double()), LSTSQ),
    "lstsq by gels": (lambda x: ag.linalg.lstsq(x, ag.ones(2, 2, 1).double(), driver="gels"), LSTSQ),
    "lstsq by gelsd": (lambda x: ag.linalg.lstsq(x, ag.ones(2, 2, 1).double(), driver="gelsd"), LSTSQ),
    "nuclear norm": (lambda x: ag.linalg.matrix_norm(x, "nuc"), SVD),
    "2-norm": (lambda x: ag.linalg.matrix_norm(x, 2), SVD),
    "eigh": (lambda x: ag.linalg.eigh(x.repeat(1, 2, 2)), EIGH),
    "eigvalsh": (lambda x: ag.linalg.eigvalsh(x.repeat(1, 2, 2)), EIGH),
    "cholesky": (ag.linalg.cholesky, "linalg.cholesky: " + DEFINITE),
    "cholesky_ex": (lambda x: ag.linalg.cholesky_ex(x, check_errors=True), "linalg.cholesky_ex: " + DEFINITE),
}


@pytest.mark.parametrize("name", NOT_FINITE)
@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_matrix_of_nan_is_an_error_that_names_the_batch_element(name, requires_grad):
    call, message = NOT_FINITE[name]
    with pytest.raises(ag.linalg.LinAlgError) as found:
        call(ag.tensor(NAN, requires_grad=requires_grad))
    assert str(found.value).startswith(message.format("(Batch element 1): "))
    with pytest.raises(RuntimeError) as found:
        call(ag.tensor(NAN[1:] if "lstsq" in name else NAN, requires_grad=requires_grad))
    assert isinstance(found.value, ag.linalg.LinAlgError)


def test_info_of_cholesky_tells_where_nan_is():
    x = ag.tensor(np.stack([np.eye(3), np.diag([1.0, np.nan, 1.0]), np.full((3, 3), np.nan)]))
    assert ag.linalg.cholesky_ex(x).info.tolist() == [0, 2, 1]
    assert ag.linalg.cholesky_ex(x).L[0].tolist() == np.eye(3).tolist()


@pytest.mark.parametrize("n", [1, 2, 3, 30])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_singular_values_of_matrices_with_an_infinity_are_nan(n, dtype):
    """LAPACK iterated on them without an end."""
    x = np.stack([np.eye(n), np.ones((n, n))]).astype(dtype)
    x[1, 0, 0] = np.inf
    x = ag.tensor(x)
    assert ag.linalg.svdvals(x)[0].tolist() == [1] * n and ag.linalg.svdvals(x)[1].isnan().all()
    assert all(part[0].isfinite().all() and part[1].isnan().all() for part in ag.linalg.svd(x))
    assert ag.linalg.cond(x)[1].isnan() and ag.linalg.matrix_norm(x, "nuc")[1].isnan()
    assert ag.linalg.matrix_rank(x).tolist() == [n, 0]
    assert ag.linalg.eigvals(x)[1].isnan().all() and ag.linalg.eigvals(x)[0].tolist() == [1] * n


def test_least_squares_of_full_rank_by_gels_tell_which_matrix_has_less():
    with pytest.raises(ag.linalg.LinAlgError, match=r"\(Batch element 1\): .* does not have full rank \(error code: 1\)"):
        ag.linalg.lstsq(ag.stack([ag.ones(3, 1), ag.zeros(3, 1)]), ag.ones(2, 3, 1), driver="gels")


@pytest.mark.parametrize(
    "values", [[[np.nan, 1.0], [1.0, 1.0]], [[1.0, np.nan], [1.0, 1.0]], [[np.inf, 0.0], [0.0, 0.0]]], ids=str)
def test_determinants_of_matrices_that_are_not_finite(values):
    """LAPACK takes a column that begins with nan for one of zeros."""
    x = ag.tensor(np.stack([np.eye(2), values]))
    assert ag.linalg.det(x)[0] == 1 and ag.linalg.det(x)[1].isnan()
    sign, logarithm = ag.linalg.slogdet(x)
    assert sign.tolist() == [1, 0] and logarithm[0] == 0 and logarithm[1].isnan()
    assert ag.logdet(x)[1].isnan()


def test_the_gradient_by_a_cholesky_factor_is_a_full_matrix():
    factor = leaf([[2.0, 0.0], [1.0, 3.0]])
    (g,) = ag.autograd.grad(ag.cholesky_solve(ag.eye(2).double(), factor).sum(), factor)
    np.testing.assert_allclose(g.numpy(), [[-2 / 9, -2 / 27], [-1 / 18, -1 / 54]])
    upper = leaf([[2.0, 1.0], [0.0, 3.0]])
    (turned,) = ag.autograd.grad(ag.cholesky_inverse(upper, upper=True).sum(), upper)
    np.testing.assert_allclose(turned.numpy(), g.numpy().T)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("upper", [False, True])
def test_all_derivatives_of_systems_with_cholesky_factors(dtype, upper):
    factor = ag.tensor(matrices(2, 3, 3, dtype=dtype) + 3 * np.eye(3), requires_grad=True)
    b = ag.tensor(matrices(3, 2, dtype=dtype), requires_grad=True)

    def solve(b, factor):
        return ag.cholesky_solve(b, factor.triu() if upper else factor.tril(), upper)

    assert ag.autograd.gradcheck(solve, (b, factor), check_forward_ad=True, check_batched_grad=True)
    assert ag.autograd.gradgradcheck(solve, (b, factor), check_fwd_over_rev=True)


@pytest.mark.parametrize("sizes", [(0, 0), (0, 3), (3, 0), (2, 0, 3), (2, 3, 0), (0, 2, 2), (2, 0, 0, 4)])
def test_norms_and_condition_numbers_of_matrices_without_elements(sizes):
    x = ag.ones(sizes, requires_grad=True)
    for p in (None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"):
        if p in ("nuc", "fro") and sizes[-1] != sizes[-2]:
            with pytest.raises(RuntimeError, match="must be batches of square matrices"):
                ag.linalg.cond(x, p)
            continue
        y = ag.linalg.cond(x, p)
        assert y.shape == sizes[:-2] and not y.any()
    for ord in ("fro", "nuc", 2, 1, np.inf):
        for keepdim in (False, True):
            y = ag.linalg.matrix_norm(x, ord, keepdim=keepdim)
            assert y.shape == sizes[:-2] + (1, 1) * keepdim and not y.any()
            y.sum().backward()
    assert x.grad.shape == sizes
    assert ag.linalg.cond(ag.ones(0, 0, dtype=ag.complex64)).dtype == ag.float32


@pytest.mark.parametrize("ord", [-2, -1, -np.inf])
def test_the_smallest_of_no_elements_is_refused(ord):
    with pytest.raises(IndexError, match=r"amin.*non-zero size"):
        ag.linalg.matrix_norm(ag.ones(0, 0), ord)


@pytest.mark.parametrize("diagonal", [5, -5, 2**62, -(2**62), 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("dtype", [ag.bool, ag.float32, ag.complex128])
def test_triangles_of_diagonals_far_out(diagonal, dtype):
    """The offset times the size of an element went beyond 64 bits: triu(2**62) of float32 kept all."""
    x = ag.ones(2, 3, 4, dtype=dtype)
    near = min(max(diagonal, -9), 9)
    np.testing.assert_array_equal(x.triu(diagonal).numpy(), np.triu(x.numpy(), near))
    np.testing.assert_array_equal(x.tril(diagonal).numpy(), np.tril(x.numpy(), near))


@pytest.mark.parametrize("n", [2**63 - 1, -(2**63)])
def test_the_largest_powers(n):
    x = ag.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert ag.linalg.matrix_power(x, n).tolist() == (x if n % 2 else ag.eye(2)).tolist()


def test_dimensions_of_a_norm_are_a_tuple():
    with pytest.raises(TypeError, match=r"argument 'dim' must be int or tuple of ints, not range"):
        ag.linalg.norm(ag.ones(2, 2), 1, range(2**62))


def test_factors_of_many_matrices_some_of_which_have_none():
    """One failure made each matrix of the batch cost two calls of NumPy."""
    good, bad = ag.tensor([[4.0, 2.0], [2.0, 3.0]]), ag.tensor([[1.0, 2.0], [2.0, 1.0]])
    nan = ag.full((2, 2), float("nan"))
    found, info = ag.linalg.cholesky_ex(ag.stack([good, bad, -good, nan, good]))
    assert info.tolist() == [0, 2, 1, 1, 0]
    assert found[0].equal(ag.linalg.cholesky(good)) and found[4].equal(found[0]) and found[1:4].isnan().all()
    single = ag.linalg.cholesky_ex(bad)
    assert single.info == 2 and single.L.isnan().all()


@pytest.mark.parametrize("weights, message", [
    ({"fweights": ag.ones(5, 5, dtype=ag.int64)}, "fweights to have one or fewer dimensions but got fweights with 2"),
    ({"aweights": ag.ones(5, 5)}, "aweights to have one or fewer dimensions but got aweights with 2"),
    ({"fweights": ag.ones(5)}, "fweights to have integral dtype but got fweights with Float dtype"),
    ({"aweights": ag.ones(5, dtype=ag.int64)}, "aweights to have floating point dtype but got aweights with Long dtype"),
    ({"fweights": ag.ones(4, dtype=ag.int64)}, "same numel as there are observations in the input but got 4 != 5"),
    ({"fweights": -ag.ones(5, dtype=ag.int64)}, "fweights cannot be negative"),
    ({"aweights": -ag.ones(5)}, "aweights cannot be negative"),
])  # fmt: skip
def test_weights_that_cov_refuses(weights, message):
    with pytest.raises(RuntimeError, match=message):
        ag.cov(ag.rand(5), **weights)
