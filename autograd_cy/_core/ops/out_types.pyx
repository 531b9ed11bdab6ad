"""Which operations convert their result to the type of `out`, and which refuse an `out` of another type (knows no operation).

Most elementwise operations, sums and scans convert.
"""

from autograd_cy._core.arrays.dtypes cimport COMPLEX64, INT64, UINT8, code_of, long_word, type_word
from autograd_cy._core.graph.tensor cimport Tensor


cdef frozenset IN_ONE_TYPE = frozenset((
    "addmm addmv addbmm argmax argmin amax amin baddbmm bmm bucketize chain_matmul complex cross cummax cummin det diag "
    "diff dot eigvalsh gather histc index_select inner inv inverse isin kthvalue log_softmax logcumsumexp masked_select "
    "matmul matrix_norm median mm mode msort mv nan_to_num nanmedian norm polar searchsorted slice_scatter slogdet "
    "softmax solve svdvals take tensordot topk tril triu vdot vecdot vector_norm where").split())
cdef frozenset POINTWISE_IN_ONE_TYPE = frozenset((
    "abs bitwise_not ceil clamp clamp_max clamp_min conj_physical floor frac hardshrink lerp neg round sgn sign "
    "trunc").split())
cdef frozenset SEVERAL_CONVERTED = frozenset("geqrf linalg_eig lstsq lu".split())
cdef frozenset OF_TRUTH = frozenset(("isneginf", "isposinf", "signbit"))


cdef int check_type(Tensor out, Tensor result, str name, tuple args, dict kwargs) except -1:
    """Refuse an `out` of another type than the only result, if the operation doesn't convert it or got `dtype`."""
    cdef int own = code_of(result.array), other = code_of(out.array)
    if own == other:
        return 0
    if name in POINTWISE_IN_ONE_TYPE and not may_convert(name, args, kwargs):
        raise RuntimeError(f"Found dtype {type_word(other)} but expected {type_word(own)} ({name}(): nothing was written)")
    check_named(name, own, other)
    if name in IN_ONE_TYPE or name.endswith("_copy") or kwargs.get("dtype") is not None:
        refuse(name, own, other)
    return 0


cdef bint may_convert(str name, tuple args, dict kwargs) except -1:
    """Whether one of POINTWISE_IN_ONE_TYPE converts for these operands: abs() of complex numbers, limits that are tensors."""
    if name == "abs":
        return any(isinstance(x, Tensor) and code_of((<Tensor> x).array) >= COMPLEX64 for x in (*args, *kwargs.values()))
    if name in ("clamp", "clamp_max", "clamp_min"):
        limits = args[1:] + tuple([kwargs[key] for key in kwargs if key not in ("input", "self")])
        return any(isinstance(x, Tensor) for x in limits)
    return False


cdef int check_named(str name, int own, int other) except -1:
    """Refuse types with the error texts of single operations."""
    if name in ("nonzero", "nonzero_static"):
        raise RuntimeError(f"{name}: Expected out tensor to have scalar type {type_word(own)} but got scalar type "
                           f"{type_word(other)}")
    if name in ("any", "all") and other != UINT8:
        raise RuntimeError(f"{name} only supports bool tensor for result, got: {type_word(other)}")
    if name in OF_TRUTH:
        raise RuntimeError(f"{name} does not support non-boolean outputs.")
    if name == "float_power":
        raise RuntimeError(f"the output given to float_power has dtype {type_word(other)} but the operation's result requires "
                           f"dtype {type_word(own)}")
    if name == "heaviside":
        what = "complex tensors" if other >= COMPLEX64 else "tensors with different dtypes"
        raise RuntimeError(f"heaviside is not yet implemented for {what}.")
    if name in ("quantile", "nanquantile"):
        raise RuntimeError(f"{name}() out tensor must be same dtype as the input tensor")
    return 0


cdef int check_type_of_several(Tensor out, Tensor result, str name, Py_ssize_t number) except -1:
    """Refuse an `out` of another type than its result, the one with this number."""
    cdef int own = code_of(result.array), other = code_of(out.array)
    if own == other or (name in SEVERAL_CONVERTED and own != INT64):
        return 0
    if name == "frexp":
        raise RuntimeError(f"torch.frexp() expects {'exponent' if number else 'mantissa'} to have "
                           f"{'int dtype' if number else 'dtype ' + long_word(own)} but got {long_word(other)}")
    refuse(name, own, other)


cdef int refuse(str name, int own, int other) except -1:
    raise RuntimeError(f"Expected out tensor to have dtype {long_word(own)}, but got {long_word(other)} instead "
                       f"({name}(): nothing was written)")
