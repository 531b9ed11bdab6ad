"""Names that libraries take at their first lines, each used as they use it. What runs on both holds for PyTorch, too."""

import importlib
import inspect

import numpy as np
import pytest

import autograd_cy as ag

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")


@pytest.fixture(params=["autograd_cy", "torch"])
def torch(request):
    return pytest.importorskip(request.param)


def module(torch, name):
    return importlib.import_module(f"{torch.__name__}.{name}")


def test_assert_allclose(torch):
    x = torch.tensor([1.0, float("nan")])
    torch.testing.assert_allclose(x, x + 1e-6)
    torch.testing.assert_allclose(torch.tensor([1.0]), torch.tensor([1.0], dtype=torch.float64))
    torch.testing.assert_allclose(torch.tensor([1.0]), [1.0])
    torch.testing.assert_allclose(torch.tensor([1.0]), torch.tensor([1.4]), rtol=0, atol=0.5)
    for other in ([1.1, float("nan")], [1.0, 2.0]):
        with pytest.raises(AssertionError):
            torch.testing.assert_allclose(x, torch.tensor(other))


def test_an_optimizer_of_ones_own(torch):
    optimizer = module(torch, "optim.optimizer")
    assert repr(optimizer.required) == "<required parameter>" and optimizer.ParamsT is not None

    class Plain(torch.optim.Optimizer):
        def __init__(self, params: optimizer.ParamsT, lr=optimizer.required, differentiable=False):
            if lr is not optimizer.required and lr < 0:
                raise ValueError
            super().__init__(params, {"lr": lr, "differentiable": differentiable})

        @optimizer._use_grad_for_differentiable
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.add_(p.grad, alpha=-group["lr"])
            return torch.is_grad_enabled()

    w = torch.ones(2, requires_grad=True)
    (w * w).sum().backward()
    assert Plain([w], lr=0.25).step() is False and w.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match=r"didn't specify a value of required optimization parameter lr"):
        Plain([{"params": [w]}])


@pytest.mark.parametrize("bounds", [None, (0.1, 0.4), (2.0, 3.0)])
def test_the_cubic_of_lbfgs(bounds):
    theirs = module(pytest.importorskip("torch"), "optim.lbfgs")._cubic_interpolate
    ours = module(ag, "optim.lbfgs")._cubic_interpolate
    tensors = pytest.importorskip("torch").tensor
    for points in ((0.0, 1.0, -2.0, 1.0, 0.5, 0.5), (1.0, 3.0, 1.0, 0.0, 1.0, -1.0), (0.0, 1.0, 1.0, 1.0, 1.0, 1.0)):
        assert ours(*points, bounds=bounds) == pytest.approx(float(theirs(*map(tensors, points), bounds=bounds)))


def test_the_line_search_of_lbfgs():
    results = []
    for package in (ag, pytest.importorskip("torch")):
        calls = []

        def f(x, t, d, package=package, calls=calls):
            calls.append(float(t))
            z = (x + t * d).detach().requires_grad_()
            loss = ((z * z - 1) ** 2).sum()
            loss.backward()
            return float(loss.detach()), z.grad

        x, d = package.tensor([2.0, 0.3], dtype=package.float64), package.tensor([-1.0, 1.0], dtype=package.float64)
        loss, g = f(x, 0.0, d)
        found = module(package, "optim.lbfgs")._strong_wolfe(f, x, 1.0, d, loss, g, g.dot(d))
        results.append((found[0], found[1].tolist(), float(found[2]), found[3], calls))
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_vmap_under_its_first_name(torch):
    vmap = module(torch, "_vmap_internals")._vmap
    x = torch.arange(6.0).reshape(3, 2)
    assert vmap(torch.sum)(x).tolist() == [1.0, 5.0, 9.0]
    assert vmap(torch.dot, in_dims=(0, None))(x, x[1]).tolist() == [3.0, 13.0, 23.0]
    total, nothing = vmap(lambda row: (row.sum(), None), allow_none_pass_through=True)(x)
    assert total.tolist() == [1.0, 5.0, 9.0] and nothing is None


