"""vmap: a function for one sample, called for all samples of a batch at once (facade)."""

import functools
from collections.abc import Callable
from typing import Any

from .._core.batching.batched import BatchLevel, at_level, at_level_or_expanded, batched, close_level, is_batched, open_level
from .._core.graph.tensor import Tensor
from .._core.ops.overrides import arm
from .._core.ops.shapes.joining import cat
from .._core.runtime.entry import show_one_frame
from ..random import get_rng_state, set_rng_state
from ..utils._pytree import TreeSpec, _broadcast_to_and_flatten, tree_flatten, tree_unflatten

__all__ = ["vmap"]


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """``vmap(func)`` calls func once for all samples of a batch: func sees one sample, the result has all.

    in_dims: the batch dimension of each argument; None for an argument shared by all samples. An int, or a nested tuple
    in the structure of the arguments. out_dims: the batch dimension of the results; None for results equal for all samples.
    randomness: the behavior of random operations: 'error', 'same' numbers for all samples, or 'different' ones.
    chunk_size: the number of samples at a time, which limits memory; None is all at once. Keyword arguments are shared by
    all samples.
    ValueError for dimensions that don't fit the arguments or results; RuntimeError if elements are read within (`.item()`,
    `if x > 0`). An operation without a batching rule is called for each sample, and warns.

    >>> import autograd_cy as ag
    >>> x, w = ag.tensor([[1.0, 2.0], [3.0, 4.0]]), ag.tensor([10.0, 1.0])
    >>> ag.vmap(ag.dot, in_dims=(0, None))(x, w)
    tensor([12., 34.])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        try:
            called = functools.wraps(func)(lambda *args: func(*args, **kwargs)) if kwargs else func
            return call_mapped(called, in_dims, out_dims, randomness, chunk_size, args)
        except BaseException as error:
            show_one_frame(error)
            raise

    return mapped


def call_mapped(func: Any, in_dims: Any, out_dims: Any, randomness: str, chunk_size: int | None, args: Any) -> Any:
    """vmap(func, in_dims, ...)(*args), with checks of all arguments."""
    dims = _dims_of_tensors(in_dims, args)
    if dims is not None and chunk_size is None:
        sizes = [x.shape[d] for x, d in zip(args, dims, strict=True) if d is not None]
        if sizes and sizes.count(sizes[0]) == len(sizes):
            return _run(func, out_dims, randomness, sizes[0], args, dims, None)
    size, leaves, dims, spec = _flat_inputs(func, in_dims, args)
    if chunk_size is None or chunk_size >= size:
        return _run(func, out_dims, randomness, size, leaves, dims, spec)
    chunks, random_numbers = [], get_rng_state()
    for start in range(0, size, chunk_size):
        if randomness == "same":
            set_rng_state(random_numbers)
        n = min(chunk_size, size - start)
        parts = [
            x if d is None else x[(slice(None),) * d + (slice(start, start + n),)] for x, d in zip(leaves, dims, strict=True)
        ]
        chunks.append(tree_flatten(_run(func, out_dims, randomness, n, parts, dims, spec)))
    return _joined(chunks, out_dims)


def _dims_of_tensors(in_dims: Any, args: tuple[Any, ...]) -> list[int | None] | None:
    """The dimension of each argument, counted from the front, if all mapped arguments are tensors and valid: the usual case,
    which needs no search of containers. Else None."""
    if type(in_dims) is int:
        in_dims = (in_dims,) * len(args)
    elif type(in_dims) is not tuple or len(in_dims) != len(args):
        return None
    dims: list[int | None] = []
    for x, d in zip(args, in_dims, strict=True):
        if d is None:
            dims.append(None)
        elif type(d) is int and isinstance(x, Tensor) and -x.ndim <= d < x.ndim:
            dims.append(d + x.ndim if d < 0 else d)
        else:
            return None
    return dims


def _joined(chunks: list[Any], out_dims: Any) -> Any:
    """The results of all chunks as one."""
    spec = chunks[0][1]
    dims = _broadcast_to_and_flatten(out_dims, spec, lambda d: d is None) or []
    columns = zip(*[leaves for leaves, _ in chunks], strict=True)
    return tree_unflatten(
        [parts[0] if d is None else cat(list(parts), d) for parts, d in zip(columns, dims, strict=True)], spec
    )


def _name(func: Any) -> str:
    """The function's name in messages."""
    return getattr(func, "__name__", repr(func))


