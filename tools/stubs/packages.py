"""The stubs of packages that gather names: names imported at once, and names imported on first use.

Type checkers read neither a computed `__all__` nor the table of `names_later()`.
"""

import ast
import importlib
from pathlib import Path

import autograd_cy
from autograd_cy import return_types
from autograd_cy._compat import HOMES
from tools.stubs.modules import MARKED, by_kind, listed, natural

ROOT = Path(autograd_cy.__file__).parent
HEADER = f"{MARKED}what the package imports. Do not edit.\n"


def package_stubs():
    """The stubs of all modules of the facade that define nothing themselves but `__getattr__`: {path: text}."""
    tuples = return_types.__all__
    stubs = {"autograd_cy/return_types.pyi": stub_of(tuples, {"._core.ops.return_types": {*tuples}})}
    for path in sorted(ROOT.rglob("*.py")):
        inner = path.relative_to(ROOT)
        statements = ast.parse(path.read_text(encoding="utf-8")).body
        if inner.parts[0] != "_core" and "__getattr__" in assigned(statements) and only_gathers(statements):
            name = ".".join(["autograd_cy", *inner.with_suffix("").parts]).removesuffix(".__init__")
            stubs[f"autograd_cy/{inner.as_posix()}i"] = package_stub(name, statements)
    return stubs


def assigned(statements):
    """The names that statements assign, also in branches of an `if`."""
    found = set()
    for statement in statements:
        if isinstance(statement, ast.If):
            found |= assigned(statement.body + statement.orelse)
        elif isinstance(statement, ast.Assign):
            found |= {node.id for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    return found


def only_gathers(statements):
    """Whether a module has neither definitions nor a namespace that is filled otherwise (these have their own stubs)."""
    return not any(isinstance(s, ast.FunctionDef | ast.ClassDef) for s in statements) and not any(
        isinstance(node, ast.Name) and node.id == "globals" for s in statements for node in ast.walk(s)
    )


def package_stub(name, statements):
    """The stub of one package."""
    module = importlib.import_module(name)
    public = getattr(module, "__all__", [])
    taken: dict[str, set[str]] = {}
    for statement in statements:
        if isinstance(statement, ast.ImportFrom):
            taken.setdefault("." * statement.level + (statement.module or ""), set()).update(imported(statement, public))
    for later, home in HOMES.get(name, {}).items():
        taken.setdefault("." if later == home else f".{home}", set()).add(as_public(later, public))
    constants = sorted(n for n in assigned(statements) if not n.startswith("_") or n == "__version__")
    return stub_of(public, taken, [f"{n}: {type(getattr(module, n)).__name__.replace('NoneType', 'None')}" for n in constants])


def stub_of(public, taken, constants=()):
    """The text of a stub: imports, public names, constants."""
    return "\n".join([HEADER, *import_lines(taken), "", *listed(public), *constants, ""])


def imported(statement, public):
    """The public names of an import, as written in a stub."""
    found = set()
    for alias in statement.names:
        own = alias.asname or alias.name
        if own in public or (statement.level and not own.startswith("_")):
            found.add(as_public(own, public) if own == alias.name else f"{alias.name} as {own}")
    return found


def as_public(name, public):
    """A name as an import makes it public: `name as name` if `__all__` does not list it."""
    return name if name in public or name == "*" else f"{name} as {name}"


def import_lines(taken):
    """The imports, in the order and form of isort: absolute ones, then relative ones."""
    blocks: dict[bool, list[str]] = {}
    for home in sorted((home for home, names in taken.items() if names), key=home_key):
        plain = sorted((name for name in taken[home] if " as " not in name), key=name_key)
        groups = [[name] for name in taken[home].difference(plain)] + [plain] * bool(plain)
        for group in sorted(groups, key=lambda names: name_key(names[0])):
            blocks.setdefault(home.startswith("."), []).extend(import_of(home, group))
    return "\n\n".join("\n".join(lines) for lines in blocks.values()).split("\n")


def import_of(home, names):
    """The lines of one import."""
    line = f"from {home} import {', '.join(names)}"
    return [line] if len(line) <= 127 else [f"from {home} import (", *(f"    {name}," for name in names), ")"]


def home_key(home):
    """A sorting key: absolute imports, then relative ones, the furthest first; a package before its modules."""
    inner = home.lstrip(".")
    return home.startswith("."), len(inner) - len(home), bool(inner), natural(inner)


def name_key(name):
    """A sorting key for names in an import, without case."""
    own = name.partition(" ")[0]
    return by_kind(own)[0], natural(own.lower()), natural(own)
