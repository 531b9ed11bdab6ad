"""What all tests share. Every test is a leak test: the debug build counts the live objects of the core."""

import gc
import sys
from pathlib import Path

import pytest

import autograd_cy
from autograd_cy._core.runtime import state

# Last, so that `benchmarks` is found, but never this tree's autograd_cy in place of the one under test.
sys.path.append(str(Path(__file__).resolve().parents[1]))


def pytest_report_header() -> str:
    """Which build is tested, and where it lies."""
    build = "debug" if state.is_debug_build() else "release"
    return f"autograd_cy {autograd_cy.__version__}: {build} build, {Path(autograd_cy.__file__).parent}"


@pytest.fixture(autouse=True, scope="module")
def small_heap():
    """Within a file's tests, a collection looks at what these made: 80 ms less than with all of pytest's tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=state.is_debug_build())
def nothing_leaks(request):
    """Fail a test after which more objects of the core are alive than before."""
    before, failed = state.live_objects(), request.session.testsfailed
    yield
    if request.session.testsfailed > failed or state.live_objects() == before:
        return  # a failure's traceback keeps its frames, and what they hold
    request.node.funcargs.clear()
    gc.collect()
    leaked = {name: n - before[name] for name, n in state.live_objects().items() if n > before[name]}
    assert not leaked, f"still alive after the test: {leaked}"


@pytest.fixture
def no_collector():
    """Run a test without the cyclic garbage collector, but for its own calls of it."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(params=[0, 1, 2])
def level(request):
    """The kernels' loops for vectors of 16, 32 and 64 bytes, where the machine has them."""
    from autograd_cy._core.kernels.gemm import use_panels

    try:
        before = use_panels(request.param)
    except ValueError:
        pytest.skip("the machine lacks these vectors")
    yield request.param
    use_panels(before)


@pytest.fixture
def threads():
    """Sets the number of kernel threads, for a test."""
    before = autograd_cy.get_num_threads()
    yield autograd_cy.set_num_threads
    autograd_cy.set_num_threads(before)
