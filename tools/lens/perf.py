"""Reads the samples that `perf script` prints; addr2line finds their lines."""

import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tools.lens.costs import Place, Profile
from tools.lens.sources import is_core

# The fields requested of `perf script`, and its output: a line for each mapped file and for each sample.
FIELDS = ("--show-mmap-events", "-F", "comm,tid,time,event,ip,sym,dso", "-G")
MAPPED = re.compile(
    r"PERF_RECORD_MMAP2? .*: \[0x(?P<start>[0-9a-f]+)\(0x(?P<size>[0-9a-f]+)\) @ (?P<offset>0x[0-9a-f]+|0) "
    r".*: \S+ (?P<file>\S.*)$"
)
SAMPLE = re.compile(r":\s+(?P<address>[0-9a-f]+) (?P<symbol>.*) \((?P<file>[^()]*)\)$")


@dataclass(frozen=True)
class Mapping:
    """A part of a file that is mapped into memory."""

    start: int
    end: int
    offset: int
    file: str

    def place(self, address: int) -> int | None:
        return address - self.start + self.offset if self.start <= address < self.end else None


def read_samples(lines: Iterable[str]) -> tuple[Counter[tuple[str, str, int]], list[Mapping]]:
    """read_samples(lines) -> the number of samples of each (library, symbol, address), and the mappings."""
    samples: Counter[tuple[str, str, int]] = Counter()
    mappings = []
    for line in lines:
        text = line.rstrip()
        if found := MAPPED.search(text):
            start, size, offset = (int(found[name], 16) for name in ("start", "size", "offset"))
            mappings.append(Mapping(start, start + size, offset, found["file"]))
        elif found := SAMPLE.search(text):
            samples[found["file"], found["symbol"], int(found["address"], 16)] += 1
    return samples, mappings


def offset_in(mappings: Sequence[Mapping], file: str, address: int) -> int:
    """offset_in(mappings, file, address) -> the address's offset in the file; 0 if it was not mapped."""
    places = (mapping.place(address) for mapping in mappings if mapping.file == file)
    return next((place for place in places if place is not None), 0)


def read_perf(lines: Iterable[str], title: str = "") -> Profile:
    """read_perf(lines of `perf script`) -> the Profile, in samples; only the core has lines."""
    samples, mappings = read_samples(lines)
    profile = Profile(title, "samples")
    known: dict[tuple[str, int], tuple[str, int]] = {}
    for library in {file for file, _, _ in samples if is_core(file)}:
        addresses = sorted({address for file, _, address in samples if file == library})
        found = source_lines(library, [offset_in(mappings, library, address) for address in addresses])
        known |= {(library, address): line for address, line in zip(addresses, found, strict=True)}
    for (library, symbol, address), n in samples.items():
        file, line = known.get((library, address), ("", 0))
        profile.own[Place(library, file, symbol, line)] += n
    return profile


def source_lines(library: str, offsets: Sequence[int]) -> list[tuple[str, int]]:
    """source_lines(library, offsets) -> (file, line) of each; ("", 0) if unknown.

    The code of a shared library is linked at its offset in the file.
    """
    asked = "".join(f"{offset:#x}\n" for offset in offsets)
    done = subprocess.run(["addr2line", "-e", library], input=asked, capture_output=True, text=True, check=True)
    answers = (re.fullmatch(r"(.*):(\d+|\?)(?: \(discriminator \d+\))?", line) for line in done.stdout.splitlines())
    return [(found[1], int(found[2])) if found and found[2] != "?" else ("", 0) for found in answers]
