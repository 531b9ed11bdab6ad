"""Registering and running the hooks of nodes and tensors, and checking their results.

Each run uses a copy of the list: a hook that another one removes during the run still fires in it.
"""

import weakref
from collections import OrderedDict
from functools import partial

from cpython.object cimport PyObject

from autograd_cy._core.arrays.buffers cimport dense_copy
from autograd_cy._core.arrays.dtypes cimport code_of
from autograd_cy._core.graph.memory cimport is_sparse
from autograd_cy._core.graph.node cimport (
    Node, NodeHooks, existing_hooks, existing_hooks_of_leaf, gradient_node, held_at, hooks_of, hooks_of_tensor,
    post_accumulate_slot, post_hooks_slot, pre_hooks_slot, retained_slot, tensor_hooks_slot)
from autograd_cy._core.graph.tensor cimport Tensor, make_current, new_tensor, type_name, wants_grad
from autograd_cy._core.recording.events cimport HOOK, Span, begin, end, recorders_on
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport FREE_THREADED, Hold, hold, is_unset, let_go, set_once

from autograd_cy._core.runtime.handle import register

cdef extern from "Python.h":
    int PyDict_DelItem(PyObject *dict, PyObject *key)
    void PyErr_Clear()


def register_tensor_hook(Tensor tensor, hook):
    """Call `hook` with the tensor's gradient, which it may replace; returns the handle."""
    cdef NodeHooks hooks = hooks_of_tensor(tensor)
    if is_unset(tensor_hooks_slot(hooks)):
        set_once(hooks, tensor_hooks_slot(hooks), {})
    return register(hooks.tensor_hooks.setdefault(tensor.output_number, OrderedDict()), hook)


def register_post_accumulate_hook(Tensor leaf, hook):
    """Call `hook` with the leaf each time its `.grad` was added to; returns the handle."""
    cdef NodeHooks hooks = hooks_of_tensor(leaf)
    if is_unset(post_accumulate_slot(hooks)):
        set_once(hooks, post_accumulate_slot(hooks), OrderedDict())
    return register(hooks.post_accumulate, hook)


def hooks_of_kind(Tensor tensor, str kind):
    """The hooks on a tensor as a dict, or None if there never was one; `kind` is 'tensor' or 'post accumulate'."""
    cdef NodeHooks hooks
    if wants_grad(tensor):
        hooks = existing_hooks(gradient_node(tensor))
    else:               # a leaf's hooks are kept until it requires grad again
        hooks = existing_hooks_of_leaf(tensor)
    if hooks is None:
        return None
    if kind == "tensor":
        functions = held_at(tensor_hooks_slot(hooks))
        return None if functions is None else functions.get(tensor.output_number)
    return held_at(post_accumulate_slot(hooks))


def set_hooks_of_kind(Tensor tensor, str kind, value):
    """Replace a tensor's hooks by a dict of hooks; None removes them."""
    cdef NodeHooks hooks
    if value is not None and not isinstance(value, dict):
        raise TypeError(f"the hooks of a tensor are a dict of functions, or None, not {type(value).__name__}")
    if value is not None and not all(map(callable, value.values())):
        raise TypeError("a hook must be callable")
    if value is None and hooks_of_kind(tensor, kind) is None:
        return
    hooks = hooks_of_tensor(tensor)
    if kind != "tensor":
        hooks.post_accumulate = None if value is None else OrderedDict(value)
    elif value is None:
        functions = held_at(tensor_hooks_slot(hooks))
        if functions is not None:
            functions.pop(tensor.output_number, None)
    else:
        if is_unset(tensor_hooks_slot(hooks)):
            set_once(hooks, tensor_hooks_slot(hooks), {})
        hooks.tensor_hooks[tensor.output_number] = value if isinstance(value, OrderedDict) else OrderedDict(value)


cpdef retain_grad(Tensor tensor):
    """Keep the `.grad` of a non-leaf tensor; the node refers to the tensor weakly."""
    make_current(tensor)
    if not wants_grad(tensor):
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if tensor.grad_fn is None or tensor.keeps_grad:
        return
    retain_at(tensor.grad_fn, tensor.output_number, tensor)
    tensor.keeps_grad = True


cdef int retain_at(Node node, int output, Tensor tensor) except -1:
    """Let a node keep the gradient of a tensor that is, or will be, its output."""
    cdef NodeHooks hooks = hooks_of(node)
    if is_unset(retained_slot(hooks)):
        set_once(hooks, retained_slot(hooks), {})
    hooks.retained[output] = weakref.ref(tensor)
    return 0


cdef NodeHooks retained_at(Tensor tensor):
    """The hooks of the tensor's node if it retains the tensor's gradient, for `drop_retained`; else None."""
    cdef NodeHooks hooks = existing_hooks(tensor.grad_fn)
    retained = None if hooks is None else held_at(retained_slot(hooks))
    reference = None if retained is None else retained.get(tensor.output_number)
    return hooks if reference is not None and reference() is tensor else None


cdef void drop_retained(NodeHooks hooks, object output) noexcept:
    """Stop retaining one of a node's gradients; allocates nothing."""
    if PyDict_DelItem(<PyObject *> hooks.retained, <PyObject *> output) < 0:
        PyErr_Clear()


def legacy_type_name(Tensor tensor):
    """PyTorch's name of the tensor's type: 'torch.FloatTensor'."""
    return type_name(tensor)


cdef list functions_in(object hooks):
    """The current functions of an OrderedDict of hooks. Without a GIL dict's own `values` is copied atomically."""
    return list(dict.values(hooks)) if FREE_THREADED else list(hooks.values())


