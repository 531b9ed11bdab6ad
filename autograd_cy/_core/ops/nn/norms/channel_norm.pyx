"""Code shared by batch_norm and group_norm: arrays as planes, and the node."""

from autograd_cy._core.arrays.buffers cimport channels_at_end, channels_second, flat, in_format, in_type, new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT64, code_of, dtype_of, kernel_code
from autograd_cy._core.graph.memory cimport zeroed
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, saved_like, unpack
from autograd_cy._core.graph.record cimport record_all, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.norm_loops cimport (
    Statistics, add_moments, add_products, find_corrections, finish_moments, first_means, normalize_planes, parameter_gradient,
    plane_gradients, room_of)
from autograd_cy._core.kernels.planes cimport Planes
from autograd_cy._core.ops.nn.convolution cimport in_format_of
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


# arrays

cdef cnp.ndarray vector(int dtype_code, Py_ssize_t n):
    cdef npy_intp size = n
    return new_array(dtype_code, 1, &size)


cdef Planes planes_of(cnp.ndarray x) except *:
    """The planes of an array (N, C, ...), with statistics for each channel."""
    cdef int axis, ndim = cnp.PyArray_NDIM(x)
    cdef Planes planes
    if ndim < 2:
        raise IndexError("Dimension out of range (expected to be in range of "
                         f"[-{max(ndim, 1)}, {max(ndim, 1) - 1}], but got 1)")
    planes.channels = planes.groups = cnp.PyArray_DIM(x, 1)
    planes.count, planes.size, planes.per = cnp.PyArray_DIM(x, 0) * cnp.PyArray_DIM(x, 1), 1, 1
    for axis in range(2, ndim):
        planes.size *= cnp.PyArray_DIM(x, axis)
    return planes


cdef inline npy_intp elements_of(const Planes *planes) noexcept:
    """The number of elements that share statistics."""
    return planes.count * planes.size // planes.groups if planes.groups else 0


cdef cnp.ndarray moments_of(cnp.ndarray x, const Planes *planes, double eps, cnp.ndarray means, cnp.ndarray scales):
    """Write the means and scales of a dense array, and return the variances in float64. `per` is 1."""
    cdef int dtype_code = code_of(x)
    cdef npy_intp n = elements_of(planes)
    cdef cnp.ndarray sums = vector(FLOAT64, 2 * max(room_of(planes), planes.groups))
    cdef cnp.ndarray variances = vector(FLOAT64, planes.groups)
    if n > 0:
        first_means(dtype_code, data_of(x), planes, data_of(means))
        add_moments(dtype_code, data_of(x), planes, data_of(means), <double *> data_of(sums))
    finish_moments(dtype_code, data_of(x), <double *> data_of(sums), planes, n, eps, data_of(means), data_of(scales),
                   <double *> data_of(variances))
    return variances


cdef cnp.ndarray in_kernel_type(Tensor parameter, int dtype_code):
    return None if parameter is None else flat(parameter.array, dtype_code)


cdef cnp.ndarray normalized_planes(cnp.ndarray x, const Planes *planes, cnp.ndarray means, cnp.ndarray scales, Tensor weight,
                                   Tensor bias):
    """(x - mean) * scale * weight + bias of a dense array."""
    cdef int dtype_code = code_of(x)
    cdef cnp.ndarray w = in_kernel_type(weight, dtype_code), b = in_kernel_type(bias, dtype_code)
    cdef cnp.ndarray y = new_array(dtype_code, cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x))
    cdef Statistics by = Statistics(data_of(means), data_of(scales))
    if cnp.PyArray_SIZE(x):
        normalize_planes(dtype_code, data_of(x), planes, &by, data_of(w), data_of(b), data_of(y))
    return y


cdef int check_channels(Planes planes, tuple tensors, str names) except -1:
    """Check that each tensor (or None) is a vector with an element for each channel."""
    for name, x in zip(names.split(), tensors):
        if x is not None and shape_of(<Tensor> x) != (planes.channels,):
            raise RuntimeError(f"{name} should contain {planes.channels} elements not {(<Tensor> x).array.size}")
    return 0


# the node

