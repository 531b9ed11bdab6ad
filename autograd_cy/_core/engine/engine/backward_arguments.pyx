"""Checks of the engine's arguments: as in PyTorch's engine, before anything is changed.

A root or input is a Tensor or a GradientEdge.
"""

import numpy as np

from autograd_cy._core.arrays.buffers cimport new_array
from autograd_cy._core.arrays.dtypes cimport code_of
from autograd_cy._core.graph.node cimport Node, gradient_node
from autograd_cy._core.graph.tensor cimport Tensor, make_current, new_tensor, wants_grad
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.graph.edges import GradientEdge

PARAMETERS = ("tensors", "grad_tensors", "keep_graph", "create_graph", "inputs", "allow_unreachable", "accumulate_grad")


cdef Node target_node(object x):
    """The node of a checked root or input."""
    return gradient_node(<Tensor> x) if isinstance(x, Tensor) else <Node> x.node


cdef int target_number(object x) except -1:
    """The number of a checked root or input among that node's outputs."""
    if not isinstance(x, Tensor):
        return x.output_nr
    make_current(<Tensor> x)
    return (<Tensor> x).output_number if (<Tensor> x).grad_fn is not None else 0


cdef dict named(tuple args, dict kwargs):
    """The arguments of run_backward() by name."""
    cdef dict given = {"inputs": (), "allow_unreachable": False, "accumulate_grad": False}
    if len(args) > len(PARAMETERS):
        raise TypeError(f"run_backward() takes at most {len(PARAMETERS)} arguments ({len(args)} given)")
    for name in kwargs:
        if name not in PARAMETERS:
            raise TypeError(f"'{name}' is an invalid keyword argument for run_backward()")
    given.update(zip(PARAMETERS, args))
    given.update(kwargs)
    for position, name in enumerate(PARAMETERS):
        if name not in given:
            raise TypeError(f"run_backward() missing required argument '{name}' (pos {position + 1})")
    return given


cdef int check_roots(object tensors, object grad_tensors) except -1:
    cdef int i
    if not isinstance(tensors, tuple):
        raise RuntimeError(f"tensors argument is expected to be a tuple, but got {type(tensors).__name__}")
    if not isinstance(grad_tensors, tuple):
        raise RuntimeError(f"grad_tensors argument is expected to be a tuple, but got {type(grad_tensors).__name__}")
    if len(tensors) != len(grad_tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(grad_tensors)} gradients")
    check_ends(tensors)
    for i in range(len(tensors)):
        if grad_tensors[i] is None:
            raise RuntimeError(f"element {i} of gradients tuple is None, but the corresponding " + (
                "Tensor requires grad" if isinstance(tensors[i], Tensor) else
                "output is a GradientEdge. This is not supported: pass the gradient"))
        if not isinstance(grad_tensors[i], Tensor):
            raise RuntimeError(f"element {i} of gradients tuple is not a Tensor or None, but "
                               f"{type(grad_tensors[i]).__name__}")
    return 0


cdef int check_ends(tuple tensors) except -1:
    """Check that a backward can begin at each tensor."""
    cdef int i
    for i in range(len(tensors)):
        if isinstance(tensors[i], Tensor):
            make_current(<Tensor> tensors[i])
            if not (<Tensor> tensors[i]).needs_grad:        # a view from no_grad mode may require grad without a node
                raise RuntimeError(f"element {i} of tensors does not require grad and does not have a grad_fn")
        elif isinstance(tensors[i], GradientEdge):
            check_edge(tensors[i])
        else:
            raise RuntimeError(f"element {i} of tensors tuple is neither a Tensor nor a GradientEdge, but "
                               f"{type(tensors[i]).__name__}")
    return 0


