"""bfloat16: a dtype of its own that is computed by way of float32, on arrays of ml_dtypes."""

import copy
import io
import pickle
import subprocess
import sys

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.nn import functional as F

ml_dtypes = pytest.importorskip("ml_dtypes")
BF16 = ag.bfloat16


def bits(tensor):
    """The numbers of a tensor of bfloat16 as unsigned integers."""
    return tensor.view(ag.int16).numpy().view(np.uint16)


# the dtype


def test_the_dtype_is_numpys():
    assert ag.ones(2, dtype=BF16).numpy().dtype == ml_dtypes.bfloat16 == np.dtype(BF16) == BF16.numpy_dtype
    assert BF16 == np.dtype(ml_dtypes.bfloat16) and BF16 == ml_dtypes.bfloat16 and BF16 != np.float16 and BF16 != ag.float16
    assert BF16.itemsize == 2 and BF16.is_floating_point and BF16.is_signed and not BF16.is_complex
    assert BF16.to_real() is BF16 and BF16.to_complex() is ag.complex64
    assert pickle.loads(pickle.dumps(BF16)) is copy.deepcopy(BF16) is BF16


def test_a_tensor_without_ml_dtypes_is_an_error_that_names_the_extra():
    """ml_dtypes is not imported by the package, by what asks about the dtype, nor by tensors of other dtypes."""
    script = """
import sys
import autograd_cy as ag
ag.finfo(ag.bfloat16), hash(ag.bfloat16), ag.bfloat16 == ag.float32, ag.promote_types(ag.bfloat16, ag.float32)
(ag.ones(2).half() + 1).sum(), ag.bfloat16 == float, repr(ag.bfloat16)
assert "ml_dtypes" not in sys.modules
sys.modules["ml_dtypes"] = None
x = ag.ones(2)
for call in (lambda: ag.ones(2, dtype=ag.bfloat16), lambda: x.bfloat16(), lambda: x.to(ag.bfloat16),
             lambda: ag.nn.Linear(1, 1).bfloat16(), lambda: ag.BFloat16Tensor([1.0]),
             lambda: ag.set_default_dtype(ag.bfloat16)):
    try:
        call()
    except ImportError as error:
        assert "pip install 'autograd_cy[bfloat16]'" in str(error), error
    else:
        raise AssertionError
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_dtype_that_was_hashed_before_ml_dtypes_came_is_found():
    script = """
import autograd_cy as ag
known = {ag.bfloat16: 1}
import ml_dtypes, numpy as np
assert ag.bfloat16 == ml_dtypes.bfloat16 and ag.from_numpy(np.ones(2, ml_dtypes.bfloat16)).dtype is ag.bfloat16
assert known[ag.bfloat16] == 1
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_limits():
    limits = ag.finfo(BF16)
    assert (limits.bits, limits.eps, limits.tiny) == (16, 2**-7, 2.0**-126)
    assert limits.max == float(ml_dtypes.finfo(ml_dtypes.bfloat16).max) == -limits.min


def test_making_showing_and_reading():
    x = ag.tensor([1.0, 2.5, -3.0], dtype=BF16)
    assert repr(x) == "tensor([ 1.0000,  2.5000, -3.0000], dtype=torch.bfloat16)"
    assert x.tolist() == [1.0, 2.5, -3.0] and type(x[1].item()) is float and x.element_size() == 2
    assert x.type() == "torch.BFloat16Tensor" and isinstance(x, ag.BFloat16Tensor)
    assert ag.ones(1).type("torch.BFloat16Tensor").dtype is ag.BFloat16Tensor([1]).dtype is ag.ones(1).bfloat16().dtype is BF16
    assert ag.tensor([1, True, 2.5, np.float64(3)], dtype=BF16).tolist() == [1, 1, 2.5, 3]
    assert ag.tensor(np.array([1, 2]), dtype=BF16).tolist() == [1, 2] and ag.tensor(7, dtype=BF16).item() == 7
    assert ag.from_numpy(np.ones(2, ml_dtypes.bfloat16)).dtype is ag.tensor(ml_dtypes.bfloat16(2)).dtype is BF16
    for made in (ag.zeros(2, dtype=BF16), ag.full((2,), 1.5, dtype=BF16), ag.arange(3, dtype=BF16), ag.eye(2, dtype=BF16),
                 ag.linspace(0, 1, 3, dtype=BF16), ag.empty(2, dtype=BF16), ag.hann_window(4, dtype=BF16)):  # fmt: skip
        assert made.dtype is BF16
    assert str(ag.tensor([float("nan"), float("inf"), 1e30], dtype=BF16)).startswith("tensor([       nan,        inf, 1.0")


