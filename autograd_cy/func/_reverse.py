"""Functions that differentiate functions in reverse mode: grad, vjp and jacrev (facade)."""

from collections.abc import Callable, Sequence
from typing import Any

from .._core.batching.batched import all_samples, at_level_or_expanded, batched, close_level, levels_of, open_level
from .._core.engine.engine import ones_alike
from .._core.graph.tensor import Tensor
from .._core.ops.overrides import arm
from .._core.ops.shapes.joining import cat
from .._core.runtime.entry import public, show_one_frame
from ..autograd.grad_mode import inference_mode, is_grad_enabled
from ..utils._pytree import tree_unflatten
from ._arguments import (
    basis,
    check_numbers,
    check_outputs,
    chosen_arguments,
    replaced,
    requires_grad,
    under_name_of,
    with_aux,
    without_graph,
)
from ._inputs import Inputs, leaves_of

__all__ = ["grad", "grad_and_value", "jacrev", "vjp"]


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """``grad_and_value(func)(*args)`` is (gradient of func by an argument, func(*args)).

    argnums: which argument, a number or several; each a tensor or nested containers of tensors, as the gradient then is.
    has_aux: func returns (output, aux), and the result is (gradient, (output, aux)).
    RuntimeError unless the output is a tensor with one element and no dimensions.

    >>> import autograd_cy as ag
    >>> ag.func.grad_and_value(lambda x: (x * x).sum())(ag.tensor([1.0, 2.0]))
    (tensor([2., 4.]), tensor(5.))
    """

    return under_name_of(func, lambda args, kwargs: _grad_and_value(func, argnums, has_aux, args, kwargs, "grad_and_value"))


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """``grad(func)(*args)`` is the gradient of func by an argument; see grad_and_value.

    has_aux: func returns (output, aux), and the result is (gradient, aux). Transforms nest: grad(grad(f)), vmap(grad(f)).

    >>> import autograd_cy as ag
    >>> ag.func.grad(ag.func.grad(lambda x: x**3))(ag.tensor(2.0))
    tensor(12.)
    """

    def differentiated(args: Any, kwargs: Any) -> Any:
        gradient, value = _grad_and_value(func, argnums, has_aux, args, kwargs, "grad")
        return (gradient, value[1]) if has_aux else gradient

    return under_name_of(func, differentiated)


def _check_scalar(output: Any) -> None:
    if not isinstance(output, Tensor):
        raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}")
    if output.ndim != 0:
        raise RuntimeError(
            f"grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with {output.ndim} dims. "
            "Maybe you wanted to use the vjp or jacrev APIs instead?"
        )
    if output.is_complex():
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {output.dtype}")


def _grad_and_value(
    func: Callable[..., Any], argnums: Any, has_aux: bool, args: tuple[Any, ...], kwargs: dict[str, Any], caller: str
) -> Any:
    with inference_mode(False):
        inputs = Inputs(chosen_arguments(args, argnums), caller)
        with inputs.within:
            output, aux = func(*replaced(args, argnums, inputs.tree), **kwargs), None
        if has_aux:
            output, aux = with_aux(output, has_aux, "grad_and_value(f)(*args)")
        _check_scalar(output)
        levels = levels_of(output)
        y = all_samples(output, levels)
    recorded = inputs.is_recorded((y,))
    gradient = inputs.nested(inputs.gradients((y,), (ones_alike(y),), False, recorded, levels))
    if not recorded and (has_aux or caller == "grad_and_value"):
        output, aux = without_graph(output), without_graph(aux)
    return gradient, (output, aux) if has_aux else output


@public
def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """``vjp(func, *primals)`` is (output, vjp_fn), or (output, vjp_fn, aux) if has_aux.

    vjp_fn(cotangents), in the output's structure, is the tuple of their products with the Jacobian, one for each primal
    (also for a single primal); it can be called several times, also within vmap.

    >>> import autograd_cy as ag
    >>> output, pull_back = ag.func.vjp(lambda x: x.sin(), ag.tensor([0.0, 1.0]))
    >>> pull_back(ag.ones(2))
    (tensor([1.0000, 0.5403]),)
    """
    return make_vjp(func, primals, has_aux, "vjp")


