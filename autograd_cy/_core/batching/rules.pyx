"""Batching rules: those declared with an operation, and kinds of rules."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "rules/rule_kinds.pyx"
include "rules/sample_loop.pyx"
include "rules/rules.pyx"
include "rules/batched_operators.pyx"
