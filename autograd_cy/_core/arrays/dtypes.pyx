"""The dtype objects, one for each NumPy dtype, and PyTorch's promotion.

NOTE [Promotion]
The type of a result is decided here, before a loop runs, because PyTorch's rules differ from NumPy's:
  1. operands have a rank: tensors with dimensions over 0-d tensors over Python numbers. A lower rank changes the
     type of a higher one only if it is of a higher category (bool < integer < float < complex);
  2. an integer with a float is that float (int64 + float32 is float32);
  3. a Python float or complex counts as the default dtype;
  4. functions that leave the integers (exp, division, mean) take integers to the default dtype.
"""

import numpy as np

from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.runtime.argument_errors import wrong_self

cnp.import_array()

cdef int[NCODES] CATEGORY              # 0 bool, 1 integer, 2 float, 3 complex
cdef int[NCODES][NCODES] PROMOTED
cdef list ALL = []
cdef dict OTHERS = {}                  # dtypes that PyTorch has and no Tensor has here, by name: their code is -1
cdef dict BY_NUMPY = {}
cdef int default = FLOAT32


cdef class dtype:
    """The type of a tensor's elements; equal to the NumPy dtype of the same name.

    >>> from autograd_cy import float32
    >>> import numpy as np
    >>> float32, float32 == np.dtype("float32"), float32.itemsize
    (torch.float32, True, 4)
    """

    def __init__(self):
        raise TypeError("dtype objects are not made by users; take autograd_cy.float32 and its like")

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        if not isinstance(self, dtype):
            raise wrong_self(self, dtype)
        return dtype_named, (self.name,)

    def __hash__(self):
        return hash(self.name if self.numpy_dtype is None else self.numpy_dtype)

    def __eq__(self, other):
        if isinstance(other, dtype):
            return self is other
        if self.numpy_dtype is None:           # NumPy has no such type, and would take None for float64
            return NotImplemented
        if isinstance(other, type) or isinstance(other, np.dtype):
            return BY_NUMPY.get(other, None) is self or (isinstance(other, np.dtype) and other == self.numpy_dtype)
        return NotImplemented

    @property
    def dtype(self):
        """The NumPy dtype, under the name by which np.dtype(float32) looks for it."""
        return self.numpy_dtype

    @property
    def __numpy_dtype__(self):
        """The same under the name of NumPy 2.4."""
        return self.numpy_dtype

    def to_real(self):
        """The type of the real part: float32 for complex64; itself for a real type."""
        if not isinstance(self, dtype):
            raise wrong_self(self, dtype)
        if self.dtype_code < 0:
            return ALL[FLOAT16] if self.name == "complex32" else self
        return ALL[to_real(self.dtype_code)]

    def to_complex(self):
        """The complex type with parts of this type: complex64 for float32."""
        if not isinstance(self, dtype):
            raise wrong_self(self, dtype)
        if self.dtype_code < 0:
            return ALL[COMPLEX64] if self.name == "bfloat16" else self
        return ALL[to_complex(self.dtype_code)]


def dtype_named(str name):
    """The dtype object of that name (what pickle calls)."""
    return OTHERS[name] if name in OTHERS else BY_NUMPY[np.dtype(name)]


cdef int unknown_type(cnp.ndarray array) except -1:
    raise TypeError(f"can't convert np.ndarray of type {array.dtype}. The only supported types are: "
                    + ", ".join([(<dtype> d).name for d in ALL]))


cdef dtype dtype_of(int dtype_code):
    return <dtype> ALL[dtype_code]


cdef dtype as_dtype(object value):
    """The dtype object for one, a NumPy dtype or scalar type, or Python's bool, int, float, complex."""
    if isinstance(value, dtype):
        return held(<dtype> value)
    found = BY_NUMPY.get(value) if isinstance(value, type) or isinstance(value, np.dtype) else None
    if found is None:
        raise TypeError(f"dtype must be an autograd_cy dtype, not {value!r}")
    return <dtype> found


