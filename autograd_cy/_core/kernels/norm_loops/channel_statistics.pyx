"""Statistics and corrections from the sums over planes, in double: a pass over a few numbers per plane (knows no Tensor).

Sums are pairs, one for each plane, or for each column if planes are columns. Columns are summed in slices, so the memory for
sums may have to be larger (`room_of`).
"""

from libc.math cimport NAN, sqrt

from autograd_cy._core.arrays.dtypes cimport FLOAT32
from autograd_cy._core.kernels.planes cimport Planes
from autograd_cy._core.kernels.reduction_loops cimport is_lost, lost_scale, real
from autograd_cy._core.runtime.numpy_api cimport npy_intp


cdef npy_intp sums_of(const Planes *planes) noexcept nogil:
    """The number of pairs of sums."""
    return planes.channels if are_columns(planes) else planes.count


cdef npy_intp room_of(const Planes *planes) noexcept nogil:
    """The number of pairs that the memory for sums has to hold."""
    return planes.channels * slices_of(planes) if are_columns(planes) else planes.count


# forward

cdef void finish_moments(int dtype_code, const void *x, double *sums, const Planes *planes, npy_intp n, double eps,
                         void *means, void *scales, double *variances) noexcept nogil:
    """Means, scales and variances from sums of n deviations each; on entry, `means` are centers near the means."""
    cdef npy_intp k
    for k in range(planes.groups, sums_of(planes)):
        sums[2 * (k % planes.groups)] += sums[2 * k]
        sums[2 * (k % planes.groups) + 1] += sums[2 * k + 1]
    if dtype_code == FLOAT32:
        finish(<const float *> x, sums, planes, n, eps, <float *> means, <float *> scales, variances)
    else:
        finish(<const double *> x, sums, planes, n, eps, <double *> means, <double *> scales, variances)


cdef void finish(const real *x, const double *sums, const Planes *planes, npy_intp n, double eps, real *means, real *scales,
                 double *variances) noexcept nogil:
    cdef npy_intp groups = planes.groups, k
    cdef double rest, variance, scale
    for k in range(groups):
        rest = sums[2 * k] / n if n else NAN
        variance = sums[2 * k + 1] / n - rest * rest if n else NAN
        variances[k] = 0 if variance < 0 else variance
        scale = 1 / sqrt(variances[k] + eps)
        if is_lost(scale, means[k]):
            scale = lost_scale(x + k * planes.size, planes.count // groups, groups * planes.size, planes.size, means[k] + rest,
                               eps, &variances[k])
        scales[k] = <real> scale
        means[k] = <real> (means[k] + rest)


cdef void find_scales(int dtype_code, const void *variances, npy_intp n, double eps, void *scales) noexcept nogil:
    """1 / sqrt(variance + eps)."""
    cdef npy_intp k
    for k in range(n):
        if dtype_code == FLOAT32:
            (<float *> scales)[k] = <float> (1 / sqrt((<const float *> variances)[k] + eps))
        else:
            (<double *> scales)[k] = 1 / sqrt((<const double *> variances)[k] + eps)


cdef void move_averages(int dtype_code, const void *before, const double *now, npy_intp n, double momentum,
                        void *out) noexcept nogil:
    """out = (1 - momentum) * before + momentum * now."""
    cdef npy_intp k
    for k in range(n):
        if dtype_code == FLOAT32:
            (<float *> out)[k] = <float> ((1 - momentum) * (<const float *> before)[k] + momentum * now[k])
        else:
            (<double *> out)[k] = (1 - momentum) * (<const double *> before)[k] + momentum * now[k]


# backward

cdef inline double number(int dtype_code, const void *numbers, npy_intp k) noexcept nogil:
    """An element of an array of float32 or float64; 1 if there is no array."""
    if numbers == NULL:
        return 1
    return (<const float *> numbers)[k] if dtype_code == FLOAT32 else (<const double *> numbers)[k]


cdef void find_corrections(int dtype_code, const double *sums, const Planes *planes, npy_intp n, const void *scales,
                           const void *weight, double *corrections) noexcept nogil:
    """For each of the statistics (of n elements), with h = weight * g: the mean of h, and of h * (x - mean) * scale ** 2.
    The gradient subtracts the first, and the second times a deviation, from h."""
    cdef npy_intp k, plane
    cdef double factor
    for k in range(2 * planes.groups):
        corrections[k] = 0
    for plane in range(sums_of(planes)):
        k = plane // planes.per % planes.groups
        factor = number(dtype_code, weight, plane % planes.channels) / n
        corrections[2 * k] += sums[2 * plane] * factor
        factor = factor * number(dtype_code, scales, k)
        corrections[2 * k + 1] += sums[2 * plane + 1] * factor * number(dtype_code, scales, k)


cdef void parameter_gradient(int dtype_code, const double *sums, const Planes *planes, const void *scales,
                             void *out) noexcept nogil:
    """The weight's gradient, each channel's sum of g * (x - mean) * scale; without scales the bias's, the sum of g."""
    cdef npy_intp channel, plane
    cdef double total
    for channel in range(planes.channels):
        total = 0
        plane = channel
        while plane < sums_of(planes):
            if scales == NULL:
                total += sums[2 * plane]
            else:
                total += sums[2 * plane + 1] * number(dtype_code, scales, plane // planes.per % planes.groups)
            plane += planes.channels
        if dtype_code == FLOAT32:
            (<float *> out)[channel] = <float> total
        else:
            (<double *> out)[channel] = total
