"""The version that scripts see under the alias: PyTorch's branch of their checks is taken."""

import subprocess
import sys

import pytest

import autograd_cy
from autograd_cy.torch_version import TorchVersion, __version__

SCRIPT = """
import autograd_cy
own = autograd_cy.__version__
autograd_cy.install_as_torch()
import torch, torch.version
assert torch.__version__ == torch.version.__version__ == "2.13.0+autograd_cy" and torch.version.cuda is None
assert torch.__version__ >= "2.0" and torch.__version__ > (2, 12)
assert tuple(map(int, torch.__version__.split(".")[:2])) == (2, 13)
assert autograd_cy.__version__ == own and isinstance(torch.__version__, str)
torch.mine = 3
assert autograd_cy.mine == 3
del torch.mine
assert not hasattr(autograd_cy, "mine") and not hasattr(torch, "mine") and "FloatTensor" in dir(torch)
try:
    import torch.utils.cpp_extension
except ModuleNotFoundError as error:
    print(error)
"""


def test_the_version_under_the_alias():
    found = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert "No module named 'torch.utils.cpp_extension'" in found.stdout
    assert "PyTorch has it, this package does not" in found.stdout


ORDER = ["1.9", "2.0.0", "2.9.1", "2.13.0.dev20260101", "2.13.0rc1", "2.13", "2.13.0+autograd_cy", "2.13.1", "3.0"]


def test_versions_are_ordered():
    for i, smaller in enumerate(ORDER):
        for larger in ORDER[i + 1 :]:
            assert TorchVersion(smaller) < larger and TorchVersion(larger) > TorchVersion(smaller) != larger
            assert TorchVersion(smaller) <= larger and not TorchVersion(smaller) >= larger


def test_versions_against_tuples_and_other_texts():
    assert TorchVersion("2.13.0") == (2, 13) == TorchVersion("2.13") and TorchVersion("2.13.0") >= [2, 13, 0]
    assert TorchVersion("2.13.0") != "main" and hash(__version__) == hash(str(__version__))


def test_packaging_reads_it():
    version = pytest.importorskip("packaging.version")
    assert version.parse(__version__) > version.parse("2.12") and version.parse(__version__).release == (2, 13, 0)


@pytest.mark.parametrize("name", ["bundled_inputs", "cpp_extension"])
def test_missing_submodules_say_so(name):
    with pytest.raises(AttributeError, match="PyTorch has it, this package does not"):
        getattr(autograd_cy.utils, name)


ARGUMENTS = {
    "softmax() missing 1 required positional arguments: \"dim\"": lambda x: x.softmax(),
    "matmul() missing 1 required positional arguments: \"other\"": lambda x: x.matmul(),
    "got an unexpected keyword argument 'dims', but here it takes (input": lambda x: x.sum(dims=0),
    "received an invalid combination of arguments: 3 positional ones, but here it takes (input": lambda x: x.exp(1, 2),
}


@pytest.mark.parametrize("message", ARGUMENTS)
def test_arguments(message):
    with pytest.raises(TypeError) as caught:
        ARGUMENTS[message](autograd_cy.ones(2, 3))
    assert message in str(caught.value)


def test_the_module_of_versions_need_not_be_imported():
    assert autograd_cy.version.cuda is None and "version" in dir(autograd_cy)

MEMBERS = """
import torch
from torch.autograd.gradcheck import GradcheckError
import torch.nn.utils.weight_norm
import torch.autograd.gradcheck
assert callable(torch.autograd.gradcheck) and callable(torch.nn.utils.weight_norm)
"""


@pytest.mark.parametrize("first", ["", "import torch.autograd, torch.nn.utils", "import torch; torch.autograd.gradcheck"])
def test_a_module_does_not_take_the_place_of_its_function(first):
    """`from torch.autograd.gradcheck import ...` made torch.autograd.gradcheck the module."""
    found = subprocess.run(
        [sys.executable, "-m", "autograd_cy", "-c", first + MEMBERS], capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr
