"""What a node shows: its saved values, shapes and dtypes of its outputs, and itself as `Tensor.grad_fn`."""

import numpy as np

from autograd_cy._core.arrays.buffers cimport dense_copy, number_behind, sizes_of
from autograd_cy._core.arrays.dtypes cimport code_of, dtype_of
from autograd_cy._core.graph.tensor cimport Tensor, extend, make_current, new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport is_unset, set_once


cdef object saved_attribute(Node node, str name):
    """`_saved_*` or `_raw_saved_*`, with the node's lock held."""
    if name.startswith("_saved_"):
        name = name[7:]
        if name in node.saved_names():
            value = unpack(node, node.saved_names().index(name))
            if value is not None and (<Tensor> value).is_number:
                return saved_number((<Tensor> value).array, node.saved_names().index(name) < node.n_edges)
            return value
        if name in node.constant_names():
            if node.released:
                raise freed_error(node)
            return node.constants[node.constant_names().index(name)]
        saved, found, dim = name.partition("_sym_argsize_")
        if found and saved in node.saved_names() and dim.removeprefix("minus_").isdigit():
            sizes = unpack(node, node.saved_names().index(saved)).shape
            return sizes[-int(dim[6:]) if dim.startswith("minus_") else int(dim)]
        name = "_saved_" + name
    elif name.startswith("_raw_saved_") and name[11:] in node.saved_names():
        return handle_of(node, node.saved_names().index(name[11:]))
    raise no_attribute(node, name)


cdef object no_attribute(Node node, str name):
    return AttributeError(f"'{type(node).__name__}' object has no attribute '{name}'")


cdef object saved_number(cnp.ndarray array, bint as_tensor):
    """A number as users see it: itself, or a 0-d tensor of Python's precision if the operand may be a tensor."""
    cdef object number = number_behind(array), wide = np.asarray(number)
    if not as_tensor:
        return number
    return new_tensor(wide if wide.dtype.kind != "u" else dense_copy(array))


# what is known of the outputs

cdef dict known_outputs = {}            # class of nodes -> function of a node and the number of an output


def declare_outputs(node_class, function):
    """function(node, i) returns (sizes, dtype) of an output of such a node, or None if it does not know them."""
    known_outputs[node_class] = function


cdef int note_output(Node node, Tensor y) except -1:
    """Keep shape and dtype of an output for `_input_metadata`."""
    cdef NodeExtras extras = extras_of(node)
    if is_unset(outputs_slot(extras)):
        set_once(extras, outputs_slot(extras), {})
    extras.outputs[y.output_number] = (y.shape, y.dtype)
    return 0


cdef object make_metadata = None        # function of shape and dtype; the facade sets it


def set_metadata_function(function):
    global make_metadata
    make_metadata = function


cdef object metadata_like(object shape, object dtype):
    return make_metadata(shape, dtype)


cdef object metadata_of_output(Node node, int i):
    cdef object noted
    cdef object outputs = held_at(outputs_slot(<NodeExtras> node.extras)) if has_node_extras(node) else None
    if outputs is not None:
        noted = outputs.get(i)
        if noted is not None:
            return metadata_like(noted[0], noted[1])
    noted = like_output(node, i)
    if noted is not None:
        return metadata_like(noted[0], noted[1])
    raise NotImplementedError(f"_input_metadata of output {i} of {node.name()} is known only if the tensor that it computed "
                              "was asked for its grad_fn")


def like_output(Node node, int i):
    """(sizes, dtype) of an output, if the node's data determine them; else None."""
    if type(node) is AccumulateGrad:
        return leaf_of(node).shape, leaf_of(node).dtype
    for cls in type(node).__mro__:
        found = known_outputs[cls](node, i) if cls in known_outputs else None
        if found is not None:
            return found
    return like_array(<cnp.ndarray> node.saved2) if i == 0 and node.kinds[OUTPUT_SLOT] == OUTPUT else None


def like_array(cnp.ndarray array):
    """(sizes, dtype) of an array."""
    return sizes_of(array), dtype_of(code_of(array))


# Tensor.grad_fn

def place_of(Tensor self):
    """The node of the operation that computed the tensor, None for a leaf."""
    make_current(self)
    if self.grad_fn is not None:
        note_output(self.grad_fn, self)
    return self.grad_fn


def refuse_place(Tensor self, value=None):
    raise AttributeError("attribute 'grad_fn' of 'autograd_cy.Tensor' objects is not writable; detach() gives a tensor "
                         "without it")


def drop_place(Tensor self, value):
    """The setter of _grad_fn: None detaches the tensor in place."""
    if value is not None:
        raise RuntimeError("_grad_fn can be only set to None")
    (<object> self).detach_()


def keep_place(self):
    raise RuntimeError("Deletion of _grad_fn not allowed. Detach tensor instead!")


extend("grad_fn", property(place_of, refuse_place, refuse_place))
extend("_grad_fn", property(place_of, drop_place, keep_place))