def test_memory_is_shared_with_numpy():
    array = np.zeros(3, ml_dtypes.bfloat16)
    x = ag.from_numpy(array)
    x += 1
    array[1] = 5
    assert x.tolist() == [1, 5, 1] and array.tolist() == [1, 5, 1]


def test_conversions_round_to_even():
    """As the upper half of float32, rounded; nan stays nan, what is too large becomes infinite."""
    wide = np.array([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, 3.4e38, -1e-40, 0.0, -0.0], np.float32)
    assert ag.from_numpy(wide).to(BF16).tolist()[:5] == [1.0, 1 + 2**-6, 1 + 2**-7, float("inf"), -9.183549615799121e-41]
    assert bits(ag.from_numpy(wide).to(BF16))[-2:].tolist() == [0, 0x8000]
    assert ag.tensor([float("nan")]).to(BF16).isnan().all()
    assert ag.tensor([2**62 + 2**54, 257, 259]).to(BF16).tolist() == [2**62, 256, 260]
    assert ag.tensor([1e300, -1e300], dtype=ag.float64).to(BF16).tolist() == [float("inf"), float("-inf")]
    x = ag.tensor([1.5, -2.75], dtype=BF16)
    for dtype in (ag.float16, ag.float32, ag.float64):
        assert x.to(dtype).to(BF16).tolist() == x.tolist()
    assert x.to(ag.complex64).tolist() == x.to(ag.complex128).tolist() == [1.5 + 0j, -2.75 + 0j]
    assert x.to(ag.int32).tolist() == [1, -2] and x.bool().tolist() == [True, True]


def test_every_number_goes_to_float32_and_back():
    every = np.arange(65536, dtype=np.uint16)
    x = ag.from_numpy(every.view(ml_dtypes.bfloat16))
    back = (x.float() * 1).to(BF16)
    number = ~np.isnan(x.float().numpy())
    np.testing.assert_array_equal(bits(back)[number], every[number])
    assert back.isnan().numpy().sum() == (~number).sum()


# promotion, as PyTorch's page on it says

PROMOTED = {
    "bool": "bfloat16", "uint8": "bfloat16", "int8": "bfloat16", "int16": "bfloat16", "int32": "bfloat16", "int64": "bfloat16",
    "float16": "float32", "bfloat16": "bfloat16", "float32": "float32", "float64": "float64",
    "complex64": "complex64", "complex128": "complex128",
}  # fmt: skip


@pytest.mark.parametrize(("other", "expected"), PROMOTED.items())
def test_promotion(other, expected):
    x, y = ag.ones(2, dtype=BF16), ag.ones(2, dtype=getattr(ag, other))
    for a, b in ((x, y), (y, x)):
        assert str(ag.promote_types(a.dtype, b.dtype)) == f"torch.{expected}"
        for found in (a + b, a * b, ag.where(ag.tensor([True, False]), a, b), ag.cat([a, b])):
            assert str(found.dtype) == f"torch.{expected}"


