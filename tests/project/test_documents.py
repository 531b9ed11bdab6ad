"""The documents tell the truth: their examples run, and docs/architecture.md names what there is."""

import doctest
import re

import pytest
from common import ROOT, differs, said
from test_layering import GRAPH

ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SOURCES = {path: path.read_text(encoding="utf-8") for s in ("py", "pyx", "in") for path in ROOT.glob(f"autograd_cy/**/*.{s}")}


@pytest.mark.parametrize("name", ["README.md", "docs/complex.md", "docs/numpy.md", "docs/testing.md"])
def test_examples(name):
    failures, examples = doctest.testfile(str(ROOT / name), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert examples > 0
    assert failures == 0


def test_architecture_lists_all_notes():
    titled = re.compile(r"^(NOTE \[[^\]]+\])$", re.MULTILINE)
    written = {(note, path.name) for path, text in SOURCES.items() for note in titled.findall(text)}
    listed = set(re.findall(r"^\| `(NOTE \[[^\]]+\])` \| `([\w.]+)` \|", ARCHITECTURE, re.MULTILINE))
    assert listed == written


def test_notes_that_are_referred_to_exist():
    titles = set(re.findall(r"^NOTE \[([^\]]+)\]$", "\n".join(SOURCES.values()), re.MULTILINE))
    named = {title for text in SOURCES.values() for title in re.findall(r"NOTE \[([^\]]+)\]", text)}
    assert named - titles == set()


@pytest.mark.parametrize("document", [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")], ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")) if "://" not in t]
    assert [t for t in targets if not document.parent.joinpath(t).exists()] == []


def test_architecture_names_all_modules_of_the_core():
    section = ARCHITECTURE.partition("## 1. Layers")[2].partition("## 2.")[0]
    named = set()
    for folder, modules in re.findall(r"^\| `(\w[\w/]*)` \|[^|]*\| ([^|]*) \|$", section, re.MULTILINE):
        named |= {f"_core.{folder.replace('/', '.')}.{name}" for name in re.findall(r"`(\w+)`", modules)}
    packages = {module.rpartition(".")[0] for module in named} | {"_core", "_core.modules"}
    assert named == {module for module in GRAPH if module.startswith("_core")} - packages


def test_deliberate_differences_stand_in_the_documents():
    """A test of one names what is said of it: else it can't be collected."""
    assert len(said()) > 20 and "sparse tensors" in said()[0]
    assert all(differs(phrase, "?").args for phrase in ("sparse tensors", "pickle of a leaf"))
    with pytest.raises(LookupError, match="says of 'no such thing' that it differs"):
        differs("no such thing", "?")
