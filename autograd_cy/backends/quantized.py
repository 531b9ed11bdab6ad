"""``torch.backends.quantized``: there are no kernels of quantized types (facade)."""

__all__ = ["engine", "supported_engines"]

engine = "none"
supported_engines: list[str] = ["none"]
