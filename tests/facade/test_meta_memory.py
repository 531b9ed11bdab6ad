"""Tensors and storages on the device "meta" of more bytes than there are: nothing of that size is allocated on the way."""

import numpy as np
import pytest

import autograd_cy as ag

N = 2**36  # 256 GiB of float32


def on_meta(*shape, **options):
    return ag.empty(*shape, device="meta", **options)


def with_meta(make, *args):
    with ag.device("meta"):
        return make(*args)


MAKERS = {
    "full": lambda: ag.full((N,), 1.0, device="meta"),
    "randint": lambda: ag.randint(5, (N,), dtype=ag.float32, device="meta"),
    "linspace": lambda: ag.linspace(0, 1, N, device="meta"),
    "logspace": lambda: ag.logspace(0, 1, N, device="meta"),
    "randperm": lambda: ag.randperm(N, dtype=ag.float32, device="meta"),
    "normal": lambda: ag.normal(0.0, 1.0, (N,), device="meta"),
    "empty_strided": lambda: ag.empty_strided((N,), (1,), device="meta"),
    "resize_": lambda: on_meta(1).resize_(N),
    "resize_, of sizes": lambda: on_meta(2, 3).resize_((N,)),
    "resize_as_": lambda: on_meta(1).resize_as_(on_meta(N)),
    "double().float()": lambda: on_meta(N).double().float(),
    "to": lambda: on_meta(N, dtype=ag.float16).to(ag.float32),
    "type": lambda: on_meta(N, dtype=ag.float16).type(ag.float32),
    "type_as": lambda: on_meta(N, dtype=ag.float16).type_as(on_meta(1)),
    "arange": lambda: ag.arange(N, dtype=ag.float32, device="meta"),
    "arange of real numbers": lambda: ag.arange(0, N / 2, 0.5, device="meta"),
    "range": lambda: ag.range(1, N, device="meta"),
    "kaiser_window": lambda: ag.kaiser_window(N, False, 4.0, device="meta"),
    "hann_window on the default device": lambda: with_meta(ag.hann_window, N),
    "signal.windows": lambda: ag.signal.windows.gaussian(N, std=2.0, device="meta"),
    "new": lambda: on_meta(1).new(N),
    "new, of a Size": lambda: on_meta(1).new(ag.Size([N])),
    "new_empty_strided": lambda: on_meta(1).new_empty_strided((N,), (1,)),
    "new_empty_strided of another device": lambda: ag.ones(1).new_empty_strided((N,), stride=(1,), device="meta"),
    "to, of an expanded tensor": lambda: ag.ones(1).expand(N).to("meta"),
    "set_": lambda: on_meta(0).set_(ag.UntypedStorage(4 * N, device="meta")),
}


@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
@pytest.mark.parametrize("name", MAKERS)
def test_tensors(name):
    made = MAKERS[name]()
    assert made.is_meta and made.shape == (N,) and made.stride() == (1,) and made.dtype is ag.float32


def test_eye_and_layouts():
    assert ag.eye(2**18, device="meta").shape == (2**18, 2**18) and ag.eye(2, 3, device="meta").stride() == (3, 1)
    permuted = ag.empty_permuted((2, N), (1, 0), device="meta")
    assert permuted.shape == (2, N) and permuted.stride() == (1, 2)
    moved = on_meta(2**10, 2**10, 2**10, 2**4).to(ag.float64, memory_format=ag.channels_last)
    assert moved.stride() == (2**24, 1, 2**14, 2**10) and moved.dtype is ag.float64


def test_one_byte_for_each_of_2_45_elements():
    assert ag.arange(2**45, dtype=ag.int8, device="meta").numel() == 2**45
    assert on_meta(1, dtype=ag.bool).new_empty_strided((2**20, 2**25), (1, 2**20)).stride() == (1, 2**20)


