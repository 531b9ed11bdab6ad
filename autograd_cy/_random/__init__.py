"""Random numbers and draws from them; here Generator: a stream and its state (facade).

PyTorch's interface on NumPy's generator: the same names, other numbers. After ``manual_seed(s)`` the 64-bit words of the
stream are the same as from ``numpy.random.default_rng(s)``. NOTE [Random streams] in ``_core/ops/drawing`` describes how
numbers are made from them.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor, array_of, from_array
from .._core.runtime.entry import public
from .._core.runtime.state import take_turn as _take_turn
from .._types import on_cpu

_WORD = 1 << 64
_FIELDS = (
    8,
    16,
    16,
    4,
    4,
)  # bytes of a packed state: seed, state, increment, whether half a word is left, that half


class Generator:
    """``Generator()`` is a source of random numbers of its own, seeded with a constant.

    >>> import autograd_cy as ag
    >>> g = ag.Generator().manual_seed(0)
    >>> a = ag.rand(3, generator=g)
    >>> b = ag.rand(3, generator=g.manual_seed(0))
    >>> bool((a == b).all())
    True
    """

    @public
    def __init__(self, device: Any = "cpu"):
        self.device = on_cpu(device)
        self._numpy: np.random.Generator | None = None
        self._next_word: Callable[[], int] | None = None  # of the stream, for the core
        self.manual_seed(67280421310721)

    @property
    def numpy(self) -> "np.random.Generator":
        """The NumPy generator that makes the numbers."""
        _take_turn()
        # Made when first used: numpy.random is not imported with numpy, and takes 12 ms.
        if self._numpy is None:
            self._numpy = np.random.Generator(np.random.PCG64(self._seed))
            self._next_word = self._numpy.bit_generator.random_raw
        return self._numpy

    def manual_seed(self, seed: int) -> "Generator":
        """``g.manual_seed(seed)`` restarts the stream and returns ``g``; seeds are -2**63 to 2**64 - 1."""
        if not hasattr(seed, "__index__"):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        if not -(_WORD >> 1) <= seed < _WORD:
            raise ValueError(f"Overflow when unpacking long long: seed {seed} does not fit into 64 bits")
        _take_turn()
        self._seed = int(seed) % _WORD
        self._numpy = self._next_word = None
        return self

    def seed(self) -> int:
        """``g.seed()`` restarts the stream from a seed of the operating system, and returns it."""
        return self.manual_seed(int.from_bytes(os.urandom(8), "little")).initial_seed()

    def initial_seed(self) -> int:
        """``g.initial_seed()`` is the seed of the last ``seed`` or ``manual_seed``."""
        return self._seed

    def get_state(self) -> Tensor:
        """``g.get_state()`` is the state of the stream, a uint8 tensor for ``set_state``."""
        state = self.numpy.bit_generator.state
        values = (
            self._seed,
            state["state"]["state"],
            state["state"]["inc"],
            state["has_uint32"],
            state["uinteger"],
        )
        packed = b"".join(value.to_bytes(size, "little") for value, size in zip(values, _FIELDS, strict=True))
        return from_array(np.frombuffer(packed, np.uint8).copy())

    def set_state(self, new_state: Tensor) -> "Generator":
        """``g.set_state(state)`` continues from what ``get_state`` returned, and returns ``g``."""
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        packed = array_of(new_state)
        if packed.dtype != np.uint8:
            raise TypeError(f"RNG state must be a torch.ByteTensor, not a tensor of {packed.dtype}")
        if packed.shape != (sum(_FIELDS),):
            raise RuntimeError(
                f"Expected a generator state of size {sum(_FIELDS)} but found {list(packed.shape)}"
            )
        ends = np.cumsum(_FIELDS).tolist()
        seed, state, inc, has_uint32, uinteger = (
            int.from_bytes(packed[end - size : end].tobytes(), "little")
            for size, end in zip(_FIELDS, ends, strict=True)
        )
        self.manual_seed(seed).numpy.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": state, "inc": inc},
            "has_uint32": has_uint32,
            "uinteger": uinteger,
        }
        return self
