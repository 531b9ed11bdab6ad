"""Loops between images and the patches that a convolution's kernel sees (knows no Tensor).

Images have their channels last here, so that neighbouring taps of a patch lie side by side in an image, too: what is copied
are runs of kernel width times channels. A patch is a row of a matrix: for each tap, all channels of one group. Padding is in
no memory: taps that fall beside the image are zeros.

Pointers, for runs of some elements at any place: a view of each would cost as much as the run.
"""

from autograd_cy._core.kernels.plane_loops cimport real
from autograd_cy._core.runtime.numpy_api cimport npy_intp
from autograd_cy._core.runtime.threads cimport parallel_for

# The functions that Cython makes of those of `real` numbers: of float and of double.
cdef extern from *:
    """
    #include <string.h>
    #if defined(__SSE2__)
    #include <xmmintrin.h>
    #endif
    #include "clones.h"
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_gather_part( \\
            void const *, real *, real *, npy_intp, npy_intp); \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_scatter_part( \\
            void const *, real *, real *, npy_intp, npy_intp); \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_turn_part( \\
            void const *, real const *, real *, npy_intp, npy_intp);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)

    /* Runs are short, some of 12 bytes: no calls for them. */
    static AUTOGRAD_CY_INLINED void copy_run(void *out, const void *x, npy_intp bytes) {
        char *q = out;
        const char *p = x;
        for (; bytes >= 64; bytes -= 64, q += 64, p += 64) memcpy(q, p, 64);
        if (bytes & 32) { memcpy(q, p, 32); q += 32; p += 32; }
        if (bytes & 16) { memcpy(q, p, 16); q += 16; p += 16; }
        if (bytes & 8) { memcpy(q, p, 8); q += 8; p += 8; }
        if (bytes & 4) memcpy(q, p, 4);
    }
    #define ADD_RUN(name, type) \\
        static AUTOGRAD_CY_INLINED void name(type *restrict out, const type *restrict x, npy_intp n) { \\
            for (npy_intp i = 0; i < n; i++) out[i] += x[i]; \\
        }
    static AUTOGRAD_CY_INLINED void zero_run(void *out, npy_intp bytes) {
        static const char zeros[64] = {0};
        char *q = out;
        for (; bytes >= 64; bytes -= 64, q += 64) memcpy(q, zeros, 64);
        copy_run(q, zeros, bytes);
    }
    /* 4 rows of 4. A 1x1 convolution of 64 channels, 14 x 14, batch 8, takes 176 us so, 216 with loops over elements. */
    static AUTOGRAD_CY_INLINED void turn_four(const float *x, npy_intp x_row, float *y, npy_intp y_row) {
    #if defined(__SSE2__)
        __m128 a = _mm_loadu_ps(x), b = _mm_loadu_ps(x + x_row);
        __m128 c = _mm_loadu_ps(x + 2 * x_row), d = _mm_loadu_ps(x + 3 * x_row);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_storeu_ps(y, a);
        _mm_storeu_ps(y + y_row, b);
        _mm_storeu_ps(y + 2 * y_row, c);
        _mm_storeu_ps(y + 3 * y_row, d);
    #else
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) y[j * y_row + i] = x[i * x_row + j];
    #endif
    }
    ADD_RUN(add_run_f32, float)
    ADD_RUN(add_run_f64, double)
    """
    void copy_run(void *out, const void *x, npy_intp bytes) noexcept nogil
    void zero_run(void *out, npy_intp bytes) noexcept nogil
    void turn_four(const float *x, npy_intp x_row, float *y, npy_intp y_row) noexcept nogil
    void add_run_f32(float *out, const float *x, npy_intp n) noexcept nogil
    void add_run_f64(double *out, const double *x, npy_intp n) noexcept nogil

cdef enum:
    TILE = 16               # columns of a matrix that are turned together: a line of the cache of float32

cdef struct Walk:           # a loop that is shared
    const Geometry *of
    const Block *block
    void *pixels
    void *patches

cdef struct Turn:
    const void *x
    void *y
    npy_intp x_step, x_row, y_step, y_row, rows, columns


# patches

cdef void gather(const Geometry *of, const Block *block, const real *pixels, real *patches) noexcept nogil:
    """Write the patches of a block as rows; `pixels`: its images, channels last."""
    cdef Walk walk = Walk(of, block, <void *> pixels, patches)
    parallel_for(gather_f32 if real is float else gather_f64, &walk, block.images * block.places, of.taps * of.channels, 16)


cdef void gather_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    gather_part(data, <float *> (<Walk *> data).pixels, <float *> (<Walk *> data).patches, first, end)


cdef void gather_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    gather_part(data, <double *> (<Walk *> data).pixels, <double *> (<Walk *> data).patches, first, end)


cdef void gather_part "autograd_cy_gather_part"(
        const void *data, real *pixels, real *patches, npy_intp first, npy_intp end) noexcept nogil:
    walk_patches(<const Walk *> data, pixels, patches, first, end, False)


cdef void scatter(const Geometry *of, const Block *block, real *pixels, const real *patches) noexcept nogil:
    """Add the patches of a block to its images, channels last. Patches overlap: threads share images."""
    cdef Walk walk = Walk(of, block, pixels, <void *> patches)
    parallel_for(scatter_f32 if real is float else scatter_f64, &walk, block.images, block.places * of.taps * of.channels)


cdef void scatter_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    scatter_part(data, <float *> (<Walk *> data).pixels, <float *> (<Walk *> data).patches, first, end)


