"""Programs of operations, views, writes, modes and hooks, and what runs them: a module like torch, or a model in NumPy."""