class _Pullback:
    """A called function, and products of cotangents with its Jacobian."""

    def __init__(self, func: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool, caller: str) -> None:
        with inference_mode(False):
            self.inputs = inputs = Inputs(primals, caller)
            with inputs.within:
                output = func(*inputs.tree)
            output, aux = with_aux(output, has_aux, "vjp(f, *primals)")
            self.leaves, self.spec = leaves_of(output)
            check_outputs(self.leaves, "vjp(f, *primals)")
            for y in self.leaves:
                if not (y.dtype.is_floating_point or y.dtype.is_complex):
                    raise RuntimeError(
                        "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                        f"{y.dtype}"
                    )
            self.levels = [levels_of(y) for y in self.leaves]
            self.samples = tuple([all_samples(y, levels) for y, levels in zip(self.leaves, self.levels, strict=True)])
            self.all_levels = list(dict.fromkeys(level for levels in self.levels for level in levels))
        self.recorded = inputs.is_recorded(self.samples)
        self.output, self.aux = (output, aux) if self.recorded else (without_graph(output), without_graph(aux))

    def products(self, cotangents: Sequence[Tensor], keep_graph: bool, create_graph: bool | None) -> Sequence[Tensor]:
        """The products of cotangents, one for each output, with the Jacobian by each input."""
        seeds = tuple([all_samples(g, levels) for g, levels in zip(cotangents, self.levels, strict=True)])
        follow = (self.recorded or any(map(requires_grad, seeds))) if create_graph is None else create_graph
        return self.inputs.gradients(self.samples, seeds, keep_graph, follow and is_grad_enabled(), self.all_levels)

    def rows(self, units: list[Tensor], chunk_size: int | None) -> list[Tensor]:
        """The products with all cotangents along the first dimension of `units`, `chunk_size` at a time."""
        total = units[0].shape[0] if units else 0
        size = total if chunk_size is None else min(chunk_size, total)
        chunks = []
        arm()
        for start in range(0, max(total, 1), max(size, 1)):
            some = units if size == total else [x[start : start + size] for x in units]
            level = open_level(min(size, total - start), "error")
            try:
                found = self.products([batched(x, level) for x in some], True, None)
                chunks.append([at_level_or_expanded(g, level) for g in found])
            finally:
                close_level(level)
        return chunks[0] if len(chunks) == 1 else [cat(list(parts)) for parts in zip(*chunks, strict=True)]


def make_vjp(func: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool, caller: str) -> Any:
    made = _Pullback(func, primals, has_aux, caller)

    def pulled_back(cotangents: Any, retain_graph: bool, create_graph: bool | None) -> Any:
        given, spec = leaves_of(cotangents)
        if spec != made.spec:
            raise RuntimeError(
                f"Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                f"cotangents: {spec}, primal output: {made.spec}"
            )
        for i, (g, y) in enumerate(zip(given, made.leaves, strict=True)):
            if not isinstance(g, Tensor):
                raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
            if g.shape != y.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{i}] has a shape of {g.shape} and output[{i}] has a shape of {y.shape}."
                )
        return made.inputs.nested(made.products(given, retain_graph, create_graph))

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        try:
            return pulled_back(cotangents, retain_graph, create_graph)
        except BaseException as error:
            show_one_frame(error)
            raise

    return (made.output, vjp_fn, made.aux) if has_aux else (made.output, vjp_fn)


def jacrev(
    func: Callable[..., Any],
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    holomorphic: bool = False,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """``jacrev(func)(*args)`` is the Jacobian of func by an argument, in reverse mode: one product for each output element.

    Its shape is (*output.shape, *argument.shape), for each output and each argument in their structures. argnums, has_aux: as
    in grad. chunk_size: the number of products at a time, all at once if None. holomorphic: func is a holomorphic function
    of complex numbers (not checked), and the Jacobian has its complex derivatives. RuntimeError for complex inputs or
    outputs without it, and for real ones with it.

    >>> import autograd_cy as ag
    >>> ag.func.jacrev(lambda x: x * x)(ag.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    def jacobian(args: Any, kwargs: Any) -> Any:
        chosen = chosen_arguments(args, argnums)
        made = _Pullback(lambda values: func(*replaced(args, argnums, values), **kwargs), (chosen,), has_aux, "jacrev")
        inputs, input_spec = leaves_of(chosen)
        check_numbers(inputs, "jacrev", "input", holomorphic)
        check_numbers(made.leaves, "jacrev", "output", holomorphic)
        columns = made.rows(basis(made.leaves), chunk_size)
        if holomorphic:  # products use the conjugate of the derivative
            columns = [c.conj().resolve_conj() for c in columns]
        start, blocks = 0, []
        for y in made.leaves:
            part = slice(start, start + y.numel())
            of_output = columns if len(made.leaves) == 1 else [c[part] for c in columns]
            parts = [c.reshape(*y.shape, *x.shape) for c, x in zip(of_output, inputs, strict=True)]
            blocks.append(tree_unflatten(parts, input_spec))
            start += y.numel()
        result = tree_unflatten(blocks, made.spec)
        return (result, made.aux) if has_aux else result

    return under_name_of(func, jacobian)
