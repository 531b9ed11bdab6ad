"""Write what follows from the op table: the type stubs, and the reference docs/operations.md.

    python -m tools.stubs

Signatures and texts come from the compiled functions and what is attached to Tensor. Types, which the functions don't
carry, are looked up by parameter name in `tables.py`: the one place for what is written by hand.
"""

from tools.stubs.modules import stubs
from tools.stubs.packages import package_stubs
from tools.stubs.reference import reference


def generated():
    """All generated files: {path below the root of the project: text}."""
    return {**stubs(), **package_stubs(), "docs/operations.md": reference()}
