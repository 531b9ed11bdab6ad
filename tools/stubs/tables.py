"""The types that compiled functions do not tell: by the name of a parameter, and by what a docstring calls the result.

A name means the same thing everywhere; where it doesn't, the entry "function.parameter" or "Class.method.parameter" is
the one that counts. A default of None adds `| None`. Names with an underscore are the ALIASES.
"""

# Type aliases, at the top of _core/tensor.pyi.
ALIASES = """\
_Number: TypeAlias = int | float | complex
_Array: TypeAlias = np.ndarray[Any, Any]
_Operand: TypeAlias = Tensor | _Number | _Array | np.generic
_DType: TypeAlias = dtype | np.dtype[Any] | type[Any]
_Dims: TypeAlias = int | Sequence[int]
_Index: TypeAlias = SupportsIndex | slice | EllipsisType | Tensor | _Array | Sequence[Any] | None
"""

PARAMETERS = {
    "_stacklevel": "int",
    "pair": "HookPair",
    "message": "str | None",
    "checksum": "bool | None",
    "watcher": "Callable[[_Array], None]",
    "pack_hook": "Callable[[Tensor], Any]",
    "unpack_hook": "Callable[[Any], Tensor]",
    "a": "dtype",
    "share_memory.a": "_Array",
    "share_memory.b": "_Array",
    "accumulate_grad": "bool",
    "allow_unreachable": "bool",
    "alpha": "_Number",
    "approximate": "str",
    "args": "Any",
    "array": "_Array",
    "b": "dtype",
    "beta": "_Number",
    "bias": "Tensor",
    "cls": "type[Any]",
    "condition": "Tensor",
    "copy": "bool",
    "correction": "float",
    "create_graph": "bool",
    "data": "Any",
    "device": "device | str",
    "dim": "int",
    "dim0": "int",
    "dim1": "int",
    "dim2": "int",
    "dims": "int",
    "dtype": "_DType",
    "enabled": "bool",
    "end_dim": "int",
    "equation": "str",
    "exponent": "_Operand",
    "fill_value": "_Number",
    "force": "bool",
    "grad_tensors": "tuple[Tensor | None, ...]",
    "gradient": "Tensor",
    "hook": "Callable[[Tensor], Tensor | None]",
    "ignore_index": "int",
    "index": "Tensor",
    "input": "Tensor",
    "inputs": "Tensor | Sequence[Tensor]",
    "keep_graph": "bool",
    "keepdim": "bool",
    "kwargs": "Any",
    "label_smoothing": "float",
    "mat1": "Tensor",
    "mat2": "Tensor",
    "max": "_Operand",
    "memory_format": "Any",
    "min": "_Operand",
    "n": "int",
    "nbytes": "int",
    "name": "str",
    "node_class": "type[Node]",
    "non_blocking": "bool",
    "number": "int",
    "offset": "int",
    "operands": "Any",
    "other": "_Operand",
    "out": "None",
    "p": "float | str",
    "pairs": "Any",
    "reduce": "bool",
    "reduction": "str",
    "requires_grad": "bool",
    "retain_graph": "bool",
    "rounding_mode": "str",
    "self": "Tensor",
    "separate_context": "bool",
    "shape": "int",
    "size": "int",
    "size_average": "bool",
    "sizes": "int",
    "sparse_grad": "bool",
    "split_size_or_sections": "int | Sequence[int]",
    "src": "Tensor",
    "start_dim": "int",
    "t": "Tensor",
    "target": "Tensor",
    "tensor": "Tensor",
    "tensors": "Sequence[Tensor]",
    "unbiased": "bool",
    "value": "_Number | Tensor",
    "vec": "Tensor",
    "wanted": "dtype",
    "weight": "Tensor",
    "x": "Tensor",
    # where a name means something else
    "Node.register_hook.hook": "Callable[..., Any]",
    "Node.register_prehook.hook": "Callable[..., Any]",
    "all.dim": "_Dims",
    "amax.dim": "_Dims",
    "amin.dim": "_Dims",
    "any.dim": "_Dims",
    "apply_function.args": "tuple[Any, ...]",
    "convert.value": "Any",
    "extend.value": "Any",
    "expand_as.other": "Tensor",
    "getitem.index": "_Index",
    "logsumexp.dim": "_Dims",
    "matmul.other": "Tensor",
    "mean.dim": "_Dims",
    "new_full.size": "Sequence[int]",
    "norm.dim": "_Dims",
    "pow.input": "_Operand",
    "reshape_as.other": "Tensor",
    "run_task.tensors": "tuple[Tensor, ...]",
    "save_for_backward.tensors": "Tensor | None",
    "save_for_forward.tensors": "Tensor | None",
    "mark_dirty.tensors": "Tensor",
    "mark_non_differentiable.tensors": "Tensor",
    "set_default.value": "Any",
    "set_materialize_grads.value": "bool",
    "squeeze.dim": "_Dims",
    "std.dim": "_Dims",
    "sum.dim": "_Dims",
    "to.args": "Tensor | _DType | device | str | bool | None",
    "type_as.other": "Tensor",
    "var.dim": "_Dims",
    "view_as.other": "Tensor",
}

