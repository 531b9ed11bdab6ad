"""The libraries whose tests are run: one declaration each, with the differences that are known."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Difference:
    """Why some tests fail here: patterns that are searched in the test's name and in its error."""

    reason: str
    test: str = ""
    error: str = ""


@dataclass(frozen=True)
class Library:
    """What pytest is called with in the checkout of a library."""

    name: str
    module: str                                              # what the column "imports here" imports
    tests: tuple[str, ...]                                   # files and folders with tests
    folder: str = "."                                        # of the checkout, where pytest runs
    source: str = "."                                        # below that folder: what goes on the path
    arguments: tuple[str, ...] = ()                          # of pytest
    ignored: dict[str, str] = field(default_factory=dict)    # files that are not run, with the reason
    every: int = 1                                           # one test in so many is run, by its name's checksum
    seconds: int = 60                                        # what a single test may take
    variables: dict[str, str] = field(default_factory=dict)  # of the environment
    differences: tuple[Difference, ...] = ()


MISSING = r"(no attribute '|torch\.){names}\b.*(PyTorch has|stands in for torch)"
RANDOM = "other random numbers (docs/differences.md): the test fails with other seeds on PyTorch, too"


def missing(reason: str, names: str) -> Difference:
    """What the package's own errors say of names that it does not have."""
    return Difference(reason, error=MISSING.format(names=names))


# Differences that any library may meet.
COMMON = (
    missing("no tensors of float8", r"float8_\w+"),
    missing("several processes come later", "distributed.TCPStore"),
    Difference("no TorchScript", error=r"this package has no TorchScript"),
)
HIGHER = (Difference(RANDOM, test=r"testDiffOptCallback_0_simple_model_adam$"),)
SKORCH = (Difference("pickles of tensors are not read by torch.load", test=r"::test_torch_load_kwargs_\w+_unpickle$"),)
TORCHMETRICS = (Difference(RANDOM, test=r"-samplewise-.*multi_dim", error=r"Found empty input array"),)
CAPTUM = (
    Difference(
        RANDOM, test=r"tests/module/test_(binary_concrete|gaussian)_stochastic_gates(_cuda)?\.py", error="differ|within"
    ),
    Difference(RANDOM, test=r"test_(kernel_shap|lime|layer_gradient_shap|neuron_gradient_shap)\.py", error="differ|within"),
    Difference(RANDOM, test=r"::test_perm_fn_broadcastable_masks$", error="_check_features_are_permuted"),
)
LINEAR_OPERATOR = (
    Difference(RANDOM, test=r"test_kernel_linear_operator\.py::.*::test_inv_quad_logdet$", error="not close enough"),
)  # fmt: skip
GPYTORCH = (
    Difference(
        "softplus of float32 is another of the two numbers beside the exact one",
        test=r"TestMultitaskGaussianLikelihoodBatch::test_setters$", error="within 7 places",
    ),
    Difference(RANDOM, test=r"TestLazyEvaluatedKernelTensorMultitaskBatch::test_matmul_matrix_broadcast$"),
)  # fmt: skip
BY_CHANCE_IN_PYRO = (
    r"test_binomial_approx_sample\[0\.\d\d-10\]", r"test_shape_augmented_gamma_elbo\[0\.2-0\.2\]", "test_mle_bvm$",
    r"test_stable\.py::test_additive", r"test_nuts\.py::test_gamma_beta", r"test_stable_hmm_distribution\[skewed-1\.6-2-1-3\]",
    r"test_median\[JitTraceGraph_ELBO-auto_class12\]",
    r"test_subsample_gradient\[TraceEnum_ELBO-False-full-nonreparam-scaled\]",
    r"test_discrete\.py::test_distribution_masked\[sample\]",
)  # fmt: skip
PYRO = (
    Difference(
        "NumPy's functions return tensors here (docs/differences.md)", test=r"test_convolve\[", error=r"To copy construct"
    ),
    Difference(RANDOM, test="|".join(BY_CHANCE_IN_PYRO), error=r"Assertion|^assert "),
)

DECLARED = [
    Library("einops", "einops", ("einops/tests",), variables={"EINOPS_TEST_BACKENDS": "numpy,torch"},
            differences=COMMON),
    Library("higher", "higher", ("tests",), differences=(*HIGHER, *COMMON)),
    Library("nflows", "nflows", ("tests",), arguments=("-o", "python_files=*test*.py"), differences=COMMON),
    Library("skorch", "skorch", ("skorch/tests",), arguments=("-o", "addopts="), every=4, differences=(*SKORCH, *COMMON)),
    Library("torchmetrics", "torchmetrics",
            ("tests/unittests/bases", "tests/unittests/regression", "tests/unittests/classification"),
            source="src", arguments=("-o", "addopts=--strict-markers"), every=20, differences=(*TORCHMETRICS, *COMMON)),
    Library("captum", "captum", ("tests/attr", "tests/module"), every=2, differences=(*CAPTUM, *COMMON)),
    Library("linear_operator", "linear_operator", ("test",), every=4, differences=(*LINEAR_OPERATOR, *COMMON)),
    Library("gpytorch", "gpytorch", ("test",), every=4, differences=(*GPYTORCH, *COMMON)),
    Library("backpack", "backpack", ("test",), every=10, differences=COMMON),
    Library("pyro", "pyro", ("tests/distributions", "tests/infer", "tests/nn", "tests/ops"), every=20,
            differences=(*PYRO, *COMMON)),
    Library("safetensors", "safetensors.torch", ("tests/test_pt_comparison.py", "tests/test_pt_model.py"),
            folder="bindings/python", source="tests", differences=COMMON),
]  # fmt: skip

LIBRARIES = {library.name: library for library in DECLARED}