def test_helpers_of_functional(torch):
    f = torch.autograd.functional
    x = torch.ones(2, requires_grad=True)
    assert f._as_tuple(x, "inputs", "f") == (False, (x,)) and f._as_tuple((x, x), "inputs", "f") == (True, (x, x))
    assert f._as_tuple(x) == (x,) and f._as_tuple_nocheck([x]) == (x,)
    with pytest.raises(TypeError, match="The inputs given to f must be either a Tensor or a tuple of Tensors"):
        f._as_tuple((1,), "inputs", "f")
    (y,) = f._grad_preprocess((x,), create_graph=True, need_graph=True)
    (z,) = f._grad_preprocess((x,), create_graph=False, need_graph=True)
    assert y.grad_fn is not None and z.is_leaf and z.requires_grad
    assert not f._grad_postprocess((y,), create_graph=False)[0].requires_grad
    assert f._tuple_postprocess((1,), False) == 1 and f._tuple_postprocess(((1,),), (False, False)) == 1
    f._validate_v((x,), (x,), False)
    with pytest.raises(RuntimeError, match="v has invalid size"):
        f._validate_v((torch.ones(3),), (x,), False)
    with pytest.raises(RuntimeError):
        f._check_requires_grad((x.detach(),), "outputs", True)
    f._check_requires_grad((None,), "outputs", False)
    g, none = f._autograd_grad(((y * y).sum(),), (y, z), create_graph=True)
    assert g.tolist() == [2.0, 2.0] and none is None
    assert f._fill_in_zeros((g, none), (y, z), False, True, "back")[1].tolist() == [0.0, 0.0]
    rows = f._construct_standard_basis_for((torch.ones(1), torch.ones(2)), (1, 2))
    assert [row.tolist() for row in rows] == [[[1.0], [0.0], [0.0]], [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]]


def test_a_fork_of_the_generator(torch):
    torch.manual_seed(0)
    expected = torch.rand(2)
    torch.manual_seed(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        torch.rand(5)
    assert torch.equal(torch.rand(2), expected)
    torch.manual_seed(0)
    with pytest.raises(ZeroDivisionError), torch.random.fork_rng():
        torch.rand(2)
        1 / 0  # noqa: B018
    assert torch.equal(torch.rand(2), expected)
    torch.manual_seed(0)
    with torch.random.fork_rng(enabled=False):
        torch.rand(2)
    assert not torch.equal(torch.rand(2), expected)
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"), torch.random.fork_rng(devices=["cuda"]):
        pass


def test_names_for_annotations(torch):
    types = module(torch, "types")
    assert isinstance(1.5, types.Number) and isinstance(torch.float32, types._dtype) and types._int is int
    for name in ("Device", "FileLike", "Storage", "_size", "_TensorOrTensors", "IntLikeType", "_bool", "_device"):
        assert getattr(types, name) is not None
    assert module(torch, "serialization").MAP_LOCATION is not None


def test_overrides(torch):
    overrides = module(torch, "overrides")
    functions = overrides.get_overridable_functions()
    assert torch.add in functions[torch] and torch.nn.functional.gelu in functions[torch.nn.functional]
    assert torch.Tensor.add in functions[torch.Tensor]
    dummies = overrides.get_testing_overrides()
    assert dummies[torch.add](torch.ones(1), torch.ones(1)) == -1 and callable(dummies[torch.Tensor.exp])
    assert overrides.resolve_name(torch.add) == "torch.add" and overrides.resolve_name(3) is None
    assert overrides.resolve_name(torch.nn.functional.gelu) == "torch.nn.functional.gelu"
    assert overrides.resolve_name(torch.linalg.inv) in ("torch.linalg.inv", "torch._C._linalg.linalg_inv")
    assert torch.zeros in overrides.get_ignored_functions() and torch.add not in overrides.get_ignored_functions()
    assert overrides.is_tensor_method_or_property(torch.Tensor.view)
    assert overrides.is_tensor_method_or_property(torch.Tensor.requires_grad.__get__)


def test_each_override_takes_what_its_function_takes():
    for function, dummy in ag.overrides.get_testing_overrides().items():
        assert inspect.signature(dummy) == inspect.signature(function)


def test_a_function_of_ones_own_is_handed_over(torch):
    @module(torch, "overrides").wrap_torch_function(lambda a, b=None: (a, b))
    def own(a, b=None):
        return "own"

    class Seen:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func is own, args, kwargs

    seen = Seen()
    assert own(torch.ones(1)) == "own" and own(1, b=seen) == (True, (1,), {"b": seen})


def test_names_of_the_core(torch):
    core = torch._C
    assert core._log_api_usage_once("library.init") is None and core._get_tracing_state() is None
    assert core.has_lapack is torch.has_lapack is True
    assert core.Generator is torch.Generator and core._VariableFunctions.add(torch.ones(1), 1).tolist() == [2.0]
    with pytest.raises(AttributeError):
        core.nonsense  # noqa: B018


def test_kernels_of_attention(torch):
    attention = module(torch, "nn.attention")
    q = torch.ones(1, 2, 3, 4)
    expected = torch.nn.functional.scaled_dot_product_attention(q, q, q)
    for backends in (attention.SDPBackend.MATH, [attention.SDPBackend.MATH, attention.SDPBackend.FLASH_ATTENTION]):
        with attention.sdpa_kernel(backends):
            torch.testing.assert_close(torch.nn.functional.scaled_dot_product_attention(q, q, q), expected)
    assert attention.SDPBackend.MATH != attention.SDPBackend.ERROR and attention.SDPBackend.MATH.name == "MATH"
    with pytest.raises(AssertionError), attention.sdpa_kernel("flash"):
        pass


def test_options_of_linear_cross_entropy(torch):
    options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=4)
    assert (options.batch_chunk_size, options.acc_policy, options.allow_retain_graph) == (4, "auto", False)
    assert options == torch.nn.LinearCrossEntropyOptions(batch_chunk_size=4)


