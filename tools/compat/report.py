"""The table of libraries, and the tests that fail here, by reason."""

import collections
import re
from dataclasses import dataclass

from tools.compat.libraries import Library
from tools.compat.runs import Run

UNKNOWN = "no known reason"
SHOWN = 12  # errors listed for each reason


@dataclass(frozen=True)
class Comparison:
    """A library's two runs side by side."""

    library: Library
    torch: Run
    here: Run

    def passed_on_torch(self) -> list[str]:
        return sorted(name for name, test in self.torch.tests.items() if test.outcome == "passed")

    def passed_on_both(self) -> list[str]:
        tests = self.here.tests
        return [name for name in self.passed_on_torch() if name in tests and tests[name].outcome == "passed"]

    def time_ratio(self) -> float:
        """The time of the tests that pass on both, here and on PyTorch."""
        both = self.passed_on_both()
        there = sum(self.torch.tests[name].seconds for name in both)
        return sum(self.here.tests[name].seconds for name in both) / there if there else float("nan")

    def failures(self) -> dict[str, str]:
        """Each test that passes on PyTorch but not here, with its error."""
        passed = set(self.passed_on_both())
        return {name: self.error_of(name) for name in self.passed_on_torch() if name not in passed}

    def error_of(self, name: str) -> str:
        test = self.here.tests.get(name)
        if test is not None:
            return test.error or test.outcome
        file = name.partition("::")[0]
        return self.here.uncollected.get(file, "not collected")

    def by_reason(self) -> dict[str, list[tuple[str, str]]]:
        groups = collections.defaultdict(list)
        for name, error in self.failures().items():
            groups[reason_for(self.library, name, error)].append((name, error))
        return dict(sorted(groups.items(), key=lambda item: (item[0] == UNKNOWN, -len(item[1]))))


def reason_for(library: Library, name: str, error: str) -> str:
    """The reason of the first known difference whose patterns match the test's name and error."""
    for known in library.differences:
        if re.search(known.test, name) and re.search(known.error, error):
            return known.reason
    return UNKNOWN


COLUMNS = ("library", "imports here", "passed on torch", "of these here", "%", "with a known reason", "time ratio")


def row(comparison: Comparison) -> tuple[str, ...]:
    there, here = len(comparison.passed_on_torch()), len(comparison.passed_on_both())
    known = sum(len(tests) for reason, tests in comparison.by_reason().items() if reason != UNKNOWN)
    every = comparison.library.every
    return (
        comparison.library.name + (f" (1 test in {every})" if every > 1 else ""),
        "no" if comparison.here.import_error else "yes",
        str(there),
        str(here),
        f"{100 * here / there:.1f}" if there else "-",
        str(known),
        f"{comparison.time_ratio():.2f}" if here else "-",
    )


def table(comparisons: list[Comparison]) -> str:
    rows = [COLUMNS, tuple("---" for _ in COLUMNS), *(row(comparison) for comparison in comparisons)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def failures(comparisons: list[Comparison], shown: int = SHOWN) -> str:
    """The tests that fail here, grouped by library, reason and error, most frequent errors first."""
    lines = []
    for comparison in comparisons:
        lines += ["", f"## {comparison.library.name}"]
        lines += [f"* not run: {path}: {reason}" for path, reason in comparison.library.ignored.items()]
        if comparison.here.import_error:
            lines.append(f"* import: {comparison.here.import_error}")
        for reason, tests in comparison.by_reason().items():
            lines += [f"* {reason}: {len(tests)}", *errors(tests, shown)]
    return "\n".join(lines)


def errors(tests: list[tuple[str, str]], shown: int) -> list[str]:
    """Tests of one reason, by error: their number, the error, the first test."""
    groups = collections.defaultdict(list)
    for name, error in tests:
        groups[error].append(name)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    lines = [f"    {len(names)} x {error}\n        {names[0]}" for error, names in ordered[:shown]]
    return [*lines, *([f"    and {len(ordered) - shown} more errors"] if len(ordered) > shown else [])]
