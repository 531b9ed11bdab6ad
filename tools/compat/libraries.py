"""The libraries whose tests are run, each with its known differences."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Difference:
    """A reason for failures: patterns to search in a test's name and its error."""

    reason: str
    test: str = ""
    error: str = ""


@dataclass(frozen=True)
class Library:
    """A library's checkout and the arguments of pytest."""

    name: str
    module: str                                              # imported for the column "imports here"
    tests: tuple[str, ...]                                   # files and folders with tests
    folder: str = "."                                        # the folder in the checkout where pytest runs
    source: str = "."                                        # folders below it that go on the path
    arguments: tuple[str, ...] = ()                          # further arguments of pytest
    ignored: dict[str, str] = field(default_factory=dict)    # excluded files, with the reason
    every: int = 1                                           # runs one test in so many, chosen by its name's checksum
    seconds: int = 60                                        # time limit of a single test
    variables: dict[str, str] = field(default_factory=dict)  # environment variables
    differences: tuple[Difference, ...] = ()


MISSING = r"(no attribute '|torch\.){names}\b.*(PyTorch has|stands in for torch)"
RANDOM = "other random numbers (docs/differences.md): the test fails with other seeds on PyTorch, too"


def missing(reason: str, names: str) -> Difference:
    """The texts of this package's errors about missing names."""
    return Difference(reason, error=MISSING.format(names=names))


# Differences that may affect any library.
COMMON = (
    missing("no tensors of float8", r"float8_\w+"),
    missing("several processes", "distributed.TCPStore"),
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
