"""How fast autograd_cy is, measured beside torch in one process: ``python -m benchmarks``."""