def test_promotion_with_numbers_and_zero_dimensions():
    x = ag.ones(2, dtype=BF16)
    assert (x + 1).dtype is (x * 2.5).dtype is (x + ag.tensor(1.0)).dtype is BF16
    assert (x + ag.tensor(1.0, dtype=ag.float64)).dtype is BF16
    assert (x + 1j).dtype is ag.complex64 and (ag.ones(2, dtype=ag.int64) + ag.tensor(1.0, dtype=BF16)).dtype is BF16
    assert ag.can_cast(ag.float64, BF16) and not ag.can_cast(BF16, ag.int64) and ag.can_cast(BF16, ag.float16)


def test_a_default_dtype():
    ag.set_default_dtype(BF16)
    try:
        assert ag.tensor(1.5).dtype is (ag.tensor([1, 2]) / 2).dtype is ag.ones(2).dtype is BF16
    finally:
        ag.set_default_dtype(ag.float32)


# what is computed

BINARY = ("add", "sub", "mul", "div", "maximum", "lt", "eq")
REDUCTIONS = ("sum", "mean", "prod", "amax", "amin", "argmax", "var", "std", "logsumexp", "cumsum", "softmax")
OPTIMIZERS = (
    "SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "NAdam", "RAdam", "Adamax", "ASGD", "Rprop", "LBFGS",
)  # fmt: skip

@pytest.mark.parametrize("n", [1, 2, 7, 511, 512, 513, 5000])
@pytest.mark.parametrize("name", [*BINARY, "exp", "sqrt", "neg", "abs", "tanh", "sigmoid"])
def test_elementwise_is_float32_rounded(name, n):
    rng = np.random.default_rng(n)
    a, b = (ag.from_numpy(rng.uniform(0.5, 3, (2, n)).astype(np.float32)).to(BF16) for _ in range(2))
    operands = (a, b) if name in BINARY else (a,)
    for place in (lambda x: x, lambda x: x[:, ::2], lambda x: x.t(), lambda x: x[0], lambda x: x[:, :1]):
        placed = [place(x) for x in operands]
        found, wide = getattr(ag, name)(*placed), getattr(ag, name)(*(x.float() for x in placed))
        assert found.dtype is (ag.bool if wide.dtype is ag.bool else BF16)
        assert ag.equal(found, wide.to(found.dtype)) and found.stride() == wide.stride()


@pytest.mark.parametrize("size", [(3,), (700,), (4, 600), (600, 4), (3, 5, 7)])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_are_float32_rounded(name, size):
    x = ag.from_numpy(np.random.default_rng(0).uniform(0.9, 1.1, size).astype(np.float32)).to(BF16)
    for dim in range(len(size)):
        found, wide = getattr(x, name)(dim), getattr(x.float(), name)(dim)
        assert found.dtype is (ag.int64 if name == "argmax" else BF16)
        assert ag.equal(found, wide.to(found.dtype))


def test_a_sum_of_many_is_kept_in_float32():
    x = ag.ones(4096, dtype=BF16, requires_grad=True)
    total = x.sum()
    total.backward()
    assert total.item() == 4096 and x.grad.dtype is BF16 and x.grad.sum().item() == 4096


def test_gradients_add_up():
    """Sums of gradients have a loop of their own, at all sizes and where one of them is broadcast."""
    for n in (1, 3, 600, 70000):
        x = ag.ones(n, dtype=BF16, requires_grad=True)
        (x * 2 + x * 3 + x.tanh() * 0).sum().backward()
        assert x.grad.dtype is BF16 and ag.equal(x.grad, ag.full((n,), 5.0, dtype=BF16))
        (x * 1).sum().backward()
        assert ag.equal(x.grad, ag.full((n,), 6.0, dtype=BF16))


