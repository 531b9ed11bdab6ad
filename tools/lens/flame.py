"""A flame graph of C and Python frames together, by py-spy."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.lens.recorder import RECORDINGS, environment, subject

RATE = 500      # samples a second
GET = "py-spy, for the flame graph (pip install py-spy)"


def py_spy() -> Path | None:
    """The path of py-spy in this Python's environment."""
    found = Path(sys.executable).with_name("py-spy")
    return found if found.exists() else None


def record_flame(what: Sequence[str], picture: Path) -> str | None:
    """record_flame(arguments of the subject, picture.svg) -> the reason why there is none, or None if it was written."""
    program = py_spy()
    if program is None:
        return f"missing: {GET}"
    RECORDINGS.mkdir(parents=True, exist_ok=True)
    options = ["--native", "--rate", str(RATE), "--format", "flamegraph", "--output", str(picture)]
    command = [str(program), "record", *options, "--", *subject("loop", what)]
    picture.unlink(missing_ok=True)
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    if picture.exists():
        return None
    lines = (done.stderr or done.stdout).strip().splitlines()
    return f"py-spy has drawn no flame graph: {lines[-1] if lines else f'status {done.returncode}'}"
