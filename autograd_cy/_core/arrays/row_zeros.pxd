"""Arrays that are zero except in known rows."""

from libc.stdint cimport int64_t

from autograd_cy._core.arrays.pool cimport Rows
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef cnp.ndarray new_row_zeros(int dtype_code, cnp.npy_intp n, cnp.npy_intp inner, const int64_t *numbers, cnp.npy_intp count)
cdef void expect_rows() noexcept
cdef void confirm_rows(object made) noexcept
cdef void forget_rows(cnp.ndarray array) noexcept
cdef Rows *known_rows(cnp.ndarray array) noexcept