cdef dtype held(dtype d):
    """The dtype itself, if tensors may have it."""
    if d.dtype_code < 0:
        raise NotImplementedError(f"{d}: PyTorch has tensors of this dtype, this package does not (yet)")
    return d


cdef int default_code() noexcept:
    return default


cdef int default_complex_code() noexcept:
    return COMPLEX128 if default == FLOAT64 else COMPLEX64


def get_default():
    """The dtype that Python floats get."""
    return ALL[default]


def set_default(value):
    """Make `value`, a floating point dtype, the one that Python floats get."""
    global default
    cdef dtype d = as_dtype(value)
    if not d.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, not {d}")
    default = d.dtype_code


def all_dtypes():
    """All dtype objects, from bool to complex128."""
    return list(ALL)


def other_dtypes():
    """The dtypes that PyTorch has and no tensor has here: they print, compare and hash, and that is all."""
    return list(OTHERS.values())


def convert(value):
    """The dtype object that `value` (a dtype, np.dtype, NumPy scalar type or Python type) stands for."""
    return as_dtype(value)


def promote_types(dtype a, dtype b):
    """The dtype of an operation on two tensors with dimensions, of types a and b."""
    return ALL[PROMOTED[held(a).dtype_code][held(b).dtype_code]]


def result_type(dtype a, int a_rank, dtype b, int b_rank):
    """The dtype of an operation on two operands of those ranks: see result_code."""
    return ALL[result_code(held(a).dtype_code, a_rank, held(b).dtype_code, b_rank)]


cdef int promote(int a, int b) noexcept:
    return PROMOTED[a][b]


cdef int result_code(int a, int a_rank, int b, int b_rank) noexcept:
    """The common type of two operands; ranks: 2 a tensor with dimensions, 1 a 0-d tensor, 0 a Python number."""
    if a == b:
        return a
    if a_rank == b_rank:
        return PROMOTED[a][b]
    if a_rank < b_rank:
        a, b = b, a
    # `a` is of the higher rank and keeps its type unless `b` is of a higher category
    if CATEGORY[b] <= CATEGORY[a] and CATEGORY[a] > 0:
        return a
    if CATEGORY[a] == 2 and CATEGORY[b] == 3:
        return to_complex(a)
    return PROMOTED[a][b]


cdef int to_inexact(int dtype_code) noexcept:
    return default if dtype_code < FLOAT16 else dtype_code


cdef int to_real(int dtype_code) noexcept:
    return FLOAT32 if dtype_code == COMPLEX64 else FLOAT64 if dtype_code == COMPLEX128 else dtype_code


cdef int to_complex(int dtype_code) noexcept:
    return COMPLEX64 if dtype_code in (FLOAT16, FLOAT32) else COMPLEX128 if dtype_code == FLOAT64 else dtype_code


cdef bint is_differentiable(int dtype_code) noexcept:
    return dtype_code >= FLOAT16


cdef str type_word(int dtype_code):
    """The name that PyTorch's messages have for a type: `Long`."""
    return words[(<dtype> ALL[dtype_code]).name]


words = {"bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long",
         "float16": "Half", "float32": "Float", "float64": "Double",
         "complex64": "ComplexFloat", "complex128": "ComplexDouble"}


cdef str long_word(int dtype_code):
    """The name in C++ that some messages have: 'float' and 'double' for the common two."""
    name = (<dtype> ALL[dtype_code]).name
    return {"float32": "float", "float64": "double", "float16": "c10::Half", "complex64": "c10::complex<float>",
            "complex128": "c10::complex<double>", "int64": "long int", "int32": "int"}.get(name, name)


cdef int check_cast(int dtype_code, int target) except -1:
    """Refuse to write results of type `dtype_code` into memory of type `target`, if they are of a higher category."""
    if CATEGORY[dtype_code] > CATEGORY[target]:
        raise RuntimeError(f"result type {type_word(dtype_code)} can't be cast to the desired output type {type_word(target)}")
    return 0


