"""Where the two modules may differ: by rounding, on purpose, and where PyTorch promises nothing."""

# What says that a tensor must not be written, or not be used after it was.
FORBIDDEN = (
    "Inplace update to inference tensor|leaf Variable that requires grad|A view was created in|modified inplace|"
    "modified by an inplace operation|Such functions do not allow the output views|a view has other memory than its base|"
    "some elements of the input tensor and the written-to tensor|more than one element of the written-to tensor|"
    "detached in-place|was detached in place"
)

# What this package says, and what PyTorch does, where they differ on purpose: a script ends there.
ON_PURPOSE = [
    # what is refused here alone
    ("Can't detach views in-place", None),  # in inference mode
    ("detached in-place", None),  # what PyTorch has packed it doesn't check
    ("the base of this view was detached in place", None),
    ("you can only change requires_grad flags", None),  # of what came into the graph by a write to its base
    ("Boolean alpha only supported", None),  # of zeros that PyTorch doesn't keep
    ("more than one element of the written-to tensor", None),
    ("created in (no_grad|inference) mode", None),  # its flags, or its tangent, when it is cut off
    ("cannot resize variables", None),
    (None, "cannot resize variables"),
    ("a view has other memory than its base", None),
    ("Such functions do not allow the output views", None),  # requires_grad_() of one that is cut off
    ("You must implement the jvp function", None),  # a checkpoint in forward mode
    ("modified by an inplace operation", None),  # what PyTorch has packed it doesn't check
    ("Inplace update to inference tensor", None),  # what is detached from one, here is one
    ("more than one element of the written-to tensor", ""),
    ("is not implemented for tensors of type", ""),
    ("is not implemented for tensors of type", None),
    # what is refused there alone: more than has to be, or by mistake
    (None, "Index put requires the source and destination dtypes match"),  # converted here
    (None, "modified by an inplace operation"),
    (None, "its base or another view of its base has been modified inplace"),
    (None, "backward through the graph a second time"),
    (None, "some elements of the input tensor and the written-to tensor"),
    (None, "A leaf node was passed to _will_engine_execute_node"),
    (None, "ZeroTensors are immutable|unallocated storage"),
    (None, "a leaf Variable that requires grad is being used in an in-place operation"),  # what of a view that isn't fresh
    (None, "data set to a tensor that requires gradients must be floating point"),  # integers that do
    (None, "ComplexHalf"),
    (None, "Inference tensors cannot be saved"),  # what is saved is a copy in another type
    (None, "doesn't match the broadcast shape"),  # of an out= that is an operand, too
    (None, "INTERNAL ASSERT FAILED|Could this error message be improved"),
    (None, "'NoneType' object has no attribute 'next_functions'"),
    (None, "Trying to use forward AD with aten::.*_backward|because it is an out= function"),
    (r"^h\d+$", "Trying to use forward AD with aten::.*_backward"),  # and a hook fails afterwards
    (None, "must have a (storage_offset|stride) divisible by|must have a last dimension with stride 1"),
    (None, "Expected gradient function to be set"),
    (None, "more than one element of the written-to tensor"),  # the primal of a dual
    (None, "A view was created in (no_grad|inference) mode and is being modified"),  # of integers
    (None, "Trying to resize storage that is not resizable"),
    (None, "Autograd not support dtype"),
    (None, "^no hooks$"),  # of a checkpoint that need not be computed again
    (None, "detached in-place"),  # what was saved of it is as good as before
    (None, "moved into the graph interior"),
    ("", "moved into the graph interior"),
    (None, "Setting a forward grad that itself has a forward gradient"),  # a tangent that was written with a dual
    (None, "Nested forward mode AD is not supported at the moment"),
    ("", "Nested forward mode AD is not supported at the moment"),
    (None, r"torch.func.*don't yet support saved tensor hooks"),
    ("", r"torch.func.*don't yet support saved tensor hooks"),
    ("do not support batching operators that can support dynamic shape", "data-dependent control flow"),
    (None, r"vmap: aten::_index_put_impl_\(self, \*extra_args\) is not possible"),  # backward of x[x > 0], within vmap
    (None, "does not support vmap over dims of size 0|stack expects a non-empty TensorList|float division by zero"),
    (None, r"index 0 is out of bounds for dimension 0 with size 0|select\(\): index 0 out of range for tensor of size \[0"),
    (None, r"functions with out=... arguments don't support automatic differentiation"),  # CrossMapLRN2d, twice
    ("", "not implemented for '"),
    (None, "not implemented for '|does not support automatic differentiation for outputs with complex dtype"),
    ("because it is an out= function", "functions with out=... arguments don't support automatic differentiation"),
    (None, "Inference tensors do not track version counter"),  # whose `.data` was replaced
    ("Inference tensors cannot be saved", "Inference tensors do not track version counter"),
    (None, "Subtraction, the `-` operator"),  # of the bool to whose power something was raised, in backward
    # which of two mistakes is seen first: here, before anything else, whether the tensor may be written
    (FORBIDDEN, ""),
    ("", FORBIDDEN),
    ("", "INTERNAL ASSERT FAILED|Expected gradient function to be set|Inference tensors cannot be saved|ComplexHalf"),
    ("", "has no attribute 'next_functions'|Could this error message be improved|must have a stride divisible by"),
    ("", "must have a last dimension with stride 1"),
    ("", "unallocated storage|ZeroTensors are immutable"),
    ("can't be cast", ""),
    ("", "can't be cast"),
    ("Subtraction, the `-` operator", ""),
    ("", "A leaf node was passed to _will_engine_execute_node"),
    ("mat1 and mat2 shapes cannot be multiplied|size mismatch", ""),
    ("", "mat1 and mat2 shapes cannot be multiplied"),
    ("a second time", ""),
    ("You must implement the jvp function", ""),
    ("Boolean alpha only supported", ""),
    # the same mistake, told of another operation on the way
    ("expected scalar type", "have the same dtype|not implemented for 'Bool'"),
    ("have the same dtype", "expected scalar type"),
    # what out= made another shape
    ("AccumulateGrad got a gradient of shape|must match the size|could not broadcast", "invalid gradient at index"),
    # a text of NumPy's
    ("broadcast|must match the size", "^expand\\(|^The expanded size of the tensor"),
]

