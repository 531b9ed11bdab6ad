"""Random tensors, and the generator that they come from unless another one is given (facade).

The keywords ``dtype``, ``device`` and ``requires_grad`` are explained in ``_creation``.
"""

import contextlib as _contextlib
import functools as _functools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as _np

from ._core.arrays.dtypes import kind_of as _kind_of
from ._core.batching.batched import open_levels as _open_levels
from ._core.graph.tensor import Tensor
from ._core.graph.tensor import from_array as _from_array
from ._core.ops.drawing import new_integers as _new_integers
from ._core.ops.drawing import new_random as _new_random
from ._core.ops.drawing import random_like as _random_like
from ._core.ops.overrides import handle_torch_function, has_torch_function
from ._core.runtime.entry import public as _public
from ._creation import array_argument as _array_argument
from ._creation import integer as _integer
from ._creation import laid_out_like as _laid_out_like
from ._creation import resolve as _resolve
from ._creation import sizes as _sizes
from ._creation import wrap as _wrap
from ._random import Generator
from ._random.streams import can_hold as _can_hold
from ._random.streams import check_bound as _check_bound
from ._random.streams import default_generator
from ._random.streams import drawn as _drawn
from ._random.streams import integers as _integers
from ._random.streams import narrowed as _narrowed
from ._random.streams import normal_numbers as _normal_numbers
from ._random.streams import permutations as _permutations
from ._random.streams import uniform_numbers as _uniform_numbers
from ._types import dtype_of_number as _dtype_of_number
from ._types import on_cpu as _on_cpu

__all__ = [
    "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "rand", "rand_like", "randint",
    "randn", "randn_like", "randperm", "seed", "set_rng_state",
]  # fmt: skip

_INT64 = _np.dtype(_np.int64)


@_public
def manual_seed(seed: int) -> Generator:
    """``manual_seed(0)`` makes what is drawn from now on reproducible, and returns the default generator.

    >>> import autograd_cy as ag
    >>> a = ag.manual_seed(0) and ag.rand(3)
    >>> b = ag.manual_seed(0) and ag.rand(3)
    >>> bool((a == b).all())
    True
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """``seed()`` seeds the default generator with a number of the operating system's, and returns it.

    >>> import autograd_cy as ag
    >>> ag.seed() == ag.initial_seed()
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """``initial_seed()`` is the seed that the default generator started from.

    >>> import autograd_cy as ag
    >>> ag.manual_seed(3).initial_seed() == ag.initial_seed() == 3
    True
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """``get_rng_state()`` is the state of the default generator, for ``set_rng_state``.

    >>> import autograd_cy as ag
    >>> state = ag.get_rng_state()
    >>> a = ag.rand(3)
    >>> ag.set_rng_state(state)
    >>> bool((a == ag.rand(3)).all())
    True
    """
    return default_generator.get_state()


@_public
def set_rng_state(new_state: Tensor) -> None:
    """``set_rng_state(state)`` lets the default generator continue from what ``get_rng_state`` returned.

    >>> import autograd_cy as ag
    >>> ag.set_rng_state(ag.get_rng_state())
    """
    default_generator.set_state(new_state)


@_contextlib.contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """``with fork_rng():`` the default generator goes on afterwards as if nothing had been drawn within.

    With enabled=False nothing happens. What PyTorch raises without them for `devices` other than the CPU.

    >>> import autograd_cy as ag
    >>> a = ag.manual_seed(0) and ag.rand(1)
    >>> with ag.random.fork_rng():
    ...     b = ag.manual_seed(0) and ag.rand(1)
    >>> bool(a == b), bool(a == ag.rand(1))
    (True, False)
    """
    if not enabled:
        yield
        return
    for device in devices or ():
        _on_cpu(device)
    state = default_generator.get_state()
    try:
        yield
    finally:
        default_generator.set_state(state)


@_public
def rand(
    *shape: int,
    size: Any = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``rand(2, 3)`` draws uniformly from [0, 1), complex numbers from the unit square.

    >>> import autograd_cy as ag
    >>> ag.rand(2, 3).shape
    torch.Size([2, 3])
    """
    if out is None and device is None and requires_grad is False:
        made = _new_random("uniform", 0.0, 1.0, shape, size, dtype, generator, "rand")
        if made is not None:
            return made
    dtype = _resolve(dtype, device, requires_grad, out=out)
    return _drawn(_uniform_numbers, _sizes("rand", shape, size), "rand", generator, dtype, requires_grad, out)


