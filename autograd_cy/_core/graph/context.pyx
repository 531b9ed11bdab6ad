"""What the context asks of operations: dual levels, hooks of saved tensors, operators."""

include "context/duals.pyx"
include "context/saved_hooks.pyx"
include "context/operators.pyx"
