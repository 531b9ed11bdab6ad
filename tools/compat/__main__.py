"""python -m tools.compat: run libraries' own tests on PyTorch and on this package, and print the table."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.compat.libraries import LIBRARIES
from tools.compat.report import SHOWN, Comparison, failures, table
from tools.compat.runs import ROOT, read, run, sides


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.compat", description=__doc__)
    parser.add_argument("--checkouts", type=Path, required=True, help="a folder with one checkout per library, by name")
    parser.add_argument("--torch-python", required=True, help="a Python with PyTorch and what the libraries' tests need")
    parser.add_argument("--here-python", default=sys.executable, help="a Python with what the tests need, without PyTorch")
    parser.add_argument("--records", type=Path, default=ROOT / "build" / "compat", help="folder of the recorded outcomes")
    parser.add_argument("--keep-torch", action="store_true", help="keep the recorded outcomes on PyTorch")
    parser.add_argument("--keep", action="store_true", help="only print the recorded outcomes")
    parser.add_argument("--show", type=int, default=SHOWN, help="number of errors listed for each reason")
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help="default: each that has a checkout")
    return parser.parse_args(arguments)


def chosen(options: argparse.Namespace) -> list[str]:
    names = options.libraries or [name for name in LIBRARIES if (options.checkouts / name).is_dir()]
    if unknown := sorted(set(names) - set(LIBRARIES)):
        raise SystemExit(f"no such library: {', '.join(unknown)}; there are {', '.join(LIBRARIES)}")
    if missing := [name for name in names if not (options.checkouts / name).is_dir()]:
        raise SystemExit(f"no checkout of {', '.join(missing)} in {options.checkouts}")
    if not names:
        raise SystemExit(f"{options.checkouts} has no checkout of a library: {', '.join(LIBRARIES)}")
    return names


def compare(name: str, options: argparse.Namespace) -> Comparison:
    """Run a library's tests on both sides, except on a side whose record is kept."""
    library, runs = LIBRARIES[name], []
    for side in sides(options.torch_python, options.here_python):
        record = options.records.resolve() / f"{name}.{side.name}.jsonl"
        kept = options.keep or (options.keep_torch and side.name == "torch")
        print(f"{name}: {'record of' if kept and record.exists() else 'running on'} {side.name}", file=sys.stderr)
        known = kept and record.exists()
        runs.append(read(record) if known else run(library, options.checkouts.resolve() / name, side, record))
    return Comparison(library, *runs)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    names = chosen(options)
    comparisons = []
    for name in names:
        comparisons.append(compare(name, options))
        print(table(comparisons[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
    print(table(comparisons))
    print(failures(comparisons, options.show))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
