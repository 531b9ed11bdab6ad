"""Calls with little in them: no tensors, no dimensions, tensors without elements; and numbers at the edge of a type."""

import math

import pytest

import autograd_cy as torch

GRID = torch.arange(6).reshape(2, 3)


def test_functions_of_any_number_of_tensors_take_none():
    # each was refused for a missing argument; block_diag() of no block is a row without columns, as PyTorch has it
    assert torch.block_diag().shape == (1, 0)
    for function in (torch.atleast_1d, torch.atleast_2d, torch.atleast_3d, torch.broadcast_tensors):
        assert function() == ()


@pytest.mark.parametrize("function", [torch.meshgrid, torch.cartesian_prod])
def test_a_grid_needs_a_tensor(function):
    with pytest.raises(RuntimeError, match="expects a non-empty TensorList"):
        function()


@pytest.mark.parametrize("call", [lambda: torch.roll(GRID, 1, dims=None), lambda: GRID.roll(1, None), lambda: GRID.roll(1)])
def test_roll_without_dims_moves_the_elements_in_order(call):
    assert call().tolist() == [[5, 0, 1], [2, 3, 4]]


@pytest.mark.parametrize("dim", [-3, 0, 1, 5])
def test_empty_vectors_are_joined_along_any_dimension(dim):
    # a vector without elements joins tensors of any rank, so that `dim` can be none of its own
    assert torch.cat([torch.empty(0), torch.empty(0, dtype=torch.float64)], dim).dtype is torch.float64
    assert torch.cat([torch.empty(0)], dim).shape == (0,)


def test_a_vector_without_elements_is_left_out_of_a_matrix():
    empty, ones = torch.empty(0, requires_grad=True), torch.ones(2, 2, requires_grad=True)
    y = torch.cat([empty, ones], 1)
    assert y.shape == (2, 2)
    y.sum().backward()
    assert empty.grad.shape == (0,) and ones.grad.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize(
    ("kind", "alpha", "wanted"), [("uint8", -1, [0, 1, 0]), ("uint8", 2, [3, 1, 3]), ("int8", -1, [0, 1, 0])]
)
def test_index_add_takes_the_factors_that_add_takes(kind, alpha, wanted):
    # -1 subtracts from unsigned numbers, too
    x, ones = (torch.ones(n, dtype=getattr(torch, kind)) for n in (3, 2))
    rows = torch.tensor([0, 2])
    assert x.index_add(0, rows, ones, alpha=alpha).tolist() == wanted
    assert torch.add(ones, ones, alpha=alpha).tolist() == [wanted[0]] * 2
    with pytest.raises(RuntimeError, match="without overflow"):
        x.index_add(0, rows, ones, alpha=300)


def test_parts_of_complex_numbers_are_assigned():
    z = torch.tensor([1 + 2j, 3 + 4j])
    z.real = 0
    z.imag = torch.tensor(5.0)
    assert z.tolist() == [5j, 5j]
    with pytest.raises(RuntimeError):
        z.real = torch.ones(3)
    with pytest.raises(RuntimeError, match="imag is not implemented"):
        torch.ones(2).imag = 0
    x = torch.ones(2)
    x.real = 4
    assert x.tolist() == [4, 4]


def test_an_assigned_part_gets_the_gradient():
    z = torch.tensor([1 + 2j, 3 + 4j], requires_grad=True)
    part = torch.tensor([5.0, 6.0], requires_grad=True)
    y = z * 1
    y.real = part
    (y.real**2 + y.imag**2).sum().backward()
    assert part.grad.tolist() == [10, 12] and z.grad.tolist() == [4j, 8j]


@pytest.mark.parametrize("bound", [0.0, 1.0, -2.5])
def test_a_range_of_one_number_is_widened_by_half_a_unit_to_both_sides(bound):
    edges = [bound - 0.5, bound, bound + 0.5]
    x = torch.tensor([bound, bound - 0.25, 9.0])
    found = torch.histogram(x, bins=2, range=(bound, bound))
    assert found.bin_edges.tolist() == edges and found.hist.tolist() == [1, 1]
    several = torch.histogramdd(torch.stack([x, x], 1), bins=[2, 1], range=(bound, bound, 0, 1))
    assert several.bin_edges[0].tolist() == edges


@pytest.mark.parametrize("side", ["prepend", "append"])
def test_what_is_put_beside_differences_has_the_sizes_of_the_other_dimensions(side):
    x = torch.ones(2, 3)
    assert torch.diff(x, dim=0, **{side: torch.zeros(1, 3)}).shape == (2, 3)
    with pytest.raises(RuntimeError, match="diff expects the shape of tensor to prepend or append to match that of input"):
        torch.diff(x, dim=0, **{side: torch.zeros(1, 2)})
    with pytest.raises(RuntimeError, match="diff expects prepend or append to be the same dimension as input"):
        torch.diff(x, dim=0, **{side: torch.zeros(3)})


@pytest.mark.parametrize(("kind", "tolerance"), [("complex64", 2e-7), ("complex128", 5e-16)])
@pytest.mark.parametrize(
    "z", [1e-19 + 1e-18j, -1e-18 + 1e-9j, 1e-30j, 1e-3 - 2e-3j, -0.5 + 0.866j, 3 + 4j, -1e4 + 1j, 1e30 - 1e30j]
)
def test_log1p_of_complex_numbers_keeps_a_small_real_part(z, kind, tolerance):
    # 1 + z was computed first, and the real part of the result was 0
    mpmath = pytest.importorskip("mpmath")
    x = torch.tensor([z, 0, z], dtype=getattr(torch, kind))
    with mpmath.workdps(60):
        exact = complex(mpmath.log(1 + mpmath.mpmathify(x[0].item())))
    for found in (torch.log1p(x)[0].item(), torch.log1p(x[::2])[1].item()):
        assert found.real == pytest.approx(exact.real, rel=tolerance * 20, abs=1e-45)
        assert found.imag == pytest.approx(exact.imag, rel=tolerance * 4)


def test_log1p_of_infinite_complex_numbers():
    inf = math.inf
    found = torch.log1p(torch.tensor([inf, complex(0, inf), complex(inf, math.nan), -1 + 0j], dtype=torch.complex128)).tolist()
    assert [z.real for z in found] == [inf, inf, inf, -inf]
    assert found[1].imag == math.pi / 2 and found[0].imag == 0
