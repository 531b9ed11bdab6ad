"""ctc_loss: the likelihood of a target under a sequence of probabilities, over all alignments."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport flat, new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT32, FLOAT64, code_of, type_word
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, unpack
from autograd_cy._core.graph.record cimport needs_node, new_node, record, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.label_loops cimport Alignments, forward_sums, gradient_of_sums
from autograd_cy._core.ops.pointwise.elementwise cimport without_derivative
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

from autograd_cy._core.batching.rules import sample_by_sample
from autograd_cy._core.ops.registry import op


cdef Alignments alignments_of(cnp.ndarray logs, tuple of):
    """For checked arrays: `of` has the targets, one row per sample, and both lengths."""
    cdef cnp.ndarray targets = of[0], input_lengths = of[1], target_lengths = of[2]
    cdef Alignments p
    p.steps, p.samples, p.classes = cnp.PyArray_DIM(logs, 0), cnp.PyArray_DIM(logs, 1), cnp.PyArray_DIM(logs, 2)
    p.longest, p.blank = cnp.PyArray_DIM(targets, 1), of[3]
    p.targets = <const long long *> cnp.PyArray_DATA(targets)
    p.input_lengths = <const long long *> cnp.PyArray_DATA(input_lengths)
    p.target_lengths = <const long long *> cnp.PyArray_DATA(target_lengths)
    return p


@cython.final
cdef class CtcLossBackward0(Node):
    """Its constants: the blank, zero_infinity. Like PyTorch's, the gradient assumes logarithms from log_softmax()."""
    cdef cnp.ndarray alpha, losses
    cdef tuple of

    cdef tuple saved_names(self):
        return ("log_probs", None, None)

    cdef tuple constant_names(self):
        return ("blank", "zero_infinity")

    cdef int release_saved(self) except -1:
        self.alpha = self.losses = None
        return Node.release_saved(self)

    cdef object vjp_array(self, object g, int i, Request *request):
        cdef cnp.ndarray logs = flat(saved_array(self, 0), code_of(self.losses))
        cdef Alignments p = alignments_of(logs, self.of)
        if cnp.PyArray_SIZE(logs) != p.steps * p.samples * p.classes or p.steps != cnp.PyArray_DIM(self.alpha, 1):
            raise RuntimeError("ctc_loss: the memory of the saved probabilities was resized")
        return gradient_of_sums(flat(<cnp.ndarray> g, code_of(self.losses)), logs, self.alpha, self.losses, &p,
                                self.constants[1])

    cdef object vjp(self, object g, int i):
        cdef Tensor grad = <Tensor?> g, x
        x = unpack(self, 0)
        if grad.batched:                # the gradient is linear in g
            each = self.vjp_array(np.ones_like(self.losses), i, NULL)
            return grad.unsqueeze(-1) * without_derivative("_ctc_loss_backward", new_tensor(each), None, x)
        return without_derivative("_ctc_loss_backward", new_tensor(self.vjp_array(grad.array, i, NULL)), grad, x)

    cdef object jvp(self, tuple tangents):
        raise NotImplementedError("Trying to use forward AD with _ctc_loss that does not support it because it has not been "
                                  "implemented yet.")


cdef cnp.ndarray lengths_of(object lengths, str name, Py_ssize_t samples, Py_ssize_t most):
    """Checked lengths, one for each sample."""
    array = np.asarray((<Tensor> lengths).array if isinstance(lengths, Tensor) else lengths)
    if array.dtype.kind not in "iu" and array.size:
        raise RuntimeError(f"{name} must be integral, not {array.dtype}")
    array = np.array(array, np.int64).reshape(-1)
    if array.size != samples:
        raise RuntimeError(f"{name} must be of size batch_size, {samples}, not {array.size}")
    if array.size and array.min() < 0:
        raise RuntimeError(f"{name} must be non-negative, got {array.min()}")
    if array.size and array.max() > most:
        raise RuntimeError(f"Expected {name} to have value at most {most}, but got value {array.max()} "
                           "(while checking arguments for ctc_loss)")
    return array


cdef cnp.ndarray rows_of(cnp.ndarray targets, cnp.ndarray lengths, Py_ssize_t classes):
    """The targets, one row per sample; IndexError for one that is no class."""
    counts, joined = (<object> lengths).tolist(), cnp.PyArray_NDIM(targets) == 1
    longest = max(counts, default=0)
    rows = np.zeros((len(counts), longest), np.int64)
    start = 0
    for k, n in enumerate(counts):
        rows[k, :n] = targets[start:start + n] if joined else targets[k, :n]
        start += n
    if rows.size and not (rows.min() >= 0 and rows.max() < classes):
        raise IndexError(f"ctc_loss: targets must be from 0 to {classes - 1}")
    return rows