def test_products():
    rng = np.random.default_rng(1)
    a, b = (ag.from_numpy(rng.standard_normal(size)).to(BF16) for size in ((5, 40), (40, 7)))
    expected = (a.float() @ b.float()).to(BF16)
    assert ag.equal(a @ b, expected) and ag.equal(ag.einsum("ij,jk->ik", a, b), expected)
    assert ag.equal(ag.bmm(a[None], b[None])[0], expected) and ag.equal(a @ b[:, 0], (a.float() @ b[:, 0].float()).to(BF16))
    weight, bias = b.t().clone().requires_grad_(), ag.ones(7, dtype=BF16, requires_grad=True)
    y = F.linear(a, weight, bias)
    y.backward(ag.ones_like(y))
    assert weight.grad.dtype is bias.grad.dtype is BF16 and bias.grad.tolist() == [5.0] * 7


def test_the_next_number():
    """In float32 it would be rounded back to the number."""
    x = ag.tensor([1.0, 0.0, -0.0, 1.0, float("inf"), -2.0, 3.0], dtype=BF16)
    y = ag.tensor([2.0, 1.0, -1.0, 0.0, 0.0, 0.0, 3.0], dtype=BF16)
    assert bits(x.nextafter(y)).tolist() == [0x3F81, 1, 0x8001, 0x3F7F, 0x7F7F, 0xBFFF, 0x4040]
    assert x.nextafter(ag.full_like(x, float("nan"))).isnan().all()


def test_random_numbers():
    ag.manual_seed(0)
    x = ag.rand(10000, dtype=BF16)
    assert x.dtype is BF16 and 0 <= x.min().item() and x.max().item() < 1 and abs(x.float().mean().item() - 0.5) < 0.02
    assert len(set(x.tolist())) <= 256
    assert ag.randn(5, dtype=BF16).dtype is ag.randint(9, (3,), dtype=BF16).dtype is ag.rand_like(x).dtype is BF16
    assert ag.empty(1000, dtype=BF16).random_().max().item() <= 256
    assert ag.zeros(1000, dtype=BF16).uniform_(3, 4).max().item() < 4
    assert ag.nn.init.xavier_normal_(ag.empty(3, 3, dtype=BF16)).dtype is BF16
    with pytest.raises(RuntimeError, match=r"to is out of bounds for c10::BFloat16"):
        ag.zeros(2, dtype=BF16).uniform_(0, 1e39)
    assert F.dropout(x, 0.5).dtype is ag.bernoulli(x).dtype is ag.distributions.Normal(x[:3], x[:3] + 1).sample().dtype is BF16


def test_indexing_and_sorting():
    x = ag.tensor([3.0, 1.0, 2.0, float("nan")], dtype=BF16)
    assert x[ag.tensor([2, 0])].tolist() == [2, 3] and x[x > 1.5].tolist() == [3, 2] and x.sort()[1].tolist() == [1, 2, 0, 3]
    assert x[:3].topk(2)[0].tolist() == [3, 2] and x[:3].median().item() == 2 and x[:3].unique().tolist() == [1, 2, 3]
    x[1] = 7
    x[0], x[2:] = ag.tensor(1.0), 0
    assert x.tolist() == [1, 7, 0, 0] and x.count_nonzero().item() == 2 and x.nonzero().flatten().tolist() == [0, 1]
    assert ag.zeros(2, dtype=BF16).index_add(0, ag.tensor([0, 0]), x[:2]).tolist() == [8, 0]
    assert x.scatter_add(0, ag.tensor([3]), x[:1]).tolist() == [1, 7, 0, 1] and x.gather(0, ag.tensor([1])).item() == 7


def test_anomaly_mode_sees_its_nan():
    with pytest.warns(UserWarning), ag.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="nan"):
        x = ag.zeros(2, dtype=BF16, requires_grad=True)
        (x / x).sum().backward()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_take_parameters_of_it(name):
    def run(dtype):
        p = ag.tensor([1.0, -2.0, 0.5], dtype=dtype, requires_grad=True)
        optimizer = getattr(ag.optim, name)([p], lr=0.1)

        def closure():
            optimizer.zero_grad()
            loss = (p * p).sum()
            loss.backward()
            return loss

        for _ in range(3):
            optimizer.step(closure)
        return p

    found = run(BF16)
    assert found.dtype is BF16
    np.testing.assert_allclose(found.float().detach().numpy(), run(ag.float32).detach().numpy(), rtol=0.03, atol=0.03)


