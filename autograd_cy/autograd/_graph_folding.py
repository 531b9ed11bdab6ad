"""Folding of repeated structure in a listing (facade)."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ._graph_survey import Column

_COMPARISONS = 30_000_000  # the limit for all block lengths together
_LONGEST = 1000


class Fold(NamedTuple):
    """A block of lines that is repeated: the start of the first one, its parts, and the number of repetitions."""

    start: int
    times: int
    parts: list["int | Fold"]


def folded(kinds: Column) -> list[int | Fold]:
    """A listing with its repetitions folded: the numbers of lines, and Folds. Lines of one kind count as the same.

    Short blocks are folded before longer ones, which then may consist of Folds.
    """
    kinds = np.asarray(kinds)
    parts: list[int | Fold] = list(range(len(kinds)))
    known: dict[tuple[int, ...], int] = {}  # the kinds of folds
    next_kind = int(kinds.max(initial=0)) + 1
    longest = min(_LONGEST, max(32, _COMPARISONS // max(len(kinds), 1)))
    length = 1
    while length <= min(longest, len(parts) // 2):
        found = list(_repetitions(kinds, length))
        if found:
            new_parts, new_kinds, end = [], [], 0
            for start, count in found:
                block = tuple(kinds[start : start + length].tolist())
                kind = known.setdefault((count, *block), next_kind + len(known))
                new_parts += [*parts[end:start], Fold(_first_line(parts[start]), count, parts[start : start + length])]
                new_kinds += [kinds[end:start], [kind]]
                end = start + length * count
            parts = [*new_parts, *parts[end:]]
            kinds = np.concatenate([*new_kinds, kinds[end:]])
        length += 1
    return parts


def _first_line(part: int | Fold) -> int:
    return part if isinstance(part, int) else part.start


def _repetitions(kinds: Column, length: int) -> Iterator[tuple[int, int]]:
    """Repetitions of blocks of one length: (start, count), none within another.

    Blocks of at least two lines are folded from two repetitions, single lines from three.
    """
    same = np.concatenate([[False], kinds[length:] == kinds[:-length], [False]])
    changes = np.flatnonzero(same[1:] != same[:-1])
    starts, ends = changes[::2], changes[1::2]
    counts = (ends - starts) // length + 1
    worth = counts >= (3 if length == 1 else 2)
    free = 0
    for start, count in zip(starts[worth].tolist(), counts[worth].tolist(), strict=True):
        if start >= free:
            yield start, count
            free = start + count * length
