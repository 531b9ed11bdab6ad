"""torch.cuda and its kin, and torch.backends, where there is no device: each answers as PyTorch does on a CPU alone."""

import importlib
import inspect

import pytest

import autograd_cy as ag

MODULES = ["accelerator", "cpu", "cuda", "cuda.memory", "cuda.random", "mps", "mtia", "xpu"]
SWITCHES = ["cudnn", "mkldnn", "opt_einsum", "nnpack", "xnnpack", "miopen"]

# PyTorch's own answers need what its build lacks: an attribute of its core, a package.
BROKEN = (AttributeError, ImportError, KeyError, NotImplementedError)
# What PyTorch says without looking for a device that it needs, or looks for one that it needs not.
OTHERWISE = {
    "current_stream", "get_capabilities", "list_gpu_processes", "profile", "is_current_stream_capturing", "graph_pool_handle",
}  # fmt: skip


@pytest.fixture(params=["autograd_cy", "torch"])
def torch(request):
    return pytest.importorskip(request.param)


def outcome(function):
    """What a call without arguments returns, or the type of its error."""
    try:
        return function()
    except Exception as error:
        return type(error)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODULES)
def test_functions_answer_as_pytorch_s_do(name):
    pytest.importorskip("torch")
    theirs, ours = importlib.import_module(f"torch.{name}"), importlib.import_module(f"autograd_cy.{name}")
    compared = 0
    for function in set(ours.__all__) & set(getattr(theirs, "__all__", dir(theirs))):
        their, our = getattr(theirs, function), getattr(ours, function)
        if inspect.isclass(their) or inspect.ismodule(their) or not callable(their) or function in OTHERWISE:
            continue
        if any(p.default is p.empty and p.kind < p.VAR_POSITIONAL for p in inspect.signature(their).parameters.values()):
            continue
        expected = outcome(their)
        if isinstance(expected, type) and issubclass(expected, BROKEN):
            continue
        found, compared = outcome(our), compared + 1
        if isinstance(expected, type) and issubclass(expected, RuntimeError | AssertionError):
            assert found in (RuntimeError, AssertionError), function
        else:
            assert found == expected, function
    assert compared >= 3


@pytest.mark.parametrize("name", MODULES)
def test_each_name_is_documented_and_its_own(name):
    module = importlib.import_module(f"autograd_cy.{name}")
    for public in module.__all__:
        value = getattr(module, public)
        assert inspect.ismodule(value) or not callable(value) or (value.__name__ == public and value.__doc__), public


def test_a_script_chooses_its_device(torch):
    device = torch.device("cuda:0" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
    assert device.type == "cpu"
    accelerator = torch.accelerator.current_accelerator()
    assert accelerator is None and not torch.accelerator.is_available() and not torch.xpu.is_available()
    torch.cuda.manual_seed(0)
    torch.cuda.manual_seed_all(0)
    torch.cuda.empty_cache()
    torch.mps.manual_seed(0)
    torch.xpu.manual_seed_all(0)
    assert torch.cuda.device_count() == 0 == torch.cuda.memory_allocated() == torch.cuda.max_memory_allocated(0)
    assert torch.cuda.get_rng_state_all() == [] and torch.cuda.memory_stats() == {}
    torch.cuda.set_rng_state_all([])


@pytest.mark.parametrize("name", ["FloatTensor", "LongTensor", "HalfTensor", "BFloat16Tensor", "ByteTensor"])
def test_types_of_tensors_can_be_asked_for(torch, name):
    kind = getattr(torch.cuda, name)
    assert not isinstance(torch.ones(2), kind) and torch.ones(2).type() != f"torch.cuda.{name}"
    assert isinstance(kind.dtype, torch.dtype)
    with pytest.raises(TypeError, match=rf"type torch.cuda.{name} not available. Torch not compiled with CUDA enabled"):
        kind(2)


def test_what_needs_a_device_says_so(torch):
    calls = [torch.cuda.synchronize, torch.cuda.current_device, torch.cuda.init, torch.cuda.get_device_properties]
    for call in calls:
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            call()
    for make in (torch.cuda.Stream, torch.cuda.Event, torch.cuda.CUDAGraph):
        with pytest.raises(RuntimeError):
            make()
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        torch.accelerator.synchronize()
    with pytest.raises(RuntimeError, match="without MPS backend"):
        torch.mps.synchronize()


def test_contexts_without_a_device_change_nothing(torch):
    with torch.cuda.stream(None), torch.cuda.device(-1), torch.cuda.device_of(torch.ones(2)), torch.xpu.stream(None):
        pass
    with torch.accelerator.device_index(None), torch.cpu.stream(torch.cpu.Stream()):
        pass
    with pytest.raises(RuntimeError, match="without CUDA support"), torch.cuda.device(0):
        pass


def test_errors_can_be_caught(torch):
    assert torch.cuda.OutOfMemoryError is torch.OutOfMemoryError and issubclass(torch.OutOfMemoryError, RuntimeError)
    assert issubclass(torch.AcceleratorError, RuntimeError)
    try:
        raise torch.cuda.OutOfMemoryError("full")
    except RuntimeError as error:
        assert str(error) == "full"


@pytest.mark.filterwarnings("ignore")
def test_switches_are_set_for_a_while(torch):
    with torch.backends.cudnn.flags(enabled=False, benchmark=True):
        assert (torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark) == (False, True)
    assert (torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark) == (True, False)
    with torch.backends.mkldnn.flags(enabled=False):
        assert torch.backends.mkldnn.enabled is False
    assert torch.backends.mkldnn.enabled is True
    with torch.backends.cuda.sdp_kernel(enable_flash=False), torch.backends.mkl.verbose(0):
        pass
    assert torch.backends.cuda.matmul.allow_tf32 in (True, False) and torch.backends.cudnn.version() is None


@pytest.mark.parametrize("name", SWITCHES)
def test_switches_come_back_after_an_error(name):
    module = importlib.import_module(f"autograd_cy.backends.{name}")
    before = module.enabled
    with pytest.raises(ZeroDivisionError), module.flags(enabled=not before):
        assert module.enabled is not before
        1 / 0  # noqa: B018
    assert module.enabled is before
    with pytest.raises(AttributeError), module.flags(nonsense=True):
        pass


def test_the_cpu_is_a_device_of_its_own(torch):
    assert torch.cpu.is_available() and torch.cpu.device_count() == 1 and torch.cpu.current_device() == "cpu"
    event = torch.cpu.current_stream().record_event() or torch.cpu.Event()
    event.record()
    event.synchronize()
    assert event.query() and torch.cpu.synchronize() is None
    assert ag.backends.cpu.get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT")
