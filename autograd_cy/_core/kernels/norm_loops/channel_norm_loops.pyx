"""Loops of batch_norm and group_norm (knows no Tensor).

A dense array is a sequence of planes of contiguous elements (`Planes`). Sums over a plane go lane by lane, and from block to
block in double; the caller adds the sums of planes with the same statistics, in order. Planes of one element are columns:
channel_columns.pyx. Threads share planes.
"""

from libc.string cimport memcpy

from autograd_cy._core.arrays.dtypes cimport FLOAT32
from autograd_cy._core.kernels.reduction_loops cimport real, row_total, sums_of_deviations
from autograd_cy._core.parallel.threads cimport Task, parallel_for
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_scale_plane(real const *, real *, npy_intp, real, real, real); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_plane_gradient( \\
            real const *, real const *, real *, npy_intp, real, real, real, real, real);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """


cdef inline void share_planes(Task task, Work *work) noexcept nogil:
    parallel_for(task, work, work.planes.count, work.planes.size)


# sums

cdef void first_means(int dtype_code, const void *x, const Planes *planes, void *centers) noexcept nogil:
    """A center near each mean: the mean of the first plane with these statistics, which has their number (`per` is 1)."""
    if dtype_code == FLOAT32:
        means_of_planes(<const float *> x, planes, <float *> centers)
    else:
        means_of_planes(<const double *> x, planes, <double *> centers)


cdef void means_of_planes(const real *x, const Planes *planes, real *centers) noexcept nogil:
    cdef npy_intp k
    if planes.size == 1:
        memcpy(centers, x, planes.groups * sizeof(real))
        return
    for k in range(planes.groups):
        centers[k] = <real> (row_total(x + k * planes.size, planes.size) / planes.size)


cdef void add_moments(int dtype_code, const void *x, const Planes *planes, const void *centers, double *sums) noexcept nogil:
    """For each plane or column, the sum of the deviations from its center, and of their squares."""
    cdef Work work = Work(planes, NULL, x, centers, NULL, NULL, NULL, NULL, sums, NULL)
    if are_columns(planes):
        sum_columns(dtype_code, &work)
    else:
        share_planes(moments_f32 if dtype_code == FLOAT32 else moments_f64, &work)


cdef void add_products(int dtype_code, const void *g, const void *x, const Planes *planes, const void *means,
                       double *sums) noexcept nogil:
    """For each plane or column, the sum of g, and of g * (x - mean)."""
    cdef Work work = Work(planes, g, x, means, NULL, NULL, NULL, NULL, sums, NULL)
    if are_columns(planes):
        sum_columns(dtype_code, &work)
    else:
        share_planes(products_f32 if dtype_code == FLOAT32 else products_f64, &work)


cdef void moments_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    moments_part(<Work *> data, first, end, <float> 0)


cdef void moments_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    moments_part(<Work *> data, first, end, <double> 0)


cdef inline void moments_part(Work *p, npy_intp plane, npy_intp end, real kind) noexcept nogil:
    cdef npy_intp size = p.planes.size
    while plane < end:
        sums_of_deviations(<const real *> p.x + plane * size, size,
                           (<const real *> p.means)[plane // p.planes.per % p.planes.groups], p.sums + 2 * plane)
        plane += 1


cdef void products_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    products_part(<Work *> data, first, end, <float> 0)


cdef void products_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    products_part(<Work *> data, first, end, <double> 0)


cdef inline void products_part(Work *p, npy_intp plane, npy_intp end, real kind) noexcept nogil:
    cdef npy_intp size = p.planes.size
    while plane < end:
        sums_of_products(<const real *> p.g + plane * size, <const real *> p.x + plane * size, size,
                         (<const real *> p.means)[plane // p.planes.per % p.planes.groups], p.sums + 2 * plane)
        plane += 1


# forward

cdef void normalize_planes(int dtype_code, const void *x, const Planes *planes, const Statistics *by, const void *weight,
                           const void *bias, void *y) noexcept nogil:
    """y = (x - mean) * scale * weight + bias. Weight and bias may be NULL, and `y` may be `x`."""
    cdef Work work = Work(planes, NULL, x, by.means, by.scales, weight, bias, NULL, NULL, y)
    if are_columns(planes):
        normalize_columns(dtype_code, &work)
    else:
        share_planes(planes_f32 if dtype_code == FLOAT32 else planes_f64, &work)


cdef void planes_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    planes_part(<Work *> data, first, end, <float> 0)


cdef void planes_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    planes_part(<Work *> data, first, end, <double> 0)


cdef inline void planes_part(Work *p, npy_intp plane, npy_intp end, real kind) noexcept nogil:
    cdef npy_intp size = p.planes.size, channel, k
    cdef real factor, constant
    while plane < end:
        channel, k = plane % p.planes.channels, plane // p.planes.per % p.planes.groups
        factor = (<const real *> p.scales)[k]
        if p.weight != NULL:
            factor = factor * (<const real *> p.weight)[channel]
        constant = 0 if p.bias == NULL else (<const real *> p.bias)[channel]
        scale_plane(<const real *> p.x + plane * size, <real *> p.out + plane * size, size, (<const real *> p.means)[k],
                    factor, constant)
        plane += 1


cdef void scale_plane "autograd_cy_scale_plane"(
        const real *x, real *y, npy_intp n, real mean, real factor, real constant) noexcept nogil:
    cdef npy_intp j
    for j in range(n):
        y[j] = (x[j] - mean) * factor + constant


# backward

cdef void plane_gradients(int dtype_code, const void *g, const void *x, const Planes *planes, const Statistics *by,
                          const void *weight, const double *corrections, void *out) noexcept nogil:
    """out = scale * (weight * g - c - (x - mean) * d), with c and d for each of the statistics. `out` may be `g`."""
    cdef Work work = Work(planes, g, x, by.means, by.scales, weight, NULL, corrections, NULL, out)
    if are_columns(planes):
        column_gradients(dtype_code, &work)
    else:
        share_planes(plane_gradients_f32 if dtype_code == FLOAT32 else plane_gradients_f64, &work)


cdef void plane_gradients_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    plane_gradients_part(<Work *> data, first, end, <float> 0)


cdef void plane_gradients_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    plane_gradients_part(<Work *> data, first, end, <double> 0)


cdef inline void plane_gradients_part(Work *p, npy_intp plane, npy_intp end, real kind) noexcept nogil:
    cdef npy_intp size = p.planes.size, k
    cdef real weight
    while plane < end:
        k = plane // p.planes.per % p.planes.groups
        weight = 1 if p.weight == NULL else (<const real *> p.weight)[plane % p.planes.channels]
        plane_gradient(<const real *> p.g + plane * size, <const real *> p.x + plane * size, <real *> p.out + plane * size,
                       size, weight, (<const real *> p.means)[k], (<const real *> p.scales)[k],
                       <real> p.corrections[2 * k], <real> p.corrections[2 * k + 1])
        plane += 1


cdef void plane_gradient "autograd_cy_plane_gradient"(
        const real *g, const real *x, real *out, npy_intp n, real weight, real mean, real scale, real constant,
        real slope) noexcept nogil:
    cdef npy_intp j
    for j in range(n):
        out[j] = (g[j] * weight - constant - (x[j] - mean) * slope) * scale
