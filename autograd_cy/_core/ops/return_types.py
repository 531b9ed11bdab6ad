"""Tuples with named fields, which operations with several results return."""

from collections import namedtuple


def _result(name, fields):
    """A type of tuples, shown as PyTorch shows its own."""

    def show(self):
        parts = [f"{field}={value!r}" for field, value in self._asdict().items()]
        return f"torch.return_types.{name}(\n" + ",\n".join(parts) + ")"

    return type(name, (namedtuple(name, fields),), {"__slots__": (), "__repr__": show, "__module__": __name__})


aminmax = _result("aminmax", "min max")
cummax = _result("cummax", "values indices")
cummin = _result("cummin", "values indices")
frexp = _result("frexp", "mantissa exponent")
histogram = _result("histogram", "hist bin_edges")
histogramdd = _result("histogramdd", "hist bin_edges")
kthvalue = _result("kthvalue", "values indices")
max = _result("max", "values indices")
median = _result("median", "values indices")
min = _result("min", "values indices")
mode = _result("mode", "values indices")
nanmedian = _result("nanmedian", "values indices")
sort = _result("sort", "values indices")
topk = _result("topk", "values indices")
triangular_solve = _result("triangular_solve", "solution cloned_coefficient")
linalg_inv_ex = _result("linalg_inv_ex", "inverse info")
linalg_solve_ex = _result("linalg_solve_ex", "result info")
linalg_cholesky_ex = _result("linalg_cholesky_ex", "L info")
linalg_slogdet = _result("linalg_slogdet", "sign logabsdet")
slogdet = _result("slogdet", "sign logabsdet")
linalg_qr = _result("linalg_qr", "Q R")
qr = _result("qr", "Q R")
linalg_svd = _result("linalg_svd", "U S Vh")
svd = _result("svd", "U S V")
linalg_eigh = _result("linalg_eigh", "eigenvalues eigenvectors")
linalg_eig = _result("linalg_eig", "eigenvalues eigenvectors")
geqrf = _result("geqrf", "a tau")
linalg_lu = _result("linalg_lu", "P L U")
linalg_lu_factor = _result("linalg_lu_factor", "LU pivots")
linalg_lu_factor_ex = _result("linalg_lu_factor_ex", "LU pivots info")
lu_unpack = _result("lu_unpack", "P L U")
_lu_with_info = _result("_lu_with_info", "LU pivots info")
linalg_lstsq = _result("linalg_lstsq", "solution residuals rank singular_values")
linalg_ldl_factor = _result("linalg_ldl_factor", "LD pivots")
linalg_ldl_factor_ex = _result("linalg_ldl_factor_ex", "LD pivots info")
