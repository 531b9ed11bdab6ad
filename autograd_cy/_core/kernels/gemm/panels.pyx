"""Products of float32 or float64 matrices by panels of the second matrix (knows no Tensor).

NOTE [Panels]
A panel is 128 bytes of each row of a matrix, copied together, so that it stays in the L1 cache. All rows of the first matrix
are multiplied by it, 6 to 12 at a time, in place.
  1. BLAS copies both matrices, and a call has overhead. 1024 x 128 by 128 x 512 of float32: 113 Gflop/s by panels, 102 by
     OpenBLAS; 128 x 32 by 32 x 96: 96 and 72 (Zen 4, whose peak is 118). OpenBLAS is as fast or faster in two cases: for up
     to 10^6 multiplications by a row-major matrix, where its loops copy nothing, and beyond MOST, where it copies what
     exceeds the L2 cache.
  2. An element is a sum over blocks of DEPTH, each summed in order, with fused multiply-adds where the machine has them. It
     depends on no other element, so the bits are the same for any number of threads and any part of the product.
  3. The loops are in panels.h, for vectors of 64, 32 and 16 bytes; the import picks the machine's best. Without fused
     multiply-adds, BLAS multiplies. Tests and measurements choose with `use_panels`.
  4. Strides may be arbitrary: operands are copied only panel by panel, on the stack, and only if that pays.
"""

from autograd_cy._core.arrays.dtypes cimport FLOAT32, FLOAT64
from autograd_cy._core.parallel.threads cimport thresholds
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from "panels.h":
    enum:
        PANEL_BYTES
    const npy_intp *ONE_SEGMENT
    PanelProduct *panel_products[3][2]
    int best_vectors() noexcept nogil
    bint AUTOGRAD_CY_DEBUG
    void fill_panel_f32(const char *b, npy_intp b_row, npy_intp b_column, char *panel, npy_intp n,
                        npy_intp columns) noexcept nogil
    void fill_panel_f64(const char *b, npy_intp b_row, npy_intp b_column, char *panel, npy_intp n,
                        npy_intp columns) noexcept nogil

cdef enum:
    DEPTH = 320             # rows of a panel, at most: 40 kB
    HELD = 1 << 19          # bytes of the first matrix that are multiplied by all panels in turn: half an L2 cache
    BY_ROWS = 8             # times as much work is required if the second matrix is row-major
    MOST = 1 << 28          # multiplications of float64; twice as many of float32
    LINE = 64               # bytes of a cache line
    FEW_ROWS = 128          # of the first matrix: contiguous rows are not worth copying to a panel ...
    SHORT = 32              # bytes of a row, for which vectors of 32 bytes suffice
    ALIASED = 1024          # ... unless they are multiples of so many bytes apart and evict each other from the cache

cdef int BEST = best_vectors()
cdef int level = BEST if BEST > 0 or AUTOGRAD_CY_DEBUG else -1     # of panel_products; below 0: BLAS multiplies


def use_panels(wanted=None):
    """use_panels(wanted) -> int: multiply by the loops of this level (0 to 2) or by BLAS (-1); None for the machine's best.
    Returns the previous level. For tests, while no other thread computes. ValueError if the machine lacks the level."""
    global level
    before = level
    if wanted is not None and not -1 <= wanted <= BEST:
        raise ValueError(f"use_panels(): expected -1 to {BEST} on this machine, got {wanted}")
    level = (BEST if BEST > 0 or AUTOGRAD_CY_DEBUG else -1) if wanted is None else wanted
    return before


cdef PanelProduct *panel_product(int dtype_code, npy_intp bytes) noexcept nogil:
    """The loop of this machine for a panel whose rows have so many: longer vectors take as long, half empty."""
    return panel_products[min(vectors(), 1 if bytes <= SHORT else 2)][0 if dtype_code == FLOAT32 else 1]


cdef npy_intp panel_width(int dtype_code) noexcept nogil:
    """The columns of a panel."""
    return PANEL_BYTES // <npy_intp> (sizeof(float) if dtype_code == FLOAT32 else sizeof(double))


