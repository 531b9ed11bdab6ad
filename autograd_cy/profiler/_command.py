"""python -m autograd_cy.profile [options] script.py [arguments]: run a script, also one written for torch, and say where
the time goes.

Prints a table of operations, the lines of the script that take longest, and hints at what would make them faster; the page
that it writes has all of it over time. `-m module` and `-c code` in the place of the script work as with python.

  --steps N    record N steps after the first one; a step ends with a walk of backward() (default: the whole run)
  --out PATH   where the page goes (default: profile.html)
  --sort KEY   of the table: self, total, calls or bytes (default: self)
  --rows N     of each table (default: 15)
"""

import argparse
import atexit
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from .. import __main__ as runner
from .. import autograd, install_as_torch
from ._format import format_memory, format_time
from ._model import model_of
from ._page import render
from ._profile import profile

SORT_KEYS = {"self": "self_ns", "total": "total_ns", "calls": "calls", "bytes": "bytes"}
WIDTH = 100


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options, and the script with its arguments: everything from the first argument that is no option."""
    parser = argparse.ArgumentParser(
        prog="python -m autograd_cy.profile", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="python -m autograd_cy.profile [options] script.py [arguments]",
    )  # fmt: skip
    parser.add_argument("--steps", type=int, metavar="N", help=argparse.SUPPRESS)
    parser.add_argument("--out", default="profile.html", metavar="PATH", help=argparse.SUPPRESS)
    parser.add_argument("--sort", default="self", choices=SORT_KEYS, help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=int, default=15, metavar="N", help=argparse.SUPPRESS)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("-m", dest="module", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    kind.add_argument("-c", dest="code", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.add_argument("script", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.steps is not None and options.steps < 1:
        parser.error(f"--steps must be at least 1, got {options.steps}")
    if not (options.module or options.code or options.script):
        parser.error("which script?")
    return options


class Session:
    """Profiles a run, or some steps of it, and reports once."""

    def __init__(self, options: argparse.Namespace):
        self.options, self.walks, self.reported = options, 0, False
        self.prof = profile(record_shapes=True, profile_memory=True, with_stack=True, buffer_events=1 << 20)
        self.is_on = False

    def start(self) -> None:
        """Record from now on; with --steps from the end of the first step on."""
        if self.options.steps is None:
            self._switch()
        else:
            count_walks(self.walked)

    def walked(self) -> None:
        """A walk of backward() has ended."""
        self.walks += 1
        if self.walks in (1, 1 + self.options.steps):
            self._switch()

    def _switch(self) -> None:
        (self.prof.stop if self.is_on else self.prof.start)()
        self.is_on = not self.is_on

    def finish(self) -> None:
        """Stop, print the report and write the page, once, even if the script ended by an exception or by exit()."""
        if self.reported:
            return
        self.reported = True
        if self.is_on:
            self._switch()
        if self.prof.profiler is None:
            print("autograd_cy.profile: no step was recorded: the script has not called backward()", file=sys.stderr)
            return
        model = model_of(self.prof)
        print(report(model, SORT_KEYS[self.options.sort], self.options.rows))
        with open(self.options.out, "w", encoding="utf-8") as file:
            file.write(render(model))
        print(f"\nThe page with all of it: {self.options.out}")


def count_walks(walked: Callable[[], None]) -> None:
    """Call a function after each outermost backward()."""
    backward, depth = autograd.backward, 0

    def counted(*args: Any, **kwargs: Any) -> None:
        nonlocal depth
        depth += 1
        try:
            backward(*args, **kwargs)
        finally:
            depth -= 1
        if depth == 0:
            walked()

    autograd.backward = counted  # Tensor.backward calls it by this name


def report(model: dict[str, Any], key: str, rows: int) -> str:
    """The tables and hints as text of at most 100 columns."""
    parts = [operations_text(model, key, rows), lines_text(model, rows), hints_text(model)]
    peak = (model["memory"] or {}).get("peak")
    if peak and peak["bytes"] > 0:
        where = f" at {place_of(peak['file'], peak['line'], 60)}" if peak["line"] > 0 else ""
        parts.append(f"Peak of new memory: {format_memory(peak['bytes'])}{where}")
    if model["dropped"]:
        parts.append(f"{model['dropped']} events found no room: --steps records fewer")
    return "\n\n".join(filter(None, parts))


def operations_text(model: dict[str, Any], key: str, rows: int) -> str:
    """Sums by name."""
    whole = sum(row["self_ns"] for row in model["table"]) or 1
    lines = [f"{'Name':<38} {'self':>11} {'':>6} {'total':>11} {'calls':>7} {'a call':>10} {'bytes':>11}", "-" * WIDTH]
    for row in sorted(model["table"], key=lambda row: -row[key])[:rows]:
        share = f"{100 * row['self_ns'] / whole:.1f}%"
        lines.append(
            f"{short(row['name'], 38):<38} {format_time(row['self_ns'] / 1e3):>11} {share:>6} "
            f"{format_time(row['total_ns'] / 1e3):>11} {row['calls']:>7} "
            f"{format_time(row['total_ns'] / 1e3 / row['calls']):>10} {format_memory(row['bytes']):>11}"
        )
    return "\n".join(lines)


def lines_text(model: dict[str, Any], rows: int) -> str:
    """The lines of the user's code, gradients at the line that recorded them."""
    whole = sum(row["self_ns"] for row in model["table"]) or 1
    lines = [f"{'Line':<30} {'self':>11} {'':>6} {'calls':>8}  source", "-" * WIDTH]
    for row in model["lines"][:rows]:
        place, share = place_of(row["file"], row["line"], 23), f"{100 * row['self_ns'] / whole:.1f}%"
        text = f"{place:<30} {format_time(row['self_ns'] / 1e3):>11} {share:>6} {row['calls']:>8}  {row['source']}"
        lines.append(text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}...")
    return "\n".join(lines)


def hints_text(model: dict[str, Any]) -> str:
    """The hints, the largest gain first."""
    lines = ["Hints", "-" * WIDTH]
    for hint in model["hints"]:
        lines.append(f"{place_of(hint['file'], hint['line'], 60)}: {hint['source']}"[:WIDTH])
        lines += wrapped(f"{hint['message']} ({format_time(hint['gain_ns'] / 1e3)} of the recorded time)", WIDTH - 4)
    return "\n".join(lines if model["hints"] else [*lines, "none"])


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines, indented."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] += f" {word}"
    return [f"   {line}" for line in lines]


def place_of(file: str, line: int, width: int) -> str:
    """A line of a file, with a relative path if that is shorter."""
    try:
        file = min(file, os.path.relpath(file), key=len)
    except ValueError:  # on another drive
        pass
    return f"{short(file, width)}:{line}"


def short(text: str, width: int) -> str:
    """The end of a text: of paths and names the end says most."""
    return text if len(text) <= width else f"...{text[-(width - 3) :]}"


def main() -> NoReturn:
    options = parse(sys.argv[1:])
    own = (__file__, sys.modules["__main__"].__file__ or "")  # frames to leave out
    run: Callable[[str], None]
    kind, run = ("-m", runner.run_module) if options.module else ("-c", runner.run_code)
    subject, *arguments = options.module or options.code or options.script
    if options.script and not (options.module or options.code):
        kind, run = subject, runner.run_script
    sys.argv = [kind, *arguments]
    install_as_torch()
    session = Session(options)
    atexit.register(session.finish)  # however the script ends: by itself, by exit() or in another thread
    session.start()
    try:
        run(subject)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        runner.show(error, *own)
        session.finish()
        sys.exit(1)
    session.finish()
    sys.exit(0)

