"""Random scripts: lines of Python that run on PyTorch and on this package, what can be seen of them, and how they shrink."""