# What docstrings say after the arrow.
RESULTS = {
    None: "None",
    "Tensor": "Tensor",
    "RemovableHandle": "RemovableHandle",
    "bool": "bool",
    "int": "int",
    "ndarray": "_Array",
    "number": "bool | int | float | complex",
    "list or number": "Any",
    "tuple of Tensors": "tuple[Tensor, ...]",
}

# Results of methods whose docstring has no arrow.
METHOD_RESULTS = {
    "FunctionNode.name": "str",
    "SavedTensor.register_hooks": "None",
    "SavedTensor.unpack": "Tensor",
    "Node._sequence_nr": "int",
    "Node._set_sequence_nr": "None",
    "Node.name": "str",
    "FunctionNode.mark_dirty": "None",
    "FunctionNode.mark_shared_storage": "None",
    "dtype.to_complex": "dtype",
    "dtype.to_real": "dtype",
}

# Functions whose result depends on the arguments: all parameters but the first.
OVERLOADS = {
    "max": ["() -> Tensor", "(dim: int, keepdim: bool = False) -> return_types.max", "(other: Tensor) -> Tensor"],
    "min": ["() -> Tensor", "(dim: int, keepdim: bool = False) -> return_types.min", "(other: Tensor) -> Tensor"],
    "size": ["(dim: None = None) -> Size", "(dim: int) -> int"],
    "stride": ["(dim: None = None) -> tuple[int, ...]", "(dim: int) -> int"],
    "Tensor.where": ["(condition: Tensor, other: _Operand) -> Tensor"],
    "type": ["(dtype: None = None) -> str", "(dtype: _DType) -> Tensor"],
    "where": ["(input: _Operand, other: _Operand) -> Tensor"],
}

# What the fields of named tuples hold.
FIELDS = {"indices": "Tensor", "values": "Tensor"}

# Attributes by class; those in WRITABLE may be assigned.
ATTRIBUTES = {
    "dtype": {
        "name": "str",
        "numpy_dtype": "np.dtype[Any]",
        "itemsize": "int",
        "is_floating_point": "bool",
        "is_complex": "bool",
        "is_signed": "bool",
    },
    "Node": {
        "metadata": "dict[Any, Any]",
        "next_functions": "tuple[tuple[Node | None, int], ...]",
        "location": "str",
    },
    "AccumulateGrad": {"variable": "Tensor"},
    "FunctionNode": {
        "_raw_saved_tensors": "tuple[SavedTensor, ...]",
        "dirty_tensors": "tuple[Tensor, ...] | None",
        "needs_input_grad": "tuple[bool, ...]",
        "saved_tensors": "tuple[Tensor, ...]",
        "saved_variables": "tuple[Tensor, ...]",
    },
    "HookPair": {"pack": "Callable[..., Any] | None", "unpack": "Callable[..., Any] | None"},
    "SavedTensor": {"data": "Any", "unpack_hook": "Callable[..., Any] | None"},
    "Tensor": {
        "T": "Tensor",
        "_version": "int",
        "data": "Tensor",
        "device": "device",
        "dtype": "dtype",
        "grad": "Tensor | None",
        "grad_fn": "Node | None",
        "imag": "Tensor",
        "is_leaf": "bool",
        "itemsize": "int",
        "mT": "Tensor",
        "nbytes": "int",
        "ndim": "int",
        "output_nr": "int",
        "real": "Tensor",
        "requires_grad": "bool",
        "retains_grad": "bool",
        "shape": "Size",
        "volatile": "bool",
    },
}
WRITABLE = {"data", "grad", "requires_grad"}