# Lines after which a script goes on otherwise there.
OTHERWISE = [
    r"inference_mode\(\): .*detach_\(",  # does nothing
    r"save_on_cpu\(\): .*checkpoint\(",  # gives wrong gradients, of views from no_grad mode at least
    r"inference_mode\(\): .*(autograd\.functional|torch\.func\.)",  # gives zeros
    r"(jvp|jacfwd|hessian).*layer_norm",  # PyTorch's derivatives of that jvp are wrong
]

# Errors after which PyTorch has done a part of what it refuses, another one than is done here.
IN_PART = (
    "Subtraction, the `-` operator|Inplace update to inference tensor|modified by an inplace operation|"
    "backward through the graph a second time|because it is an out= function"
)

# What is not compared any more after a line with a word: how a gradient came about, and what PyTorch does twice.
UNSEEN = {
    r"\.grad\b": {"_version"},
    r"tensor\(\[\]": {"_version"},
    r"InPlace": {"_version"},
    r"\[\.\.\.\] = ": {"node"},  # of one number it is a FillBackward
    r"fw\.": {"base"},
    r"unpack_dual": {"node", "is_leaf"},  # what it gives has a node of its own in PyTorch
    r"clamp_?\(min=": {"tangent"},  # of equal ones: in PyTorch not what backward makes of them
    r"inference_mode\(\)": {"_version"},
    r"= -?[\w.]+ \*\* ": {"stride"},  # a number to the power of a tensor is contiguous in PyTorch
    r"detach_": {"retains_grad", "requires_grad", "is_leaf", "node"},  # of views of it
    r" @ |mm\(": {"_version"},
    r"\.data = ": {"is_inference"},
    r"multi_grad_hook.*\"\)\)": {"log"},  # PyTorch doesn't count roots
}

# The relative error that passes from the first tensor of a type on, or a line with a word; before it is that of float64.
PRECISION = {
    "Parts": 2e-4,  # whose third result is float32
    "float16": 2e-2, "half": 2e-2, "float32": 2e-4, "complex64": 2e-4, "float()": 2e-4, "int": 2e-4, "bool": 2e-4, " > ": 2e-4,
}  # fmt: skip
