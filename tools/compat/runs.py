"""Run a library's tests in a separate process, and read the plugin's record."""

import importlib.util
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools.compat.libraries import Library

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = Path(__file__).parent / "plugin"
RESTARTS = 20  # a crashed run resumes after the test that crashed it, at most so often
UNUSABLE = (3, 4)  # pytest's exit codes for internal and usage errors


@dataclass(frozen=True)
class Side:
    """One of the two sides: the interpreter, and how it runs a module."""

    name: str
    command: tuple[str, ...]
    path: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """A test's outcome: passed, failed, skipped, xfailed, or crashed with the process."""

    outcome: str
    seconds: float = 0.0
    error: str = ""


@dataclass(frozen=True)
class Run:
    """A library's tests on one side."""

    tests: dict[str, Outcome]
    uncollected: dict[str, str]  # files that cannot be imported, with the error
    import_error: str


def sides(torch_python: str, here_python: str) -> tuple[Side, Side]:
    """Both sides: PyTorch in one Python; in another, this package as torch, from the folder where this process finds it."""
    package = importlib.util.find_spec("autograd_cy")
    assert package is not None and package.origin is not None
    return Side("torch", (torch_python,)), Side("here", (here_python, "-m", "autograd_cy"), (Path(package.origin).parents[1],))


def environment(library: Library, checkout: Path, side: Side, record: Path) -> dict[str, str]:
    """The environment of the process: the library's path and the plugin's options."""
    folders = [*side.path, PLUGIN, checkout / library.folder / library.source]
    path = os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH", "")])])
    settings = {"COMPAT_RECORD": str(record), "COMPAT_EVERY": str(library.every), "COMPAT_SECONDS": str(library.seconds)}
    return {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", **settings, **dict(library.variables)}


def run(library: Library, checkout: Path, side: Side, record: Path) -> Run:
    """Run the tests, again if the process crashes, and return the outcomes."""
    record.parent.mkdir(parents=True, exist_ok=True)
    record.unlink(missing_ok=True)
    variables = environment(library, checkout, side, record)
    error = import_error(library, checkout, side, variables)
    ignored = [f"--ignore={name}" for name in library.ignored]
    arguments = ["-m", "pytest", "-p", "compat_recorder", "-p", "no:cacheprovider", "-q", "--continue-on-collection-errors"]
    command = [*side.command, *arguments, *ignored, *library.arguments, *library.tests]
    with record.with_suffix(".log").open("w") as log:
        for _ in range(RESTARTS):
            code = subprocess.run(command, cwd=checkout / library.folder, env=variables, stdout=log, stderr=log).returncode
            if code >= 0:
                break
    if code in UNUSABLE:
        log = record.with_suffix(".log").read_text()[-2000:]
        raise SystemExit(f"pytest could not run {library.name} on {side.name}: {log}")
    with record.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"import_error": error}) + "\n")
    return read(record)


def import_error(library: Library, checkout: Path, side: Side, variables: dict[str, str]) -> str:
    """The last line that importing the library prints, or nothing."""
    command = [*side.command, "-c", f"import {library.module}"]
    done = subprocess.run(command, cwd=checkout / library.folder, env=variables, capture_output=True, text=True)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no message"])[-1]


def read(record: Path) -> Run:
    """The outcomes in a file: the last line of a test counts; a test that only started has crashed."""
    tests: dict[str, Outcome] = {}
    uncollected, error = {}, ""
    for line in record.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "test" in entry:
            crashed = entry["outcome"] == "started"
            given = {name: entry[name] for name in ("outcome", "seconds", "error") if name in entry}
            tests[entry["test"]] = Outcome("crashed", 0.0, "the process died") if crashed else Outcome(**given)
        elif "file" in entry:
            uncollected[entry["file"]] = entry["error"]
        else:
            error = entry["import_error"]
    return Run(tests, uncollected, error)
