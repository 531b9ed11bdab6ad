"""A recording of either tool: the cost of each place."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple


class Place(NamedTuple):
    """A line of a file, in a function by its linker name, in a library or program. Line 0 is unknown."""

    library: str
    file: str
    symbol: str
    line: int


@dataclass
class Profile:
    """The costs of one recording: own costs by place; for each symbol the number of calls and their total cost."""

    title: str
    unit: str                                               # "instructions" or "samples"
    own: Counter[Place] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    inclusive: Counter[str] = field(default_factory=Counter)    # total cost of the calls to a symbol
    inclusive_lines: Counter[tuple[str, int]] = field(default_factory=Counter)      # total cost of the calls from a line

    @property
    def total(self) -> int:
        return sum(self.own.values())


