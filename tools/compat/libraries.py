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


# Differences that any library may meet.
COMMON = (
    Difference("float8 dtypes come next", error=r"torch\.float8"),
    Difference("tensors without memory come next", error=r"device 'meta'"),
    Difference("several processes come later", error=r"TCPStore"),
    Difference("no TorchScript", error=r"no TorchScript"),
    Difference(
        "NumPy's functions return tensors here (docs/differences.md)", test=r"test_convolve\[", error=r"To copy construct"
    ),
    Difference(
        "other random numbers (docs/differences.md)",
        test=r"tests/module/test_(binary|gaussian)|_shap\.py|test_lime|_gof\[",
    ),
    Difference("sparse tensors come next", error=r"[Ss]parse|to_dense|_indices|_values"),
    Difference("bfloat16 comes next", error=r"bfloat16|BFloat16"),
    Difference("storages come next", error=r"[Ss]torage|data_ptr"),
)

DECLARED = [
    Library("einops", "einops", ("einops/tests",), variables={"EINOPS_TEST_BACKENDS": "numpy,torch"},
            differences=COMMON),
    Library("higher", "higher", ("tests",), differences=COMMON),
    Library("nflows", "nflows", ("tests",), arguments=("-o", "python_files=*test*.py"), differences=COMMON),
    Library("skorch", "skorch", ("skorch/tests",), arguments=("-o", "addopts="), every=4, differences=COMMON),
    Library("torchmetrics", "torchmetrics",
            ("tests/unittests/bases", "tests/unittests/regression", "tests/unittests/classification"),
            source="src", arguments=("-o", "addopts=--strict-markers"), every=20, differences=COMMON),
    Library("captum", "captum", ("tests/attr", "tests/module"), every=2, differences=COMMON),
    Library("linear_operator", "linear_operator", ("test",), every=4, differences=COMMON),
    Library("gpytorch", "gpytorch", ("test",), every=4, differences=COMMON),
    Library("backpack", "backpack", ("test",), every=10, differences=COMMON),
    Library("pyro", "pyro", ("tests/distributions", "tests/infer", "tests/nn", "tests/ops"), every=20, differences=COMMON),
    Library("safetensors", "safetensors.torch", ("tests/test_pt_comparison.py", "tests/test_pt_model.py"),
            folder="bindings/python", source="tests", differences=COMMON),
]  # fmt: skip

LIBRARIES = {library.name: library for library in DECLARED}
