"""Products of matrices by panels: some columns of the second, side by side in the cache. NOTE [Panels] in panels.pyx."""

from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef enum:
    PANEL_BYTES = 128               # of a panel's row, as in panels.h

cdef bint panels_suit(int dtype_code, npy_intp m, npy_intp n, npy_intp p, npy_intp b_column) noexcept nogil
cdef void multiply_panel(int dtype_code, const char *a, npy_intp a_row, npy_intp a_column, const char *panel, char *out,
                         npy_intp out_row, npy_intp m, npy_intp n, npy_intp columns, bint add) noexcept nogil
cdef void multiply_by_panels(int dtype_code, const char *a, npy_intp a_row, npy_intp a_column, const char *b, npy_intp b_row,
                             npy_intp b_column, char *out, npy_intp out_row, npy_intp m, npy_intp n, npy_intp p) noexcept nogil
