"""Cython.Coverage, also for the parts of a module. A plugin of coverage: docs/profiling.md shows how to use it."""

import os

from Cython.Coverage import Plugin as CythonPlugin


class Plugin(CythonPlugin):
    """Finds the C file of a part, engine/engine/walk.pyx, by its module: engine/engine.c."""

    def _find_source_files(self, filename):
        c_file, py_file = super()._find_source_files(filename)
        folder, extension = os.path.dirname(filename), os.path.splitext(filename)[1]
        if c_file is None and extension == ".pyx":
            c_file, py_file = super()._find_source_files(folder + extension)
        return c_file, py_file


def coverage_init(registry, options):
    """What coverage calls."""
    plugin = Plugin()
    registry.add_configurer(plugin)
    registry.add_file_tracer(plugin)
