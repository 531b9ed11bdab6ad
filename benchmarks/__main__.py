"""``python -m benchmarks``: set the number of threads of every library, then run `benchmarks.cli`."""

import argparse
import os

_parser = argparse.ArgumentParser(add_help=False)
_parser.add_argument("--threads", default="1")
_threads = _parser.parse_known_args()[0].threads

# Numerical libraries read these when they are loaded, so they are set before NumPy is imported.
os.environ["OMP_NUM_THREADS"] = _threads
os.environ["OPENBLAS_NUM_THREADS"] = _threads
os.environ["MKL_NUM_THREADS"] = _threads

from benchmarks.cli import main  # noqa: E402

if __name__ == "__main__":
    main()
