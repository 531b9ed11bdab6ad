"""Convolutions whose groups have few channels (one if depthwise), without products of matrices (knows no Tensor).

A group of one image is copied into planes with a margin, so that no tap falls outside. Then each row of the result is summed
over all taps, LANES elements at once. The image's gradient is computed in the same way from the incoming gradient, spread
`stride` apart in its planes, with the kernel reversed. Threads share strips of images and groups.
"""

from libc.string cimport memset

from autograd_cy._core.arrays.buffers cimport new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT32, INT64, code_of
from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.parallel.threads cimport parallel_for
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include <string.h>
    #include "clones.h"
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_sum_part( \\
            void const *, real const *, real const *, real *, real *, npy_intp, npy_intp); \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_dot_part( \\
            void const *, real const *, real const *, real *, real *, npy_intp, npy_intp);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)

    /* Adds all taps to 32 sums, which stay in registers: a depthwise 3x3 of 28 x 28 takes a third of the time that it takes
       if gcc vectorizes loops over the sums. */
    #if defined(__GNUC__)
    #define ADD_TAPS(name, type) \
        typedef type name##_half __attribute__((vector_size(16 * sizeof(type)))); \
        static AUTOGRAD_CY_INLINED void name(const type *row, const npy_intp *offsets, const type *weight, npy_intp step, \
                                             npy_intp taps, type *sums) { \
            name##_half a, b, x, y; \
            memcpy(&a, sums, sizeof a); \
            memcpy(&b, sums + 16, sizeof b); \
            for (npy_intp t = 0; t < taps; t++) { \
                const type w = weight[t * step]; \
                memcpy(&x, row + offsets[t], sizeof x); \
                memcpy(&y, row + offsets[t] + 16, sizeof y); \
                a += x * w; \
                b += y * w; \
            } \
            memcpy(sums, &a, sizeof a); \
            memcpy(sums + 16, &b, sizeof b); \
        }
    #else
    #define ADD_TAPS(name, type) \
        static void name(const type *row, const npy_intp *offsets, const type *weight, npy_intp step, npy_intp taps, \
                         type *sums) { \
            for (npy_intp t = 0; t < taps; t++) \
                for (int k = 0; k < 32; k++) sums[k] += row[offsets[t] + k] * weight[t * step]; \
        }
    #endif
    ADD_TAPS(add_taps_f32, float)
    ADD_TAPS(add_taps_f64, double)
    """
    void add_taps_f32(const float *row, const npy_intp *offsets, const float *weight, npy_intp step, npy_intp taps,
                      float *sums) noexcept nogil
    void add_taps_f64(const double *row, const npy_intp *offsets, const double *weight, npy_intp step, npy_intp taps,
                      double *sums) noexcept nogil

cdef enum:
    LANES = 32              # elements of a row that are summed together
    STRIPS = 16             # parts of the work, each with its own planes
    FEW = 4                 # channels times filters of a group, up to which this is faster ...
    MARGIN = 4              # ... unless margins make planes so many times as large

cdef struct Sum:            # sums over taps: `results` planes from `sources` planes in each group
    npy_intp units, groups, sources, results
    npy_intp[3] size, out, plane            # of a source, a result, and a source with its margin
    npy_intp[3] shift, spacing, stride      # the start of a source in its plane, its elements' spacing; the results' stride
    npy_intp taps, plane_size, strips
    npy_intp source_weight, result_weight   # distances between weights of neighbouring sources and results, in taps
    const npy_intp *offsets                 # of each tap in a plane
    bint turned                             # taps in reverse order
    const void *x
    const void *weight
    void *y
    void *planes


cdef bint suits_planes(const Geometry *of) noexcept:
    """Whether the groups and margins of a convolution are small enough."""
    cdef int k
    if of.channels * of.filters > FEW:
        return False
    for k in range(3):
        if of.padding[k] > of.size[k] or of.dilation[k] * (of.kernel[k] - 1) > 2 * of.size[k]:
            return False
        if of.stride[k] > of.size[k] or of.out[k] * of.stride[k] > MARGIN * of.size[k]:
            return False
    return True


cdef cnp.ndarray prepare(Sum *s, const Geometry *of, int dtype_code, npy_intp *offsets_of, npy_intp units):
    """Fill in plane sizes and tap offsets, and allocate the planes of each strip."""
    cdef npy_intp n
    s.plane_size = s.plane[0] * s.plane[1] * s.plane[2] + LANES * max(s.stride[2], <npy_intp> 1)
    s.units, s.groups, s.taps = units, of.groups, of.taps
    s.strips = min(units, <npy_intp> STRIPS)
    n = s.strips * s.sources * s.plane_size
    fill_offsets(s, of, offsets_of)
    s.offsets = offsets_of
    cdef cnp.ndarray planes = new_array(dtype_code, 1, &n)
    s.planes = cnp.PyArray_DATA(planes)
    return planes


cdef void fill_offsets(const Sum *s, const Geometry *of, npy_intp *offsets) noexcept nogil:
    cdef npy_intp i, j, k, t = 0
    for i in range(of.kernel[0]):
        for j in range(of.kernel[1]):
            for k in range(of.kernel[2]):
                offsets[t] = ((i * of.dilation[0] * s.plane[1] + j * of.dilation[1]) * s.plane[2] + k * of.dilation[2])
                t += 1


cdef cnp.ndarray offsets_for(const Geometry *of):
    cdef npy_intp taps = of.taps
    return new_array(INT64, 1, &taps)


cdef Sum forward_sum(const Geometry *of) noexcept:
    """The sum of the forward, without its arrays."""
    cdef Sum s
    cdef int k
    s.sources, s.results, s.turned = of.channels, of.filters, False
    s.source_weight, s.result_weight = of.taps, of.taps * of.channels
    for k in range(3):
        s.size[k], s.out[k], s.stride[k] = of.size[k], of.out[k], of.stride[k]
        s.shift[k], s.spacing[k] = of.padding[k], 1
        s.plane[k] = of.size[k] + 2 * of.padding[k]
    return s


cdef int convolve_planes(const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray y) except -1:
    """y = the convolution of x."""
    cdef Sum s = forward_sum(of)
    return run_sums(&s, of, x, weight, y)


cdef int convolve_planes_back(const Geometry *of, cnp.ndarray g, cnp.ndarray weight, cnp.ndarray x) except -1:
    """x = its gradient."""
    cdef Sum s
    cdef int k
    cdef npy_intp reach
    s.sources, s.results, s.turned = of.filters, of.channels, True
    s.source_weight, s.result_weight = of.taps * of.channels, of.taps
    for k in range(3):
        reach = of.dilation[k] * (of.kernel[k] - 1)
        s.size[k], s.out[k], s.stride[k] = of.out[k], of.size[k], 1
        s.shift[k], s.spacing[k] = reach - of.padding[k], of.stride[k]
        s.plane[k] = of.size[k] + reach
    return run_sums(&s, of, g, weight, x)


cdef int run_sums(Sum *s, const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray y) except -1:
    cdef int dtype_code = code_of(x)
    cdef cnp.ndarray offsets = offsets_for(of)
    cdef cnp.ndarray _planes = prepare(s, of, dtype_code, <npy_intp *> cnp.PyArray_DATA(offsets), of.batch * of.groups)
    cdef npy_intp work = s.units * s.out[0] * s.out[1] * s.out[2] * of.taps * of.channels * of.filters
    s.x, s.weight, s.y = cnp.PyArray_DATA(x), cnp.PyArray_DATA(weight), cnp.PyArray_DATA(y)
    parallel_for(sum_f32 if dtype_code == FLOAT32 else sum_f64, s, s.strips, work // s.strips)
    return 0


cdef int correlate_planes(const Geometry *of, cnp.ndarray x, cnp.ndarray g, cnp.ndarray weight) except -1:
    """weight = its gradient. Here strips are parts of the groups, because a weight sums over all images."""
    cdef Sum s = forward_sum(of)
    cdef int dtype_code = code_of(x)
    cdef cnp.ndarray offsets = offsets_for(of)
    cdef cnp.ndarray _planes = prepare(&s, of, dtype_code, <npy_intp *> cnp.PyArray_DATA(offsets), of.groups)
    cdef npy_intp work = of.batch * of.groups * of.places * of.taps * of.channels * of.filters
    s.x, s.weight, s.y = cnp.PyArray_DATA(x), cnp.PyArray_DATA(g), cnp.PyArray_DATA(weight)
    s.units = of.batch * of.groups
    weight.fill(0)
    parallel_for(dot_f32 if dtype_code == FLOAT32 else dot_f64, &s, s.strips, work // s.strips)
    return 0


# planes

cdef inline void embed(const Sum *s, const real *x, real *plane) noexcept nogil:
    """Copy a source into its plane, with zeros elsewhere and behind the end."""
    cdef npy_intp z, y, k, depth, height
    cdef npy_intp first = max((-s.shift[2] + s.spacing[2] - 1) // s.spacing[2], 0)
    cdef npy_intp end = min((s.plane[2] - 1 - s.shift[2]) // s.spacing[2] + 1, s.size[2])
    cdef real *row
    memset(plane, 0, s.plane_size * sizeof(real))
    for z in range(s.size[0]):
        depth = z * s.spacing[0] + s.shift[0]
        for y in range(s.size[1]):
            height = y * s.spacing[1] + s.shift[1]
            if 0 <= depth < s.plane[0] and 0 <= height < s.plane[1]:
                row = plane + (depth * s.plane[1] + height) * s.plane[2] + s.shift[2]
                if s.spacing[2] == 1:
                    for k in range(first, end):
                        row[k] = x[k]
                else:
                    for k in range(first, end):
                        row[k * s.spacing[2]] = x[k]
            x += s.size[2]


cdef void sum_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef const Sum *s = <const Sum *> data
    sum_part(data, <const float *> s.x, <const float *> s.weight, <float *> s.y, <float *> s.planes, first, end)


cdef void sum_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef const Sum *s = <const Sum *> data
    sum_part(data, <const double *> s.x, <const double *> s.weight, <double *> s.y, <double *> s.planes, first, end)


cdef void sum_part "autograd_cy_sum_part"(const void *data, const real *x, const real *weight, real *y, real *planes,
                                          npy_intp strip, npy_intp strips_end) noexcept nogil:
    """Some strips, each of some images and groups."""
    cdef const Sum *s = <const Sum *> data
    cdef npy_intp size = s.size[0] * s.size[1] * s.size[2], out = s.out[0] * s.out[1] * s.out[2]
    cdef npy_intp unit, k
    planes += strip * s.sources * s.plane_size
    for unit in range(strip * s.units // s.strips, strips_end * s.units // s.strips):
        for k in range(s.sources):
            embed(s, x + (unit * s.sources + k) * size, planes + k * s.plane_size)
        for k in range(s.results):
            sum_rows(s, planes, weight + unit % s.groups * s.sources * s.results * s.taps + k * s.result_weight,
                     y + (unit * s.results + k) * out)


cdef inline void sum_rows(const Sum *s, const real *planes, const real *weight, real *y) noexcept nogil:
    cdef npy_intp i, j, k
    cdef const real *row
    for i in range(s.out[0]):
        for j in range(s.out[1]):
            row = planes + (i * s.stride[0] * s.plane[1] + j * s.stride[1]) * s.plane[2]
            k = 0
            while k < s.out[2]:
                if s.stride[2] == 1:
                    sum_taps(s, row + k, 1, weight, y + k, min(s.out[2] - k, <npy_intp> LANES))
                else:
                    sum_taps(s, row + k * s.stride[2], s.stride[2], weight, y + k, min(s.out[2] - k, <npy_intp> LANES))
                k += LANES
            y += s.out[2]


cdef inline void sum_taps(const Sum *s, const real *row, npy_intp stride, const real *weight, real *y,
                          npy_intp n) noexcept nogil:
    """Up to LANES elements of a row of a result. Lanes behind its end are computed but not used."""
    cdef real[LANES] total
    cdef npy_intp source, t, k, step = -1 if s.turned else 1
    cdef const real *w
    for k in range(LANES):
        total[k] = 0
    for source in range(s.sources):
        w = weight + source * s.source_weight + (s.taps - 1 if s.turned else 0)
        if stride > 1:
            for t in range(s.taps):
                for k in range(LANES):
                    total[k] = total[k] + w[t * step] * row[s.offsets[t] + k * stride]
        elif real is float:
            add_taps_f32(row, s.offsets, w, step, s.taps, &total[0])
        else:
            add_taps_f64(row, s.offsets, w, step, s.taps, &total[0])
        row += s.plane_size
    for k in range(n):
        y[k] = total[k]


# the gradient of the weight

cdef void dot_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef const Sum *s = <const Sum *> data
    dot_part(data, <const float *> s.x, <const float *> s.weight, <float *> s.y, <float *> s.planes, first, end)


cdef void dot_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef const Sum *s = <const Sum *> data
    dot_part(data, <const double *> s.x, <const double *> s.weight, <double *> s.y, <double *> s.planes, first, end)


cdef void dot_part "autograd_cy_dot_part"(const void *data, const real *x, const real *g, real *weight, real *planes,
                                          npy_intp strip, npy_intp strips_end) noexcept nogil:
    """Some strips, each of some groups, over all images."""
    cdef const Sum *s = <const Sum *> data
    cdef npy_intp size = s.size[0] * s.size[1] * s.size[2], out = s.out[0] * s.out[1] * s.out[2]
    cdef npy_intp unit, image, group, k, f, t
    planes += strip * s.sources * s.plane_size
    for group in range(strip * s.groups // s.strips, strips_end * s.groups // s.strips):
        for image in range(s.units // s.groups):
            unit = image * s.groups + group
            for k in range(s.sources):
                embed(s, x + (unit * s.sources + k) * size, planes)
                for f in range(s.results):
                    for t in range(s.taps):
                        weight[((group * s.results + f) * s.sources + k) * s.taps + t] += dot_rows(
                            s, planes + s.offsets[t], g + (unit * s.results + f) * out)


cdef inline real dot_rows(const Sum *s, const real *plane, const real *g) noexcept nogil:
    """The dot product of the pixels that one tap sees with their incoming gradients."""
    cdef real[LANES] total
    cdef npy_intp i, j, k, first, step = s.stride[2]
    cdef const real *row
    for k in range(LANES):
        total[k] = 0
    for i in range(s.out[0]):
        for j in range(s.out[1]):
            row = plane + (i * s.stride[0] * s.plane[1] + j * s.stride[1]) * s.plane[2]
            first = 0
            while first + LANES <= s.out[2]:
                for k in range(LANES):
                    total[k] = total[k] + row[(first + k) * step] * g[first + k]
                first += LANES
            for k in range(s.out[2] - first):
                total[k] = total[k] + row[(first + k) * step] * g[first + k]
            g += s.out[2]
    cdef real whole = 0
    for k in range(LANES):
        whole = whole + total[k]
    return whole
