"""safe_where: a gradient of zero stays zero (facade)."""

from .._core.runtime.state import mode_bit as _mode_bit
from ._mode_decorator import ModeSwitch as _ModeSwitch


class safe_where(_ModeSwitch):
    """``with safe_where():`` a gradient that is 0 gives gradients that are 0, also where the derivative is infinite or NaN.

    Without it 0 * inf is NaN, as in PyTorch: ``where(x > 0, x.log(), 0)`` has the gradient NaN at 0, although the logarithm
    is not chosen there. The mode applies to the backward pass, wherever the graph was recorded, and to all operations that
    compute the branch; in forward mode it applies to tangents that are 0. ``safe_where(False)`` switches it off. Also
    ``@safe_where`` and ``@safe_where()``.

    Elementwise operations keep single zeros; softmax, layer_norm and reductions along dimensions keep rows of zeros. Matrix
    products and einsum, which sum gradients, keep zeros only if all gradients are 0: else 0 * inf may remain. A user's
    Function is not changed. Second derivatives need the mode in both passes. They treat a point where 0 met an infinite
    derivative as constant, so autograd.functional.jvp, which seeds placeholder zeros, gives 0 there. Where no gradient is
    NaN, the mode changes no bit.

    >>> import autograd_cy as ag
    >>> x = ag.tensor([0.0, 2.0], requires_grad=True)
    >>> y = ag.where(x > 0, x.log(), 0.0).sum()
    >>> ag.autograd.grad(y, x, retain_graph=True)
    (tensor([   nan, 0.5000]),)
    >>> with ag.autograd.safe_where():
    ...     ag.autograd.grad(y, x)
    (tensor([0.0000, 0.5000]),)
    """

    __slots__ = ()
    bits = _mode_bit("KEEP_ZEROS")
