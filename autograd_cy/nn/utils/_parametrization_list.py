"""The parametrizations of one tensor, and its originals (facade)."""

from collections.abc import Sequence
from typing import Any

from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public
from ...autograd.grad_mode import no_grad
from ..modules.container import ModuleList
from ..parameter import Parameter

_ALLOW = "Registering a parametrization may not change the {} of the tensor, unless {} `unsafe` flag is enabled.\n"


def register(module: Any, name: str, tensor: Any) -> None:
    """Make a tensor a parameter of the module if it is one, else a buffer."""
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def check_same(new: Any, old: Any, names: tuple[str, str], start: str) -> None:
    """Refuse a tensor of another dtype or shape; the word for the difference is inserted into `start`."""
    for what in ("dtype", "shape"):
        if getattr(new, what) != getattr(old, what):
            lines = f"{names[0]}{what}: {getattr(old, what)}\n{names[1]}{what}: {getattr(new, what)}"
            raise ValueError(start.format(what) + lines)


def check_tensor(value: Any, what: str) -> None:
    if not isinstance(value, Tensor):
        raise ValueError(f"{what} {type(value).__name__}")


class ParametrizationList(ModuleList):
    """``ParametrizationList(modules, original, unsafe=False)``: called one after the other, they compute a tensor.

    The first takes ``original``, or ``original0``, ``original1``, ... if its ``right_inverse`` returns several. Made by
    ``register_parametrization``.
    """

    original: Any

    @public
    def __init__(self, modules: Sequence[Any], original: Any, unsafe: bool = False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        dtype, shape = original.dtype, original.shape
        new = self._inverted(original)
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            self._keep_one(original, new)
        else:
            self._keep_several(original, new)
        if not unsafe:
            self._check_result(dtype, shape)

    def _inverted(self, original: Any) -> Any:
        """The originals of the tensor, by the right_inverse of the parametrizations that have one."""
        new = original
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        pass
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        return new

    def _keep_one(self, original: Any, new: Any) -> None:
        if original.dtype != new.dtype:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
            )
        with no_grad():
            original.data = new.data
        register(self, "original", original)

    def _keep_several(self, original: Any, new: Any) -> None:
        for i, part in enumerate(new):
            if not isinstance(part, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                    f"Got element {i} of the sequence with type {type(part).__name__}."
                )
        for i, part in enumerate(new):
            if isinstance(original, Parameter):
                part = Parameter(part, original.requires_grad)
            register(self, f"original{i}", part.requires_grad_(original.requires_grad))

    def _check_result(self, dtype: Any, shape: Any) -> None:
        result = self()
        check_tensor(result, "A parametrization must return a tensor. Got")
        for what, before, after in (("dtype", dtype, result.dtype), ("shape", shape, result.shape)):
            if before != after:
                start = _ALLOW.format(what, "the").replace("unless the", "unless")
                raise ValueError(f"{start}unparametrized {what}: {before}\nparametrized {what}: {after}")

    @public
    def right_inverse(self, value: Any) -> None:
        """``right_inverse(value)`` sets the originals such that the tensor has this value.

        RuntimeError if a parametrization has no ``right_inverse``.
        """
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                check_tensor(value, "`right_inverse` should return a tensor. Got")
                _put(self.original, value, "The tensor returned", "`original`")
                return
            if not isinstance(value, Sequence):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
            if len(value) != self.ntensors:
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of length "
                    f"{len(value)}."
                )
            for i, part in enumerate(value):
                check_tensor(part, f"'right_inverse' must return a sequence of tensors. Got element {i} of type")
                _put(getattr(self, f"original{i}"), part, f"Tensor {i} returned", f"`original{i}`")

    def forward(self) -> Tensor:
        first, *others = self
        value = first(*([self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self.ntensors)]))
        for module in others:
            value = module(value)
        return value


def _put(original: Any, value: Any, what: str, name: str) -> None:
    if value.dtype != original.dtype:
        raise ValueError(f"{what} by `right_inverse` has dtype {value.dtype} while {name} has dtype {original.dtype}")
    original.data = value.data
