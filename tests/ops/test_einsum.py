"""einsum: random equations against NumPy's, both forms of the call, what it refuses."""

import numpy as np
import pytest
from common import differs, leaf
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_cy as torch

SHAPES = {
    "sizes that don't fit": ("ij,jk", [(2, 3), (4, 5)], "subscript j has size 4 for operand 1 which does not broadcast"),
    "a result of nothing": ("ij->ijk", [(2, 3)], "output subscript k does not appear in the equation for any input operand"),
    "a result's letter twice": ("ij->ii", [(2, 3)], "output subscript i appears more than once in the output"),
    "too few operands": ("ij,jk", [(2, 3)], "fewer operands were provided than specified in the equation"),
    "too many operands": ("ij", [(2, 3), (3,)], "more operands were provided than specified in the equation"),
    "too many letters": ("ijk", [(2, 3)], r"\(3\) does not match the number of dimensions \(2\) for operand 0 and no"),
    "too few letters": ("i", [(2, 3)], r"\(1\) does not match the number of dimensions \(2\) for operand 0 and no"),
    "too many beside an ellipsis": ("...ijk", [(2, 3)], r"\(3\) is more than the number of dimensions \(2\) for operand 0"),
    "the diagonal of no square": ("ii", [(2, 3)], "subscript i is repeated for operand 0 but the sizes don't match, 3 != 2"),
    "a digit": ("i1", [(2, 3)], "invalid subscript given at index 1 in the equation string"),
    "two arrows": ("ij->i->j", [(2, 3)], "invalid subscript given at index 5 in the equation string"),
    "two dots": ("i..j", [(2, 3)], "found '.' for operand 0 that is not part of any ellipsis"),
    "two ellipses": ("i...j...", [(2, 3)], "found '.' for operand 0 for which an ellipsis was already found"),
}


@pytest.mark.parametrize("case", SHAPES)
def test_refused(case):
    equation, shapes, message = SHAPES[case]
    with pytest.raises(RuntimeError, match=r"einsum\(\): .*" + message):
        torch.einsum(equation, *[torch.ones(*shape) for shape in shapes])


def test_no_operands_or_no_tensors():
    with pytest.raises(ValueError, match=r"must specify the equation string and at least one operand"):
        torch.einsum("")
    with pytest.raises(TypeError, match="expected Tensor as element 1 in argument 1, but got int"):
        torch.einsum("i,i", torch.ones(3), 3)


def test_spellings():
    a, b = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[5.0], [6.0]])
    expected = (a @ b).tolist()
    assert torch.einsum(" i j , j k -> i k ", a, b).tolist() == expected
    assert torch.einsum("ij,jk", [a, b]).tolist() == expected
    assert torch.einsum(a, [0, 7], b, [7, 1]).tolist() == expected
    assert torch.einsum(a, [..., 51], b, [51, 2], [..., 2]).tolist() == expected
    assert torch.einsum("Ba,aC", a, b).tolist() == expected
    with pytest.raises((RuntimeError, ValueError), match="52"):
        torch.einsum(a, [0, 52])


def test_one_operand_is_viewed():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    assert torch.einsum("ij->ji", x).grad_fn.name() == "PermuteBackward0"
    diagonal = torch.einsum("ii->i", x.detach())
    x.detach()[0, 0] = 5
    assert diagonal.tolist() == [5, 4]


def test_types_are_promoted_without_a_sum_only():
    x, y = torch.ones(2), torch.ones(2, dtype=torch.float64)
    assert torch.einsum("i,i->i", x, y).dtype == torch.float64
    with pytest.raises(RuntimeError, match="expected scalar type Float but found Double"):
        torch.einsum("i,i", x, y)


@st.composite
def calls(draw):
    """An equation, and arrays for it."""
    sizes = {name: draw(st.integers(0 if name == "i" else 1, 4)) for name in "ijkl"}
    hidden = draw(st.lists(st.integers(1, 3), max_size=2))
    terms = draw(st.lists(st.lists(st.sampled_from("ijkl"), max_size=3), min_size=1, max_size=3))
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    equation, arrays = [], []
    for term in terms:
        at = draw(st.integers(0, len(term))) if draw(st.booleans()) else None
        own = hidden[draw(st.integers(0, len(hidden))) :]
        shape = [sizes[name] for name in term]
        equation.append("".join(term) if at is None else "".join(term[:at]) + "..." + "".join(term[at:]))
        arrays.append(rng.uniform(-1, 1, shape if at is None else shape[:at] + own + shape[at:]))
    names = draw(st.permutations(sorted({name for term in terms for name in term})))
    result = "".join(names[: draw(st.integers(0, len(names)))])
    ellipsis = "..." if "..." in "".join(equation) else ""
    return ",".join(equation) + "->" + ellipsis + result, arrays


@settings(max_examples=200, deadline=None)
@given(calls())
def test_random_equations(call):
    equation, arrays = call
    tensors = [torch.from_numpy(array).requires_grad_() for array in arrays]
    y = torch.einsum(equation, *tensors)
    np.testing.assert_allclose(y.detach().numpy(), np.einsum(equation, *arrays), atol=1e-12)
    seed = np.asarray(np.random.default_rng(3).uniform(-1, 1, y.shape))
    gradients = torch.autograd.grad(y, tensors, torch.from_numpy(seed))
    for k, (array, gradient) in enumerate(zip(arrays, gradients, strict=True)):
        step = np.asarray(np.random.default_rng(4).uniform(-1, 1, array.shape))
        moved = np.einsum(equation, *[step if k == i else other for i, other in enumerate(arrays)])
        assert np.sum(gradient.numpy() * step) == pytest.approx(np.sum(moved * seed), abs=1e-11)


@differs("`einsum` of three", "multiplies from left to right unless opt_einsum is installed")
def test_the_cheapest_product_comes_first():
    """Left to right, 'ij,jk,k' would make a matrix."""
    a, b, v = (torch.ones(*sizes, requires_grad=True) for sizes in [(50, 2), (2, 50), (50,)])
    shapes, nodes = [], [torch.einsum("ij,jk,k->i", a, b, v).grad_fn]
    while nodes:
        node = nodes.pop()
        nodes += [target for target, _ in node.next_functions if target is not None]
        shapes += [tuple(node._saved_self.shape)] if node.name() == "BmmBackward0" else []
    assert max(np.prod(shape) for shape in shapes) == 100


@pytest.mark.parametrize("equation, sizes, strides, of_gradients", [
    ("ij,jk->ki", ((3, 4), (4, 5)), (3, 1), ((1, 3), (1, 4))),
    ("ij,jk->ik", ((3, 4), (4, 5)), (5, 1), ((4, 1), (5, 1))),
    ("abc,cd->dab", ((2, 3, 4), (4, 5)), (6, 3, 1), ((3, 1, 6), (1, 4))),
    ("abx,xcd->cadb", ((2, 3, 4), (4, 5, 6)), (6, 90, 1, 30), ((12, 4, 1), (30, 6, 1))),
    ("eax,exc->cae", ((2, 2, 4), (2, 4, 5)), (2, 1, 10), ((8, 1, 2), (20, 1, 4))),
])  # fmt: skip
def test_results_are_laid_out_as_pytorchs(equation, sizes, strides, of_gradients):
    """PyTorch 2.13's. The operand whose dimensions all come first in the result gives the rows of the product."""
    operands = [torch.ones(*own).requires_grad_() for own in sizes]
    y = torch.einsum(equation, *operands)
    assert y.stride() == strides
    assert tuple(g.stride() for g in torch.autograd.grad(y, operands, torch.ones(*y.shape))) == of_gradients
