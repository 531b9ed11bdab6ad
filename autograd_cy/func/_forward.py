"""Functions that differentiate functions in forward mode: jvp, jacfwd, hessian and linearize (facade)."""

from collections.abc import Callable
from typing import Any

from .._core.batching.batched import at_level, open_levels
from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public
from .._core.runtime.state import are_on, mode_bit
from .._creation.filled import zeros_like
from ..autograd.forward_ad import _set_fwd_grad_enabled, dual_level, make_dual, unpack_dual
from ..autograd.grad_mode import inference_mode, is_inference_mode_enabled, no_grad
from ..utils._pytree import tree_flatten, tree_map_only, tree_unflatten
from ._arguments import basis, check_numbers, check_outputs, chosen_arguments, replaced, requires_grad, under_name_of, with_aux
from ._inputs import check_input
from ._reverse import jacrev, make_vjp
from ._vmap import call_mapped

__all__ = ["hessian", "jacfwd", "jvp", "linearize"]


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
        output, aux = with_aux(func(*tree_unflatten(duals, spec)), has_aux, _JVP)
        ys, output_spec = tree_flatten(output)
        check_outputs(ys, _JVP)
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
            check_input(x, "jacfwd")
        check_numbers(inputs, "jacfwd", "input", holomorphic)
        aux = None

        def push_forward(*units: Any) -> Any:
            made = _jvp(
                lambda values: func(*replaced(args, argnums, values), **kwargs),
                (chosen,), (tree_unflatten(units, input_spec),), False, has_aux,
            )  # fmt: skip
            return (made[1], tree_map_only(Tensor, _first_sample, made[2])) if has_aux else made[1]

        columns = call_mapped(push_forward, 0, (0, None) if has_aux else 0, randomness, None, tuple(basis(inputs)))
        if has_aux:
            columns, aux = columns
        tangents, output_spec = tree_flatten(columns)
        check_numbers(tangents, "jacfwd", "output", holomorphic)
        blocks = [tree_unflatten(_columns(t, inputs), input_spec) for t in tangents]
        result = tree_unflatten(blocks, output_spec)
        return (result, aux) if has_aux else result

    return under_name_of(func, jacobian)


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
    output, pull_back = make_vjp(func, primals, False, "linearize")
    leaves, spec = tree_flatten(output)
    seeds = tree_unflatten([zeros_like(y) for y in leaves], spec)
    _, transposed = make_vjp(lambda seed: pull_back(seed, create_graph=True), (seeds,), False, "linearize")

    recorded = any(map(requires_grad, leaves))

    @public
    def jvp_fn(*tangents: Any) -> Any:
        directions, found = tree_flatten(tangents)
        if found != expected:
            raise RuntimeError(f"Expected the tangents {found} to have the same argspec as the primals {expected}")
        _check_alike(directions, flat_primals)
        return transposed(tangents, create_graph=recorded or any(map(requires_grad, directions)))[0]

    return output, jvp_fn
