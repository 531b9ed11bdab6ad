"""What calls that make or reinterpret tensors refuse, and what they take without a use for it, as PyTorch 2.13 does."""

import numpy as np
import pytest

import autograd_cy as ag


@pytest.mark.parametrize(
    "make",
    [
        lambda **k: ag.logspace(0, 1, 3, **k),
        lambda **k: ag.empty_strided((3,), (1,), **k),
        lambda **k: ag.tril_indices(2, 2, **k),
        lambda **k: ag.triu_indices(2, 2, **k),
        lambda **k: ag.scalar_tensor(2, **k),
        lambda **k: ag.hann_window(3, **k),
        lambda **k: ag.hamming_window(3, **k),
        lambda **k: ag.blackman_window(3, **k),
        lambda **k: ag.bartlett_window(3, **k),
        lambda **k: ag.kaiser_window(3, **k),
    ],
)
def test_factories_take_the_strided_layout_alone(make):
    assert make(layout=ag.strided, pin_memory=False).shape == make().shape
    with pytest.raises(TypeError, match="layout"):
        make(layout=ag.sparse_coo)
    with pytest.raises(RuntimeError, match="pin_memory"):
        make(pin_memory=True)


@pytest.mark.parametrize("name", sorted(set(ag.signal.windows.__all__) - {"general_cosine", "general_hamming"}))
def test_windows_of_signals_take_a_layout(name):
    window = getattr(ag.signal.windows, name)
    assert ag.equal(window(5, layout=ag.strided), window(5))


@pytest.mark.parametrize(
    "make",
    [
        lambda: ag.Tensor((2, 3), device="cuda"),
        lambda: ag.FloatTensor(2, device="cuda"),
        lambda: ag.ones(1).new(2, device="cuda"),
        lambda: ag.ones(1).new([2.0, 3.0], device="meta"),
    ],
)
def test_the_oldest_constructors_take_the_cpu_alone(make):
    with pytest.raises(RuntimeError, match=r"legacy constructor expects device type: cpu but device type: (cuda|meta) was"):
        make()


def test_broadcast_shapes_refuses_negative_sizes():
    with pytest.raises(ValueError, match="Attempting to broadcast a dimension with negative length"):
        ag.broadcast_shapes(2, -3)


def test_asarray_cant_alias_numbers_of_numpy():
    with pytest.raises(RuntimeError, match="can't alias NumPy scalars"):
        ag.asarray(np.float32(3), copy=False)
    assert ag.asarray(np.float32(3)).item() == 3


def test_bernoulli_writes_into_each_dtype():
    for dtype in (ag.int32, ag.bool, ag.uint8, ag.float64):
        out = ag.empty(2, dtype=dtype)
        assert ag.bernoulli(ag.tensor([0.0, 1.0]), out=out) is out
        assert out.tolist() == [0, 1]


def test_flags_that_are_none_change_nothing():
    enabled = ag.backends.cudnn.enabled
    with ag.backends.cudnn.flags(enabled=False, allow_tf32=None):
        assert not ag.backends.cudnn.enabled
    assert ag.backends.cudnn.enabled is enabled


def test_what_only_looks_like_a_sequence_has_no_shape():
    class Unreadable:
        def __len__(self):
            return 3

        def __getitem__(self, i):
            raise TypeError

    for make in (ag.tensor, ag.as_tensor):
        with pytest.raises(ValueError, match="could not determine the shape of object type 'Unreadable'"):
            make(Unreadable())
