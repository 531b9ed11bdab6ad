"""Files of PyTorch before 1.6: consecutive pickles, and then the memory of tensors (facade).

The pickles: a magic number, the version of the format, the machine that wrote it, the objects, and the keys of the storages
in the order of their memory. Each memory block starts with the number of its elements in 8 bytes.
"""

import io
import pickletools
from pickle import UnpicklingError
from typing import IO, Any

import numpy as np

from .._core.arrays import dtypes
from ..storage import TypedStorage
from ._reader import Reader
from ._storages import storage_of

_MAGIC = 0x1950A86A20F9469CFC6C
BEGINNING = b"\x80\x02\x8a\x0a" + _MAGIC.to_bytes(10, "little") + b"."
_VERSION = 1001
_HEADER = 3  # pickles before the pickle of the objects


class StreamReader:
    """The pickle of the objects, and their storages, which are filled when all are known."""

    def __init__(self, file: IO[bytes], name: str, locate: Any):
        self._name, self._locate = name, locate
        self._bytes = file.read()
        self._storages: dict[str, TypedStorage] = {}
        stream = io.BytesIO(self._bytes)
        parts = [self._next_pickle(stream) for _ in range(_HEADER + 2)]
        try:
            _, version, machine = (Reader(part, self.storage).load() for part in parts[:_HEADER])
            self._keys = Reader(parts[-1], self.storage).load()
        except UnpicklingError as error:
            raise self._damaged(str(error)) from None
        if version != _VERSION:
            raise self._damaged(f"its format has version {version!r:.50}, not {_VERSION}")
        self.pickle, self._memory = parts[_HEADER], stream.tell()
        self._is_big_endian = isinstance(machine, dict) and machine.get("little_endian", True) is False

    def _damaged(self, text: str) -> RuntimeError:
        return RuntimeError(f"load(): {self._name} is no file as save() wrote it before PyTorch 1.6: {text}")

    def _next_pickle(self, stream: io.BytesIO) -> bytes:
        start = stream.tell()
        try:
            for _ in pickletools.genops(stream):
                pass
        except (ValueError, TypeError, DeprecationWarning) as error:  # of escapes in strings, where warnings are errors
            raise self._damaged(str(error)) from None
        return self._bytes[start : stream.tell()]

    def storage(self, reference: Any) -> TypedStorage:
        """storage(("storage", type, key, location, numel, view)) -> what the file means by these; its numbers come later."""
        if not (isinstance(reference, tuple) and len(reference) == 6 and reference[0] == "storage"):
            raise self._damaged(f"expected a reference to a storage, got {reference!r:.200}")
        _, dtype, key, location, numel, view = reference
        if type(dtype) is not dtypes.dtype or type(key) is not str or type(location) is not str or type(numel) is not int:
            raise self._damaged(f"expected a reference to a storage, got {reference!r:.200}")
        if key not in self._storages:
            self._locate(location)
            if not 0 <= numel * dtype.itemsize <= len(self._bytes):
                raise self._damaged(f"storage {key} of {numel} elements is larger than the file")
            self._storages[key] = storage_of(np.zeros(numel, dtype.numpy_dtype))
        found = self._storages[key]
        if found.dtype is not dtype:
            raise self._damaged(f"storage {key} is of {found.dtype} and of {dtype}")
        return found if view is None else self._part(key, found, view)

    def _part(self, key: str, storage: TypedStorage, view: Any) -> TypedStorage:
        if not (isinstance(view, tuple) and len(view) == 3 and all(type(n) is int and n >= 0 for n in view[1:])):
            raise self._damaged(f"expected a part of a storage, got {view!r:.200}")
        _, offset, numel = view
        if offset + numel > len(storage):
            raise self._damaged(f"a part of storage {key} is beyond its {len(storage)} elements")
        step = storage.element_size()
        return storage._new_wrapped_storage(storage.untyped()[offset * step : (offset + numel) * step])

    def fill(self) -> None:
        """fill() reads the memory of all storages. RuntimeError for a wrong length."""
        if not isinstance(self._keys, list) or not {*self._storages} <= {*map(str, self._keys)}:
            raise self._damaged("a storage is missing")
        position = self._memory
        for key in self._keys:
            storage = self._storages.get(key)
            if storage is None:
                raise self._damaged(f"no tensor has storage {key!r:.50}")
            count = int.from_bytes(self._bytes[position : position + 8], "little")
            elements = storage._elements
            size = elements.nbytes
            memory = self._bytes[position + 8 : position + 8 + size]
            if count != elements.size or len(memory) != size:
                raise self._damaged(f"storage {key} has {count} elements instead of {elements.size}")
            stored = elements.dtype.newbyteorder(">" if self._is_big_endian else "<")
            elements[:] = np.frombuffer(memory, stored)
            position += 8 + size
