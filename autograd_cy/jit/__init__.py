"""``torch.jit`` where nothing is compiled: functions and modules come back as they are (facade).

What a script is written to a file for is an error when it is used: `save` and `load`.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from .. import _jit_internal
from .._compat import answers as _answers
from .._jit_internal import _overload as _overload
from .._jit_internal import _overload_method as _overload_method
from .._jit_internal import export, ignore, interface, is_scripting, unused
from ..futures import Future
from ..nn.modules.module import Module as _Module

__all__ = [
    "Attribute", "CompilationUnit", "Error", "Final", "Future", "RecursiveScriptModule", "ScriptFunction",
    "ScriptModule", "ScriptWarning", "TracerWarning", "annotate", "enable_onednn_fusion", "export", "export_opnames",
    "fork", "freeze", "fuser", "ignore", "interface", "is_scripting", "is_tracing", "isinstance", "load",
    "onednn_fusion_enabled", "optimize_for_inference", "optimized_execution", "save", "script", "script_if_tracing",
    "script_method", "set_fusion_strategy", "strict_fusion", "trace", "trace_module", "unused", "wait",
]  # fmt: skip

_NO_FILES = "torch.jit.{}: this package has no TorchScript. torch.save(model.state_dict(), path) and torch.load keep weights"

script, script_method, script_if_tracing, freeze, optimize_for_inference = (_answers.unchanged() for _ in range(5))
_script_if_tracing = _answers.unchanged()
is_tracing = onednn_fusion_enabled = _answers.answers(False)
enable_onednn_fusion = set_fusion_strategy = _answers.answers(None)
save = load = export_opnames = _answers.refuses(NotImplementedError, _NO_FILES)


class Attribute(NamedTuple):
    """``Attribute(value, type)`` is a value with its type in TorchScript, which nothing asks for here.

    >>> import autograd_cy as ag
    >>> ag.jit.Attribute(0.1, float).value
    0.1
    """

    value: Any
    type: Any


class Error(RuntimeError):
    """What TorchScript raises for errors in compiled code; nothing raises it here.

    >>> import autograd_cy as ag
    >>> ag.jit.Error.__mro__[1].__name__
    'RuntimeError'
    """


class ScriptWarning(Warning):
    """A warning of TorchScript's; nothing warns so here.

    >>> import autograd_cy as ag
    >>> issubclass(ag.jit.ScriptWarning, Warning)
    True
    """


class TracerWarning(Warning):
    """A warning of traces; nothing warns so here.

    >>> import autograd_cy as ag
    >>> issubclass(ag.jit.TracerWarning, Warning)
    True
    """

    @staticmethod
    def ignore_lib_warnings() -> None:
        """``ignore_lib_warnings()`` does nothing: there are none."""


class ScriptModule(_Module):
    """``ScriptModule`` is the class of compiled modules; a subclass of it is a Module, and is compiled no more than others.

    >>> import autograd_cy as ag
    >>> issubclass(ag.jit.ScriptModule, ag.nn.Module)
    True
    """


class RecursiveScriptModule(ScriptModule):
    """The class of modules that `script` makes; here it makes none.

    >>> import autograd_cy as ag
    >>> isinstance(ag.jit.script(ag.nn.ReLU()), ag.jit.RecursiveScriptModule)
    False
    """


class ScriptFunction:
    """The class of functions that `script` makes; here it makes none.

    >>> import autograd_cy as ag
    >>> ag.jit.isinstance(ag.jit.script(abs), ag.jit.ScriptFunction)
    False
    """

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(_NO_FILES.replace("{}", "ScriptFunction"))


class CompilationUnit:
    """``CompilationUnit(source)`` compiles TorchScript: an error, for there is no compiler.

    >>> import autograd_cy as ag
    >>> isinstance(ag.jit.CompilationUnit, type)
    True
    """

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(_NO_FILES.replace("{}", "CompilationUnit"))


def trace(func: Any, example_inputs: Any = None, *args: Any, **kwargs: Any) -> Any:
    """``trace(f, inputs)`` is f: it is called with the inputs once, as a trace would be.

    >>> import autograd_cy as ag
    >>> ag.jit.trace(abs, (ag.ones(1),)) is abs
    True
    """
    if example_inputs is not None:
        func(*(example_inputs if type(example_inputs) in (tuple, list) else (example_inputs,)))
    return func


def trace_module(mod: Any, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
    """``trace_module(module, {"forward": inputs})`` is the module, whose methods are called with their inputs once.

    >>> import autograd_cy as ag
    >>> module = ag.nn.ReLU()
    >>> ag.jit.trace_module(module, {"forward": (ag.ones(1),)}) is module
    True
    """
    for name, values in inputs.items():
        trace(mod if name == "forward" else getattr(mod, name), values)
    return mod


def annotate(the_type: Any, the_value: Any) -> Any:
    """``annotate(type, value)`` is the value.

    >>> import autograd_cy as ag
    >>> ag.jit.annotate(list[int], [])
    []
    """
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """``isinstance(value, List[int])`` also looks at the elements of lists, tuples and dicts.

    >>> import autograd_cy as ag
    >>> ag.jit.isinstance([1, 2], list[int]), ag.jit.isinstance([1, "a"], list[int])
    (True, False)
    """
    return _jit_internal._isinstance(obj, target_type)


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """``fork(f, *args)`` calls f at once, and is a Future that has its result.

    >>> import autograd_cy as ag
    >>> ag.jit.wait(ag.jit.fork(abs, -2))
    2
    """
    future: Future[Any] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future[Any]) -> Any:
    """``wait(future)`` is its result.

    >>> import autograd_cy as ag
    >>> ag.jit.wait(ag.jit.fork(max, 1, 2))
    2
    """
    return future.wait()


@contextlib.contextmanager
def optimized_execution(should_optimize: bool = True) -> Iterator[None]:
    """``with optimized_execution(False):`` changes nothing.

    >>> import autograd_cy as ag
    >>> with ag.jit.optimized_execution(False):
    ...     pass
    """
    yield


@contextlib.contextmanager
def fuser(name: str) -> Iterator[None]:
    """``with fuser("fuser1"):`` changes nothing.

    >>> import autograd_cy as ag
    >>> with ag.jit.fuser("fuser1"):
    ...     pass
    """
    yield


strict_fusion = functools.partial(contextlib.nullcontext, None)

_answers.named(globals(), "nothing is compiled here")
