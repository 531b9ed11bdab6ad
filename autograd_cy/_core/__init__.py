"""The compiled core. Its modules are found in one library where it is installed."""

from autograd_cy._core.modules import find_in_library

find_in_library(__path__[0])
