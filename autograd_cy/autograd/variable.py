"""Variable, the name of tensors with gradients before PyTorch 0.4, and the engine's handle (facade)."""

import operator
import warnings
from typing import Any

from .._core.engine import engine as _engine
from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public as _public

__all__ = ["ImperativeEngine", "Variable"]


_VOLATILE = "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."


class ImperativeEngine:
    """The engine behind backward(): ``Variable._execution_engine``."""

    run_backward = staticmethod(_engine.run_backward)
    queue_callback = staticmethod(_engine.queue_callback)
    is_checkpoint_valid = staticmethod(_engine.is_checkpoint_valid)


class _VariableMeta(type):
    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, Tensor)


class Variable(metaclass=_VariableMeta):
    """``Variable(tensor, requires_grad=False)`` is an alias of the tensor as a leaf; every Tensor is an instance.

    >>> import autograd_cy as ag
    >>> isinstance(ag.ones(1), ag.autograd.Variable)
    True
    """

    _execution_engine = ImperativeEngine()

    @_public
    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None, **others: Any) -> Any:
        for name in others:
            raise TypeError(f"Variable(): '{name}' is an invalid keyword argument for this function")
        if volatile:
            warnings.warn(_VOLATILE, UserWarning, stacklevel=2)
        requires_grad = bool(operator.index(requires_grad))
        if data is None:
            return Tensor().requires_grad_(requires_grad)
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        if requires_grad and not (data.dtype.is_floating_point or data.dtype.is_complex):
            raise RuntimeError(f"Only Tensors of floating point and complex dtype can require gradients, not {data.dtype}")
        return data.detach().requires_grad_(requires_grad)
