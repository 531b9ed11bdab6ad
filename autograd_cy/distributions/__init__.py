"""``torch.distributions``: distributions with parameters that are tensors, and divergences between them (facade).

>>> import autograd_cy as ag
>>> loc = ag.zeros(2, requires_grad=True)
>>> ag.distributions.Normal(loc, 1.0).log_prob(ag.ones(2)).sum().backward()
>>> loc.grad
tensor([1., 1.])
"""

from .._compat import names_later as _names_later
from .._compat import offered_in_files as _offered_in_files
from .._compat.missing import getattr_of as _getattr_of

_MODULES = ["constraint_registry", "constraints", "kl", "transforms", "utils"]
# PyTorch has these in their own modules alone.
_HIDDEN = {"ConstraintRegistry", "ExpRelaxedCategorical", "LogitRelaxedBernoulli"}
_HOMES = {
    home: [name for name in names if name not in _HIDDEN and home not in ("constraints", "utils")]
    for home, names in _offered_in_files(__path__[0]).items()
}
__all__ = sorted([*_MODULES, *(name for names in _HOMES.values() for name in names)])

__getattr__, __dir__ = _names_later(
    __name__, {home: [*names, home] for home, names in _HOMES.items()}, _getattr_of(__name__, "torch.distributions")
)
for _name in __all__:
    __getattr__(_name)  # scripts look classes up in vars() of this module
