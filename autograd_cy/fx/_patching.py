"""What is replaced while a function is traced: attributes, items of globals, and how modules are called (facade)."""

import builtins
import functools
from collections.abc import Callable
from typing import Any

from .._core.runtime.entry import fill_slots
from ..nn.modules.module import Module
from .proxy import _proxies_in

# The names that wrap() was called for, by the globals in which they are looked up.
wrapped_names: dict[tuple[int, str], dict[str, Any]] = {}


def wrap(fn_or_name: Any) -> Any:
    """``wrap(function)``, ``wrap("len")``: calls of that function in this module are recorded whole; returns the argument.

    It is called at the top level of a module, or decorates a function there. NotImplementedError elsewhere.

    >>> import autograd_cy as ag
    >>> @ag.fx.wrap
    ... def thrice(x):
    ...     return x * 3
    >>> def model(x):
    ...     return thrice(x)
    >>> [node.op for node in ag.fx.symbolic_trace(model).graph.nodes]
    ['placeholder', 'call_function', 'output']
    """
    import inspect

    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__code__.co_name
    frame = inspect.currentframe()
    caller = frame.f_back if frame is not None else None
    if caller is None or caller.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    wrapped_names[id(caller.f_globals), name] = caller.f_globals
    return fn_or_name


class Patcher:
    """Replaces attributes and items for the time of a with block."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], Any]] = []
        self._visited: set[int] = set()

    def attribute(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute until the end."""
        old = getattr(owner, name)
        self._undo.append(lambda: setattr(owner, name, old))
        setattr(owner, name, value)

    def item(self, owner: dict[str, Any], name: str, value: Any) -> None:
        """Set an item of globals until the end."""
        if name in owner:
            old = owner[name]
            self._undo.append(lambda: owner.__setitem__(name, old))
        else:
            self._undo.append(lambda: owner.pop(name, None))
        owner[name] = value

    def wrap_names(self) -> None:
        """Wrap what wrap() was called for."""
        for (_, name), owner in wrapped_names.items():
            function = owner[name] if name in owner else getattr(builtins, name, None)
            if function is not None:  # else the function is gone meanwhile
                self.item(owner, name, wrapper_of(function))

    def wrap_in(self, owner: dict[str, Any], functions: set[int]) -> None:
        """Wrap those of some functions that are found in globals."""
        if id(owner) in self._visited:
            return
        self._visited.add(id(owner))
        for name, value in list(owner.items()):
            if not name.startswith("_") and callable(value) and id(value) in functions:
                self.item(owner, name, wrapper_of(value))

    def wrap_functions_of(self, module: Any) -> None:
        """Wrap the public functions of a module."""
        for name, value in list(vars(module).items()):
            if not name.startswith("_") and callable(value):
                self.attribute(module, name, wrapper_of(value))

    def __enter__(self) -> "Patcher":
        return self

    def __exit__(self, *exception: Any) -> None:
        while self._undo:
            self._undo.pop()()


def wrapper_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose calls with proxies are nodes."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        found = _proxies_in(args, kwargs)
        if not found:
            return function(*args, **kwargs)
        made = found[0].tracer.create_proxy("call_function", function, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made

    return wrapped


class ModulesTraced:
    """While it is entered, calls of modules go to ``called`` and members of modules come by way of ``found``."""

    def __init__(self, called: Callable[..., Any], found: Callable[[Module, str, Any], Any]) -> None:
        self._called, self._found = called, found

    def __enter__(self) -> None:
        called, found = self._called, self._found
        self._call, self._getattr = Module.__call__, Module.__getattr__
        usual_call, usual_getattr = self._call, self._getattr

        def traced_call(module: Module, *args: Any, **kwargs: Any) -> Any:
            return called(module, lambda *a, **k: usual_call(module, *a, **k), args, kwargs)

        def traced_getattr(module: Module, name: str) -> Any:
            return found(module, name, usual_getattr(module, name))

        Module.__call__ = traced_call  # type: ignore[method-assign]
        Module.__getattr__ = traced_getattr  # type: ignore[method-assign, assignment]

    def __exit__(self, *exception: Any) -> None:
        Module.__call__ = self._call  # type: ignore[method-assign]
        Module.__getattr__ = self._getattr  # type: ignore[method-assign]
        _fill_all(Module)


def _fill_all(cls: Any) -> None:
    """Python has filled the slots of all classes as usual: C finds members and calls modules again."""
    fill_slots(cls)
    for below in type.__subclasses__(cls):
        _fill_all(below)
