"""The installed package: one version, all data files, no dependency except NumPy."""

import ast
import importlib.machinery
import importlib.metadata
import importlib.resources
import importlib.util
import os
import re
import subprocess
import sys
import types

import pytest
from common import ROOT, is_part

import autograd_cy
from autograd_cy._core import modules
from autograd_cy._core.modules import FOLDERS, MODULES, LibraryFinder, compiled_below, find_in_library
from autograd_cy._core.runtime import state
from autograd_cy.profiler._page import SCRIPTS

# Names that Cython modules add to sys.modules.
CYTHON = re.compile(r"cython_runtime|_cyutility|_cython_\d+")

NEW_MODULES = """
import sys
import numpy
before = set(sys.modules)
import autograd_cy
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""

UNFINISHED = """
import importlib, pkgutil
import autograd_cy
from autograd_cy._core.graph.node import Node

def compiled(cls=Node):
    found = set() if cls.__flags__ & 1 << 9 else {cls}
    return found.union(*map(compiled, cls.__subclasses__()))

for found in pkgutil.walk_packages(autograd_cy.__path__, "autograd_cy."):
    if not found.name.endswith(("__main__", "._library")):
        importlib.import_module(found.name)
print(len(compiled()) > 200, {cls for cls in compiled() if "__new__" not in vars(cls)})
"""


def run_python(*arguments: str) -> str:
    """The output of a new interpreter in which every warning is an error."""
    command = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_build_is_the_one_asked_for():
    assert state.is_debug_build() == (os.environ.get("AUTOGRAD_CY_DEBUG", "0") not in ("", "0"))


def test_the_version_is_that_of_the_distribution():
    assert autograd_cy.__version__ == importlib.metadata.version("autograd_cy")


def test_import_brings_in_numpy_and_the_standard_library_only():
    new = set(run_python("-c", NEW_MODULES).split())
    assert "autograd_cy" in new
    foreign = new - set(sys.stdlib_module_names) - {"autograd_cy", "numpy"}
    assert sorted(name for name in foreign if not CYTHON.match(name)) == []


def test_all_compiled_classes_of_nodes_are_finished():
    """FunctionNode, imported on first use of Function, could be made by `__new__`, and crashed."""
    assert run_python("-c", UNFINISHED).split() == ["True", "set()"]


def test_the_only_requirement_is_numpy():
    required = importlib.metadata.requires("autograd_cy") or []
    assert [line for line in required if "extra ==" not in line] == ["numpy>=2"]


def test_the_page_of_the_profiler_is_installed():
    """No file is forgotten: an unlisted script would be missing from the page."""
    folder = importlib.resources.files("autograd_cy.profiler").joinpath("page")
    found = {path.name for path in folder.iterdir()}
    assert found == {"page.html", "page.css"} | {f"{name}.js" for name in SCRIPTS}


def test_types_and_declarations_are_installed():
    files = importlib.resources.files(autograd_cy)
    stubs = ("__init__.pyi", "_functional/names.pyi", "nn/__init__.pyi", "_core/graph/tensor.pyi")
    for name in ("py.typed", *stubs, "_core/graph/tensor.pxd", "_compat/torch_names.txt"):
        assert files.joinpath(name).is_file(), name


# the library of an installed core


def sources() -> set[str]:
    """The names of all compiled modules, by their sources."""
    core = ROOT / "autograd_cy" / "_core"
    paths = [path.relative_to(ROOT) for suffix in (".pyx", ".pyx.in") for path in core.rglob(f"*{suffix}")]
    return {".".join([*path.parent.parts, path.name.partition(".")[0]]) for path in paths if not is_part(path)}


def test_the_finder_finds_the_modules_of_its_list_and_no_other():
    listed = ["autograd_cy._core.graph.node", "autograd_cy._core.graph.tensor"]
    finder = LibraryFinder(os.path.join("core", "library.so"), listed, ["autograd_cy._core.ops.nn"])
    for name in listed:
        spec = finder.find_spec(name)
        assert (spec.name, spec.origin, spec.loader.name, spec.loader.path) == (name, finder.path, name, finder.path)
        assert spec.has_location and not spec.submodule_search_locations
    spec = finder.find_spec("autograd_cy._core.ops.nn")
    assert spec.loader is None and spec.submodule_search_locations == [os.path.join("core", "ops", "nn")]
    others = ["autograd_cy._core.graph", "autograd_cy._core.graph.tensor.x", "autograd_cy._core.graph.record", "node", "numpy"]
    assert [name for name in others if finder.find_spec(name) is not None] == []


@pytest.mark.skipif(not MODULES, reason="in place, each module is a file")
def test_the_folders_that_are_not_read_have_no_code():
    for name in FOLDERS:
        text = ROOT.joinpath(*name.split("."), "__init__.py").read_text(encoding="utf-8")
        assert [type(node) for node in ast.parse(text).body] == [ast.Expr], name
        (place,) = importlib.import_module(name).__path__
        assert os.path.isfile(os.path.join(place, "__init__.py"))
    assert "autograd_cy._core.graph" not in FOLDERS  # the import cycle of tensor and node begins there


@pytest.mark.skipif(not MODULES, reason="in place, each module is a file")
def test_all_that_is_compiled_is_in_the_library():
    assert set(MODULES) == sources() | {"autograd_cy._core._cyutility"}
    (library,) = {importlib.import_module(name).__file__ for name in MODULES}
    assert library is not None and os.path.basename(library).startswith("_library.")
    folder = importlib.resources.files(autograd_cy)
    assert [str(path) for path in folder.rglob("*" + library.rpartition(".")[2])] == [library]


def test_compiled_modules_have_different_last_names():
    """Two `operators` were files in place, but can't be in one library: their PyInit_operators would be one symbol."""
    names = [name.rpartition(".")[2] for name in sources()]
    assert sorted({name for name in names if names.count(name) > 1}) == []


