"""The version of PyTorch that this package stands for, in a form that version checks can compare (facade)."""

import re
from collections.abc import Sequence
from typing import Any

__all__ = ["TorchVersion"]

_PRE = r"[-_.]?(?:a|b|c|rc|alpha|beta|pre|preview|dev)[-_.]?\d*"
_FORM = re.compile(rf"v?(?P<release>\d+(?:\.\d+)*)(?P<pre>{_PRE})?", re.IGNORECASE)


class TorchVersion(str):
    """``TorchVersion("2.13.0")`` is a str that compares as a version: with other versions, strings and tuples.

    A pre-release comes before its release, a local part ("+cpu") after it.

    >>> from autograd_cy.torch_version import TorchVersion
    >>> version = TorchVersion("2.13.0+cpu")
    >>> version >= "2.9", version > (2, 13), version < TorchVersion("2.13.1"), version == "2.13.0"
    (True, True, True, False)
    """

    __slots__ = ()

    def _compared(self, other: Any) -> int | None:
        """-1, 0 or 1; None if the other is no version."""
        theirs = _key(other)
        ours = _key(self)
        return None if theirs is None or ours is None else (ours > theirs) - (ours < theirs)

    def __eq__(self, other: object) -> bool:
        order = self._compared(other)
        return str.__eq__(self, other) is True if order is None else order == 0

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: Any) -> bool:
        order = self._compared(other)
        return str.__lt__(self, other) if order is None else order < 0

    def __le__(self, other: Any) -> bool:
        order = self._compared(other)
        return str.__le__(self, other) if order is None else order <= 0

    def __gt__(self, other: Any) -> bool:
        order = self._compared(other)
        return str.__gt__(self, other) if order is None else order > 0

    def __ge__(self, other: Any) -> bool:
        order = self._compared(other)
        return str.__ge__(self, other) if order is None else order >= 0

    __hash__ = str.__hash__


def _key(version: Any) -> tuple[Any, ...] | None:
    """What orders versions: the numbers without trailing zeros, whether it is a release, the local part."""
    if isinstance(version, Sequence) and not isinstance(version, str):
        version = ".".join(str(part) for part in version)
    text, _, local = str(version).partition("+")
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    numbers = [int(number) for number in found["release"].split(".")]
    while numbers and numbers[-1] == 0:
        del numbers[-1]
    return numbers, found["pre"] is None, found["pre"] or "", local


__version__ = TorchVersion("2.13.0+autograd_cy")
