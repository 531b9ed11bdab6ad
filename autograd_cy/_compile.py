"""compile: functions run as they are (facade). Imported when asked for."""

from typing import Any

from ._core.runtime.entry import public
from ._core.runtime.once import warn_once

__all__ = ["compile"]


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
    """``compile(f)``, ``@compile`` or ``@compile(mode=...)`` returns the function or module as it is.

    A warning says so once; none with disable=True. AssertionError for what cannot be called.

    >>> import autograd_cy as ag
    >>> ag.compile(abs, disable=True) is abs
    True
    """
    if model is None:
        return lambda model: compile(model, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options,
                                     disable=disable)  # fmt: skip
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if not disable:
        warn_once("compile() returns the function as it is: this package has no compiler, its kernels are compiled already.")
    return model