@pytest.mark.skipif(bool(MODULES), reason="what is installed is one library")
def test_in_place_each_module_is_a_file_and_no_library_stands_before_it():
    assert not any(isinstance(finder, LibraryFinder) for finder in sys.meta_path)
    assert len({importlib.import_module(name).__file__ for name in sources()}) == len(sources())


def test_a_module_that_is_missing_is_an_import_error_that_names_it():
    with pytest.raises(ModuleNotFoundError, match=r"No module named .autograd_cy\._core\.graph\.nothing."):
        importlib.import_module("autograd_cy._core.graph.nothing")
    name = "autograd_cy._core.graph.nothing"
    spec = LibraryFinder(state.__file__, [name]).find_spec(name)
    with pytest.raises(ImportError, match=r"does not define module export function .PyInit_nothing"):
        importlib.util.module_from_spec(spec)


def test_a_module_that_fails_to_load_stays_absent(monkeypatch):
    name = "autograd_cy._core.graph.nothing"
    finder = LibraryFinder(state.__file__, [name])
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    with pytest.raises(ImportError, match=r"does not define module export function .PyInit_nothing"):
        modules.load(name)
    assert name not in sys.modules

    class Failing(importlib.machinery.ExtensionFileLoader):
        create_module = staticmethod(lambda spec: types.ModuleType(spec.name))

        def exec_module(self, module):
            assert sys.modules[name] is module
            raise KeyboardInterrupt

    monkeypatch.setattr(finder, "find_spec", lambda name: importlib.machinery.ModuleSpec(name, Failing(name, "")))
    with pytest.raises(KeyboardInterrupt):
        modules.load(name)
    assert name not in sys.modules and not hasattr(sys.modules["autograd_cy._core.graph"], "nothing")


def test_loaded_modules_are_as_importlib_makes_them():
    for name in sources():
        module = modules.load(name)
        package, _, last = name.rpartition(".")
        assert module is sys.modules[name] is getattr(sys.modules[package], last)
        assert module.__spec__.name == module.__name__ == name and module.__package__ == package
        assert module.__spec__.loader is module.__loader__ and module.__file__ == module.__spec__.origin
    assert modules.load("json") is importlib.import_module("json")


def test_a_library_for_another_python_is_an_import_error_that_says_so(tmp_path, monkeypatch):
    before = list(sys.meta_path)
    monkeypatch.setattr(modules, "MODULES", ("autograd_cy._core.graph.tensor",))
    tmp_path.joinpath("_library.cpython-30-nowhere.so").touch()
    with pytest.raises(ImportError, match=r"not compiled for this Python, 3\.\d+: there is no .*_library.*Install it anew"):
        find_in_library(tmp_path)
    assert sys.meta_path == before


def test_the_families_are_found_in_files_and_in_a_library(monkeypatch):
    ops = importlib.import_module("autograd_cy._core.ops")
    found = compiled_below(ops.__name__, ops.__path__[0])
    assert found == sorted(name for name in sources() if name.startswith(f"{ops.__name__}.") and name.count(".") == 4)
    monkeypatch.setattr(modules, "MODULES", (*sources(), "autograd_cy._core._cyutility"))
    assert compiled_below(ops.__name__, "nowhere") == found
