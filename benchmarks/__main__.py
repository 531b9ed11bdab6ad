"""``python -m benchmarks``: the number of threads for every library, then the command line of `benchmarks.cli`."""

import argparse
import os

_parser = argparse.ArgumentParser(add_help=False)
_parser.add_argument("--threads", default="1")
_threads = _parser.parse_known_args()[0].threads

# Numerical libraries read these once, when they are loaded: they must stand before the first import of NumPy.
os.environ["OMP_NUM_THREADS"] = _threads
os.environ["OPENBLAS_NUM_THREADS"] = _threads
os.environ["MKL_NUM_THREADS"] = _threads

from benchmarks.cli import main  # noqa: E402

if __name__ == "__main__":
    main()
