"""The table of distributions for the generic tests."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """A distribution: parameters, a value that it can give, other parameters for divergences; and what it has."""

    name: str
    parameters: list[Any]
    value: Any
    others: list[Any]
    discrete: bool = False
    mean: bool = True
    rsample: bool = True
    divergence: bool = True


MATRIX = [[2.0, 0.5], [0.5, 1.0]]
FACTOR = [[1.0, 0.2], [0.3, 0.4], [0.5, -0.2]]
ROWS = [
    Row("Normal", [[0.5, -1.0], [1.5, 0.3]], [0.2, -0.7], [0.1, 2.0]),
    Row("LogNormal", [[0.5, -1.0], [1.5, 0.3]], [0.2, 0.7], [0.1, 2.0]),
    Row("Laplace", [[0.5, -1.0], [1.5, 0.3]], [0.2, -0.7], [0.1, 2.0]),
    Row("Uniform", [[0.5, -1.0], [1.5, 0.3]], [0.7, -0.7], [-1.0, 2.0]),
    Row("Exponential", [[0.5, 3.0]], [0.7, 0.1], [0.7]),
    Row("Gamma", [[0.5, 3.0], [2.0, 0.4]], [0.7, 2.1], [1.2, 0.8]),
    Row("Beta", [[0.5, 3.0], [2.0, 1.4]], [0.7, 0.1], [0.9, 2.2]),
    Row("Dirichlet", [[[0.5, 3.0, 1.0], [1.5, 2.0, 3.0]]], [[0.2, 0.3, 0.5], [0.5, 0.25, 0.25]], [[1.0, 1.1, 2.0]]),
    Row("Bernoulli", [[0.2, 0.9]], [0.0, 1.0], [0.3], discrete=True),
    Row("Categorical", [[[0.2, 0.9, 1.0], [1.0, 0.0, 0.0]]], [2.0, 0.0], [[0.5, 0.3, 0.0]], discrete=True),
    Row("MultivariateNormal", [[0.5, -1.0], MATRIX], [0.3, 0.1], [[0.0, 0.0], [[1.0, 0.2], [0.2, 3.0]]]),
    Row("Binomial", [[4.0, 4.0], [0.3, 0.8]], [3.0, 0.0], [4.0, 0.6], discrete=True),
    Row("Cauchy", [[0.5, -1.0], [1.5, 0.3]], [0.2, -0.7], [0.1, 2.0], mean=False),
    Row("Chi2", [[0.5, 3.0]], [0.7, 2.1], [3.5]),
    Row("Geometric", [[0.2, 0.9]], [0.0, 3.0], [0.4], discrete=True),
    Row("Gumbel", [[0.5, -1.0], [1.5, 0.3]], [0.2, -0.7], [0.1, 2.0]),
    Row("HalfCauchy", [[0.5, 1.5]], [0.2, 0.7], [0.7], mean=False),
    Row("HalfNormal", [[0.5, 1.5]], [0.2, 0.7], [0.7]),
    Row("OneHotCategorical", [[[0.2, 0.9, 1.0], [1.0, 0.0, 0.0]]], [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
        [[0.5, 0.3, 0.0]], discrete=True),
    Row("OneHotCategoricalStraightThrough", [[[0.2, 0.9, 1.0], [1.0, 0.0, 0.0]]], [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
        [[0.5, 0.3, 0.0]], discrete=True),
    Row("Pareto", [[0.5, 1.0], [1.5, 3.0]], [0.7, 2.0], [0.4, 6.5]),
    Row("Poisson", [[0.5, 3.0]], [2.0, 0.0], [1.7], discrete=True),
    Row("StudentT", [[0.5, 3.0], [0.5, -1.0], [1.5, 0.3]], [0.2, -0.7], [9.0, 0.1, 2.0], divergence=False),
    Row("Weibull", [[0.5, 3.0], [1.5, 2.3]], [0.2, 0.7], [1.2, 1.6], divergence=False),
    Row("ContinuousBernoulli", [[0.2, 0.9]], [0.3, 0.7], [0.6]),
    Row("FisherSnedecor", [[3.0, 5.0], [7.0, 4.5]], [0.7, 2.1], [4.0, 20.0], divergence=False),
    Row("GeneralizedPareto", [[0.5, -1.0], [1.5, 0.3], [0.2, -0.4]], [0.9, -0.9], [-1.0, 2.0, 0.1], divergence=False),
    Row("InverseGamma", [[2.5, 3.0], [2.0, 0.4]], [0.7, 2.1], [9.0, 2.0]),
    Row("Kumaraswamy", [[1.5, 3.0], [2.0, 1.4]], [0.7, 0.1], [1.4, 2.2], divergence=False),
    Row("LKJCholesky", [3, [1.5, 0.6]], [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.48, 0.64, 0.6]],
        [3, 1.2], mean=False, rsample=False, divergence=False),
    Row("LogisticNormal", [[0.5, -1.0], [1.5, 0.3]], [0.3, 0.5, 0.2], [[0.1, 0.3], 0.7], mean=False),
    Row("LowRankMultivariateNormal", [[0.5, -1.0, 0.3], FACTOR, [0.3, 0.5, 1.0]], [0.1, 0.2, -0.4],
        [[0.1, 0.0, 1.0], [[0.5], [1.0], [0.2]], [1.0, 0.3, 2.0]]),
    Row("Multinomial", [4, [[0.2, 0.9, 1.0], [1.0, 0.3, 0.2]]], [[1.0, 1.0, 2.0], [4.0, 0.0, 0.0]],
        [5, [0.5, 0.3, 0.2]], discrete=True, divergence=False),
    Row("NegativeBinomial", [[3.0, 2.5], [0.2, 0.7]], [2.0, 0.0], [4.5, 0.4], discrete=True, divergence=False),
    Row("VonMises", [[0.5, -1.0], [2.0, 0.4]], [0.3, -3.0], [0.3, 1.5], rsample=False, divergence=False),
    Row("Wishart", [[4.0, 5.5], MATRIX], MATRIX, [6.0, [[1.0, 0.2], [0.2, 3.0]]]),
]  # fmt: skip
CASES = {row.name: (row.parameters, row.value) for row in ROWS}
OTHERS = {row.name: row.others for row in ROWS}
WITH_RSAMPLE = sorted(row.name for row in ROWS if row.rsample and row.mean and not row.discrete)
WITHOUT_MEAN = {row.name for row in ROWS if not row.mean}
WITHOUT_RSAMPLE = {row.name for row in ROWS if not row.rsample}
WITHOUT_DIVERGENCE = {row.name for row in ROWS if not row.divergence}


def given(lib, parameters, **options):
    """The parameters as tensors, but for integers."""
    return [p if isinstance(p, int) else lib.tensor(p, dtype=lib.float64, **options) for p in parameters]