@pytest.mark.parametrize(
    "make",
    [
        lambda **on: ag.arange(5, 17, 3, dtype=ag.int32, **on),
        lambda **on: ag.arange(0, -1, -0.3, **on),
        lambda **on: ag.arange(end=4, **on),
        lambda **on: ag.arange(3.5, requires_grad=True, **on),
        lambda **on: ag.arange(3, 3, **on),
        lambda **on: ag.arange(1.5, 4, dtype=ag.int64, **on),
        lambda **on: ag.range(2.0, 0, -0.25, **on),
        lambda **on: ag.range(0, 7, 2, dtype=ag.int16, **on),
        lambda **on: ag.hamming_window(7, **on),
        lambda **on: ag.bartlett_window(0, dtype=ag.float64, **on),
        lambda **on: ag.signal.windows.hann(4, sym=False, **on),
        lambda **on: ag.ones(2).new_empty_strided((2, 3), (1, 4), dtype=ag.int8, **on),
        *(
            lambda n=n, m=m, k=k, make=make, **on: make(n, m, k, **on)
            for make in (ag.tril_indices, ag.triu_indices)
            for n, m in ((3, 5), (5, 3), (0, 2), (2, 0), (4, 4))
            for k in range(-7, 8)
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
def test_they_are_as_on_the_cpu(make):
    expected, made = make(), make(device="meta")
    assert made.is_meta and made.shape == expected.shape and made.stride() == expected.stride()
    assert made.dtype is expected.dtype and made.requires_grad is expected.requires_grad


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_storages():
    assert ag.UntypedStorage(N, device="meta").nbytes() == N
    assert ag.TypedStorage(N, dtype=ag.float32, device="meta").nbytes() == 4 * N
    assert ag.UntypedStorage(3, device="meta").resize_(N).nbytes() == N
    assert ag.UntypedStorage([1, 2, 3], device="meta").nbytes() == 3 and ag.UntypedStorage(device="meta").nbytes() == 0
    with pytest.raises(RuntimeError, match="must not be negative"):
        ag.UntypedStorage(-1, device="meta")


def test_a_module_is_converted():
    assert ag.nn.Linear(2**18, 2**18, device="meta").double().weight.dtype is ag.float64


def test_what_resize_refuses_stays_as_it_was():
    leaf = on_meta(2, requires_grad=True)
    for call in (lambda: leaf.resize_(N), lambda: on_meta(2).resize_(-1), lambda: on_meta(2).resize_(2**62, 4)):
        with pytest.raises(RuntimeError):
            call()
    assert leaf.shape == (2,)


def test_a_view_that_is_resized_leaves_its_base():
    base = on_meta(4)
    view = base[1:].resize_(2)
    assert view.storage_offset() == 1
    view.resize_(N)
    assert base.shape == (4,) and view.shape == (N,)


def test_conversions_keep_what_they_need_not_convert():
    x = on_meta(3, 2).t()
    assert x.float() is x and x.to(ag.float32) is x and x.to(ag.float32, copy=True) is not x
    assert x.double().stride() == x.stride() and x.type() == "torch.meta.FloatTensor"
    y = on_meta(2, requires_grad=True)
    assert y.double().requires_grad and not y.detach().double().requires_grad


def test_new_empty_strided_takes_integers_of_numpy():
    """Sizes that were no ints gave a tensor on the CPU."""
    y = on_meta(1).new_empty_strided((np.int64(2), np.int64(3)), (np.int64(1), np.int64(4)))
    assert y.is_meta and y.shape == (2, 3) and y.stride() == (1, 4)


def test_arguments_are_checked():
    for call in (
        lambda: ag.full((2,), 1j, dtype=ag.float32, device="meta"),
        lambda: ag.empty_strided((2,), (1, 1), device="meta"),
        lambda: ag.linspace(0, 1, -1, device="meta"),
        lambda: ag.empty_permuted((2, 3), (0, 0), device="meta"),
        lambda: ag.randint(5, 3, (2,), device="meta"),
        lambda: ag.arange(5, 0, device="meta"),
        lambda: ag.arange(0, 5, 0, device="meta"),
        lambda: ag.arange(2**63, device="meta"),
        lambda: ag.hann_window(-1, device="meta"),
        lambda: ag.tril_indices(-1, 2, device="meta"),
        lambda: on_meta(2).new(-1),
        lambda: on_meta(2).new_empty_strided((2,), (1, 1)),
    ):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            call()
    assert ag.full((2,), 7, device="meta").dtype is ag.int64 and np.dtype(np.int64) == ag.int64
