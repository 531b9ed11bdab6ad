"""Functions that make tensors, and what their arguments have in common (facade)."""
