"""A pytest plugin that writes one line of JSON for each test: its outcome, its time and its error.

It runs in the process of a library's tests, so it imports neither torch nor this package. Environment variables:

* COMPAT_RECORD: the file to append to. Tests that it already names are not run again, so a crashed run resumes after the
  test that crashed it.
* COMPAT_EVERY: run the collected tests whose checksum is divisible by this number.
* COMPAT_SECONDS: a test that takes longer fails.
"""

import json
import os
import re
import signal
import zlib

RECORD = os.environ["COMPAT_RECORD"]
EVERY = int(os.environ.get("COMPAT_EVERY", "1"))
SECONDS = int(os.environ.get("COMPAT_SECONDS", "60"))
LENGTH = 400  # length of a recorded error

outcomes = {}


def write(**fields):
    """Append one line at once, because the process may crash in the next test."""
    with open(RECORD, "a", encoding="utf-8") as file:
        file.write(json.dumps(fields) + "\n")


def recorded():
    """The names of the tests in the file."""
    if not os.path.exists(RECORD):
        return set()
    with open(RECORD, encoding="utf-8") as file:
        return {json.loads(line).get("test") for line in file}


def stable(name):
    """A test's name without addresses, which differ between runs."""
    return re.sub(r"0x[0-9a-f]{6,}", "0x", name)


def pytest_collection_modifyitems(items, config):
    done = recorded()
    chosen = [item for item in items if zlib.crc32(stable(item.nodeid).encode()) % EVERY == 0]
    left = [item for item in chosen if stable(item.nodeid) not in done]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(left)])
    items[:] = left


def pytest_collectreport(report):
    if report.failed:
        write(file=report.nodeid, error=last_line(report.longreprtext))


def pytest_runtest_logstart(nodeid, location):
    write(test=stable(nodeid), outcome="started")
    outcomes[nodeid] = ["passed", 0.0, ""]
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, too_long)
        signal.alarm(SECONDS)


def too_long(number, frame):
    raise TimeoutError(f"the test took more than {SECONDS} seconds")


def pytest_runtest_logreport(report):
    entry = outcomes[report.nodeid]
    entry[1] += report.duration
    if report.failed:
        entry[0], entry[2] = "failed", last_line(report.longreprtext)
    elif report.skipped and entry[0] == "passed":
        entry[0] = "xfailed" if hasattr(report, "wasxfail") else "skipped"


def pytest_runtest_logfinish(nodeid, location):
    if hasattr(signal, "SIGALRM"):
        signal.alarm(0)
    outcome, seconds, error = outcomes.pop(nodeid)
    write(test=stable(nodeid), outcome=outcome, seconds=round(seconds, 6), error=error)


def last_line(text):
    """The error's lines in pytest's report, and the place that raised it."""
    lines = text.splitlines()
    errors = [line[1:].strip() for line in lines if line.startswith("E ")]
    place = next((line for line in reversed(lines) if re.match(r"\S+:\d+: ", line)), "")
    return " | ".join([*([" ".join(errors)[:LENGTH]] if errors else lines[-1:]), place])
