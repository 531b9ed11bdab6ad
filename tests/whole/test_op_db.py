"""All that PyTorch's operator database knows to call, on both libraries: one test a row. Skipped without PyTorch.

Compared are values, dtypes, shapes, strides, first and second gradients, tangents, vmap, in-place variants and `out=`
(op_db_checks.py). What differs on purpose stands in op_db_differences.py, with a reason.
"""

import importlib.util
import warnings

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("compares with PyTorch", allow_module_level=True)

from op_db import Rows
from op_db_checks import NumbersDiffer, problems
from op_db_differences import DIFFERENCES, UNDETERMINED

ROWS = Rows()
AT_LEAST = 673  # rows: to be raised when operations are added


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """The tensors are small: threads would only wait for each other."""
    before = ROWS.torch.get_num_threads()
    ROWS.torch.set_num_threads(1)
    yield
    ROWS.torch.set_num_threads(before)


@pytest.mark.parametrize("name", ROWS.present)
def test_row(name):
    expected = DIFFERENCES.get(name, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, compared = problems(ROWS, ROWS.present[name], (NumbersDiffer,) if name in UNDETERMINED else ())
    assert compared or found, f"no sample of {name} could be compared"
    missed = set(expected) - {check for check, _, _ in found} - {"*"}
    surprising = [" ".join(problem) for problem in found if problem[0] not in expected and "*" not in expected]
    assert not surprising, f"{len(surprising)} differences in {compared} samples:\n" + "\n".join(surprising[:12])
    assert not missed, f"{name} no longer differs in {missed}: take it from op_db_differences.py"
    assert found or "*" not in expected, f"{name} no longer differs: take it from op_db_differences.py"


def test_how_many_rows_there_are():
    assert len(ROWS.present) >= AT_LEAST, f"only {len(ROWS.present)} rows of op_db exist here; missing: {ROWS.missing}"


def test_differences_are_of_rows_that_exist():
    assert set(DIFFERENCES) <= set(ROWS.present)
