"""The memory of tensors: how it moves, is shared by processes, or has no elements (facade)."""
