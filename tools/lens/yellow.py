"""The amount of Python work in a line: the scores by which `cython -a` colours lines yellow.

Cython writes them only without line directives. This module therefore counts them in the C of the profiling build, by the
rules of Cython/Compiler/Annotate.py.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from tools.lens.sources import BUILD, ROOT

DIRECTIVE = re.compile(r'#line (\d+) "(.*)"')
# Calls and their scores: functions of Python's C API count most, macros least.
CALL = re.compile(
    r"(?P<helper_macro>__Pyx_[A-Z][A-Z_]+\()|(?P<helper>(?:__Pyx_[A-Z][a-z_][A-Za-z_]*|__pyx_convert_[A-Za-z_]*)\()|"
    r"(?P<macro>Py[A-Z][a-z]+_[A-Z][A-Z_]+\()|(?P<python>Py[A-Z][a-z]+_[A-Z][a-z][A-Za-z_]*\()"
)
POINTS = {"helper_macro": 1, "helper": 2, "macro": 1, "python": 5}
# Cython does not count its own debugging.
FREE = re.compile(r"__Pyx_(?:X?(?:GOT|GIVE)REF|RefNanny[A-Za-z]+|Trace[A-Za-z]+|PYX_ERR)\(|__PYX_ERR\(")


@cache
def scores(file: str) -> Counter[int]:
    """scores(file below the root) -> the score of each line; empty if the file has no C."""
    module = Path(file).with_suffix(".c")
    if BUILD / "templates" in module.parents:
        module = module.relative_to(BUILD / "templates")
    found = sorted((ROOT / BUILD).glob(f"numpy-*/**/{module.name}"))
    paths = [path for path in found if path.parts[-len(module.parts) :] == module.parts]
    if not paths:
        return Counter()
    with max(paths, key=lambda path: path.stat().st_mtime).open(encoding="utf-8") as lines:
        return count_scores(lines, Path(file).name)


def count_scores(lines: Iterable[str], name: str) -> Counter[int]:
    """count_scores(lines of C, "node.pyx") -> the score of each line of that file."""
    found: Counter[int] = Counter()
    line = None
    for text in lines:
        if directive := DIRECTIVE.match(text):
            line = int(directive[1]) if Path(directive[2]).name == name else None
        elif line is not None:
            for call in CALL.finditer(FREE.sub("", text)):
                found[line] += POINTS[call.lastgroup or ""]
    return found
