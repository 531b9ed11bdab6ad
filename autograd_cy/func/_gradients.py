"""Functions that differentiate functions: grad, vjp and combinations of them (facade)."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core.batching.batched import (
    all_samples,
    as_argument,
    at_level,
    at_level_or_expanded,
    batched,
    is_batched,
    levels_of,
    one_sample,
)
from .._core.batching.levels import DifferentiatedWithin, HiddenLevels, close_level, open_level, open_levels
from .._core.engine.backward_arguments import ones_alike
from .._core.engine.engine import run_task
from .._core.engine.task_queries import depends_on_others, end_arguments
from .._core.graph.duals import dual_depth
from .._core.graph.tensor import Tensor, from_array
from .._core.ops.overrides import arm
from .._core.ops.shapes.shape import cat
from .._core.runtime.entry import public, show_one_frame
from .._core.runtime.modes import are_on, mode_bit
from .._creation.filled import zeros_like
from ..autograd.forward_ad import _set_fwd_grad_enabled, dual_level, make_dual, unpack_dual
from ..autograd.grad_mode import inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad
from ..utils._pytree import LeafSpec, TreeSpec, tree_flatten, tree_map_only, tree_unflatten
from ._vmap import call_mapped

__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp"]


_LEAF = LeafSpec()


def _leaves_of(tree: Any) -> tuple[list[Any], TreeSpec]:
    """tree_flatten(tree); most trees are one tensor."""
    return ([tree], _LEAF) if isinstance(tree, Tensor) else tree_flatten(tree)


_OUTSIDE_OF_VMAP = DifferentiatedWithin({})


class _Inputs:
    """The inputs of a transform's derivative, as aliases with all samples of enclosing vmaps.

    An input that isn't batched stays unbatched: NOTE [Batching], case 8.
    """

    def __init__(self, tree: Any, caller: str) -> None:
        leaves, self.spec = _leaves_of(tree)
        for x in leaves:
            _check_input(x, caller)
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


def _check_numbers(tensors: Sequence[Tensor], caller: str, what: str, holomorphic: bool) -> None:
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


def _check_outputs(outputs: list[Any], api: str) -> None:
    if not outputs or (len(outputs) == 1 and outputs[0] is None):
        raise RuntimeError(f"{api}: Expected f to be a function that has non-empty output (got output = {outputs})")
    for y in outputs:
        if not isinstance(y, Tensor):
            raise RuntimeError(f"{api}: expected f(*primals) to return only tensors, got unsupported type {type(y)}")


def _check_input(x: Any, caller: str) -> None:
    if not isinstance(x, Tensor):
        raise ValueError(
            f"{caller}: Expected all inputs with respect to which it differentiates to be Tensors, got an input of type "
            f"{type(x)}"
        )
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        if caller == "jacfwd":
            raise ValueError(f"Expected primal to be floating point or complex, but got: {x.dtype}")
        raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")


def _under_name_of(func: Callable[..., Any], call: Callable[[tuple[Any, ...], dict[str, Any]], Any]) -> Callable[..., Any]:
    """A function that calls call(args, kwargs), with the metadata of `func`; its errors show one frame."""

    @functools.wraps(func)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(args, kwargs)
        except BaseException as error:
            show_one_frame(error)
            raise

    return transformed


def _without_graph(tree: Any) -> Any:
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


def _replaced(args: tuple[Any, ...], argnums: Any, values: Any) -> list[Any]:
    """The arguments, with the chosen ones replaced by the values."""
    result = list(args)
    numbers, values = (argnums, values) if isinstance(argnums, tuple) else ((argnums,), (values,))
    for n, value in zip(numbers, values, strict=True):
        result[n] = value
    return result


def _with_aux(output: Any, has_aux: bool, api: str) -> tuple[Any, Any]:
    """The output of a function, and its aux value."""
    if not has_aux:
        return output, None
    if not isinstance(output, tuple) or len(output) != 2:
        raise RuntimeError(f"{api}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return output


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """``grad_and_value(func)(*args)`` is (gradient of func by an argument, func(*args)).

    argnums: which argument, a number or several; each a tensor or nested containers of tensors, as the gradient then is.
    has_aux: func returns (output, aux), and the result is (gradient, (output, aux)).
    RuntimeError unless the output is a tensor with one element and no dimensions.

    >>> import autograd_cy as ag
    >>> ag.func.grad_and_value(lambda x: (x * x).sum())(ag.tensor([1.0, 2.0]))
    (tensor([2., 4.]), tensor(5.))
    """

    return _under_name_of(func, lambda args, kwargs: _grad_and_value(func, argnums, has_aux, args, kwargs, "grad_and_value"))


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

    return _under_name_of(func, differentiated)


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
        inputs = _Inputs(chosen_arguments(args, argnums), caller)
        with inputs.within:
            output, aux = func(*_replaced(args, argnums, inputs.tree), **kwargs), None
        if has_aux:
            output, aux = _with_aux(output, has_aux, "grad_and_value(f)(*args)")
        _check_scalar(output)
        levels = levels_of(output)
        y = all_samples(output, levels)
    recorded = inputs.is_recorded((y,))
    gradient = inputs.nested(inputs.gradients((y,), (ones_alike(y),), False, recorded, levels))
    if not recorded and (has_aux or caller == "grad_and_value"):
        output, aux = _without_graph(output), _without_graph(aux)
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
    return _vjp(func, primals, has_aux, "vjp")


class _Pullback:
    """A called function, and products of cotangents with its Jacobian."""

    def __init__(self, func: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool, caller: str) -> None:
        with inference_mode(False):
            self.inputs = inputs = _Inputs(primals, caller)
            with inputs.within:
                output = func(*inputs.tree)
            output, aux = _with_aux(output, has_aux, "vjp(f, *primals)")
            self.leaves, self.spec = _leaves_of(output)
            _check_outputs(self.leaves, "vjp(f, *primals)")
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
        self.output, self.aux = (output, aux) if self.recorded else (_without_graph(output), _without_graph(aux))

    def products(self, cotangents: Sequence[Tensor], keep_graph: bool, create_graph: bool | None) -> Sequence[Tensor]:
        """The products of cotangents, one for each output, with the Jacobian by each input."""
        seeds = tuple([all_samples(g, levels) for g, levels in zip(cotangents, self.levels, strict=True)])
        follow = (self.recorded or any(map(_requires_grad, seeds))) if create_graph is None else create_graph
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


def _vjp(func: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool, caller: str) -> Any:
    made = _Pullback(func, primals, has_aux, caller)

    def pulled_back(cotangents: Any, retain_graph: bool, create_graph: bool | None) -> Any:
        given, spec = _leaves_of(cotangents)
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


def _requires_grad(x: Tensor) -> bool:
    return all_samples(x, levels_of(x)).requires_grad


def _basis(leaves: list[Tensor]) -> list[Tensor]:
    """For each tensor a batch of unit tensors, one for each element of all tensors; zeros for other tensors' elements."""
    sizes = [x.numel() for x in leaves]
    total, start, result = sum(sizes), 0, []
    for x, n in zip(leaves, sizes, strict=True):
        units = np.zeros((total, *x.shape), x.dtype.numpy_dtype)
        units.reshape(-1)[start * n : (start + n) * n : n + 1] = 1
        result.append(from_array(units))
        start += n
    return result


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
        made = _Pullback(lambda values: func(*_replaced(args, argnums, values), **kwargs), (chosen,), has_aux, "jacrev")
        inputs, input_spec = _leaves_of(chosen)
        _check_numbers(inputs, "jacrev", "input", holomorphic)
        _check_numbers(made.leaves, "jacrev", "output", holomorphic)
        columns = made.rows(_basis(made.leaves), chunk_size)
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

    return _under_name_of(func, jacobian)