cdef tuple arguments_of(Tensor x, Tensor targets, object input_lengths, object target_lengths, long long blank):
    """The targets, one row per sample, and both lengths; raises if they don't fit."""
    cdef tuple sizes = shape_of(x), own = shape_of(targets)
    if len(sizes) != 3:
        raise RuntimeError(f"Expected 3-dimensional tensor (or 2-dimensional, of one sample) for log_probs, got {len(sizes)}")
    if 0 in sizes:
        raise RuntimeError("log_probs tensor must not be empty")
    if code_of(x.array) != FLOAT32 and code_of(x.array) != FLOAT64:
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{type_word(code_of(x.array))}'")
    if targets.array.dtype.kind not in "iu":
        raise RuntimeError("Expected tensor for targets to have one of the types Int, Long, got "
                           f"{type_word(code_of(targets.array))}")
    if not 0 <= blank < sizes[2]:
        raise RuntimeError(f"blank must be in label range, 0 to {sizes[2] - 1}, got {blank}")
    if len(own) not in (1, 2) or len(own) == 2 and own[0] != sizes[1]:
        raise RuntimeError(f"Expected targets of shape (batch, length) or (sum of lengths,), got {list(own)}")
    inputs = lengths_of(input_lengths, "input_lengths", sizes[1], sizes[0])
    lengths = lengths_of(target_lengths, "target_lengths", sizes[1], own[len(own) - 1])
    if len(own) == 1 and lengths.sum() != own[0]:
        raise RuntimeError(f"Expected targets to have size {lengths.sum()}, the sum of target_lengths, but got size {own[0]}")
    return rows_of(targets.array, lengths, sizes[2]), inputs, lengths, blank


cdef Tensor ctc_losses(Tensor x, tuple of, bint zero_infinity):
    """The loss of each sample."""
    cdef cnp.ndarray logs = flat(x.array, code_of(x.array))
    cdef npy_intp samples = cnp.PyArray_DIM(logs, 1)
    cdef cnp.ndarray losses = new_array(code_of(logs), 1, &samples)
    cdef Alignments p = alignments_of(logs, of)
    cdef cnp.ndarray alpha = forward_sums(logs, &p, losses)
    cdef Tensor y = new_tensor(losses.copy())
    cdef CtcLossBackward0 node
    if not needs_node(x):
        return y
    node = new_node(CtcLossBackward0, (of[3], bool(zero_infinity)))
    save_input(node, 0, x)
    node.alpha, node.losses, node.of = alpha, losses, of
    return record(node, y, x)


@op(namespace="nn.functional", batch=sample_by_sample)
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank: int = 0, reduction="mean", zero_infinity: bool = False):
    """ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction='mean', zero_infinity=False) -> Tensor

    The negative log probability of each sequence's target, summed over all alignments with its steps, with blanks between
    classes. `log_probs` are log probabilities (T, N, C), or (T, C) for one sequence, from log_softmax(); `targets` are class
    numbers (N, S), or concatenated; lengths have one number per sequence. 'mean' divides by the lengths of the targets
    first; other reductions: 'sum', 'none'. With `zero_infinity`, sequences without alignment count 0. There is no second
    derivative. Source: Graves et al. (2006).

    >>> import autograd_cy as ag
    >>> logs = ag.zeros(3, 1, 2).log_softmax(2)
    >>> ag.nn.functional.ctc_loss(logs, ag.tensor([[1]]), [3], [1])
    tensor(0.2877)
    """
    cdef int how = reduction_of(reduction, None, None)
    cdef Tensor x = tensor_argument(log_probs, "ctc_loss", "log_probs", 1)
    cdef Tensor t = tensor_argument(targets, "ctc_loss", "targets", 2)
    cdef bint alone = cnp.PyArray_NDIM(x.array) == 2
    cdef tuple of = arguments_of(x.unsqueeze(1) if alone else x, t, input_lengths, target_lengths, blank)
    losses = ctc_losses(x.unsqueeze(1) if alone else x, of, zero_infinity)
    if zero_infinity:
        losses = losses.masked_fill(losses.detach() == np.inf, 0)
    if how == MEAN:
        losses = losses / new_tensor(np.maximum(of[2], 1).astype((<Tensor> losses).array.dtype))
    return reduced(losses.squeeze(0) if alone else losses, how)
