from autograd_cy._core.runtime cimport numpy_api as cnp

cdef cnp.ndarray gathered(cnp.ndarray x, cnp.ndarray index, cnp.ndarray weights)
cdef cnp.ndarray scattered(cnp.ndarray g, cnp.ndarray index, cnp.ndarray weights, Py_ssize_t n)
cdef cnp.ndarray products(cnp.ndarray g, cnp.ndarray x, cnp.ndarray index)
