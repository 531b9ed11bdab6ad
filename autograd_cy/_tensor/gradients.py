"""Methods of Tensor about gradients: backward, hooks, data (facade)."""

import importlib
import warnings

from .. import autograd
from .._compat import PACKAGE
from .._core.batching.batched import is_batched
from .._core.batching.rules import on_values
from .._core.graph import record
from .._core.graph.memory import declare_gradient
from .._core.graph.node import set_metadata_function
from .._core.graph.tensor import Tensor, data_of, extend
from .._core.ops.overrides import extend_overridable
from .._core.ops.shapes.reshaping import replace_array
from .._core.runtime.entry import public, show_one_frame
from .attaching import method


@method
def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None, *, atomic=False):
    """backward(gradient=None, retain_graph=None, create_graph=False, inputs=None, *, atomic=False): see autograd.backward."""
    try:
        autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs, atomic=atomic)
    except BaseException as error:
        show_one_frame(error)
        raise


@method
@public
def retain_grad(self):
    """retain_grad(): keep the `.grad` of this computed tensor in the backward passes to come."""
    record.retain_grad(self)


@method
@public
def register_hook(self, hook):
    """register_hook(hook) -> RemovableHandle: hook(grad) is called with this tensor's gradient; what it returns replaces it.

    >>> import autograd_cy as ag
    >>> x = ag.tensor(1.0, requires_grad=True)
    >>> handle = x.register_hook(lambda g: g * 10)
    >>> (x * 2).backward()
    >>> x.grad
    tensor(20.)
    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    return record.register_tensor_hook(self, hook)


@method
@public
def register_post_accumulate_grad_hook(self, hook):
    """register_post_accumulate_grad_hook(hook) -> RemovableHandle: hook(leaf) is called when `.grad` has been added to.

    For leaves. The hook may change or clear the `.grad`; it returns nothing.

    >>> import autograd_cy as ag
    >>> x = ag.tensor(1.0, requires_grad=True)
    >>> handle = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
    >>> (x * 2).backward()
    tensor(2.)
    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not self.is_leaf:
        raise RuntimeError(
            f"post accumulate grad hooks cannot be registered on non-leaf tensors: this one was computed by {self.grad_fn!r}"
        )
    return record.register_post_accumulate_hook(self, hook)


def _hooks_attribute(name, kind, doc):
    """The property for the hooks of one kind, a dict by the id of their handle, or None."""

    def get(self):
        return record.hooks_of_kind(self, kind)

    @public
    def put(self, value):
        record.set_hooks_of_kind(self, kind, value)

    def delete(self):
        raise RuntimeError(f"Deletion of {name} not allowed! Set it to None.")

    extend(name, property(get, put, delete, doc))


_hooks_attribute("_backward_hooks", "tensor", "The hooks on the tensor by the id of their handle, or None.")
_hooks_attribute("_post_accumulate_grad_hooks", "post accumulate", "Those called after accumulation, or None.")


def warn_grad_of_non_leaf(tensor):
    """Warn about reading the `.grad` of a computed tensor."""
    warnings.warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated "
        "during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use "
        f".retain_grad() on it.{computed_by(tensor)}",
        UserWarning,
        stacklevel=2,
    )


def computed_by(tensor):
    """The node of a tensor, as the end of a message; empty for a view that has lost its place in the graph."""
    try:
        return f" It was computed by {tensor.grad_fn!r}."
    except RuntimeError:
        return ""


def _get_data(self):
    """The tensor's memory without history, as a tensor with a version of its own."""
    return data_of(self)


def _set_data(self, value):
    """Take over the memory of another tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    if is_batched(self) or is_batched(value):
        raise RuntimeError("vmap: data can't be set within vmap: a tensor stands for all samples of a batch there")
    if self.is_meta is not value.is_meta or self.layout is not value.layout:
        raise RuntimeError(
            "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type."
        )
    if self.requires_grad and not (value.dtype.is_floating_point or value.dtype.is_complex):
        raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
    replace_array(self, value)


def _keep_data(self):
    raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")


extend_overridable("data", property(_get_data, _set_data, _keep_data), on_values)


def _get_volatile(self):
    """What PyTorch had before no_grad(): always False."""
    warnings.warn("volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2)
    return False


def _set_volatile(self, value):
    from ..autograd.variable import _VOLATILE  # few need it

    warnings.warn(_VOLATILE, UserWarning, stacklevel=2)


extend("volatile", property(_get_volatile, _set_volatile))


def _sparse_gradient(indices, values, sizes):
    """A sparse gradient; its module is imported on first use."""
    return importlib.import_module(f"{PACKAGE}.sparse._gradients").sparse_gradient(indices, values, sizes)


declare_gradient(_sparse_gradient)


def _metadata(shape, dtype):
    """What an entry of a node's `_input_metadata` is."""
    from ..autograd._node import InputMetadata  # few ask

    return InputMetadata(shape, dtype)


set_metadata_function(_metadata)
extend("warn_grad_of_non_leaf", warn_grad_of_non_leaf)
