"""Building blocks of other Functions: one whose backward raises, and one whose backward gives no gradient."""

cimport cython

from autograd_cy._core.arrays.dtypes cimport code_of, is_differentiable
from autograd_cy._core.graph.memory cimport is_sparse
from autograd_cy._core.graph.node cimport Node, connect
from autograd_cy._core.graph.record cimport new_node
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor, wants_grad


@cython.final
cdef class Error(Node):
    """The node of DelayedError; its constant is the message."""

    def name(self):
        return "torch::autograd::Error"

    def __repr__(self):
        return "<Error>"

    cdef object vjp(self, object g, int i):
        raise RuntimeError(self.constants[0])


@cython.final
cdef class UndefinedGradBackward(Node):

    def name(self):
        return "torch::autograd::UndefinedGradBackward"

    def __repr__(self):
        return "<UndefinedGradBackward>"

    cdef object vjp(self, object g, int i):
        return None


@cython.final
cdef class DelayedError:
    """``DelayedError(message, n)(*tensors)``: the n tensors, whose backward raises a RuntimeError with that message.

    The node is recorded even in no_grad mode. A single tensor is returned alone, several in a tuple; None stays None.

    >>> import autograd_cy as ag
    >>> delayed = ag._C._functions.DelayedError("no second derivative", 1)
    >>> y = delayed(ag.ones(1, requires_grad=True))
    >>> try:
    ...     y.backward()
    ... except RuntimeError as error:
    ...     print(error)
    no second derivative
    """
    cdef str message
    cdef int n

    def __init__(self, *args):
        if len(args) != 2:
            raise RuntimeError(f"DelayedError: Requires two arguments, got {len(args)}")
        message = args[0].decode() if isinstance(args[0], bytes) else args[0]
        if not isinstance(message, str):
            raise RuntimeError(f"DelayedError: argument 'msg' must be a string, not {type(message).__name__}")
        self.message, self.n = message, args[1]

    def __call__(self, *tensors):
        return entered(new_node(Error, (self.message,)), tensors, self.n)


@cython.final
cdef class UndefinedGrad:
    """``UndefinedGrad()(tensor)``: the tensor, whose backward gives no gradient to its inputs.

    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> ag._C._functions.UndefinedGrad()(x * 2).backward()
    >>> x.grad is None
    True
    """

    def __call__(self, *tensors):
        return entered(new_node(UndefinedGradBackward, ()), tensors, 1)


cdef object entered(Node node, tuple tensors, int n):
    """Aliases of the tensors as outputs of a node, if any of them requires grad."""
    cdef list outputs
    cdef Tensor y
    cdef int i
    if len(tensors) != n:
        raise TypeError(f"expected {n} arguments, got {len(tensors)} instead")
    for i in range(n):
        if tensors[i] is not None and not isinstance(tensors[i], Tensor):
            raise TypeError(f"argument {i} is not a Variable but {type(tensors[i]).__name__}")
    outputs = [None if x is None else x.detach() if is_sparse(x) else new_tensor((<Tensor> x).array) for x in tensors]
    if any([x is not None and wants_grad(<Tensor> x) for x in tensors]):
        for x in tensors:
            if x is None:
                node.add_edge(None, 0)
            else:
                connect(node, <Tensor> x)
        node.n_outputs = n
        for i in range(n):
            y = <Tensor> outputs[i]
            if y is not None and is_differentiable(code_of(y.array)):
                y.grad_fn, y.output_number, y.needs_grad = node, i, True
    return outputs[0] if n == 1 else tuple(outputs)
