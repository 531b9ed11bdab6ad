"""Arrays of any layout, as users hand them in: right results, or a clear error, and never a write where none may go.

Each operation by itself: test_op_layouts.py. Here: random strides through chains of them, a `.grad` that the user set, and
writes.
"""

import mmap

import numpy as np
import pytest
from common import IS_TORCH
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

import autograd_cy as ag

pytestmark = [
    pytest.mark.skipif(IS_TORCH, reason="PyTorch has neither negative strides nor unaligned memory"),
    pytest.mark.filterwarnings("ignore:The given NumPy array is not writ"),
]


@st.composite
def arrays(draw, dtypes=("float32", "float64", "complex64", "complex128")):
    """An array with any strides (negative, zero, overlapping), at any address, read-only or not."""
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    steps = [draw(st.integers(-3, 3)) for _ in shape]
    below = -sum(min(0, s * (n - 1)) for s, n in zip(steps, shape, strict=True) if n)
    above = sum(max(0, s * (n - 1)) for s, n in zip(steps, shape, strict=True) if n)
    shift = draw(st.sampled_from([0, 1, 4]))
    room = np.zeros(shift + (below + above + 1) * dtype.itemsize, np.uint8)
    values = np.random.default_rng(draw(st.integers(0, 9))).uniform(0.5, 1.5, below + above + 1)
    room[shift:] = values.astype(dtype).view(np.uint8)
    array = np.ndarray(shape, dtype, room, shift + below * dtype.itemsize, [s * dtype.itemsize for s in steps])
    array.flags.writeable = draw(st.booleans())
    return array


CHAINS = {
    "elementwise": lambda x: (x * x).tanh() / (x + 2.0),
    "broadcast": lambda x: x * x.sum() + x.sum(0, keepdim=True).exp() if x.ndim else x * 1.0,
    "sums": lambda x: x.sum(-1) * x.mean() if x.ndim else x * 1.0,
    "softmax": lambda x: (x * x.conj()).real.softmax(-1) if x.ndim else x * 1.0,
    "matmul": lambda x: x.reshape(1, -1) @ x.reshape(-1, 1),
    "views": lambda x: x.flatten()[::2] * 2.0,
    "cumsum": lambda x: x.cumsum(0) if x.ndim else x * 1.0,
}


def repeated(array):
    """Its first element, everywhere, with strides 0."""
    return np.broadcast_to(array.ravel()[:1], array.shape) if array.ndim and array.size else array


def value_and_gradient(function, array, seed_layout):
    x = ag.from_numpy(array).requires_grad_()
    y = function(x)
    y.backward(ag.from_numpy(seed_layout(np.full(y.shape, 0.5, y.numpy(force=True).dtype))))
    return y.numpy(force=True), x.grad.numpy()


@pytest.mark.parametrize("name", CHAINS)
@given(array=arrays(), expanded=st.booleans())
def test_strides_and_addresses_change_nothing(name, array, expanded):
    before = array.tobytes()
    layout = repeated if expanded else np.array
    found = value_and_gradient(CHAINS[name], array, layout)
    wanted = value_and_gradient(CHAINS[name], np.array(array, order="C"), layout)
    tolerance = 1e-5 if array.dtype in (np.float32, np.complex64) else 1e-13
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
    assert array.tobytes() == before


# a .grad that the user set


@given(array=arrays(dtypes=("float32", "float64", "complex128")), factor=st.sampled_from([None, 2.0]))
def test_gradients_are_added_to_a_grad_of_any_layout(array, factor):
    x = ag.from_numpy(np.ones(array.shape, array.dtype)).requires_grad_()
    x.grad = ag.from_numpy(array)
    before = np.array(array)
    seed = np.arange(array.size, dtype=array.dtype).reshape(array.shape)
    y = x.view(array.shape) if factor is None else x * factor
    y.backward(ag.from_numpy(seed))
    np.testing.assert_array_equal(x.grad.numpy(), before + seed * np.asarray(factor or 1, array.dtype))
    if not array.flags.writeable:
        np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize("size", [4, 100_000])
@pytest.mark.parametrize("shift", [-1, 0, 1])
@pytest.mark.parametrize("step", [1, -1])
def test_a_seed_in_the_memory_of_grad_is_read_before_it_is_written(size, shift, step):
    memory = np.arange(size + 2.0)
    seed = memory[1 + shift : 1 + shift + size][::step]
    x = ag.zeros(size, dtype=ag.float64, requires_grad=True)
    x.grad = ag.from_numpy(memory[1 : 1 + size])
    wanted = memory[1 : 1 + size] + seed
    x.view(size).backward(ag.from_numpy(seed))
    np.testing.assert_array_equal(x.grad.numpy(), wanted)


# writes

WRITES = {
    "add_": lambda t: t.add_(1.0),
    "mul_": lambda t: t.mul_(ag.full(t.shape, 2.0, dtype=ag.float64)),
    "exp_": lambda t: t.exp_(),
    "square_": lambda t: t.square_(),
    "clamp_": lambda t: t.clamp_(0.0, 0.5),
    "zero_": lambda t: t.zero_(),
    "fill_": lambda t: t.fill_(3.0),
    "copy_": lambda t: t.copy_(ag.ones(t.shape)),
    "[...] =": lambda t: t.__setitem__(..., 4.0),
    "+=": lambda t: t.__iadd__(1.0),
    "masked_fill_": lambda t: t.masked_fill_(ag.ones(t.shape, dtype=ag.bool), 1.0),
    "out=": lambda t: ag.add(ag.ones(t.shape, dtype=ag.float64), 1.0, out=t),
}

