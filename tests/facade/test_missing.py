"""What PyTorch has and this package has not: an AttributeError that says so, and no trace elsewhere."""

import pickle
import subprocess
import sys

import pytest

import autograd_cy as ag
from autograd_cy._compat import missing as _missing
from autograd_cy._core.runtime.argument_errors import LACKING
from tools import torch_names

SAYS_SO = r"has no attribute '\w+': PyTorch has it, this package does not \(yet\)"


@pytest.fixture
def tensor():
    return ag.ones(2)


@pytest.mark.parametrize(
    ("module", "name"),
    [(ag, "package"), (ag.autograd, "profiler_legacy"), (ag.nn, "quantized"), (ag.nn.functional, "grouped_mm")],
)
def test_a_module_says_what_pytorch_has(module, name):
    with pytest.raises(AttributeError, match=rf"^module '{module.__name__}' {SAYS_SO}"):
        getattr(module, name)
    assert not hasattr(module, name)


@pytest.mark.parametrize("module", [ag, ag.autograd, ag.nn, ag.nn.functional])
@pytest.mark.parametrize("name", ["nonsense", "_D", "__path_of_nothing__"])
def test_a_module_says_nothing_about_other_names(module, name):
    with pytest.raises(AttributeError, match=rf"^module '{module.__name__}' has no attribute '{name}'$"):
        getattr(module, name)


def test_a_tensor_says_what_pytorch_has(tensor):
    with pytest.raises(AttributeError, match=f"^'Tensor' object {SAYS_SO}"):
        tensor.to_sparse_bsr()
    with pytest.raises(AttributeError, match=f"^type object 'Tensor' {SAYS_SO}"):
        ag.Tensor.to_sparse_bsr  # noqa: B018


def test_a_tensor_says_nothing_about_other_names(tensor):
    with pytest.raises(AttributeError) as caught:
        tensor.nonsense  # noqa: B018
    assert type(caught.value) is AttributeError


@pytest.mark.parametrize("owner", [ag, ag.ones(2), ag.Tensor], ids=["module", "tensor", "type"])
def test_the_nearest_names_are_ours(owner):
    namespace = _missing.torch_names()["torch" if owner is ag else "torch.Tensor"]
    found = 0
    known = set(dir(ag) if owner is ag else dir(ag.ones(2)))
    for missing in {name for name in namespace if not name.startswith("_")} - known:
        with pytest.raises(AttributeError) as caught:
            getattr(owner, missing)
        nearest = str(caught.value).partition("Nearest: ")[2].rstrip(".").split(", ")
        found += nearest != [""]
        assert nearest == [""] or all(hasattr(ag.Tensor if owner is not ag else ag, name) for name in nearest)
    assert found >= 5


def test_where_nothing_is_near_nothing_is_named():
    with pytest.raises(AttributeError, match=r"\(yet\)\.$"):
        ag.mkldnn_max_pool3d  # noqa: B018


CREATORS = {
    "arange": (3,), "empty": (2,), "eye": (2,), "full": ((2,), 1.0), "linspace": (0, 1, 3), "ones": (2,), "rand": (2,),
    "randint": (3, (2,)), "randn": (2,), "randperm": (3,), "zeros": (2,), "tensor": ([1.0],), "empty_like": (ag.ones(2),),
    "full_like": (ag.ones(2), 1.0), "ones_like": (ag.ones(2),), "rand_like": (ag.ones(2),), "randn_like": (ag.ones(2),),
    "zeros_like": (ag.ones(2),), "mm": (ag.ones(1, 1), ag.ones(1, 1)), "bmm": (ag.ones(1, 1, 1), ag.ones(1, 1, 1)),
    "addmm": (ag.ones(1, 1),) * 3, "Tensor.new_empty": (2,), "Tensor.new_full": ((2,), 1.0), "Tensor.new_ones": (2,),
    "Tensor.new_zeros": (2,), "Tensor.resize_": (2,),
}  # fmt: skip
ARGUMENTS = [(path, name) for path in CREATORS for name in LACKING if path.rpartition(".")[2] in LACKING[name].functions]
ASKING_FOR_NOTHING = [(path, name, value) for path, name in ARGUMENTS for value in LACKING[name].harmless]


def called(module, path, convert, **keywords):
    """The call of CREATORS with keywords more, on a package."""
    args = [convert(x) if isinstance(x, ag.Tensor) else x for x in CREATORS[path]]
    owner = module.ones(2) if path.startswith("Tensor.") else module
    return getattr(owner, path.rpartition(".")[2])(*args, **keywords)


