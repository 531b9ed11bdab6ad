"""The dtype objects, one for each NumPy dtype and one for bfloat16.

NOTE [bfloat16]
NumPy has no bfloat16; the package ml_dtypes registers one.
  1. The dtype object always exists. ml_dtypes is imported when the first tensor of this type is made (`as_dtype`), when
     `numpy_dtype` is read, or when an array of this type arrives. Until then `descr` is None.
  2. NumPy numbers registered types from 256 on: `code_of` finds them by `registered_code`.
  3. Everything is computed in float32 and rounded: by a loop around the float32 loop (`borrow` in loops.pyx), or on a
     copy (`kernel_code`, `is_half`). NumPy has no arithmetic between this type and its own types.
  4. `np.dtype.kind` of this type is "V", not "f": Python code calls `kind_of`.

NOTE [longdouble]
PyTorch has no longdouble. NumPy's is the C type: 80 bits on x86, 128 on some machines.
  1. Where it equals float64 (MSVC, Apple), the name is an alias of float64, and no array has the code LONGDOUBLE.
  2. Elementwise operations have kernels for it; reductions and products use NumPy's loops. An operation with kernels only
     for float32 and float64 refuses it (`kernel_code`, `check_has_kernel`): nothing is rounded silently.
"""

import sys

import numpy as np

from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.runtime.argument_errors import wrong_self

cdef list ALL = []
cdef dict BY_NAME = {}
cdef dict OTHERS = {}                  # dtypes that PyTorch has but no Tensor here, by name: their code is -1
cdef dict BY_NUMPY = {}
cdef int default = FLOAT32
cdef bint HAS_NO_EXTENDED = np.finfo("longdouble").eps == np.finfo("float64").eps     # case 1 of NOTE [longdouble]


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
        return hash(self.name if self.descr is None or self.dtype_code == BFLOAT16 else self.descr)     # a name stays

    def __eq__(self, other):
        if isinstance(other, dtype):
            return self is other
        if self.descr is None and not (self.dtype_code == BFLOAT16 and is_at_hand()):
            return NotImplemented              # NumPy has no such type, and would read None as float64
        if isinstance(other, type) or isinstance(other, np.dtype):
            return BY_NUMPY.get(other, None) is self or (isinstance(other, np.dtype) and other == self.descr)
        return NotImplemented

    @property
    def numpy_dtype(self):
        """The NumPy dtype, None if there is none; ImportError for bfloat16 without ml_dtypes."""
        if self.descr is None and self.dtype_code == BFLOAT16:
            load_bfloat16()
        return self.descr

    @property
    def dtype(self):
        """The NumPy dtype. np.dtype(float32) looks for it under this name."""
        return self.numpy_dtype

    @property
    def __numpy_dtype__(self):
        """The NumPy dtype, under the name that NumPy 2.4 uses."""
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
        if self.dtype_code < FLOAT16 or self.dtype_code == LONGDOUBLE:
            raise RuntimeError(f"Unknown Complex ScalarType for {words.get(self.name, self.name)}")
        return ALL[to_complex(self.dtype_code)]


def dtype_named(str name):
    """The dtype object of that name (pickle calls this)."""
    return BY_NAME[name]


cdef int registered_code(cnp.ndarray array) except -1:
    cdef int number = cnp.PyArray_TYPE(array)
    if number >= 64 and (number == TYPE_NUM[BFLOAT16] or (is_at_hand() and number == TYPE_NUM[BFLOAT16])):
        return BFLOAT16
    raise TypeError(f"can't convert np.ndarray of type {array.dtype}. The only supported types are: "
                    + ", ".join([d.name for d in all_dtypes()]))


cdef bint is_at_hand() except -1:
    """Whether bfloat16 has its NumPy dtype. It gets it here if ml_dtypes is already imported."""
    if (<dtype> ALL[BFLOAT16]).descr is None and "ml_dtypes" in sys.modules:
        load_bfloat16()
    return (<dtype> ALL[BFLOAT16]).descr is not None


