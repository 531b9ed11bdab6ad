"""Arrays of random numbers, each determined by a key and its place (knows no Tensor).

They are the same for any number of threads and on any machine. A counter gives 128 bits (random_bits.h): four numbers of 32
bits or two of 64. Counters go in tiles of TILE: a tile holds the first number of each counter, then the second of each...
"""

import numpy as np

from cython cimport floating
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from autograd_cy._core.arrays.buffers cimport new_array
from autograd_cy._core.arrays.dtypes cimport (
    BFLOAT16, COMPLEX64, FLOAT16, FLOAT32, INT32, INT64, check_has_kernel, code_of, dtype_of, is_half, to_real)
from autograd_cy._core.parallel.threads cimport Task, parallel_for
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef extern from *:
    """
    #include "clones.h"
    #include "random_bits.h"
    AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void autograd_cy_uniform_f32(void *, Py_ssize_t, Py_ssize_t);
    AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void autograd_cy_uniform_f64(void *, Py_ssize_t, Py_ssize_t);
    AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void autograd_cy_normal_f32(void *, Py_ssize_t, Py_ssize_t);
    AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void autograd_cy_normal_f64(void *, Py_ssize_t, Py_ssize_t);
    AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void autograd_cy_integers_i32(void *, Py_ssize_t, Py_ssize_t);
    AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void autograd_cy_integers_i64(void *, Py_ssize_t, Py_ssize_t);
    """

cdef extern from "random_bits.h" nogil:
    void threefry "autograd_cy_threefry"(uint32_t low, uint32_t high, uint64_t key, uint32_t *x) noexcept
    float unit_f32 "autograd_cy_unit_f32"(uint32_t bits) noexcept
    double unit_f64 "autograd_cy_unit_f64"(uint32_t high, uint32_t low) noexcept
    uint32_t below "autograd_cy_below"(uint32_t high, uint32_t low, uint32_t n) noexcept
    void normal_pair_f32 "autograd_cy_normal_pair_f32"(uint32_t u, uint32_t v, float *a, float *b) noexcept
    void normal_pair_f64 "autograd_cy_normal_pair_f64"(const uint32_t *x, double *a, double *b) noexcept

cdef extern from "math.h" nogil:
    float nextafterf(float, float)
    double nextafter(double, double)

cdef enum:
    TILE = 32           # counters of a vectorized loop
    WEIGHT = 2          # elements of float32 that take as long as a random one

cdef double HALF_ROOT = 0.5 ** 0.5

ctypedef fused Integer:
    int32_t
    int64_t

cdef struct Draw:
    void *out
    Py_ssize_t n
    uint64_t key
    double low, scale           # of a uniform number; mean and deviation of a normal one
    double most                 # upper bound of a uniform number after rounding
    uint32_t mask               # of its bits in float
    int64_t least               # the smallest integer ...
    uint32_t range              # ... and how many there are


# a tile: TILE counters from TILE * t on

cdef inline floating at_most(floating x, floating most) noexcept nogil:
    return x if x < most else most


cdef inline void uniform_tile(floating *out, const Draw *p, Py_ssize_t t) noexcept nogil:
    cdef uint32_t first = <uint32_t> (t * TILE), upper = <uint32_t> (<uint64_t> (t * TILE) >> 32)
    cdef uint32_t x[4]
    cdef floating low = <floating> p.low, scale = <floating> p.scale, most = <floating> p.most
    cdef uint32_t i, mask = p.mask
    for i in range(<uint32_t> TILE):
        threefry(first + i, upper, p.key, x)
        if floating is float:
            out[i] = at_most(unit_f32(x[0] & mask) * scale + low, most)
            out[i + TILE] = at_most(unit_f32(x[1] & mask) * scale + low, most)
            out[i + 2 * TILE] = at_most(unit_f32(x[2] & mask) * scale + low, most)
            out[i + 3 * TILE] = at_most(unit_f32(x[3] & mask) * scale + low, most)
        else:
            out[i] = at_most(unit_f64(x[0], x[1]) * scale + low, most)
            out[i + TILE] = at_most(unit_f64(x[2], x[3]) * scale + low, most)


