"""Functions that take functions and return their derivatives, and vmap, under the names of torch.func (facade)."""

from .._compat import names_later as _names_later
from ._beyond import ggnvp, linear_transpose, per_sample_grads
from ._forward import hessian, jacfwd, jvp, linearize
from ._implicit import fixed_point
from ._modules import functional_call, stack_module_state
from ._reverse import grad, grad_and_value, jacrev, vjp
from ._sparse import sparse_hessian, sparse_jacobian
from ._vmap import vmap

__all__ = [
    "fixed_point", "functional_call", "functionalize", "ggnvp", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "linear_transpose", "linearize", "per_sample_grads", "replace_all_batch_norm_modules_", "sparse_hessian",
    "sparse_jacobian", "stack_module_state", "vjp", "vmap",
]  # fmt: skip

__getattr__, __dir__ = _names_later(
    __name__, {"_functionalize": ["functionalize"], "_batch_norm": ["replace_all_batch_norm_modules_"]}
)
