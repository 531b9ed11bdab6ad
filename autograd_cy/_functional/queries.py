"""Queries of tensors and sizes; many call a method (facade). Imported at first use."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from .._core.graph.tensor import Tensor
from .._core.ops.overrides import handle_torch_function, has_torch_function
from .._core.runtime.entry import public
from .._creation import constructor
from .._types import Size, on_cpu
from .._types import device as Device

T = TypeVar("T", covariant=True)


class _Query(Protocol[T]):
    """A function of one tensor."""

    def __call__(self, input: Tensor) -> T: ...


def _checked(name: str, value: Any, argument: str = "'input' (position 1)") -> Tensor:
    """The argument of a query, checked to be a Tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}(): argument {argument} must be Tensor, not {type(value).__name__}")
    return value


def _query(name: str, answer: type[T]) -> _Query[T]:
    """The function that calls the method of that name, which takes no arguments."""

    def query(input: Tensor) -> Any:
        return getattr(_checked(name, input), name)()

    says = getattr(Tensor, name).__doc__.partition(": ")[2]
    query.__name__ = query.__qualname__ = name
    query.__annotations__["return"] = answer
    query.__doc__ = f"""``{name}(input)`` is ``input.{name}()``: {says}

    >>> import autograd_cy as ag
    >>> x = ag.tensor([0.5])
    >>> ag.{name}(x) == x.{name}()
    True
    """
    return public(query)


get_device = _query("get_device", int)
is_complex = _query("is_complex", bool)
is_conj = _query("is_conj", bool)
is_distributed = _query("is_distributed", bool)
is_floating_point = _query("is_floating_point", bool)
is_neg = _query("is_neg", bool)
is_nonzero = _query("is_nonzero", bool)
is_signed = _query("is_signed", bool)


@public
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """``is_same_size(a, b)`` is whether two tensors have the same shape.

    >>> import autograd_cy as ag
    >>> ag.is_same_size(ag.ones(2), ag.ones(1, 2))
    False
    """
    return _checked("is_same_size", input).is_same_size(_checked("is_same_size", other, "'other' (position 2)"))


@public
def numel(input: Tensor) -> int:
    """``numel(t)`` is the number of elements.

    >>> import autograd_cy as ag
    >>> ag.numel(ag.ones(2, 3))
    6
    """
    if type(input) is not Tensor and has_torch_function((input,)):
        return int(handle_torch_function(numel, (input,), input))
    return _checked("numel", input).numel()


def is_tensor(obj: object) -> bool:
    """``is_tensor(x)`` is whether x is a Tensor.

    >>> import autograd_cy as ag
    >>> ag.is_tensor(ag.ones(2)), ag.is_tensor([1.0])
    (True, False)
    """
    return isinstance(obj, Tensor)


def typename(obj: Any) -> str:
    """``typename(x)`` is the name of a tensor's type, of a class or function, or of the class of anything else.

    >>> import autograd_cy as ag
    >>> ag.typename(ag.ones(2)), ag.typename(ag.finfo), ag.typename(3)
    ('torch.FloatTensor', 'autograd_cy._types.limits.finfo', 'int')
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    named = obj if hasattr(obj, "__qualname__") or hasattr(obj, "__name__") else type(obj)
    name = getattr(named, "__qualname__", "") or named.__name__
    module = getattr(named, "__module__", "") or ""
    return name if module in ("", "builtins") else f"{module}.{name}"


def is_storage(obj: object) -> bool:
    """``is_storage(x)`` is whether an object is a storage, typed or not.

    >>> import autograd_cy as ag
    >>> ag.is_storage(ag.ones(2).untyped_storage()), ag.is_storage(ag.ones(2))
    (True, False)
    """
    return constructor.is_storage(obj)


def get_default_device() -> Device:
    """``get_default_device()`` is the device of tensors created without one: the CPU unless set_default_device() changed it.

    >>> import autograd_cy as ag
    >>> ag.get_default_device()
    device(type='cpu')
    """
    from .._settings.default_device import get_default

    return get_default()


@public
def set_default_device(device: Any) -> None:
    """``set_default_device("meta")`` sets the device of tensors created without one; None is "cpu".

    Other devices raise PyTorch's error for a device that is missing.

    >>> import autograd_cy as ag
    >>> ag.set_default_device("cpu")
    """
    from .._settings.default_device import set_default

    wanted = None if device is None else Device(device)
    if wanted is not None and wanted.type != "meta":
        on_cpu(wanted)
    set_default(wanted)


@public
def broadcast_shapes(*shapes: int | Sequence[int]) -> Size:
    """``broadcast_shapes((2, 1), (3,))`` is the shape to which tensors of those shapes are broadcast.

    RuntimeError where they don't fit.

    >>> import autograd_cy as ag
    >>> ag.broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    found: list[int] = []
    for number, shape in enumerate(shapes):
        sizes = [shape] if isinstance(shape, int) else list(shape)
        found = [1] * (len(sizes) - len(found)) + found
        for axis in range(-len(sizes), 0):
            if sizes[axis] < 0:
                raise ValueError(f"Attempting to broadcast a dimension with negative length! ({sizes[axis]})")
            if sizes[axis] not in (1, found[axis]) and found[axis] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {sizes[axis]} at {axis}! Mismatching argument at index "
                    f"{number} had {tuple(sizes)}; but expected shape should be broadcastable to {found}"
                )
            found[axis] = sizes[axis] if found[axis] == 1 else found[axis]
    return Size(found)
