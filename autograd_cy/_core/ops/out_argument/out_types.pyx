"""The type of `out=`: by the rules of out_rules.py, a result is converted to it, or it is refused."""

from autograd_cy._core.arrays.dtypes cimport (
    BOOL, COMPLEX64, FLOAT16, INT64, UINT8, check_cast, code_of, dtype_of, long_word, type_word)
from autograd_cy._core.graph.tensor cimport Tensor


cdef tuple ELEMENTWISE = (
    "one type, elementwise", "one type unless complex", "one type unless limits are tensors",
    "one type unless the weight is a number")


cdef int check_type(Tensor out, Tensor result, str rule, str name, tuple args, dict kwargs) except -1:
    """Refuse an `out` of another type than the only result, if the operation doesn't convert it or got `dtype`."""
    cdef int own = code_of(result.array), other = code_of(out.array)
    if own == other:
        return 0
    if rule in ELEMENTWISE and not may_convert(rule, other, args, kwargs):
        raise RuntimeError(f"Found dtype {type_word(other)} but expected {type_word(own)} ({name}(): nothing was written)")
    if rule == "transform" or rule == "transform of complex numbers":
        check_transform(rule, name, own, other, args, kwargs)
    check_special(rule, name, own, other)
    if rule == "one type" or kwargs.get("dtype") is not None:
        refuse(name, own, other)
    return 0


cdef Tensor operand(tuple args, dict kwargs):
    return <Tensor?> (args[0] if args else kwargs["input"])


cdef bint may_convert_length(int own, int other) except -1:
    """Whether abs() writes lengths of that type of complex numbers into that type; a complex one must be the numbers' own."""
    if own >= COMPLEX64 and other >= COMPLEX64 and own != other:
        raise RuntimeError(f"Found dtype {type_word(other)} but expected {type_word(own)} (abs(): nothing was written)")
    return own >= COMPLEX64


cdef int check_transform(str rule, str name, int own, int other, tuple args, dict kwargs) except -1:
    """Refuse an `out` that has other parts than a Fourier transform's result, and one of another type for a transform that
    completes the result by symmetry.
    """
    cdef str several = name.removeprefix("i" if name.startswith("ifft") else "").replace("2", "n")
    if (own >= COMPLEX64) != (other >= COMPLEX64) or other < FLOAT16:
        what = "complex" if own >= COMPLEX64 else "floating point"
        raise RuntimeError(f"{several if several.endswith('n') else name} expects a {what} output tensor, but got "
                           f"{type_word(other)}")
    if rule == "transform of complex numbers" and code_of(operand(args, kwargs).array) < COMPLEX64:
        raise RuntimeError(f"Found dtype {type_word(other)} but expected {type_word(own)} ({name}(): nothing was written)")
    return 0


cdef bint may_convert(str rule, int other, tuple args, dict kwargs) except -1:
    """Whether an operation of ELEMENTWISE converts for these operands."""
    if rule == "one type unless complex":
        return may_convert_length(code_of(operand(args, kwargs).array), other)
    if rule == "one type unless limits are tensors":
        limits = args[1:] + tuple([kwargs[key] for key in kwargs if key not in ("input", "self")])
        return any(isinstance(x, Tensor) for x in limits)
    if rule == "one type unless the weight is a number":
        weight = args[2] if len(args) > 2 else kwargs.get("weight")
        return not isinstance(weight, Tensor) or weight.ndim == 0
    return False


cdef object with_type_of(Tensor out, str rule, str name, tuple args, dict kwargs):
    """The keywords of a call whose result goes into `out`: sums and products are computed in its type, unless one is given."""
    cdef int dtype_code = code_of(out.array)
    if rule not in ("sum", "mean", "scan", "nansum") or kwargs.get("dtype") is not None:
        return kwargs
    if rule == "mean" and args and isinstance(args[0], Tensor) and code_of((<Tensor> args[0]).array) < FLOAT16:
        return kwargs                       # refused
    if rule == "scan" and dtype_code == BOOL:
        raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool'")
    if rule == "nansum" and code_of(operand(args, kwargs).array) >= COMPLEX64:
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if rule == "nansum" and not FLOAT16 <= dtype_code < COMPLEX64:
        raise NotImplementedError(f"\"nansum_cpu\" not implemented for '{type_word(dtype_code)}'")
    return {**kwargs, "dtype": dtype_of(dtype_code)}


cdef bint can_cast(int own, int other) except -1:
    try:
        check_cast(own, other)
    except RuntimeError:
        return False
    return True


cdef int check_special(str rule, str name, int own, int other) except -1:
    """Refuse types with the error texts of single operations."""
    if rule == "places":
        raise RuntimeError(f"{name}: Expected out tensor to have scalar type {type_word(own)} but got scalar type "
                           f"{type_word(other)}")
    if rule == "reduced truth" and other != UINT8:
        raise RuntimeError(f"{name} only supports bool tensor for result, got: {type_word(other)}")
    if rule == "joined" and not can_cast(own, other):
        raise TypeError(f"torch.cat(): input types can't be cast to the desired output type {type_word(other)}")
    if rule == "truth":
        raise RuntimeError(f"{name} does not support non-boolean outputs.")
    if rule == "float_power":
        raise RuntimeError(f"the output given to float_power has dtype {type_word(other)} but the operation's result requires "
                           f"dtype {type_word(own)}")
    if rule == "heaviside":
        what = "complex tensors" if other >= COMPLEX64 else "tensors with different dtypes"
        raise RuntimeError(f"heaviside is not yet implemented for {what}.")
    if rule == "quantile":
        raise RuntimeError(f"{name}() out tensor must be same dtype as the input tensor")
    return 0


cdef int check_type_of_several(Tensor out, Tensor result, str rule, str name, Py_ssize_t number) except -1:
    """Refuse an `out` of another type than its result, the one with this number."""
    cdef int own = code_of(result.array), other = code_of(out.array)
    if own == other or (rule == "several, converted" and own != INT64):
        return 0
    if rule == "frexp":
        raise RuntimeError(f"torch.frexp() expects {'exponent' if number else 'mantissa'} to have "
                           f"{'int dtype' if number else 'dtype ' + long_word(own)} but got {long_word(other)}")
    refuse(name, own, other)


cdef int refuse(str name, int own, int other) except -1:
    raise RuntimeError(f"Expected out tensor to have dtype {long_word(own)}, but got {long_word(other)} instead "
                       f"({name}(): nothing was written)")
