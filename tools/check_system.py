"""Report what this system lacks to build autograd_cy, and how to install it; runs on any Python 3.

Used by the Makefile before it makes a virtual environment. The exit status is 1 if something is missing.
"""

import importlib.util
import os
import shlex
import shutil
import sys
import sysconfig

OLDEST = (3, 11)


def missing():
    """Yield a line for each missing part."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if sys.version_info < OLDEST:
        yield f"Python {OLDEST[0]}.{OLDEST[1]} or newer, not {version}; name one with PYTHON=/path/to/python3"
        return
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        yield f"the venv module (Debian/Ubuntu: apt-get install python{version}-venv)"
    header = os.path.join(sysconfig.get_path("include"), "Python.h")
    if not os.path.exists(header):
        yield f"Python's C headers, {header} (Debian/Ubuntu: apt-get install python{version}-dev)"
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[0]
    if not shutil.which(compiler):
        yield f"a C compiler, {compiler} (Debian/Ubuntu: apt-get install gcc; macOS: xcode-select --install)"


if __name__ == "__main__":
    lacking = list(missing())
    for line in lacking:
        sys.stderr.write(f"missing: {line}\n")
    if lacking:
        sys.stderr.write(f"(looked in {sys.executable})\n")
    sys.exit(bool(lacking))
