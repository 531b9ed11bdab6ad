"""Weight normalization by a hook, PyTorch's older way (facade)."""

import warnings
from typing import Any

from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public as _public
from ..parameter import Parameter, is_lazy
from . import _norms

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """The hook that computes a weight from its length and direction before each call."""

    def __init__(self, name: str, dim: int | None):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Tensor:
        """``compute_weight(module)``: the weight from its length and direction."""
        return _norms.weight_of(getattr(module, self.name + "_g"), getattr(module, self.name + "_v"), self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> "WeightNorm":
        """``WeightNorm.apply(module, name, dim)`` puts the hook on a module."""
        if any(isinstance(hook, WeightNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        hook, weight = WeightNorm(name, dim), getattr(module, name)
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the dummy forward "
                "before applying weight normalization"
            )
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(_norms.norm_except_dim(weight.data, hook.dim)))
        module.register_parameter(name + "_v", Parameter(weight.data))
        hook(module, None)
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Any) -> None:
        """``remove(module)`` makes the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


@_public
def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """``weight_norm(module, name="weight", dim=0)``: deprecated by PyTorch in favour of ``parametrizations.weight_norm``.

    The parameters ``weight_g``, a length for each slice along dim (None: one for all), and ``weight_v`` replace it.
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


@_public
def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """``remove_weight_norm(module, name="weight")`` makes the weight a parameter again; ValueError if it is one."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