CHECKED = WRITES.keys() - {"zero_", "fill_", "[...] =", "masked_fill_", "out="}  # one value fits all, or NumPy writes


@pytest.mark.parametrize("name", WRITES)
def test_read_only_memory_is_not_written(name, tmp_path):
    """add_() wrote into it, and ended the interpreter where the memory is a file's."""
    path = tmp_path / "values"
    path.write_bytes(np.arange(6.0).tobytes())
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
        tensor = ag.from_numpy(np.frombuffer(memory))
        with pytest.raises(RuntimeError, match=r"assignment destination is read-only"):
            WRITES[name](tensor)
        assert tensor.tolist() == list(range(6)) and tensor._version == 0
        del tensor


@pytest.mark.parametrize("strides", [(0, 8), (8, 8), (8, -8)])
@pytest.mark.parametrize("name", sorted(CHECKED))
def test_a_write_where_elements_share_a_place_is_refused(name, strides):
    memory = np.arange(9.0)
    tensor = ag.from_numpy(as_strided(memory[4:], (3, 2), strides))
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to"):
        WRITES[name](tensor)
    assert memory.tolist() == list(range(9)) and tensor._version == 0


@pytest.mark.parametrize("strides", [(16, 24), (24, 16), (-16, 24)])
def test_interleaved_elements_are_no_overlap(strides):
    memory = np.zeros(16)
    tensor = ag.from_numpy(as_strided(memory[8:], (2, 2), strides))
    tensor.add_(1.0)
    assert memory.sum() == 4.0


def test_operands_that_overlap_a_target_with_gaps_are_read_first():
    """Of dense ones PyTorch refuses it, and so do we; these it does not look at."""
    memory = np.arange(6.0)
    tensor = ag.from_numpy(memory)
    tensor.add_(ag.from_numpy(memory[::-1]))
    assert memory.tolist() == [5.0] * 6
    square = np.arange(16.0).reshape(4, 4)
    part = square[:3, :3]
    wanted = part * part.T
    ag.from_numpy(part).mul_(ag.from_numpy(part.T))
    np.testing.assert_array_equal(part, wanted)
    memory = np.arange(12.0)
    ag.from_numpy(memory)[2::2] = ag.from_numpy(memory)[:-2:2]
    assert memory.tolist() == [0.0, 1.0, 0.0, 3.0, 2.0, 5.0, 4.0, 7.0, 6.0, 9.0, 8.0, 11.0]


@pytest.mark.parametrize("write", [lambda t: t.add_(1.0), lambda t: t.exp_(), lambda t: ag.exp(t, out=t), lambda t: t.sqrt_()])
@pytest.mark.parametrize("size", [5, 100_000])
def test_unaligned_memory_is_written(write, size):
    def filled(room):
        room[:] = np.linspace(0.1, 1.0, size, dtype=np.float32)
        return room

    aligned = filled(np.empty(size, np.float32))
    unaligned = filled(np.zeros(4 * size + 1, np.uint8)[1:].view(np.float32))
    write(ag.from_numpy(aligned))
    write(ag.from_numpy(unaligned))
    np.testing.assert_array_equal(unaligned, aligned)


SWAPPED = np.arange(4.0).astype(np.dtype("f8").newbyteorder())


@pytest.mark.parametrize(
    "use",
    [ag.from_numpy, ag.tensor, ag.as_tensor, ag.Tensor, lambda a: ag.ones(4) + a, lambda a: ag.where(ag.ones(4) > 0, a, 1.0)],
)
def test_swapped_bytes_are_refused(use):
    with pytest.raises(ValueError, match="byte order different from the native byte order"):
        use(SWAPPED)


@pytest.mark.parametrize("sizes", [(1000, 3), (3, 1000)])
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "layer_norm"])
def test_memory_resized_under_a_node_is_an_error(name, sizes):
    """The kernels read and wrote past the end. Arrays that users get can't be resized any more."""
    before, after = sizes
    x = ag.ones(before, requires_grad=True)
    y = ag.nn.functional.layer_norm(x, (before,)) if name == "layer_norm" else getattr(x, name)(0)
    z = (y * 1.0).sum()
    if name == "layer_norm":
        x.data = ag.ones(after)
        with pytest.raises(RuntimeError, match="resized"):
            z.backward()
        return
    with pytest.raises(ValueError, match="does not own its data"):
        y.detach().numpy().resize(after, refcheck=False)
    z.backward()


@pytest.mark.filterwarnings("ignore:Setting the shape on a NumPy array:DeprecationWarning")
def test_the_shape_of_a_shared_array_may_be_changed():
    """The tensor had the array object itself, and its shape changed as well."""
    array = np.arange(6.0)
    t = ag.from_numpy(array)
    y = ag.as_tensor(array) * array
    array.shape = (2, 3)
    out = t.numpy()
    out.shape = (3, 2)
    out[0, 1] = 7.0
    assert t.shape == (6,) and y.shape == (6,) and t.numpy().shape == (6,)
    assert t.tolist() == array.ravel().tolist() == [0.0, 7.0, 2.0, 3.0, 4.0, 5.0]
    with pytest.raises(ValueError, match="references or is referenced"):
        array.resize(100)


@pytest.mark.filterwarnings("ignore:Setting the shape on a NumPy array:DeprecationWarning")
def test_an_operand_keeps_the_shape_that_it_had():
    array = np.arange(6.0)
    x = ag.ones(6, dtype=ag.float64, requires_grad=True)
    y = x * array
    array.shape = (2, 3)
    (g,) = ag.autograd.grad(y.sum(), x)
    assert g.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
