"""Types of attributes, special methods and fields of named tuples, by their class."""

# The types of fields of named tuples.
FIELDS = dict.fromkeys(
    ("L", "LD", "LU", "P", "Q", "R", "S", "U", "V", "Vh", "a", "bin_edges", "cloned_coefficient", "eigenvalues",
     "eigenvectors", "exponent", "hist", "indices", "info", "inverse", "logabsdet", "mantissa", "max", "min", "pivots", "rank",
     "residuals", "result", "sign", "singular_values", "solution", "tau", "values"), "Tensor")
FIELDS["histogramdd.bin_edges"] = "tuple[Tensor, ...]"

# Attributes by class; those in WRITABLE may be assigned.
ATTRIBUTES = {
    "Recorder": {
        "dropped": "int", "start_time": "int", "stop_time": "int", "threads": "list[tuple[int, str]]", "undescribed": "int",
    },
    "BatchLevel": {"is_open": "bool", "number": "int", "outer": "BatchLevel | None", "randomness": "str", "size": "int"},
    "dtype": {
        "name": "str",
        "numpy_dtype": "np.dtype[Any]", "dtype": "np.dtype[Any]", "__numpy_dtype__": "np.dtype[Any]",
        "itemsize": "int",
        "layout": "layout",
        "is_floating_point": "bool",
        "is_complex": "bool",
        "is_signed": "bool",
    },
    "Node": {
        "metadata": "dict[Any, Any]",
        "next_functions": "tuple[tuple[Node | None, int], ...]",
        "location": "str",
        "_input_metadata": "tuple[Any, ...]",
    },
    "AccumulateGrad": {"variable": "Tensor"},
    "FunctionNode": {
        "_input_metadata": "tuple[Any, ...]",
        "_materialize_non_diff_grads": "bool",
        "_raw_saved_tensors": "tuple[SavedTensor, ...]",
        "dirty_tensors": "tuple[Tensor, ...] | None",
        "needs_input_grad": "tuple[bool, ...]",
        "non_differentiable": "tuple[Tensor, ...] | None",
        "saved_for_forward": "tuple[Tensor | None, ...] | None",
        "saved_tensors": "tuple[Tensor, ...]",
        "to_save": "tuple[Tensor | None, ...] | None",
        "saved_variables": "tuple[Tensor, ...]",
    },
    "HookPair": {"pack": "Callable[..., Any] | None", "unpack": "Callable[..., Any] | None"},
    "SavedTensor": {"data": "Any", "unpack_hook": "Callable[..., Any] | None"},
    "Tensor": {
        "T": "Tensor",
        "_backward_hooks": "dict[int, Any] | None",
        "_post_accumulate_grad_hooks": "dict[int, Any] | None",
        "_base": "Tensor | None",
        "_grad": "Tensor | None",
        "_grad_fn": "Node | None",
        "_cdata": "int",
        "_version": "int",
        "data": "Tensor",
        "device": "device",
        "dtype": "dtype",
        "grad": "Tensor | None",
        "grad_dtype": "dtype | None",
        "grad_fn": "Node | None",
        "imag": "Tensor",
        "is_cuda": "bool",
        "is_leaf": "bool",
        "itemsize": "int",
        "layout": "layout",
        "is_cpu": "bool", "is_meta": "bool", "is_mkldnn": "bool", "is_mps": "bool", "is_nested": "bool",
        "is_quantized": "bool", "is_sparse": "bool", "is_sparse_csr": "bool", "is_xpu": "bool",
        "H": "Tensor", "mH": "Tensor", "mT": "Tensor",
        "nbytes": "int",
        "ndim": "int",
        "output_nr": "int",
        "real": "Tensor",
        "relevant_args": "Any",
    "requires_grad": "bool",
        "retains_grad": "bool",
        "shape": "Size",
        "volatile": "bool",
    },
}
WRITABLE = {
    "_backward_hooks", "_grad", "_materialize_non_diff_grads", "_grad_fn", "_post_accumulate_grad_hooks", "data", "grad",
    "grad_dtype", "requires_grad", "volatile",
}  # fmt: skip