cdef int vectors() noexcept nogil:
    """The level (0 to 2) for the loops of products and convolutions."""
    return max(level, 0)


cdef bint has_panels(int dtype_code, npy_intp m, npy_intp p) noexcept nogil:
    """Whether a product of so many rows and columns can be computed by panels."""
    return level >= 0 and (dtype_code == FLOAT32 or dtype_code == FLOAT64) and min(m, p) >= thresholds.panel_side


cdef bint panels_suit(int dtype_code, npy_intp m, npy_intp n, npy_intp p, bint by_rows) noexcept nogil:
    """Whether to compute a product (m, n) by (n, p) by panels rather than one BLAS call. `by_rows`: the second matrix is
    row-major, so that BLAS copies nothing."""
    cdef npy_intp itemsize = sizeof(float) if dtype_code == FLOAT32 else sizeof(double), work = m * n * p
    if n == 0 or not has_panels(dtype_code, m, p):
        return False
    return thresholds.panel_work <= work // (BY_ROWS if by_rows else 1) and work <= MOST * (8 // itemsize)


cdef void multiply_by_panels(int dtype_code, const char *a, npy_intp a_row, npy_intp a_column, const char *b, npy_intp b_row,
                             npy_intp b_column, char *out, npy_intp out_row, npy_intp m, npy_intp n, npy_intp p,
                             const char *added, npy_intp added_row) noexcept nogil:
    """out = a @ b + added: (m, n) by (n, p), no size 0. `added` may be NULL, `out` itself, or one row for all (`added_row` is
    0). Rows of `out` and of `added` are contiguous."""
    cdef char[DEPTH * PANEL_BYTES + LINE] memory
    cdef char *panel = memory + LINE - <npy_intp> memory % LINE
    cdef npy_intp itemsize = sizeof(float) if dtype_code == FLOAT32 else sizeof(double)
    cdef npy_intp k = 0, i, depth, height
    while k < n:
        depth, i = min(n - k, <npy_intp> DEPTH), 0
        height = HELD // (depth * itemsize)
        while i < m:
            multiply_rows(dtype_code, a + i * a_row, a_row, a_column, b, b_row, b_column, out + i * out_row, out_row,
                          min(m - i, height), depth, p, NULL if added == NULL else added + i * added_row, added_row, panel)
            i += height
        a += depth * a_column
        b += depth * b_row
        k += depth
        added, added_row = out, out_row


cdef void multiply_rows(int dtype_code, const char *a, npy_intp a_row, npy_intp a_column, const char *b, npy_intp b_row,
                        npy_intp b_column, char *out, npy_intp out_row, npy_intp m, npy_intp n, npy_intp p,
                        const char *added, npy_intp added_row, char *panel) noexcept nogil:
    """Some rows of the product, for up to DEPTH columns of the first matrix."""
    cdef bint is_float = dtype_code == FLOAT32
    cdef npy_intp itemsize = sizeof(float) if is_float else sizeof(double), columns
    cdef bint in_place = m <= FEW_ROWS and b_column == itemsize and b_row % ALIASED != 0
    cdef PanelProduct *multiply_panel
    while p > 0:
        columns = min(p, PANEL_BYTES // itemsize)
        multiply_panel = panel_product(dtype_code, columns * itemsize)
        if in_place and columns * itemsize == PANEL_BYTES:
            multiply_panel(a, a_row, a_column, b, b_row, out, out_row, m, n, PANEL_BYTES, added, added_row, ONE_SEGMENT, 1)
        else:
            if is_float:
                fill_panel_f32(b, b_row, b_column, panel, n, columns)
            else:
                fill_panel_f64(b, b_row, b_column, panel, n, columns)
            multiply_panel(a, a_row, a_column, panel, PANEL_BYTES, out, out_row, m, n, columns * itemsize, added, added_row,
                           ONE_SEGMENT, 1)
        b += columns * b_column
        out += columns * itemsize
        if added != NULL:
            added += columns * itemsize
        p -= columns