_OPERATORS = {
    "(self, other: _Operand, /) -> Tensor": (
        "add radd sub rsub mul rmul truediv rtruediv iadd isub imul itruediv lt le gt ge"
    ),
    "(self, other: object, /) -> Tensor  # type: ignore[override]": "eq ne",
    "(self, other: Tensor | int | _Array, /) -> Tensor": "and rand or ror xor rxor",
    "(self, other: Tensor | _Array, /) -> Tensor": "matmul rmatmul",
    "(self, exponent: _Operand, modulo: None = None, /) -> Tensor": "pow",
    "(self, base: _Operand, modulo: None = None, /) -> Tensor": "rpow",
    "(self) -> Tensor": "neg pos abs invert",
    "(self) -> int": "int index len hash",
    "(self) -> bool": "bool",
    "(self) -> float": "float",
    "(self) -> complex": "complex",
    "(self) -> Iterator[Tensor]": "iter",
    "(self, element: _Number | Tensor, /) -> bool": "contains",
    "(self, index: _Index, /) -> Tensor": "getitem",
    "(self, index: _Index, value: _Operand, /) -> None": "setitem",
    "(self, data: Any = None) -> None": "init",
    "(self, dtype: Any = None, copy: bool | None = None) -> _Array": "array",
    "(self, memo: dict[int, Any]) -> Tensor": "deepcopy",
}

# Special methods by class. What every object has (and pickle calls) needs none.
SPECIAL = {
    "Tensor": {f"__{name}__": text for text, names in _OPERATORS.items() for name in names.split()},
    "Node": {
        "__call__": "(self, *gradients: Tensor | None) -> Tensor | tuple[Tensor | None, ...] | None",
        "__getattr__": "(self, name: str) -> Any",
    },
    "HookPair": {
        "__init__": "(self, pack: Any, unpack: Any, with_node: bool = False, composes: bool = False) -> None",
    },
    "SavedTensor": {"__init__": "(self) -> None"},
    "dtype": {"__eq__": "(self, other: object, /) -> bool", "__hash__": "(self) -> int"},
}
UNTOLD = {
    "__array_ufunc__", "__delitem__", "__dict__", "__module__", "__pyx_vtable__", "__reduce_cython__", "__setstate__",
    "__setstate_cython__", "__test__",
}  # fmt: skip

# What the facade takes from the other modules of the core: {module: (classes, {function: result})}.
CORE = {
    "dtypes": (
        ["dtype"],
        {
            "all_dtypes": "list[dtype]",
            "convert": "dtype",
            "get_default": "dtype",
            "promote_types": "dtype",
            "set_default": "None",
        },
    ),
    "engine": ([], {"run_backward": "Any", "run_task": "Any"}),
    "hooks": (
        [],
        {
            "legacy_type_name": "str",
            "register_tensor_hook": "RemovableHandle",
            "retain_grad": "None",
        },
    ),
    "node": (["Node", "AccumulateGrad"], {"free_quickly": "None", "gradient_node": "Node"}),
    "pool": ([], {"empty_cache": "None", "memory_stats": "dict[str, int]", "set_cache_limit": "int"}),
    "py_function": (["FunctionNode"], {"apply_function": "Any"}),
    "record": (
        [],
        {
            "close_dual_level": "None",
            "get_tangent": "Tensor | None",
            "is_dual_level_open": "bool",
            "open_dual_level": "int",
            "set_tangent": "None",
            "without_tangent": "Tensor",
        },
    ),
    "guard": (
        [],
        {
            "add_watcher": "None",
            "memory_of": "int",
            "remove_watcher": "None",
            "share_memory": "bool",
            "swap_guard": "bool | None",
        },
    ),
    "packing": (["HookPair"], {"disable_hooks": "str | None", "pop_hooks": "None", "push_hooks": "None"}),
    "saved_tensor": (["SavedTensor"], {}),
    "shape": ([], {"convert": "Tensor", "detach": "Tensor", "replace_array": "None", "stack": "Tensor"}),
    "state": ([], {"is_debug_build": "bool", "is_grad_enabled": "bool", "swap_grad_enabled": "bool"}),
    "threads": ([], {"get_num_threads": "int", "has_openmp": "bool", "set_kernel_threads": "None"}),
    "tensor": (["Tensor"], {"array_of": "_Array", "extend": "None", "from_array": "Tensor"}),
}
