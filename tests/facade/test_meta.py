"""Tensors on the device "meta": shapes, dtypes and strides without elements. Tests with `torch` hold in PyTorch."""

import contextvars
import copy
import io
import pickle
import resource
import subprocess
import sys
import threading

import numpy as np
import pytest

import autograd_cy as ag


@pytest.fixture(params=["autograd_cy", "torch"])
def torch(request):
    return pytest.importorskip(request.param)


def is_alike(x, other):
    """Whether a tensor on meta has the shape, dtype and strides of another one."""
    assert x.is_meta and x.device.type == "meta" and not x.is_cpu
    return (x.shape, x.dtype, x.stride(), x.requires_grad) == (other.shape, other.dtype, other.stride(), other.requires_grad)


# how they are made

MAKERS = {
    "empty": lambda t, **k: t.empty(2, 3, **k),
    "empty, in channels": lambda t, **k: t.empty(2, 3, 4, 5, memory_format=t.channels_last, **k),
    "empty_strided": lambda t, **k: t.empty_strided((2, 3), (1, 4), **k),
    "empty_permuted": lambda t, **k: t.empty_permuted((2, 3), (1, 0), **k),
    "zeros": lambda t, **k: t.zeros((2, 3), dtype=t.int16, **k),
    "ones": lambda t, **k: t.ones(2, requires_grad=True, **k),
    "full": lambda t, **k: t.full((2, 3), 7, **k),
    "rand": lambda t, **k: t.rand(2, 3, **k),
    "randn": lambda t, **k: t.randn(2, 3, dtype=t.float64, **k),
    "randint": lambda t, **k: t.randint(0, 5, (3,), **k),
    "randperm": lambda t, **k: t.randperm(5, **k),
    "arange": lambda t, **k: t.arange(5, **k),
    "linspace": lambda t, **k: t.linspace(0, 1, 5, **k),
    "eye": lambda t, **k: t.eye(3, **k),
    "tensor": lambda t, **k: t.tensor([[1.0, 2.0]], **k),
    "as_tensor": lambda t, **k: t.as_tensor([1, 2], **k),
    "as_tensor of a tensor": lambda t, **k: t.as_tensor(t.ones(2, 3), **k),
    "hann_window": lambda t, **k: t.hann_window(4, **k),
    "zeros_like": lambda t, **k: t.zeros_like(t.ones(3, 2).t(), **k),
    "rand_like": lambda t, **k: t.rand_like(t.ones(3, 2), **k),
    "full_like": lambda t, **k: t.full_like(t.ones(3, 2), 5, dtype=t.int64, **k),
    "new_zeros": lambda t, **k: t.ones(2, dtype=t.int32).new_zeros(3, **k),
    "new_full": lambda t, **k: t.ones(2).new_full((3, 1), 5, **k),
    "new_tensor": lambda t, **k: t.ones(2).new_tensor([1, 2], **k),
    "to": lambda t, **k: t.ones(3, 2).t().to(**k) if k else t.ones(3, 2).t(),
    "to, with a dtype": lambda t, **k: t.ones(3, 2).to(k.get("device", "cpu"), t.float64),
    "to, as a tensor": lambda t, **k: t.ones(3, 2).to(t.empty(0, **k)),
}


@pytest.mark.parametrize("name", MAKERS)
def test_makers(torch, name):
    made = MAKERS[name](torch, device="meta")
    assert is_alike(made, MAKERS[name](torch)) and is_alike(MAKERS[name](torch, device=torch.device("meta")), made)
    if not name.endswith(("_like", "to", "tensor", "dtype")) and not name.startswith(("new", "to", "as_tensor of")):
        with torch.device("meta"):
            assert is_alike(MAKERS[name](torch), made)
        torch.set_default_device("meta")
        try:
            assert is_alike(MAKERS[name](torch), made) and torch.get_default_device() == torch.device("meta")
        finally:
            torch.set_default_device(None)
    assert not MAKERS[name](torch).is_meta and torch.get_default_device() == torch.device("cpu")


def test_each_thread_has_its_own_default_device(torch):
    found = []

    def other():
        torch.set_default_device(None)
        found.append(torch.ones(1).device.type)
        torch.set_default_device("meta")
        found.append(torch.ones(1).device.type)

    try:
        torch.set_default_device("meta")
        thread = threading.Thread(target=contextvars.Context().run, args=(other,))
        thread.start()
        thread.join()
        assert found == ["cpu", "meta"] and torch.ones(1).device.type == "meta" and torch.get_default_device().type == "meta"
    finally:
        torch.set_default_device(None)
    assert torch.ones(1).device.type == "cpu"