cdef int load_bfloat16() except -1:
    """Import ml_dtypes, and give bfloat16 its NumPy dtype."""
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        raise ImportError("torch.bfloat16: tensors of this dtype need the package ml_dtypes: "
                          "pip install 'autograd_cy[bfloat16]'") from None
    enter_descr(ALL[BFLOAT16], np.dtype(bfloat16))
    return 0


cdef int enter_descr(dtype d, object descr) except -1:
    d.descr = descr
    d.type_num = TYPE_NUM[d.dtype_code] = descr.num
    DESCR[d.dtype_code] = <PyObject *> d.descr
    BY_NUMPY[descr] = BY_NUMPY[descr.type] = d
    if d.type_num < 64:
        CODE_OF[d.type_num] = d.dtype_code
    return 0


def kind_of(descr):
    """kind_of(np.dtype) -> str: its `kind`, but "f" for bfloat16, where NumPy says "V"."""
    return "f" if is_registered(descr) else descr.kind


def finfo_of(descr):
    """finfo_of(np.dtype) -> np.finfo, or the one of ml_dtypes for bfloat16."""
    if not is_registered(descr):
        return np.finfo(descr)
    from ml_dtypes import finfo
    return finfo(descr)


cdef bint is_registered(object descr) except -1:
    """Whether a NumPy dtype is ml_dtypes' bfloat16."""
    return descr.num >= 256 and is_at_hand() and descr.num == TYPE_NUM[BFLOAT16]


cdef int refuse_extended() except -1:
    raise NotImplementedError("not implemented for 'LongDouble': the kernels of this operation compute in float32 or float64")


cdef int check_has_kernel(int dtype_code, str operation) except -1:
    """Refuse a type that the operation has no kernel for."""
    if dtype_code == LONGDOUBLE:
        raise NotImplementedError(f"\"{operation}\" not implemented for 'LongDouble'")
    return 0


cdef dtype dtype_of(int dtype_code):
    return <dtype> ALL[dtype_code]


cdef dtype as_dtype(object value):
    """The dtype object for one, a NumPy dtype or scalar type, or Python's bool, int, float, complex."""
    if isinstance(value, dtype):
        if (<dtype> value).dtype_code == BFLOAT16 and (<dtype> value).descr is None:
            load_bfloat16()
        return held(<dtype> value)
    found = BY_NUMPY.get(value) if isinstance(value, type) or isinstance(value, np.dtype) else None
    if found is None and getattr(value, "__name__", getattr(value, "name", None)) == "bfloat16" and is_at_hand():
        found = BY_NUMPY.get(value)
    if found is None:
        raise TypeError(f"dtype must be an autograd_cy dtype, not {value!r}")
    return <dtype> found


cdef dtype held(dtype d):
    """The dtype itself; NotImplementedError if tensors can't have it."""
    if d.dtype_code < 0:
        raise NotImplementedError(f"{d}: PyTorch has tensors of this dtype, this package does not (yet)")
    return d


cdef int default_code() noexcept:
    return default


cdef int default_complex_code() noexcept:
    return COMPLEX128 if default == FLOAT64 else COMPLEX64


def get_default():
    """The dtype of Python floats."""
    return ALL[default]


def set_default(value):
    """Make `value`, a floating point dtype, the dtype of Python floats."""
    global default
    cdef dtype d = as_dtype(value)
    if not d.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, not {d}")
    if d.dtype_code == LONGDOUBLE:
        raise TypeError("torch.longdouble cannot be the default type: Python's numbers have no such digits")
    default = d.dtype_code


def all_dtypes():
    """The dtype objects that tensors have, from bool to complex128."""
    return [d for d in ALL if d is not None]


def other_dtypes():
    """The dtypes that PyTorch has but no tensor here: they only print, compare and hash."""
    return list(OTHERS.values())


def convert(value):
    """The dtype object for `value` (a dtype, np.dtype, NumPy scalar type or Python type)."""
    return as_dtype(value)


cdef str type_word(int dtype_code):
    """The name of a type in PyTorch's messages: `Long`."""
    return words[(<dtype> ALL[dtype_code]).name]


words = {"bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long",
         "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
         "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double",
         "longdouble": "LongDouble", "complex64": "ComplexFloat", "complex128": "ComplexDouble"}


