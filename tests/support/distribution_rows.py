"""The table of distributions for the generic tests: parameters, and a value that they can give; other parameters."""

MATRIX = [[2.0, 0.5], [0.5, 1.0]]
FACTOR = [[1.0, 0.2], [0.3, 0.4], [0.5, -0.2]]
CASES = {
    "Normal": ([[0.5, -1.0], [1.5, 0.3]], [0.2, -0.7]),
    "LogNormal": ([[0.5, -1.0], [1.5, 0.3]], [0.2, 0.7]),
    "Laplace": ([[0.5, -1.0], [1.5, 0.3]], [0.2, -0.7]),
    "Uniform": ([[0.5, -1.0], [1.5, 0.3]], [0.7, -0.7]),
    "Exponential": ([[0.5, 3.0]], [0.7, 0.1]),
    "Gamma": ([[0.5, 3.0], [2.0, 0.4]], [0.7, 2.1]),
    "Beta": ([[0.5, 3.0], [2.0, 1.4]], [0.7, 0.1]),
    "Dirichlet": ([[[0.5, 3.0, 1.0], [1.5, 2.0, 3.0]]], [[0.2, 0.3, 0.5], [0.5, 0.25, 0.25]]),
    "Bernoulli": ([[0.2, 0.9]], [0.0, 1.0]),
    "Categorical": ([[[0.2, 0.9, 1.0], [1.0, 0.0, 0.0]]], [2.0, 0.0]),
    "MultivariateNormal": ([[0.5, -1.0], MATRIX], [0.3, 0.1]),
    "Binomial": ([[4.0, 4.0], [0.3, 0.8]], [3.0, 0.0]),
    "Cauchy": ([[0.5, -1.0], [1.5, 0.3]], [0.2, -0.7]),
    "Chi2": ([[0.5, 3.0]], [0.7, 2.1]),
    "Geometric": ([[0.2, 0.9]], [0.0, 3.0]),
    "Gumbel": ([[0.5, -1.0], [1.5, 0.3]], [0.2, -0.7]),
    "HalfCauchy": ([[0.5, 1.5]], [0.2, 0.7]),
    "HalfNormal": ([[0.5, 1.5]], [0.2, 0.7]),
    "OneHotCategorical": ([[[0.2, 0.9, 1.0], [1.0, 0.0, 0.0]]], [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    "OneHotCategoricalStraightThrough": ([[[0.2, 0.9, 1.0], [1.0, 0.0, 0.0]]], [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    "Pareto": ([[0.5, 1.0], [1.5, 3.0]], [0.7, 2.0]),
    "Poisson": ([[0.5, 3.0]], [2.0, 0.0]),
    "StudentT": ([[0.5, 3.0], [0.5, -1.0], [1.5, 0.3]], [0.2, -0.7]),
    "Weibull": ([[0.5, 3.0], [1.5, 2.3]], [0.2, 0.7]),
    "ContinuousBernoulli": ([[0.2, 0.9]], [0.3, 0.7]),
    "FisherSnedecor": ([[3.0, 5.0], [7.0, 4.5]], [0.7, 2.1]),
    "GeneralizedPareto": ([[0.5, -1.0], [1.5, 0.3], [0.2, -0.4]], [0.9, -0.9]),
    "InverseGamma": ([[2.5, 3.0], [2.0, 0.4]], [0.7, 2.1]),
    "Kumaraswamy": ([[1.5, 3.0], [2.0, 1.4]], [0.7, 0.1]),
    "LKJCholesky": ([3, [1.5, 0.6]], [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.48, 0.64, 0.6]]),
    "LogisticNormal": ([[0.5, -1.0], [1.5, 0.3]], [0.3, 0.5, 0.2]),
    "LowRankMultivariateNormal": ([[0.5, -1.0, 0.3], FACTOR, [0.3, 0.5, 1.0]], [0.1, 0.2, -0.4]),
    "Multinomial": ([4, [[0.2, 0.9, 1.0], [1.0, 0.3, 0.2]]], [[1.0, 1.0, 2.0], [4.0, 0.0, 0.0]]),
    "NegativeBinomial": ([[3.0, 2.5], [0.2, 0.7]], [2.0, 0.0]),
    "VonMises": ([[0.5, -1.0], [2.0, 0.4]], [0.3, -3.0]),
    "Wishart": ([[4.0, 5.5], MATRIX], MATRIX),
}
OTHERS = {
    "Normal": [0.1, 2.0], "LogNormal": [0.1, 2.0], "Laplace": [0.1, 2.0], "Uniform": [-1.0, 2.0], "Exponential": [0.7],
    "Gamma": [1.2, 0.8], "Beta": [0.9, 2.2], "Dirichlet": [[1.0, 1.1, 2.0]], "Bernoulli": [0.3],
    "Categorical": [[0.5, 0.3, 0.0]], "MultivariateNormal": [[0.0, 0.0], [[1.0, 0.2], [0.2, 3.0]]],
    "Binomial": [4.0, 0.6], "Cauchy": [0.1, 2.0], "Chi2": [3.5], "Geometric": [0.4], "Gumbel": [0.1, 2.0], "HalfCauchy": [0.7],
    "HalfNormal": [0.7], "OneHotCategorical": [[0.5, 0.3, 0.0]], "OneHotCategoricalStraightThrough": [[0.5, 0.3, 0.0]],
    "Pareto": [0.4, 6.5], "Poisson": [1.7], "StudentT": [9.0, 0.1, 2.0], "Weibull": [1.2, 1.6],
    "ContinuousBernoulli": [0.6], "FisherSnedecor": [4.0, 20.0], "GeneralizedPareto": [-1.0, 2.0, 0.1],
    "InverseGamma": [9.0, 2.0], "Kumaraswamy": [1.4, 2.2], "LKJCholesky": [3, 1.2], "LogisticNormal": [[0.1, 0.3], 0.7],
    "LowRankMultivariateNormal": [[0.1, 0.0, 1.0], [[0.5], [1.0], [0.2]], [1.0, 0.3, 2.0]],
    "Multinomial": [5, [0.5, 0.3, 0.2]], "NegativeBinomial": [4.5, 0.4], "VonMises": [0.3, 1.5],
    "Wishart": [6.0, [[1.0, 0.2], [0.2, 3.0]]],
}  # fmt: skip
DISCRETE = {
    "Bernoulli", "Binomial", "Categorical", "Geometric", "Multinomial", "NegativeBinomial", "OneHotCategorical",
    "OneHotCategoricalStraightThrough", "Poisson",
}  # fmt: skip
WITHOUT_MEAN = {"Cauchy", "HalfCauchy", "LKJCholesky", "LogisticNormal"}
WITHOUT_RSAMPLE = {"LKJCholesky", "VonMises"}


def given(lib, parameters, **options):
    """The parameters as tensors, but for integers."""
    return [p if isinstance(p, int) else lib.tensor(p, dtype=lib.float64, **options) for p in parameters]
