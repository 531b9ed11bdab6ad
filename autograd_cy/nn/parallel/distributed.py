"""DistributedDataParallel in a group of one process (facade)."""

import contextlib
from collections.abc import Iterator
from typing import Any

from ..modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """``DistributedDataParallel(module)`` calls the module, its attribute `module`; with one process, gradients are unchanged.

    ValueError before torch.distributed.init_process_group, RuntimeError if no parameter requires a gradient.

    >>> import autograd_cy as ag
    >>> ag.distributed.init_process_group(rank=0, world_size=1)
    >>> list(ag.nn.parallel.DistributedDataParallel(ag.nn.Linear(2, 1)).state_dict())
    ['module.weight', 'module.bias']
    >>> ag.distributed.destroy_process_group()
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: Any = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        **kwargs: Any,
    ):
        from ..._types import device
        from ...distributed._group import world

        super().__init__()
        self.process_group = world(process_group)
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient."
            )
        if device_ids:
            raise ValueError(f"DistributedDataParallel's device_ids are for modules on GPUs, but got {device_ids}")
        self.module = module
        self.device, self.device_ids, self.output_device, self.dim = device("cpu"), None, None, dim
        self.broadcast_buffers = broadcast_buffers is None or broadcast_buffers
        self.find_unused_parameters, self.static_graph = find_unused_parameters, static_graph
        self.gradient_as_bucket_view, self.require_backward_grad_sync = gradient_as_bucket_view, True

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """``parallel(...)`` returns the module's result."""
        return self.module(*inputs, **kwargs)

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """``with parallel.no_sync():`` changes nothing: there is no process to wait for."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextlib.contextmanager
    def join(self, *args: Any, **kwargs: Any) -> Iterator[None]:
        """``with parallel.join():`` changes nothing: there is no process to wait for."""
        yield

    def register_comm_hook(self, state: Any, hook: Any) -> None:
        """``register_comm_hook(state, hook)`` does nothing: no gradients are sent."""
