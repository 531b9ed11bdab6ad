"""Products with Jacobians and Hessians of functions, and the matrices themselves, under the names of torch.autograd.functional
(facade).

Common arguments: `inputs` is a tensor or a tuple of tensors, and the results have their structure. `v`: the vector, of
the sizes that the product needs. create_graph: the result can be differentiated. strict: RuntimeError for an output that
doesn't depend on an input, instead of zeros.
"""

from collections.abc import Callable
from typing import Any

from .._compat import names_later as _names_later
from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public as _public
from . import _functional_arguments as _arguments
from . import _functional_derivatives as _derivatives
from . import _functional_jacobians as _jacobians
from .grad_mode import inference_mode as _inference_mode

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

_HELPERS = [
    "_as_tuple", "_as_tuple_nocheck", "_autograd_grad", "_check_requires_grad", "_construct_standard_basis_for",
    "_fill_in_zeros", "_grad_postprocess", "_grad_preprocess", "_tuple_postprocess", "_validate_v",
]  # fmt: skip
__getattr__, __dir__ = _names_later(__name__, {"_functional_helpers": _HELPERS})


@_public
def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """``vjp(func, inputs, v)`` is (outputs, v times the Jacobian). v: of the outputs' sizes; None for one element is 1.

    >>> import autograd_cy as ag
    >>> ag.autograd.functional.vjp(lambda x: x * x, ag.tensor([1.0, 2.0]), ag.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with _inference_mode(False):
        single, xs = _arguments.prepared("inputs", "vjp", inputs, create_graph)
        single_output, ys = _arguments.outputs("vjp", func, xs, strict)
        seeds = _arguments.seeds(v, ys)
        products = _derivatives.gradients(ys, xs, seeds, create_graph, strict, "back")
    return _arguments.result(single_output, ys, create_graph), _arguments.result(single, products, create_graph)


@_public
def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """``jvp(func, inputs, v)`` is (outputs, the Jacobian times v), by two backward passes; func.jvp() takes forward mode.

    v: of the inputs' sizes; None for one element is 1.

    >>> import autograd_cy as ag
    >>> ag.autograd.functional.jvp(lambda x: x * x, ag.tensor([1.0, 2.0]), ag.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with _inference_mode(False):
        _, xs = _arguments.prepared("inputs", "jvp", inputs, create_graph)
        directions = _arguments.directions("jvp", v, xs)
        single, ys = _arguments.outputs("jvp", func, xs, strict)
        products = _derivatives.tangents(ys, xs, directions, create_graph, strict)
    return _arguments.result(single, ys, create_graph), _arguments.result(single, products, create_graph)


@_public
def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """``jacobian(func, inputs)`` is the Jacobian of each output by each input, of shape (*output.shape, *input.shape).

    A tensor; a tuple for several inputs, for several outputs a tuple (of tuples). vectorize: all rows at once, by vmap.
    strategy: 'reverse-mode', or with vectorize 'forward-mode', which is cheaper for more outputs than inputs.

    >>> import autograd_cy as ag
    >>> ag.autograd.functional.jacobian(lambda x: x * x, ag.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in ("reverse-mode", "forward-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than '
            'inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        return _jacobians.forward_jacobian(func, inputs, create_graph, strict, vectorize)
    with _inference_mode(False):
        single, xs = _arguments.prepared("inputs", "jacobian", inputs, create_graph)
        single_output, ys = _arguments.outputs("jacobian", func, xs, strict)
        if strict and vectorize:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please "
                "either set `strict=False` or `vectorize=False`."
            )
        rows = _jacobians.vectorized_rows if vectorize else _jacobians.rows
        matrices = tuple(rows(y, i, xs, create_graph, strict) for i, y in enumerate(ys))
        if not create_graph:
            matrices = tuple(tuple(matrix.detach() for matrix in of_output) for of_output in matrices)
    results = tuple(of_output[0] if single else of_output for of_output in matrices)
    return results[0] if single_output else results


@_public
def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """``hessian(func, inputs)`` is the matrix of second derivatives of a function to one element.

    A tensor, or for several inputs a tuple of tuples: of shape (*inputs[i].shape, *inputs[j].shape).

    >>> import autograd_cy as ag
    >>> ag.autograd.functional.hessian(lambda x: (x**3).sum(), ag.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    single, _ = _arguments.one_or_several("inputs", "hessian", inputs)
    if outer_jacobian_strategy not in ("reverse-mode", "forward-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def only_output(*xs: Tensor) -> Tensor:
        (y,) = _arguments.one_output("hessian", func, xs, strict)
        return y.squeeze()

    def gradients(*xs: Tensor) -> Any:
        if outer_jacobian_strategy == "forward-mode":
            return _grad_of(only_output, tuple(range(len(xs))))(*xs)
        return _derivatives.dependent(jacobian(only_output, xs, create_graph=True), strict, "jacobian")

    found = jacobian(gradients, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found[0] if single else found


@_public
def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """``vhp(func, inputs, v)`` is (output, v times the Hessian) of a function to one element.

    >>> import autograd_cy as ag
    >>> ag.autograd.functional.vhp(lambda x: (x**3).sum(), ag.tensor([1.0, 2.0]), ag.tensor([1.0, 1.0]))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with _inference_mode(False):
        single, xs = _arguments.prepared("inputs", "vhp", inputs, create_graph)
        directions = _arguments.directions("vhp", v, xs)
        ys = _arguments.one_output("vhp", func, xs, strict)
        slopes = _derivatives.slopes(ys, xs, strict)
        products = _derivatives.gradients(slopes, xs, directions, create_graph, strict, "double_back")
    return _arguments.result(True, ys, create_graph), _arguments.result(single, products, create_graph)


@_public
def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """``hvp(func, inputs, v)`` is (output, the Hessian times v) of a function to one element; vhp() is cheaper.

    >>> import autograd_cy as ag
    >>> ag.autograd.functional.hvp(lambda x: (x**3).sum(), ag.tensor([1.0, 2.0]), ag.tensor([1.0, 1.0]))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with _inference_mode(False):
        single, xs = _arguments.prepared("inputs", "hvp", inputs, create_graph)
        directions = _arguments.directions("hvp", v, xs)
        ys = _arguments.one_output("hvp", func, xs, strict)
        slopes = _derivatives.slopes(ys, xs, strict)
        products = _derivatives.tangents(slopes, xs, directions, create_graph, strict, "double_back")
    return _arguments.result(True, ys, create_graph), _arguments.result(single, products, create_graph)


def _grad_of(func: Callable[..., Any], argnums: tuple[int, ...]) -> Callable[..., Any]:
    from ..func._reverse import grad  # which imports from here

    return grad(func, argnums)
