"""Batch norms without running statistics, which vmap can't write for each sample (facade)."""

from ..nn.modules.batchnorm import _BatchNorm
from ..nn.modules.module import Module

__all__ = ["replace_all_batch_norm_modules_"]


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """``replace_all_batch_norm_modules_(root)`` makes all batch norms in a module, or the module itself, use only
    the batch's statistics; returns the module.

    >>> import autograd_cy as ag
    >>> net = ag.nn.Sequential(ag.nn.Linear(2, 3), ag.nn.BatchNorm1d(3))
    >>> ag.func.replace_all_batch_norm_modules_(net) is net, list(net.buffers())
    (True, [])
    """
    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
