"""Recurrent layers, with one compiled operation per direction; and their cells (facade)."""

import math
import warnings
from typing import TYPE_CHECKING, Any, ClassVar, overload

from ..._core.graph.tensor import Tensor
from ..._core.ops.nn.recurrent import gru, lstm, rnn_relu, rnn_tanh
from ..._core.runtime.entry import public as _public
from ..._creation.filled import empty, zeros
from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from ._rnn_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase
from .module import Module

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

_State = tuple[Tensor, Tensor]  # h and c
_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_LISTS = ("_flat_weights_names", "_flat_weights")  # PyTorch's layers store them, these compute them
_OPERATIONS: dict[str, Any] = {"LSTM": lstm, "GRU": gru, "RNN_TANH": rnn_tanh, "RNN_RELU": rnn_relu}


def _check_sizes(
    input_size: Any, hidden_size: Any, num_layers: int, dropout: Any, proj_size: int, bias: Any, batch_first: Any
) -> None:
    if not isinstance(dropout, (int, float)) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater "
            f"than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )
    for name, size in (("input_size", input_size), ("hidden_size", hidden_size)):
        if not isinstance(size, int):
            raise TypeError(f"{name} should be of type int, got: {type(size).__name__}")
        if size <= 0:
            raise ValueError(f"{name} must be greater than zero")
    for name, flag in (("bias", bias), ("batch_first", batch_first)):
        if not isinstance(flag, bool):
            raise TypeError(f"{name} should be of type bool, got: {type(flag).__name__}")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNNBase(Module):
    """``RNNBase(mode, input_size, hidden_size, ...)``: the base of RNN, LSTM and GRU; `mode` names the operation.

    The parameters of layer k are weight_ih_lk, weight_hh_lk, bias_ih_lk, bias_hh_lk and, with `proj_size`, weight_hr_lk; for
    the reverse direction the names end in ``_reverse``. All are drawn uniformly from [-b, b] with b = 1 / sqrt(hidden_size).

    >>> import autograd_cy as ag
    >>> [name for name, _ in ag.nn.RNNBase("GRU", 2, 3).named_parameters()]
    ['weight_ih_l0', 'weight_hh_l0', 'bias_ih_l0', 'bias_hh_l0']
    """

    __constants__: ClassVar = [
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional", "proj_size",
    ]  # fmt: skip

    @_public
    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_sizes(input_size, hidden_size, num_layers, dropout, proj_size, bias, batch_first)
        if mode not in _GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: self._directions]:
                shapes = self._shapes(layer)
                self._all_weights.append([f"{name}_l{layer}{suffix}" for name in shapes])
                for name, shape in zip(self._all_weights[-1], shapes.values(), strict=True):
                    setattr(self, name, Parameter(empty(shape, device=device, dtype=dtype)))
        self.reset_parameters()

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    def _shapes(self, layer: int) -> dict[str, tuple[int, ...]]:
        """The shape of each parameter of one direction of a layer."""
        rows, output = _GATES[self.mode] * self.hidden_size, self.proj_size or self.hidden_size
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (rows, self.input_size if layer == 0 else output * self._directions),
            "weight_hh": (rows, output),
        }
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        return shapes

    def reset_parameters(self) -> None:
        """``reset_parameters()`` draws all parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """``flatten_parameters()`` does nothing: no kernel needs all parameters in one block of memory."""

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters: a list for each direction of each layer."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def __getstate__(self) -> dict[str, Any]:
        """The state with the lists of PyTorch's layers, which PyTorch reads from files."""
        weights = [self._parameters.get(name) for name in self._flat_weights_names]
        lists = {"_flat_weights_names": self._flat_weights_names, "_flat_weights": weights}
        return super().__getstate__() | ({} if any(weight is None for weight in weights) else lists)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({name: value for name, value in state.items() if name not in _LISTS})

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name) for name in self._flat_weights_names]

    @_flat_weights.setter
    def _flat_weights(self, weights: list[Any]) -> None:
        """Set the weights that forward() uses, which need not be parameters; the parameters stay as they are."""
        names = self._flat_weights_names
        if len(weights) != len(names):
            raise ValueError(f"_flat_weights: expected {len(names)} weights ({', '.join(names)}), got {len(weights)}")
        own = vars(self)
        for name, weight in zip(names, weights, strict=True):
            own.pop(name, None)
            if weight is not self._parameters.get(name):
                own[name] = weight

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """``check_input(input, batch_sizes)`` raises an error if the input's dtype or size is wrong."""
        weight = self._parameters.get("weight_ih_l0")
        if weight is not None and input.dtype is not weight.dtype:
            raise ValueError(f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert input: "
                             f"input.to({weight.dtype}), or convert model: model.to({input.dtype})")
        dims = 2 if batch_sizes is not None else 3
        if input.dim() != dims:
            raise RuntimeError(f"input must have {dims} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def _batch(self, input: Tensor, batch_sizes: Tensor | None) -> int:
        if batch_sizes is not None:
            return int(batch_sizes[0])
        return input.size(0 if self.batch_first else 1)

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """``get_expected_hidden_size(input, batch_sizes)`` -> the size that h has to have."""
        return self.num_layers * self._directions, self._batch(input, batch_sizes), self.proj_size or self.hidden_size

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """``check_hidden_size(hx, expected_hidden_size, msg)`` raises a RuntimeError if a state has another size."""
        if tuple(hx.shape) != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """``check_forward_args(input, hidden, batch_sizes)`` raises an error if they don't fit each other."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """``permute_hidden(hx, permutation)`` -> the states with their samples in another order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    def _zeros(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        """The default initial states."""
        return zeros(self.get_expected_hidden_size(input, batch_sizes), dtype=input.dtype, device=input.device)

    def _check_state_rank(self, hx: Any, is_batched: bool) -> None:
        if hx.dim() != (3 if is_batched else 2):
            kind = "batched 3-D" if is_batched else "unbatched 2-D"
            raise RuntimeError(f"For {kind} input, hx should also be {kind[-3:]} but got {hx.dim()}-D tensor")

    def _unsqueezed(self, hx: Any) -> Any:
        return hx.unsqueeze(1)

    def _squeezed(self, hx: Any) -> Any:
        return hx.squeeze(1)

    def forward(self, input: Any, hx: Any = None) -> Any:
        if isinstance(input, PackedSequence):
            return self._of_packed(input, hx)
        if input.dim() not in (2, 3):
            name = type(self).__name__
            raise ValueError(f"{name}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        is_batched = input.dim() == 3
        if hx is not None:
            self._check_state_rank(hx, is_batched)
        if not is_batched:
            input, hx = input.unsqueeze(0 if self.batch_first else 1), None if hx is None else self._unsqueezed(hx)
        hx = self._zeros(input, None) if hx is None else hx
        self.check_forward_args(input, hx, None)
        output, *states = _OPERATIONS[self.mode](
            input, hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional,
            self.batch_first,
        )  # fmt: skip
        state = tuple(states) if self.mode == "LSTM" else states[0]
        if not is_batched:
            return output.squeeze(0 if self.batch_first else 1), self._squeezed(state)
        return output, state

    def _of_packed(self, sequence: PackedSequence, hx: Any) -> Any:
        data, batch_sizes, sorted_indices, unsorted_indices = sequence
        hx = self._zeros(data, batch_sizes) if hx is None else self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(data, hx, batch_sizes)
        output, *states = _OPERATIONS[self.mode](
            data, batch_sizes, hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
            self.bidirectional,
        )  # fmt: skip
        state = tuple(states) if self.mode == "LSTM" else states[0]
        packed = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
        return packed, self.permute_hidden(state, unsorted_indices)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        usual = {
            "proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0, "bidirectional": False,
        }  # fmt: skip
        differing = [name for name, value in usual.items() if getattr(self, name) != value]
        return text + "".join(f", {name}={getattr(self, name)}" for name in differing)


def _without_projection(kwargs: dict[str, Any]) -> dict[str, Any]:
    if "proj_size" in kwargs:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
    return kwargs


class RNN(RNNBase):
    """``RNN(input_size, hidden_size, num_layers=1, nonlinearity='tanh', bias=True, ...)``: a simple recurrent network.

    h' = tanh(x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh), or relu in place of tanh, at each step; the keywords
    `batch_first`, `dropout` (between layers) and `bidirectional` as in PyTorch. Takes (input, h), input of size (steps, batch,
    input_size), (steps, input_size) or a PackedSequence, h of (layers * directions, batch, hidden_size) or None for zeros;
    returns the output of the last layer, (steps, batch, directions * hidden_size), and the last h.

    >>> import autograd_cy as ag
    >>> output, h = ag.nn.RNN(10, 20, num_layers=2)(ag.ones(5, 3, 10))
    >>> output.shape, h.shape
    (torch.Size([5, 3, 20]), torch.Size([2, 3, 20]))
    """

    if TYPE_CHECKING:

        @overload
        def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]: ...
        @overload
        def forward(self, input: PackedSequence, hx: Tensor | None = None) -> tuple[PackedSequence, Tensor]: ...
        def forward(self, input: Any, hx: Any = None) -> Any: ...

    @_public
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs = _without_projection(kwargs)
        nonlinearity = args[3] if len(args) > 3 else kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self.nonlinearity = nonlinearity
        super().__init__(f"RNN_{nonlinearity.upper()}", *args[:3], *args[4:], **kwargs)


class LSTM(RNNBase):
    """``LSTM(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
    proj_size=0)``: a network of long short-term memory, with a state c besides h.

    i, f, g, o are the four parts of x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh; then c' = sigmoid(f) * c +
    sigmoid(i) * tanh(g) and h' = sigmoid(o) * tanh(c'), with `proj_size` multiplied by weight_hr.T. Sizes as in RNN; takes
    (input, (h, c)) and returns (output, (h, c)).

    >>> import autograd_cy as ag
    >>> output, (h, c) = ag.nn.LSTM(10, 20, batch_first=True)(ag.ones(3, 5, 10))
    >>> output.shape, c.shape
    (torch.Size([3, 5, 20]), torch.Size([1, 3, 20]))
    """

    if TYPE_CHECKING:

        @overload
        def forward(self, input: Tensor, hx: _State | None = None) -> tuple[Tensor, _State]: ...
        @overload
        def forward(self, input: PackedSequence, hx: _State | None = None) -> tuple[PackedSequence, _State]: ...
        def forward(self, input: Any, hx: Any = None) -> Any: ...

    @_public
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """``get_expected_cell_size(input, batch_sizes)`` -> the size that c has to have."""
        return self.num_layers * self._directions, self._batch(input, batch_sizes), self.hidden_size

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        self.check_input(input, batch_sizes)
        of_h, of_c = self.get_expected_hidden_size(input, batch_sizes), self.get_expected_cell_size(input, batch_sizes)
        self.check_hidden_size(hidden[0], of_h, "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(hidden[1], of_c, "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        return hx if permutation is None else tuple(super(LSTM, self).permute_hidden(x, permutation) for x in hx)

    def _zeros(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        size = self.get_expected_cell_size(input, batch_sizes)
        return super()._zeros(input, batch_sizes), zeros(size, dtype=input.dtype, device=input.device)

    def _check_state_rank(self, hx: Any, is_batched: bool) -> None:
        rank = 3 if is_batched else 2
        if hx[0].dim() != rank or hx[1].dim() != rank:
            kind = "batched" if is_batched else "unbatched"
            raise RuntimeError(
                f"For {kind} {rank}-D input, hx and cx should also be {rank}-D but got ({hx[0].dim()}-D, {hx[1].dim()}-D) "
                "tensors"
            )

    def _unsqueezed(self, hx: Any) -> Any:
        return tuple(x.unsqueeze(1) for x in hx)

    def _squeezed(self, hx: Any) -> Any:
        return tuple(x.squeeze(1) for x in hx)


class GRU(RNNBase):
    """``GRU(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False)``: a
    network of gated recurrent units.

    With (x_r, x_z, x_n) = x @ weight_ih.T + bias_ih and (h_r, h_z, h_n) = h @ weight_hh.T + bias_hh, each in three parts:
    r = sigmoid(x_r + h_r), z = sigmoid(x_z + h_z), n = tanh(x_n + r * h_n), h' = (1 - z) * n + z * h. Arguments and results
    as in RNN.

    >>> import autograd_cy as ag
    >>> output, h = ag.nn.GRU(10, 20, bidirectional=True)(ag.ones(5, 3, 10))
    >>> output.shape, h.shape
    (torch.Size([5, 3, 40]), torch.Size([2, 3, 20]))
    """

    if TYPE_CHECKING:

        @overload
        def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]: ...
        @overload
        def forward(self, input: PackedSequence, hx: Tensor | None = None) -> tuple[PackedSequence, Tensor]: ...
        def forward(self, input: Any, hx: Any = None) -> Any: ...

    @_public
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("GRU", *args, **_without_projection(kwargs))