@_public
def randn(
    *shape: int,
    size: Any = None,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``randn(2, 3)`` draws from the normal distribution with mean 0 and variance 1.

    >>> import autograd_cy as ag
    >>> ag.randn(2, 3, dtype=ag.float64).dtype
    torch.float64
    """
    if out is None and device is None and requires_grad is False:
        made = _new_random("normal", 0.0, 1.0, shape, size, dtype, generator, "randn")
        if made is not None:
            return made
    dtype = _resolve(dtype, device, requires_grad, out=out)
    return _drawn(_normal_numbers, _sizes("randn", shape, size), "randn", generator, dtype, requires_grad, out)


@_public
def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """``rand_like(t)`` is ``rand`` with the shape and dtype of ``t``.

    >>> import autograd_cy as ag
    >>> ag.rand_like(ag.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    if device is None and memory_format is None and requires_grad is False:
        made = _random_like("uniform", input, dtype, generator, "rand_like")
        if made is not None:
            return made
    if type(input) is not Tensor and has_torch_function((input,)):
        options = {"generator": generator, "dtype": dtype, "device": device, "requires_grad": requires_grad}
        options["memory_format"] = memory_format
        return handle_torch_function(rand_like, (input,), input, **options)
    if _open_levels() and isinstance(input, Tensor):
        dtype = _resolve(dtype, device, requires_grad, default=input.dtype)
        return _drawn(_uniform_numbers, tuple(input.shape), "rand_like", generator, dtype, requires_grad)
    array = _array_argument("rand_like", input)
    dtype = _resolve(dtype, device, requires_grad, default=input.dtype)
    numbers = _laid_out_like(array, _uniform_numbers, "rand_like", generator, dtype, memory_format=memory_format)
    return _wrap(numbers, requires_grad)


@_public
def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """``randn_like(t)`` is ``randn`` with the shape and dtype of ``t``.

    >>> import autograd_cy as ag
    >>> ag.randn_like(ag.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    if device is None and memory_format is None and requires_grad is False:
        made = _random_like("normal", input, dtype, generator, "randn_like")
        if made is not None:
            return made
    if type(input) is not Tensor and has_torch_function((input,)):
        options = {"generator": generator, "dtype": dtype, "device": device, "requires_grad": requires_grad}
        options["memory_format"] = memory_format
        return handle_torch_function(randn_like, (input,), input, **options)
    if _open_levels() and isinstance(input, Tensor):
        dtype = _resolve(dtype, device, requires_grad, default=input.dtype)
        return _drawn(_normal_numbers, tuple(input.shape), "randn_like", generator, dtype, requires_grad)
    array = _array_argument("randn_like", input)
    dtype = _resolve(dtype, device, requires_grad, default=input.dtype)
    numbers = _laid_out_like(array, _normal_numbers, "randn_like", generator, dtype, memory_format=memory_format)
    return _wrap(numbers, requires_grad)


@_public
def randint(
    low: int = 0,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``randint(high, size)`` or ``randint(low, high, size)`` draws integers from low (0) to high - 1.

    int64 unless ``dtype`` is given. RuntimeError for an empty range and for one that ``dtype`` can't hold.

    >>> import autograd_cy as ag
    >>> t = ag.randint(1, 7, (100,))
    >>> t.min() >= 1, t.max() <= 6
    (tensor(True), tensor(True))
    """
    if size is None:
        high, size = None, high
    if high is None:
        low, high = 0, low
    if dtype is None and out is None and device is None and requires_grad is False:
        made = _new_integers(low, high, size, generator, "randint")
        if made is not None:
            return made
    low, high = _integer("randint", "low", low), _integer("randint", "high", high)
    shape = _sizes("randint", (), size)
    dtype = _resolve(dtype, device, requires_grad, default=_dtype_of_number(int), out=out)
    if low >= high:
        raise RuntimeError(f"randint: expects 'from' to be less than 'to', but got from={low} >= to={high}")
    for name, value in (("from", low), ("to - 1", high - 1)):
        _check_bound(dtype, name, value)
    low, high = _narrowed(dtype, low, high)
    return _drawn(_functools.partial(_integers, low, high), shape, "randint", generator, dtype, requires_grad, out)


@_public
def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``randperm(n)`` is the integers from 0 to n - 1 in random order.

    >>> import autograd_cy as ag
    >>> sorted(ag.randperm(4).tolist())
    [0, 1, 2, 3]
    """
    if type(n) is int and n >= 0 and dtype is out is device is None and requires_grad is False and not _open_levels():
        return _from_array(_permutations((n,), "randperm", generator, _INT64))
    (n,) = _sizes("randperm", (_integer("randperm", "n", n),))
    dtype = _resolve(dtype, device, requires_grad, default=_dtype_of_number(int), out=out)
    if _kind_of(dtype) in "bc":
        raise NotImplementedError(f"randperm is not implemented for {dtype}")
    if n and not _can_hold(dtype, n - 1):
        raise RuntimeError(f"randperm: value cannot be converted to type {dtype} without overflow: {n - 1}")
    return _drawn(_permutations, (n,), "randperm", generator, dtype, requires_grad, out)
