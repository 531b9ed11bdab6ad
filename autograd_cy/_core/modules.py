"""Which compiled modules there are."""

import os
from importlib.machinery import EXTENSION_SUFFIXES


def compiled_below(package, path):
    """The names of the compiled modules in the folders right below a package, whose folder is `path`; sorted."""
    found = set()
    for folder in os.scandir(path):
        if folder.is_dir():
            for stem, dot, suffix in (name.partition(".") for name in os.listdir(folder)):
                if dot + suffix in EXTENSION_SUFFIXES:
                    found.add(f"{package}.{folder.name}.{stem}")
    return sorted(found)