def test_a_step_of_an_optimizer_is_computed_in_float32_and_rounded_once():
    p, g = (ag.tensor(values, dtype=BF16) for values in ([1.0, -2.0, 0.5], [0.3, 0.1, -0.7]))
    wide = p.float().requires_grad_()
    p.requires_grad_()
    p.grad, wide.grad = g, g.float()
    ag.optim.SGD([p], lr=0.1).step()
    ag.optim.SGD([wide], lr=0.1).step()
    assert ag.equal(p.detach(), wide.detach().to(BF16))


def test_a_network_trains():
    ag.manual_seed(0)
    net = ag.nn.Sequential(
        ag.nn.Conv2d(1, 4, 3), ag.nn.BatchNorm2d(4), ag.nn.ReLU(), ag.nn.MaxPool2d(2), ag.nn.Flatten(), ag.nn.Linear(36, 10),
        ag.nn.LayerNorm(10), ag.nn.GELU(), ag.nn.Linear(10, 3),
    ).bfloat16()  # fmt: skip
    assert {p.dtype for p in net.parameters()} == {BF16}
    x, target = ag.randn(8, 1, 8, 8, dtype=BF16), ag.arange(8) % 3
    optimizer = ag.optim.Adam(net.parameters(), lr=0.01)
    losses = []
    for _ in range(15):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert loss.dtype is BF16 and losses[-1] < losses[0] / 2


# files and other libraries


