"""Write the type stubs from the table of operations, beside the modules of the imported package. Each build runs it.

    python -m tools.stubs

Signatures and texts come from the compiled functions and from the attributes of Tensor. Their types come from `parameters.py`,
`results.py` and `members.py`; only these are written by hand.
"""

from tools.stubs.modules import stubs
from tools.stubs.packages import package_stubs


def generated():
    """All generated stubs: {path below the folder that the package is in: text}."""
    return {**stubs(), **package_stubs()}