cdef inline void normal_tile(floating *out, const Draw *p, Py_ssize_t t) noexcept nogil:
    cdef uint32_t first = <uint32_t> (t * TILE), upper = <uint32_t> (<uint64_t> (t * TILE) >> 32)
    cdef uint32_t x[4]
    cdef floating mean = <floating> p.low, deviation = <floating> p.scale, a, b
    cdef uint32_t i
    for i in range(<uint32_t> TILE):
        threefry(first + i, upper, p.key, x)
        if floating is float:
            normal_pair_f32(x[0], x[1], &a, &b)
            out[i] = a * deviation + mean
            out[i + TILE] = b * deviation + mean
            normal_pair_f32(x[2], x[3], &a, &b)
            out[i + 2 * TILE] = a * deviation + mean
            out[i + 3 * TILE] = b * deviation + mean
        else:
            normal_pair_f64(x, &a, &b)
            out[i] = a * deviation + mean
            out[i + TILE] = b * deviation + mean


cdef inline void integer_tile(Integer *out, const Draw *p, Py_ssize_t t) noexcept nogil:
    cdef uint32_t first = <uint32_t> (t * TILE), upper = <uint32_t> (<uint64_t> (t * TILE) >> 32)
    cdef uint32_t x[4]
    cdef uint32_t i, n = p.range
    cdef int64_t least = p.least
    for i in range(<uint32_t> TILE):
        threefry(first + i, upper, p.key, x)
        out[i] = <Integer> (least + below(x[0], x[1], n))
        out[i + TILE] = <Integer> (least + below(x[2], x[3], n))


# tiles; the last one may be partial

