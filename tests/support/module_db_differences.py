"""Where test_module_db.py expects another result than PyTorch's: {layer: {check: why}}. Each must occur."""

_RANDOM = "random numbers: NumPy's stream"

DIFFERENCES: dict[str, dict[str, str]] = {
}
