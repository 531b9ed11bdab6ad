"""The engine: counting edges, the walk, input buffers, gradients of leaves."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

include "engine/backward_arguments.pyx"
include "engine/graph_task.pyx"
include "engine/input_buffer.pyx"
include "engine/leaf_updates.pyx"
include "engine/propagation.pyx"
include "engine/watched.pyx"
include "engine/walk.pyx"
include "engine/engine.pyx"
include "engine/quotients.pyx"
include "engine/node_tangents.pyx"
include "engine/unchain.pyx"
include "engine/task_queries.pyx"
