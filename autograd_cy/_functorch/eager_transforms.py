"""The transforms, and how they choose arguments (facade)."""

from typing import Any

from ..func import functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from ..func._arguments import chosen_arguments

__all__ = ["functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp"]


def _slice_argnums(args: tuple[Any, ...], argnums: int | tuple[int, ...], as_tuple: bool = True) -> Any:
    """The arguments of these numbers, as a tuple unless `as_tuple` is false and `argnums` is one number."""
    chosen = chosen_arguments(args, argnums)
    return (chosen,) if as_tuple and isinstance(argnums, int) else chosen
