"""Tensors on the device "meta": shape, dtype and strides without elements (facade). Imported when one is made.

NOTE [Meta]
A tensor on "meta" is an instance of a subclass of Tensor, so that calls with it are handed over (NOTE [Overrides]) and others
pay nothing.
  1. Its array is on a placeholder, which has addresses and no pages.
  2. An operation runs as on any tensors, reads zeros, and its results get placeholders. So it takes the time of the operation
     on the CPU, and for as long as it runs the memory of its results. What fills a tensor, makes one like it, or gives it
     another dtype does nothing but that.
  3. The graph is the usual one. What its nodes saved of outputs has memory until the graph dies.
  4. A gradient gets its placeholder when `.grad` is read.
  5. Operations that depend on elements are refused: `item()`, `nonzero()`, masks as indices.
"""

import importlib
import inspect
from typing import Any, NoReturn

import numpy as np

from .._compat import PACKAGE
from .._core.graph.tensor import Tensor, from_array, metadata_of
from .._core.ops.indexing.slicing import owner_of_memory, taken_into
from .._core.ops.overrides import subclasses_as_tensors
from .._core.ops.shapes.reshaping import replace_array
from .._creation import laid_out_like
from .._memory import moves
from .._memory.placeholders import Placeholder, give_pages_back, memory_of, placeholder
from .._types import Size, on_cpu
from .._types import device as Device
from ..autograd.grad_mode import is_grad_enabled
from .meta_devices import check_devices, has_mask, without_device
from .meta_sizes import CASTS, LIKES, NEW, SHAPED, array_of_call, array_of_shape, converted, give_room

_NO_DATA = "Cannot copy out of meta tensor; no data!"
_NO_ITEM = "Tensor.item() cannot be called on meta tensors"
_NO_NUMPY = "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."

_GRAD: Any = vars(Tensor)["grad"]
_FILLS = {
    "bernoulli_", "cauchy_", "exponential_", "fill_", "geometric_", "log_normal_", "normal_", "random_", "uniform_", "zero_",
}  # fmt: skip
_BY_ELEMENTS = {
    "allclose", "argwhere", "bincount", "equal", "masked_select", "nonzero", "nonzero_static", "unique", "unique_consecutive",
    "_unique", "_unique2",
}  # fmt: skip


