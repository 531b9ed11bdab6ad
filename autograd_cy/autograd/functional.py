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
from .._core.ops.shapes.concatenation import stack as _stack
from .._core.runtime.entry import public as _public
from .._creation.filled import ones_like as _ones_like
from .._creation.filled import zeros as _zeros
from .._creation.filled import zeros_like as _zeros_like
from .grad_mode import inference_mode as _inference_mode
from .gradients import grad as _grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

_Tensors = tuple[Tensor, ...]
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
        single, xs = _prepared("inputs", "vjp", inputs, create_graph)
        single_output, ys = _outputs("vjp", func, xs, strict)
        seeds = _seeds(v, ys)
        products = _gradients(ys, xs, seeds, create_graph, strict, "back")
    return _result(single_output, ys, create_graph), _result(single, products, create_graph)


@_public
def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """``jvp(func, inputs, v)`` is (outputs, the Jacobian times v), by two backward passes; func.jvp() takes forward mode.

    v: of the inputs' sizes; None for one element is 1.

    >>> import autograd_cy as ag
    >>> ag.autograd.functional.jvp(lambda x: x * x, ag.tensor([1.0, 2.0]), ag.tensor([1.0, 10.0]))
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with _inference_mode(False):
        _, xs = _prepared("inputs", "jvp", inputs, create_graph)
        directions = _directions("jvp", v, xs)
        single, ys = _outputs("jvp", func, xs, strict)
        products = _forward(ys, xs, directions, create_graph, strict)
    return _result(single, ys, create_graph), _result(single, products, create_graph)


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
        return _forward_jacobian(func, inputs, create_graph, strict, vectorize)
    with _inference_mode(False):
        single, xs = _prepared("inputs", "jacobian", inputs, create_graph)
        single_output, ys = _outputs("jacobian", func, xs, strict)
        if strict and vectorize:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please "
                "either set `strict=False` or `vectorize=False`."
            )
        rows = _vectorized_rows if vectorize else _rows
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
    single, _ = _one_or_several("inputs", "hessian", inputs)
    if outer_jacobian_strategy not in ("reverse-mode", "forward-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def only_output(*xs: Tensor) -> Tensor:
        (y,) = _one_output("hessian", func, xs, strict)
        return y.squeeze()

    def gradients(*xs: Tensor) -> Any:
        if outer_jacobian_strategy == "forward-mode":
            return _grad_of(only_output, tuple(range(len(xs))))(*xs)
        return _dependent(jacobian(only_output, xs, create_graph=True), strict, "jacobian")

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
        single, xs = _prepared("inputs", "vhp", inputs, create_graph)
        directions = _directions("vhp", v, xs)
        ys = _one_output("vhp", func, xs, strict)
        slopes = _slopes(ys, xs, strict)
        products = _gradients(slopes, xs, directions, create_graph, strict, "double_back")
    return _result(True, ys, create_graph), _result(single, products, create_graph)


@_public
def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """``hvp(func, inputs, v)`` is (output, the Hessian times v) of a function to one element; vhp() is cheaper.

    >>> import autograd_cy as ag
    >>> ag.autograd.functional.hvp(lambda x: (x**3).sum(), ag.tensor([1.0, 2.0]), ag.tensor([1.0, 1.0]))
    (tensor(9.), tensor([ 6., 12.]))
    """
    with _inference_mode(False):
        single, xs = _prepared("inputs", "hvp", inputs, create_graph)
        directions = _directions("hvp", v, xs)
        ys = _one_output("hvp", func, xs, strict)
        slopes = _slopes(ys, xs, strict)
        products = _forward(slopes, xs, directions, create_graph, strict, "double_back")
    return _result(True, ys, create_graph), _result(single, products, create_graph)


def _grad_of(func: Callable[..., Any], argnums: tuple[int, ...]) -> Callable[..., Any]:
    from ..func._reverse import grad  # which imports from here

    return grad(func, argnums)


# arguments and results


def _one_or_several(name: str, caller: str, value: Any) -> tuple[bool, _Tensors]:
    """Whether one tensor was given, and the tensors as a tuple."""
    single = not isinstance(value, tuple)
    values = (value,) if single else value
    for i, x in enumerate(values):
        if isinstance(x, Tensor):
            continue
        what = f"given {name}" if single else f"value at index {i}"
        raise TypeError(
            f"The {name} given to {caller} must be either a Tensor or a tuple of Tensors but the {what} has type {type(x)}."
        )
    return single, values


def _prepared(name: str, caller: str, inputs: Any, create_graph: bool) -> tuple[bool, _Tensors]:
    """Fresh tensors for the inputs: views in their graph if the result must be differentiable, else new leaves."""
    single, xs = _one_or_several(name, caller, inputs)
    xs = tuple(x.clone() if x.is_inference() else x for x in xs)
    inside = [create_graph and x.requires_grad for x in xs]
    return single, tuple(x.view_as(x) if kept else x.detach().requires_grad_() for x, kept in zip(xs, inside, strict=True))


def _outputs(caller: str, func: Callable[..., Any], xs: _Tensors, strict: bool) -> tuple[bool, _Tensors]:
    single, ys = _one_or_several("outputs of the user-provided function", caller, func(*xs))
    for i, y in enumerate(ys):
        if strict and not y.requires_grad:
            raise RuntimeError(
                f"Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
                "differentiable manner from the input when running in strict mode."
            )
    return single, ys


def _one_output(caller: str, func: Callable[..., Any], xs: _Tensors, strict: bool) -> _Tensors:
    single, ys = _outputs(caller, func, xs, strict)
    _check_one_element(caller, ys[0] if single else ys)
    return ys


def _check_one_element(caller: str, y: Any) -> None:
    if not isinstance(y, Tensor):  # a tuple
        raise RuntimeError(f"The function given to {caller} should return a single Tensor")
    if y.numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {caller} should contain a single element")


def _seeds(v: Any, ys: _Tensors) -> _Tensors:
    if v is None:
        if len(ys) != 1 or ys[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a single element."
            )
        return (_ones_like(ys[0]),)
    return _fitting("vjp", v, ys)


def _directions(caller: str, v: Any, xs: _Tensors) -> _Tensors:
    if v is None:
        if len(xs) != 1 or xs[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a single Tensor with a single "
                "element."
            )
        return (_ones_like(xs[0]),)
    return _fitting(caller, v, xs)


def _fitting(caller: str, v: Any, others: _Tensors) -> _Tensors:
    """The vector as a tuple; RuntimeError unless it has the sizes of the others."""
    _, vs = _one_or_several("v", caller, v)
    if len(vs) != len(others):
        if len(others) == 1:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(others)} but got {len(vs)}.")
    for i, (found, expected) in enumerate(zip(vs, others, strict=True)):
        if found.shape != expected.shape:
            where = f"Entry {i} in " if len(others) > 1 else ""
            raise RuntimeError(f"{where}v has invalid size: should be {expected.shape} but got {found.shape}.")
    return vs


def _result(single: bool, tensors: _Tensors, create_graph: bool) -> Any:
    found = tensors if create_graph else tuple(x.detach() for x in tensors)
    return found[0] if single else found


# derivatives

_INDEPENDENT = {
    "back": "The output of the user-provided function is independent of input {i}. This is not allowed in strict mode.",
    "back_trick": (
        "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the double "
        "backward trick to compute forward mode gradients. This is not allowed in strict mode."
    ),
    "double_back": (
        "The jacobian of the user-provided function is independent of input {i}. This is not allowed in strict mode."
    ),
    "double_back_trick": (
        "The hessian of the user-provided function is independent of entry {i} in the grad_jacobian. This is not allowed in "
        "strict mode as it prevents from using the double backward trick to replace forward mode AD."
    ),
}


_CONSTANT = {
    "gradient": (
        "The gradient with respect to input {i} is independent of the inputs of the user-provided function. This is not "
        "allowed in strict mode."
    ),
    "jacobian": (
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} is "
        "independent of the input. This is not allowed in strict mode. You should ensure that your function is twice "
        "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example)."
    ),
    "hessian": (
        "The hessian of the user-provided function with respect to input {i} is independent of the input. This is not allowed "
        "in strict mode. You should ensure that your function is thrice differentiable and that the hessian depends on the "
        "inputs."
    ),
}


def _gradients(ys: _Tensors, xs: _Tensors, seeds: _Tensors | None, create_graph: bool, strict: bool, stage: str) -> _Tensors:
    """The gradients of the outputs, zeros for inputs that they don't depend on; `stage` names them in errors."""
    found = _maybe_gradients(ys, xs, seeds, create_graph)
    for i, g in enumerate(found):
        if strict and g is None:
            raise RuntimeError(_INDEPENDENT[stage].format(i=i))
        if strict and create_graph and not g.requires_grad:
            what = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {i}. This is not allowed in strict mode "
                "when create_graph=True."
            )
    return _filled(found, xs)


