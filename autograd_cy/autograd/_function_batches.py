"""Calls of a Function within vmap: by its own `vmap`, or by the generated rule (facade).

NOTE [Functions within vmap]
The generated rule is a Function on all samples: its forward, setup_context, backward and jvp open a level of their own and
call the user's methods, which see one sample. Values on the user's ctx are stored for all samples, with a flag for each
value that was batched.
"""

from collections import namedtuple
from typing import Any

from .._core.batching.batched import (
    BatchLevel,
    HiddenLevels,
    at_level,
    at_level_or_expanded,
    batched,
    close_level,
    is_batched,
    levels_from,
    open_level,
    with_samples,
)
from .._core.graph.tensor import Tensor
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_leaves, tree_map, tree_unflatten

__all__ = ["VmapInfo", "apply_batched"]

VmapInfo = namedtuple("VmapInfo", "batch_size randomness")
VmapInfo.__doc__ = """What a Function's `vmap` is told: the size of the batch, and what random operations are to do."""

_SEE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


def apply_batched(
    cls: Any, level: BatchLevel, separate: bool, args: tuple[Any, ...], kwargs: dict[str, Any], base: Any
) -> Any:
    """apply_batched(cls, level, separate, args, kwargs, base): call a Function with tensors that are batched at that level.

    `base` is Function itself, the base of the generated rule.
    """
    if not separate:
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override "
            f"the setup_context staticmethod. {_SEE}"
        )
    own = cls.vmap is not cls._no_vmap
    if own and cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            f"staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
            f"ambiguity. {_SEE}"
        )
    if not own and not cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement the "
            f"vmap staticmethod or set generate_vmap_rule=True. {_SEE}"
        )
    if any(isinstance(x, Tensor) for x in tree_leaves(kwargs)):
        raise NotImplementedError(
            "Run vmap on autograd.Function with kwarg-only Tensor args. Please do not pass kwarg-only Tensors to "
            f"autograd.Function. Got: {list(kwargs)}"
        )
    args = tree_map(lambda x: with_samples(x, level), args)
    in_dims = tree_map(lambda x: 0 if is_batched(x) and at_level(x, level) is not None else None, args)
    values = tree_map(lambda x, d: x if d is None else at_level(x, level), args, in_dims)
    with HiddenLevels(levels_from(level)):
        if not own:
            return _wrapped(_generated(cls, level, in_dims, kwargs, base).apply(*values), level)
        made = cls.vmap(VmapInfo(level.size, level.randomness), in_dims, *values, **kwargs)
    if not isinstance(made, tuple) or len(made) != 2:
        found = f"{len(made)} returns" if isinstance(made, tuple) else f"a {type(made)}"
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible with "
            f"the output. Got {found} instead"
        )
    output, out_dims = made
    leaves, spec = tree_flatten(output)
    dims = _broadcast_to_and_flatten(out_dims, spec, lambda d: d is None)
    if dims is None or not all(d is None or isinstance(d, int) for d in dims):
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
            f"out_dims={out_dims} to be compatible with the structure of `output`. `output` has structure {spec} but out_dims "
            f"has structure {tree_flatten(out_dims)[1]}. {_SEE}"
        )
    return tree_unflatten([_with_dim(y, d, level) for y, d in zip(leaves, dims, strict=True)], spec)


def _with_dim(y: Any, dim: int | None, level: BatchLevel) -> Any:
    """An output with samples along that dimension, as a tensor of the level."""
    if dim is None or not isinstance(y, Tensor):
        return y
    dim = dim + y.ndim if dim < 0 else dim
    return batched(y if dim == 0 else y.permute(dim, *[d for d in range(y.ndim) if d != dim]), level)


def _wrapped(output: Any, level: BatchLevel) -> Any:
    """The outputs of a generated rule, which are all batched, as tensors of the level."""
    if isinstance(output, tuple):
        return tuple(_wrapped(y, level) for y in output)
    return batched(output, level) if isinstance(output, Tensor) else output


