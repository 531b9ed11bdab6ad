"""What the transforms share: checks of numbers and outputs, chosen arguments, auxiliary values (facade)."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core.batching.batched import all_samples, levels_of
from .._core.graph.context import dual_depth
from .._core.graph.tensor import Tensor, from_array
from .._core.runtime.entry import show_one_frame
from ..autograd.forward_ad import make_dual, unpack_dual
from ..utils._pytree import tree_map_only


def check_numbers(tensors: Sequence[Tensor], caller: str, what: str, holomorphic: bool) -> None:
    """Refuse complex tensors unless holomorphic: other functions have two Jacobians, by z and by its conjugate."""
    for i, x in enumerate(tensors):
        if holomorphic and not x.is_complex():
            raise RuntimeError(
                f"{caller}: Expected all {what}s to be complex with holomorphic=True but received a tensor of {x.dtype} at "
                f"flattened input idx: {i}"
            )
        if x.is_complex() and not holomorphic:
            raise RuntimeError(
                f"{caller}: Expected all {what}s to be real but received complex tensor at flattened input idx: {i}"
            )


def check_outputs(outputs: list[Any], api: str) -> None:
    if not outputs or (len(outputs) == 1 and outputs[0] is None):
        raise RuntimeError(f"{api}: Expected f to be a function that has non-empty output (got output = {outputs})")
    for y in outputs:
        if not isinstance(y, Tensor):
            raise RuntimeError(f"{api}: expected f(*primals) to return only tensors, got unsupported type {type(y)}")


def under_name_of(func: Callable[..., Any], call: Callable[[tuple[Any, ...], dict[str, Any]], Any]) -> Callable[..., Any]:
    """A function that calls call(args, kwargs), with the metadata of `func`; its errors show one frame."""

    @functools.wraps(func)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(args, kwargs)
        except BaseException as error:
            show_one_frame(error)
            raise

    return transformed


def without_graph(tree: Any) -> Any:
    """The tensors without their graph, but with their tangents, which belong to an outer transform."""
    if dual_depth() > 1:
        return tree  # detach() would drop the tangents of outer levels
    detached = _detached_dual if dual_depth() else Tensor.detach
    if isinstance(tree, Tensor):
        return detached(tree)
    return None if tree is None else tree_map_only(Tensor, detached, tree)


def _detached_dual(x: Tensor) -> Tensor:
    primal, tangent = unpack_dual(x)
    return primal.detach() if tangent is None else make_dual(primal.detach(), tangent.detach())


def chosen_arguments(args: tuple[Any, ...], argnums: Any) -> Any:
    """The arguments to differentiate by: one, or a tuple of them."""
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    for n in numbers:
        if not isinstance(n, int):
            raise RuntimeError(f"argnum must be int, got: {type(n)}")
        if not -len(args) <= n < len(args):
            raise RuntimeError(f"Got argnum={n}, but only {len(args)} positional inputs")
    if not numbers:
        raise RuntimeError("argnums must be non-empty")
    if len({n % len(args) for n in numbers}) != len(numbers):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return args[argnums] if isinstance(argnums, int) else tuple(args[n] for n in numbers)


def replaced(args: tuple[Any, ...], argnums: Any, values: Any) -> list[Any]:
    """The arguments, with the chosen ones replaced by the values."""
    result = list(args)
    numbers, values = (argnums, values) if isinstance(argnums, tuple) else ((argnums,), (values,))
    for n, value in zip(numbers, values, strict=True):
        result[n] = value
    return result


def with_aux(output: Any, has_aux: bool, api: str) -> tuple[Any, Any]:
    """The output of a function, and its aux value."""
    if not has_aux:
        return output, None
    if not isinstance(output, tuple) or len(output) != 2:
        raise RuntimeError(f"{api}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return output


def requires_grad(x: Tensor) -> bool:
    return all_samples(x, levels_of(x)).requires_grad


def basis(leaves: list[Tensor]) -> list[Tensor]:
    """For each tensor a batch of unit tensors, one for each element of all tensors; zeros for other tensors' elements."""
    sizes = [x.numel() for x in leaves]
    total, start, result = sum(sizes), 0, []
    for x, n in zip(leaves, sizes, strict=True):
        units = np.zeros((total, *x.shape), x.dtype.numpy_dtype)
        units.reshape(-1)[start * n : (start + n) * n : n + 1] = 1
        result.append(from_array(units))
        start += n
    return result
