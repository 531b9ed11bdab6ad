"""Functions of torch itself, besides those that make tensors (facade)."""
