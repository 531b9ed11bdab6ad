"""Products of matrices by panels: NOTE [Panels] in panels.pyx."""

from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from "panels.h":
    ctypedef void PanelProduct(const char *a, npy_intp a_row, npy_intp a_column, const char *panel, npy_intp panel_row,
                               char *out, npy_intp out_row, npy_intp m, npy_intp n, npy_intp bytes, const char *added,
                               npy_intp added_row, const npy_intp *offsets, npy_intp segments) noexcept nogil

cdef PanelProduct *panel_product(int dtype_code, npy_intp bytes) noexcept nogil
cdef npy_intp panel_width(int dtype_code) noexcept nogil
cdef int vectors() noexcept nogil
cdef bint has_panels(int dtype_code, npy_intp m, npy_intp p) noexcept nogil
cdef bint panels_suit(int dtype_code, npy_intp m, npy_intp n, npy_intp p, bint by_rows) noexcept nogil
cdef void multiply_by_panels(int dtype_code, const char *a, npy_intp a_row, npy_intp a_column, const char *b, npy_intp b_row,
                             npy_intp b_column, char *out, npy_intp out_row, npy_intp m, npy_intp n, npy_intp p,
                             const char *added, npy_intp added_row) noexcept nogil
