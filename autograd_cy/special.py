"""Special functions, under the names of torch.special (facade)."""

from ._compat.missing import getattr_of as _getattr_of
from ._core.ops.basics import OPS as _OPS
from ._core.ops.registry import namespace_of as _namespace_of

# Operations that have a name of their own, too, and that by which SciPy knows them.
_ALIASES = {
    "digamma": "digamma", "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "exp2": "exp2", "expit": "sigmoid",
    "expm1": "expm1", "gammainc": "igamma", "gammaincc": "igammac", "gammaln": "lgamma", "i0": "i0", "log1p": "log1p",
    "log_softmax": "log_softmax", "logit": "logit", "logsumexp": "logsumexp", "multigammaln": "mvlgamma",
    "polygamma": "polygamma", "psi": "digamma", "round": "round", "sinc": "sinc", "softmax": "softmax", "xlogy": "xlogy",
}  # fmt: skip

_names = _namespace_of("special") | {alias: _OPS[name].function for alias, name in _ALIASES.items()}
globals().update(_names)
__all__ = list(_names)
__getattr__ = _getattr_of(__name__, "torch.special")
