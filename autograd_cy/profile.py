"""python -m autograd_cy.profile [options] script.py [arguments]: run a script and say where the time goes; --help has more."""

from .profiler._command import main as _main

__all__: list[str] = []

if __name__ == "__main__":
    _main()