@public
def jvp(func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """``jvp(func, primals, tangents)`` is (output, its tangent): the Jacobian times the tangents, in forward mode.

    primals, tangents: tuples of the arguments and of their tangents, in one structure. strict: RuntimeError for an output that
    doesn't depend on the primals, instead of zeros. has_aux: func returns (output, aux), and the result has aux at its end.

    >>> import autograd_cy as ag
    >>> ag.func.jvp(lambda x: x * x, (ag.tensor(3.0),), (ag.tensor(1.0),))
    (tensor(9.), tensor(6.))
    """
    return _jvp(func, primals, tangents, strict, has_aux)


_JVP = "jvp(f, primals, tangents)"
_FORWARD_OFF = mode_bit("NO_FORWARD")


def _jvp(func: Callable[..., Any], primals: Any, tangents: Any, strict: bool, has_aux: bool) -> Any:
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    leaves, spec = tree_flatten(primals)
    directions, tangents_spec = tree_flatten(tangents)
    if spec != tangents_spec:
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For example, "
            f"if primals is a tuple of 3 tensors, tangents also must be. Got primals with structure {spec} and tangents with "
            f"structure {tangents_spec}"
        )
    for name, values in (("primals", leaves), ("tangents", directions)):
        if not values:
            raise RuntimeError(f"{_JVP}: Expected {name} to contain at least one Tensor.")
        for x in values:
            if not isinstance(x, Tensor):
                raise RuntimeError(f"{_JVP}: Expected {name} to only contain Tensors, got {type(x)}")
    if is_inference_mode_enabled():
        with inference_mode(False), no_grad():
            return _jvp(func, primals, tangents, strict, has_aux)
    if are_on(_FORWARD_OFF):  # that mode is for the caller's dual levels
        with _set_fwd_grad_enabled(True):
            return _jvp(func, primals, tangents, strict, has_aux)
    with dual_level():
        duals = [make_dual(_ordinary(x), _ordinary(t)) for x, t in zip(leaves, directions, strict=True)]
        output, aux = _with_aux(func(*tree_unflatten(duals, spec)), has_aux, _JVP)
        ys, output_spec = tree_flatten(output)
        _check_outputs(ys, _JVP)
        pairs = [_unpacked(y, strict) for y in ys]
        aux = tree_map_only(Tensor, lambda x: _unpacked(x, False)[0], aux) if has_aux else None
    values, results = [tree_unflatten(column, output_spec) for column in zip(*pairs, strict=True)]
    return (values, results, aux) if has_aux else (values, results)


