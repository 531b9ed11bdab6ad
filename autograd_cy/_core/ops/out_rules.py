"""PyTorch's rules for the type and the memory of `out=`, by the operations' paths. Each Op gets its rule when it is declared.

Most elementwise operations, sums and scans convert their result to the type of `out`: they have no rule here. out_types.pyx
applies the rules.
"""

_PATHS = {
    "one type": """
        addbmm addmm addmv amax amin argmax argmin baddbmm bmm bucketize chain_matmul complex cross cummax cummin det
        diag dot gather hash_tensor histc index_add index_copy index_select inner inverse isin kthvalue log_softmax
        logcumsumexp masked_select matmul matrix_power median mm mode msort mv nan_to_num nanmedian norm polar renorm
        scatter scatter_add searchsorted slice_scatter slogdet softmax take take_along_dim tensordot topk tril triu vdot where

        linalg.cholesky linalg.cross linalg.det linalg.eigvalsh linalg.inv linalg.matrix_norm linalg.matrix_power
        linalg.multi_dot linalg.norm linalg.solve linalg.svdvals linalg.vecdot linalg.vector_norm

        alias_copy as_strided_copy detach_copy diagonal_copy expand_copy narrow_copy permute_copy select_copy slice_copy
        split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy unsqueeze_copy view_copy
    """,
    "one type, elementwise": "bitwise_not ceil conj_physical floor frac hardshrink neg round sgn sign trunc",
    "one type unless complex": "abs",
    "one type unless limits are tensors": "clamp clamp_max clamp_min",
    "one type unless the weight is a number": "lerp",
    "transform": """
        fft.fft fft.fft2 fft.fftn fft.hfft fft.hfft2 fft.hfftn fft.ifft2 fft.ifftn fft.ihfft2 fft.ihfftn fft.irfft fft.irfft2
        fft.irfftn fft.rfft fft.rfft2 fft.rfftn
    """,
    "transform of complex numbers": "fft.ifft fft.ihfft",
    "several, converted": "geqrf linalg.eig linalg.lstsq lu",
    "joined": "cat column_stack dstack hstack stack vstack",
    "sum": "prod sum",
    "mean": "mean",
    "scan": "cumprod cumsum",
    "nansum": "nansum",
    "truth": "isneginf isposinf signbit",
    "reduced truth": "all any",
    "places": "nonzero nonzero_static",
    "float_power": "float_power",
    "heaviside": "heaviside",
    "quantile": "nanquantile quantile",
    "frexp": "frexp",
}
_PATHS_OF_OVERLAPS = {
    "joined": _PATHS["joined"],
    "gather": "gather",
    "selection": "index_select masked_select take take_along_dim",
    "write": "index_add index_copy index_reduce scatter scatter_add scatter_reduce",  # `out` may be their input itself
}
OUT_RULES = {path: rule for rule, paths in _PATHS.items() for path in paths.split()}
OVERLAP_RULES = {path: rule for rule, paths in _PATHS_OF_OVERLAPS.items() for path in paths.split()}
