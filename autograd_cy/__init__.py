"""PyTorch's autograd on NumPy arrays, compiled with Cython: the public names, nothing else.

>>> import autograd_cy as torch
>>> x = torch.tensor([1.0, 2.0], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4.])
"""

from . import (
    _core,  # noqa: F401
    _tensor,  # noqa: F401
    autograd,
    cuda,
    nn,
    random,
    utils,
)
from ._core import dtypes as _dtypes
from ._core import (  # noqa: F401  (they declare operations)
    cross_entropy, einsum, gather, index, linalg, losses, matmul, mm, nll_loss, normalize, pointwise, reduce, shape,
)  # fmt: skip
from ._core import node as _node
from ._core.dtypes import dtype
from ._core.registry import OPS as _OPS
from ._core.tensor import Tensor
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
from ._size import Size, device
from ._tensor_str import set_printoptions
from .autograd.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
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

_node.free_quickly(_node.Node)
for _d in _dtypes.all_dtypes():
    globals()[_d.name] = _d
for _op in _OPS.values():
    if not _op.namespace:
        globals()[_op.name] = _op.function