def test_save_load_and_pickle(tmp_path):
    x = {"x": ag.tensor([[1.0, 2.5], [3.0, -4.0]], dtype=BF16), "dtype": BF16}
    ag.save(x, tmp_path / "x")
    loaded = ag.load(tmp_path / "x"), ag.load(tmp_path / "x", mmap=True)
    for found in (*loaded, pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert found["dtype"] is BF16 and found["x"].dtype is BF16 and ag.equal(found["x"], x["x"])


def test_files_are_those_of_pytorch(tmp_path):
    torch = pytest.importorskip("torch")
    torch.save({"x": torch.tensor([1.0, 2.5], dtype=torch.bfloat16), "dtype": torch.bfloat16}, tmp_path / "x")
    found = ag.load(tmp_path / "x")
    assert found["x"].dtype is found["dtype"] is BF16 and found["x"].tolist() == [1, 2.5]
    ag.save(found, tmp_path / "x")
    theirs = torch.load(tmp_path / "x")
    assert theirs["x"].dtype is theirs["dtype"] is torch.bfloat16 and theirs["x"].tolist() == [1, 2.5]


def test_safetensors(tmp_path):
    pytest.importorskip("safetensors")
    from autograd_cy.utils import safetensors

    x = {"x": ag.tensor([[1.0, 2.5]], dtype=BF16), "y": ag.ones(2)}
    safetensors.save_file(x, tmp_path / "x")
    for found in (safetensors.load(safetensors.save(x)), safetensors.load_file(tmp_path / "x")):
        assert found["x"].dtype is BF16 and ag.equal(found["x"], x["x"]) and ag.equal(found["y"], x["y"])


def test_dlpack():
    x = ag.tensor([[1.0, 2.5], [3.0, 4.0]], dtype=BF16)
    shared = ag.from_dlpack(x.t())
    shared[0, 1] = 9
    assert shared.dtype is BF16 and x.tolist() == [[1, 2.5], [9, 4]]
    assert ag.utils.dlpack.from_dlpack(ag.utils.dlpack.to_dlpack(x)).tolist() == x.tolist()
    assert ag.from_dlpack(x, copy=True).data_ptr() != x.data_ptr()
    capsule = ag.utils.dlpack.to_dlpack(x)
    ag.from_dlpack(capsule)
    with pytest.raises((ValueError, RuntimeError)):
        ag.from_dlpack(capsule)


def test_dlpack_with_pytorch():
    torch = pytest.importorskip("torch")
    theirs = torch.tensor([1.0, 2.5], dtype=torch.bfloat16)
    ours = ag.from_dlpack(theirs)
    ours[0] = 7
    assert ours.dtype is BF16 and theirs.tolist() == [7, 2.5]
    back = torch.from_dlpack(ours)
    assert back.dtype is torch.bfloat16 and back.data_ptr() == theirs.data_ptr()


def test_a_buffer_of_bytes():
    data = io.BytesIO(np.array([1.0, 2.5], ml_dtypes.bfloat16).tobytes()).getvalue()
    assert ag.frombuffer(bytearray(data), dtype=BF16).tolist() == [1, 2.5]
    x = ag.tensor([1.0], dtype=BF16)
    assert x.view(ag.int16).item() == 0x3F80 and x.view(ag.int16).view(BF16).item() == 1
    assert x.view(ag.uint8).tolist() == [128, 63]


def test_close():
    x = ag.tensor([1.0, 2.0], dtype=BF16)
    ag.testing.assert_close(x, x * 1.01)
    with pytest.raises(AssertionError, match="not close"):
        ag.testing.assert_close(x, x * 1.05)
    assert ag.allclose(x, x) and ag.isclose(x, x).all()
    made = ag.testing.make_tensor(100, dtype=BF16, device="cpu", low=1, high=2, exclude_zero=True)
    assert made.dtype is BF16 and 1 <= made.min().item() and made.max().item() < 2


# against PyTorch


def test_promotion_parity():
    torch = pytest.importorskip("torch")
    for other in PROMOTED:
        for function in ("promote_types", "can_cast"):
            for a, b in (("bfloat16", other), (other, "bfloat16")):
                ours, theirs = (getattr(m, function)(getattr(m, a), getattr(m, b)) for m in (ag, torch))
                assert str(ours) == str(theirs), (function, a, b)


def test_conversion_parity():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(3)
    doubles = rng.standard_normal(2000) * 10.0 ** rng.integers(-40, 39, 2000)
    for numbers in (
        rng.integers(0, 1 << 32, 20000, dtype=np.uint32).view(np.float32), rng.integers(-(1 << 62), 1 << 62, 2000),
        np.concatenate([doubles, [1 + 2**-8 + 2**-30, 1e300]]), np.arange(65536, dtype=np.uint16).view(np.float16),
    ):  # fmt: skip
        theirs = torch.from_numpy(numbers).to(torch.bfloat16).float().numpy()
        np.testing.assert_array_equal(ag.from_numpy(numbers).to(BF16).float().numpy(), theirs)


@pytest.mark.parametrize("repeats", [1, 300])
def test_nan_is_the_largest(repeats):
    """ml_dtypes sorts nan to any place: topk() and unique() had it first, and elements more than once."""
    pytest.importorskip("ml_dtypes")
    values = [float("nan"), 1.0, 0.0, float("inf"), 1.0, -2.0] * repeats
    half, wide = ag.tensor(values, dtype=BF16), ag.tensor(values)
    for largest in (True, False):
        for k in (3, 20 if repeats > 1 else 6):
            found, expected = half.topk(k, largest=largest).values, wide.topk(k, largest=largest).values
            assert ag.isclose(found.float(), expected, 0, 0, equal_nan=True).all()
    found, expected = (ag.unique(x[x == x], return_inverse=True, return_counts=True) for x in (half, wide))
    assert found[0].dtype is BF16 and all(ag.equal(f.double(), e.double()) for f, e in zip(found, expected, strict=True))
    assert ag.unique(half)[:4].tolist() == [-2, 0, 1, float("inf")] and ag.unique(half)[4:].isnan().all()
    steps = ag.tensor([0.0, 1.0, float("nan")], dtype=BF16)
    assert ag.searchsorted(steps, steps, right=True).tolist() == [1, 2, 3]
