"""The objects of a trusted pickle, by Python's unpickler: load(weights_only=False) (facade).

A file uses PyTorch's names of classes and functions; this package has the same names in place of `torch`.
"""

import io
import pickle
from collections.abc import Callable
from typing import Any

from .._core.graph.tensor import Tensor
from ._reader import KNOWN, of_subclass
from ._safe_globals import OURS, TORCH, added


def _rebuild_subclass(rebuild: Any, kind: Any, arguments: Any, state: Any) -> Tensor:
    return of_subclass(rebuild(*arguments), kind, state)


def unpickler(pickle_module: Any, data: bytes, storage_of: Callable[[Any], Any], **options: Any) -> Any:
    """``unpickler(pickle, data, storage_of).load()`` -> the object; `storage_of` resolves the file's references."""

    class Unpickler(pickle_module.Unpickler):
        def persistent_load(self, reference: Any) -> Any:
            if type(reference) is tuple and reference[:1] == ("module",):  # of files before zip: with its source text
                return reference[1]
            return storage_of(reference)

        def find_class(self, module: str, name: str) -> Any:
            whole = f"{module}.{name}"
            if added(whole) is not None:
                return added(whole)
            if module.partition(".")[0] != TORCH:
                return super().find_class(module, name)
            if whole == "torch._tensor._rebuild_from_type_v2":
                return _rebuild_subclass
            if whole in KNOWN:
                return KNOWN[whole]
            try:
                return super().find_class(OURS + module.removeprefix(TORCH), name)
            except (ImportError, AttributeError) as error:
                raise pickle.UnpicklingError(f"the file names {whole}, which this package has not: {error}") from error

    return Unpickler(io.BytesIO(data), **options)
