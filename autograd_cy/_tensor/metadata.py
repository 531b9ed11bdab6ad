"""Methods of Tensor about its shape, dtype and device (facade)."""

import itertools

from .._core.arrays.formats import checked, is_dense_in, memory_format, strides_of
from .._core.graph.tensor import extend, metadata_of
from .._core.runtime.entry import public
from .._types import Size
from .._types import device as Device
from .attaching import attribute, method


@method
def size(self, dim=None):
    """size(dim=None) -> Size or int: the shape, or the size of one dimension."""
    return self.shape if dim is None else tuple.__getitem__(self.shape, dim)  # Size's method would add a frame to an error


@method
def dim(self):
    """dim() -> int: the number of dimensions."""
    return self.ndim


@method
def numel(self):
    """numel() -> int: the number of elements."""
    return metadata_of(self).size


@method
def nelement(self):
    """nelement() -> int: numel()."""
    return metadata_of(self).size


@method
def ndimension(self):
    """ndimension() -> int: dim()."""
    return self.ndim


@method
def element_size(self):
    """element_size() -> int: the bytes of one element."""
    return self.dtype.itemsize


@method
def stride(self, dim=None):
    """stride(dim=None) -> tuple or int: the distance of neighbours along each dimension, in elements."""
    strides = strides_of(metadata_of(self))
    return strides if dim is None else strides[dim]


@method
def dim_order(self, *, ambiguity_check=False):
    """dim_order() -> tuple of ints: the dimensions as they follow each other in memory, the outermost first.

    With ambiguity_check=True RuntimeError where the memory fits several orders, unless it fits exactly one of the formats in
    a list `ambiguity_check`.
    """
    is_list = isinstance(ambiguity_check, list)
    if not isinstance(ambiguity_check, bool) and not (is_list and all(isinstance(f, memory_format) for f in ambiguity_check)):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    steps = self.stride()
    has_several = 1 in self.shape or any(a == b for a, b in itertools.pairwise(steps))
    formats = ambiguity_check if is_list else []
    if ambiguity_check is not False and has_several and sum(self.is_contiguous(memory_format=f) for f in formats) != 1:
        raise RuntimeError(
            "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
        )
    return tuple(sorted(range(self.ndim), key=lambda axis: (-steps[axis], axis)))


@method
def is_contiguous(self, memory_format=None):
    """is_contiguous() -> bool: whether the elements are dense and in order, in C's unless `memory_format` is another."""
    if memory_format is not None and (wanted := checked(memory_format, "is_contiguous")) is not None:
        return is_dense_in(wanted, metadata_of(self))
    return metadata_of(self).flags.c_contiguous


@method
def is_floating_point(self):
    """is_floating_point() -> bool: whether the dtype is a real floating point type."""
    return self.dtype.is_floating_point


@method
def is_complex(self):
    """is_complex() -> bool: whether the dtype is a complex type."""
    return self.dtype.is_complex


@method
def is_signed(self):
    """is_signed() -> bool: whether the dtype has numbers below 0."""
    return self.dtype.is_signed


@method
def is_conj(self):
    """is_conj() -> bool: False: conj() computes at once, and marks nothing."""
    return False


@method
def is_neg(self):
    """is_neg() -> bool: False: no tensor is marked as negated."""
    return False


@method
@public
def is_nonzero(self):
    """is_nonzero() -> bool: whether the only element is not 0; RuntimeError if there is not exactly one."""
    return bool(self)


@method
@public
def is_same_size(self, other):
    """is_same_size(other) -> bool: whether the other tensor has the same shape."""
    return self.shape == other.shape


@method
def get_device(self):
    """get_device() -> int: the number of the GPU; -1 for a tensor on the CPU, as all are."""
    return -1


@method
def is_pinned(self, device=None):
    """is_pinned() -> bool: False: no memory is pinned."""
    return False


@method
def is_distributed(self):
    """is_distributed() -> bool: False."""
    return False


@attribute
def _cdata(self):
    """A number that no other living tensor has."""
    return id(self)


@attribute
def itemsize(self):
    """The bytes of one element."""
    return self.dtype.itemsize


@attribute
def nbytes(self):
    """The bytes of all elements."""
    return metadata_of(self).nbytes


@attribute
def layout(self):
    """How the elements are stored: strided, but for sparse tensors."""
    from .._types.layout import strided  # few need it

    return strided


@attribute
def device(self):
    """Where the tensor lives: the CPU."""
    return Device("cpu")


@attribute
def is_cpu(self):
    """Whether the tensor lives on the CPU: yes."""
    return True


def _absent(name, what):
    """An attribute that is False: there is no such thing here."""

    def get(self):
        return False

    get.__name__, get.__doc__ = name, f"Whether the tensor {what}: no."
    return attribute(get)


for _name, _what in {
    "is_cuda": "lives on a GPU", "is_meta": "has no memory", "is_mkldnn": "is laid out for MKL-DNN",
    "is_mps": "lives on a Mac's GPU",
    "is_nested": "is nested", "is_quantized": "is quantized", "is_sparse": "is sparse", "is_sparse_csr": "is sparse, in rows",
    "is_xpu": "lives on a GPU of Intel's",
}.items():  # fmt: skip
    _absent(_name, _what)


extend("Size", Size)
