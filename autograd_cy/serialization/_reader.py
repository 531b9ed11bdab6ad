"""The objects of a pickle, which may only call functions of a closed list (facade).

A pickle is a program for a small machine with a stack and a memo. `pickletools` of the standard library parses the
instructions, never beyond the pickle's end. This file implements those that PyTorch's files use. Python's unpickler would
obey the file: call any function that it names, make a memo of any size, hash a million nested tuples.
"""

import pickle
import pickletools
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from pickle import UnpicklingError
from typing import Any

from .._core.arrays.dtypes import all_dtypes
from .._core.graph.tensor import Tensor
from .._types import Size, device
from ._safe_globals import added, allows_type, get_safe_globals
from ._storages import (
    TYPES,
    no_hooks,
    rebuild_parameter,
    rebuild_tensor,
    rebuild_tensor_of_type,
    rebuild_tensor_without_grad,
    rebuild_without_elements,
    set_attributes,
)

_MAX_KEY_DEPTH = 16  # of nested tuples as keys: hashing is recursive


def _encoded(text: Any, encoding: Any = "latin1") -> bytes:
    """The bytes that protocol 2 writes as a latin1 string."""
    if type(text) is not str or encoding != "latin1":
        raise ValueError("expected a string, to be encoded as latin1")
    return text.encode(encoding)


def _bytearray(data: Any = b"", *encoding: Any) -> bytearray:
    if type(data) is str and encoding:
        data = _encoded(data, *encoding)
    if type(data) is not bytes:
        raise ValueError(f"expected the bytes of a bytearray, got {type(data).__name__}")
    return bytearray(data)


def _set_of(items: Any = ()) -> set[Any]:
    if type(items) is not list:
        raise ValueError(f"expected the items of a set as a list, got {type(items).__name__}")
    for item in items:
        check_key(item)
    return set(items)


def _ordered_dict(*items: Any) -> "OrderedDict[Any, Any]":
    if items:
        raise ValueError("expected an OrderedDict without items, to be filled later")
    return no_hooks()


def _counter(counts: Any = None) -> "Counter[Any]":
    if counts is not None and type(counts) is not dict:
        raise ValueError(f"expected the counts of a Counter in a dict, got {type(counts).__name__}")
    return Counter(counts)


def _complex(real: Any = 0.0, imag: Any = 0.0) -> complex:
    if type(real) is not float or type(imag) is not float:
        raise ValueError("expected two floats")
    return complex(real, imag)


def _layout(name: Any) -> Any:
    """A layout by its name in PyTorch."""
    from .._types import layout as layouts  # few files have sparse tensors

    if name not in ("torch.sparse_coo", "torch.sparse_csr"):
        raise ValueError(f"expected the name of a sparse layout that is there, got {name!r:.100}")
    return getattr(layouts, name.removeprefix("torch."))


def _rebuild_sparse(layout: Any, parts: Any) -> Tensor:
    """A sparse tensor from its layout, indices and values, with checks."""
    from ..sparse._attributes import rebuild

    if not isinstance(parts, tuple) or len(parts) not in (3, 4) or not all(type(x) is Tensor for x in parts[:2]):
        raise ValueError("expected the indices, values and size of a sparse tensor")
    return rebuild(layout, parts)


def _rebuild_subclass(rebuild: Any, kind: Any, arguments: Any, state: Any) -> Tensor:
    """A tensor with attributes, or of an added subclass."""
    if rebuild not in (rebuild_tensor, rebuild_tensor_of_type, rebuild_parameter) or type(arguments) is not tuple:
        raise ValueError("expected a tensor's own function, and its arguments")
    tensor = rebuild(*arguments)
    if kind is not type(tensor) and not (isinstance(kind, type) and issubclass(kind, Tensor) and allows_type(kind)):
        raise ValueError(f"expected a subclass of Tensor that was added, got {kind!r:.200}")
    return of_subclass(tensor, kind, state)


def of_subclass(tensor: Tensor, kind: Any, state: Any) -> Tensor:
    """of_subclass(tensor, kind, state) -> the tensor as an instance of a class, with its attributes."""
    if kind is not type(tensor):
        tensor = Tensor._make_subclass(kind, tensor, tensor.requires_grad)
    if state:
        set_attributes(tensor, state)
    return tensor