def _ordinary(x: Tensor) -> Tensor:
    """The tensor, or a copy of an inference tensor."""
    return x.clone() if x.is_inference() else x


def _unpacked(y: Tensor, strict: bool) -> tuple[Tensor, Tensor]:
    """The value of an output and its tangent."""
    primal, tangent = unpack_dual(y)
    if tangent is None:
        if strict:
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
                "allowed with strict=True."
            )
        tangent = zeros_like(primal)
    return primal, tangent


def jacfwd(
    func: Callable[..., Any],
    argnums: Any = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """``jacfwd(func)(*args)`` is the Jacobian of func by an argument, in forward mode: one product for each input element.

    Shapes, argnums, has_aux and holomorphic as in jacrev; randomness as in vmap.

    >>> import autograd_cy as ag
    >>> ag.func.jacfwd(lambda x: x * x)(ag.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    def jacobian(args: Any, kwargs: Any) -> Any:
        chosen = chosen_arguments(args, argnums)
        inputs, input_spec = tree_flatten(chosen)
        for x in inputs:
            _check_input(x, "jacfwd")
        _check_numbers(inputs, "jacfwd", "input", holomorphic)
        aux = None

        def push_forward(*units: Any) -> Any:
            made = _jvp(
                lambda values: func(*_replaced(args, argnums, values), **kwargs),
                (chosen,), (tree_unflatten(units, input_spec),), False, has_aux,
            )  # fmt: skip
            return (made[1], tree_map_only(Tensor, _first_sample, made[2])) if has_aux else made[1]

        columns = call_mapped(push_forward, 0, (0, None) if has_aux else 0, randomness, None, tuple(_basis(inputs)))
        if has_aux:
            columns, aux = columns
        tangents, output_spec = tree_flatten(columns)
        _check_numbers(tangents, "jacfwd", "output", holomorphic)
        blocks = [tree_unflatten(_columns(t, inputs), input_spec) for t in tangents]
        result = tree_unflatten(blocks, output_spec)
        return (result, aux) if has_aux else result

    return _under_name_of(func, jacobian)


def _first_sample(x: Tensor) -> Tensor:
    """The first sample of a tensor whose samples are equal at the innermost vmap."""
    samples = at_level(x, open_levels()[0])
    return x if samples is None else samples[0]


def _columns(tangents: Tensor, inputs: list[Tensor]) -> list[Tensor]:
    """The Jacobian by each input, from one output's tangents; their first dimension counts the inputs' elements."""
    shape, start, result = tangents.shape[1:], 0, []
    last = tangents.permute(*range(1, tangents.ndim), 0)
    for x in inputs:
        result.append(last[..., start : start + x.numel()].reshape(*shape, *x.shape))
        start += x.numel()
    return result


def hessian(func: Callable[..., Any], argnums: Any = 0, *, holomorphic: bool = False) -> Callable[..., Any]:
    """``hessian(func)(*args)`` is the matrix of second derivatives by an argument: forward over reverse mode.

    holomorphic: as in jacrev.

    >>> import autograd_cy as ag
    >>> ag.func.hessian(lambda x: (x**3).sum())(ag.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums, holomorphic=holomorphic), argnums, holomorphic=holomorphic)


def _check_alike(tangents: list[Any], primals: list[Tensor]) -> None:
    for i, (t, x) in enumerate(zip(tangents, primals, strict=True)):
        for name in ("shape", "dtype"):
            if getattr(t, name, None) != getattr(x, name):
                raise RuntimeError(
                    f"tangent:{i} with {name} {getattr(t, name, type(t))} in flattened pytree doesn't match the {name} "
                    f"{getattr(x, name)} of the corresponding primal."
                )


@public
def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """``linearize(func, *primals)`` is (output, jvp_fn): jvp_fn(*tangents) is the output's tangent, without a new call.

    It is the adjoint of the adjoint that vjp records. Source: Townsend, "A new trick for calculating Jacobian vector
    products" (2017).

    >>> import autograd_cy as ag
    >>> output, push_forward = ag.func.linearize(lambda x: x.sin(), ag.tensor([0.0, 1.0]))
    >>> push_forward(ag.ones(2))
    tensor([1.0000, 0.5403])
    """
    flat_primals, expected = tree_flatten(primals)
    output, pull_back = _vjp(func, primals, False, "linearize")
    leaves, spec = tree_flatten(output)
    seeds = tree_unflatten([zeros_like(y) for y in leaves], spec)
    _, transposed = _vjp(lambda seed: pull_back(seed, create_graph=True), (seeds,), False, "linearize")

    recorded = any(map(_requires_grad, leaves))

    @public
    def jvp_fn(*tangents: Any) -> Any:
        directions, found = tree_flatten(tangents)
        if found != expected:
            raise RuntimeError(f"Expected the tangents {found} to have the same argspec as the primals {expected}")
        _check_alike(directions, flat_primals)
        return transposed(tangents, create_graph=recorded or any(map(_requires_grad, directions)))[0]

    return output, jvp_fn
