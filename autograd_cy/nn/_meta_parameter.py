"""Parameters on the device "meta" (facade). Imported on first use."""

from .._core.graph.tensor import Tensor
from .._tensor.meta import MetaTensor
from .parameter import Parameter


class MetaParameter(MetaTensor, Parameter):  # type: ignore[misc]
    """A Parameter without elements."""

    def __repr__(self) -> str:
        return "Parameter containing:\n" + MetaTensor.__repr__(Tensor._make_subclass(MetaTensor, self, self.requires_grad))