def _refused(kind: type[Exception], text: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise kind(text)

    return method


class MetaTensor(Tensor):
    """A tensor without elements; for users a Tensor with `is_meta` True."""

    is_meta = True
    is_cpu = False
    tolist = cpu = _refused(NotImplementedError, _NO_DATA)
    __bool__ = __float__ = __int__ = __complex__ = __index__ = _refused(RuntimeError, _NO_ITEM)
    numpy = __array__ = _refused(TypeError, _NO_NUMPY)
    __dlpack__ = _refused(BufferError, "Cannot pack tensors on meta")
    share_memory_ = _refused(RuntimeError, "_share_fd_: only available on CPU")

    def item(self) -> Any:
        """item() is refused."""
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        raise RuntimeError(_NO_ITEM)

    @property
    def device(self) -> Device:
        """The device "meta"."""
        return Device("meta")

    @property
    def grad(self) -> Any:
        """The gradient, without elements either."""
        found = _GRAD.__get__(self)
        if found is not None and not isinstance(found, MetaTensor):
            found = on_meta(found)
            _GRAD.__set__(self, found)
        return found

    @grad.setter
    def grad(self, value: Any) -> None:
        _GRAD.__set__(self, value)

    @grad.deleter
    def grad(self) -> None:
        _GRAD.__delete__(self)

    def data_ptr(self) -> int:
        """data_ptr() is 0."""
        return 0

    const_data_ptr = data_ptr

    def is_shared(self) -> bool:
        """is_shared() is False."""
        return False

    def type(self, dtype: Any = None) -> Any:
        """type() -> "torch.meta.FloatTensor"; or in another dtype."""
        if dtype is not None:
            return self.__torch_function__(Tensor.type, (), (self, dtype))
        return Tensor.type(from_array(np.empty(0, metadata_of(self).dtype))).replace("torch.", "torch.meta.")

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """to(dtype | device | other) -> Tensor: without elements, too; NotImplementedError for another device."""
        args, kwargs, device = without_device(args, kwargs)
        if device is not None and device.type != "meta":
            on_cpu(device)
            raise NotImplementedError(_NO_DATA)
        return self.__torch_function__(Tensor.to, (), (self, *args), kwargs)

    def __setitem__(self, index: Any, value: Any) -> None:
        check_devices("__setitem__", (self, value))
        with subclasses_as_tensors():
            Tensor.__setitem__(self, index, value)
        give_pages_back(metadata_of(self))

    def __format__(self, spec: str) -> str:
        return object.__format__(self, spec)

    def __repr__(self) -> str:
        from .text import meta_repr  # only needed here

        return meta_repr(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            if not self.is_leaf:
                raise RuntimeError(
                    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
                    f"This one was computed by {self.grad_fn!r}; take detach().clone()."
                )
            memo[id(self)] = _rebuilt(*_description(self))
        return memo[id(self)]

    def __copy__(self) -> Any:
        return _rebuilt(*_description(self))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuilt, _description(self)

    def _as_parameter(self, requires_grad: bool) -> Any:
        kind = importlib.import_module(f"{PACKAGE}.nn._meta_parameter").MetaParameter  # for networks
        return Tensor._make_subclass(kind, self, requires_grad)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _called(func, args, kwargs or {})


def _description(tensor: Any) -> tuple[Any, Any, Any, Any, Any, Any]:
    array = metadata_of(tensor)
    return type(tensor), array.dtype, array.shape, array.strides, tensor.requires_grad, vars(tensor)


def _rebuilt(kind: Any, dtype: Any, shape: Any, strides: Any, requires_grad: bool, attributes: Any = None) -> Any:
    made = Tensor._make_subclass(kind, from_array(placeholder(shape, dtype, strides)), requires_grad)
    if attributes:
        vars(made).update(attributes)
    return made


def made(array: Any, requires_grad: bool = False) -> Any:
    """made(array, requires_grad) -> a tensor on a placeholder."""
    return taken_into(MetaTensor, from_array(array)).requires_grad_(requires_grad)


def like(tensor: Tensor) -> Any:
    """like(tensor) -> a leaf with the shape, dtype and strides of a tensor, and no elements."""
    array = metadata_of(tensor)
    if min(array.strides, default=0) < 0:
        return made(placeholder(array.shape, array.dtype))
    return made(placeholder(array.shape, array.dtype, array.strides))


def moved(tensor: Tensor) -> Any:
    """moved(tensor) -> a leaf as a copy of a tensor would be, without elements."""
    array = metadata_of(tensor)
    return made(laid_out_like(array, placeholder, array.dtype))


def on_meta(tensor: Any) -> Any:
    """on_meta(tensor) -> an operation's result, not referenced elsewhere, without its elements; it keeps its graph."""
    array = metadata_of(tensor)
    if memory_of(array) is None:
        owner, base = owner_of_memory(array), tensor._base
        place = np.ndarray((moves.extent(owner)[1],), np.uint8, Placeholder(moves.extent(owner)[1]))
        moves.move({id(owner): owner}, {id(owner): place}, [tensor, *([] if base is None else [base])])
    return taken_into(MetaTensor, tensor)


def _all_on_meta(result: Any, arguments: Any) -> Any:
    """A result with all of its tensors on meta; those that are arguments stay as they are."""
    if isinstance(result, Tensor):
        if isinstance(result, MetaTensor) or any(result is x for x in arguments):
            return result
        return on_meta(result)
    if isinstance(result, tuple | list) and not isinstance(result, Size):
        items = [_all_on_meta(item, arguments) for item in result]
        return result._make(items) if hasattr(result, "_make") else type(result)(items)
    return result


def _called(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """A call with a tensor on meta: case 2 of NOTE [Meta]."""
    name = getattr(func, "__name__", "")
    arguments = (*args, *kwargs.values())
    if name in _BY_ELEMENTS or (name == "getitem" and has_mask(args[1:])):
        raise NotImplementedError(f"{name}(): the shape of its result depends on elements, and meta tensors have none")
    if name in ("to", "type_as"):  # of a tensor with elements, to the device of one without
        return _moved(func, args, kwargs)
    if name == "set_item" and not isinstance(args[0], MetaTensor):
        raise NotImplementedError(_NO_DATA)
    if name == "copy_":
        return _copied(func, args, kwargs)
    if name in ("resize_", "resize_as_"):
        return _resized(func, args, kwargs)
    if name == "new" and isinstance(args[0], MetaTensor) and (shape := _sizes_of_new(args[1:], kwargs)) is not None:
        return made(placeholder(shape, metadata_of(args[0]).dtype))
    device = kwargs.pop("device", None)
    if name in LIKES or name in NEW:
        if device is not None and Device(device).type != "meta":
            on_cpu(device)
            with subclasses_as_tensors():
                return func(*args, **kwargs)
        return made(*array_of_shape(func, args, kwargs))
    check_devices(name, arguments)
    if name in _FILLS and not (is_grad_enabled() and args[0].requires_grad):
        if name == "fill_":
            func(from_array(np.empty(0, metadata_of(args[0]).dtype)), *args[1:], **kwargs)
        return args[0]
    return _run(func, args, kwargs, arguments)


def _sizes_of_new(args: Any, kwargs: dict[str, Any]) -> tuple[int, ...] | None:
    """The sizes that Tensor.new() got; None if it got data, or sizes that it is to refuse."""
    given = tuple(args) or kwargs.get("size", ())
    if len(args) == 1 and isinstance(args[0], Size):
        given = args[0]
    ok = isinstance(given, tuple | list) and kwargs.keys() <= {"size"} and all(type(n) is int and n >= 0 for n in given)
    return tuple(given or (0,)) if ok else None


def _run(func: Any, args: Any, kwargs: dict[str, Any], arguments: Any) -> Any:
    if getattr(func, "__name__", "") in CASTS and not (is_grad_enabled() and args[0].requires_grad):
        return _converted(func, args, kwargs)
    with subclasses_as_tensors():
        result = func(*args, **kwargs)
    if isinstance(result, MetaTensor) and args and result is args[0]:
        give_pages_back(metadata_of(result))
    return _all_on_meta(result, arguments)


def _moved(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """to() of a tensor with elements takes them away where it is to be on the device of one without."""
    if isinstance(args[0], MetaTensor):
        if func.__name__ == "type_as" and not args[1].is_meta:
            raise NotImplementedError(_NO_DATA)
        return _run(func, args, kwargs, args)
    rest, options, device = without_device(args[1:], kwargs)
    there = args[0].to(*rest, **options)
    return moved(there) if device is not None and device.type == "meta" else there


def _converted(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    if func.__name__ == "type" and len(args) + len(kwargs) == 1:  # asks for the name
        return args[0].type()
    with subclasses_as_tensors():
        array = converted(func, args, kwargs)
    return args[0] if array is None else made(array)


def _resized(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """resize_() and resize_as_(), which leave a tensor as it was if they fail."""
    tensor, *size = args
    before = metadata_of(tensor)
    other = size[0] if size else kwargs.get("other")
    give_room(tensor, other.shape if isinstance(other, Tensor) else other if isinstance(other, tuple | list) else size)
    try:
        with subclasses_as_tensors():
            return func(*args, **kwargs)
    except BaseException:
        replace_array(tensor, from_array(before))
        raise


def _copied(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """copy_(): to a tensor without elements there is nothing to do, from one there is nothing to copy."""
    target, source = args[0], args[1] if len(args) > 1 else kwargs["src"]
    if not isinstance(target, MetaTensor):
        raise NotImplementedError(_NO_DATA)
    if isinstance(source, Tensor) and not (is_grad_enabled() and (target.requires_grad or source.requires_grad)):
        if np.broadcast_shapes(target.shape, source.shape) == tuple(target.shape):
            return target
    return _run(func, args, kwargs, (*args, *kwargs.values()))


def answer(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """answer(function, args, kwargs) -> what a public function makes that was called for the device "meta"."""
    name = function.__name__
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return NotImplemented
    if bound.arguments.get("device") is None or Device(bound.arguments["device"]).type != "meta":
        return NotImplemented
    bound.arguments["device"] = None
    if name in SHAPED or name in LIKES or name in NEW:
        options = {key: value for key, value in bound.kwargs.items() if key != "device"}
        with subclasses_as_tensors():
            return made(*array_of_shape(function, bound.args, options))
    with subclasses_as_tensors():
        known = array_of_call(function, bound.arguments)
        result = function(*bound.args, **bound.kwargs) if known is None else None
    return _without_elements(result) if known is None else made(known[0], known[1].requires_grad)


def _without_elements(result: Any) -> Any:
    if isinstance(result, Tensor):
        if isinstance(result, MetaTensor):
            return result
        return like(result).requires_grad_(result.requires_grad and result.is_leaf)
    if isinstance(result, tuple | list):
        return type(result)(_without_elements(x) for x in result)
    return NotImplemented
