"""Weighted sums of neighbouring elements along up to three dimensions (knows no Tensor).

Average pooling and interpolation are sparse matrices, one for each dimension, in which an output sums adjacent elements. The
transposed matrices, which compute gradients, have the same form, so one loop serves all. It sums rows of the input by the
weights of the outer dimensions, then along the row. Threads share planes.
"""

import numpy as np

from libc.stdlib cimport free, malloc

from autograd_cy._core.arrays.buffers cimport MAX_DIMS, flat, in_type, new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT32, code_of, kernel_code
from autograd_cy._core.parallel.threads cimport parallel_for
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef enum:
    AS_THEY_ARE = -2        # value of Along.every: outputs are elements, not sums
    LANES = 64              # elements that are not summed along a row, whose sums stay in registers ...
    FEW = 4                 # ... if there are more rows than this
    WOVEN = 15              # channels, at most, whose pixels are a row of elements

ctypedef fused real:
    float
    double

# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    typedef struct {
        const long long *starts, *counts;
        const void *weights;
        npy_intp n, out, most, every, step;
    } autograd_cy_along;
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_tapped_plane( \\
            real const *, real *, real *, autograd_cy_along const *, npy_intp); \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_sum_woven( \\
            real const *, real *, autograd_cy_along const *); \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_sum_pixels( \\
            real const *, real *, autograd_cy_along const *, npy_intp, npy_intp);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """
    ctypedef struct Along "autograd_cy_along":      # the matrix along one dimension
        const long long *starts
        const long long *counts
        const void *weights
        npy_intp n, out, most
        npy_intp every          # elements in each output's sum; -1 if numbers differ; or AS_THEY_ARE
        npy_intp step           # from one element to the next


cdef class Taps:
    """A sparse matrix of n columns: output k sums counts[k] elements from starts[k] on, each times its weight in row k.

    Starts and ends are nondecreasing, so that the transposed matrix has the same form. Elements of a sum are `step` apart; the
    transposed matrix exists if they are neighbours.
    """

    def __init__(self, n, starts, counts, weights, step=1):
        self.n, self.out, self.step = n, len(starts), step
        self.starts = np.ascontiguousarray(starts, np.int64)
        self.counts = np.ascontiguousarray(counts, np.int64)
        self.weights = np.ascontiguousarray(weights, np.float64)
        if self.weights.shape[0] != self.out or self.counts.shape[0] != self.out:
            raise ValueError("Taps(): expected a start, a count and a row of weights for each output")
        if self.out and (self.starts.min() < 0 or self.counts.min() < 0 or self.counts.max() > self.weights.shape[1]
                         or (self.starts + (self.counts - 1) * step).max() >= n):
            raise ValueError("Taps(): an output sums elements that there are not")
        most = self.counts.max(initial=0)
        self.every = most if self.counts.min(initial=most) == most == self.weights.shape[1] else -1

    cdef cnp.ndarray weights_in(self, int dtype_code):
        if dtype_code != FLOAT32:
            return self.weights
        if self.narrow is None:
            self.narrow = self.weights.astype(np.float32)
        return self.narrow

    cdef Taps transposed(self):
        """An element goes into the outputs from the first that ends after it to the last that starts at or before it."""
        if self.turned is not None:
            return self.turned
        elements = np.arange(self.n)
        firsts = np.searchsorted(self.starts + self.counts, elements, "right")
        counts = np.maximum(np.searchsorted(self.starts, elements, "right") - firsts, 0)
        outputs = firsts[:, None] + np.arange(counts.max(initial=0))
        taps = elements[:, None] - self.starts[np.minimum(outputs, self.out - 1)] if self.out else outputs
        exists = outputs < (firsts + counts)[:, None]
        weights = np.zeros(outputs.shape)
        weights[exists] = self.weights[outputs[exists], taps[exists]]
        self.turned = Taps(self.out, np.minimum(firsts, self.out), counts, weights)
        return self.turned

    cdef Taps of_channels(self, npy_intp channels):
        """The same for rows of pixels, each with so many channels."""
        if self.woven is None or self.woven.step != channels:
            starts = (self.starts[:, None] * channels + np.arange(channels)).reshape(-1)
            counts, weights = [np.repeat(table, channels, 0) for table in (self.counts, self.weights)]
            self.woven = Taps(self.n * channels, starts, counts, weights, channels)
        return self.woven


# the loop

cdef struct Planes:         # the arrays of a shared loop
    const void *x
    void *y
    Along[3] along
    npy_intp size, out
    bint has_no_room


cdef Along along_of(Taps of, int dtype_code):
    return Along(<long long *> cnp.PyArray_DATA(of.starts), <long long *> cnp.PyArray_DATA(of.counts),
                 cnp.PyArray_DATA(of.weights_in(dtype_code)), of.n, of.out, cnp.PyArray_DIM(of.weights, 1), of.every, of.step)


cdef cnp.ndarray tapped(cnp.ndarray x, tuple taps):
    """The array with its last dimensions multiplied by their Taps. Only the last of these may be None: that dimension stays
    as it is. float16 is computed in float32."""
    cdef int dtype_code = kernel_code(x), dims = len(taps), ndim = cnp.PyArray_NDIM(x), k, axis
    cdef npy_intp[MAX_DIMS] shape
    cdef Planes planes
    cdef Taps of
    cdef long long[2] one
    cdef double unit = 1
    cdef float narrow_unit = 1
    cdef cnp.ndarray source = flat(x, dtype_code)
    if ndim < dims:
        raise ValueError(f"expected at least {dims} dimensions, got shape {list(np.shape(x))}")
    one[0], one[1] = 0, 1
    cdef Along whole = Along(&one[0], &one[1], <void *> &unit, 1, 1, 1, 1, 1)
    if dtype_code == FLOAT32:
        whole.weights = <void *> &narrow_unit
    planes.size = planes.out = 1
    planes.has_no_room = False
    for axis in range(ndim):
        shape[axis] = cnp.PyArray_DIM(x, axis)
    for k in range(3):
        axis = ndim - 3 + k
        if k < 3 - dims:
            planes.along[k] = whole
            continue
        if taps[k - 3 + dims] is None:
            planes.along[k] = Along(NULL, NULL, NULL, shape[axis], shape[axis], 0, AS_THEY_ARE, 1)
        else:
            of = <Taps?> taps[k - 3 + dims]
            if of.n != shape[axis]:
                raise ValueError(f"expected {of.n} elements along dimension {axis}, got {shape[axis]}")
            planes.along[k] = along_of(of, dtype_code)
            shape[axis] = of.out
        planes.size *= planes.along[k].n
        planes.out *= planes.along[k].out
    if dims == 3 and taps[2] is None and shape[ndim - 1] <= WOVEN:
        of = (<Taps> taps[1]).of_channels(shape[ndim - 1])
        planes.along[1], planes.along[2] = whole, along_of(of, dtype_code)
    cdef cnp.ndarray y = new_array(dtype_code, ndim, shape)
    planes.x, planes.y = cnp.PyArray_DATA(source), cnp.PyArray_DATA(y)
    cdef npy_intp parts = planes.along[0].out
    if cnp.PyArray_SIZE(y):
        parallel_for(tapped_f32 if dtype_code == FLOAT32 else tapped_f64, &planes, cnp.PyArray_SIZE(y) // planes.out * parts,
                     (planes.size + planes.out) // parts)
    if planes.has_no_room:
        raise MemoryError("no memory for a row of interpolation")
    return in_type(y, code_of(x))


cdef void tapped_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    tapped_part[float](<Planes *> data, <const float *> (<Planes *> data).x, <float *> (<Planes *> data).y, first, end)


cdef void tapped_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    tapped_part[double](<Planes *> data, <const double *> (<Planes *> data).x, <double *> (<Planes *> data).y, first, end)


cdef void tapped_part(Planes *p, const real *x, real *y, npy_intp first, npy_intp end) noexcept nogil:
    """Some parts of planes; each part is an output of the outermost dimension."""
    cdef npy_intp part, parts = p.along[0].out
    cdef real *row = <real *> malloc((p.along[2].n + 1) * sizeof(real))
    if row == NULL:
        p.has_no_room = True
        return
    for part in range(first, end):
        tapped_plane(x + part // parts * p.size, y + part * (p.out // parts), row, &p.along[0], part % parts)
    free(row)


cdef void tapped_plane "autograd_cy_tapped_plane"(
        const real *x, real *y, real *room, const Along *w, npy_intp i) noexcept nogil:
    """Output i of the outermost dimension of a plane. `room` holds a row of the input. Takes pointers because it is compiled
    for each instruction set."""
    cdef npy_intp j, a, b, n = w[2].n
    cdef real weight
    cdef bint is_first
    cdef const real *row
    for j in range(w[1].out):
        is_first = True
        if w[2].every == AS_THEY_ARE:
            if n >= LANES and w[0].counts[i] * w[1].counts[j] > FEW:
                sum_pixels(x, y, w, i, j)
                y += n
                continue
            room = y
        for a in range(w[0].counts[i]):
            for b in range(w[1].counts[j]):
                weight = (<real *> w[0].weights)[i * w[0].most + a] * (<real *> w[1].weights)[j * w[1].most + b]
                row = x + ((w[0].starts[i] + a) * w[1].n + w[1].starts[j] + b) * n
                add_row(row, room, n, weight, is_first)
                is_first = False
        if is_first:
            add_row(room, room, n, 0, True)
        if w[2].every != AS_THEY_ARE:
            sum_row(room, y, &w[2])
        y += w[2].out


cdef void sum_pixels "autograd_cy_sum_pixels"(const real *x, real *y, const Along *w, npy_intp i, npy_intp j) noexcept nogil:
    """An output of the outer dimensions: LANES of its elements at a time, the last of which may overlap those before."""
    cdef npy_intp n = w[2].n, k = 0, a, b, c
    cdef real weight
    cdef real[LANES] sums
    cdef const real *pixel
    while k < n:
        k = min(k, n - LANES)
        for c in range(LANES):
            sums[c] = 0
        for a in range(w[0].counts[i]):
            for b in range(w[1].counts[j]):
                weight = (<real *> w[0].weights)[i * w[0].most + a] * (<real *> w[1].weights)[j * w[1].most + b]
                pixel = x + ((w[0].starts[i] + a) * w[1].n + w[1].starts[j] + b) * n + k
                if a + b > 0:
                    for c in range(LANES):
                        sums[c] = sums[c] + weight * pixel[c]
                elif weight != 0:
                    for c in range(LANES):
                        sums[c] = weight * pixel[c]
        for c in range(LANES):
            y[k + c] = sums[c]
        k += LANES


cdef inline void add_row(const real *row, real *room, npy_intp n, real weight, bint is_first) noexcept nogil:
    cdef npy_intp k
    if weight == 0 and is_first:
        for k in range(n):
            room[k] = 0
    elif is_first:
        for k in range(n):
            room[k] = weight * row[k]
    else:
        for k in range(n):
            room[k] = room[k] + weight * row[k]


cdef inline void sum_row(const real *row, real *y, const Along *w) noexcept nogil:
    if w.step == 1:
        sum_elements(row, y, w, 1)          # a constant: the compiler keeps the loops in registers
    else:
        sum_woven(row, y, w)


cdef void sum_woven "autograd_cy_sum_woven"(const real *row, real *y, const Along *w) noexcept nogil:
    sum_elements(row, y, w, w.step)


cdef inline void sum_elements(const real *row, real *y, const Along *w, npy_intp step) noexcept nogil:
    cdef npy_intp k, c
    cdef real total
    cdef const real *weights = <const real *> w.weights
    cdef const long long *starts = w.starts
    if w.every == 1:
        for k in range(w.out):
            y[k] = weights[k] * row[starts[k]]
        return
    if w.every == 2:
        for k in range(w.out):
            y[k] = weights[2 * k] * row[starts[k]] + weights[2 * k + 1] * row[starts[k] + step]
        return
    for k in range(w.out):
        total = 0
        for c in range(w.counts[k]):
            total = total + weights[c] * row[starts[k] + c * step]
        y[k] = total
        weights += w.most