@pytest.mark.parametrize(("path", "name", "value"), ASKING_FOR_NOTHING)
def test_an_argument_that_asks_for_nothing_is_taken(path, name, value):
    """`torch.ones(2, pin_memory=False)` was refused."""
    assert called(ag, path, lambda x: x, **{name: value}).shape == called(ag, path, lambda x: x).shape


@pytest.mark.parametrize(("path", "name"), ARGUMENTS)
def test_an_argument_that_pytorch_has_is_named(path, name):
    function = path.rpartition(".")[2]
    text = rf"^{function}\(\) got an unexpected keyword argument '{name}': PyTorch has it, this package does not \(yet\)\. \w"
    with pytest.raises(RuntimeError if name == "pin_memory" else TypeError, match=text):
        called(ag, path, lambda x: x, **{name: True})


@pytest.mark.parametrize(("path", "name", "value"), ASKING_FOR_NOTHING)
def test_pytorch_takes_those_arguments(path, name, value):
    torch = pytest.importorskip("torch")
    if (path, value) == ("tensor", None):
        pytest.skip("PyTorch's tensor() takes no None here, other functions do")
    called(torch, path, lambda x: torch.from_numpy(x.numpy()), **{name: value})


@pytest.mark.parametrize("call", [
    lambda: ag.ones(2, foo=1), lambda: ag.ones(2, foo=1, pin_memory=False), lambda: ag.as_tensor(1, pin_memory=False),
    lambda: ag.ones(2, memory_format=None), lambda: ag.ones(2, names=None), lambda: ag.sum(ag.ones(2), pin_memory=False),
])  # fmt: skip
def test_other_arguments_are_unknown(call):
    with pytest.raises(TypeError, match="unexpected keyword argument") as caught:
        call()
    assert "PyTorch has it" not in str(caught.value)


def test_missing_methods_do_not_show(tensor):
    assert not hasattr(tensor, "to_sparse_bsr")
    assert not hasattr(ag.Tensor, "to_sparse_bsr")
    assert "to_sparse_bsr" not in dir(tensor)
    assert set(dir(tensor)) & set(_missing.torch_names()["torch.Tensor"]) > {"exp", "grad", "shape"}


def test_a_tensor_may_have_an_attribute_of_that_name(tensor):
    tensor.to_sparse_bsr = 3
    assert tensor.to_sparse_bsr == 3
    assert "to_sparse_bsr" in dir(tensor)
    del tensor.to_sparse_bsr
    assert not hasattr(tensor, "to_sparse_bsr")


def test_a_subclass_may_define_what_is_missing():
    class Decomposed(ag.Tensor):
        def to_sparse_bsr(self):
            return "own"

    assert Decomposed(ag.ones(2)).to_sparse_bsr() == "own"
    assert "to_sparse_bsr" in dir(Decomposed(ag.ones(2)))
    with pytest.raises(AttributeError, match=f"^'Decomposed' object {SAYS_SO}"):
        Decomposed(ag.ones(2)).to_mkldnn()


def test_the_error_can_be_pickled():
    error = _missing.MissingAttribute("module 'autograd_cy' has no attribute 'svd'", "svd")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_nothing_that_exists_is_called_missing():
    ours = {name for name in dir(ag.Tensor) if not isinstance(vars(ag.Tensor).get(name), _missing.MissingMethod)}
    missing = {name for name, value in vars(ag.Tensor).items() if isinstance(value, _missing.MissingMethod)}
    assert missing == set(_missing.torch_names()["torch.Tensor"]) - ours
    assert missing


def test_difflib_is_not_imported_before_a_message_is_read():
    script = "import sys, autograd_cy as ag; hasattr(ag, 'compile'); hasattr(ag.ones(1), 'to_sparse_bsr')"
    script += "; print('difflib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "False\n"


def test_the_names_are_those_of_pytorch():
    torch = pytest.importorskip("torch")
    first = torch_names.TARGET.read_text(encoding="utf-8").partition("\n")[0]
    if torch.__version__.partition("+")[0] not in first:
        pytest.skip(f"another PyTorch is installed: {torch.__version__}")
    script = "from tools import torch_names; print(torch_names.render(), end='')"  # other tests import parts of PyTorch
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=torch_names.TARGET.parents[1])
    assert run.stdout == torch_names.TARGET.read_text(encoding="utf-8"), run.stderr
