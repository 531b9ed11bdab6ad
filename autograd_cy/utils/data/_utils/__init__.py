"""The home of the functions behind DataLoader in PyTorch, for code that imports them from there (facade)."""

from . import collate as collate
