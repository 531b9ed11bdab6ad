"""DataParallel on one CPU (facade)."""

from typing import Any, Generic, TypeVar

from ..modules.module import Module

__all__ = ["DataParallel", "data_parallel"]

_Module = TypeVar("_Module", bound=Module)


class DataParallel(Module, Generic[_Module]):
    """``DataParallel(module)`` calls the module, which is its `module`: there are no devices to share the batch among.

    >>> import autograd_cy as ag
    >>> list(ag.nn.DataParallel(ag.nn.Linear(2, 1)).state_dict())
    ['module.weight', 'module.bias']
    """

    def __init__(self, module: _Module, device_ids: Any = None, output_device: Any = None, dim: int = 0):
        super().__init__()
        self.module: _Module = module
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """``parallel(...)`` is what the module returns."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Any, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0, module_kwargs: Any = None
) -> Any:
    """``data_parallel(module, inputs)`` is what the module returns.

    >>> import autograd_cy as ag
    >>> ag.nn.parallel.data_parallel(ag.nn.ReLU(), ag.ones(1))
    tensor([1.])
    """
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))
