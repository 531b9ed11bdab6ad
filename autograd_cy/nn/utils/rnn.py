"""Sequences of different lengths: padded to one length, or packed step by step (facade)."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..._core.graph.tensor import Tensor
from ..._core.ops.shapes.joining import cat, stack
from ..._core.runtime.entry import public as _public
from ..._creation.data import tensor
from ..._creation.filled import empty_like, full
from ..._creation.sequences import arange

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]  # fmt: skip


class _Fields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Fields):
    """``PackedSequence(data, batch_sizes, sorted_indices=None, unsorted_indices=None)``: sequences step by step.

    Longest first: `data` has the first elements of all sequences, then all second elements, and so on; `batch_sizes` is
    their number at each step. `sorted_indices` sort the given sequences by length, `unsorted_indices` undo it.
    pack_padded_sequence() and pack_sequence() make them; recurrent layers take and return them.

    >>> import autograd_cy as ag
    >>> ag.nn.utils.rnn.pack_sequence([ag.tensor([1, 2, 3]), ag.tensor([4])]).data
    tensor([1, 4, 2, 3])
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> "PackedSequence":
        if batch_sizes is None:  # a pair
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a tuple of (data, batch_sizes)")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def _with(self, data: Tensor) -> "PackedSequence":
        """The same with other data."""
        return self if data is self.data else type(self)(data, *self[1:])

    def to(self, *args: Any, **kwargs: Any) -> "PackedSequence":
        """``to(*args, **kwargs)``: with converted data, as Tensor.to(); itself if nothing changes."""
        return self._with(self.data.to(*args, **kwargs))

    def cpu(self, *args: Any, **kwargs: Any) -> "PackedSequence":
        """``cpu()`` -> itself."""
        return self._with(self.data.cpu(*args, **kwargs))

    def cuda(self, *args: Any, **kwargs: Any) -> "PackedSequence":
        """``cuda()`` raises the error of Tensor.cuda()."""
        return self._with(self.data.cuda(*args, **kwargs))

    def double(self) -> "PackedSequence":
        """``double()``: with float64 data; likewise the methods named after other types."""
        return self._with(self.data.double())

    def float(self) -> "PackedSequence":
        return self._with(self.data.float())

    def half(self) -> "PackedSequence":
        return self._with(self.data.half())

    def long(self) -> "PackedSequence":
        return self._with(self.data.long())

    def int(self) -> "PackedSequence":
        return self._with(self.data.int())

    def short(self) -> "PackedSequence":
        return self._with(self.data.short())

    def char(self) -> "PackedSequence":
        return self._with(self.data.char())

    def byte(self) -> "PackedSequence":
        return self._with(self.data.byte())

    def pin_memory(self) -> "PackedSequence":
        """``pin_memory()``: with pinned data, as Tensor.pin_memory()."""
        return self._with(self.data.pin_memory())

    def is_pinned(self) -> bool:
        """``is_pinned()`` -> whether the data are."""
        return self.data.is_pinned()

    @property
    def is_cuda(self) -> bool:
        return self.data.is_cuda


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """``invert_permutation(permutation)``: the inverse permutation; None for None.

    >>> import autograd_cy as ag
    >>> ag.nn.utils.rnn.invert_permutation(ag.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    return empty_like(permutation).scatter_(0, permutation, arange(permutation.numel()))


def _packing(lengths: Any, steps: int) -> tuple[Any, Any]:
    """Of sequences in order of their lengths: the row of (steps, batch) for each row of the packed data; the batch sizes."""
    valid = np.arange(steps)[:, None] < lengths[None]
    return np.flatnonzero(valid), valid.sum(1)


def _lengths(lengths: Any) -> Any:
    values = np.asarray(lengths.detach().numpy() if isinstance(lengths, Tensor) else lengths)
    if values.ndim != 1 or (values.size and values.dtype.kind not in "iu"):
        raise RuntimeError(f"'lengths' must be a vector of integers, got {values.tolist()}")
    return values.astype(np.int64)


@_public
def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """``pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True)`` -> PackedSequence.

    `input` is (steps, batch, *), or with `batch_first` (batch, steps, *); `lengths`, a tensor or list, are the lengths without
    padding. RuntimeError if they increase; without `enforce_sorted` the sequences are sorted first.

    >>> import autograd_cy as ag
    >>> padded = ag.tensor([[1, 4], [2, 0], [3, 0]])
    >>> ag.nn.utils.rnn.pack_padded_sequence(padded, [3, 1])[:2]
    (tensor([1, 4, 2, 3]), tensor([2, 1, 1]))
    """
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    counts, order = _lengths(lengths), None
    if not enforce_sorted:
        order = tensor(np.argsort(-counts, kind="stable"))
        counts = counts[order.numpy()]
        input = input.index_select(0 if batch_first else 1, order)
    padded = input.transpose(0, 1) if batch_first else input
    _check_lengths(padded, counts)
    rows, batch_sizes = _packing(counts, int(counts[0]))
    data = padded.flatten(0, 1).index_select(0, tensor(rows))
    return PackedSequence(data, tensor(batch_sizes), order, None)


def _check_lengths(padded: Tensor, counts: Any) -> None:
    """Refuse lengths that don't fit (steps, batch, *)."""
    if len(counts) != padded.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={padded.shape[1]})"
        )
    if (counts[1:] > counts[:-1]).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not "
            "need ONNX exportability."
        )
    if counts[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if counts[0] > padded.shape[0]:
        raise RuntimeError(f"Expected lengths of at most {padded.shape[0]}, the steps of the input, but got {counts[0]}")


@_public
def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """``pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None)`` -> (padded, lengths).

    Undoes pack_padded_sequence(). `padded` has as many steps as the longest sequence, or `total_length`: ValueError if that
    is shorter.

    >>> import autograd_cy as ag
    >>> packed = ag.nn.utils.rnn.pack_sequence([ag.tensor([1, 2, 3]), ag.tensor([4])])
    >>> ag.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    (tensor([[1, 2, 3],
            [4, 0, 0]]), tensor([3, 1]))
    """
    data, batch_sizes, _, unsorted_indices = sequence
    sizes = batch_sizes.numpy()
    steps = longest = len(sizes)
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {longest}"
            )
        steps = total_length
    counts = (np.arange(sizes[0])[None] < sizes[:, None]).sum(0)
    rows, _ = _packing(counts, longest)
    padded = full((steps * int(sizes[0]), *data.shape[1:]), padding_value, dtype=data.dtype)
    padded = padded.index_copy(0, tensor(rows), data).unflatten(0, (steps, int(sizes[0])))
    lengths = tensor(counts)
    if unsorted_indices is not None:
        padded, lengths = padded.index_select(1, unsorted_indices), lengths[unsorted_indices]
    return padded.transpose(0, 1) if batch_first else padded, lengths


