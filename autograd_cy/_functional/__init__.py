"""Functions of torch itself, except for creation; `in_place` derives relu_() and its like from `inplace=` (facade)."""

from collections.abc import Callable
from typing import Any

from .._core.runtime.entry import public


def in_place(function: Callable[..., Any], where: str = "", arguments: str = "") -> Callable[..., Any]:
    """in_place(relu) -> relu_: the function called with inplace=True.

    `where` it stands and the `arguments` besides the tensor are for its example.

    >>> import autograd_cy as ag
    >>> x = ag.tensor([-1.0, 2.0])
    >>> ag.nn.functional.relu_(x) is x, x
    (True, tensor([0., 2.]))
    """

    def written(input: Any, *args: Any, **kwargs: Any) -> Any:
        return function(input, *args, **kwargs, inplace=True)

    name = f"{function.__name__.removeprefix('functional_')}_"
    written.__name__ = written.__qualname__ = name
    written.__doc__ = f"""{name}(input, ...) -> Tensor: {name[:-1]}() written into the tensor's own memory.

    >>> import autograd_cy as ag
    >>> x = ag.ones(2, 2)
    >>> ag.{where}{name}(x{arguments}) is x
    True
    """
    return public(written)