cdef str long_word(int dtype_code):
    """The C++ name that some messages use: 'float' and 'double' for the common two."""
    name = (<dtype> ALL[dtype_code]).name
    return {"float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
            "longdouble": "long double", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
            "int64": "long int", "int32": "int",
            "uint16": "short unsigned int", "uint32": "unsigned int", "uint64": "long unsigned int"}.get(name, name)


cdef void enter_others(str names, int itemsize, int kind, bint is_signed):
    cdef dtype d
    for name in names.split():
        d = dtype.__new__(dtype)
        d.name = name
        d.dtype_code = d.type_num = -1
        d.itemsize = itemsize
        d.is_floating_point = kind == 2
        d.is_complex = kind == 3
        d.is_signed = is_signed
        OTHERS[name] = BY_NAME[name] = d


cdef void build_others():
    """The other dtypes of PyTorch; a kind is a number of CATEGORY."""
    enter_others("complex32", 4, 3, True)
    enter_others("bits16", 2, 1, False)
    enter_others("uint1 uint2 uint3 uint4 uint5 uint6 uint7", 1, 1, False)
    enter_others("quint8 quint4x2 quint2x4 bits8 bits4x2 bits2x4 bits1x8", 1, 1, False)
    enter_others("int1 int2 int3 int4 int5 int6 int7 qint8", 1, 1, True)
    enter_others("qint32", 4, 1, True)
    enter_others("float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float4_e2m1fn_x2", 1, 2, True)
    enter_others("float8_e8m0fnu", 1, 2, False)


cdef int build_tables() except -1:
    cdef dtype d
    cdef int dtype_code, other
    names = {BOOL: "bool", UINT8: "uint8", INT8: "int8", INT16: "int16", INT32: "int32", INT64: "int64", UINT16: "uint16",
             UINT32: "uint32", UINT64: "uint64", FLOAT16: "float16", BFLOAT16: "bfloat16", FLOAT32: "float32",
             FLOAT64: "float64", LONGDOUBLE: "longdouble", COMPLEX64: "complex64", COMPLEX128: "complex128"}
    if HAS_NO_EXTENDED:
        del names[LONGDOUBLE]
    for dtype_code in range(64):
        CODE_OF[dtype_code] = -1
    for dtype_code in range(NCODES):
        TYPE_NUM[dtype_code] = ITEMSIZE[dtype_code] = -1
        ALL.append(None)
    for dtype_code, name in names.items():
        d = dtype.__new__(dtype)
        d.name = name
        d.dtype_code = dtype_code
        d.is_floating_point = FLOAT16 <= dtype_code <= LONGDOUBLE
        d.is_complex = dtype_code >= COMPLEX64
        d.is_signed = not (dtype_code <= UINT8 or UINT16 <= dtype_code <= UINT64)
        ALL[dtype_code] = BY_NAME[name] = d
        if dtype_code != BFLOAT16:
            enter_descr(d, np.dtype(name))
        d.itemsize = ITEMSIZE[dtype_code] = 2 if dtype_code == BFLOAT16 else d.descr.itemsize
        CATEGORY[dtype_code] = 0 if dtype_code == BOOL else 1 if dtype_code < FLOAT16 else 2 if dtype_code < COMPLEX64 else 3
    for character in "hilqHILQ":       # C's integer types: on each platform two of them are the same type under two numbers
        CODE_OF[np.dtype(character).num] = (<dtype> BY_NUMPY[np.dtype(np.dtype(character).name)]).dtype_code
    if HAS_NO_EXTENDED:
        BY_NAME["longdouble"] = BY_NUMPY[np.longdouble] = BY_NUMPY[np.dtype("longdouble")] = ALL[FLOAT64]
        CODE_OF[np.dtype("longdouble").num] = FLOAT64
    BY_NUMPY[bool] = ALL[BOOL]
    BY_NUMPY[int] = ALL[INT64]
    BY_NUMPY[float] = ALL[FLOAT64]
    BY_NUMPY[complex] = ALL[COMPLEX128]
    for dtype_code in names:
        for other in names:
            PROMOTED[dtype_code][other] = torch_promotion(dtype_code, other)
    return 0


build_others()
build_tables()
