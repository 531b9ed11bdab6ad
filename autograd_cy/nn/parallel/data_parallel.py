"""DataParallel on one CPU (facade)."""

from typing import Any, Generic, TypeVar

from ..modules.module import Module

__all__ = ["DataParallel", "data_parallel"]

_Module = TypeVar("_Module", bound=Module)


class DataParallel(Module, Generic[_Module]):
    """``DataParallel(module)`` calls the module, its attribute `module`: there are no devices to split the batch over.

    >>> import autograd_cy as ag
    >>> list(ag.nn.DataParallel(ag.nn.Linear(2, 1)).state_dict())
    ['module.weight', 'module.bias']
    """

    def __init__(self, module: _Module, device_ids: Any = None, output_device: Any = None, dim: int = 0):
        super().__init__()
        self.module: _Module = module
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """``parallel(...)`` returns the module's result."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Any, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0, module_kwargs: Any = None
) -> Any:
    """``data_parallel(module, inputs)`` returns the module's result.

    >>> import autograd_cy as ag
    >>> ag.nn.parallel.data_parallel(ag.nn.ReLU(), ag.ones(1))
    tensor([1.])
    """
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))
