"""Private helpers of torch.autograd.functional that libraries use, with PyTorch's signatures (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from ._functional_arguments import Tensors, check_vector, one_or_several
from .gradients import grad


def _as_tuple_nocheck(x: Any) -> tuple[Any, ...]:
    """A tuple as it is, a list as a tuple, anything else in a tuple."""
    return x if isinstance(x, tuple) else tuple(x) if isinstance(x, list) else (x,)


def _as_tuple(inp: Any, arg_name: str | None = None, fn_name: str | None = None) -> Any:
    """Whether the argument is a tuple, and the tensors as a tuple; without names only the tuple."""
    if arg_name is None and fn_name is None:
        return _as_tuple_nocheck(inp)
    single, values = one_or_several(str(arg_name), str(fn_name), inp)
    return not single, values


def _tuple_postprocess(res: Any, to_unpack: bool | tuple[bool, bool]) -> Any:
    """A tuple if `to_unpack`, else its single element; the second of two flags does the same inside."""
    if not isinstance(to_unpack, tuple):
        return res if to_unpack else res[0]
    outer, inner = to_unpack
    if not inner:
        res = tuple(element[0] for element in res)
    return res if outer else res[0]


def _grad_preprocess(inputs: Any, create_graph: bool, need_graph: bool) -> tuple[Any, ...]:
    """Fresh tensors for the inputs: views in their graph if the result must be differentiable, else new leaves."""

    def place(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return _grad_preprocess(x, create_graph, need_graph)
        if create_graph and x.requires_grad:
            return x.view_as(x)
        return x.detach().requires_grad_(need_graph)

    return tuple(map(place, inputs))


def _grad_postprocess(inputs: Any, create_graph: bool) -> Any:
    """Results, detached unless create_graph."""
    if create_graph:
        return inputs
    return tuple(x.detach() if isinstance(x, Tensor) else _grad_postprocess(x, create_graph) for x in inputs)


def _validate_v(v: Any, other: Any, is_other_tuple: bool) -> None:
    """RuntimeError unless v has the sizes of the others."""
    check_vector(v, other, is_other_tuple)


def _check_requires_grad(inputs: Any, input_type: str, strict: bool) -> None:
    """With strict, RuntimeError for a result that depends on no input."""
    if not strict:
        return
    if input_type not in ("outputs", "grad_inputs", "jacobian", "hessian"):
        raise RuntimeError("Invalid input_type to _check_requires_grad")
    for i, x in enumerate(inputs):
        if x is None or not x.requires_grad:
            raise RuntimeError(f"Entry {i} of the {input_type} does not depend on the inputs: strict mode does not allow it.")


def _autograd_grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    create_graph: bool = False,
    retain_graph: bool | None = None,
    is_grads_batched: bool = False,
) -> tuple[Any, ...]:
    """grad() of those outputs that require one; None for an input that none depends on."""
    seeds = (None,) * len(outputs) if grad_outputs is None else grad_outputs
    wanted = [(y, g) for y, g in zip(outputs, seeds, strict=True) if y is not None and y.requires_grad]
    if not wanted:
        return (None,) * len(inputs)
    roots, given = zip(*wanted, strict=True)
    return tuple(
        grad(
            roots, inputs, given, allow_unused=True, create_graph=create_graph, retain_graph=retain_graph,
            is_grads_batched=is_grads_batched,
        )
    )  # fmt: skip


def _fill_in_zeros(grads: Any, refs: Any, strict: bool, create_graph: bool, stage: str) -> Tensors:
    """Zeros for gradients that are None; with strict, RuntimeError."""
    from .._creation.filled import zeros_like

    if stage not in ("back", "back_trick", "double_back", "double_back_trick"):
        raise RuntimeError(f"Invalid stage argument '{stage}' to _fill_in_zeros")
    for i, g in enumerate(grads):
        if g is None and strict:
            raise RuntimeError(f"The output of the user-provided function is independent of input {i}. This is not allowed in "
                               "strict mode.")  # fmt: skip
    return tuple(zeros_like(ref) if g is None else g for g, ref in zip(grads, refs, strict=True))


def _construct_standard_basis_for(tensors: Tensors, tensor_numels: tuple[int, ...]) -> Tensors:
    """For each tensor the rows of the identity matrix that belong to its elements."""
    from .._creation.filled import eye

    rows = eye(sum(tensor_numels), dtype=tensors[0].dtype)
    parts = rows.split(list(tensor_numels), 1)
    return tuple(part.to(x.dtype) for part, x in zip(parts, tensors, strict=True))
