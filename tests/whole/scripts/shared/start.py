"""The same start under every library: numbers from NumPy's generator, whose streams are the same everywhere."""

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(0)


def normal(*shape):
    return torch.from_numpy(rng.standard_normal(shape))


def fill(module, scale=1.0):
    """The module, its parameters drawn anew: matrices as wide as 1 / sqrt(inputs), vectors a tenth of that."""
    with torch.no_grad():
        for p in module.parameters():
            width = scale / np.sqrt(p[0].numel()) if p.ndim > 1 else 0.1 * scale
            p.copy_(width * normal(*p.shape))
    return module
