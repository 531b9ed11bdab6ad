"""grid_sample() and affine_grid(): points far out and no numbers, words, threads, node names, values of PyTorch."""

import itertools
import warnings

import numpy as np
import pytest

import autograd_cy as ag

F = ag.nn.functional
PADDINGS = ("zeros", "border", "reflection")
CASES = [
    *itertools.product((2,), ("bilinear", "nearest", "bicubic"), PADDINGS, (False, True)),
    *itertools.product((3,), ("bilinear", "nearest"), PADDINGS, (False, True)),
]


def drawn(dims, spread, dtype):
    rng = np.random.default_rng(dims)
    x = rng.standard_normal((2, 3, *(4, 1, 5)[:dims]))
    return x.astype(dtype), (rng.standard_normal((2, *(3, 2, 4)[:dims], dims)) * spread).astype(dtype)


def results(lib, x, grid, *options):
    """The values and the gradients for both inputs."""
    x, grid = lib.tensor(x, requires_grad=True), lib.tensor(grid, requires_grad=True)
    y = lib.nn.functional.grid_sample(x, grid, *options)
    (y * y).sum().backward()
    return [t.detach().numpy() for t in (y, x.grad, grid.grad)]


@pytest.mark.parametrize(("dims", "mode", "padding", "aligned"), CASES)
@pytest.mark.parametrize("spread", [0.7, 9.0])
def test_values_and_gradients_are_those_of_pytorch(dims, mode, padding, aligned, spread):
    torch = pytest.importorskip("torch")
    arrays = drawn(dims, spread, np.float64)
    want = results(torch, *arrays, mode, padding, aligned)
    for found, expected in zip(results(ag, *arrays, mode, padding, aligned), want, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("dims", "mode", "padding", "aligned"), CASES)
def test_no_point_is_out_of_memory(dims, mode, padding, aligned):
    """Infinite ones, no numbers, and numbers that no integer holds: an element of the input, 0, or no number."""
    x = np.arange(1.0, 1 + 4 * 3**dims).reshape(1, 4, *(3,) * dims)
    points = np.zeros((1, *(1,) * (dims - 1), 7, dims))
    points[..., 0] = [np.nan, np.inf, -np.inf, 1e20, -1e300, 2.0**63, -(2.0**31)]
    y, dx, _ = results(ag, x, points, mode, padding, aligned)
    if mode != "bicubic":
        assert np.isfinite(dx).all()
        assert ((y == 0) | ((y >= 1) & (y <= x.max()))).all()
    if padding == "zeros":
        assert not y.any()


def test_an_element_outside_is_not_read():
    x = ag.tensor([[[[np.inf, 1.0]]]])
    y = F.grid_sample(x, ag.tensor([[[[0.75, 0.0]]]]), align_corners=False)
    np.testing.assert_allclose(y.numpy(), 0.75)


def test_threads_change_no_bit():
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal(s).astype(np.float32) for s in ((4, 8, 40, 40), (4, 50, 30, 2))]
    before, found = ag.get_num_threads(), []
    for threads in (1, 2):
        ag.set_num_threads(threads)
        found.append(results(ag, *arrays, "bicubic", "reflection", False))
    ag.set_num_threads(before)
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


def test_what_is_saved():
    x, grid = ag.rand(1, 1, 3, 3, requires_grad=True), ag.rand(1, 2, 2, 2)
    node = ag.grid_sampler(x, grid, 2, 1, True).grad_fn
    assert node.name() == "GridSampler2DBackward0"
    assert (node._saved_interpolation_mode, node._saved_padding_mode, node._saved_align_corners) == (2, 1, True)
    assert node._saved_input is x
    assert node._saved_grid is grid
    node = F.affine_grid(ag.rand(1, 2, 3, requires_grad=True), (1, 1, 2, 3), False).grad_fn
    assert node.name() == "AffineGridGeneratorBackward0"
    assert (tuple(node._saved_size), node._saved_align_corners) == ((1, 1, 2, 3), False)
    volume = ag.rand(1, 1, 2, 2, 2, requires_grad=True)
    assert ag.grid_sampler(volume, ag.rand(1, 1, 1, 1, 3), 0, 0, False).grad_fn.name() == "GridSampler3DBackward0"