cdef int check_inputs(object inputs, bint retained=False) except -1:
    """`retained`: the inputs will get their `.grad`."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"inputs to run_backward must be a tuple, but got {type(inputs).__name__}")
    for x in inputs:
        if isinstance(x, GradientEdge):
            check_edge(x)
        elif not isinstance(x, Tensor):
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(x).__name__}")
        elif not wants_grad(<Tensor> x):
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False" if retained else
                               "One of the differentiated Tensors does not require grad")
    return 0


cdef int check_edge(object edge) except -1:
    """Check a GradientEdge, which may have been built by hand."""
    if not isinstance(edge.node, Node):
        raise TypeError(f"GradientEdge: node has to be a Node of a graph, but got {type(edge.node).__name__}")
    if not isinstance(edge.output_nr, int):
        raise TypeError(f"GradientEdge: output_nr has to be an int, but got {type(edge.output_nr).__name__}")
    if not 0 <= edge.output_nr < (<Node> edge.node).n_outputs:
        raise IndexError(f"GradientEdge: {edge.node!r} has {(<Node> edge.node).n_outputs} outputs, there is no "
                         f"number {edge.output_nr}")
    return 0


def make_seeds(tuple outputs, object seeds, bint batched):
    """One checked gradient per output: of its shape (`batched`: with one dimension more) and dtype; by default 1."""
    cdef tuple given
    if seeds is None:
        given = (None,) * len(outputs)
    else:
        given = tuple(seeds) if isinstance(seeds, (tuple, list)) else (seeds,)
    if len(given) != len(outputs):
        raise RuntimeError(
            f"got {len(outputs)} tensors and {len(given)} gradients: give one gradient (or None) for each tensor")
    if len(outputs) == 1:
        return (seed_for(outputs[0], given[0], 0, batched),)
    return tuple([seed_for(outputs[i], given[i], i, batched) for i in range(len(outputs))])


cdef object seed_for(object output, object seed, int position, bint batched):
    if not batched and is_like(output, seed):
        return seed
    if not isinstance(output, (Tensor, GradientEdge)):
        raise AssertionError(f"Expected output to be a torch.Tensor, but output {position} is {type(output).__name__}")
    if seed is not None:
        return checked_seed(output, seed, position, batched)
    if isinstance(output, GradientEdge):
        return ones_for_edge(output, position)
    return ones_for(output, position) if output.requires_grad else None


cdef bint is_like(object root, object seed) except -1:
    """Whether both are Tensors of one shape and dtype: then one is a gradient for the other."""
    return (isinstance(root, Tensor) and isinstance(seed, Tensor)
            and cnp.PyArray_SAMESHAPE((<Tensor> root).array, (<Tensor> seed).array)
            and code_of((<Tensor> root).array) == code_of((<Tensor> seed).array))


cdef Tensor ones_for(Tensor output, int position):
    """The default gradient of a real scalar: 1, of its shape and dtype."""
    if cnp.PyArray_SIZE(output.array) != 1:
        raise RuntimeError(f"grad can be implicitly created only for scalar outputs: output {position} has the shape "
                           f"{list(output.shape)}; reduce it (sum(), mean()) or pass a gradient of that shape")
    check_is_real(output.dtype)
    return ones_alike(output)


cpdef Tensor ones_alike(Tensor x):
    """ones_alike(x) -> Tensor: ones with the shape and dtype of `x`."""
    cdef cnp.ndarray array = new_array(code_of(x.array), cnp.PyArray_NDIM(x.array), cnp.PyArray_DIMS(x.array))
    array.fill(1)
    return new_tensor(array)


cdef Tensor ones_for_edge(object edge, int position):
    """The gradient 1 at a GradientEdge, which has metadata only if it was made from a tensor."""
    if edge.metadata is None or edge.metadata[0].numel() != 1:
        shape = "a shape that is not known" if edge.metadata is None else f"the shape {list(edge.metadata[0])}"
        raise RuntimeError(f"grad can be implicitly created only for scalar outputs: output {position} is a GradientEdge of "
                           f"{shape}; pass a gradient of the tensor's shape")
    check_is_real(edge.metadata[1])
    return new_tensor(np.ones(edge.metadata[0], edge.metadata[1].numpy_dtype))


cdef int check_is_real(object dtype) except -1:
    if not dtype.is_floating_point:
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {dtype}: pass a gradient")
    return 0


cdef object checked_seed(object output, object seed, int position, bint batched):
    """The seed in the output's dtype, if it is a gradient for the output."""
    if not isinstance(seed, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(seed).__name__}")
    if isinstance(output, Tensor):
        output_shape, output_dtype = output.shape, output.dtype
    elif output.metadata is None:
        return seed
    else:
        output_shape, output_dtype = output.metadata
    if batched and seed.ndim != len(output_shape) + 1:
        raise RuntimeError(
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The "
            "sizes of the remaining dimensions are expected to match the shape of corresponding output, but a mismatch was "
            f"detected: grad_output[{position}] has a shape of {seed.shape} and output[{position}] has a shape of "
            f"{output_shape}.")
    shape = seed.shape[1:] if batched else seed.shape
    if shape != output_shape:
        prefix = "If `is_grads_batched=True`, we interpret the first dimension as the batch. " if batched else ""
        raise RuntimeError(f"{prefix}Mismatch in shape: grad_output[{position}] has a shape of {seed.shape} and "
                           f"output[{position}] has a shape of {output_shape}.")
    if seed.dtype.is_complex != output_dtype.is_complex:
        raise RuntimeError("For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in "
                           f"dtype: grad_output[{position}] has a dtype of {seed.dtype} and output[{position}] has a dtype of "
                           f"{output_dtype}.")
    return seed if seed.dtype == output_dtype else seed.to(output_dtype)
