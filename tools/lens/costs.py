"""What a recording says, whichever tool made it: how much was spent at each place."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple


class Place(NamedTuple):
    """A line of a file, in a function as the linker names it, in a library or program. Line 0: nobody knows."""

    library: str
    file: str
    symbol: str
    line: int


@dataclass
class Profile:
    """Costs of one recording: each place's own; of each symbol how often it was called, and what that cost with all below."""

    title: str
    unit: str                                               # "instructions" or "samples"
    own: Counter[Place] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    inclusive: Counter[str] = field(default_factory=Counter)    # cost of calls to a symbol, all that they call included
    inclusive_lines: Counter[tuple[str, int]] = field(default_factory=Counter)      # of calls from a line of a file

    @property
    def total(self) -> int:
        return sum(self.own.values())