cdef int torch_promotion(int a, int b):
    """Two operands of one rank: NumPy's answer, but an integer never widens a float."""
    if CATEGORY[a] < 2 <= CATEGORY[b]:
        return b
    if CATEGORY[b] < 2 <= CATEGORY[a]:
        return a
    cdef object common = np.promote_types(ALL[a].numpy_dtype, ALL[b].numpy_dtype)
    return (<dtype> BY_NUMPY[common]).dtype_code


cdef void enter_others(str names, int itemsize, int kind, bint is_signed):
    cdef dtype d
    for name in names.split():
        d = dtype.__new__(dtype)
        d.name = name
        d.dtype_code = d.type_num = -1
        d.numpy_dtype = np.dtype(name) if name in ("uint16", "uint32", "uint64") else None
        d.itemsize = itemsize
        d.is_floating_point = kind == 2
        d.is_complex = kind == 3
        d.is_signed = is_signed
        OTHERS[name] = d


cdef void build_others():
    """What PyTorch has besides; kinds are those of CATEGORY."""
    enter_others("bfloat16", 2, 2, True)
    enter_others("complex32", 4, 3, True)
    enter_others("uint16 bits16", 2, 1, False)
    enter_others("uint32", 4, 1, False)
    enter_others("uint64", 8, 1, False)
    enter_others("uint1 uint2 uint3 uint4 uint5 uint6 uint7", 1, 1, False)
    enter_others("quint8 quint4x2 quint2x4 bits8 bits4x2 bits2x4 bits1x8", 1, 1, False)
    enter_others("int1 int2 int3 int4 int5 int6 int7 qint8", 1, 1, True)
    enter_others("qint32", 4, 1, True)
    enter_others("float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float4_e2m1fn_x2", 1, 2, True)
    enter_others("float8_e8m0fnu", 1, 2, False)


cdef void build_tables():
    cdef dtype d
    cdef int dtype_code, other
    names = ["bool", "uint8", "int8", "int16", "int32", "int64",
             "float16", "float32", "float64", "complex64", "complex128"]
    for dtype_code in range(64):
        CODE_OF[dtype_code] = -1
    for dtype_code, name in enumerate(names):
        d = dtype.__new__(dtype)
        d.name = name
        d.dtype_code = dtype_code
        d.numpy_dtype = np.dtype(name)
        d.type_num = d.numpy_dtype.num
        d.itemsize = d.numpy_dtype.itemsize
        d.is_floating_point = FLOAT16 <= dtype_code <= FLOAT64
        d.is_complex = dtype_code >= COMPLEX64
        d.is_signed = dtype_code > UINT8
        ALL.append(d)
        BY_NUMPY[d.numpy_dtype] = d
        BY_NUMPY[d.numpy_dtype.type] = d
        TYPE_NUM[dtype_code] = d.type_num
        ITEMSIZE[dtype_code] = d.itemsize
        CATEGORY[dtype_code] = 0 if dtype_code == BOOL else 1 if dtype_code < FLOAT16 else 2 if dtype_code < COMPLEX64 else 3
        CODE_OF[d.type_num] = dtype_code
    for character in "hilq":           # C's integer types: two of them are one type, with two numbers, on each platform
        CODE_OF[np.dtype(character).num] = (<dtype> BY_NUMPY[np.dtype(f"int{8 * np.dtype(character).itemsize}")]).dtype_code
    BY_NUMPY[bool] = ALL[BOOL]
    BY_NUMPY[int] = ALL[INT64]
    BY_NUMPY[float] = ALL[FLOAT64]
    BY_NUMPY[complex] = ALL[COMPLEX128]
    for dtype_code in range(NCODES):
        for other in range(NCODES):
            PROMOTED[dtype_code][other] = torch_promotion(dtype_code, other)


build_others()
build_tables()
