"""The members of a module: parameters, buffers and submodules, by name (facade)."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public
from ..parameter import Parameter


def joined(prefix: str, name: str) -> str:
    """The name of a member within the module called `prefix`."""
    return f"{prefix}.{name}" if prefix else name


class WithMembers:
    """Iterates over a module and its submodules, each once."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """The members that a function returns for each module, with their full names."""
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for module_name, module in modules:
            for name, member in get_members_fn(module):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield joined(module_name, name), member

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """``parameters(recurse=True)``: the parameters, each once; without recurse, only the module's own.

        >>> import autograd_cy as ag
        >>> [p.shape for p in ag.nn.Linear(2, 3).parameters()]
        [torch.Size([3, 2]), torch.Size([3])]
        """
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """``named_parameters(prefix="", recurse=True, remove_duplicate=True)``: pairs of a name and a parameter.

        >>> import autograd_cy as ag
        >>> [name for name, p in ag.nn.Sequential(ag.nn.Linear(2, 3)).named_parameters()]
        ['0.weight', '0.bias']
        """
        yield from self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """``buffers(recurse=True)``: the buffers, each once; without recurse, only the module's own."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """``named_buffers(prefix="", recurse=True, remove_duplicate=True)``: pairs of a name and a buffer."""
        yield from self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def children(self) -> Iterator[Any]:
        """``children()``: the submodules that are attributes of the module itself, each once."""
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """``named_children()``: pairs of a name and a submodule, each submodule once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """``modules()``: the module itself and all in it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """``named_modules()``: pairs of a name and a module: the module itself, named by the prefix, and all in it.

        >>> import autograd_cy as ag
        >>> list(ag.nn.Sequential(ag.nn.Identity()).named_modules(prefix="net"))
        [('net', Sequential(
          (0): Identity()
        )), ('net.0', Identity())]
        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, joined(prefix, name), remove_duplicate)

    @public
    def get_submodule(self, target: str) -> Any:
        """``get_submodule("block.0")``: the submodule of that name, the module itself for ""; else AttributeError."""
        module: Any = self
        for name in target.split(".") if target else ():
            module = _attribute(module, name)
            _check_module(module, name)
        return module

    @public
    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """``set_submodule("block.0", module)`` replaces a submodule, or adds one.

        strict: AttributeError unless there is a submodule of that name.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, WithMembers):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            _check_module(_attribute(parent, name), name)
        setattr(parent, name, module)

    @public
    def get_parameter(self, target: str) -> Parameter:
        """``get_parameter("block.0.weight")``: the parameter of that name; else AttributeError."""
        path, _, name = target.rpartition(".")
        parameter = _attribute(self.get_submodule(path), name)
        if not isinstance(parameter, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return parameter

    @public
    def get_buffer(self, target: str) -> Tensor:
        """``get_buffer("block.0.running_mean")``: the buffer of that name; else AttributeError."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        buffer = _attribute(module, name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer


def _attribute(module: Any, name: str) -> Any:
    if not hasattr(module, name):
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    return getattr(module, name)


def _check_module(value: Any, name: str) -> None:
    if not isinstance(value, WithMembers):
        raise AttributeError(f"`{name}` is not an nn.Module")
