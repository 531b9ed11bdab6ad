"""Discrete Fourier transforms along one dimension or several, of complex, real and Hermitian input."""

from autograd_cy._core.graph.record cimport as_tensor, int64_of, shape_of, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor

from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op


cdef tuple along_one(Tensor x, object n, object dim):
    """The dimension, and the size to cut or pad it to; by default its own size."""
    cdef int d = one_dim(x, dim)
    return d, checked(shape_of(x)[d] if n is None else int64_of(n))


cdef object inverse_half(Tensor x, tuple dims, tuple sizes, object last, object norm, bint forward):
    """Real numbers from half of their frequencies; `last`: how many along the last dimension, None: 2 * (frequencies - 1)."""
    cdef long long size = 2 * (<long long> sizes[len(sizes) - 1] - 1) if last is None else int64_of(last)
    checked(size)
    sizes = sizes[:len(sizes) - 1] + (size // 2 + 1,)
    x = with_sizes(x, dims, sizes)
    cdef int normalization = code_of_norm(norm, forward)
    if not forward:
        return real_of_half(x, dims, normalization, size)
    y = transformed(x, dims[:-1], normalization, True) if len(dims) > 1 else x
    return real_of_half(<Tensor> (<object> y).conj(), dims[-1:], normalization, size)


cdef object half(Tensor x, tuple dims, tuple sizes, object norm, bint forward):
    """Half of the frequencies of real numbers; the others are their conjugates."""
    cdef int normalization = code_of_norm(norm, forward)
    x = with_sizes(x, dims, sizes)
    if forward:
        return half_of_real(x, dims, normalization)
    y = <Tensor> (<object> half_of_real(x, dims[-1:], normalization)).conj()
    return transformed(y, dims[:-1], normalization, False) if len(dims) > 1 else y


cdef object last_of(object s):
    """The last of the requested sizes; None if there are none, or it is -1."""
    if s is None:
        return None
    size = s if isinstance(s, int) else s[len(s) - 1] if len(s) else None
    return None if size == -1 else size


cdef int check_dims(tuple dims, str name) except -1:
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    return 0


@op(name="fft", methods=(), namespace="fft", batch=COMPOSITE)
def fft(input, n: int | None = None, dim=-1, norm: str | None = None):
    """fft(input, n=None, dim=-1, norm=None) -> Tensor: the discrete Fourier transform along `dim`, of complex type.

    y[k] = sum over j of input[j] * exp(-2j * pi * j * k / n). With `n` the input is cut or padded with zeros to that
    size. norm='ortho' divides by sqrt(n), 'forward' by n.

    >>> import autograd_cy as ag
    >>> ag.fft.fft(ag.tensor([1.0, 0.0, -1.0, 0.0]))
    tensor([0.+0.j, 2.+0.j, 0.+0.j, 2.+0.j])
    """
    cdef Tensor x = given(input, "fft")
    d, size = along_one(x, n, dim)
    return transformed(resized(x, d, size), (d,), code_of_norm(norm, True), True)


@op(name="ifft", methods=(), namespace="fft", batch=COMPOSITE)
def ifft(input, n: int | None = None, dim=-1, norm: str | None = None):
    """ifft(input, n=None, dim=-1, norm=None) -> Tensor: the inverse of fft(), of complex type.

    It divides by n, with norm='ortho' by sqrt(n), with 'forward' by 1. With `n` the input is cut or padded with zeros to
    that size.

    >>> import autograd_cy as ag
    >>> ag.fft.ifft(ag.tensor([4.0, 0.0, 0.0, 0.0]))
    tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    cdef Tensor x = given(input, "ifft")
    d, size = along_one(x, n, dim)
    return transformed(resized(x, d, size), (d,), code_of_norm(norm, False), False)


@op(name="rfft", methods=(), namespace="fft", batch=COMPOSITE)
def rfft(input, n: int | None = None, dim=-1, norm: str | None = None):
    """rfft(input, n=None, dim=-1, norm=None) -> Tensor: fft() of real numbers, without the redundant conjugate frequencies.

    n // 2 + 1 elements along `dim`. With `n` the input is cut or padded with zeros to that size.

    >>> import autograd_cy as ag
    >>> ag.fft.rfft(ag.tensor([1.0, 0.0, -1.0, 0.0]))
    tensor([0.+0.j, 2.+0.j, 0.+0.j])
    """
    cdef Tensor x = real_given(input, "rfft")
    d, size = along_one(x, n, dim)
    return half(x, (d,), (size,), norm, True)


@op(name="irfft", methods=(), namespace="fft", batch=COMPOSITE)
def irfft(input, n: int | None = None, dim=-1, norm: str | None = None):
    """irfft(input, n=None, dim=-1, norm=None) -> Tensor: the inverse of rfft(): n real numbers from n // 2 + 1 frequencies.

    By default `n` is even, 2 * (m - 1) for m frequencies. The imaginary part of the first frequency (and for an even n of the
    last) is ignored.

    >>> import autograd_cy as ag
    >>> ag.fft.irfft(ag.tensor([0.0, 2.0, 0.0]))
    tensor([ 1.,  0., -1.,  0.])
    """
    cdef Tensor x = complex_given(input, "irfft")
    d, own = along_one(x, None, dim)
    return inverse_half(x, (d,), (own,), n, norm, False)


@op(name="hfft", methods=(), namespace="fft", batch=COMPOSITE)
def hfft(input, n: int | None = None, dim=-1, norm: str | None = None):
    """hfft(input, n=None, dim=-1, norm=None) -> Tensor: the transform of Hermitian input, given as one half: n real numbers.

    By default `n` is 2 * (m - 1) for m elements.

    >>> import autograd_cy as ag
    >>> ag.fft.hfft(ag.tensor([0.0, 0.5, 0.0]))
    tensor([ 1.,  0., -1.,  0.])
    """
    cdef Tensor x = complex_given(input, "hfft")
    d, own = along_one(x, None, dim)
    return inverse_half(x, (d,), (own,), n, norm, True)


@op(name="ihfft", methods=(), namespace="fft", batch=COMPOSITE)
def ihfft(input, n: int | None = None, dim=-1, norm: str | None = None):
    """ihfft(input, n=None, dim=-1, norm=None) -> Tensor: the inverse of hfft(): n // 2 + 1 elements from n real numbers.

    With `n` the input is cut or padded with zeros to that size.

    >>> import autograd_cy as ag
    >>> ag.fft.ihfft(ag.tensor([1.0, 0.0, -1.0, 0.0])).real
    tensor([0.0000, 0.5000, 0.0000])
    """
    cdef Tensor x = real_given(input, "ihfft")
    d, size = along_one(x, n, dim)
    return half(x, (d,), (size,), norm, False)


@op(name="fft2", methods=(), namespace="fft", batch=COMPOSITE)
def fft2(input, s: _Dims | None = None, dim: _Dims | None = (-2, -1), norm: str | None = None):
    """fft2(input, s=None, dim=(-2, -1), norm=None) -> Tensor: fft() along several dimensions, by default the last two.

    With `s` the dimensions are cut or padded with zeros to those sizes.

    >>> import autograd_cy as ag
    >>> ag.fft.fft2(ag.tensor([[1.0, 1.0], [1.0, 1.0]]))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])
    """
    cdef Tensor x = given(input, "fft2")
    dims, sizes = dims_and_sizes(x, s, dim)
    return transformed(with_sizes(x, dims, sizes), dims, code_of_norm(norm, True), True)


@op(name="fftn", methods=(), namespace="fft", batch=COMPOSITE)
def fftn(input, s: _Dims | None = None, dim: _Dims | None = None, norm: str | None = None):
    """fftn(input, s=None, dim=None, norm=None) -> Tensor: fft() along several dimensions.

    With `s` the dimensions are cut or padded with zeros to those sizes.

    >>> import autograd_cy as ag
    >>> ag.fft.fftn(ag.tensor([[1.0, 1.0], [1.0, 1.0]]))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])
    """
    cdef Tensor x = given(input, "fftn")
    dims, sizes = dims_and_sizes(x, s, dim)
    return transformed(with_sizes(x, dims, sizes), dims, code_of_norm(norm, True), True)


@op(name="ifft2", methods=(), namespace="fft", batch=COMPOSITE)
def ifft2(input, s: _Dims | None = None, dim: _Dims | None = (-2, -1), norm: str | None = None):
    """ifft2(input, s=None, dim=(-2, -1), norm=None) -> Tensor: ifft() along several dimensions, by default the last two.

    With `s` the dimensions are cut or padded with zeros to those sizes.

    >>> import autograd_cy as ag
    >>> ag.fft.ifft2(ag.tensor([[1.0, 1.0], [1.0, 1.0]]))
    tensor([[1.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])
    """
    cdef Tensor x = given(input, "ifft2")
    dims, sizes = dims_and_sizes(x, s, dim)
    return transformed(with_sizes(x, dims, sizes), dims, code_of_norm(norm, False), False)


@op(name="ifftn", methods=(), namespace="fft", batch=COMPOSITE)
def ifftn(input, s: _Dims | None = None, dim: _Dims | None = None, norm: str | None = None):
    """ifftn(input, s=None, dim=None, norm=None) -> Tensor: ifft() along several dimensions.

    With `s` the dimensions are cut or padded with zeros to those sizes.

    >>> import autograd_cy as ag
    >>> ag.fft.ifftn(ag.tensor([[1.0, 1.0], [1.0, 1.0]]))
    tensor([[1.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])
    """
    cdef Tensor x = given(input, "ifftn")
    dims, sizes = dims_and_sizes(x, s, dim)
    return transformed(with_sizes(x, dims, sizes), dims, code_of_norm(norm, False), False)


@op(name="rfft2", methods=(), namespace="fft", batch=COMPOSITE)
def rfft2(input, s: _Dims | None = None, dim: _Dims | None = (-2, -1), norm: str | None = None):
    """rfft2(input, s=None, dim=(-2, -1), norm=None) -> Tensor: rfftn(), by default along the last two dimensions.

    With `s` the dimensions are cut or padded with zeros to those sizes.

    >>> import autograd_cy as ag
    >>> ag.fft.rfft2(ag.tensor([[1.0, 1.0], [1.0, 1.0]]))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])
    """
    cdef Tensor x = real_given(input, "rfft2")
    dims, sizes = dims_and_sizes(x, s, dim)
    check_dims(dims, "rfft2")
    return half(x, dims, sizes, norm, True)


@op(name="rfftn", methods=(), namespace="fft", batch=COMPOSITE)
def rfftn(input, s: _Dims | None = None, dim: _Dims | None = None, norm: str | None = None):
    """rfftn(input, s=None, dim=None, norm=None) -> Tensor: fft() of real numbers along several dimensions, half of the last.

    With `s` the dimensions are cut or padded with zeros to those sizes.

    >>> import autograd_cy as ag
    >>> ag.fft.rfftn(ag.tensor([[1.0, 1.0], [1.0, 1.0]]))
    tensor([[4.+0.j, 0.+0.j],
            [0.+0.j, 0.+0.j]])
    """
    cdef Tensor x = real_given(input, "rfftn")
    dims, sizes = dims_and_sizes(x, s, dim)
    check_dims(dims, "rfftn")
    return half(x, dims, sizes, norm, True)


@op(name="irfft2", methods=(), namespace="fft", batch=COMPOSITE)
def irfft2(input, s: _Dims | None = None, dim: _Dims | None = (-2, -1), norm: str | None = None):
    """irfft2(input, s=None, dim=(-2, -1), norm=None) -> Tensor: the inverse of rfft2(): real numbers.

    With `s` the dimensions are cut or padded with zeros to those sizes.

    >>> import autograd_cy as ag
    >>> ag.fft.irfft2(ag.tensor([[1.0, 1.0], [1.0, 1.0]]))
    tensor([[1., 0.],
            [0., 0.]])
    """
    cdef Tensor x = complex_given(input, "irfft2")
    dims, sizes = dims_and_sizes(x, s, dim)
    check_dims(dims, "irfft2")
    return inverse_half(x, dims, sizes, last_of(s), norm, False)


@op(name="irfftn", methods=(), namespace="fft", batch=COMPOSITE)
def irfftn(input, s: _Dims | None = None, dim: _Dims | None = None, norm: str | None = None):
    """irfftn(input, s=None, dim=None, norm=None) -> Tensor: the inverse of rfftn(): real numbers.

    With `s` the dimensions are cut or padded with zeros to those sizes.

    >>> import autograd_cy as ag
    >>> ag.fft.irfftn(ag.tensor([[1.0, 1.0], [1.0, 1.0]]))
    tensor([[1., 0.],
            [0., 0.]])
    """
    cdef Tensor x = complex_given(input, "irfftn")
    dims, sizes = dims_and_sizes(x, s, dim)
    check_dims(dims, "irfftn")
    return inverse_half(x, dims, sizes, last_of(s), norm, False)


@op(name="hfft2", methods=(), namespace="fft", batch=COMPOSITE)
def hfft2(input, s: _Dims | None = None, dim: _Dims | None = (-2, -1), norm: str | None = None):
    """hfft2(input, s=None, dim=(-2, -1), norm=None) -> Tensor: hfftn(), by default along the last two dimensions.

    With `s` the dimensions are cut or padded with zeros to those sizes.

    >>> import autograd_cy as ag
    >>> ag.fft.hfft2(ag.tensor([[1.0, 1.0], [1.0, 1.0]]))
    tensor([[4., 0.],
            [0., 0.]])
    """
    cdef Tensor x = complex_given(input, "hfft2")
    dims, sizes = dims_and_sizes(x, s, dim)
    check_dims(dims, "hfft2")
    return inverse_half(x, dims, sizes, last_of(s), norm, True)


@op(name="hfftn", methods=(), namespace="fft", batch=COMPOSITE)
def hfftn(input, s: _Dims | None = None, dim: _Dims | None = None, norm: str | None = None):
    """hfftn(input, s=None, dim=None, norm=None) -> Tensor: fft() along several dimensions, hfft() along the last one: real.

    With `s` the dimensions are cut or padded with zeros to those sizes.

    >>> import autograd_cy as ag
    >>> ag.fft.hfftn(ag.tensor([[1.0, 1.0], [1.0, 1.0]]))
    tensor([[4., 0.],
            [0., 0.]])
    """
    cdef Tensor x = complex_given(input, "hfftn")
    dims, sizes = dims_and_sizes(x, s, dim)
    check_dims(dims, "hfftn")
    return inverse_half(x, dims, sizes, last_of(s), norm, True)


@op(name="ihfft2", methods=(), namespace="fft", batch=COMPOSITE)
def ihfft2(input, s: _Dims | None = None, dim: _Dims | None = (-2, -1), norm: str | None = None):
    """ihfft2(input, s=None, dim=(-2, -1), norm=None) -> Tensor: the inverse of hfft2().

    With `s` the dimensions are cut or padded with zeros to those sizes.

    >>> import autograd_cy as ag
    >>> ag.fft.ihfft2(ag.tensor([[1.0, 1.0], [1.0, 1.0]])).real
    tensor([[1., 0.],
            [0., 0.]])
    """
    cdef Tensor x = real_given(input, "ihfft2")
    dims, sizes = dims_and_sizes(x, s, dim)
    check_dims(dims, "ihfft2")
    return half(x, dims, sizes, norm, False)


@op(name="ihfftn", methods=(), namespace="fft", batch=COMPOSITE)
def ihfftn(input, s: _Dims | None = None, dim: _Dims | None = None, norm: str | None = None):
    """ihfftn(input, s=None, dim=None, norm=None) -> Tensor: the inverse of hfftn().

    With `s` the dimensions are cut or padded with zeros to those sizes.

    >>> import autograd_cy as ag
    >>> ag.fft.ihfftn(ag.tensor([[1.0, 1.0], [1.0, 1.0]])).real
    tensor([[1., 0.],
            [0., 0.]])
    """
    cdef Tensor x = real_given(input, "ihfftn")
    dims, sizes = dims_and_sizes(x, s, dim)
    check_dims(dims, "ihfftn")
    return half(x, dims, sizes, norm, False)


cdef object rolled(str name, object input, object dim, bint back):
    cdef Tensor x = as_tensor(input, name)
    cdef tuple sizes = shape_of(x)
    if not sizes:
        return (<object> x).clone()
    dims = range(len(sizes)) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = [wrap_dim(d, len(sizes)) for d in dims]
    return (<object> x).roll([(sizes[d] + 1) // 2 if back else sizes[d] // 2 for d in dims], dims)


@op(methods=(), namespace="fft", batch=COMPOSITE)
def fftshift(input, dim: _Dims | None = None):
    """fftshift(input, dim=None) -> Tensor: the frequencies of fft() in order, negative ones first; by default in all dims.

    >>> import autograd_cy as ag
    >>> ag.fft.fftshift(ag.tensor([0.0, 1.0, -2.0, -1.0]))
    tensor([-2., -1.,  0.,  1.])
    """
    return rolled("fftshift", input, dim, False)


@op(methods=(), namespace="fft", batch=COMPOSITE)
def ifftshift(input, dim: _Dims | None = None):
    """ifftshift(input, dim=None) -> Tensor: the inverse of fftshift().

    >>> import autograd_cy as ag
    >>> ag.fft.ifftshift(ag.tensor([-2.0, -1.0, 0.0, 1.0]))
    tensor([ 0.,  1., -2., -1.])
    """
    return rolled("ifftshift", input, dim, True)
