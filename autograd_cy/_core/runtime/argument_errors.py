"""Calls with too few arguments or with unknown ones: PyTorch's words for what Cython says of them (knows no operation)."""

import inspect
import re

_COUNT = r"(\w+)\(\) (?:takes|needs) .*argument"
_KEYWORD = r"(\w+)\(\) got an unexpected keyword argument '(\w+)'"


def wrong_self(given, kind):
    """The TypeError for `kind.method(given)`. Cython's functions look at the type of all arguments but the first."""
    return TypeError(f"a method of '{kind.__name__}' objects doesn't apply to a '{type(given).__name__}' object")


def explained(function, given, names, message):
    """A better message for a TypeError that a call of `function` ended with, or None if there is none.

    `given` is the number of positional arguments, `names` are the keywords.
    """
    count, keyword = re.match(_COUNT, message), re.match(_KEYWORD, message)
    found = count or keyword
    if not found or found[1] != function.__name__:
        return None
    takes = inspect.signature(function)
    parameters = list(takes.parameters.values())
    if keyword:
        return (
            f"{found[1]}() received an invalid combination of arguments: got an unexpected keyword argument {keyword[2]!r}, "
            f"but here it takes {takes}"
        )
    wanted = [p.name for p in parameters[given:] if p.default is p.empty and p.kind < p.VAR_POSITIONAL]
    missing = [name for name in wanted if name not in names]
    if missing:
        return f"{found[1]}() missing {len(missing)} required positional arguments: " + ", ".join([f'"{n}"' for n in missing])
    return f"{found[1]}() received an invalid combination of arguments: {given} positional ones, but here it takes {takes}"