def test_the_hub_downloads_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setattr(ag.hub, "_chosen", None)  # an example in a docstring may have called set_dir
    assert ag.hub.get_dir() == str(tmp_path / "hub")
    for name in ("load", "load_state_dict_from_url", "list"):
        with pytest.raises(NotImplementedError, match=rf"torch.hub.{name}: this package downloads nothing"):
            getattr(ag.hub, name)("owner/name")


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("generalized", [False, True])
def test_lobpcg(largest, generalized):
    rng = np.random.default_rng(0)
    root, other = rng.normal(size=(2, 12, 12))
    A, B = root @ root.T, other @ other.T + 12 * np.eye(12)
    a = ag.tensor(A).requires_grad_()
    b = ag.tensor(B) if generalized else None
    values, vectors = ag.lobpcg(a, k=3, B=b, largest=largest)
    weighted = ag.tensor(B) if generalized else ag.eye(12, dtype=ag.float64)
    np.testing.assert_allclose((a @ vectors).detach(), (weighted @ vectors * values).detach(), atol=1e-9)
    everything = np.sort(np.linalg.eigvals(np.linalg.solve(B, A) if generalized else A).real)
    np.testing.assert_allclose(values.detach(), everything[::-1][:3] if largest else everything[:3])
    assert ag.autograd.gradcheck(lambda a: ag.lobpcg(a + a.mT, k=2, B=b, largest=largest)[0], a)


@pytest.mark.parametrize("generalized", [False, True])
def test_lobpcg_takes_both_triangles(generalized):
    """Only the lower one had a say in the values; the gradient was that of both."""
    a = ag.tensor(np.random.default_rng(0).normal(size=(6, 6)))
    b = ag.eye(6, dtype=ag.float64) * 3 if generalized else None
    for x, y in zip(ag.lobpcg(a, 2, b), ag.lobpcg(a + a.mT, 2, b), strict=True):
        np.testing.assert_allclose(x * (2 if x.ndim == 1 else 1), y, atol=1e-12)
    a.requires_grad_()
    ag.lobpcg(a, 2, b)[0].sum().backward()
    assert ag.equal(a.grad, a.grad.mT)
    assert ag.autograd.gradcheck(lambda a: ag.lobpcg(a, 2, b)[0], a)


def test_lobpcg_is_that_of_pytorch():
    torch = pytest.importorskip("torch")
    A = np.diag(np.arange(1.0, 10.0)) + 0.1
    ours, theirs = ag.lobpcg(ag.tensor(A), k=2), torch.lobpcg(torch.tensor(A), k=2)
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-6)
    np.testing.assert_allclose(ours[1].abs(), theirs[1].abs(), atol=1e-2)
    for package in (ag, torch):
        with pytest.raises(ValueError, match=r"number of A rows \(=3\) is smaller than 3 x"):
            package.lobpcg(package.eye(3), k=2)



