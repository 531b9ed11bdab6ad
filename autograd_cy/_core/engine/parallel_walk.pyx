"""A backward by several threads."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "parallel_walk/engine_pool.pyx"
include "parallel_walk/node_costs.pyx"
include "parallel_walk/walk_plan.pyx"
include "parallel_walk/crew.pyx"
include "parallel_walk/parallel_walk.pyx"
include "parallel_walk/sharing.pyx"
