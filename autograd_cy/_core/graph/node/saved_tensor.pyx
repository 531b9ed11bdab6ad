"""SavedTensor: one saved tensor with its extra state: hooks, a guard, or a user's handle."""

import weakref

import numpy as np

cimport cython
from cpython.object cimport PyObject

from autograd_cy._core.arrays.dtypes cimport COMPLEX64, code_of, dtype_of, is_differentiable
from autograd_cy._core.graph.context cimport HookPair, active_pairs, packed_by, unpacked_by
from autograd_cy._core.graph.memory cimport guarded, is_sparse, was_touched
from autograd_cy._core.graph.tensor cimport (
    Tensor, TensorExtras, extras_of_tensor, has_extras, new_tensor, share_version, version_of, wants_grad)
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport (
    FORWARD_AD, GUARDED, NO_GRAD, OP_HOOKS, SAVED_HOOKS, Extent, current_mode, enter_modes, leave_modes, save_error, take_turn,
    thread_state)

from autograd_cy._core.runtime.argument_errors import wrong_self


cdef cnp.ndarray NO_DATA = np.empty(0)


@cython.final
cdef class Packed:
    pass


@cython.final
cdef class SavedTensor:
    """One tensor that a node saved, as `node._raw_saved_self` returns it; hooks may be registered on it.

    >>> import autograd_cy as ag
    >>> x = ag.tensor(3.0, requires_grad=True)
    >>> y = x * x
    >>> y.grad_fn._raw_saved_self.unpack() is x
    True
    """

    def __init__(self):
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    def register_hooks(self, *hooks):
        """register_hooks(pack_hook, unpack_hook): keep pack_hook(tensor), and restore the tensor by unpack_hook.

        RuntimeError if it has hooks already, or was released.
        """
        if not isinstance(self, SavedTensor):
            raise wrong_self(self, SavedTensor)
        cdef Tensor tensor, given
        if len(hooks) != 2:
            raise TypeError("register_hooks(): incompatible function arguments: expected a pack_hook and an unpack_hook, got "
                            f"{len(hooks)} arguments")
        pack_hook, unpack_hook = hooks
        if type(self.value) is Packed:
            raise RuntimeError("Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one "
                               "pair of hooks is allowed at a time.")
        if self.released:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are "
                "freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
                "through the graph a second time or if you need to access saved variables after calling backward.")
        if self.value is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise TypeError(f"register_hooks(): incompatible function arguments: {name} must be callable, not "
                                f"{type(hook).__name__}")
        tensor = <Tensor> self.restored(self.owner())
        given = new_tensor(tensor.array)
        share_version(tensor, given)
        self.pack((HookPair(pack_hook, unpack_hook),), self.owner(), "", tensor, given)

    def unpack(self):
        """unpack() -> Tensor: the tensor, as the node gets it."""
        if not isinstance(self, SavedTensor):
            raise wrong_self(self, SavedTensor)
        return self.restored(self.owner())

    @property
    def data(self):
        """The stored value: the result of the pack hook, or the tensor if there are no hooks."""
        if type(self.value) is Packed:
            return (<Packed> self.value).data
        return self.restored(self.owner())

    @property
    def unpack_hook(self):
        """The unpack hook, or None."""
        return (<HookPair> (<Packed> self.value).pairs[0]).unpack if type(self.value) is Packed else None

    cdef Node owner(self):
        return None if self.node is None else <Node> self.node()

    cdef Tensor tensor(self, Node node):
        """The tensor without checks; an output is rebuilt with its place in the graph."""
        cdef Tensor tensor
        if type(self.value) is not cnp.ndarray:
            return <Tensor> self.value
        tensor = new_tensor(<cnp.ndarray> self.value)
        tensor.counter = self.counter
        if node is not None and node.n_edges:
            give_place(node, tensor, self.output_number)
            give_tangent(node, tensor)
        return tensor

    cdef object restored(self, Node node):
        """The tensor after checks; None if None was saved."""
        cdef Tensor tensor
        if self.released:
            raise freed_error(node)
        if self.value is None:
            return None
        if self.guard is not None:
            self.guard.check()
        if type(self.value) is Packed:
            return unpacked(<Packed> self.value, self, node)
        tensor = self.tensor(node)
        if version_of(tensor) != self.version and was_touched(tensor.counter, tensor.array, self.version):
            raise stale_error(node, tensor, self.version)
        return tensor

    cdef int pack(self, tuple pairs, Node node, str slot, Tensor tensor, Tensor given) except -1:
        """Keep the result of the pairs on `given`, an alias of the saved tensor."""
        cdef int n = 0
        cdef long version = version_of(given)
        if is_sparse(tensor):
            raise NotImplementedError("hooks on saved tensors are not there for sparse ones: "
                                      f"{'a node' if node is None else node.name()} saves one")
        cdef Packed packed = Packed.__new__(Packed)
        data = given
        cdef Extent extent = enter_modes(NO_GRAD, SAVED_HOOKS | GUARDED)
        thread_state().mode &= ~FORWARD_AD
        try:
            while n < len(pairs) and isinstance(data, Tensor):
                data = packed_by(<HookPair> pairs[n], data, node, slot)
                n += 1
        finally:
            leave_modes(extent)
        if version_of(given) != version:
            raise RuntimeError("A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack "
                               "hook can not be modified by in-place operations as this can lead to unexpected side-effects. "
                               "Let it write to a clone().")
        packed.pairs, packed.data, packed.slot = pairs[:n], data, slot
        packed.shape, packed.dtype_code = np.shape(tensor.array), code_of(tensor.array)
        packed.dense = cnp.PyArray_IS_C_CONTIGUOUS(tensor.array)
        if type(self.value) is not cnp.ndarray:
            packed.history = history_of(tensor)
        self.value = packed
        return 0

    cdef int release(self) except -1:
        self.guard = None
        if self.value is not None:
            self.released = True
            self.value = None
        self.counter = None
        return 0


