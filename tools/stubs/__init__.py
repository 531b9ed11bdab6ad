"""Write the type stubs and docs/operations.md from the table of operations.

    python -m tools.stubs

Signatures and texts come from the compiled functions and from the attributes of Tensor. Their types come from `parameters.py`,
`results.py` and `members.py`; only these are written by hand.
"""

from tools.stubs.modules import stubs
from tools.stubs.packages import package_stubs
from tools.stubs.reference import reference


def generated():
    """All generated files: {path below the root of the project: text}."""
    return {**stubs(), **package_stubs(), "docs/operations.md": reference()}
