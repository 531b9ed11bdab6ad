"""FunctionLayer: layers that call one function of nn.functional with the settings that they were made with (facade)."""

import inspect
from collections.abc import Callable
from typing import Any, ClassVar, dataclass_transform

from ..._core.runtime.entry import public
from .. import functional as F
from .module import Module

_REQUIRED = inspect.Parameter.empty


@dataclass_transform()
class FunctionLayer(Module):
    """A layer whose forward() is a function of nn.functional, called with settings.

    A subclass declares its settings as a dataclass declares fields: they become attributes, and the parameters of its
    constructor, after those of its base that it does not declare anew. It is made by `class ELU(FunctionLayer,
    function="elu")`; without a function it is a plain subclass, and with None as function the base of some that have one.
    """

    __constants__: ClassVar[list[str]] = []
    _function: ClassVar[str]
    _shown: ClassVar[tuple[str, ...] | None] = None
    _defaults: ClassVar[dict[str, Any]] = {}

    def __init_subclass__(cls, function: str | None = "", **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if function == "":
            return
        own = _declared(cls)
        cls._defaults = {name: default for name, default in cls._defaults.items() if name not in own} | own
        cls.__constants__ = list(cls._defaults)
        if function is not None:
            cls._function = function
        if "__init__" not in vars(cls):
            cls.__init__ = _constructor(cls)  # type: ignore[method-assign]

    def _store(self, settings: dict[str, Any]) -> None:
        """Make settings attributes; a subclass checks them here, or changes them."""
        for name, value in settings.items():
            setattr(self, name, value)

    def forward(self, input: Any) -> Any:
        """``forward(input)`` is the function of the input."""
        return self._call_function(input)

    def _call_function(self, *inputs: Any) -> Any:
        return getattr(F, self._function)(*inputs, **{name: getattr(self, name) for name in self.__constants__})

    def extra_repr(self) -> str:
        """``extra_repr()`` shows the settings, `inplace` where it is set; or those that a subclass names in `_shown`."""
        names = self.__constants__ if self._shown is None else self._shown
        shown = [(name, getattr(self, name)) for name in names]
        return ", ".join(f"{name}={value!r}" for name, value in shown if name != "inplace" or value)


def _declared(cls: type) -> dict[str, Any]:
    """The settings that a class declares, and their defaults. These leave the class: a buffer may have the name."""
    found = {}
    for name, annotation in inspect.get_annotations(cls).items():
        if getattr(annotation, "__origin__", annotation) is not ClassVar:
            found[name] = vars(cls).get(name, _REQUIRED)
            if name in vars(cls):
                delattr(cls, name)
    return found


def _constructor(cls: type[FunctionLayer]) -> Callable[..., None]:
    """The `__init__` that takes the settings of a class."""
    keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
    own = [inspect.Parameter("self", keyword)]
    signature = inspect.Signature(own + [inspect.Parameter(n, keyword, default=d) for n, d in cls._defaults.items()])

    @public
    def __init__(self: FunctionLayer, *args: Any, **kwargs: Any) -> None:
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{cls.__name__}.__init__() {error}") from None
        bound.apply_defaults()
        super(FunctionLayer, self).__init__()
        settings = dict(bound.arguments)
        del settings["self"]
        self._store(settings)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    __init__.__doc__ = None
    return __init__