def _maybe_gradients(ys: _Tensors, xs: _Tensors, seeds: _Tensors | None, create_graph: bool) -> tuple[Any, ...]:
    """The gradients of the outputs that have any; None for inputs that they don't depend on."""
    chosen = [(y, None if seeds is None else seeds[i]) for i, y in enumerate(ys) if y.requires_grad]
    if not chosen:
        return (None,) * len(xs)
    roots, given = zip(*chosen, strict=True)
    return _grad(roots, xs, None if seeds is None else given, create_graph=create_graph, allow_unused=True)


def _dependent(found: tuple[Any, ...], strict: bool, what: str) -> tuple[Any, ...]:
    """First derivatives to be differentiated again; in strict mode each must depend on its input."""
    for i, g in enumerate(found):
        if strict and g is None:
            raise RuntimeError(_INDEPENDENT["back"].format(i=i))
        if strict and not g.requires_grad:
            raise RuntimeError(_CONSTANT[what].format(i=i))
    return found


def _filled(found: tuple[Any, ...], alike: _Tensors) -> _Tensors:
    return tuple(_zeros_like(x) if g is None else g for g, x in zip(found, alike, strict=True))


def _slopes(ys: _Tensors, xs: _Tensors, strict: bool) -> _Tensors:
    """The gradients of one output, to be differentiated again."""
    return _filled(_dependent(_maybe_gradients(ys, xs, None, True), strict, "jacobian"), xs)