# The names that a file may use. The values are called with arguments from the file, so they check them.
KNOWN: dict[str, Any] = {
    "collections.OrderedDict": _ordered_dict, "collections.Counter": _counter, "torch.Size": Size, "torch.device": device,
    "torch.Tensor": Tensor, "torch._utils._rebuild_tensor": rebuild_tensor_without_grad,
    "torch._utils._rebuild_tensor_v2": rebuild_tensor, "torch._utils._rebuild_tensor_v3": rebuild_tensor_of_type,
    "torch._utils._rebuild_parameter": rebuild_parameter,
    "torch._utils._rebuild_meta_tensor_no_storage": rebuild_without_elements,
    "torch._utils._rebuild_parameter_with_state": rebuild_parameter,
    "torch._tensor._rebuild_from_type_v2": _rebuild_subclass,
    "torch.serialization._get_layout": _layout, "torch._utils._rebuild_sparse_tensor": _rebuild_sparse,
    "_codecs.encode": _encoded, "builtins.bytearray": _bytearray, "__builtin__.bytearray": _bytearray,
    "builtins.set": _set_of, "__builtin__.set": _set_of, "builtins.complex": _complex, "__builtin__.complex": _complex,
    **{f"torch.{name}": dtype for name, dtype in TYPES.items()},
    **{f"torch.{dtype.name}": dtype for dtype in all_dtypes()},
    "torch.storage.UntypedStorage": TYPES["ByteStorage"],
}  # fmt: skip
_CALLED = {value for value in KNOWN.values() if callable(value) and value is not Tensor}


def check_key(key: Any, depth: int = 0) -> None:
    """check_key(key) refuses a key that needs deep recursion to hash."""
    if isinstance(key, tuple):
        if depth == _MAX_KEY_DEPTH:
            raise UnpicklingError(f"a key has tuples more than {_MAX_KEY_DEPTH} deep")
        for item in key:
            check_key(item, depth + 1)
    elif not isinstance(key, Hashable) or isinstance(key, frozenset):
        raise UnpicklingError(f"a {type(key).__name__} is no key")


class Reader:
    """``Reader(pickle's bytes, storage_of).load()`` -> the object; `storage_of` resolves the file's references."""

    def __init__(self, data: bytes, storage_of: Callable[[Any], Any]):
        self._data, self._storage_of = data, storage_of
        self._stack: list[Any] = []
        self._outer: list[list[Any]] = []  # stacks below a mark
        self._memo: dict[int, Any] = {}

    def load(self) -> Any:
        """load() -> the object. UnpicklingError for anything invalid."""
        try:
            for opcode, argument, position in pickletools.genops(self._data):
                if opcode.name == "STOP":
                    return self._stack.pop()
                instruction = _INSTRUCTIONS.get(opcode.name)
                if instruction is None:
                    raise UnpicklingError(f"instruction {opcode.name} at byte {position} is not among those of such files")
                instruction(self, argument)
        except UnpicklingError:
            raise
        except (IndexError, KeyError, TypeError, ValueError, AttributeError, OverflowError, DeprecationWarning) as error:
            raise UnpicklingError(f"{type(error).__name__}: {error!s:.500}") from error
        raise UnpicklingError("the pickle has no end")

    # instructions

    def push(self, value: Any) -> None:
        self._stack.append(value)

    def mark(self, _: None) -> None:
        self._outer.append(self._stack)
        self._stack = []

    def _since_mark(self) -> list[Any]:
        items, self._stack = self._stack, self._outer.pop()
        return items

    def put(self, number: int | None) -> None:
        self._memo[len(self._memo) if number is None else number] = self._stack[-1]

    def get(self, number: int) -> None:
        self.push(self._memo[number])

    def tuple_of(self, count: int | None) -> None:
        if count is None:
            self.push(tuple(self._since_mark()))
        else:
            items = tuple(self._stack[-count:])
            if len(items) != count:
                raise UnpicklingError(f"a tuple of {count} of {len(items)} items")
            del self._stack[-count:]
            self.push(items)

    def name(self, text: str) -> None:
        """The value of a global name, if it is allowed."""
        name = ".".join(text.split(" ", 1))
        value = KNOWN.get(name)
        if value is None:
            value = added(name)
        if value is None:
            raise UnpicklingError(
                f"Unsupported global: GLOBAL {name} was not an allowed global by default. Please use "
                f"`autograd_cy.serialization.add_safe_globals([{name.rpartition('.')[2]}])` or the "
                f"`autograd_cy.serialization.safe_globals([{name.rpartition('.')[2]}])` context manager to allowlist this "
                "global if you trust this class/function."
            )
        self.push(value)

    def stack_name(self, _: None) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        if type(name) is not str or type(module) is not str:
            raise UnpicklingError("a name that is no string")
        self.name(f"{module} {name}")

    def call(self, _: None) -> None:
        arguments, function = self._stack.pop(), self._stack.pop()
        if type(arguments) is not tuple or not (_is_function(function, _CALLED) or _is_function(function, get_safe_globals())):
            raise UnpicklingError(f"a call of {function!r:.200}, which is not to be called")
        self.push(function(*arguments))

    def new(self, _: None) -> None:
        arguments, kind = self._stack.pop(), self._stack.pop()
        if type(arguments) is not tuple or not isinstance(kind, type) or not allows_type(kind):
            raise UnpicklingError(f"an instance of {kind!r:.200}, which was not added")
        self.push(kind.__new__(kind, *arguments))

    def build(self, _: None) -> None:
        """Set the state of an object."""
        state, value = self._stack.pop(), self._stack[-1]
        if type(value) is OrderedDict:
            set_attributes(value, state)
        elif not allows_type(type(value)):
            raise UnpicklingError(f"a state for a {type(value).__name__}, which takes none")
        elif hasattr(value, "__setstate__"):
            value.__setstate__(state)
        else:
            own, slots = state if type(state) is tuple and len(state) == 2 else (state, None)
            if own:
                set_attributes(value, own)
            for name, item in (slots or {}).items():
                setattr(value, name, item)

    def extend(self, _: None) -> None:
        items = self._since_mark()
        self._extended(items)

    def append(self, _: None) -> None:
        self._extended([self._stack.pop()])

    def _extended(self, items: list[Any]) -> None:
        if type(self._stack[-1]) is not list and not allows_type(type(self._stack[-1])):
            raise UnpicklingError(f"items for a {type(self._stack[-1]).__name__}")
        self._stack[-1].extend(items)

    def set_items(self, _: None) -> None:
        self._updated(self._since_mark())

    def set_item(self, _: None) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self._updated([key, value])

    def _updated(self, items: list[Any]) -> None:
        target = self._stack[-1]
        if type(target) not in (dict, OrderedDict, Counter) and not allows_type(type(target)):
            raise UnpicklingError(f"entries for a {type(target).__name__}")
        for key, value in zip(items[::2], items[1::2], strict=True):
            check_key(key)
            target[key] = value

    def add_items(self, _: None) -> None:
        items = self._since_mark()
        if type(self._stack[-1]) is not set:
            raise UnpicklingError(f"elements for a {type(self._stack[-1]).__name__}")
        for item in items:
            check_key(item)
            self._stack[-1].add(item)

    def refer(self, _: None) -> None:
        self.push(self._storage_of(self._stack.pop()))

    def check_protocol(self, version: int) -> None:
        if version > pickle.HIGHEST_PROTOCOL:
            raise UnpicklingError(f"pickle protocol {version} is not known")


