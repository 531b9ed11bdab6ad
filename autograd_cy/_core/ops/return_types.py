"""Named tuples that operations with several results return. Each type is made when it is first used."""

from collections import namedtuple

FIELDS = {
    "aminmax": "min max",
    "cummax": "values indices",
    "cummin": "values indices",
    "frexp": "mantissa exponent",
    "histogram": "hist bin_edges",
    "histogramdd": "hist bin_edges",
    "kthvalue": "values indices",
    "max": "values indices",
    "median": "values indices",
    "min": "values indices",
    "mode": "values indices",
    "nanmedian": "values indices",
    "sort": "values indices",
    "topk": "values indices",
    "triangular_solve": "solution cloned_coefficient",
    "linalg_inv_ex": "inverse info",
    "linalg_solve_ex": "result info",
    "linalg_cholesky_ex": "L info",
    "linalg_slogdet": "sign logabsdet",
    "slogdet": "sign logabsdet",
    "linalg_qr": "Q R",
    "qr": "Q R",
    "linalg_svd": "U S Vh",
    "svd": "U S V",
    "linalg_eigh": "eigenvalues eigenvectors",
    "linalg_eig": "eigenvalues eigenvectors",
    "geqrf": "a tau",
    "linalg_lu": "P L U",
    "linalg_lu_factor": "LU pivots",
    "linalg_lu_factor_ex": "LU pivots info",
    "lu_unpack": "P L U",
    "_lu_with_info": "LU pivots info",
    "linalg_lstsq": "solution residuals rank singular_values",
    "linalg_ldl_factor": "LD pivots",
    "linalg_ldl_factor_ex": "LD pivots info",
}


def __getattr__(name):
    """A named tuple type with PyTorch's repr."""
    if name not in FIELDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def show(self):
        parts = [f"{field}={value!r}" for field, value in self._asdict().items()]
        return f"torch.return_types.{name}(\n" + ",\n".join(parts) + ")"

    made = type(name, (namedtuple(name, FIELDS[name]),), {"__slots__": (), "__repr__": show, "__module__": __name__})
    return globals().setdefault(name, made)  # one for all threads
