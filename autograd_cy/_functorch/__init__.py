"""Helpers of functorch's that scripts take from here (facade)."""
