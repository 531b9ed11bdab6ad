"""Errors of checkpoint() when the second run differs from the first (facade)."""

from typing import Any

_TIP = (
    "The function must do the same operations on the same shapes both times: random numbers are repeated unless "
    "preserve_rng_state=False, other state must be the function's own arguments."
)
_DEBUG_TIP = (
    "Tip: To see a more detailed error message, either pass `debug=True` to `torch.utils.checkpoint.checkpoint(...)` or wrap "
    "the code block with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):`."
)
_DEBUG_TEXT = """ \
An error happened while unpacking tensors; dumping logs of latest computation
because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.
Each line is an operation that saved a tensor, and where the function called it.

Operations executed during the original forward:

{forward}
Operations executed during recomputation:

{again}
{difference}

+------------------------------------------------------------------------------+
 ERROR: Detected non-determinism while running activation checkpointing

 You are seeing this error because you passed `debug=True` to checkpoint and
 tensors to be saved during the original forward and differ between those saved
 during recomputation. This can happen if different operators were ran in the
 original forward and in the recomputation.

{message}{tip}"""


class CheckpointError(RuntimeError):
    """A checkpointed function saved other tensors in its second run than in its first.

    >>> import autograd_cy as ag
    >>> issubclass(ag.utils.checkpoint.CheckpointError, RuntimeError)
    True
    """


class Trace:
    """The operations that saved tensors, in order, for messages."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, node: Any, slot: str, tensor: Any) -> None:
        where = getattr(node, "location", "")
        self.lines.append(
            f"{node.name()} saved '{slot}': {tensor.dtype} {list(tensor.shape)}" + (f"   ({where})" if where else "")
        )


def different_number(first: int, second: int, *traces: Trace | None) -> CheckpointError:
    return _error(
        "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
        f"Number of tensors saved during forward: {first}\n"
        f"Number of tensors saved during recomputation: {second}.\n",
        *traces,
    )


def too_many(*traces: Trace | None) -> CheckpointError:
    return _error(
        "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward pass.\n",
        *traces,
    )


def different_metadata(different: list[tuple[int, Any, Any]], *traces: Trace | None) -> CheckpointError:
    tensors = "".join(
        f"tensor at position {number}:\nsaved metadata: {first}\nrecomputed metadata: {second}\n"
        for number, first, second in different
    )
    return _error(
        "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward "
        f"pass.\n{tensors}",
        *traces,
    )


def _error(message: str, first: Trace | None, second: Trace | None) -> CheckpointError:
    if first is None or second is None:
        return CheckpointError(f"{message}{_TIP}\n{_DEBUG_TIP}")
    return CheckpointError(
        _DEBUG_TEXT.format(
            forward="".join(f"  {i}: {line}\n" for i, line in enumerate(first.lines)),
            again="".join(f"  {i}: {line}\n" for i, line in enumerate(second.lines)),
            difference=_first_difference(first, second),
            message=message,
            tip=_TIP,
        )
    )


def _first_difference(first: Trace, second: Trace) -> str:
    for i, (a, b) in enumerate(zip(first.lines, second.lines, strict=False)):
        if a != b:
            return f"They differ first at position {i}:\n  {a}\n  {b}"
    n = min(len(first.lines), len(second.lines))
    return f"They agree up to position {n}, where one of them ends."
