"""compile, devices that are not there, and settings that change nothing: scripts that use them run."""

import importlib
import warnings

import pytest

import autograd_cy as ag
from autograd_cy._core.runtime import once


def test_compile_returns_what_it_gets(monkeypatch):
    monkeypatch.setattr(once, "_given", set())

    def double(x):
        return x * 2

    with pytest.warns(UserWarning, match="compile.* returns the function as it is") as given:
        assert ag.compile(double) is double
        assert ag.compile(mode="max-autotune", fullgraph=True)(double) is double
    assert len(given) == 1
    with pytest.raises(AssertionError, match="A callable function is expected, but <class 'int'> is provided"):
        ag.compile(3)
    with pytest.raises(TypeError):
        ag.compile(double, nonsense=True)


def test_compile_is_silent_where_it_is_disabled(monkeypatch):
    monkeypatch.setattr(once, "_given", set())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ag.compile(disable=True)(len) is len


def test_cuda_is_not_there():
    cuda = ag.cuda
    assert (cuda.is_available(), cuda.is_initialized(), cuda.is_bf16_supported()) == (False, False, False)
    assert (cuda.device_count(), cuda.memory_allocated()) == (0, 0)
    assert [cuda.manual_seed(0), cuda.manual_seed_all(0), cuda.seed(), cuda.empty_cache()] == [None] * 4
    for name in ("synchronize", "current_device", "get_device_name", "set_device", "init"):
        with pytest.raises(AssertionError, match=r"^Torch not compiled with CUDA enabled"):
            getattr(cuda, name)(0)
    with pytest.raises(AttributeError, match="CPU only"):
        cuda.nonsense  # noqa: B018
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        ag.ones(2).to("cuda")


@pytest.mark.parametrize("name", ["cuda.matmul", "cudnn", "mkldnn"])
def test_switches_of_backends_are_kept(name):
    switches = ag.backends
    for part in name.split("."):
        switches = getattr(switches, part)
    flag = "enabled" if name == "mkldnn" else "allow_tf32"
    before = getattr(switches, flag)
    setattr(switches, flag, not before)
    assert getattr(switches, flag) is not before
    setattr(switches, flag, before)


def test_backends_are_not_there():
    for name in ("cudnn", "mkl", "mkldnn", "mps", "openmp"):
        assert importlib.import_module(f"autograd_cy.backends.{name}").is_available() is False
    assert (ag.backends.cuda.is_built(), ag.backends.mps.is_built(), ag.backends.cudnn.version()) == (False, False, None)


@pytest.fixture
def settings_as_before():
    yield
    ag.use_deterministic_algorithms(False)
    ag.set_float32_matmul_precision("highest")


def test_settings_are_told_back(settings_as_before):
    for mode, only, told in ((True, False, 2), (True, True, 1), (False, False, 0)):
        ag.use_deterministic_algorithms(mode, warn_only=only)
        assert ag.get_deterministic_debug_mode() == told
        assert ag.are_deterministic_algorithms_enabled() is mode
        assert ag.is_deterministic_algorithms_warn_only_enabled() is only
        ag.set_deterministic_debug_mode(["default", "warn", "error"][told])
        assert ag.get_deterministic_debug_mode() == told
    ag.set_float32_matmul_precision("high")
    with pytest.warns(UserWarning, match="x is not one of 'highest', 'high', or 'medium'"):
        ag.set_float32_matmul_precision("x")
    assert ag.get_float32_matmul_precision() == "high"


@pytest.mark.parametrize(("error", "wrong"), [
    (TypeError, lambda: ag.use_deterministic_algorithms(3)), (TypeError, lambda: ag.set_deterministic_debug_mode(None)),
    (RuntimeError, lambda: ag.set_deterministic_debug_mode("x")), (RuntimeError, lambda: ag.set_deterministic_debug_mode(3)),
    (RuntimeError, lambda: ag.set_num_interop_threads(0)), (RuntimeError, lambda: ag.set_num_interop_threads(1025)),
    (TypeError, lambda: ag.set_num_interop_threads(1.0)),
])  # fmt: skip
def test_wrong_settings(error, wrong):
    with pytest.raises(error):
        wrong()


def test_a_backward_runs_in_one_thread_unless_more_are_set():
    assert ag.get_num_interop_threads() == 1
    ag.set_num_interop_threads(2)
    assert ag.get_num_interop_threads() == 2
    ag.set_num_interop_threads(1)
