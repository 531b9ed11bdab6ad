"""Random numbers in the graph: parameters they were drawn with, and overwritten tensors, receive zero gradients.

NOTE [Random streams]
  1. A generator is NumPy's PCG64. NumPy draws all numbers but uniform and normal ones and integers of a short range.
  2. Those are drawn with a key: each tensor takes the next 64 bits of the generator, and each of its elements follows from
     that key and from the element's place in C order (kernels/random_loops.pyx). So does the mask of dropout().
  3. So numbers do not depend on the number of threads, the machine or the strides. A tensor advances the generator by one
     word, whatever its size, and the first elements of a longer tensor are the same.
  4. The facade sets the generator (`set_generator`). It is used in the order of the nodes (`take_turn`).
"""

import numpy as np

cimport cython
from libc.stdint cimport uint64_t

from autograd_cy._core.arrays.dtypes cimport code_of, is_differentiable
from autograd_cy._core.batching.batched cimport open_levels
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport any_wanted, new_node, record_all, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.random_loops cimport NORMAL, UNIFORM, fill, fill_integers
from autograd_cy._core.ops.overwriting cimport Overwriting
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport take_turn


cdef class Drawn(Node):
    """Numbers drawn with parameters that are tensors. The node's constants are the size and type of each."""

    cdef object vjp(self, object g, int i):
        return new_tensor(np.zeros(*self.constants[i]))

    cdef object jvp(self, tuple tangents):
        return None


@cython.final
cdef class BernoulliBackward0(Drawn):
    pass


@cython.final
cdef class NormalBackward1(Drawn):
    """With a tensor of means."""


@cython.final
cdef class NormalBackward2(Drawn):
    """With a tensor of deviations."""


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
    """From a range."""


@cython.final
cdef class RandomBackward1(Overwriting):
    """From a range that starts at 0."""


@cython.final
cdef class RandomBackward2(Overwriting):
    """From all numbers of the type."""


@cython.final
cdef class UniformBackward0(Overwriting):
    pass


NODES = {node.__name__: node for node in [
    BernoulliBackward0, BernoulliBackward1, BernoulliBackward2, BinomialBackward0, CauchyBackward0, ExponentialBackward0,
    GeometricBackward0, LogNormalBackward0, NormalBackward0, NormalBackward1, NormalBackward2, NormalBackward3,
    PoissonBackward0, RandomBackward0, RandomBackward1, RandomBackward2, UniformBackward0]}


def drawn_with(Tensor numbers, tuple tensors, str name):
    """drawn_with(numbers, tensors, name) -> Tensor: the numbers, recorded as a result of the tensors by the node `name`."""
    if any_wanted(tensors):
        likes = tuple([(shape_of(x), (<Tensor> x).array.dtype) for x in tensors])
        record_all(new_node(NODES[name], likes), numbers, tensors)
    return numbers


# keys

cdef object default_generator = None        # set by _random/streams.py


def set_generator(generator):
    """set_generator(generator): set the source of keys."""
    global default_generator
    default_generator = generator


cdef object new_key():
    """64 random bits."""
    return key_of(None, "")


cdef uint64_t key_of(object generator, str function) except? 0:
    """The next 64 bits of a generator, the default one if it is None; TypeError if it is no generator."""
    cdef object given = default_generator if generator is None else generator
    check_generator(generator, function)
    take_turn()
    next_word = given._next_word
    return given.numpy.bit_generator.random_raw() if next_word is None else next_word()


cdef int check_generator(object generator, str function) except -1:
    if generator is not None and not isinstance(generator, type(default_generator)):
        raise TypeError(f"{function}(): argument 'generator' must be torch.Generator, not {type(generator).__name__}")
    return 0


cdef object source_of(object generator):
    """The NumPy generator behind one of ours, the default one if it is None."""
    cdef object given = default_generator if generator is None else generator
    take_turn()
    source = given._numpy
    return given.numpy if source is None else source


def drawn_array(str kind, tuple shape, cnp.dtype dtype, generator, str function, double a=0.0, double b=1.0):
    """drawn_array(kind, shape, dtype, generator, function) -> array: "uniform" numbers from [a, b), or "normal" ones.

    Normal numbers have mean a and standard deviation b.
    """
    cdef cnp.ndarray out = np.empty(shape, dtype)
    if not is_differentiable(code_of(out)):
        raise NotImplementedError(f"{function} is not implemented for {dtype}")
    fill(out, NORMAL if kind == "normal" else UNIFORM, key_of(generator, function), a, b)
    return out


def drawn_integers(long long least, unsigned int n, tuple shape, cnp.dtype dtype, generator, str function):
    """drawn_integers(least, n, shape, dtype, generator, function) -> array: integers from [least, least + n)."""
    cdef cnp.ndarray out = np.empty(shape, dtype)
    fill_integers(out, key_of(generator, function), least, n)
    return out


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
