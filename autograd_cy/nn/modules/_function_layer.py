"""FunctionLayer: layers that call one function of nn.functional with the constructor's settings (facade)."""

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public
from .. import functional as F
from .module import Module

_REQUIRED = inspect.Parameter.empty


@dataclass_transform()
class FunctionLayer(Module):
    """A layer: its forward() calls a function of nn.functional with the layer's settings.

    A subclass declares its settings as a dataclass declares fields: they become attributes, and the parameters of its
    constructor, after the base's settings that it does not redeclare. Example: `class ELU(FunctionLayer, function="elu")`.
    With function=None a class is a base of such layers; without `function` it is a plain subclass.

    `_inputs` are the parameters of forward(), `_shown` the settings in repr() (by default all), and `_not_passed` the
    settings that the function does not take.
    """

    __constants__: ClassVar[list[str]] = []
    _function: ClassVar[str]
    _inputs: ClassVar[tuple[str, ...]] = ("input",)
    _not_passed: ClassVar[tuple[str, ...]] = ()
    _shown: ClassVar[tuple[str, ...] | None] = None
    _defaults: ClassVar[dict[str, Any]] = {}
    if TYPE_CHECKING:
        forward: Callable[..., Tensor]

    def __init_subclass__(cls, function: str | None = "", **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if function == "":
            return
        own = _declared(cls)
        cls._defaults = {name: default for name, default in cls._defaults.items() if name not in own} | own
        cls.__constants__ = [name for name in cls._defaults if name not in cls._not_passed]
        if "__init__" not in vars(cls):
            cls.__init__ = _constructor(cls)  # type: ignore[method-assign]
        if function is not None:
            cls._function = function
            if cls.forward is Module.forward:
                cls.forward = _forward(cls)

    def _store(self, settings: dict[str, Any]) -> None:
        """Make settings attributes; a subclass checks them here, or changes them."""
        for name, value in settings.items():
            setattr(self, name, value)

    def extra_repr(self) -> str:
        """``extra_repr()`` shows the settings, `inplace` only if set; or the settings that `_shown` names."""
        names = self.__constants__ if self._shown is None else self._shown
        shown = [(name, getattr(self, name)) for name in names]
        return ", ".join(f"{name}={value!r}" for name, value in shown if name != "inplace" or value)


def _declared(cls: type) -> dict[str, Any]:
    """The declared settings and their defaults, which are removed from the class: a buffer may have the same name."""
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


def _forward(cls: type[FunctionLayer]) -> Callable[..., Any]:
    """The `forward` of a class, compiled from text: calling with settings from a dict takes ten times as long."""
    inputs = ", ".join(cls._inputs)
    settings = "".join(f", {name}=self.{name}" for name in cls.__constants__ if name != "inplace")
    lines = [f"def forward(self, {inputs}):"]
    if "inplace" in cls.__constants__:
        lines += ["    if self.inplace:", f"        return F.{cls._function}({inputs}{settings}, inplace=True)"]
    lines += [f"    return F.{cls._function}({inputs}{settings})"]
    namespace: dict[str, Any] = {"F": F}
    exec("\n".join(lines), namespace)
    forward = namespace["forward"]
    forward.__module__, forward.__qualname__ = cls.__module__, f"{cls.__qualname__}.forward"
    return forward
