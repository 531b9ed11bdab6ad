"""numpy.fft: the counterparts (facade)."""

from collections.abc import Callable
from typing import Any

from .. import fft
from ._arguments import Declined, counterpart, tensor


def _of_one_dimension(operation: Callable[..., Any]) -> Callable[..., Any]:
    def transform(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        if out is not None:
            raise Declined
        return operation(tensor(a), n, axis, norm)

    return transform


def _of_several(operation: Callable[..., Any], last: Any) -> Callable[..., Any]:
    def transform(a: Any, s: Any = None, axes: Any = last, norm: Any = None, out: Any = None) -> Any:
        if out is not None:
            raise Declined
        return operation(tensor(a), s, axes, norm)

    return transform


def _shifted(operation: Callable[..., Any]) -> Callable[..., Any]:
    def shift(x: Any, axes: Any = None) -> Any:
        return operation(tensor(x), axes)

    return shift


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    counterpart(f"fft.{_name}")(_of_one_dimension(getattr(fft, _name)))
for _name in ("fft2", "ifft2", "rfft2", "irfft2"):
    counterpart(f"fft.{_name}")(_of_several(getattr(fft, _name), (-2, -1)))
for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    counterpart(f"fft.{_name}")(_of_several(getattr(fft, _name), None))
for _name in ("fftshift", "ifftshift"):
    counterpart(f"fft.{_name}")(_shifted(getattr(fft, _name)))
