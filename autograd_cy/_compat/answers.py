"""Functions with a constant result, for modules of PyTorch without a purpose on a CPU (facade).

A module assigns what the helpers here return, and calls ``named(globals())`` last, which gives each its name and docstring:

    is_available = answers(False)
    init = refuses(AssertionError, "Torch not compiled with CUDA enabled")
    named(globals(), "there is no such device")
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")
_made: dict[int, tuple[FunctionType, Callable[[str, str], str], Callable[[], Any]]] = {}  # what named() has still to name


def answers(value: T) -> Callable[..., T]:
    """A function that takes any arguments and returns the value; of a list or dict, a new one each time."""

    def make() -> Any:
        def function(*args: Any, **kwargs: Any) -> Any:
            return type(value)(value) if isinstance(value, list | dict) else value

        return function

    def document(path: str, why: str) -> str:
        shown = "" if value is None else f"\n{value!r}"
        what = "does nothing" if value is None else f"is {value!r}"
        return f"``{path}()`` {what}: {why}.\n\n>>> import autograd_cy as ag\n>>> ag.{path}(){shown}\n"

    return _noted(make, document)


def refuses(error: type[Exception], text: str) -> Callable[..., NoReturn]:
    """A function that takes any arguments and raises the error."""

    def make() -> Any:
        def function(*args: Any, **kwargs: Any) -> NoReturn:
            raise error(text.replace("{}", function.__name__))

        return function

    def document(path: str, why: str) -> str:
        said = text.replace("{}", path.rpartition(".")[2])
        example = f">>> ag.{path}()\nTraceback (most recent call last):\n    ...\n{error.__name__}: {said}\n"
        return f"``{path}()`` raises {error.__name__}: {why}.\n\n>>> import autograd_cy as ag\n{example}"

    return _noted(make, document)


def unchanged() -> Callable[..., Any]:
    """A function that returns its first argument; without one, a decorator that does (``@f``, ``@f()``, ``@f(option=1)``)."""

    def make() -> Any:
        def function(*args: Any, **kwargs: Any) -> Any:
            return args[0] if args else lambda decorated: decorated

        return function

    def document(path: str, why: str) -> str:
        return f"``{path}(x)`` is x: {why}.\n\n>>> import autograd_cy as ag\n>>> ag.{path}(abs) is abs\nTrue\n"

    return _noted(make, document)


def _noted(make: Callable[[], Any], document: Callable[[str, str], str]) -> Any:
    function = make()
    _made[id(function)] = function, document, make
    return function


def named(namespace: dict[str, Any], why: str, home: str | None = None) -> None:
    """Give each function that was made here its name in the module, and a docstring that says why; so to each alias."""
    module = namespace["__name__"]
    path = module.partition(".")[2] if home is None else home  # where users find them
    for name, value in list(namespace.items()):
        noted = _made.get(id(value))
        if noted is None or noted[0] is not value:
            continue
        function = noted[2]()
        function.__name__ = function.__qualname__ = name
        function.__module__, function.__doc__ = module, noted[1](f"{path}.{name}".lstrip("."), why)
        namespace[name] = function
    _made.clear()