cdef class ChannelNorm(Node):
    """dtype_codes: the types of the input, the weight and the bias."""

    cdef tuple saved_names(self):
        return ("input", "weight", None)

    cdef int release_saved(self) except -1:
        self.means = self.scales = self.sums = None
        return Node.release_saved(self)

    cdef int forget_common(self) except -1:
        self.sums = None
        return 0

    @property
    def _saved_eps(self):
        return self.eps

    @property
    def _saved_result1(self):
        """The means."""
        return self.shown(self.means)

    @property
    def _saved_result2(self):
        """The reciprocal standard deviations."""
        return self.shown(self.scales)

    cdef object shown(self, cnp.ndarray numbers):
        unpack(self, 0)                         # raises if they were released
        return new_tensor(numbers.copy() if self.corrected else numbers[:0].copy())

    cdef object vjp_array(self, object gradient, int i, Request *request):
        cdef cnp.ndarray x = saved_like(self, 0, <cnp.ndarray> gradient), came = <cnp.ndarray> gradient, out
        cdef cnp.ndarray w = None if self.saved1 is None else saved_array(self, 1), g
        cdef int dtype_code = kernel_code(x)
        if self.at_end:
            x, came = channels_at_end(x), channels_at_end(came)
        g, x = flat(came, dtype_code), flat(x, dtype_code)
        if i > 0:
            out = vector(dtype_code, self.planes.channels)
            self.write_parameter_gradient(g, x, i, out, request.may_consume)
            return in_type(out, self.dtype_codes[i])
        out = g if request.may_overwrite and g is came else new_array(dtype_code, cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x))
        if cnp.PyArray_SIZE(x):
            self.write_input_gradient(g, x, None if w is None else flat(w, dtype_code), out, request.may_consume)
        if not self.at_end:
            return in_format(in_type(out, self.dtype_codes[0]), self.channels_last)
        return gradient if out is came else channels_second(in_type(out, self.dtype_codes[0]))

    cdef cnp.ndarray products(self, cnp.ndarray g, cnp.ndarray x, bint keep):
        """For each plane, the sums of g and of g * (x - mean). `keep` them for the other inputs, which need the same."""
        if self.sums is not None:
            return self.sums
        cdef cnp.ndarray sums = vector(FLOAT64, 2 * room_of(&self.planes))
        if cnp.PyArray_SIZE(x):
            add_products(code_of(x), data_of(g), data_of(x), &self.planes, data_of(self.means), <double *> data_of(sums))
        else:
            sums.fill(0)
        if keep:
            self.sums = sums
        return sums

    cdef int write_parameter_gradient(self, cnp.ndarray g, cnp.ndarray x, int i, cnp.ndarray out, bint keep) except -1:
        cdef cnp.ndarray sums = self.products(g, x, keep)
        parameter_gradient(code_of(x), <double *> data_of(sums), &self.planes, data_of(self.scales) if i == 1 else NULL,
                           data_of(out))
        return 0

    cdef int write_input_gradient(self, cnp.ndarray g, cnp.ndarray x, cnp.ndarray w, cnp.ndarray out,
                                  bint keep) except -1:
        cdef int dtype_code = code_of(x)
        cdef Statistics by = Statistics(data_of(self.means), data_of(self.scales))
        cdef cnp.ndarray sums, corrections, zeros
        if not self.corrected:                  # g * weight * scale, whatever x is
            zeros = vector(dtype_code, self.planes.groups)
            zeros.fill(0)
            by.means = data_of(zeros)
            normalize_planes(dtype_code, data_of(g), &self.planes, &by, data_of(w), NULL, data_of(out))
            return 0
        sums, corrections = self.products(g, x, keep), vector(FLOAT64, 2 * self.planes.groups)
        find_corrections(dtype_code, <double *> data_of(sums), &self.planes, elements_of(&self.planes), by.scales, data_of(w),
                         <double *> data_of(corrections))
        plane_gradients(dtype_code, data_of(g), data_of(x), &self.planes, &by, data_of(w), <double *> data_of(corrections),
                        data_of(out))
        return 0

    cdef object vjp(self, object g, int i):
        cdef object x = unpack(self, 0), own
        cdef int dtype_code = kernel_code((<Tensor> x).array), ndim = cnp.PyArray_NDIM((<Tensor> x).array)
        cdef tuple others = (0,) + tuple(range(2, ndim)), sizes = tuple(x.shape)
        g = g.to(dtype_of(dtype_code))
        own = dtype_of(self.dtype_codes[i])
        if i == 2:
            return g.sum(others).to(own)
        z, scale = self.deviations(x.to(dtype_of(dtype_code)))
        if i == 1:
            return (g * z.reshape(sizes)).sum(others).to(own)
        if self.saved1 is not None:
            g = g * unpack(self, 1).to(dtype_of(dtype_code)).reshape(-1, *(1,) * (ndim - 2))
        g = self.by_statistics(g)
        g = projected(g, z, scale, self.dims()) if self.corrected else g * scale
        return in_format_of(g.reshape(sizes).to(own), self.channels_last)

    cdef object vjp_of_zeros(self, object g, int i):
        cdef object x = unpack(self, 0), zeros = g == 0
        if i == 2:
            return self.vjp(g, 2)
        if i == 1:
            z, _ = self.deviations(x)
            products = zeroed(g * z.reshape(g.shape), zeros)
            return products.sum((0,) + tuple(range(2, g.ndim))).to(dtype_of(self.dtype_codes[1]))
        found = self.vjp(g, 0)
        if not self.corrected:
            return zeroed(found, zeros)
        return zeroed(self.by_statistics(found), self.by_statistics(zeros).all(self.dims(), True)).reshape(g.shape)

    cdef tuple deviations(self, object x):
        """(input - mean) * scale and the scale, as operations on the input."""
        x = self.by_statistics(x)
        if self.corrected:
            return standardized(x, self.dims(), self.eps, (<Tensor> self.statistics_like(self.scales)).array)
        scale = self.statistics_like(self.scales)
        return (x - self.statistics_like(self.means)) * scale, scale

    cdef object by_statistics(self, object x):
        """The input (or an array of its shape) reshaped so that elements with the same statistics lie along `dims`."""
        raise NotImplementedError

    cdef tuple dims(self):
        raise NotImplementedError

    cdef object statistics_like(self, cnp.ndarray numbers):
        """Other statistics than the input's, in a shape that broadcasts to it."""
        raise NotImplementedError


cdef Tensor record_norm(ChannelNorm node, cnp.ndarray array, Tensor x, Tensor weight, Tensor bias):
    """The result, recorded with this node and the three inputs (None if absent)."""
    node.dtype_codes[0] = node.dtype_codes[1] = node.dtype_codes[2] = code_of(x.array)
    save_input(node, 0, x)
    if weight is not None:
        save_input(node, 1, weight)
        node.dtype_codes[1] = code_of(weight.array)
    if bias is not None:
        node.dtype_codes[2] = code_of(bias.array)
    return record_all(node, new_tensor(array), (x, weight, bias))
