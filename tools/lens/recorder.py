"""Runs a subject under callgrind or perf, and reads the result."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from tools.lens.callgrind import part_title, read_callgrind
from tools.lens.costs import Profile
from tools.lens.perf import FIELDS, read_perf
from tools.lens.sources import BUILD, ROOT

SITE = ROOT / BUILD / "site"
RECORDINGS = ROOT / BUILD / "recordings"
GET = {
    "valgrind": "Debian, Ubuntu: apt-get install valgrind; Fedora: dnf install valgrind valgrind-devel",
    "perf": "Debian: apt-get install linux-perf; Ubuntu: apt-get install linux-tools-generic; Fedora: dnf install perf",
}
TOOLS = {"callgrind": "valgrind", "perf": "perf"}       # the tool of each kind of recording
# One thread is counted. Sets and dicts of strings keep one order.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Missing(RuntimeError):
    """A tool that this system lacks, and how to install it."""


def environment() -> dict[str, str]:
    """A subject's environment: first on the path is the profiling build, then this tree for `tools` and `benchmarks`."""
    path = os.pathsep.join([str(SITE), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, **ONE_THREAD, "PYTHONPATH": path, "PYTHONSAFEPATH": "1", "PYTHONHASHSEED": "0"}


def subject(recorder: str, what: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "tools.lens.subject", recorder, *what]


def available() -> str:
    """available() -> the tool to record with: callgrind if installed, else perf. Raises Missing if there is neither."""
    for kind, tool in TOOLS.items():
        if shutil.which(tool):
            return kind
    raise Missing("missing: valgrind or perf\n" + "\n".join(f"  {tool}: {how}" for tool, how in GET.items()))


def need(tool: str) -> None:
    if not shutil.which(tool):
        raise Missing(f"missing: {tool} ({GET[tool]})")


def fresh(name: str) -> Path:
    """An empty folder for a recording."""
    folder = RECORDINGS / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def record_callgrind(what: Sequence[str]) -> list[Profile]:
    """record_callgrind(arguments of the subject) -> the Profile of each workload, or of the script: instructions."""
    need("valgrind")
    folder = fresh("callgrind")
    command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder / 'out'}", "--quiet"]
    done = subprocess.run([*command, *subject(f"callgrind:{switch(folder)}", what)], env=environment())
    found = []
    for path in sorted(folder.glob("out.*"), key=lambda path: int(path.suffix[1:])):
        with path.open(encoding="utf-8") as lines:
            title = part_title(lines)
        if title is not None:
            with path.open(encoding="utf-8") as lines:
                found.append(read_callgrind(lines, title))
    return checked(found, done.returncode)


def switch(folder: Path) -> Path:
    """The library with which a subject switches callgrind on and off."""
    library = folder / "switch.so"
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()
    headers = f"-I{sysconfig.get_path('include')}"
    command = [*compiler, "-shared", "-fPIC", "-O1", headers, "-o", str(library), str(Path(__file__).with_name("switch.c"))]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"missing: valgrind/callgrind.h ({GET['valgrind']})\n{done.stderr}")
    return library


def record_perf(what: Sequence[str]) -> list[Profile]:
    """record_perf(arguments of the subject) -> as record_callgrind, in samples of time; one run for each workload."""
    need("perf")
    kind, *names = what
    runs = [[kind, name] for name in names] if kind == "--workloads" else [list(what)]
    return [record_run(run) for run in runs]


def record_run(what: Sequence[str]) -> Profile:
    folder = fresh("perf")
    fifo, data = folder / "control", folder / "perf.data"
    os.mkfifo(fifo)
    options = ["-q", "-e", "cpu-clock", "-F", "9999", "-D", "-1", "--control", f"fifo:{fifo}", "-o", str(data)]
    done = subprocess.run(["perf", "record", *options, "--", *subject(f"perf:{fifo}", what)], env=environment())
    if not data.exists():
        raise Missing("perf could not record: see its message, and /proc/sys/kernel/perf_event_paranoid")
    listed = subprocess.run(["perf", "script", "-i", str(data), *FIELDS], capture_output=True, text=True, errors="replace")
    return checked([read_perf(listed.stdout.splitlines(), what[1])], done.returncode)[0]


def checked(profiles: list[Profile], status: int) -> list[Profile]:
    """The profiles; SystemExit if there is none. A script that failed is reported, and its profile kept."""
    if status:
        print(f"the profiled program ended with status {status}", file=sys.stderr)
    if not any(profile.own for profile in profiles):
        raise SystemExit(status or "nothing was recorded")
    return profiles


RECORD = {"callgrind": record_callgrind, "perf": record_perf}