def _flat_inputs(func: Any, in_dims: Any, args: Any) -> Any:
    """The size of the batch, the leaves of all arguments, the dimension of each (from the front, or None), their structure."""
    name = f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, tuple)) or isinstance(in_dims, bool):
        raise ValueError(
            f"{name}: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: "
            f"{type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    leaves, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec, lambda d: d is None)
    if dims is None:
        raise ValueError(
            f"{name}: in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    dims = [_checked_dim(name, x, d) for x, d in zip(leaves, dims, strict=True)]
    sizes = [x.shape[d] for x, d in zip(leaves, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError(
            f"vmap: Expected at least one Tensor to vmap over, but in_dims={in_dims} has none: where nothing is mapped, call "
            f"{_name(func)} itself"
        )
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the "
            "mapped dimension"
        )
    return sizes[0], leaves, dims, spec


def _checked_dim(name: str, x: Any, dim: Any) -> int | None:
    if dim is None:
        return None
    if not isinstance(dim, int) or isinstance(dim, bool):
        raise ValueError(f"{name}: Got in_dim={dim} for an input but in_dim must be either an integer dimension or None.")
    if not isinstance(x, Tensor):
        raise ValueError(
            f"{name}: Got in_dim={dim} for an input but the input is of type {type(x)}. We cannot vmap over non-Tensor "
            "arguments, please use None as the respective in_dim"
        )
    if not -x.ndim <= dim < x.ndim:
        raise ValueError(
            f"{name}: Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {x.ndim} so expected "
            f"in_dim to satisfy -{x.ndim} <= in_dim < {x.ndim}."
        )
    return dim + x.ndim if dim < 0 else dim


def with_batch_first(x: Tensor, dim: int) -> Tensor:
    """``with_batch_first(x, dim)`` moves that dimension to the front."""
    return x if dim == 0 else x.permute(dim, *[d for d in range(x.ndim) if d != dim])


def _run(
    func: Callable[..., Any], out_dims: Any, randomness: str, size: int, leaves: Any, dims: list[int | None], spec: Any
) -> Any:
    """func on all samples at once; results have the batch at out_dims. Without spec the leaves are the arguments."""
    arm()
    level = open_level(size, randomness)
    try:
        inputs = [x if d is None else batched(with_batch_first(x, d), level) for x, d in zip(leaves, dims, strict=True)]
        if spec is None:
            output = func(*inputs)
        else:
            output = func(*tree_unflatten(inputs, spec))
        if isinstance(output, Tensor) and type(out_dims) is int:
            return _all_samples(func, level, output, out_dims)
        return _unwrapped(func, out_dims, level, output)
    finally:
        close_level(level)


def _unwrapped(func: Callable[..., Any], out_dims: Any, level: BatchLevel, outputs: Any) -> Any:
    """The results of func as tensors of all samples."""
    leaves, spec = tree_flatten(outputs)
    dims = [out_dims] * len(leaves) if type(out_dims) is int else _flat_out_dims(func, out_dims, spec)
    results = []
    for x, dim in zip(leaves, dims, strict=True):
        if not isinstance(x, Tensor) and dim is not None:
            raise ValueError(
                f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type {type(x)}. Did you mean to set "
                "out_dims= to None for output?"
            )
        results.append(_all_samples(func, level, x, dim))
    return tree_unflatten(results, spec)


def _flat_out_dims(func: Callable[..., Any], out_dims: Any, spec: TreeSpec) -> list[Any]:
    if not all(d is None or isinstance(d, int) for d in tree_flatten(out_dims)[0]):
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints "
            "representing where in the outputs the vmapped dimension should appear."
        )
    tree = out_dims[0] if spec.type is None and isinstance(out_dims, tuple) and len(out_dims) == 1 else out_dims
    dims = _broadcast_to_and_flatten(tree, spec, lambda d: d is None)
    if dims is None:
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
            f"`outputs`. out_dims has structure {tree_flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    return dims


def _all_samples(func: Callable[..., Any], level: BatchLevel, x: Any, dim: int | None) -> Any:
    value = at_level(x, level) if is_batched(x) else None
    if dim is None:
        if value is not None:
            raise ValueError(f"vmap({_name(func)}, ...): `{_name(func)}` can not return a BatchedTensor when out_dim is None")
        return x
    if value is None:
        value = at_level_or_expanded(x, level)
    if dim == 0:
        return value
    if not -value.ndim <= dim < value.ndim:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-value.ndim}, {value.ndim - 1}], but got {dim})"
        )
    order = list(range(1, value.ndim))
    order.insert(dim + value.ndim if dim < 0 else dim, 0)
    return value.permute(*order)
