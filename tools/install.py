"""tools/install.py EXTRA: install this package in place with an extra, and show the progress of the build.

pip shows either nothing of a build's output, or all of it. This shows the lines that begin with the package's name. The
rest is shown only if the installation fails.
"""

import subprocess
import sys

MARK = "autograd_cy: "


def install(extra):
    print(f"installing autograd_cy[{extra}]: about five minutes on two cores the first time", flush=True)
    options = ["--disable-pip-version-check", "--verbose", "--no-build-isolation", "--editable", f".[{extra}]"]
    command = [sys.executable, "-m", "pip", "install", *options]
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
        for line in pip.stdout:
            lines.append(line)
            if line.lstrip().startswith(MARK):
                print(line.strip(), flush=True)
    if pip.returncode:
        sys.stderr.writelines(lines)
    return pip.returncode


if __name__ == "__main__":
    sys.exit(install(*sys.argv[1:]))
