"""compile: functions and modules run as they are (facade). Imported when asked for."""

import sys
from typing import Any

from .._compat import PACKAGE
from .._core.runtime.entry import public
from .._core.runtime.once import warn_once


@public
def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: Any = None,
    disable: bool = False,
) -> Any:
    """``compile(f)``, ``@compile`` or ``@compile(mode=...)`` returns the function as it is; a module in an OptimizedModule.

    A warning says so once. With disable=True there is none, and a module comes back as it is, too. AssertionError for what
    cannot be called.

    >>> import autograd_cy as ag
    >>> ag.compile(abs, disable=True) is abs
    True
    """
    if model is None:
        return lambda model: compile(model, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options,
                                     disable=disable)  # fmt: skip
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if disable:
        return model
    warn_once("compile() returns the function as it is: this package has no compiler, its kernels are compiled already.")
    return _optimized(model)


def _optimized(model: Any) -> Any:
    if "nn" not in vars(sys.modules[PACKAGE]):
        return model  # there is no module yet
    from ..nn.modules.module import Module
    from .eval_frame import OptimizedModule

    return OptimizedModule(model) if isinstance(model, Module) else model


def backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """``list_backends()`` is empty: there is no compiler.

    >>> import autograd_cy as ag
    >>> ag.compiler.list_backends()
    []
    """
    return []