def test_settings_of_autocast(torch):
    for call, expected in (("get_autocast_dtype", torch.bfloat16), ("is_autocast_enabled", False)):
        assert getattr(torch, call)("cpu") == expected
    assert torch.get_autocast_dtype("cuda") == torch.float16 and torch.is_autocast_cache_enabled()
    assert torch.clear_autocast_cache() is None and torch.set_autocast_enabled("cpu", False) is None
    assert torch.get_device_module("cuda") is torch.cuda and torch.get_device_module() is torch.cpu
    assert torch.has_lapack and torch.GradScaler is torch.amp.GradScaler


def test_functions_that_pytorch_writes_in_python(torch):
    functional = module(torch, "functional")
    for name in functional.__all__:
        assert getattr(functional, name) is getattr(torch, name), name


def test_types_of_sizes(torch):
    types = module(torch, "nn.common_types")
    assert types._size_2_t == int | tuple[int, int] or "int" in str(types._size_2_t)
    assert types._size_any_t is not None and types._ratio_3_t is not None


def test_a_number_for_each_tensor(torch):
    x = torch.ones(2)
    assert type(x._cdata) is int and x._cdata == x._cdata != x.detach()._cdata


def test_errors_by_their_names_in_c(torch):
    with pytest.raises(torch._C._LinAlgError, match="singular"):
        torch.linalg.inv(torch.zeros(2, 2))
    assert torch._C._LinAlgError is torch.linalg.LinAlgError and torch._C.OutOfMemoryError is torch.OutOfMemoryError
    assert torch._C.AcceleratorError is torch.AcceleratorError


def test_draws_that_distributions_of_libraries_are_made_of(torch):
    a = torch.tensor([0.3, 2.0, 50.0], dtype=torch.float64, requires_grad=True)
    x = torch._standard_gamma(a.expand(2000, 3))
    assert (x > 0).all() and torch.allclose(x.mean(0), a, rtol=0.2)
    (g,) = torch.autograd.grad(x[0].sum(), a)
    assert torch.allclose(g, torch._standard_gamma_grad(a, x[0]).detach())
    shares = torch._sample_dirichlet(a.detach().expand(2000, 3))
    assert torch.allclose(shares.sum(-1), torch.ones(2000, dtype=torch.float64))
    assert torch.allclose(shares.mean(0), a / a.sum(), atol=0.02)
    for draw in (torch._standard_gamma, torch._sample_dirichlet):
        one, other = (draw(a.detach(), generator=torch.Generator().manual_seed(3)) for _ in range(2))
        assert torch.equal(one, other)


def test_a_with_block_in_which_a_module_has_other_parameters(torch):
    stateless = module(torch, "nn.utils.stateless")
    layer, x = torch.nn.Linear(2, 1), torch.ones(2)
    own = dict(layer.named_parameters())
    given = {"weight": torch.tensor([[2.0, 3.0]], requires_grad=True)}
    with stateless._reparametrize_module(layer, given):
        y = layer(x) - layer.bias
        assert layer.weight is given["weight"]
    y.backward()
    assert layer.weight is own["weight"] and given["weight"].grad.tolist() == [[1, 1]] and own["weight"].grad is None
    with pytest.raises(ZeroDivisionError), stateless._reparametrize_module(layer, given):
        1 / 0  # noqa: B018
    assert layer.weight is own["weight"]
    with pytest.raises(RuntimeError, match="Missing key"):
        with stateless._reparametrize_module(layer, given, strict=True):
            pass
    tied = torch.nn.ModuleDict({"a": layer, "b": layer})
    with stateless._reparametrize_module(tied, {"a.weight": given["weight"]}, tie_weights=True):
        assert tied["b"].weight is given["weight"]


def test_tensors_without_elements_are_set_to_their_own_storage_only():
    """None of them has an address, by which they were taken for the same memory."""
    x = ag.tensor([])
    assert x.is_set_to(x) and x.is_set_to(x.view(0)) and not x.is_set_to(ag.tensor([])) and not x.is_set_to(x.double())
