"""Finds the owner of a place: a function and line of the core, a Cython helper, or a function of NumPy, Python or libc."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tools.lens.costs import Place

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path("build", "profile")
CORE = Path("autograd_cy", "_core")
HELPERS = "Cython's helpers"
# Patterns of library paths and their owners; the first match counts.
OWNERS = (
    ("blas", "BLAS"), ("/numpy/", "NumPy"), ("/libpython", "Python"), ("/bin/python", "Python"), ("/lib-dynload/", "Python"),
    ("/libc.", "C library"), ("/libc-", "C library"), ("/libm.", "C library"), ("/ld-", "C library"), ("kernel", "kernel"),
)
DEFINED = re.compile(r'(?P<indent> *)(?:cpdef|cdef|def)\s[^=]*?\b(?P<name>\w+)(?: "\w*")?\(')
CLASS = re.compile(r"(?P<indent> *)(?:cdef\s+)?class\s+(?P<name>\w+)")
C_FUNCTION = re.compile(r"[A-Za-z][^#;=]*?\b(?P<name>\w+)\s*\([^;]*$")


class Spot(NamedTuple):
    """A place in readable names: its owner, the file below the root ("" outside of the core), function, line."""

    owner: str
    file: str
    function: str
    line: int


@dataclass(frozen=True)
class Source:
    """A file of the core: its lines, and the function of each ("" beside functions)."""

    lines: tuple[str, ...]
    functions: tuple[str, ...]


def spot_of(place: Place) -> Spot:
    """spot_of(place) -> the Spot of a place in a recording.

    Code of Python's headers and Cython's helpers that is inlined into a function of the core counts for it, without a line.
    """
    if not is_core(place.library):
        return Spot(owner_of(place.library), "", plain(place.symbol), 0)
    file = source_file(place.file)
    functions = source(file).functions if file else ()
    if file is None or not 0 < place.line <= len(functions):
        return spot_of_symbol(plain(place.symbol))
    return Spot("core", file, functions[place.line - 1] or "(module)", place.line)


@cache
def spot_of_symbol(name: str) -> Spot:
    """spot_of_symbol("autograd_cy._core.graph.node.make_node") -> that function's Spot, or that of HELPERS."""
    parts = name.split(".")
    for n in range(len(parts) - 1, 2, -1):
        function = ".".join(parts[n:])
        module = Path(*parts[:n])
        included = [path.relative_to(ROOT) for path in sorted((ROOT / module).glob("*.pyx"))]  # its parts
        for path in (module.with_suffix(".pyx"), *included, module.with_suffix(".pxd")):
            file = source_file(str(path))
            if file and function in source(file).functions:
                return Spot("core", file, function, 0)
    return Spot(HELPERS, "", name, 0)


def is_core(library: str) -> bool:
    return f"/{CORE}/" in library


@cache
def owner_of(library: str) -> str:
    """owner_of("/usr/lib/libc.so.6") -> "C library"; an unknown library by its file name."""
    name = f"/{library.lower()}"
    return next((owner for part, owner in OWNERS if part in name), Path(library).name or "unknown")


@cache
def source_file(file: str) -> str | None:
    """source_file(path in the debug information) -> the file below the root; None for Cython's own C.

    Cython names a template's rendered .pyx as if it were beside the template, and a .pxd sometimes by its bare name.
    """
    path = Path(file)
    if path.suffix not in (".pyx", ".pxd", ".h"):
        return None
    if str(CORE) in file:
        path = Path(file[file.index(str(CORE)) :])
    elif path.parent == Path() and (found := sorted((ROOT / CORE).rglob(path.name))):
        path = found[0].relative_to(ROOT)
    else:
        return None
    for candidate in (path, BUILD / "templates" / path):
        if (ROOT / candidate).is_file():
            return str(candidate)
    return None


@cache
def source(file: str) -> Source:
    """source(file below the root) -> its Source."""
    lines = tuple((ROOT / file).read_text(encoding="utf-8").splitlines())
    return Source(lines, tuple(functions_of(lines) if not file.endswith(".h") else c_functions_of(lines)))


def functions_of(lines: tuple[str, ...]) -> list[str]:
    """functions_of(lines of Cython) -> for each line its function, with classes; "" outside."""
    found: list[str] = []
    around: list[tuple[int, str, bool]] = []        # indentation, name, whether it is a function
    for line in lines:
        text = line.lstrip(" ")
        if text and text[0] not in "#)":
            indent = len(line) - len(text)
            while around and indent <= around[-1][0]:
                around.pop()
            if opened := opening(line):
                around.append(opened)
        is_inside = any(is_function for _, _, is_function in around)
        found.append(".".join(name for _, name, _ in around) if is_inside else "")
    return found


def opening(line: str) -> tuple[int, str, bool] | None:
    """opening(line) -> indentation, name and kind of the class or function whose definition begins there."""
    if match := CLASS.match(line):
        return len(match["indent"]), match["name"], False
    match = DEFINED.match(line)
    code = line.partition("#")[0].rstrip()
    if match and (code.endswith(":") or code.count("(") > code.count(")")):
        return len(match["indent"]), match["name"], True
    return None


def c_functions_of(lines: tuple[str, ...]) -> list[str]:
    """c_functions_of(lines of C) -> for each line its function; functions begin in the first column."""
    found, name = [], ""
    for line in lines:
        if match := C_FUNCTION.match(line):
            name = match["name"]
        found.append(name)
        if line.startswith("}"):
            name = ""
    return found


@cache
def plain(symbol: str) -> str:
    """plain("__pyx_f_1a_2bc_name.constprop.0") -> "a.bc.name": a name as in the sources, without the compilers' additions."""
    name = re.split(r"[.']|@@", symbol)[0] or symbol
    match = re.match(r"__pyx_(?:pf|pw|fuse_\w+?|f)_(?=\d)", name)
    if not match:
        return name
    parts, rest = [], name[match.end() :]
    while length := re.match(r"\d+", rest):
        n, start = int(length[0]), length.end()
        if rest[start + n : start + n + 1] not in ("_", "") or len(rest) < start + n:
            rest = rest[start:]     # the number of a method in its class
            break
        parts.append(rest[start : start + n])
        rest = rest[start + n + 1 :]
    return ".".join([*parts, *([rest] if rest else [])])


def full_name(spot: Spot) -> str:
    """full_name(spot of the core) -> its function with its module, like `plain` of its symbol."""
    module = Path(spot.file).with_suffix("")
    if BUILD / "templates" in module.parents:
        module = module.relative_to(BUILD / "templates")
    if (ROOT / module.parent).with_suffix(".pyx").exists():     # a part of that module
        module = module.parent
    return ".".join([*module.parts, spot.function])
