"""The Jacobians of torch.autograd.functional: row by row, all rows at once, or in forward mode (facade)."""

from collections.abc import Callable
from typing import Any

from .._core.graph.tensor import Tensor
from .._core.ops.shapes.joining import stack
from .._creation.filled import zeros, zeros_like
from ._functional_arguments import Tensors, one_or_several
from .gradients import grad


def rows(y: Tensor, i: int, xs: Tensors, create_graph: bool, strict: bool) -> Tensors:
    """The Jacobians of one output by each input, row by row."""
    columns: list[list[Tensor]] = [[] for _ in xs]
    flat = y.reshape(-1)
    for k in range(flat.numel()):
        found: tuple[Any, ...] = (None,) * len(xs)
        if flat.requires_grad:
            found = grad(flat[k], xs, retain_graph=True, create_graph=create_graph, allow_unused=True)
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
            columns[n].append(zeros_like(x) if g is None else g)
    return tuple(
        stack(column).reshape(*y.shape, *x.shape) if column else zeros((*y.shape, *x.shape), dtype=x.dtype)
        for column, x in zip(columns, xs, strict=True)
    )


def vectorized_rows(y: Tensor, i: int, xs: Tensors, create_graph: bool, strict: bool) -> Tensors:
    """The same, all rows at once: the gradients of a batch of unit tensors."""
    from ..func._arguments import basis

    if not y.requires_grad:
        return rows(y, i, xs, create_graph, strict)
    (units,) = basis([y])
    options = {"retain_graph": True, "create_graph": create_graph, "allow_unused": True, "is_grads_batched": True}
    found: tuple[Any, ...] = grad(y, xs, units, **options)
    return tuple(
        (zeros((*y.shape, *x.shape), dtype=x.dtype) if g is None else g.reshape(*y.shape, *x.shape))
        for g, x in zip(found, xs, strict=True)
    )


def forward_jacobian(func: Callable[..., Any], inputs: Any, create_graph: bool, strict: bool, vectorize: bool) -> Any:
    """The Jacobian by forward mode: one tangent per element of the inputs, all at once."""
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
    single, xs = one_or_several("inputs", "jacobian", inputs)
    found = jacfwd(func, 0 if single else tuple(range(len(xs))))(*xs)
    outputs = found if isinstance(found, tuple) and (single or isinstance(found[0], tuple)) else (found,)
    detached = tuple(
        tuple(m.detach() for m in of_output) if isinstance(of_output, tuple) else of_output.detach() for of_output in outputs
    )
    return detached if outputs is found else detached[0]
