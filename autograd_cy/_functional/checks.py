"""Checks that raise an error of a kind, which other libraries call under PyTorch's names with an underscore (facade)."""

from collections.abc import Callable

from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public

Message = Callable[[], object] | None

_UNSAID = "Expected cond to be True, but got False."


@public
def _check_with(error_type: type[Exception], cond: object, message: Message) -> None:
    """``_check_with(error_type, cond, message)`` raises that error with the text message() unless cond is true."""
    if not isinstance(cond, bool):
        if isinstance(cond, Tensor):
            raise TypeError(
                "cond must be a bool, but got a Tensor. For tensor conditions, use torch._check_tensor_all() to assert that "
                "all elements are true."
            )
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    _raise_unless(error_type, cond, message)


def _raise_unless(error_type: type[Exception], cond: bool, message: Message) -> None:
    if cond:
        return
    if message is not None and not callable(message):
        raise TypeError("message must be a callable")
    raise error_type(_UNSAID if message is None else str(message()))


def _check(cond: bool, message: Message = None) -> None:
    """``_check(cond, message)`` raises RuntimeError with the text message() unless cond is true."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: bool, message: Message = None) -> None:
    """``_check_index(cond, message)`` raises IndexError with the text message() unless cond is true."""
    _check_with(IndexError, cond, message)


def _check_value(cond: bool, message: Message = None) -> None:
    """``_check_value(cond, message)`` raises ValueError with the text message() unless cond is true."""
    _check_with(ValueError, cond, message)


def _check_type(cond: bool, message: Message = None) -> None:
    """``_check_type(cond, message)`` raises TypeError with the text message() unless cond is true."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: bool, message: Message = None) -> None:
    """``_check_not_implemented(cond, message)`` raises NotImplementedError with the text message() unless cond is true."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: int, message: Message = None, *, max: int | None = None) -> None:
    """``_check_is_size(i)`` raises RuntimeError unless i can be a size: from 0 to max."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


@public
def _check_tensor_all_with(error_type: type[Exception], cond: Tensor, message: Message = None) -> None:
    """``_check_tensor_all_with(error_type, cond, message)`` raises that error unless all bools of a tensor are true."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype.name != "bool":
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _raise_unless(error_type, bool(cond.all()), message)


def _check_tensor_all(cond: Tensor, message: Message = None) -> None:
    """``_check_tensor_all(cond, message)`` raises RuntimeError with the text message() unless all bools are true."""
    _check_tensor_all_with(RuntimeError, cond, message)


@public
def _assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """``_assert_async(t, assert_msg)`` raises RuntimeError unless the only element of t is not zero. It does so at once."""
    if input.numel() != 1:
        count = "more than one value" if input.numel() else "no values"
        raise RuntimeError(f"Boolean value of Tensor with {count} is ambiguous")
    if not bool(input):
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")