cdef inline void uniform_tiles(floating *out, const Draw *p, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef floating last[4 * TILE]
    cdef Py_ssize_t t, size = (4 if floating is float else 2) * TILE
    for t in range(first, end):
        if (t + 1) * size <= p.n:
            uniform_tile(out + t * size, p, t)
        else:
            uniform_tile(last, p, t)
            memcpy(out + t * size, last, (p.n - t * size) * sizeof(floating))


cdef inline void normal_tiles(floating *out, const Draw *p, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef floating last[4 * TILE]
    cdef Py_ssize_t t, size = (4 if floating is float else 2) * TILE
    for t in range(first, end):
        if (t + 1) * size <= p.n:
            normal_tile(out + t * size, p, t)
        else:
            normal_tile(last, p, t)
            memcpy(out + t * size, last, (p.n - t * size) * sizeof(floating))


cdef inline void integer_tiles(Integer *out, const Draw *p, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Integer last[2 * TILE]
    cdef Py_ssize_t t, size = 2 * TILE
    for t in range(first, end):
        if (t + 1) * size <= p.n:
            integer_tile(out + t * size, p, t)
        else:
            integer_tile(last, p, t)
            memcpy(out + t * size, last, (p.n - t * size) * sizeof(Integer))


cdef void uniform_f32 "autograd_cy_uniform_f32"(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    uniform_tiles(<float *> (<Draw *> data).out, <Draw *> data, first, end)


cdef void uniform_f64 "autograd_cy_uniform_f64"(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    uniform_tiles(<double *> (<Draw *> data).out, <Draw *> data, first, end)


cdef void normal_f32 "autograd_cy_normal_f32"(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    normal_tiles(<float *> (<Draw *> data).out, <Draw *> data, first, end)


cdef void normal_f64 "autograd_cy_normal_f64"(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    normal_tiles(<double *> (<Draw *> data).out, <Draw *> data, first, end)


cdef void integers_i32 "autograd_cy_integers_i32"(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    integer_tiles(<int32_t *> (<Draw *> data).out, <Draw *> data, first, end)


cdef void integers_i64 "autograd_cy_integers_i64"(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    integer_tiles(<int64_t *> (<Draw *> data).out, <Draw *> data, first, end)


# arrays

cdef bint can_fill(cnp.ndarray out) except -1:
    """Whether numbers can be drawn in place."""
    return cnp.PyArray_ISCARRAY(out) and code_of(out) >= FLOAT32


cdef int fill(cnp.ndarray out, Kind kind, uint64_t key, double a, double b) except -1:
    """Draw uniformly from [a, b), or normally with mean a and deviation b; via a copy for 16-bit types and strided arrays.

    The parts of a complex number are drawn separately, if normal with half the variance. float16 has 2048 uniform numbers,
    bfloat16 256.
    """
    cdef int own = code_of(out), dtype_code = max(own, <int> FLOAT32)
    cdef cnp.ndarray dense = out
    check_has_kernel(own, "uniform_" if kind == UNIFORM else "normal_")
    if not can_fill(out):
        dense = new_array(dtype_code, cnp.PyArray_NDIM(out), cnp.PyArray_DIMS(out))
    cdef bint single = dtype_code == FLOAT32 or dtype_code == COMPLEX64
    cdef Py_ssize_t numbers = cnp.PyArray_SIZE(out) * (2 if dtype_code >= COMPLEX64 else 1)
    cdef Draw job
    job.out, job.n, job.key, job.low = cnp.PyArray_DATA(dense), numbers, key, a
    if kind == UNIFORM:
        job.scale, job.most, job.mask = b - a, last_before(b, a, own), random_bits(own)
        draw(uniform_f32 if single else uniform_f64, &job, 4 if single else 2)
    else:
        job.scale = b * HALF_ROOT if dtype_code >= COMPLEX64 else b
        draw(normal_f32 if single else normal_f64, &job, 4 if single else 2)
    if dense is not out:
        cnp.PyArray_CopyInto(out, dense)
    return 0


cdef inline uint32_t random_bits(int dtype_code) noexcept:
    """A mask of the random bits that a uniform number uses: as many as its type has digits."""
    return 0xFFE00000 if dtype_code == FLOAT16 else 0xFF000000 if dtype_code == BFLOAT16 else 0xFFFFFFFF


cdef double last_before(double b, double a, int dtype_code) except? -1:
    """The largest number below b in a type."""
    if is_half(dtype_code):
        kind = dtype_of(dtype_code).numpy_dtype.type
        return float(np.nextafter(kind(b), kind(a)))
    if to_real(dtype_code) == FLOAT32:
        return nextafterf(<float> b, <float> a)
    return nextafter(b, a)


cdef int fill_integers(cnp.ndarray out, uint64_t key, int64_t least, uint32_t n) except -1:
    """Draw from `n` integers, beginning at `least`. All must fit the array's type."""
    cdef int own = code_of(out)
    cdef cnp.ndarray dense = out
    cdef Draw job
    if not (own == INT32 or own == INT64) or not cnp.PyArray_ISCARRAY(out):
        dense = new_array(INT64, cnp.PyArray_NDIM(out), cnp.PyArray_DIMS(out))
    job.out, job.n, job.key, job.least, job.range = cnp.PyArray_DATA(dense), cnp.PyArray_SIZE(out), key, least, n
    draw(integers_i32 if code_of(dense) == INT32 else integers_i64, &job, 2)
    if dense is not out:
        np.copyto(out, dense, casting="unsafe")
    return 0


cdef void draw(Task task, Draw *job, int of_a_counter) noexcept:
    cdef Py_ssize_t size = of_a_counter * TILE
    parallel_for(task, job, (job.n + size - 1) // size, 4 * TILE * WEIGHT)


# numbers that NumPy drew

cdef void narrow(const Drawn *x, float *y, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        y[i] = <float> x[i]


cdef void keep_below(double *x, Py_ssize_t n, double p) noexcept nogil:
    """1 if a number is less than p, else 0."""
    cdef Py_ssize_t i
    for i in range(n):
        x[i] = 1.0 if x[i] < p else 0.0


cdef void divide(double *x, Py_ssize_t n, double divisor) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        x[i] /= divisor


cdef void scale_and_shift(double *x, Py_ssize_t n, double scale, double offset) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        x[i] = x[i] * scale + offset


cdef bint are_chances(const floating *p, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef bint inside = True
    for i in range(n):
        inside &= (p[i] >= 0) & (p[i] <= 1)
    return inside


cdef void compare(const double *numbers, const floating *p, floating *result, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        result[i] = <floating> (1.0 if numbers[i] < p[i] else 0.0)