cdef Tensor history_of(Tensor tensor):
    """A Tensor without data at the place in the graph of a packed tensor; None if that has none."""
    cdef Tensor history
    cdef TensorExtras own
    cdef bint has_tangent = has_extras(tensor) and tensor.extras.tangents is not None
    if not wants_grad(tensor) and not has_tangent:
        return None
    history = new_tensor(NO_DATA)
    take_history(history, tensor)
    if has_tangent:
        own = extras_of_tensor(history)
        own.tangents = tensor.extras.tangents
    return history


cdef int take_history(Tensor alias, Tensor tensor) except -1:
    """Give an alias the tensor's place in the graph: its gradient goes where the tensor's goes."""
    cdef TensorExtras own
    if not tensor.needs_grad:
        if wants_grad(tensor):      # a view from no_grad mode: only its base has a place
            own = extras_of_tensor(alias)
            own.base, own.creation, own.current = tensor.extras.base, tensor.extras.creation, version_of(alias)
        return 0
    alias.needs_grad = True
    if tensor.grad_fn is not None:
        alias.grad_fn, alias.output_number = tensor.grad_fn, tensor.output_number
    else:                           # a leaf: borrow its AccumulateGrad, and keep it alive
        node = accumulator_of(tensor)
        extras_of_tensor(alias).leaf_node = node
        alias.accumulator = <PyObject *> node
    return 0


