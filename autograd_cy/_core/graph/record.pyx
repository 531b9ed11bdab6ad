"""Recording an operation: its arguments, its node, its tangents, its hooks."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "record/arguments.pyx"
include "record/creation_hooks.pyx"
include "record/op_hooks.pyx"
include "record/primals.pyx"
include "record/tangents.pyx"
include "record/record.pyx"
include "record/hooks.pyx"
include "record/operands.pyx"
