"""The inputs of a transform: aliases to differentiate by, within enclosing vmaps (facade)."""

from collections.abc import Sequence
from typing import Any

from .._core.batching.batched import (
    DifferentiatedWithin,
    HiddenLevels,
    as_argument,
    is_batched,
    levels_of,
    one_sample,
    open_levels,
)
from .._core.engine.engine import depends_on_others, end_arguments, run_task
from .._core.graph.tensor import Tensor
from .._creation.filled import zeros_like
from ..autograd.grad_mode import is_grad_enabled
from ..utils._pytree import LeafSpec, TreeSpec, tree_flatten, tree_unflatten

_LEAF = LeafSpec()


def leaves_of(tree: Any) -> tuple[list[Any], TreeSpec]:
    """tree_flatten(tree); most trees are one tensor."""
    return ([tree], _LEAF) if isinstance(tree, Tensor) else tree_flatten(tree)


_OUTSIDE_OF_VMAP = DifferentiatedWithin({})


class Inputs:
    """The inputs of a transform's derivative, as aliases with all samples of enclosing vmaps.

    An input that isn't batched stays unbatched: NOTE [Batching], case 8.
    """

    def __init__(self, tree: Any, caller: str) -> None:
        leaves, self.spec = leaves_of(tree)
        for x in leaves:
            check_input(x, caller)
        self.aliases = tuple([_as_kind_of(x, as_argument(x)) for x in leaves])
        self.levels: list[list[Any]] | None = None
        self.within = _OUTSIDE_OF_VMAP  # entered while the function runs
        if open_here := open_levels():
            self.levels = [levels_of(x) for x in leaves]
            arguments: dict[Any, list[Tensor]] = {}
            for x, levels in zip(self.aliases, self.levels, strict=True):
                for level in open_here:
                    if level not in levels:
                        arguments.setdefault(level, []).append(x)
            self.within = DifferentiatedWithin(arguments)
        self.tree = self.nested(self.one_of_each(self.aliases))

    def one_of_each(self, samples: Sequence[Tensor]) -> Sequence[Tensor]:
        """Tensors within vmap from values for all samples of the inputs."""
        if self.levels is None:
            return samples
        return [one_sample(x, levels) for x, levels in zip(samples, self.levels, strict=True)]

    def nested(self, leaves: Sequence[Tensor]) -> Any:
        """Values for the inputs, in their structure."""
        return leaves[0] if self.spec is _LEAF else tree_unflatten(leaves, self.spec)

    def is_recorded(self, outputs: tuple[Tensor, ...]) -> bool:
        """Whether a gradient of the outputs depends on more than these inputs, so that its computation is recorded."""
        recorded = is_grad_enabled() and depends_on_others(outputs, self.aliases)
        end_arguments(self.aliases)
        return recorded

    def gradients(
        self, outputs: tuple[Tensor, ...], seeds: tuple[Tensor, ...], keep_graph: bool, create_graph: bool, levels: list[Any]
    ) -> Sequence[Tensor]:
        """The gradients by the inputs; `outputs` and `seeds` have all samples of the outputs, batched at `levels`."""
        if not all(y.requires_grad for y in outputs):
            roots = [(y, seed) for y, seed in zip(outputs, seeds, strict=True) if y.requires_grad]
            outputs, seeds = zip(*roots, strict=True) if roots else ((), ())
        results: Any = (None,) * len(self.aliases)
        if outputs:
            with HiddenLevels(levels):
                results = run_task(outputs, seeds, keep_graph or create_graph, create_graph, self.aliases, True, False)
        return self.one_of_each(
            [zeros_like(x.detach()) if g is None else _as_kind_of(x, g) for x, g in zip(self.aliases, results, strict=True)]
        )


def _as_kind_of(x: Tensor, alias: Tensor) -> Tensor:
    """An alias or gradient as a meta tensor if `x` is one."""
    if not x.is_meta or alias.is_meta or is_batched(alias):
        return alias
    from .._tensor.meta import on_meta  # only needed here

    made: Tensor = on_meta(alias)
    return made


def check_input(x: Any, caller: str) -> None:
    if not isinstance(x, Tensor):
        raise ValueError(
            f"{caller}: Expected all inputs with respect to which it differentiates to be Tensors, got an input of type "
            f"{type(x)}"
        )
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        if caller == "jacfwd":
            raise ValueError(f"Expected primal to be floating point or complex, but got: {x.dtype}")
        raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