cdef Tensor unpacked(Packed packed, SavedTensor saved, Node node):
    """The result of the unpack hooks, at the place in the graph of the saved tensor."""
    cdef bint output = packed.history is None and saved.counter is not None and node is not None and node.n_edges
    cdef Tensor tensor, alias
    data = packed.data
    take_turn()                         # hooks may recompute, draw random numbers, or release earlier results
    for pair in reversed(packed.pairs):
        data = unpacked_by(<HookPair> pair, data, node, packed.slot)
        if not isinstance(data, Tensor):
            raise TypeError("Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                            f"{type(data).__name__}")
    tensor = fitting(packed, <Tensor> data, node)
    if not output and packed.history is None and not tensor.needs_grad:
        return tensor
    alias = new_tensor(tensor.array)
    share_version(tensor, alias)
    if output:
        give_place(node, alias, saved.output_number)
        give_tangent(node, alias)
    elif packed.history is not None:
        take_history(alias, packed.history)
        if has_extras(packed.history) and packed.history.extras.tangents is not None:
            extras_of_tensor(alias).tangents = packed.history.extras.tangents
    return alias


cdef Tensor fitting(Packed packed, Tensor data, Node node):
    """A tensor from an unpack hook, converted to the shape, dtype and order that the operation expects."""
    cdef tuple shape = np.shape(data.array)
    cdef int dtype_code = code_of(data.array)
    if shape != packed.shape or (
            dtype_code != packed.dtype_code and not (is_differentiable(dtype_code) and is_differentiable(packed.dtype_code))):
        raise RuntimeError(
            f"Output of saved tensor unpack_hook expected to be a Tensor of shape {list(packed.shape)} and type "
            f"{dtype_of(packed.dtype_code)}, as {'the node' if node is None else node.name()} saved it, but got shape "
            f"{list(shape)} and type {dtype_of(dtype_code)}")
    if dtype_code == packed.dtype_code and (not packed.dense or cnp.PyArray_IS_C_CONTIGUOUS(data.array)):
        return data
    array = data.array.real if dtype_code >= COMPLEX64 and packed.dtype_code < COMPLEX64 else data.array
    return new_tensor(np.asarray(array, dtype_of(packed.dtype_code).numpy_dtype, "C" if packed.dense else "K"))


cdef SavedTensor save(object value, Node node):
    """Save a Tensor (or None) for a node; of the node's own output only the array is kept."""
    cdef SavedTensor saved = SavedTensor.__new__(SavedTensor)
    cdef Tensor tensor
    if value is None:
        return saved
    tensor = <Tensor> value
    if tensor.inference and not current_mode() & (NO_GRAD | OP_HOOKS):
        raise save_error(node)
    saved.version = version_of(tensor)
    if tensor.grad_fn is node and not is_sparse(tensor):
        saved.value = tensor.array
        saved.counter = tensor.version_counter()
        saved.output_number = tensor.output_number
    else:
        saved.value = tensor
    return saved


cdef int refuse_inference(Node node) except -1:
    """Refuse to record a node that saved an inference tensor: with operation hooks all operations make nodes."""
    cdef int slot
    for slot in range(3):
        if node.kinds[slot] == INPUT and (<Tensor> slot_value(node, slot)).inference:
            raise save_error(node)
        for saved in handles_in(node, slot):
            value = (<SavedTensor> saved).value
            if isinstance(value, Tensor) and (<Tensor> value).inference:
                raise save_error(node)
    return 0


cdef tuple handles_in(Node node, int slot):
    """The SavedTensors of a slot."""
    if node.kinds[slot] == HANDLES:
        return <tuple> slot_value(node, slot)
    return (slot_value(node, slot),) if node.kinds[slot] == HANDLE else ()


cdef int save_several(Node node, int slot, tuple tensors) except -1:
    """Save several tensors (or Nones) in one slot."""
    node.saves = True
    return fill_slot(node, slot, HANDLES, tuple([save(tensor, node) for tensor in tensors]))


cdef SavedTensor handle_of(Node node, int slot):
    """The SavedTensor of a slot, which replaces the slot's content; an empty slot stays empty."""
    cdef SavedTensor saved
    cdef int kind = node.kinds[slot]
    value = slot_value(node, slot)
    if kind == HANDLE:
        return <SavedTensor> value
    saved = SavedTensor.__new__(SavedTensor)
    saved.node = weakref.ref(node)
    if kind == NOTHING:
        saved.released = node.released
        return saved
    saved.value, saved.version = value, node.versions[slot]
    if kind == OUTPUT:
        saved.counter = node.counter
    fill_slot(node, slot, HANDLE, saved)
    return saved


cdef tuple handles(Node node, tuple saved):
    """Prepare SavedTensors of a node for use by a user."""
    cdef SavedTensor item
    for item in saved:
        item.node = weakref.ref(node)
    return saved


cdef bint unpacks(Node node) except -1:
    """Whether a tensor in the node's slots was packed by hooks."""
    cdef int slot
    for slot in range(3):
        for saved in handles_in(node, slot):
            if type((<SavedTensor> saved).value) is Packed:
                return True
    return False


cdef int release_handles(Node node) except -1:
    """Release the SavedTensors of a node."""
    cdef int slot
    for slot in range(3):
        for saved in handles_in(node, slot):
            (<SavedTensor> saved).release()
    return 0


cdef int seal_slots(Node node) except -1:
    """Case 4 of NOTE [Saved tensors]: pack and guard a node's saved tensors while hooks or guard_buffers() are on."""
    cdef int slot, i
    cdef tuple names
    if not node.saves:
        return 0
    names = node.saved_names()
    for slot in range(3):
        for i, saved in enumerate(handles_in(node, slot)):
            seal(<SavedTensor> saved, node, f"{names[slot] or 'outputs'}[{i}]")
        if node.kinds[slot] == OUTPUT or (node.kinds[slot] == INPUT and not (<Tensor> slot_value(node, slot)).is_number):
            seal(handle_of(node, slot), node, names[slot])
    return 0


cdef int seal(SavedTensor saved, Node node, str slot) except -1:
    """Pack or guard a new saved tensor, as the thread's mode demands."""
    cdef int mode = current_mode()
    cdef Tensor tensor
    if saved.value is None:
        return 0
    pairs = active_pairs() if mode & SAVED_HOOKS else ()
    if pairs:
        tensor = saved.tensor(node)
        try:
            saved.pack(pairs, node, slot, tensor, tensor)
        finally:
            if saved.counter is not None:           # an output
                tensor.grad_fn, tensor.needs_grad = None, False         # a hook that keeps it must not keep the node
    if mode & GUARDED:
        value = (<Packed> saved.value).data if type(saved.value) is Packed else saved.value
        array = (<Tensor> value).array if isinstance(value, Tensor) else value
        if isinstance(array, cnp.ndarray):
            saved.guard = guarded(array, f"{node.name()} saved it as '{slot}'")
    return 0
