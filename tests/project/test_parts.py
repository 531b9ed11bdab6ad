"""The parts of a compiled module share one namespace, in which Cython lets a later definition replace an earlier one."""

import builtins
import re
from pathlib import Path

import pytest
from common import ROOT

CORE = ROOT / "autograd_cy" / "_core"
MODULES = sorted(path for path in CORE.rglob("*.pyx") if path.with_suffix("").is_dir())

NOT_CODE = re.compile(r'"""(?s:.*?)"""|f?"(?:[^"\\\n]|\\.)*"|#[^\n]*')
STATEMENT = re.compile(r"^(?=[^\s#)\]}])", re.MULTILINE)
FUNCTION = re.compile(r"(?:cdef|cpdef|def)\b[^\n=(]*?\b(\w+)\(")
CLASS = re.compile(r"(?:cdef )?class (\w+)")
RECORD = re.compile(r"(?:cdef (?:enum|struct|union)|ctypedef fused) (\w+)")
VARIABLE = re.compile(r"(?:cdef [^\n(]*?\b)?(\w+) = ")
IMPORT = re.compile(r"from (\S+) c?import (\([^)]*\)|[^\n]+)")


def statements(path: Path) -> list[str]:
    """The statements of a file at the outermost level, without comments and strings."""
    return STATEMENT.split(NOT_CODE.sub('""', path.read_text(encoding="utf-8")))


def defined(statement: str) -> str | None:
    """The name that a statement defines; None if it defines none."""
    for pattern in (FUNCTION, CLASS, RECORD, VARIABLE):
        if found := pattern.match(statement):
            return found[1]
    return None


def taken(statement: str) -> dict[str, str]:
    """The names that an import takes, each with its origin."""
    found = IMPORT.match(statement)
    names = found[2].strip("()").split(",") if found else []
    return {name.split()[-1]: f"{found[1]}.{name.split()[0]}" for name in names}


def parts(module: Path) -> list[Path]:
    return sorted(module.with_suffix("").glob("*.pyx"))


def test_there_are_modules_with_parts():
    assert len(MODULES) > 30


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_each_part_is_included_once(module):
    included = re.findall(r'^include "(\S+)"$', module.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(included) == [f"{module.stem}/{part.name}" for part in parts(module)]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_a_name_means_one_thing_in_all_parts(module):
    meanings: dict[str, set[str]] = {}
    for part in parts(module):
        for statement in statements(part):
            for name, origin in (taken(statement) or {defined(statement): part.name}).items():
                meanings.setdefault(name, set()).add(origin)
    del meanings[None]
    assert {name: found for name, found in meanings.items() if len(found) > 1 and not name.startswith("_")} == {}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_no_part_uses_a_builtin_that_another_part_defines(module):
    """max() of a list was the operation, once a part with `def max(input, dim)` had joined the module."""
    own = {part: {defined(statement) for statement in statements(part)} & set(dir(builtins)) for part in parts(module)}
    for part, names in own.items():
        for name in set().union(*own.values()) - names:
            used = re.compile(rf"(?<![\w.]){name}\b(?!\s*=[^=]|:)")
            for statement in statements(part):
                signature, _, body = statement.partition(":\n")
                assert re.search(rf"\b{name}\b", signature) or not used.search(body), f"{part.name}: {name}"


def test_what_the_reader_finds():
    text = {
        "cdef inline int f(int x) except -1:\n    return 0\n": "f", "cpdef Tensor g(Tensor x):\n    pass\n": "g",
        "cdef class Node(Base):\n    pass\n": "Node", "class E(Error):\n    pass\n": "E", "cdef enum How:\n    ADD\n": "How",
        "cdef list names = []\n": "names", "LIMIT = 3\n": "LIMIT", "ctypedef fused real:\n    float\n": "real",
        "from a cimport b\n": None, "f(1)\n": None, "cdef extern from *:\n    void f(int x)\n": None,
    }  # fmt: skip
    assert {statement: defined(statement) for statement in text} == text
    assert taken("from a.b cimport (\n    c, d as e)\n") == {"c": "a.b.c", "e": "a.b.d"}
