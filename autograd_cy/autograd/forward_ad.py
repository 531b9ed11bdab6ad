"""Forward mode: tangents carried along with the values (facade)."""

from typing import TYPE_CHECKING, Any, NamedTuple

from .._core.batching.batched import (
    all_samples as _all_samples,
)
from .._core.batching.batched import (
    is_batched as _is_batched,
)
from .._core.batching.batched import (
    levels_of as _levels_of,
)
from .._core.batching.batched import (
    one_sample as _one_sample,
)
from .._core.batching.batched import (
    shared_arguments as _shared_arguments,
)
from .._core.engine.engine import depends_on_any as _depends_on_any
from .._core.graph import context as _context
from .._core.graph import record as _record
from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public as _public
from .._core.runtime.state import is_forward_enabled as _is_fwd_grad_enabled
from .._core.runtime.state import mode_bit as _mode_bit
from .grad_mode import _Switch

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class UnpackedDualTensor(NamedTuple):
    """The primal and the tangent (or None) of a dual tensor.

    >>> import autograd_cy as ag
    >>> ag.autograd.forward_ad.unpack_dual(ag.tensor(3.0))
    UnpackedDualTensor(primal=tensor(3.), tangent=None)
    """

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """``enter_dual_level()`` opens a new innermost level, and returns its number: 0 for the outermost.

    >>> from autograd_cy.autograd import forward_ad
    >>> level = forward_ad.enter_dual_level()
    >>> forward_ad.exit_dual_level(level=level)
    """
    _context.open_dual_level()
    return _context.dual_depth() - 1


@_public
def exit_dual_level(*, level: int | None = None) -> None:
    """``exit_dual_level()`` closes the innermost level; the tangents made in it are gone.

    >>> from autograd_cy.autograd import forward_ad
    >>> forward_ad.enter_dual_level()
    0
    >>> forward_ad.exit_dual_level()
    """
    if _context.dual_depth() and level not in (None, _context.dual_depth() - 1):
        raise RuntimeError(
            f"Trying to exit a forward AD level that was not the last one that was created. This is not supported. ({level})"
        )
    _context.close_dual_level()


if not TYPE_CHECKING:  # else any name would be right

    def __getattr__(name: str) -> Any:
        if name == "_current_level":  # the number of the innermost level; PyTorch's code asks for it
            return _context.dual_depth() - 1
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class dual_level:
    """``with dual_level():`` tensors made by make_dual carry their tangents through all operations.

    Levels nest: make_dual() and unpack_dual() use tangents at the innermost level, which may have tangents themselves at
    outer levels.

    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     x = forward_ad.make_dual(ag.tensor(3.0), ag.tensor(1.0))
    ...     forward_ad.unpack_dual(x * x).tangent
    tensor(6.)
    """

    __enter__ = _context.enter_level
    __exit__ = _context.leave_level


def _check_level(function: str, level: int | None) -> None:
    depth = _context.dual_depth()
    if not depth:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
        )
    if level not in (None, depth - 1):
        raise RuntimeError(f"Dual level must be a positive number and only the innermost level, {depth - 1}, is supported")


@_public
def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """``make_dual(tensor, tangent)`` is an alias of the tensor that carries the tangent, of the same shape and dtype.

    In-place operations on the alias write into the tangent too, unless that requires grad. A tangent with another memory
    layout than the tensor is copied.
    RuntimeError outside of a dual level, for other sizes, and for a tensor that has a tangent already; ValueError for
    tensors that are not floating point or complex.

    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     x = forward_ad.make_dual(ag.tensor(2.0), ag.tensor(1.0))
    ...     forward_ad.unpack_dual(x.exp())
    UnpackedDualTensor(primal=tensor(7.3891), tangent=tensor(7.3891))
    """
    _check_level("make_dual", level)
    for name, value in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(value, Tensor):
            raise TypeError(f"make_dual(): argument '{name}' must be Tensor, not {type(value).__name__}")
        if not (value.dtype.is_floating_point or value.dtype.is_complex):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {value.dtype}")
    if _is_batched(tensor) or _is_batched(tangent):  # the tangent alone may stay batched: case 7 of NOTE [Batching]
        levels = _levels_of(tensor)
        return _one_sample(_dual(_all_samples(tensor, levels), _all_samples(tangent, levels), True), levels)
    return _dual(tensor, tangent, False)


def _dual(tensor: Tensor, tangent: Tensor, of_samples: bool) -> Tensor:
    """The dual tensor of two checked tensors; sizes, dtypes and existing tangents are still checked here."""
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )
    if tensor.dtype != tangent.dtype:
        raise RuntimeError(f"Expected the tangent to have the primal's dtype {tensor.dtype}, but got {tangent.dtype}")
    if _record.get_tangent(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level "
            f"{_context.dual_depth() - 1} is not supported."
        )
    if _record.get_tangent(tangent) is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level "
            f"{_context.dual_depth() - 1} is not supported."
        )
    return _record.dual_of(tensor, tangent, of_samples)


@_public
def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """``unpack_dual(tensor)`` is the pair (primal, tangent); the tangent is None for a tensor without one.

    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     primal, tangent = forward_ad.unpack_dual(forward_ad.make_dual(ag.tensor(2.0), ag.tensor(1.0)))
    >>> tangent
    tensor(1.)
    """
    if not _context.dual_depth() or not _is_fwd_grad_enabled():
        return UnpackedDualTensor(tensor, None)
    _check_level("unpack_dual", level)
    if _is_batched(tensor):
        levels = _levels_of(tensor)
        primal, tangent = unpack_dual(_all_samples(tensor, levels))
        return UnpackedDualTensor(
            _one_sample(primal, levels), None if tangent is None else _one_sample(tangent, levels)
        )
    tangent = _record.get_tangent(tensor)
    if tangent is not None and _is_batched(tangent):
        _check_gradient_of_samples(tangent)
    return UnpackedDualTensor(_record.without_tangent(tensor), tangent)


def _check_gradient_of_samples(tangent: Tensor) -> None:
    """Refuse a tangent whose gradient within a transform would be summed over samples: case 8 of NOTE [Batching]."""
    levels = _levels_of(tangent)
    arguments = _shared_arguments(levels)
    if arguments and _depends_on_any((_all_samples(tangent, levels),), arguments):
        raise RuntimeError(
            "unpack_dual(): the tangent has samples, and depends on an argument of a transform that has none and runs within "
            "the dual level: its gradient would be summed over the samples. Open the dual level within the transform, as "
            "func.jvp() does, or map the argument, too."
        )


class _set_fwd_grad_enabled(_Switch):
    """``_set_fwd_grad_enabled(mode)`` switches forward mode on or off at once; as a context manager, until its end.

    >>> import autograd_cy as ag
    >>> from autograd_cy.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     x = forward_ad.make_dual(ag.tensor(3.0), ag.tensor(1.0))
    ...     with forward_ad._set_fwd_grad_enabled(False):
    ...         y = x * x
    ...     forward_ad.unpack_dual(y).tangent, forward_ad.unpack_dual(x * x).tangent
    (None, tensor(6.))
    """

    __slots__ = ()
    _bit = _mode_bit("NO_FORWARD")
    _on = False
