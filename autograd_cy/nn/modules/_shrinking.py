"""Activations that move small elements to a value (facade)."""

from ._function_layer import FunctionLayer

__all__ = ["Hardshrink", "Softshrink", "Tanhshrink", "Threshold"]


class Hardshrink(FunctionLayer, function="hardshrink"):
    """``Hardshrink(lambd=0.5)``: 0 where abs(x) is at most `lambd`, else x.

    >>> import autograd_cy as ag
    >>> ag.nn.Hardshrink()(ag.tensor([0.3, 0.7]))
    tensor([0.0000, 0.7000])
    """

    lambd: float = 0.5

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Softshrink(FunctionLayer, function="softshrink"):
    """``Softshrink(lambd=0.5)``: x moved towards 0 by `lambd`, at most to 0.

    >>> import autograd_cy as ag
    >>> ag.nn.Softshrink(1.0)(ag.tensor([-3.0, 0.5]))
    tensor([-2.,  0.])
    """

    lambd: float = 0.5

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Tanhshrink(FunctionLayer, function="tanhshrink"):
    """``Tanhshrink()``: x - tanh(x).

    >>> import autograd_cy as ag
    >>> ag.nn.Tanhshrink()(ag.tensor([1.0]))
    tensor([0.2384])
    """


class Threshold(FunctionLayer, function="threshold"):
    """``Threshold(threshold, value, inplace=False)``: elements not above `threshold` become `value`.

    >>> import autograd_cy as ag
    >>> ag.nn.Threshold(0.5, -1.0)(ag.tensor([0.2, 0.7]))
    tensor([-1.0000,  0.7000])
    """

    threshold: float
    value: float
    inplace: bool = False
