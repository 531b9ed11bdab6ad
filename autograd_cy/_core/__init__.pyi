"""The compiled core. Type checkers know the public names from the stubs of the facade."""

from typing import Any

def __getattr__(name: str) -> Any: ...
