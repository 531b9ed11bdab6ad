"""Classes of absent devices: they can be imported and named, but not instantiated (facade)."""

import contextlib
from typing import Any, NoReturn

from .._core.arrays.dtypes import all_dtypes, other_dtypes

_WORDS = {
    "Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Byte": "uint8", "Char": "int8",
    "Short": "int16", "Int": "int32", "Long": "int64", "Bool": "bool", "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
}  # fmt: skip


def absent_class(module: str, name: str, error: type[Exception], text: str, **attributes: Any) -> Any:
    """A class for imports and isinstance(); creating an object raises the error."""

    def refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise error(text)

    path = module.partition(".")[2]
    example = f">>> import autograd_cy as ag\n>>> isinstance(ag.ones(1), ag.{path}.{name})\nFalse\n"
    document = f"``{name}()`` raises {error.__name__}: there is no such device.\n\n{example}"
    return type(name, (), {"__init__": refuse, "__module__": module, "__doc__": document, **attributes})


def tensor_types(module: str) -> dict[str, Any]:
    """``FloatTensor`` and its like, the types of tensors on a device."""
    kind = module.rpartition(".")[2]
    text = f"type torch.{kind}.{{}} not available. Torch not compiled with {kind.upper()} enabled."
    dtypes = {d.name: d for d in (*all_dtypes(), *other_dtypes())}
    names = {f"{word}Tensor": dtypes[name] for word, name in _WORDS.items() if not word.startswith("Complex")}
    return {
        name: absent_class(module, name, TypeError, text.replace("{}", name), dtype=dtype, is_cuda=kind == "cuda")
        for name, dtype in names.items()
    }


def storage_types(module: str) -> dict[str, Any]:
    """``FloatStorage`` and its like, the types of memory of a device."""
    text = f"Torch not compiled with {module.rpartition('.')[2].upper()} enabled"
    return {f"{word}Storage": absent_class(module, f"{word}Storage", AssertionError, text) for word in _WORDS}


class _Context(contextlib.AbstractContextManager[None]):
    """A context that changes nothing where it names no device, and is an error where it does."""

    kind = "cuda"

    def __init__(self, device: Any = None):
        self._device = device

    def __enter__(self) -> None:
        if self._device is not None and self._device != -1:
            raise RuntimeError(f"PyTorch was compiled without {self.kind.upper()} support")

    def __exit__(self, *exception: object) -> None:
        pass


class _ContextOfTensor(_Context):
    def __init__(self, obj: Any):
        super().__init__(None)


def contexts(module: str, *names: str) -> list[Any]:
    """The classes ``device``, ``device_of``, ``StreamContext`` and ``stream`` of a module, or those that are named."""
    path, kind = module.partition(".")[2], module.rpartition(".")[2]
    made = []
    for name in names or ("device", "device_of", "StreamContext", "stream"):
        base, argument = (_ContextOfTensor, "ag.ones(1)") if name == "device_of" else (_Context, "None")
        example = f">>> import autograd_cy as ag\n>>> with ag.{path}.{name}({argument}):\n...     pass\n"
        document = f"``with {name}({argument}):`` changes nothing; RuntimeError for a device.\n\n{example}"
        made.append(type(name, (base,), {"kind": kind, "__module__": module, "__doc__": document}))
    return made
