"""Attributes of a module that are its parameters, buffers and submodules (facade)."""

import inspect
from typing import Any

from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public
from ..parameter import Buffer, Parameter
from . import _hooks
from ._hooks import filtered


class WithMembersAsAttributes:
    """Keeps parameters, buffers and submodules in separate dicts, by attribute name."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    @public
    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """``register_buffer("mean", tensor, persistent=True)``: a tensor of the module's state that is not trained.

        None reserves the name, and is not part of the state. ``state_dict()`` skips a buffer that is not persistent.

        >>> import autograd_cy as ag
        >>> module = ag.nn.Module()
        >>> module.register_buffer("mean", ag.zeros(2))
        >>> module.mean
        tensor([0., 0.])
        """
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not _is_tensor_like(tensor):
            raise TypeError(f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' (torch Tensor or None required)")
        self._buffers[name] = filtered(_hooks._global_buffer_registration_hooks, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    @public
    def register_parameter(self, name: str, param: Any) -> None:
        """``register_parameter("weight", parameter)``: like assigning a Parameter; None reserves the name for one.

        >>> import autograd_cy as ag
        >>> module = ag.nn.Module()
        >>> module.register_parameter("bias", None)
        >>> module.bias is None, list(module.parameters())
        (True, [])
        """
        self._check_name("parameter", name, "_parameters")
        if param is None:
            self._parameters[name] = None
            return
        if not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{_type_name(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = filtered(_hooks._global_parameter_registration_hooks, self, name, param)

    @public
    def add_module(self, name: str, module: Any) -> None:
        """``add_module("block", module)``: like assigning a Module, also for names that are not identifiers.

        >>> import autograd_cy as ag
        >>> module = ag.nn.Module()
        >>> module.add_module("0", ag.nn.Identity())
        >>> module
        Module(
          (0): Identity()
        )
        """
        if not isinstance(module, WithMembersAsAttributes) and module is not None:
            raise TypeError(f"{_type_name(module)} is not a Module subclass")
        self._check_name("module", name, "_modules")
        self._modules[name] = filtered(_hooks._global_module_registration_hooks, self, name, module)

    @public
    def register_module(self, name: str, module: Any) -> None:
        """``register_module(name, module)``: another name of add_module()."""
        self.add_module(name, module)

    def _check_name(self, kind: str, name: Any, members: str) -> None:
        if members not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {_type_name(name)}")
        if hasattr(self, name) and name not in self.__dict__[members]:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')

    # attributes

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for members in ("_parameters", "_buffers", "_modules"):
            if members in own and name in own[members]:
                return own[members][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        parameters, modules, buffers = own.get("_parameters"), own.get("_modules"), own.get("_buffers")
        is_tensor = isinstance(value, Tensor)
        if is_tensor and isinstance(value, Parameter):
            if parameters is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, own, buffers, modules)
            self.register_parameter(name, value)
        elif parameters is not None and name in parameters:
            _check_none("parameter", name, value, "torch.nn.Parameter or None")
            self.register_parameter(name, value)
        elif isinstance(value, WithMembersAsAttributes):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, own, parameters, buffers)
            modules[name] = filtered(_hooks._global_module_registration_hooks, self, name, value)
        elif modules is not None and name in modules:
            _check_none("child module", name, value, "torch.nn.Module or None")
            modules[name] = filtered(_hooks._global_module_registration_hooks, self, name, value)
        elif (is_tensor and isinstance(value, Buffer)) or (buffers is not None and name in buffers):
            self._set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name: str, *members: Any) -> None:
        """Remove other members with that name."""
        for mapping in members:
            mapping.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _set_buffer(self, name: str, value: Any) -> None:
        if value is not None and not _is_tensor_like(value):
            raise TypeError(
                f"cannot assign '{_type_name(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
            )
        if isinstance(value, Buffer):
            persistent = value.persistent
        else:
            persistent = name not in self.__dict__.get("_non_persistent_buffers_set", ())
        if "persistent" in inspect.signature(self.register_buffer).parameters:
            self.register_buffer(name, value, persistent)
        elif persistent:
            self.register_buffer(name, value)
        else:
            raise RuntimeError(
                "Registering a non-persistent buffer on a Module subclass that implements register_buffer() without the "
                "persistent argument is not allowed."
            )

    def __delattr__(self, name: str) -> None:
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = [*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted(name for name in names if not name[0].isdigit())


def _is_tensor_like(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "__torch_function__")


def _check_none(kind: str, name: str, value: Any, expected: str) -> None:
    if value is not None:
        raise TypeError(f"cannot assign '{_type_name(value)}' as {kind} '{name}' ({expected} expected)")


def _type_name(value: Any) -> str:
    from ..._functional.queries import typename  # only needed here

    return typename(value)
