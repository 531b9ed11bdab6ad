"""How random numbers enter the graph: what they were drawn with, and what they are written over, get zeros.

What the core draws itself it draws with a key from the default generator, which is the facade's (`set_generator`).
"""

import numpy as np

cimport cython

from autograd_cy._core.batching.levels cimport open_levels
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport any_wanted, new_node, record_all, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.overwriting cimport Overwriting, overwrite
from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()


cdef class Drawn(Node):
    """Numbers drawn with parameters that are tensors. Its constants: the sizes and type of each."""

    cdef object vjp(self, object g, int i):
        return new_tensor(np.zeros(*self.constants[i]))

    cdef object jvp(self, tuple tangents):
        return None


@cython.final
cdef class BernoulliBackward0(Drawn):
    pass


@cython.final
cdef class NormalBackward1(Drawn):
    """Of a tensor of means."""


@cython.final
cdef class NormalBackward2(Drawn):
    """Of a tensor of deviations."""


@cython.final
cdef class NormalBackward3(Drawn):
    pass


@cython.final
cdef class PoissonBackward0(Drawn):
    pass


@cython.final
cdef class BinomialBackward0(Drawn):

    cdef object vjp(self, object g, int i):
        raise NotImplementedError("derivative for binomial is not implemented: its results are integers")


@cython.final
cdef class BernoulliBackward1(Overwriting):
    """In place, with a tensor of probabilities."""


@cython.final
cdef class BernoulliBackward2(Overwriting):
    pass


@cython.final
cdef class CauchyBackward0(Overwriting):
    pass


@cython.final
cdef class ExponentialBackward0(Overwriting):
    pass


@cython.final
cdef class GeometricBackward0(Overwriting):
    pass


@cython.final
cdef class LogNormalBackward0(Overwriting):
    pass


@cython.final
cdef class NormalBackward0(Overwriting):
    pass


@cython.final
cdef class RandomBackward0(Overwriting):
    """Of a range."""


@cython.final
cdef class RandomBackward1(Overwriting):
    """Of a range from 0."""


@cython.final
cdef class RandomBackward2(Overwriting):
    """Of all numbers that the type has."""


@cython.final
cdef class UniformBackward0(Overwriting):
    pass


NODES = {node.__name__: node for node in [
    BernoulliBackward0, BernoulliBackward1, BernoulliBackward2, BinomialBackward0, CauchyBackward0, ExponentialBackward0,
    GeometricBackward0, LogNormalBackward0, NormalBackward0, NormalBackward1, NormalBackward2, NormalBackward3,
    PoissonBackward0, RandomBackward0, RandomBackward1, RandomBackward2, UniformBackward0]}


def drawn_into(Tensor self, numbers, str name, str operation):
    """drawn_into(self, numbers, name, operation) -> Tensor: an array written into the tensor, recorded as that node."""
    return overwrite(self, numbers, NODES[name], operation)


def drawn_with(Tensor numbers, tuple tensors, str name):
    """drawn_with(numbers, tensors, name) -> Tensor: the numbers, recorded as that node of the tensors."""
    if any_wanted(tensors):
        likes = tuple([(shape_of(x), (<Tensor> x).array.dtype) for x in tensors])
        record_all(new_node(NODES[name], likes), numbers, tensors)
    return numbers


# keys

cdef object default_generator = None        # _streams.py gives it


def set_generator(generator):
    """set_generator(generator): where keys come from."""
    global default_generator
    default_generator = generator


cdef object new_key():
    """64 random bits."""
    return default_generator.numpy.bit_generator.random_raw()


def drawing_levels():
    """drawing_levels() -> list: the levels of vmap at which each sample draws its own numbers.

    RuntimeError where `randomness` is "error".
    """
    cdef list levels = open_levels()
    for level in levels:
        if level.randomness == "error":
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
                "randomness flags on vmap or perform the randomness operation out of vmap")
    return [level for level in levels if level.randomness == "different"]