cdef object run_tensor_hooks(NodeHooks hooks, int output, Tensor g):
    """Call the hooks of one output with its gradient (None if there is none); each may replace the gradient."""
    functions = held_at(tensor_hooks_slot(hooks))
    if functions is not None:
        functions = functions.get(output)
    cdef Tensor value = g
    if not functions:
        return g
    for hook in functions_in(functions):
        result = hook_as_event(hook, (value,)) if recorders_on() else hook(value)
        if result is not None:
            value = checked(hook, value, result)
    return value


cdef int keep_retained(NodeHooks hooks, int output, Tensor g, bint recorded) except -1:
    """Add the gradient to the `.grad` of the tensor that retains it, if it is alive."""
    cdef Tensor tensor
    cdef Hold section
    retained = held_at(retained_slot(hooks))
    reference = None if retained is None else retained.get(output)
    tensor = None if reference is None else reference()
    if tensor is None:
        return 0
    hold(&section, <PyObject *> tensor)
    try:
        if tensor.gradient is not None:
            tensor.gradient = tensor.gradient + g
        elif is_sparse(g):
            tensor.gradient = (<object> g).clone()
        elif not recorded:
            tensor.gradient = new_tensor(dense_copy(g.array))
        else:
            tensor.gradient = g.clone() if cnp.PyArray_IS_C_CONTIGUOUS(g.array) else (<object> g).contiguous()
    finally:
        let_go(&section)
    return 0


cdef Tensor checked(object hook, Tensor before, object result):
    """A hook's result if it can replace the value, else an error that names the hook."""
    cdef Tensor after
    if before is None:
        raise RuntimeError(f"can't replace a None gradient with a non-None value (hook {hook_name(hook)})")
    if not isinstance(result, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}' (hook {hook_name(hook)})")
    after = <Tensor> result
    if code_of(after.array) != code_of(before.array):
        raise RuntimeError(f"hook '{hook_name(hook)}' has changed the type of value (was {type_name(before)} got "
                           f"{type_name(after)})")
    if not cnp.PyArray_SAMESHAPE(after.array, before.array):
        raise RuntimeError(f"hook '{hook_name(hook)}' has changed the size of value (was {list(before.shape)} got "
                           f"{list(after.shape)})")
    return after


cdef object hook_as_event(object hook, tuple arguments):
    cdef object name = name_in_events(hook)
    cdef Span span = begin(HOOK, <PyObject *> name)
    try:
        return hook(*arguments)
    finally:
        end(span)


cdef object name_in_events(object hook):
    """The hook's name; for a partial, its function's; else its type's. It must neither fail nor print a tensor."""
    while type(hook) is partial:
        hook = hook.func
    try:
        name = hook.__name__
    except Exception:
        name = None
    return name if isinstance(name, str) else type(hook).__name__


cdef str hook_name(object hook):
    return getattr(hook, "__name__", None) or repr(hook)


cdef tuple replaced(object hook, tuple values, object results):
    """The values, replaced by a node hook's results where these are not None."""
    cdef int i
    if not isinstance(results, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(results).__name__}' (hook {hook_name(hook)})")
    if len(results) != len(values):
        raise RuntimeError(f"hook '{hook_name(hook)}' has returned an incorrect number of values (got {len(results)}, but "
                           f"expected {len(values)})")
    return tuple([None if results[i] is None else checked(hook, <Tensor> values[i], results[i])
                  for i in range(len(values))])


cdef tuple run_pre_hooks(NodeHooks hooks, tuple gradients):
    """Call a node's pre-hooks with its output gradients; each may replace them."""
    for hook in functions_in(held_at(pre_hooks_slot(hooks))):
        results = hook_as_event(hook, (gradients,)) if recorders_on() else hook(gradients)
        if results is not None:
            gradients = replaced(hook, gradients, results)
    return gradients


cdef tuple run_post_hooks(NodeHooks hooks, tuple results, tuple gradients):
    """Call a node's hooks with its input gradients and output gradients; each may replace the former."""
    for hook in functions_in(held_at(post_hooks_slot(hooks))):
        changed = hook_as_event(hook, (results, gradients)) if recorders_on() else hook(results, gradients)
        if changed is not None:
            results = replaced(hook, results, changed)
    return results


cdef int run_post_accumulate_hooks(NodeHooks hooks, Tensor leaf) except -1:
    """Call a leaf's hooks after its `.grad` was added to."""
    for hook in functions_in(held_at(post_accumulate_slot(hooks))):
        if (hook_as_event(hook, (leaf,)) if recorders_on() else hook(leaf)) is not None:
            raise RuntimeError(f"Tensor post accumulate grad hooks should return None. (hook {hook_name(hook)})")
    return 0


def hooks_in_order(Node node, bint runs):
    """A node's hooks in firing order: (kind, output, tensor or None, hook or None); `runs`: not only tensor hooks."""
    cdef NodeHooks hooks = existing_hooks(node)
    cdef list found = []
    cdef int i
    if hooks is None:
        return found
    for i in range(node.n_outputs):
        found += [("tensor", i, None, hook) for hook in (held_at(tensor_hooks_slot(hooks)) or {}).get(i, {}).values()]
        reference = (held_at(retained_slot(hooks)) or {}).get(i)
        if reference is not None and reference() is not None:
            found.append(("retain_grad", i, reference(), None))
    if runs:
        found += [("node pre", None, None, hook) for hook in (held_at(pre_hooks_slot(hooks)) or {}).values()]
        found += [("post accumulate", None, None, hook) for hook in (held_at(post_accumulate_slot(hooks)) or {}).values()]
        found += [("node post", None, None, hook) for hook in (held_at(post_hooks_slot(hooks)) or {}).values()]
    return found
