"""docs/compatibility.md lists the missing public names of PyTorch, with the right reasons."""

import re
import subprocess
import sys

import pytest
from common import ROOT

from autograd_cy.torch_version import __version__ as stands_for
from tools import compatibility

TEXT = compatibility.TARGET.read_text(encoding="utf-8") if compatibility.TARGET.exists() else ""


def listed():
    """The names that the document lists as missing: (namespace, name)."""
    for section in TEXT.split("\n## ")[2:]:
        path = section.partition(":")[0]
        yield from ((path, name) for name in re.findall(r"`(\w+)`", section))


def test_what_it_lists_is_missing():
    wrong = []
    for path, name in listed():
        owner = compatibility.found("autograd_cy" + path[len("torch") :])
        if owner is not None and compatibility.has(owner, name):
            wrong.append(f"{path}.{name}")
    assert len(list(listed())) > 100 and wrong == []


def test_each_reason_is_one_of_the_tool_s():
    known = {reason for _, reason in compatibility.REASONS} | {compatibility.LATER}
    assert set(re.findall(r"^\* ([^:`]+):", TEXT, re.MULTILINE)) <= known


@pytest.mark.parametrize(("path", "reason"), [
    ("torch.ScriptObject", "TorchScript"), ("torch.quantize_per_tensor", "quantization"), ("torch.fft.new", "not written yet"),
    ("torch.Tensor.to_sparse_bsr", "other sparse layouts, internals of sparse tensors"),
    ("torch.cuda.tunable", "other devices"),
])  # fmt: skip
def test_reasons(path, reason):
    assert compatibility.reason_for(path) == reason


def test_the_document_is_current():
    torch = pytest.importorskip("torch")
    if f"PyTorch {torch.__version__.partition('+')[0]} " not in TEXT:
        pytest.skip(f"another PyTorch is installed: {torch.__version__}")
    script = "from tools import compatibility as c; print(c.quiet(c.render), end='')"  # other tests import parts of PyTorch
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert run.stdout == TEXT, "run `python -m tools.compatibility`" + run.stderr


def test_the_document_speaks_of_this_package():
    assert stands_for.partition("+")[0] in TEXT
