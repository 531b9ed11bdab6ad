"""safe_where: a gradient of zero stays zero (facade)."""

from typing import Any, Self, overload

from .._core.runtime.modes import leave_mode as _leave_mode
from .._core.runtime.modes import mode_bit as _mode_bit
from .._core.runtime.modes import swap_modes as _swap_modes
from ._mode_decorator import F as _F
from ._mode_decorator import ModeDecorator as _ModeDecorator

_KEEP_ZEROS = _mode_bit("KEEP_ZEROS")


class safe_where(_ModeDecorator):
    """``with safe_where():`` a gradient that is 0 gives gradients that are 0, also where the derivative is infinite or NaN.

    Without it 0 * inf is NaN, as in PyTorch: ``where(x > 0, x.log(), 0)`` has the gradient NaN at 0, although there the
    logarithm is not chosen. It is a mode of the backward pass, wherever the graph was recorded, for all that the branch was
    computed from; and one of forward mode, for tangents that are 0. ``safe_where(False)`` switches it off. Also
    ``@safe_where`` and ``@safe_where()``.

    What an operation computes element by element keeps single zeros; softmax, layer_norm and reductions along dimensions
    keep those of whole rows. Products of matrices and einsum, where all gradients of an element are summed, keep zeros only
    if all are: there 0 * inf may remain. A user's Function gives what its backward returns. Second derivatives need the mode
    in both passes. A point at which 0 met an infinite derivative is a constant for them, so autograd.functional.jvp, in which
    gradients of zero stand for any, gives 0 there. Where no gradient is NaN, all are as without the mode, to the last bit.

    >>> import autograd_cy as ag
    >>> x = ag.tensor([0.0, 2.0], requires_grad=True)
    >>> y = ag.where(x > 0, x.log(), 0.0).sum()
    >>> ag.autograd.grad(y, x, retain_graph=True)
    (tensor([   nan, 0.5000]),)
    >>> with ag.autograd.safe_where():
    ...     ag.autograd.grad(y, x)
    (tensor([0.0000, 0.5000]),)
    """

    __slots__ = ("_previous", "mode")
    _previous: object

    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    @overload
    def __new__(cls, mode: _F) -> _F: ...  # type: ignore[misc]
    def __new__(cls, mode=True):
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: Any = True) -> None:
        self.mode = mode

    def _fresh(self) -> Self:
        return type(self)(self.mode)

    def __enter__(self) -> None:
        self._previous = _swap_modes(_KEEP_ZEROS, 0) if self.mode else _swap_modes(0, _KEEP_ZEROS)

    __exit__ = _leave_mode