def _forward(
    ys: _Tensors, xs: _Tensors, directions: _Tensors, create_graph: bool, strict: bool, stage: str = "back"
) -> _Tensors:
    """The outputs' tangents: the adjoint of the adjoint. Source: Townsend, "A new trick for calculating Jacobian vector
    products" (2017)."""
    seeds = tuple(_zeros_like(y).requires_grad_() for y in ys)
    slopes = _dependent(_maybe_gradients(ys, xs, seeds, True), strict, "gradient" if stage == "back" else "hessian")
    chosen = [(g, v) for g, v in zip(slopes, directions, strict=True) if g is not None]
    roots, given = zip(*chosen, strict=True) if chosen else ((), ())
    return _gradients(roots, seeds, given, create_graph, strict, stage + "_trick")


def _rows(y: Tensor, i: int, xs: _Tensors, create_graph: bool, strict: bool) -> _Tensors:
    """The Jacobians of one output by each input, row by row."""
    columns: list[list[Tensor]] = [[] for _ in xs]
    flat = y.reshape(-1)
    for k in range(flat.numel()):
        found: tuple[Any, ...] = (None,) * len(xs)
        if flat.requires_grad:
            found = _grad(flat[k], xs, retain_graph=True, create_graph=create_graph, allow_unused=True)
        for n, (g, x) in enumerate(zip(found, xs, strict=True)):
            if strict and g is None:
                raise RuntimeError(
                    f"Output {i} of the user-provided function is independent of input {n}. This is not allowed in strict "
                    "mode."
                )
            if strict and create_graph and not g.requires_grad:
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {n}. This is not allowed in strict "
                    "mode when create_graph=True."
                )
            columns[n].append(_zeros_like(x) if g is None else g)
    return tuple(
        _stack(rows).reshape(*y.shape, *x.shape) if rows else _zeros((*y.shape, *x.shape), dtype=x.dtype)
        for rows, x in zip(columns, xs, strict=True)
    )


def _vectorized_rows(y: Tensor, i: int, xs: _Tensors, create_graph: bool, strict: bool) -> _Tensors:
    """The same, all rows at once: the gradients of a batch of unit tensors."""
    from ..func._arguments import basis

    if not y.requires_grad:
        return _rows(y, i, xs, create_graph, strict)
    (units,) = basis([y])
    options = {"retain_graph": True, "create_graph": create_graph, "allow_unused": True, "is_grads_batched": True}
    found: tuple[Any, ...] = _grad(y, xs, units, **options)
    return tuple(
        (_zeros((*y.shape, *x.shape), dtype=x.dtype) if g is None else g.reshape(*y.shape, *x.shape))
        for g, x in zip(found, xs, strict=True)
    )


def _forward_jacobian(func: Callable[..., Any], inputs: Any, create_graph: bool, strict: bool, vectorize: bool) -> Any:
    from ..func._forward import jacfwd

    if create_graph:
        raise NotImplementedError(
            'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported together '
            '(yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
        )
    if strict:
        raise RuntimeError(
            'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together '
            '(yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
        )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented for `vectorize=True`."
        )
    single, xs = _one_or_several("inputs", "jacobian", inputs)
    found = jacfwd(func, 0 if single else tuple(range(len(xs))))(*xs)
    outputs = found if isinstance(found, tuple) and (single or isinstance(found[0], tuple)) else (found,)
    detached = tuple(
        tuple(m.detach() for m in of_output) if isinstance(of_output, tuple) else of_output.detach() for of_output in outputs
    )
    return detached if outputs is found else detached[0]
