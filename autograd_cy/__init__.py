"""PyTorch's autograd on NumPy arrays, compiled with Cython: the public names, nothing else.

>>> import autograd_cy as torch
>>> x = torch.tensor([1.0, 2.0], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4.])
"""

from typing import TYPE_CHECKING

from . import _core, _names, _tensor, autograd, random
from ._closeness import allclose, equal
from ._core.arrays.dtypes import dtype
from ._core.engine import basic_functions as _basic_functions  # all classes of nodes are there when they are finished, below
from ._core.engine import function_node as _function_node
from ._core.graph import node as _node
from ._core.graph import saved_tensor as _saved_tensor
from ._core.graph.tensor import Tensor
from ._core.runtime import lifetime as _lifetime
from ._core.runtime.once import is_warn_always_enabled, set_warn_always
from ._creation import (
    arange,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    get_default_dtype,
    linspace,
    ones,
    ones_like,
    set_default_dtype,
    zeros,
    zeros_like,
)  # fmt: skip
from ._data import as_tensor, asarray, from_numpy, tensor
from ._generator import Generator
from ._later import names_later as _names_later
from ._missing import getattr_of as _getattr_of
from ._names import *  # noqa: F403
from ._size import Size, device
from .autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)  # fmt: skip
from .random import (
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    rand,
    rand_like,
    randint,
    randn,
    randn_like,
    randperm,
    seed,
    set_rng_state,
)  # fmt: skip

__version__ = "0.1.0"
__all__ = [
    "Generator", "Size", "Tensor", "allclose", "arange", "as_tensor", "asarray", "autograd", "cuda", "default_generator",
    "device", "dtype", "empty", "empty_like", "enable_grad", "equal", "eye", "fft", "from_numpy", "full", "full_like", "func",
    "get_default_dtype", "get_num_threads", "get_rng_state", "inference_mode", "initial_seed", "install_as_torch",
    "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_grad_enabled", "is_inference", "is_inference_mode_enabled",
    "is_warn_always_enabled", "linspace", "manual_seed", "memory", "nn", "no_grad", "ones", "ones_like", "overrides",
    "profiler", "rand", "rand_like", "randint", "randn", "randn_like", "random", "randperm", "return_types", "seed",
    "set_anomaly_enabled", "set_default_dtype", "set_grad_enabled", "set_num_threads", "set_printoptions", "set_rng_state",
    "set_warn_always", "special", "tensor", "testing", "utils", "vmap", "zeros", "zeros_like",
]  # fmt: skip
__all__ += _names.__all__
_TYPED = [
    "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor",
    "ShortTensor",
]  # fmt: skip

_node.finish_class(_node.Node)
_lifetime.refuse_new(dtype)
_lifetime.refuse_new(_saved_tensor.SavedTensor)

if TYPE_CHECKING:
    from . import _C, cuda, fft, func, memory, nn, overrides, profiler, return_types, special, testing, utils, version
    from ._alias import install_as_torch
    from ._tensor_str import set_printoptions
    from ._threads import get_num_threads, set_num_threads
    from ._typed import *  # noqa: F403
    from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled
    from .func import vmap
else:  # where any name would be right
    __getattr__, __dir__ = _names_later(
        __name__,
        {
            "_C": [], "cuda": [], "fft": [], "func": ["func", "vmap"], "memory": [], "nn": [], "overrides": [],
            "profiler": [], "return_types": [], "special": [], "testing": [], "utils": [], "version": [],
            "_alias": ["install_as_torch"],
            "_tensor_str": ["set_printoptions"],
            "_threads": ["get_num_threads", "set_num_threads"],
            "_typed": _TYPED,
            "autograd.anomaly_mode": ["is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled"],
        },
        _getattr_of(__name__, "torch"),
    )  # fmt: skip
