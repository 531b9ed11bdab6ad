"""``python -m benchmarks``: one thread for every library, then the command line of `benchmarks.cli`."""

import os

# Numerical libraries read these once, when they are loaded: they must stand before the first import of NumPy.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

from benchmarks.cli import main

if __name__ == "__main__":
    main()
