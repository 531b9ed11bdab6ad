"""safe_where: a gradient of zero stays zero (facade)."""

from .._core.runtime.modes import mode_bit as _mode_bit
from ._mode_decorator import ModeSwitch as _ModeSwitch


class safe_where(_ModeSwitch):
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

    __slots__ = ()
    bits = _mode_bit("KEEP_ZEROS")
