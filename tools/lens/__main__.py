"""python -m tools.lens [options] [script [arguments]]: record, print the summary, write build/profile/report.html."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.lens.costs import Profile
from tools.lens.flame import GET, py_spy, record_flame
from tools.lens.page import as_page
from tools.lens.recorder import RECORD, SITE, TOOLS, Missing, available, need
from tools.lens.sources import BUILD, ROOT
from tools.lens.subject import SMALL, WORKLOAD_BY_NAME
from tools.lens.summary import Summary, as_table, as_text, summarize

PAGE = ROOT / BUILD / "report.html"
PICTURE = ROOT / BUILD / "flame.svg"
DRAWN = "multiply_chain"        # the workload for the flame graph


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.lens",
        description="Where the compiled core spends its instructions or its time, by .pyx function and line. Without a "
        "script: in the workloads of benchmarks/, one step of each.",
    )
    tools = (*RECORD, "auto")
    parser.add_argument("--tool", choices=tools, default="auto", help="callgrind counts instructions, perf takes time")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="workloads by name, each with its lines")
    parser.add_argument("--page", type=Path, default=PAGE, help="default: build/profile/report.html")
    parser.add_argument("--check", action="store_true", help="only report missing tools")
    parser.add_argument("--no-flame", action="store_true", help="no flame graph")
    parser.add_argument("script", nargs=argparse.REMAINDER, help="a script, also one that imports torch, and its arguments")
    options = parser.parse_args(arguments)
    if options.script[:1] == ["--"]:
        del options.script[0]
    return options


def chosen(options: argparse.Namespace) -> tuple[list[str], dict[str, str]]:
    """The subject's arguments, and the titles of its runs."""
    if options.script:
        return ["--script", *options.script], {options.script[0]: " ".join(options.script)}
    names = options.only or SMALL
    if unknown := sorted(set(names) - set(WORKLOAD_BY_NAME)):
        raise SystemExit(f"no workload of benchmarks/: {', '.join(unknown)}; there are {', '.join(WORKLOAD_BY_NAME)}")
    return ["--workloads", *names], {name: f"{name}: {WORKLOAD_BY_NAME[name].title}" for name in names}


def flames(options: argparse.Namespace, what: list[str]) -> dict[str, str]:
    """The flame graph by its title; empty if it is not wanted or cannot be drawn, with a printed reason."""
    if options.no_flame:
        return {}
    if not options.script:
        what = ["--workloads", DRAWN if DRAWN in what else what[1]]
    if problem := record_flame(what, PICTURE):
        print(problem, file=sys.stderr)
        return {}
    return {" ".join(what[1:]): PICTURE.read_text(encoding="utf-8")}


def show(summaries: dict[str, Summary], is_table: bool) -> None:
    if is_table:
        print(as_table(summaries), end="")
        return
    for title, summary in summaries.items():
        print(as_text(summary, title))


def report(options: argparse.Namespace) -> None:
    """Record the subject, print the summary and write the page."""
    what, titles = chosen(options)
    profiles: list[Profile] = RECORD[available() if options.tool == "auto" else options.tool](what)
    summaries = {titles[profile.title]: summarize(profile) for profile in profiles}
    show(summaries, is_table=not options.script and not options.only)
    drawn = flames(options, what)
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text(as_page(summaries, drawn), encoding="utf-8")
    print(f"{options.page}: functions, and lines with their cost{', flame graph' if drawn else ''}", file=sys.stderr)


def check(options: argparse.Namespace) -> None:
    """Report missing tools before a build of minutes; raises Missing if nothing can be recorded."""
    chosen(options)
    if options.tool == "auto":
        available()
    else:
        need(TOOLS[options.tool])
    if not options.no_flame and py_spy() is None:
        print(f"missing: {GET}", file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    try:
        if options.check:
            check(options)
            return
        if not SITE.is_dir():
            raise Missing(f"there is no profiling build in {SITE}: make profile makes one")
        report(options)
    except Missing as missing:
        raise SystemExit(str(missing)) from None


if __name__ == "__main__":
    main()
