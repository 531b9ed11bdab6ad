"""coverage() tells the truth: it agrees with the op table."""

import re
import subprocess
import sys

import pytest
from op_calls import OURS
from opinfo import OPS

import autograd_cy as ag

pytestmark = pytest.mark.skipif(not OURS, reason="not PyTorch's")


@pytest.fixture(scope="module")
def lines():
    """The cells of the printed table by operation."""
    with pytest.MonkeyPatch.context() as patch:
        printed = []
        patch.setattr("builtins.print", lambda text: printed.append(text))
        ag.coverage()
    starts = [printed[0].index(column) for column in ("operation", "gradient", "second", "forward", "vmap", "dtypes")]
    ends = [*starts[1:], None]
    rows = [[line[a:b].strip() for a, b in zip(starts, ends, strict=True)] for line in printed[1:]]
    return {row[0]: row[1:] for row in rows}


STEPS = {"sgn", "sign", "ceil", "floor", "trunc", "round", "fill", "special.zeta"}  # no second derivative, or 0
WITHOUT_TANGENT = {"fill", "round", "igamma", "igammac", "special.zeta"}  # a zero; or the first operand has no derivative


def cells_of(row, lines):
    return lines[row.path if row.path in lines else row.path.removeprefix("Tensor.")]


def test_each_operation_has_a_line(lines):
    assert len(lines) == len(OPS)


@pytest.mark.parametrize("row", OPS, ids=lambda row: row.name)
def test_a_line_agrees_with_the_op_table(row, lines):
    gradient, second, forward, batching, dtypes = cells_of(row, lines)
    assert bool(gradient) == (row.differentiable or row.name == "nn.functional.ctc_loss")
    assert bool(forward) == (row.differentiable and row.name not in WITHOUT_TANGENT)
    assert bool(second) == (row.differentiable and row.name not in STEPS)
    assert batching != "loop"
    if not re.search("dropout|adaptive_avg_pool", row.name):  # refused but for samples that drop nothing; allowed for a mean
        assert ("complex" in dtypes) == ("complex128" in row.dtypes + row.forward)
    assert ("floats" in dtypes) == ("float64" in row.dtypes + row.forward) or row.name in {"imag", "istft", "view_as_real"}


def test_part_of_the_table(capsys):
    ag.coverage("softmax")
    assert len(capsys.readouterr().out.splitlines()) == 5


WITHOUT_SCIPY = """
import sys
sys.modules["scipy"] = None
import autograd_cy as ag
ag.coverage("zeta")
ag.coverage("rsqrt")
"""


def test_without_scipy_it_says_what_needs_it():
    run = subprocess.run([sys.executable, "-c", WITHOUT_SCIPY], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert re.search(r"^special.zeta +needs SciPy", run.stdout, re.M), run.stdout
    assert "RsqrtBackward0" in run.stdout
