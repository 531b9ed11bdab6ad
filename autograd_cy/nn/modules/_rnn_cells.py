"""Recurrent cells: single steps (facade)."""

import math
from typing import Any, ClassVar

from ..._core.graph.tensor import Tensor
from ..._core.ops.nn.recurrent import gru_cell, lstm_cell, rnn_relu_cell, rnn_tanh_cell
from ..._core.runtime.entry import public
from ..._creation.filled import empty, zeros
from .. import init
from ..parameter import Parameter
from .module import Module


class RNNCellBase(Module):
    """``RNNCellBase(input_size, hidden_size, bias, num_chunks)``: the base of the cells: weights for `num_chunks` gates.

    >>> import autograd_cy as ag
    >>> ag.nn.RNNCellBase(2, 3, True, 4).weight_ih.shape
    torch.Size([12, 2])
    """

    __constants__: ClassVar = ["input_size", "hidden_size", "bias"]
    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Any
    bias_hh: Any

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(empty((rows, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """``reset_parameters()`` draws all parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}{'' if self.bias is True else f', bias={self.bias}'}"

    def _after(self, cell: Any, input: Tensor, hx: Tensor | None) -> Tensor:
        """The state after the step, for a cell with one state."""
        self._check_rank("input", input)
        if hx is not None:
            self._check_rank("hidden", hx)
        is_batched = input.dim() == 2
        x = input if is_batched else input.unsqueeze(0)
        if hx is None:
            hx = zeros((x.size(0), self.hidden_size), dtype=x.dtype, device=x.device)
        elif not is_batched:
            hx = hx.unsqueeze(0)
        h = cell(x, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return h if is_batched else h.squeeze(0)

    def _check_rank(self, name: str, x: Tensor) -> None:
        if x.dim() not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected {name} to be 1D or 2D, got {x.dim()}D instead")


class RNNCell(RNNCellBase):
    """``RNNCell(input_size, hidden_size, bias=True, nonlinearity='tanh')``: one step of RNN.

    Takes (input, h), of sizes (batch, input_size) and (batch, hidden_size), or without the batch; h may be left out: zeros.

    >>> import autograd_cy as ag
    >>> ag.nn.RNNCell(10, 20)(ag.ones(3, 10)).shape
    torch.Size([3, 20])
    """

    __constants__: ClassVar = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    @public
    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._after(rnn_tanh_cell if self.nonlinearity == "tanh" else rnn_relu_cell, input, hx)

    def extra_repr(self) -> str:
        return super().extra_repr() + ("" if self.nonlinearity == "tanh" else f", nonlinearity={self.nonlinearity}")


class LSTMCell(RNNCellBase):
    """``LSTMCell(input_size, hidden_size, bias=True)``: one step of LSTM.

    Takes (input, (h, c)), of sizes (batch, input_size) and (batch, hidden_size), or without the batch, and returns (h, c).

    >>> import autograd_cy as ag
    >>> h, c = ag.nn.LSTMCell(10, 20)(ag.ones(3, 10))
    >>> h.shape
    torch.Size([3, 20])
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    @public
    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        self._check_rank("input", input)
        for k, state in enumerate(hx or ()):
            self._check_rank(f"hx[{k}]", state)
        is_batched = input.dim() == 2
        x = input if is_batched else input.unsqueeze(0)
        if hx is None:
            state = zeros((x.size(0), self.hidden_size), dtype=x.dtype, device=x.device)
            hx = (state, state)
        elif not is_batched:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        h, c = lstm_cell(x, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return (h, c) if is_batched else (h.squeeze(0), c.squeeze(0))


class GRUCell(RNNCellBase):
    """``GRUCell(input_size, hidden_size, bias=True)``: one step of GRU; arguments and result as in RNNCell.

    >>> import autograd_cy as ag
    >>> ag.nn.GRUCell(10, 20)(ag.ones(10)).shape
    torch.Size([20])
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    @public
    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._after(gru_cell, input, hx)
