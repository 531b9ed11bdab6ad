"""Checks of the sizes, settings and types of convolutions."""

from autograd_cy._core.arrays.dtypes cimport BOOL, FLOAT16, INT64, LONGDOUBLE, code_of, type_word
from autograd_cy._core.graph.tensor cimport Tensor

C_TYPES = ("bool", "unsigned char", "signed char", "short int", "int", "long int", "c10::Half", "float", "double",
           "c10::complex<float>", "c10::complex<double>")           # as PyTorch calls them
LARGEST = 1 << 60               # stride, padding or dilation: the sum of two fits 64 bits


cdef tuple integers(object value, str operation, str name, int position):
    """A tuple of ints."""
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"{operation}(): argument '{name}' (position {position}) must be tuple of ints, not "
                        f"{type(value).__name__}")
    for place, size in enumerate(value):
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            raise TypeError(f"{operation}(): argument '{name}' (position {position}) must be tuple of ints, but found element "
                            f"of type {type(size).__name__} at pos {place}")
    return tuple([within(size.__index__(), operation, name) for size in value])


cdef object within(object number, str operation, str name):
    if not -LARGEST <= number <= LARGEST:
        raise ValueError(f"{operation}(): expected each {name} to be at most 2**60, got {number}")
    return number


cdef tuple expanded(tuple values, str name, int n):
    """Expand to one number for each dimension."""
    if len(values) == 1:
        return values * n
    if len(values) != n:
        raise RuntimeError(f"expected {name} to be a single integer value or a list of {n} values to match the convolution "
                           f"dimensions, but got {name}={list(values)}")
    return values


cdef int check_settings(tuple stride, tuple padding, tuple dilation, tuple output_padding, object groups) except -1:
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    if min(output_padding) < 0:
        raise RuntimeError("negative output_padding is not supported")
    if min(stride) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(dilation) <= 0:
        raise RuntimeError(f"dilation should be greater than zero, but got {list(dilation)}")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    return 0


cdef int check_operands(tuple own, tuple weight, tuple bias, bint transposed, object groups) except -1:
    cdef str given = f"Given transposed={int(transposed)}, " if transposed else f"Given groups={groups}, "
    cdef object channels = weight[0] if transposed else weight[1] * groups
    cdef object filters = weight[1] * groups if transposed else weight[0]
    if len(own) != len(weight):
        raise RuntimeError(f"Expected {len(weight)}-dimensional input for {len(weight)}-dimensional weight {list(weight)}, "
                           f"but got {len(own)}-dimensional input of size {list(own)} instead")
    if weight[0] < groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of "
                           f"size {list(weight)} instead")
    if weight[0] % groups:
        raise RuntimeError(f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got "
                           f"weight of size [{list(weight)}] instead")
    if own[1] != channels:
        raise RuntimeError(f"{given}weight of size {list(weight)}, expected input{list(own)} to have {channels} channels, but "
                           f"got {own[1]} channels instead")
    if bias is not None and bias != (filters,):
        raise RuntimeError(f"{given if transposed else 'Given '}weight of size {list(weight)}, expected bias to be "
                           f"1-dimensional with {filters} elements, but got bias of size {list(bias)} instead")
    return 0


cdef int check_types(Tensor x, Tensor weight, Tensor bias, bint transposed) except -1:
    cdef int dtype_code = code_of(x.array)
    cdef str kernel = "slow_conv_transpose2d_out_cpu" if transposed else "slow_conv2d_cpu"
    if bias is not None and code_of(bias.array) != dtype_code:
        raise RuntimeError(f"Input type ({C_TYPES[dtype_code]}) and bias type ({C_TYPES[code_of(bias.array)]}) should be the "
                           "same")
    if code_of(weight.array) != dtype_code:
        raise RuntimeError(f"expected scalar type {type_word(dtype_code)} but found {type_word(code_of(weight.array))}")
    if dtype_code == BOOL or dtype_code >= LONGDOUBLE or (transposed and dtype_code < FLOAT16 and dtype_code != INT64):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{type_word(dtype_code)}'")
    return 0


cdef str by(sizes):
    return " x ".join(map(str, sizes))


cdef str named(str name, tuple values):
    """A setting as PyTorch shows it, with one dimension as two."""
    values = (1, *values) if len(values) == 1 else values
    axes = ("depth", "height", "width")[3 - len(values):]
    return " ".join([f"{name}_{axis}: {value}" for axis, value in zip(axes, values, strict=True)])


cdef int check_sizes(tuple own, tuple weight) except -1:
    """Only batch and channels may be 0."""
    if 0 in own[2:]:
        raise RuntimeError(f"Only zero batch or zero channel inputs are supported, but got input shape: {list(own)}")
    if 0 in weight[2:]:
        raise RuntimeError(f"kernel size should be greater than zero, but got {named('kernel', weight[2:])}")
    return 0


cdef tuple result_sizes(tuple own, tuple weight, tuple stride, tuple padding, tuple dilation):
    """The sizes of the result. Without channels it is empty, as in PyTorch."""
    cdef tuple padded = tuple([n + 2 * p for n, p in zip(own[2:], padding, strict=True)])
    cdef tuple extent = tuple([d * (k - 1) + 1 for k, d in zip(weight[2:], dilation, strict=True)])
    check_sizes(own, weight)
    if any([n < k for n, k in zip(padded, extent, strict=True)]):
        raise RuntimeError(f"Calculated padded input size per channel: ({by(padded)}). Kernel size: ({by(extent)}). Kernel "
                           "size can't be greater than actual input size")
    return own[0], weight[0] if own[1] else 0, *[(n - k) // s + 1 for n, k, s in zip(padded, extent, stride, strict=True)]


cdef tuple transposed_sizes(tuple own, tuple weight, tuple stride, tuple padding, tuple dilation, tuple output_padding,
                            object groups):
    cdef tuple sizes
    check_sizes(own, weight)
    for o, s, d in zip(output_padding, stride, dilation, strict=True):
        if o >= s and o >= d:
            raise RuntimeError("output padding must be smaller than either stride or dilation, but got "
                               f"{named('output_padding', output_padding)} {named('stride', stride)} "
                               f"{named('dilation', dilation)}")
    sizes = tuple([(n - 1) * s - 2 * p + d * (k - 1) + o + 1 for n, k, s, p, d, o in zip(
        own[2:], weight[2:], stride, padding, dilation, output_padding, strict=True)])
    if min(sizes) < 1:
        raise RuntimeError(f"Given input size per channel: ({by(own[2:])}). Calculated output size per channel: "
                           f"({by(sizes)}). "
                           "Output size is too small")
    return own[0], weight[1] * groups, *sizes


cdef int check_memory(tuple sizes, str operation) except -1:
    """Refuse results too large for any memory, before a product of sizes overflows."""
    cdef object count = 1
    for n in sizes:
        count *= max(n, 1)
    if count >= 1 << 59:
        raise RuntimeError(f"{operation}(): the result of size {list(sizes)} has too many elements")
    return 0
