"""PyTorch's names: where they are missing, answered beforehand or found elsewhere, and the alias of torch (facade)."""

PACKAGE = __name__.partition(".")[0]
