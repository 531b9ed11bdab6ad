"""Every example in a docstring of the package runs and returns the documented result."""

import doctest
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import pytest
from hypothesis import Phase, settings

import autograd_cy
from autograd_cy._core.modules import MODULES

PARSER = doctest.DocTestParser()


def modules() -> Iterator[ModuleType]:
    """All modules of the package, compiled ones too."""
    yield autograd_cy
    names = {found.name for found in pkgutil.walk_packages(autograd_cy.__path__, "autograd_cy.")}
    for name in sorted(names.union(MODULES)):  # the walk sees files, not the modules of a library
        if not name.endswith(("._cyutility", "._library")):  # Cython's modules, and entries that are no modules
            yield importlib.import_module(name)


def documented(module: ModuleType) -> Iterator[tuple[str, object]]:
    """The module, its functions and classes, and what the classes define, compiled or not."""
    yield module.__name__, module
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        yield f"{module.__name__}.{name}", value
        if inspect.isclass(value):
            yield from ((f"{module.__name__}.{name}.{n}", v) for n, v in vars(value).items() if n != "__doc__")


def examples() -> dict[str, doctest.DocTest]:
    """The examples by their first name; methods of Tensor have two names."""
    found: dict[str, doctest.DocTest] = {}
    texts = set()
    for module in modules():
        for name, value in documented(module):
            text = inspect.cleandoc(getattr(value, "__doc__", None) or "")
            inherited = getattr(value, "__doc__", None) == type(value).__doc__  # an instance has its class's
            if ">>>" in text and text not in texts and not inherited:
                texts.add(text)
                found[name] = PARSER.get_doctest(text, {}, name, None, 0)
    return found


EXAMPLES = examples()


def test_examples_are_found_in_all_kinds_of_docstrings():
    assert {
        "autograd_cy",  # a package
        "autograd_cy._core.arrays.dtypes.dtype",  # a compiled class
        "autograd_cy._core.graph.node.Node.next_functions",  # a compiled property
        "autograd_cy.Tensor.exp",  # a compiled function, and a method
        "autograd_cy.autograd.function.Function",  # a class
        "autograd_cy._creation.filled.zeros",  # a function
    } <= set(EXAMPLES)


@pytest.fixture
def no_found_examples():
    """Hypothesis stores its findings by the code of a condition, so examples with equal conditions would disturb each other.

    The deadline is off, because a call may take longer on a busy machine than Hypothesis allows. The phase that explains what
    `find` found is off, because no example shows its text and it took half of this file's time.
    """
    settings.register_profile("before", settings.default)
    phases = [phase for phase in Phase if phase is not Phase.explain]
    settings.register_profile("examples", settings.default, database=None, deadline=None, phases=phases)
    settings.load_profile("examples")
    yield
    settings.load_profile("before")


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_example(name, no_found_examples):
    if name.startswith("autograd_cy.utils.safetensors"):
        pytest.importorskip("safetensors")
    output: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(EXAMPLES[name], out=output.append)
    assert result.failed == 0, "".join(output)
    assert result.attempted > 0