cdef void scatter_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    scatter_part(data, <double *> (<Walk *> data).pixels, <double *> (<Walk *> data).patches, first, end)


cdef void scatter_part "autograd_cy_scatter_part"(
        const void *data, real *pixels, real *patches, npy_intp first, npy_intp end) noexcept nogil:
    cdef npy_intp places = (<const Walk *> data).block.places
    walk_patches(<const Walk *> data, pixels, patches, first * places, end * places, True)


cdef inline void walk_patches(const Walk *walk, real *pixels, real *patches, npy_intp row, npy_intp end,
                              bint adding) noexcept nogil:
    """Some rows of a block: at once those whose places stand in one line of the result."""
    cdef Geometry of = walk.of[0]               # a copy, which no write to a patch can change
    cdef npy_intp places = walk.block.places, length = of.taps * of.channels, place, x, y, z, n
    while row < end:
        place = walk.block.place + row % places
        x, y, z = place % of.out[2], place // of.out[2] % of.out[1], place // of.out[2] // of.out[1]
        n = min(min(of.out[2] - x, end - row), places - row % places)
        walk_places(&of, pixels + row // places * of.pixels * of.channels, patches + row * length, z, y, x, n, adding)
        row += n


cdef inline void walk_places(const Geometry *of, real *pixels, real *patch, npy_intp z, npy_intp y, npy_intp x, npy_intp n,
                             bint adding) noexcept nogil:
    """What the kernel sees at n places of a line."""
    cdef npy_intp depth, height, i, j, k, line = of.kernel[2] * of.channels, length = of.taps * of.channels
    for i in range(of.kernel[0]):
        depth = z * of.stride[0] - of.padding[0] + i * of.dilation[0]
        for j in range(of.kernel[1]):
            height = y * of.stride[1] - of.padding[1] + j * of.dilation[1]
            if 0 <= depth < of.size[0] and 0 <= height < of.size[1]:
                for k in range(n):
                    walk_line(of, pixels + (depth * of.size[1] + height) * of.size[2] * of.channels, patch + k * length,
                              (x + k) * of.stride[2] - of.padding[2], adding)
            elif not adding:
                for k in range(n):
                    zero_run(patch + k * length, line * sizeof(real))
            patch += line


cdef inline void walk_line(const Geometry *of, real *pixels, real *patch, npy_intp left, bint adding) noexcept nogil:
    """One line of a patch, which begins at the pixel `left` of a line of an image."""
    cdef npy_intp k, x, n = of.channels, taps = of.kernel[2], first, end
    if of.dilation[2] == 1:
        first = min(max(-left, <npy_intp> 0), taps)
        end = max(min(of.size[2] - left, taps), first)
        if first > 0 and not adding:
            zero_run(patch, first * n * sizeof(real))
        if end < taps and not adding:
            zero_run(patch + end * n, (taps - end) * n * sizeof(real))
        move(pixels + (left + first) * n, patch + first * n, (end - first) * n, adding)
        return
    for k in range(taps):
        x = left + k * of.dilation[2]
        if 0 <= x < of.size[2]:
            move(pixels + x * n, patch, n, adding)
        elif not adding:
            zero_run(patch, n * sizeof(real))
        patch += n


cdef inline void move(real *pixels, real *patch, npy_intp n, bint adding) noexcept nogil:
    if not adding:
        copy_run(patch, pixels, n * sizeof(real))
    elif real is float:
        add_run_f32(pixels, patch, n)
    else:
        add_run_f64(pixels, patch, n)


# the order of dimensions

cdef void turn(const real *x, npy_intp x_step, npy_intp x_row, real *y, npy_intp y_step, npy_intp y_row,
               npy_intp count, npy_intp rows, npy_intp columns) noexcept nogil:
    """Transpose `count` matrices of so many rows and columns, of which matrices and rows lie that many elements apart."""
    cdef Turn turning = Turn(x, y, x_step, x_row, y_step, y_row, rows, columns)
    cdef npy_intp tiles = (columns + TILE - 1) // TILE
    parallel_for(turn_f32 if real is float else turn_f64, &turning, count * tiles, rows * TILE)


cdef void turn_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    turn_part(data, <const float *> (<Turn *> data).x, <float *> (<Turn *> data).y, first, end)


cdef void turn_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    turn_part(data, <const double *> (<Turn *> data).x, <double *> (<Turn *> data).y, first, end)


cdef void turn_part "autograd_cy_turn_part"(
        const void *data, const real *x, real *y, npy_intp tile, npy_intp end) noexcept nogil:
    """Some tiles, each of TILE columns or what is left of them, and all rows."""
    cdef const Turn *t = <const Turn *> data
    cdef npy_intp tiles = (t.columns + TILE - 1) // TILE, matrix, column
    while tile < end:
        matrix, column = tile // tiles, tile % tiles * TILE
        turn_tile(x + matrix * t.x_step + column, t.x_row, y + matrix * t.y_step + column * t.y_row, t.y_row, t.rows,
                  min(t.columns - column, <npy_intp> TILE))
        tile += 1


cdef inline void turn_tile(const real *x, npy_intp x_row, real *y, npy_intp y_row, npy_intp rows,
                           npy_intp columns) noexcept nogil:
    cdef npy_intp i = 0, j
    if real is float and columns == TILE:
        while i + 4 <= rows:
            for j in range(0, TILE, 4):
                turn_four(x + i * x_row + j, x_row, y + j * y_row + i, y_row)
            i += 4
    while i < rows:
        for j in range(columns):
            y[j * y_row + i] = x[i * x_row + j]
        i += 1
