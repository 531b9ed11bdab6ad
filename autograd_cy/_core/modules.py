"""Which compiled modules there are, and where: installed, all in one library; in a tree that is worked on, a file for each.

The finder of the library stands first among all: no folder is searched, and a file of an earlier version is never taken.
"""

import gc
import os
import sys
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec

try:
    from autograd_cy._core._library_contents import FOLDERS, MODULES
except ModuleNotFoundError:
    FOLDERS, MODULES = (), ()


class LibraryFinder:
    """Finds the modules that one library holds, each by its own PyInit function, and folders: packages without code.

    The __init__.py of a folder is not read, which would take as long as ten modules of the library.
    """

    def __init__(self, path, modules, folders=()):
        self.path, self.modules = path, frozenset(modules)
        # the library stands in autograd_cy/_core
        self.folders = {name: os.path.join(os.path.dirname(path), *name.split(".")[2:]) for name in folders}

    def find_spec(self, name, path=None, target=None):
        if name in self.modules:
            spec = ModuleSpec(name, ExtensionFileLoader(name, self.path), origin=self.path)
            spec.has_location = True
            return spec
        if name in self.folders:
            spec = ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [self.folders[name]]
            return spec
        return None


def find_in_library(folder):
    """Have the modules of the library in `folder` found there, if they are installed that way."""
    if not MODULES:
        return
    paths = [os.path.join(folder, "_library" + suffix) for suffix in EXTENSION_SUFFIXES]
    path = next(filter(os.path.exists, paths), None)
    if path is None:
        version = ".".join(map(str, sys.version_info[:2]))
        raise ImportError(f"autograd_cy is not compiled for this Python, {version}: there is no {paths[0]}. Install it anew.")
    sys.meta_path.insert(0, LibraryFinder(path, MODULES, FOLDERS))


def load(name):
    """load("autograd_cy._core.graph.node") -> module: import a module of the core, or another one.

    A module of the library is loaded here: importlib's locks, searches and checks would take longer than most modules do.
    """
    finder = sys.meta_path[0]
    package, _, last = name.rpartition(".")
    parent = (sys.modules.get(package) or import_module(package)) if package else None  # which may import the module, too
    if name in sys.modules or not isinstance(finder, LibraryFinder) or name not in finder.modules:
        return import_module(name)
    spec = finder.find_spec(name)
    module = sys.modules[name] = spec.loader.create_module(spec)
    module.__spec__ = spec
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    setattr(parent, last, module)
    return module


def compiled_below(package, path):
    """The names of the compiled modules in the folders right below a package, whose folder is `path`; sorted."""
    if MODULES:
        return sorted(name for name in MODULES if name.startswith(f"{package}.") and name.count(".") == package.count(".") + 2)
    found = set()
    for folder in os.scandir(path):
        if folder.is_dir():
            for stem, dot, suffix in (name.partition(".") for name in os.listdir(folder)):
                if dot + suffix in EXTENSION_SUFFIXES:
                    found.add(f"{package}.{folder.name}.{stem}")
    return sorted(found)


@contextmanager
def collector_paused():
    """Without the cyclic garbage collector, which would look again and again at modules that are made to stay.

    Afterwards they count as old: the next collection of young objects does not look at them either.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()  # into the oldest generation
            gc.enable()