class _Context:
    """The ctx of the user's methods within a generated rule: holds saved values for all samples, with their batch flags.

    While forward runs there is no node yet to hold them. The user's attributes are stored in the same way.
    """

    def __init__(self, level: BatchLevel, values: Any) -> None:
        self._level = level
        self._node: Any = None
        self._batched_attributes: dict[str, Any] = {}
        self._needs = tuple(isinstance(x, Tensor) and x.requires_grad for x in values)
        self._kept: dict[str, list[Any]] = {}  # by the name of the ctx method
        self._saved_dims: tuple[bool, ...] = ()
        self._materialized = True
        self._non_differentiable: tuple[Any, ...] = ()

    def __setattr__(self, name: str, value: Any) -> None:
        samples = at_level(value, self._level) if is_batched(value) else None
        if samples is None:
            object.__setattr__(self, name, value)
            return
        self.__dict__.pop(name, None)
        if self._node is None:
            self._batched_attributes[name] = samples
        else:
            setattr(self._node, f"_samples_of_{name}", samples)

    def __getattr__(self, name: str) -> Any:
        samples = self._batched_attributes.get(name)
        samples = getattr(self._node, f"_samples_of_{name}", None) if samples is None else samples
        if samples is None:
            raise AttributeError(f"ctx has no attribute {name!r}")
        return batched(samples, self._level)

    def save_for_backward(self, *tensors: Any) -> None:
        self._keep("save_for_backward", tensors)

    def save_for_forward(self, *tensors: Any) -> None:
        self._keep("save_for_forward", tensors)

    def _keep(self, method: str, tensors: tuple[Any, ...]) -> None:
        self._saved_dims = tuple(isinstance(x, Tensor) and at_level(x, self._level) is not None for x in tensors)
        self._kept[method] = [
            at_level(x, self._level) if kept else x for x, kept in zip(tensors, self._saved_dims, strict=True)
        ]

    def bind(self, node: Any, outputs: tuple[Any, ...]) -> None:
        """Pass the saved values to the node; `outputs`: those marked as not differentiable, for all samples."""
        self._node = node
        for method, tensors in self._kept.items():
            getattr(node, method)(*tensors)
        self._kept.clear()
        for name, samples in self._batched_attributes.items():
            setattr(node, f"_samples_of_{name}", samples)
        self._batched_attributes.clear()
        node.set_materialize_grads(self._materialized)
        node.mark_non_differentiable(*outputs)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        pairs = zip(self._node.saved_tensors, self._saved_dims, strict=True)
        return tuple(batched(x, self._level) if kept else x for x, kept in pairs)

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        return self._needs if self._node is None else self._node.needs_input_grad

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self._non_differentiable = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        raise RuntimeError("NYI: mark_dirty within a generated vmap rule: override the vmap staticmethod instead")

    def set_materialize_grads(self, value: bool) -> None:
        self._materialized = value


def _generated(cls: Any, outer: BatchLevel, in_dims: tuple[Any, ...], kwargs: dict[str, Any], base: Any) -> Any:
    """The Function on all samples for `generate_vmap_rule`. It is made for one call."""

    def at_each(context: _Context, call: Any, values: Any) -> Any:
        """`call` within a new level; its results for all samples."""
        level = open_level(outer.size, outer.randomness)
        try:
            context._level = level
            return call(level, values)
        finally:
            close_level(level)

    def all_of(y: Any, level: BatchLevel) -> Any:
        if isinstance(y, tuple):
            return tuple(all_of(item, level) for item in y)
        return at_level_or_expanded(y, level) if isinstance(y, Tensor) else y

    def samples(values: Any, level: BatchLevel) -> Any:
        return tree_map(lambda x, d: x if d is None else batched(x, level), values, in_dims)

    class Generated(base):
        generate_vmap_rule = True
        made: Any = None  # set by forward: the context, and which outputs are not differentiable

        @staticmethod
        def forward(*values: Any) -> Any:
            context = _Context(outer, values)

            def call(level: BatchLevel, values: Any) -> Any:
                inputs = samples(values, level)
                output = cls.forward(*inputs, **kwargs)
                cls.setup_context(context, inputs, output)
                several = output if isinstance(output, tuple) else (output,)
                marked = context._non_differentiable
                Generated.made = context, [any(x is y for y in marked) for x in several]
                return all_of(output, level)

            return at_each(context, call, values)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.context, marks = Generated.made
            several = output if isinstance(output, tuple) else (output,)
            ctx.context.bind(ctx, tuple(y for y, marked in zip(several, marks, strict=True) if marked))

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            def call(level: BatchLevel, gradients: Any) -> Any:
                found = cls._backward_function()(ctx.context, *[None if g is None else batched(g, level) for g in gradients])
                found = found if isinstance(found, tuple) else (found,)
                whole = [None if g is None else at_level_or_expanded(g, level) for g in found]
                return tuple(g if g is None or d == 0 else g.sum(0) for g, d in zip(whole, in_dims, strict=True))

            return at_each(ctx.context, call, grad_outputs)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            def call(level: BatchLevel, values: Any) -> Any:
                return all_of(cls.jvp(ctx.context, *[t if t is None else samples_of(t, d, level) for t, d in values]), level)

            def samples_of(t: Any, d: int | None, level: BatchLevel) -> Any:
                return t if d is None else batched(t, level)

            return at_each(ctx.context, call, list(zip(tangents, in_dims, strict=True)))

    Generated.__name__ = cls.__name__
    return Generated
