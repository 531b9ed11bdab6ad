"""Nothing is forgotten: every op has its row in the table and a docstring with an example."""

import collections
import inspect
from operator import attrgetter

import pytest
from op_calls import OURS
from opinfo import OPS

import autograd_cy as ag

pytestmark = pytest.mark.skipif(not OURS, reason="about this package")


@pytest.fixture
def registry():
    from autograd_cy._core import registry

    return registry.OPS


def test_each_op_has_a_row_and_each_row_an_op(registry):
    rows = {row.name for row in OPS}
    assert rows - set(registry) == set()
    assert set(registry) - rows == set()


def test_each_op_has_one_row():
    assert [name for name, n in collections.Counter(row.name for row in OPS).items() if n > 1] == []


def test_each_op_has_a_docstring_with_an_example(registry):
    without = [name for name, op in registry.items() if ">>>" not in (inspect.getdoc(op.function) or "")]
    assert without == []


def test_each_docstring_begins_with_the_call(registry):
    first = {name: (inspect.getdoc(op.function) or "").partition("\n")[0] for name, op in registry.items()}
    assert [name for name, line in first.items() if f"{name}(" not in line and name != "getitem"] == []


def test_what_a_row_calls_is_what_is_registered(registry):
    rows = [row for row in OPS if not row.path.startswith("Tensor.")]
    assert [row.name for row in rows if attrgetter(row.path)(ag) is not registry[row.name].function] == []
