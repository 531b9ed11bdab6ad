"""``torch.nn.parallel``: modules on several devices, which are one CPU (facade)."""

from typing import Any

from ..._size import on_cpu as _on_cpu
from .data_parallel import DataParallel, data_parallel
from .distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate", "scatter"]


def parallel_apply(modules: Any, inputs: Any, kwargs_tup: Any = None, devices: Any = None) -> list[Any]:
    """``parallel_apply(modules, inputs)`` is what each module returns for its inputs, one after the other.

    >>> import autograd_cy as ag
    >>> ag.nn.parallel.parallel_apply([ag.nn.ReLU()], [(ag.ones(1),)])
    [tensor([1.])]
    """
    keywords: Any = kwargs_tup or ({},) * len(modules)
    return [
        module(*(given if isinstance(given, list | tuple) else (given,)), **named)
        for module, given, named in zip(modules, inputs, keywords, strict=True)
    ]


def replicate(network: Any, devices: Any, detach: bool = False) -> list[Any]:
    """``replicate(module, devices)`` raises PyTorch's error for devices other than the CPU, which has the module.

    >>> import autograd_cy as ag
    >>> ag.nn.parallel.replicate(ag.nn.ReLU(), [])
    []
    """
    return [network for _ in map(_on_cpu, devices)]


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> Any:
    """``scatter(inputs, devices)`` raises PyTorch's error for devices other than the CPU.

    >>> import autograd_cy as ag
    >>> ag.nn.parallel.scatter(ag.ones(1), ["cpu"])
    [tensor([1.])]
    """
    for where in target_gpus:
        _on_cpu(where)
    return list(inputs.chunk(len(target_gpus), dim)) if hasattr(inputs, "chunk") else [inputs]


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """``gather(tensors, "cpu")`` is the tensors in one.

    >>> import autograd_cy as ag
    >>> ag.nn.parallel.gather([ag.ones(1), ag.zeros(1)], "cpu")
    tensor([1., 0.])
    """
    from ..._names import cat

    if target_device != -1:
        _on_cpu(target_device)
    return cat(outputs, dim)