@_public
def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """``pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side='right')`` -> (steps, batch, *).

    Each sequence is (length, *); shorter ones are padded on that side. With `batch_first` the result is (batch, steps, *).

    >>> import autograd_cy as ag
    >>> ag.nn.utils.rnn.pad_sequence([ag.tensor([1, 2]), ag.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not isinstance(sequences, Iterable):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    sequences = tuple(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    longest = max(x.shape[0] for x in sequences)
    padded = []
    for x in sequences:
        if x.shape[0] < longest:
            padding = x.new_full((longest - x.shape[0], *x.shape[1:]), padding_value)
            x = cat([x, padding] if padding_side == "right" else [padding, x])
        padded.append(x)
    return stack(padded, 0 if batch_first else 1)


@_public
def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """``unpad_sequence(padded_sequences, lengths, batch_first=False)`` -> list of the sequences without their padding.

    >>> import autograd_cy as ag
    >>> ag.nn.utils.rnn.unpad_sequence(ag.tensor([[1, 2], [3, 0]]), ag.tensor([2, 1]), batch_first=True)
    [tensor([1, 2]), tensor([3])]
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [x[: int(n)] for x, n in zip(padded_sequences, lengths, strict=False)]


@_public
def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """``pack_sequence(sequences, enforce_sorted=True)`` -> PackedSequence: of sequences of size (length, *).

    >>> import autograd_cy as ag
    >>> ag.nn.utils.rnn.pack_sequence([ag.tensor([1]), ag.tensor([2, 3])], enforce_sorted=False).sorted_indices
    tensor([1, 0])
    """
    lengths = [x.shape[0] for x in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


@_public
def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """``unpack_sequence(packed_sequences)`` -> list of the sequences, in the order in which they were given.

    >>> import autograd_cy as ag
    >>> ag.nn.utils.rnn.unpack_sequence(ag.nn.utils.rnn.pack_sequence([ag.tensor([1, 2]), ag.tensor([3])]))
    [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