_OPERATORS = {
    "(self, other: _Operand, /) -> Tensor": (
        "add radd sub rsub mul rmul truediv rtruediv rdiv iadd isub imul itruediv lt le gt ge"
        " mod rmod imod floordiv rfloordiv ifloordiv"
    ),
    "(self, other: object, /) -> Tensor  # type: ignore[override]": "eq ne",
    "(self, other: Tensor | int | _Array, /) -> Tensor": (
        "and rand or ror xor rxor iand ior ixor lshift rlshift ilshift rshift rrshift irshift"
    ),
    "(self, other: Tensor | _Array, /) -> Tensor": "matmul rmatmul",
    "(self, exponent: _Operand, modulo: None = None, /) -> Tensor": "pow ipow",
    "(self, base: _Operand, modulo: None = None, /) -> Tensor": "rpow",
    "(self) -> Tensor": "neg pos abs invert reversed",
    "(self) -> int": "int index len hash",
    "(self) -> bool": "bool",
    "(self) -> float": "float",
    "(self) -> complex": "complex",
    "(self) -> Iterator[Tensor]": "iter",
    "(self, element: _Number | Tensor, /) -> bool": "contains",
    "(self, index: _Index, /) -> Tensor": "getitem",
    "(self, index: _Index, value: _Operand, /) -> None": "setitem",
    "(cls, *args: Any, **kwargs: Any) -> Self": "new",
    "(self, dtype: Any = None, copy: bool | None = None) -> _Array": "array",
    "(self, memo: dict[int, Any]) -> Tensor": "deepcopy",
    "(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any": "array_ufunc",
    "(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any": "array_function",
    "(self, flags: int, /) -> memoryview": "buffer",
    "(self, /, *, api_version: str | None = None) -> Any": "array_namespace",
    "(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None) -> Any": "dlpack",
    "(self) -> tuple[int, int]": "dlpack_device",
}

# Special methods by class, without those of every object (and of pickle).
SPECIAL = {
    "Tensor": {
        **{f"__{name}__": text for text, names in _OPERATORS.items() for name in names.split()},
        "_make_subclass": "(cls: type[_S], data: Tensor, require_grad: bool = False) -> _S",
        "as_subclass": "(self, cls: type[_S]) -> _S",
    },
    "Node": {
        "__call__": "(self, *gradients: Tensor | None) -> Tensor | tuple[Tensor | None, ...] | None",
        "__getattr__": "(self, name: str) -> Any",
    },
    "FunctionNode": {
        "__getattr__": "(self, name: str) -> Any",
        "__setattr__": "(self, name: str, value: Any) -> None",
    },
    "Recorder": {
        "__init__": "(self, shapes: bool = False, stack: bool = False, memory: bool = False, capacity: int = 0) -> None",
        "events": "(self) -> list[RawEvent]",
        "memory": "(self) -> list[RawAllocation]",
        "start": "(self) -> None",
        "stop": "(self) -> None",
    },
    "HookPair": {
        "__init__": "(self, pack: Any, unpack: Any, with_node: bool = False, composes: bool = False) -> None",
    },
    "SavedTensor": {
        "__init__": "(self) -> None",
        "register_hooks": "(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor], /) -> None",
    },
    "DifferentiatedWithin": {
        "__init__": "(self, arguments: dict[BatchLevel, list[Tensor]]) -> None",
        "__enter__": "(self) -> None",
        "__exit__": "(self, error_type: Any, error: Any, traceback: Any) -> None",
    },
    "HiddenLevels": {
        "__init__": "(self, levels: list[BatchLevel]) -> None",
        "__enter__": "(self) -> None",
        "__exit__": "(self, error_type: Any, error: Any, traceback: Any) -> None",
    },
    "DelayedError": {
        "__init__": "(self, msg: str | bytes, num_inputs: int) -> None",
        "__call__": "(self, *tensors: Tensor | None) -> Any",
    },
    "UndefinedGrad": {"__init__": "(self) -> None", "__call__": "(self, *tensors: Tensor) -> Tensor"},
    "dtype": {"__eq__": "(self, other: object, /) -> bool", "__hash__": "(self) -> int"},
}
UNTOLD = {
    "__array_ufunc__", "__copy__", "__deepcopy__", "__delitem__", "__dict__", "__init_subclass__", "__module__",
    "__pyx_vtable__", "__reduce_cython__", "__setstate__", "__setstate_cython__", "__test__", "__torch_function__",
}  # fmt: skip
