"""The speed of autograd_cy, measured beside torch in one process: ``python -m benchmarks``."""
