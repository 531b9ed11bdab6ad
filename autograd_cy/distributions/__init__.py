"""``torch.distributions``: distributions with parameters that are tensors, and divergences between them (facade).

>>> import autograd_cy as ag
>>> loc = ag.zeros(2, requires_grad=True)
>>> ag.distributions.Normal(loc, 1.0).log_prob(ag.ones(2)).sum().backward()
>>> loc.grad
tensor([1., 1.])
"""

from . import constraints, kl, utils
from .bernoulli import Bernoulli
from .beta import Beta
from .categorical import Categorical
from .dirichlet import Dirichlet
from .distribution import Distribution
from .exponential import Exponential
from .gamma import Gamma
from .independent import Independent
from .kl import kl_divergence, register_kl
from .laplace import Laplace
from .log_normal import LogNormal
from .multivariate_normal import MultivariateNormal
from .normal import Normal
from .uniform import Uniform

__all__ = [
    "Bernoulli", "Beta", "Categorical", "Dirichlet", "Distribution", "Exponential", "Gamma", "Independent", "Laplace",
    "LogNormal", "MultivariateNormal", "Normal", "Uniform", "constraints", "kl", "kl_divergence", "register_kl", "utils",
]  # fmt: skip
