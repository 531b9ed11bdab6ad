"""The documents are right: their examples run, and the names in docs/architecture.md exist."""

import doctest
import json
import re

import pytest
from common import ROOT, differs, said

from benchmarks import figures

ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SOURCES = {path: path.read_text(encoding="utf-8") for s in ("py", "pyx", "in") for path in ROOT.glob(f"autograd_cy/**/*.{s}")}


@pytest.mark.parametrize("name", ["README.md", "docs/complex.md", "docs/guide.md", "docs/numpy.md", "docs/testing.md"])
def test_examples(name):
    failures, examples = doctest.testfile(str(ROOT / name), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert examples > 0
    assert failures == 0


def test_the_figures_of_the_readme_are_those_of_the_benchmarks():
    """`make figures` writes both."""
    measured = json.loads((ROOT / "docs" / "benchmarks.json").read_text(encoding="utf-8"))
    assert figures.table(measured) + "\n" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_notes_that_are_referred_to_exist():
    titles = set(re.findall(r"^NOTE \[([^\]]+)\]$", "\n".join(SOURCES.values()), re.MULTILINE))
    texts = [*SOURCES.values(), ARCHITECTURE.replace("NOTE [Title]", "")]
    named = {" ".join(title.split()) for text in texts for title in re.findall(r"NOTE \[([^\]]+)\]", text)}
    assert named - titles == set()


@pytest.mark.parametrize("document", [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")], ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")) if "://" not in t]
    assert [t for t in targets if not document.parent.joinpath(t).exists()] == []


def test_architecture_names_what_there_is():
    """Each name in `code` is a file, or occurs in the sources."""
    folders = ["autograd_cy", "codegen", "tests"]
    places = [ROOT / "setup.py", *(path for folder in folders for path in (ROOT / folder).rglob("*"))]
    files = [path for path in places if path.suffix in {".py", ".pyx", ".pxd", ".in", ".h"}]
    known = {name for path in places for name in re.findall(r"\w+", path.name)}
    known |= {word for path in files for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    prose = re.sub(r"```.*?```", "", ARCHITECTURE, flags=re.DOTALL)
    named = {name for code in re.findall(r"`([\w./]+)(?:\(.*?\))?`", prose) for name in re.findall(r"\w+", code)}
    assert named - known == set()


def test_sources_that_are_named_exist():
    """Documents, comments and docstrings named modules that had become parts of another one."""
    paths = [path for s in ("pyx", "pxd", "pyx.in") for path in (ROOT / "autograd_cy").rglob(f"*.{s}")]
    known = {str(path.relative_to(ROOT)).removesuffix(".in") for path in paths}
    documents = [path for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")) if path.name != "upstream.md"]
    texts = [*SOURCES.values(), *(path.read_text(encoding="utf-8") for path in (*documents, ROOT / "setup.py"))]
    named = {name for text in texts for name in re.findall(r"(?<![\w./])((?:\w+/)*\w+\.(?:pyx|pxd))\b", text)}
    gone = [name for name in named if not any(f"/{path}".endswith(f"/{name}") or name.endswith(f"/{path}") for path in known)]
    assert sorted(gone) == []


def test_deliberate_differences_stand_in_the_documents():
    """A test that names an undocumented difference cannot be collected."""
    assert len(said()) > 20 and "sparse tensors" in said()[0]
    assert all(differs(phrase, "?").args for phrase in ("sparse tensors", "pickle of a leaf"))
    with pytest.raises(LookupError, match=r"differences\.md has 'no such thing'"):
        differs("no such thing", "?")
