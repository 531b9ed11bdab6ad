"""What makes Tensor of the compiled type: its methods, its text, the device "meta" (facade)."""

from .._core.graph.tensor import Tensor as Tensor
from .methods import _rebuild as _rebuild  # as pickles name it
from .methods import _rebuild_in_order as _rebuild_in_order
