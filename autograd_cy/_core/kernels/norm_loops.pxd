"""Loops of normalization over layers and channels."""

from autograd_cy._core.kernels.planes cimport Planes
from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# in layer_norm_loops.pyx
cdef void normalize_layers(const real *x, const real *weight, const real *bias, real *y, real *means, real *scales,
                           npy_intp rows, npy_intp n, double eps) noexcept nogil
cdef void layer_gradient(const real *g, const real *x, const real *weight, const real *means, const real *scales,
                         real *out, npy_intp rows, npy_intp n) noexcept nogil
cdef void layer_weight_gradient(const real *g, const real *x, const real *means, const real *scales, real *out,
                                npy_intp rows, npy_intp n) noexcept nogil

# in channel_columns.pyx

cdef struct Work:               # a shared loop
    const Planes *planes
    const void *g
    const void *x
    const void *means
    const void *scales
    const void *weight
    const void *bias
    const double *corrections
    double *sums
    void *out

# in channel_norm_loops.pyx

cdef struct Statistics:             # of float32 or float64, all of one type
    void *means
    void *scales                    # factors of the deviations from the means

cdef void add_moments(int dtype_code, const void *x, const Planes *planes, const void *centers, double *sums) noexcept nogil
cdef void first_means(int dtype_code, const void *x, const Planes *planes, void *centers) noexcept nogil
cdef void add_products(int dtype_code, const void *g, const void *x, const Planes *planes, const void *means,
                       double *sums) noexcept nogil
cdef void normalize_planes(int dtype_code, const void *x, const Planes *planes, const Statistics *by, const void *weight,
                           const void *bias, void *y) noexcept nogil
cdef void plane_gradients(int dtype_code, const void *g, const void *x, const Planes *planes, const Statistics *by,
                          const void *weight, const double *corrections, void *out) noexcept nogil

# in channel_statistics.pyx
cdef npy_intp room_of(const Planes *planes) noexcept nogil
cdef void finish_moments(int dtype_code, const void *x, double *sums, const Planes *planes, npy_intp n, double eps,
                         void *means, void *scales, double *variances) noexcept nogil
cdef void find_scales(int dtype_code, const void *variances, npy_intp n, double eps, void *scales) noexcept nogil
cdef void find_corrections(int dtype_code, const double *sums, const Planes *planes, npy_intp n, const void *scales,
                           const void *weight, double *corrections) noexcept nogil
cdef void parameter_gradient(int dtype_code, const double *sums, const Planes *planes, const void *scales,
                             void *out) noexcept nogil
cdef void move_averages(int dtype_code, const void *before, const double *now, npy_intp n, double momentum,
                        void *out) noexcept nogil