def test_the_device_that_is_named_counts(torch):
    with torch.device("meta"):
        assert torch.ones(2, device="cpu").tolist() == [1, 1] and torch.from_numpy(np.ones(2)).tolist() == [1, 1]
        with torch.device("cpu"):
            assert torch.ones(2).tolist() == [1, 1] and torch.get_default_device() == torch.device("cpu")
        assert torch.ones(2).is_meta
        assert torch.zeros_like(torch.ones(2), device="cpu").tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="legacy constructor expects device type: cpu but device type: meta was passed"):
        torch.Tensor(2, device="meta")


def test_repr(torch):
    m = torch.ones(2, 3, device="meta")
    assert repr(m) == str(m) == "tensor(..., device='meta', size=(2, 3))"
    wide = torch.ones(2, device="meta", dtype=torch.float64, requires_grad=True)
    assert repr(wide) == "tensor(..., device='meta', size=(2,), dtype=torch.float64, requires_grad=True)"
    assert repr(wide * 2) == ("tensor(..., device='meta', size=(2,), dtype=torch.float64,\n       grad_fn=<MulBackward0>)")
    assert repr(torch.arange(3, device="meta")) == "tensor(..., device='meta', size=(3,), dtype=torch.int64)"
    assert repr(torch.nn.Parameter(m)) == "Parameter containing:\n" + repr(m)[:-1] + ", requires_grad=True)"
    assert m.type() == "torch.meta.FloatTensor"


# what needs elements

