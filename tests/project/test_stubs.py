"""The build has written the stubs, and their types are those of the values."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
import pytest

import autograd_cy as ag
from tools.stubs import generated
from tools.stubs.modules import MARKED
from tools.stubs.signatures import definition, doc_of, signatures

PACKAGE = Path(ag.__file__).parent


def test_the_build_has_written_the_stubs():
    files = generated()
    stale = [name for name, text in files.items() if (PACKAGE.parent / name).read_text(encoding="utf-8") != text]
    assert stale == [], "run: make stubs"
    assert len(files) > 10


def test_there_are_no_stubs_of_old_modules():
    paths = [path for path in PACKAGE.rglob("*.pyi") if path.read_text(encoding="utf-8").startswith(MARKED)]
    assert {path.relative_to(PACKAGE.parent).as_posix() for path in paths} == set(generated())


def test_a_parameter_of_unknown_type_is_refused():
    def f(input, unheard_of):
        """f(input, unheard_of) -> Tensor: nothing."""

    with pytest.raises(LookupError, match=r"'unheard_of' of f\(\)"):
        signatures("f", f)


def test_a_result_of_unknown_type_is_refused():
    def f(input):
        """f(input) -> Marvel: nothing."""

    with pytest.raises(LookupError, match=r"f\(\) return\? .*Marvel"):
        signatures("f", f)


def test_sizes_may_be_given_in_a_sequence():
    def f(input, *sizes, dtype=None):
        """f(input, sizes) -> Tensor: nothing."""

    assert signatures("f", f) == [
        "(input: Tensor, sizes: Sequence[int], /, *, dtype: _DType | None = None) -> Tensor",
        "(input: Tensor, *sizes: int, dtype: _DType | None = None) -> Tensor",
    ]


def test_a_long_signature_is_broken_between_parameters():
    lines = definition("f", [f"({', '.join(f'parameter{i}: int = 1' for i in range(9))}) -> int"], "What it does.")
    assert max(map(len, lines)) <= 112
    assert [line for line in lines if line.endswith(("=", ":")) and line != lines[-2]] == []


def test_a_docstring_is_read():
    def f(x):
        """f(x) -> Tensor: first
        sentence. Second.

        More of it.

        >>> f(1)
        """

    assert doc_of(f) == ("f(x)", "Tensor", "first sentence. Second. More of it.")


# mypy checks the lines below (`make lint` includes this file), and Python runs them.


def test_types_of_attributes():
    x = ag.ones(2, 3, requires_grad=True)
    assert assert_type(x.shape, ag.Size) == (2, 3)
    assert assert_type(x.dtype, ag.dtype) is assert_type(ag.float32, ag.dtype)
    assert assert_type(x.requires_grad, bool)
    assert assert_type(x.grad, ag.Tensor | None) is None
    assert isinstance(assert_type(x.T, ag.Tensor), ag.Tensor)
    x.grad = ag.ones(2, 3)


def test_types_of_operators():
    x = ag.tensor([1.0, 2.0])
    for y in (x + 1, 1 - x, 2.0**x, x * x, -x, x / np.float64(3), x == 1, x == x, x < 2, (x > 0) & (x < 1)):
        assert isinstance(assert_type(y, ag.Tensor), ag.Tensor)
    assert assert_type(float(x[0]), float) == 1.0
    assert assert_type(len(x), int) == 2
    assert [isinstance(assert_type(row, ag.Tensor), ag.Tensor) for row in x] == [True, True]


def test_types_of_overloaded_methods():
    x = ag.ones(2, 3)
    assert assert_type(x.size(), ag.Size) == (2, 3)
    assert assert_type(x.size(0), int) == 2
    assert assert_type(x.stride(), tuple[int, ...]) == (3, 1)
    assert assert_type(x.max(), ag.Tensor) == 1
    assert assert_type(x.max(1).indices, ag.Tensor).shape == (2,)
    assert assert_type(ag.min(x, 1).values, ag.Tensor).shape == (2,)
    assert assert_type(x.type(), str) == "torch.FloatTensor"
    assert assert_type(x.type(ag.float64), ag.Tensor).dtype == ag.float64


def test_types_of_operations():
    x = ag.ones(2, 3)
    assert assert_type(x.reshape(3, 2), ag.Tensor).shape == assert_type(x.reshape((3, 2)), ag.Tensor).shape
    assert assert_type(x[0, :, None], ag.Tensor).shape == (3, 1)
    assert assert_type(x[..., 1:], ag.Tensor).shape == (2, 2)
    assert len(assert_type(x.split(1), tuple[ag.Tensor, ...])) == 2
    assert assert_type(ag.sum(x, (0, 1), keepdim=True), ag.Tensor).shape == (1, 1)
    assert assert_type(x.where(x > 0, 0.0), ag.Tensor).shape == (2, 3)
    assert assert_type(ag.nn.functional.gelu(x), ag.Tensor).shape == (2, 3)
    assert assert_type(x.is_complex(), bool) is False
    assert assert_type(x.tolist(), Any) == [[1.0] * 3] * 2
