"""python -m autograd_cy script.py [arguments]: run a script that imports torch on this package.

Also `-m module [arguments]` and `-c code [arguments]`. The script finds itself as under `python script.py`: as
`__main__`, with its own `__file__`, `sys.argv`, `sys.path[0]`, exit code and tracebacks.
"""

import io
import os.path
import runpy
import sys
import zipfile
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType

from . import install_as_torch


def run_script(path: str) -> None:
    """Run a file, or the __main__.py of a folder or zip file."""
    leave_folder()
    if os.path.isdir(path) or zipfile.is_zipfile(path):
        runpy.run_path(path, run_name="__main__")
        return
    full = os.path.abspath(path)
    try:
        with io.open_code(full) as file:
            source = file.read()
    except OSError as error:
        print(f"{sys.executable}: can't open file {full!r}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
        sys.exit(2)
    if not sys.flags.safe_path:
        sys.path.insert(0, os.path.dirname(os.path.realpath(full)))
    run_main(compile(source, full, "exec", dont_inherit=True), full)


def run_code(code: str) -> None:
    """Run source text, as `python -c` does."""
    if not sys.flags.safe_path:
        sys.path[0] = ""
    run_main(compile(code, "<string>", "exec", dont_inherit=True))


def run_module(name: str) -> None:
    """Run a module as `python -m` does, which also puts its file in sys.argv."""
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def leave_folder() -> None:
    """Take the current folder off the path, where `python -m` has put it."""
    if not sys.flags.safe_path:
        del sys.path[0]


def run_main(code: CodeType, path: str | None = None) -> None:
    """Execute code in a new module __main__."""
    main_module = ModuleType("__main__")
    namespace = vars(main_module)
    if path is not None:
        namespace.update(__file__=path, __cached__=None, __loader__=SourceFileLoader("__main__", path))
    sys.modules["__main__"] = main_module
    exec(code, namespace)


def show(error: BaseException, *others: str) -> None:
    """Hand an uncaught exception to sys.excepthook, without the frames of this file and of others that called it."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_code.co_filename in (__file__, *others):
        traceback = traceback.tb_next
    error.__traceback__ = traceback
    sys.excepthook(type(error), error, traceback)


def main() -> None:
    kinds: dict[str, Callable[[str], None]] = {"-c": run_code, "-m": run_module}
    arguments = sys.argv[1:]
    run = kinds.get(arguments[0], run_script) if arguments else run_script
    skipped = 2 if arguments and arguments[0] in kinds else 1
    if len(arguments) < skipped or arguments[0] in ("-h", "--help"):
        print(__doc__, file=sys.stdout if arguments[:1] in (["-h"], ["--help"]) else sys.stderr)
        sys.exit(0 if arguments[:1] in (["-h"], ["--help"]) else 2)
    subject = arguments[skipped - 1]
    sys.argv = [subject if run is run_script else arguments[0], *arguments[skipped:]]
    install_as_torch()
    try:
        run(subject)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        show(error)
        sys.exit(1)


if __name__ == "__main__":
    main()
