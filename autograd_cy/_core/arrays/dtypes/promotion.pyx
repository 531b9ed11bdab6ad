"""PyTorch's promotion of dtypes.

NOTE [Promotion]
The type of a result is decided here, before a loop runs, because PyTorch's rules differ from NumPy's:
  1. operands have a rank: tensors with dimensions over 0-d tensors over Python numbers. A lower rank changes the
     type of a higher one only if it is of a higher category (bool < integer < float < complex);
  2. an integer with a float gives that float type (int64 + float32 is float32);
  3. a Python float or complex counts as the default dtype;
  4. functions with real results for integers (exp, division, mean) convert integers to the default dtype;
  5. uint16, uint32 and uint64 have no common type with another integer, bool or a complex type: RuntimeError;
  6. longdouble has none with a complex type: there is no complex type with parts of its precision.
"""

cdef int[NCODES] CATEGORY              # 0 bool, 1 integer, 2 float, 3 complex
cdef int[NCODES][NCODES] PROMOTED


def promote_types(dtype a, dtype b):
    """The dtype of an operation on two tensors with dimensions, of types a and b."""
    return ALL[promote(held(a).dtype_code, held(b).dtype_code)]


def result_type(dtype a, int a_rank, dtype b, int b_rank):
    """The dtype of an operation on two operands of those ranks: see result_code."""
    return ALL[result_code(held(a).dtype_code, a_rank, held(b).dtype_code, b_rank)]


cdef int promote(int a, int b) except -1:
    if PROMOTED[a][b] < 0:
        if a == LONGDOUBLE or b == LONGDOUBLE:
            raise RuntimeError(f"no dtype holds both {dtype_of(a)} and {dtype_of(b)}: there is no complex longdouble")
        raise RuntimeError("Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
                           f"{type_word(a)} and {type_word(b)}")
    return PROMOTED[a][b]


cdef int result_code(int a, int a_rank, int b, int b_rank) except -1:
    """The common type of two operands; ranks: 2 a tensor with dimensions, 1 a 0-d tensor, 0 a Python number."""
    if a == b:
        return a
    if a_rank == b_rank:
        return promote(a, b)
    if a_rank < b_rank:
        a, b = b, a
    # `a` has the higher rank and keeps its type unless `b` is of a higher category
    if CATEGORY[b] <= CATEGORY[a] and CATEGORY[a] > 0:
        return a
    if CATEGORY[a] == 2 and CATEGORY[b] == 3 and a != LONGDOUBLE:
        return to_complex(a)
    return promote(a, b)


cdef int to_inexact(int dtype_code) noexcept:
    return default if dtype_code < FLOAT16 else dtype_code


cdef int to_real(int dtype_code) noexcept:
    return FLOAT32 if dtype_code == COMPLEX64 else FLOAT64 if dtype_code == COMPLEX128 else dtype_code


cdef int to_complex(int dtype_code) except -1:
    if dtype_code == LONGDOUBLE:
        raise NotImplementedError("there is no complex dtype with parts of torch.longdouble")
    return COMPLEX64 if FLOAT16 <= dtype_code <= FLOAT32 else COMPLEX128 if dtype_code == FLOAT64 else dtype_code


cdef bint is_differentiable(int dtype_code) noexcept:
    return dtype_code >= FLOAT16


cdef int check_cast(int dtype_code, int target) except -1:
    """Refuse to write a result of type `dtype_code` into memory of type `target` if that is of a lower category."""
    if CATEGORY[dtype_code] > CATEGORY[target]:
        raise RuntimeError(f"result type {type_word(dtype_code)} can't be cast to the desired output type {type_word(target)}")
    return 0


cdef int torch_promotion(int a, int b):
    """The common type of two operands of one rank: NumPy's, but an integer never widens a float; -1 if there is none."""
    if a == b:
        return a
    if UINT16 <= a <= UINT64 or UINT16 <= b <= UINT64:
        return a if CATEGORY[a] == 2 else b if CATEGORY[b] == 2 else -1
    if CATEGORY[a] < 2 <= CATEGORY[b]:
        return b
    if CATEGORY[b] < 2 <= CATEGORY[a]:
        return a
    if a == BFLOAT16 or b == BFLOAT16:
        return FLOAT32 if a == FLOAT16 or b == FLOAT16 else b if a == BFLOAT16 else a
    if a == LONGDOUBLE or b == LONGDOUBLE:
        return LONGDOUBLE if max(a, b) == LONGDOUBLE else -1
    cdef object common = np.promote_types((<dtype> ALL[a]).descr, (<dtype> ALL[b]).descr)
    return (<dtype> BY_NUMPY[common]).dtype_code
