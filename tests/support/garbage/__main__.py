"""python -m garbage: many calls with garbage, in processes of their own, so that a crash of the interpreter is a finding.

From the folder `tests`: ``python -m garbage --calls 100000``, ``python -m garbage --seed 3 --first 41 --calls 1``.
"""

import argparse
import contextlib
import faulthandler
import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

BATCH = 2000  # calls of one process
SECONDS = 120  # that one call may take, also on a machine that is busy
MEMORY = 2 << 30
TESTS = Path(__file__).resolve().parents[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", default="0")
    parser.add_argument("--first", type=int, default=0, help="the number of the first call")
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--keep-going", action="store_true", help="report all findings, not only the first")
    parser.add_argument("--last-call", help=argparse.SUPPRESS)  # of a process that makes calls: where it notes them
    options = parser.parse_args()
    if options.last_call:
        return make_calls(options)
    failures = run(options.seed, options.first, options.calls, options.keep_going)
    for failure in failures:
        print(failure, flush=True)
    print(f"{options.calls} calls with garbage, seed {options.seed}: {'failed' if failures else 'passed'}")
    return bool(failures)


def run(seed, first, calls, keep_going=False):
    """Make the calls in processes of their own; a list of what was found, the first finding or all."""
    found, number, end = [], first, first + calls
    while number < end:
        count = min(BATCH, end - number)
        done, findings = run_batch(seed, number, count, keep_going)
        for finding in findings:
            again = f"cd tests; python -m garbage --seed {seed} --first {finding.partition(' ')[0]} --calls 1"
            found.append(f"{finding}\nAgain: {again}  (or --first {number})")
            if keep_going:
                print(found[-1], flush=True)
        if found and not keep_going:
            return found[:1]
        number += done
    return found


def run_batch(seed, first, count, keep_going):
    """One process: how many calls it made, and what it found."""
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder, "last")
        command = [sys.executable, "-m", "garbage", "--seed", str(seed), "--first", str(first), "--calls", str(count),
                   "--last-call", str(note)] + ["--keep-going"] * keep_going  # fmt: skip
        path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
        # BLAS reserves memory for each of its threads
        environment = os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment, cwd=folder)
        findings = [f for f in process.stdout.split("\x1e") if f.strip()]
        if process.returncode in (0, 1) and (process.returncode == 0 or findings):
            return count, findings
        if not note.exists() or not note.stat().st_size:
            raise RuntimeError(f"no call was made:\n{process.stderr}")
        last = note.read_text(errors="replace").split("\n")[0]
        died = f"{last}: the interpreter died ({describe(process.returncode)})\n{stack_of(process.stderr)}"
        return int(last.split()[0]) + 1 - first, [*findings, died]


def stack_of(text):
    """What Python and the sanitizers said last."""
    return "\n".join([line for line in text.splitlines() if not line.startswith("Extension modules")][-60:])


def describe(code):
    if code == -signal.SIGALRM:
        return f"after {SECONDS} s"
    return signal.Signals(-code).name if code < 0 else f"exit status {code}"


def make_calls(options):
    """What a process of its own does: findings go to stdout, set off by the record separator."""
    from garbage.calls import make_call

    out, options.last_call = os.dup(1), os.open(options.last_call, os.O_CREAT | os.O_WRONLY)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    faulthandler.enable()
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # which reserves more than there is
        with contextlib.suppress(ValueError, OSError):  # not every system can
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    failed = False

    def note(text):
        os.pwrite(options.last_call, (text[:500] + "\n").encode(errors="replace"), 0)

    for number in range(options.first, options.first + options.calls):
        signal.alarm(SECONDS)
        finding = make_call(options.seed, number, note)
        if finding:
            failed = True
            os.write(out, ("\x1e" + finding).encode(errors="replace"))
            if not options.keep_going:
                break
    return failed


if __name__ == "__main__":
    sys.exit(main())
