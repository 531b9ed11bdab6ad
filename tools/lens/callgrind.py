"""Reads the output of valgrind's callgrind: https://valgrind.org/docs/manual/cl-format.html."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from tools.lens.costs import Place, Profile

NAMED = re.compile(r"(?P<key>ob|fl|fi|fe|fn|cob|cfi|cfl|cfn)=(?:\((?P<number>\d+)\))?\s*(?P<name>.*)")
COSTS = re.compile(r"[+\-*\d]")
# The file abbreviates names by numbers, separately for each kind.
KINDS = {"ob": "ob", "cob": "ob", "fn": "fn", "cfn": "fn", "fl": "fl", "fi": "fl", "fe": "fl", "cfi": "fl", "cfl": "fl"}


class FormatError(ValueError):
    """A line that does not fit the format."""


@dataclass
class Reader:
    """The reader's state: the place that the next costs belong to, and the names by number."""

    profile: Profile
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    at: dict[str, str] = field(default_factory=lambda: dict.fromkeys(("ob", "fl", "fn"), ""))
    line: int = 0
    callee: str = ""
    is_call: bool = False       # the next costs belong to a call

    def read(self, text: str) -> None:
        if COSTS.match(text):
            self.read_costs(text.split())
        elif named := NAMED.fullmatch(text):
            self.read_name(**named.groupdict())
        elif text.startswith("calls="):
            self.is_call = True
            self.profile.calls[self.callee] += int(text[len("calls=") :].split()[0])
        elif not re.match(r"[a-zA-Z]+[:=]|#|$", text):
            raise FormatError(text)

    def read_name(self, key: str, number: str | None, name: str) -> None:
        kind = KINDS[key]
        if number is not None:
            name = self.names.setdefault((kind, number), name)
        if key == "cfn":
            self.callee = name
        elif not key.startswith("c"):
            self.at[kind] = name

    def read_costs(self, numbers: list[str]) -> None:
        self.line = position(numbers[0], self.line)
        cost = int(numbers[1]) if len(numbers) > 1 else 0       # a trailing zero is left out
        if self.is_call:
            self.is_call = False
            if "'" not in self.callee:      # except for "name'2", a recursive call, which would count twice
                self.profile.inclusive[self.callee] += cost
            self.profile.inclusive_lines[self.at["fl"], self.line] += cost
        elif cost:
            self.profile.own[Place(self.at["ob"], self.at["fl"], self.at["fn"], self.line)] += cost


def position(text: str, last: int) -> int:
    """position("+3", 10) -> 13: a line, or its distance from the last one."""
    if text == "*":
        return last
    return last + int(text) if text[0] in "+-" else int(text)


def read_callgrind(lines: Iterable[str], title: str = "") -> Profile:
    """read_callgrind(lines) -> the Profile in one file. FormatError for a line in another format.

    Costs are instructions, the first kind of events, by line. Each part of a recording is a file.
    """
    reader = Reader(Profile(title, "instructions"))
    for line in lines:
        text = line.rstrip("\n")
        if text.startswith("positions:") and text.split()[1:] != ["line"]:
            raise FormatError(f"{text}: lines alone are expected")
        reader.read(text)
    return reader.profile


def part_title(lines: Iterable[str]) -> str | None:
    """part_title(lines) -> the title that the program gave a part; None if it did not request the part."""
    prefix = "desc: Trigger: Client Request:"
    return next((line[len(prefix) :].strip() for line in lines if line.startswith(prefix)), None)