READERS = {
    "item": (lambda t, m: m[0, 0].item(), RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
    "item of many": (lambda t, m: m.item(), RuntimeError, "a Tensor with 6 elements cannot be converted to Scalar"),
    "bool": (lambda t, m: bool(m[0, 0]), RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
    "float": (lambda t, m: float(m[0, 0]), RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
    "int": (lambda t, m: int(m[0, 0]), RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
    "index": (lambda t, m: [0][m[0, 0].long()], RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
    "tolist": (lambda t, m: m.tolist(), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
    "cpu": (lambda t, m: m.cpu(), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
    "to": (lambda t, m: m.to("cpu"), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
    "to, as a tensor": (lambda t, m: m.to(t.ones(1)), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
    "copy_": (lambda t, m: t.ones(2, 3).copy_(m), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
    "assignment": (lambda t, m: t.ones(2, 3).__setitem__(..., m), NotImplementedError, "Cannot copy out of meta tensor"),
    "numpy": (lambda t, m: m.numpy(), TypeError, "can't convert meta device type tensor to numpy"),
    "array": (lambda t, m: np.asarray(m), TypeError, "can't convert meta device type tensor to numpy"),
    "dlpack": (lambda t, m: m.__dlpack__(), BufferError, "Cannot pack tensors on meta"),
    "nonzero": (lambda t, m: m.nonzero(), NotImplementedError, "nonzero"),
    "mask": (lambda t, m: m[m > 0], NotImplementedError, None),
    "unique": (lambda t, m: m.unique(), NotImplementedError, None),
    "allclose": (lambda t, m: t.allclose(m, m), RuntimeError, None),
    "equal": (lambda t, m: t.equal(m, m), (RuntimeError, NotImplementedError), None),
    "share": (lambda t, m: m.share_memory_(), RuntimeError, "only available on CPU"),
    "storage": (lambda t, m: m.untyped_storage()[0], NotImplementedError, "Not available for 'meta' device type"),
    "module": (lambda t, m: t.nn.Linear(2, 2, device="meta").to("cpu"), NotImplementedError, "use torch.nn.Module.to_empty"),
    "fill": (lambda t, m: m.fill_("a"), TypeError, None),
}


@pytest.mark.parametrize("name", READERS)
def test_there_is_nothing_to_read(torch, name):
    call, kind, text = READERS[name]
    with pytest.raises(kind, match=text):
        call(torch, torch.empty(2, 3, device="meta"))


def test_a_product_by_a_matrix_on_meta_is_there():
    """PyTorch's is on the CPU."""
    assert (ag.ones(3, 2) @ ag.empty(2, 3, device="meta")).is_meta


def test_tensors_of_two_devices_do_not_mix(torch):
    m, c = torch.empty(2, 3, device="meta"), torch.ones(2, 3)
    for call in (lambda: m + c, lambda: c * m, lambda: torch.cat([m, c]), lambda: torch.where(m > 0, m, c),
                 lambda: torch.nn.Linear(3, 2, device="meta")(c)):  # fmt: skip
        with pytest.raises(RuntimeError, match="is not on the expected device"):
            call()
    for other in (torch.tensor(2.0), 2.0):
        assert is_alike(m + other, m) and is_alike(other * m, m) and (m > other).dtype is torch.bool
    assert m[torch.tensor([0])].shape == (1, 3) and torch.nn.functional.embedding(torch.tensor([0]), m).shape == (1, 3)
    assert (m @ torch.ones(3, 2)).is_meta
    assert m.copy_(c) is m and c.type_as(m).is_meta and c.is_same_size(m)
    for one, other in ((c, m), (torch.nn.Parameter(m), c)):
        with pytest.raises(RuntimeError, match="incompatible tensor type"):
            one.data = other


# operations

OPERATIONS = {
    "arithmetic": lambda t, x: (x + 1) * x.double() / 2,
    "broadcast": lambda t, x: x[:1] + x[:, :1],
    "comparison": lambda t, x: x == x,
    "reductions": lambda t, x: (x.sum(), x.mean(0, keepdim=True), x.max(1), x.argmax(), t.var_mean(x)),
    "matmul": lambda t, x: x @ x.t(),
    "views": lambda t, x: (x.t(), x[1:], x.view(-1), x.expand(2, *x.shape), x.unbind(0), x[:, ::2], x[None]),
    "reshape": lambda t, x: (x.t().reshape(-1), x.reshape(-1), x.flatten(), x.permute(1, 0).contiguous()),
    "in order": lambda t, x: (x.t() * 2, x.t().exp(), x.t().clone(), t.zeros_like(x.t())),
    "joined": lambda t, x: (t.cat([x, x]), t.stack([x, x], 1), x.split(1), x.chunk(2, 1)),
    "softmax": lambda t, x: t.nn.functional.softmax(x, -1),
    "layers": lambda t, x: t.nn.functional.layer_norm(x, x.shape[1:]),
    "sorting": lambda t, x: (x.sort(), x.topk(2), x.cumsum(0)),
    "linear algebra": lambda t, x: (t.linalg.svd(x, full_matrices=False).S, t.linalg.norm(x), t.einsum("ij,kj->ik", x, x)),
    "where": lambda t, x: t.where(x > 0, x, 0.0),
    "dropout": lambda t, x: t.nn.functional.dropout(x),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(torch, name):
    def compare(found, expected):
        if isinstance(expected, (tuple, list)):
            assert len(found) == len(expected)
            for pair in zip(found, expected, strict=True):
                compare(*pair)
        else:
            assert is_alike(found, expected)

    compare(OPERATIONS[name](torch, torch.ones(4, 6, device="meta")), OPERATIONS[name](torch, torch.ones(4, 6)))


def test_views_share_what_there_is(torch):
    m = torch.empty(4, 6, device="meta")
    view = m[1:, ::2]
    assert view._base is m and view.storage_offset() == 6 and view.stride() == (6, 2) and m.data_ptr() == 0
    storage = m.untyped_storage()
    assert view.untyped_storage()._cdata == storage._cdata and storage.nbytes() == 96 and storage.data_ptr() == 0
    assert storage.device == torch.device("meta") and storage.clone().device == torch.device("meta")
    assert repr(storage) == "...\n[torch.storage.UntypedStorage(device=meta) of size 96]"
    version = m._version
    m.add_(1)
    assert m._version == version + 1 == view._version


def test_writes_in_place(torch):
    m = torch.empty(2, 3, device="meta")
    for write in (lambda: m.add_(1), lambda: m.mul_(m), lambda: m.normal_(), lambda: m.uniform_(-1, 1), lambda: m.zero_(),
                  lambda: m.clamp_(0, 1), lambda: m.copy_(torch.ones(3))):  # fmt: skip
        assert write() is m and m.is_meta
    m[0] = 1
    m += 1
    m[:, 0] = m[:, 1]
    assert is_alike(m, torch.ones(2, 3))
    assert m.t_() is m and m.shape == (3, 2)


# the graph


def test_gradients(torch):
    x = torch.ones(2, 3, device="meta", requires_grad=True)
    w = torch.ones(3, 4, dtype=torch.float32, device="meta", requires_grad=True)
    y = (x.exp() @ w).tanh()
    assert y.requires_grad and not y.is_leaf and x.is_leaf and type(y.grad_fn).__name__ == "TanhBackward0"
    y.sum().backward()
    assert is_alike(x.grad, torch.ones(2, 3)) and is_alike(w.grad, torch.ones(3, 4))
    (g,) = torch.autograd.grad((x * x).sum(), x, create_graph=True)
    assert g.is_meta and g.requires_grad and g.shape == (2, 3)
    with torch.no_grad():
        assert not (x * 2).requires_grad
    assert x.detach().is_meta and not x.detach().requires_grad


def test_transforms(torch):
    m = torch.ones(3, 4, device="meta")
    gradient, value = torch.func.grad_and_value(lambda x: (x * x).sum())(m)
    assert gradient.is_meta and value.is_meta and gradient.shape == (3, 4)
    y, pull = torch.func.vjp(lambda x: x.exp(), m)
    assert y.is_meta and pull(m)[0].is_meta
    assert torch.vmap(lambda row: row.sum())(m).is_meta


def test_a_step_of_training(torch):
    nn = torch.nn
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to("meta")
    loss = nn.functional.mse_loss(model(torch.empty(5, 4, device="meta")), torch.empty(5, 2, device="meta"))
    loss.backward()
    assert all(p.grad.is_meta and p.grad.shape == p.shape for p in model.parameters())


# modules

MODULES = {
    "Linear": (lambda nn, **k: nn.Linear(3, 4, **k), (2, 3)),
    "Conv2d": (lambda nn, **k: nn.Conv2d(3, 8, 3, **k), (1, 3, 9, 9)),
    "BatchNorm2d": (lambda nn, **k: nn.BatchNorm2d(3, **k), (2, 3, 5, 5)),
    "LayerNorm": (lambda nn, **k: nn.LayerNorm(3, **k), (2, 3)),
    "LSTM": (lambda nn, **k: nn.LSTM(3, 5, num_layers=2, **k), (4, 2, 3)),
    "GRUCell": (lambda nn, **k: nn.GRUCell(3, 5, **k), (4, 3)),
    "TransformerEncoderLayer": (lambda nn, **k: nn.TransformerEncoderLayer(8, 2, 16, **k), (3, 2, 8)),
    "MultiheadAttention": (lambda nn, **k: nn.MultiheadAttention(8, 2, **k), (3, 2, 8)),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules(torch, name):
    make, size = MODULES[name]
    here, module = make(torch.nn), make(torch.nn, device="meta")
    with torch.device("meta"):
        other = make(torch.nn)
    for found in (module, other, make(torch.nn).to("meta"), make(torch.nn).to(device="meta")):
        assert isinstance(found, type(here)) and found.state_dict().keys() == here.state_dict().keys()
        for p, q in zip(found.parameters(), here.parameters(), strict=True):
            assert is_alike(p, q) and isinstance(p, torch.nn.Parameter) and p.is_leaf
    arguments = (torch.ones(size),) * (3 if name == "MultiheadAttention" else 1)
    y = module(*(x.to("meta") for x in arguments))
    expected = here(*arguments)
    while isinstance(expected, tuple):
        y, expected = y[0], expected[0]
    assert y.is_meta and (y.shape, y.dtype, y.requires_grad) == (expected.shape, expected.dtype, expected.requires_grad)
    back = module.to_empty(device="cpu")
    back.load_state_dict(here.state_dict())
    assert back is module and all(type(p) is torch.nn.Parameter and p.requires_grad for p in back.parameters())
    assert all(torch.equal(x, y) for x, y in zip(back.state_dict().values(), here.state_dict().values(), strict=True))


def test_a_state_is_loaded_by_assignment(torch):
    state = torch.nn.Linear(2, 2).state_dict()
    module = torch.nn.Linear(2, 2, device="meta")
    module.load_state_dict(state, assign=True)
    assert type(module.weight) is torch.nn.Parameter and module.weight.requires_grad
    assert torch.equal(module.weight, state["weight"]) and module.weight.data_ptr() == state["weight"].data_ptr()
    norm = torch.nn.BatchNorm1d(2, device="meta")
    norm.load_state_dict({}, strict=False, assign=True)
    assert norm.num_batches_tracked == 0
    other = torch.nn.Linear(2, 2, device="meta")
    with pytest.warns(UserWarning, match="for weight: copying from a non-meta parameter in the checkpoint"):
        other.load_state_dict({"weight": state["weight"]}, strict=False)
    assert other.weight.is_meta


def test_skip_init(torch):
    before = torch.get_rng_state()
    module = torch.nn.utils.skip_init(torch.nn.Linear, 3, 2, bias=False)
    assert torch.equal(torch.get_rng_state(), before)
    assert module.weight.device.type == "cpu" and module.weight.shape == (2, 3) and type(module.weight) is torch.nn.Parameter
    assert torch.nn.utils.skip_init(torch.nn.Linear, 3, 2, device="meta").weight.is_meta
    calls = []

    class Layer(torch.nn.Module):
        def __init__(self, device=None):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.empty(2, device=device))
            calls.append(torch.nn.init.uniform_(self.weight).device.type)

    assert torch.nn.utils.skip_init(Layer).weight.device.type == "cpu" and calls == ["meta"]


@pytest.mark.parametrize("name", ["orthogonal_", "kaiming_uniform_", "kaiming_normal_", "trunc_normal_", "eye_",
                                  "xavier_normal_", "xavier_uniform_", "zeros_", "ones_", "normal_", "uniform_"])  # fmt: skip
def test_initialization_does_nothing(torch, name):
    m = torch.empty(3, 3, device="meta", requires_grad=True)
    assert getattr(torch.nn.init, name)(m) is m and m.is_meta and m.is_leaf


def test_lazy_parameters(torch):
    weight = torch.nn.UninitializedParameter(device="meta")
    weight.materialize((2, 3))
    assert weight.is_meta and isinstance(weight, torch.nn.Parameter) and weight.shape == (2, 3)
    weight = torch.nn.UninitializedParameter()
    weight.materialize(10)
    assert weight.shape == (10,) and type(weight) is torch.nn.Parameter


# copies


def test_copies_and_files(torch):
    m = torch.empty(3, 2, device="meta", dtype=torch.float64).t().requires_grad_()
    for twin in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert is_alike(twin, m) and twin is not m
    module = copy.deepcopy(torch.nn.Linear(2, 2, device="meta"))
    assert isinstance(module.weight, torch.nn.Parameter) and module.weight.is_meta and module.weight.requires_grad
    file = io.BytesIO()
    torch.save({"m": m, "state": module.state_dict()}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert is_alike(loaded["m"], m) and loaded["state"]["weight"].is_meta


def test_files_without_elements_are_read_by_both():
    torch = pytest.importorskip("torch")
    for one, other in ((ag, torch), (torch, ag)):
        file = io.BytesIO()
        one.save(one.empty(3, 2, device="meta").t(), file)
        file.seek(0)
        found = other.load(file)
        assert found.is_meta and found.stride() == (1, 2)


# what it costs


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss has another unit elsewhere")
def test_no_memory_is_used():
    def used():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    ag.empty(2, device="meta").normal_()
    before = used()
    with ag.device("meta"):
        model = ag.nn.Sequential(*(ag.nn.Linear(20_000, 20_000) for _ in range(20)))
    kept = [ag.zeros(100_000, 100_000, device="meta").uniform_(), ag.empty_like(model[0].weight).zero_().t()[1:]]
    assert kept[0].nbytes == 40_000_000_000 and used() - before < 50_000


def test_results_give_their_memory_back():
    m = ag.ones(1_000_000, device="meta", requires_grad=True)
    before = ag.memory.memory_stats()["used_bytes"]
    kept = [m * 2 + 1 for _ in range(5)]
    y = m.clone()
    y.mul_(2)
    assert ag.memory.memory_stats()["used_bytes"] - before < 1_000_000 and len(kept) == 5


def test_too_many_bytes():
    with pytest.raises(RuntimeError, match="device 'meta': no addresses for"):
        ag.empty(1 << 40, 1 << 20, device="meta")


def test_devices_and_modes_where_this_package_is_torch(tmp_path):
    """Functions that make tensors went unseen there: they were known by the name of their module, which is torch's then."""
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\n"
        "from torch.overrides import TorchFunctionMode\n"
        "class Noted(TorchFunctionMode):\n"
        "    def __torch_function__(self, func, types, args=(), kwargs=None):\n"
        "        print(func.__name__)\n"
        "        return func(*args, **(kwargs or {}))\n"
        "with Noted():\n"
        "    torch.randn(2)\n"
        "with torch.device('meta'):\n"
        "    print(torch.randn(2).device, torch.tensor(0).device, torch.nn.BatchNorm2d(3).num_batches_tracked.device)\n"
    )
    run = subprocess.run([sys.executable, "-m", "autograd_cy", str(script)], capture_output=True, text=True)
    assert run.stdout == "randn\nmeta meta meta\n", run.stderr


def test_storages_on_meta_stay_there(torch):
    there, here = torch.ones(3, device="meta"), torch.ones(3)
    assert copy.deepcopy(there.untyped_storage()).device.type == "meta"
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
        pickle.dumps(there.untyped_storage())
    for tensor, other in ((here, there), (there, here)):
        with pytest.raises(RuntimeError, match="devices must match"):
            tensor.set_(other.untyped_storage(), 0, (3,), (1,))
