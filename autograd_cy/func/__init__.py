"""Functions that take functions and return their derivatives, and vmap, under the names of torch.func (facade)."""

from ._beyond import ggnvp, per_sample_grads
from ._gradients import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from ._vmap import vmap

__all__ = [
    "ggnvp", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "per_sample_grads", "vjp", "vmap",
]  # fmt: skip