def _is_function(function: Any, among: Any) -> bool:
    return any(function is known for known in among)


def _pushed(value: Callable[[], Any]) -> Callable[[Reader, Any], None]:
    return lambda reader, _: reader.push(value())


_TEXTS = ("BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8")
_NUMBERS = ("BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT")
_INSTRUCTIONS: dict[str, Callable[[Reader, Any], None]] = {
    "PROTO": Reader.check_protocol, "FRAME": lambda reader, _: None, "MARK": Reader.mark, "GLOBAL": Reader.name,
    "STACK_GLOBAL": Reader.stack_name, "REDUCE": Reader.call, "NEWOBJ": Reader.new, "BUILD": Reader.build,
    "APPENDS": Reader.extend, "APPEND": Reader.append, "SETITEMS": Reader.set_items, "SETITEM": Reader.set_item,
    "ADDITEMS": Reader.add_items, "BINPERSID": Reader.refer, "TUPLE": Reader.tuple_of,
    "TUPLE1": lambda reader, _: reader.tuple_of(1), "TUPLE2": lambda reader, _: reader.tuple_of(2),
    "TUPLE3": lambda reader, _: reader.tuple_of(3),
    "NONE": _pushed(lambda: None), "NEWTRUE": _pushed(lambda: True), "NEWFALSE": _pushed(lambda: False),
    "EMPTY_TUPLE": _pushed(tuple), "EMPTY_LIST": _pushed(list), "EMPTY_DICT": _pushed(dict), "EMPTY_SET": _pushed(set),
    "BINGET": Reader.get, "LONG_BINGET": Reader.get, "BINPUT": Reader.put, "LONG_BINPUT": Reader.put, "MEMOIZE": Reader.put,
    **dict.fromkeys(_TEXTS + _NUMBERS, Reader.push),
}  # fmt: skip


def names_in(data: bytes) -> list[str]:
    """names_in(pickle's bytes) -> the global names in it, each once, in order; UnpicklingError if it can't be read."""
    names: dict[str, None] = {}
    strings: list[Any] = []
    try:
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name in _TEXTS:
                strings.append(argument)
            elif opcode.name == "GLOBAL":
                names[str(argument).replace(" ", ".", 1)] = None
            elif opcode.name == "STACK_GLOBAL":
                names[".".join(strings[-2:])] = None
    except (ValueError, TypeError) as error:
        raise UnpicklingError(str(error)) from error
    return list(names)