def test_default_of_align_corners_warns():
    for call in (
        lambda: F.grid_sample(ag.rand(1, 1, 2, 2), ag.rand(1, 1, 1, 2)),
        lambda: F.affine_grid(ag.rand(1, 2, 3), (1, 1, 2, 2)),
    ):
        with pytest.warns(UserWarning, match="Default grid_sample and affine_grid behavior has changed"):
            call()
    with pytest.warns(UserWarning, match="for unit-size grids when align_corners=True"):
        F.affine_grid(ag.rand(1, 2, 3), (1, 1, 1, 2), align_corners=True)


def test_half_a_turn():
    x = ag.arange(12.0).reshape(1, 1, 3, 4)
    turn = ag.tensor([[[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]])
    for aligned in (False, True):
        y = F.grid_sample(x, F.affine_grid(turn, (1, 1, 3, 4), aligned), padding_mode="border", align_corners=aligned)
        np.testing.assert_allclose(y.numpy(), x.numpy()[..., ::-1, ::-1], atol=1e-5)


WRONG = [
    ((3, 3), (2, 2), "bilinear", "same batch size"),
    ((1, 1, 3, 3), (2, 2, 2, 2), "bilinear", "same batch size"),
    ((1, 1, 3, 3), (1, 2, 2), "bilinear", "expected 4D input and grid with same number of dimensions"),
    ((1, 1, 3, 3), (1, 1, 2, 2, 3), "bilinear", "expected grid to have size 2 in last dimension"),
    ((1, 3, 3), (1, 2, 2, 2), "bilinear", "expected grid to have size 1 in last dimension"),
    ((1, 1, 3), (1, 2, 1), "bilinear", "expected 5D input and grid with same number of dimensions"),
    ((1, 1, 3, 3), (1, 2, 2, 3), "nearest", "expected grid to have size 2 in last dimension"),
    ((1, 1, 0, 3), (1, 2, 2, 2), "bicubic", "with dimension 2 being empty"),
    ((1, 1, 3, 3, 3), (1, 2, 2, 2, 3), "bicubic", "bicubic interpolation only supports 4D input"),
]


@pytest.mark.parametrize(("sizes", "points", "mode", "words"), WRONG)
def test_refused_sizes(sizes, points, mode, words):
    with pytest.raises(RuntimeError, match=words) as ours:
        F.grid_sample(ag.rand(*sizes), ag.rand(*points), mode, align_corners=False)
    torch = pytest.importorskip("torch")
    with pytest.raises(RuntimeError) as theirs:
        torch.nn.functional.grid_sample(torch.rand(*sizes), torch.rand(*points), mode, align_corners=False)
    assert str(ours.value) == str(theirs.value)


def test_refused_arguments():
    x, grid = ag.rand(1, 1, 3, 3), ag.rand(1, 2, 2, 2)
    with pytest.raises(ValueError, match="expected mode to be"):
        F.grid_sample(x, grid, "cubic")
    with pytest.raises(ValueError, match="expected padding_mode to be"):
        F.grid_sample(x, grid, padding_mode="mirror")
    with pytest.raises(ValueError, match="expected padding_mode to be 0, 1 or 2"):
        ag.grid_sampler(x, grid, 0, 3, False)
    with pytest.raises(RuntimeError, match="expected scalar type Float but found Double"):
        F.grid_sample(x, grid.double(), align_corners=False)
    with pytest.raises(NotImplementedError, match="not implemented for 'Int'"):
        F.grid_sample(x.int(), grid.int(), align_corners=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for theta, size, error in (
            (ag.rand(2, 3), (1, 1, 2, 2), ValueError),
            (ag.rand(1, 2, 3), (1, 2, 2), NotImplementedError),
            (ag.rand(1, 2, 3), (2, 1, 2, 2), RuntimeError),
            (ag.rand(1, 2, 3), (1, 1, 0, 2), ValueError),
            (ag.rand(1, 2, 3), (1, 1, 2, 2.5), TypeError),
            (ag.rand(1, 2, 3).int(), (1, 1, 2, 2), ValueError),
        ):
            with pytest.raises(error):
                F.affine_grid(theta, size, align_corners=False)
