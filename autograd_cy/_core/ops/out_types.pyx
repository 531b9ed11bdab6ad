"""Which operations convert their result to the type of `out`, and which refuse an `out` of another type (knows no operation).

Most elementwise operations, sums and scans convert.
"""

from autograd_cy._core.arrays.dtypes cimport (
    BOOL, COMPLEX64, FLOAT16, INT64, UINT8, check_cast, code_of, dtype_of, long_word, type_word)
from autograd_cy._core.graph.tensor cimport Tensor


cdef frozenset IN_ONE_TYPE = frozenset((
    "addbmm addmm addmv amax amin argmax argmin baddbmm bmm bucketize chain_matmul complex cross cummax cummin det "
    "diag dot eigvalsh gather histc index_add index_select inner inv inverse isin kthvalue linalg_cholesky "
    "linalg_cross log_softmax logcumsumexp masked_select matmul matrix_norm matrix_power median mm mode msort "
    "multi_dot mv nan_to_num nanmedian norm polar renorm scatter scatter_add searchsorted slice_scatter slogdet "
    "softmax solve svdvals take take_along_dim tensordot topk tril triu vdot vecdot vector_norm where").split())
cdef frozenset POINTWISE_IN_ONE_TYPE = frozenset((
    "abs bitwise_not ceil clamp clamp_max clamp_min conj_physical floor frac hardshrink lerp neg round sgn sign "
    "trunc").split())
cdef frozenset SEVERAL_CONVERTED = frozenset("eig geqrf linalg_eig lstsq lu".split())
cdef frozenset JOINED = frozenset("cat column_stack concat concatenate dstack hstack row_stack stack vstack".split())
cdef frozenset IN_TYPE_OF_OUT = frozenset("cumprod cumsum mean nansum prod sum".split())
cdef frozenset TRANSFORMS = frozenset([prefix + name + n for prefix in ("", "i") for name in ("fft", "rfft", "hfft")
                                       for n in ("", "2", "n")])
cdef frozenset OF_TRUTH = frozenset(("isneginf", "isposinf", "signbit"))


cdef int check_type(Tensor out, Tensor result, str name, tuple args, dict kwargs) except -1:
    """Refuse an `out` of another type than the only result, if the operation doesn't convert it or got `dtype`."""
    cdef int own = code_of(result.array), other = code_of(out.array)
    if own == other:
        return 0
    if name in POINTWISE_IN_ONE_TYPE and not may_convert(name, other, args, kwargs):
        raise RuntimeError(f"Found dtype {type_word(other)} but expected {type_word(own)} ({name}(): nothing was written)")
    if name in TRANSFORMS:
        check_transform(name, own, other, args, kwargs)
    check_named(name, own, other)
    if name in IN_ONE_TYPE or name.endswith("_copy") or kwargs.get("dtype") is not None:
        refuse(name, own, other)
    return 0


cdef Tensor operand(tuple args, dict kwargs):
    return <Tensor?> (args[0] if args else kwargs["input"])


cdef bint may_convert_length(int own, int other) except -1:
    """Whether abs() writes lengths of that type of complex numbers into that type; a complex one must be the numbers' own."""
    if own >= COMPLEX64 and other >= COMPLEX64 and own != other:
        raise RuntimeError(f"Found dtype {type_word(other)} but expected {type_word(own)} (abs(): nothing was written)")
    return own >= COMPLEX64


cdef int check_transform(str name, int own, int other, tuple args, dict kwargs) except -1:
    """Refuse an `out` that has other parts than a Fourier transform's result, and one of another type for a transform that
    completes the result by symmetry.
    """
    cdef str several = name.removeprefix("i" if name.startswith("ifft") else "").replace("2", "n")
    if (own >= COMPLEX64) != (other >= COMPLEX64) or other < FLOAT16:
        what = "complex" if own >= COMPLEX64 else "floating point"
        raise RuntimeError(f"{several if several.endswith('n') else name} expects a {what} output tensor, but got "
                           f"{type_word(other)}")
    if name in ("ifft", "ihfft") and code_of(operand(args, kwargs).array) < COMPLEX64:
        raise RuntimeError(f"Found dtype {type_word(other)} but expected {type_word(own)} ({name}(): nothing was written)")
    return 0


cdef bint may_convert(str name, int other, tuple args, dict kwargs) except -1:
    """Whether one of POINTWISE_IN_ONE_TYPE converts for these operands: abs() of complex numbers, limits that are tensors,
    and weights that are numbers."""
    if name == "abs":
        return may_convert_length(code_of(operand(args, kwargs).array), other)
    if name in ("clamp", "clamp_max", "clamp_min"):
        limits = args[1:] + tuple([kwargs[key] for key in kwargs if key not in ("input", "self")])
        return any(isinstance(x, Tensor) for x in limits)
    if name == "lerp":
        weight = args[2] if len(args) > 2 else kwargs.get("weight")
        return not isinstance(weight, Tensor) or weight.ndim == 0
    return False


cdef object with_type_of(Tensor out, str name, tuple args, dict kwargs):
    """The keywords of a call whose result goes into `out`: sums and products are computed in its type, unless one is given."""
    cdef int dtype_code = code_of(out.array)
    if name not in IN_TYPE_OF_OUT or kwargs.get("dtype") is not None:
        return kwargs
    if name == "mean" and args and isinstance(args[0], Tensor) and code_of((<Tensor> args[0]).array) < FLOAT16:
        return kwargs                       # refused
    if name.startswith("cum") and dtype_code == BOOL:
        raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool'")
    if name == "nansum" and code_of(operand(args, kwargs).array) >= COMPLEX64:
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if name == "nansum" and not FLOAT16 <= dtype_code < COMPLEX64:
        raise NotImplementedError(f"\"nansum_cpu\" not implemented for '{type_word(dtype_code)}'")
    return {**kwargs, "dtype": dtype_of(dtype_code)}


cdef bint can_cast(int own, int other) except -1:
    try:
        check_cast(own, other)
    except RuntimeError:
        return False
    return True


cdef int check_named(str name, int own, int other) except -1:
    """Refuse types with the error texts of single operations."""
    if name in ("nonzero", "nonzero_static"):
        raise RuntimeError(f"{name}: Expected out tensor to have scalar type {type_word(own)} but got scalar type "
                           f"{type_word(other)}")
    if name in ("any", "all") and other != UINT8:
        raise RuntimeError(f"{name} only supports bool tensor for result, got: {type_word(other)}")
    if name in JOINED and not can_cast(own, other):
        raise TypeError(f"torch.cat(): input types can't be cast to the desired output type {type_word(other)}")
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
