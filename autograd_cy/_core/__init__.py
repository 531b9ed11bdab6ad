"""The compiled core. Its modules are found in one library where it is installed."""

import sys

from autograd_cy._core.modules import find_in_library

if getattr(sys.flags, "gil", None) == 0:  # else Python switches the GIL on for it
    raise ImportError("autograd_cy needs the GIL, which PYTHON_GIL=0 or -X gil=0 keeps off: leave them out")

find_in_library(__path__[0])
