"""nn.utils and nn.init: on PyTorch's numbers where it is installed, and by what they promise where it is not."""

import copy
import math
import pickle
import warnings
from collections import OrderedDict

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import nn
from autograd_cy.nn.utils import parametrizations, parametrize


def linear(torch, rows=3, columns=4):
    layer = torch.nn.Linear(columns, rows)
    numbers = np.random.default_rng(0).normal(size=rows * columns + rows).astype(np.float32)
    layer.weight.data = torch.tensor(numbers[rows:].reshape(rows, columns).tolist())
    layer.bias.data = torch.tensor(numbers[:rows].tolist())
    return layer


def with_gradients(torch):
    parameters = list(linear(torch).parameters())
    for p in parameters:
        p.grad = p.detach() * 3
    return [*parameters, torch.ones(2, requires_grad=True)]


def clipped_norm(torch, kind):
    parameters = with_gradients(torch)
    norm = torch.nn.utils.clip_grad_norm_(parameters, 1.5, norm_type=kind)
    return [norm, *[p.grad for p in parameters[:2]]]


def clipped_value(torch, _):
    parameters = with_gradients(torch)
    torch.nn.utils.clip_grad_value_(parameters, 1.0)
    return [p.grad for p in parameters[:2]]


def vector(torch, _):
    layer = linear(torch)
    flat = torch.nn.utils.parameters_to_vector(layer.parameters())
    torch.nn.utils.vector_to_parameters(flat.detach() * 2, layer.parameters())
    return [flat, layer.weight, layer.bias]


def weight_norm(torch, dim):
    layer = torch.nn.utils.parametrizations.weight_norm(linear(torch), dim=dim)
    layer(torch.ones(2, 4)).pow(2).sum().backward()
    tensors = [layer.weight, *layer.state_dict().values(), *[p.grad for p in layer.parameters()]]
    return [*tensors, torch.nn.utils.parametrize.remove_parametrizations(layer, "weight").weight]


def older_weight_norm(torch, dim):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        layer = torch.nn.utils.weight_norm(linear(torch), dim=dim)
    layer(torch.ones(2, 4)).pow(2).sum().backward()
    state, gradients = layer.state_dict(), [layer.weight_g.grad, layer.weight_v.grad, layer.bias.grad]
    newer = torch.nn.utils.parametrizations.weight_norm(linear(torch), dim=dim)
    newer.load_state_dict(state)
    return [*state.values(), *gradients, newer.weight, torch.nn.utils.remove_weight_norm(layer).weight]


def spectral_norm(torch, kind):
    norm = (torch.nn.utils if kind == "older" else torch.nn.utils.parametrizations).spectral_norm
    layer = norm(linear(torch), n_power_iterations=3)
    u, v = (layer.weight_u, layer.weight_v) if kind == "older" else layer.parametrizations.weight[0].buffers()
    u.copy_(torch.tensor([1.0, 0.0, 0.0]))
    v.copy_(torch.tensor([1.0, 0.0, 0.0, 0.0]))
    layer(torch.ones(2, 4)).sum().backward()
    gradients = [p.grad for p in layer.parameters()]
    return [u, v, layer.eval()(torch.ones(1, 4)), *gradients]


def orthogonal(torch, kind):
    layer = linear(torch, *((4, 4) if kind != "householder" else (5, 3)))
    trivial = kind == "householder" or kind == "from identity"
    name = "matrix_exp" if trivial and kind != "householder" else kind
    layer = torch.nn.utils.parametrizations.orthogonal(layer, orthogonal_map=name, use_trivialization=not trivial)
    layer.weight.pow(3).sum().backward()
    return [layer.weight, layer.parametrizations.weight.original.grad]


def fused(torch, _):
    layer, ones = linear(torch).eval(), torch.ones(3)
    numbers = torch.tensor([0.5, 1.5, 2.5])
    fusion = torch.nn.utils.fusion
    conv = torch.nn.Parameter(linear(torch, 3, 4).weight.reshape(3, 2, 2).detach())
    return [
        *fusion.fuse_linear_bn_weights(layer.weight, layer.bias, numbers, numbers, 1e-5, numbers * 2, ones),
        *fusion.fuse_conv_bn_weights(conv, None, numbers, numbers, 1e-5, None, None),
        *fusion.fuse_conv_bn_weights(conv.detach().permute(1, 0, 2), ones, numbers, numbers, 1e-5, ones, ones, transpose=True),
    ]


CASES = [
    *[(clipped_norm, kind) for kind in (1, 2.0, 3, math.inf)], (clipped_value, None), (vector, None), (fused, None),
    *[(norm, dim) for norm in (weight_norm, older_weight_norm) for dim in (0, 1, None)],
    (spectral_norm, "older"), (spectral_norm, "newer"),
    *[(orthogonal, kind) for kind in ("matrix_exp", "cayley", "householder", "from identity")],
]  # fmt: skip


@pytest.mark.parametrize(("case", "argument"), CASES, ids=lambda x: getattr(x, "__name__", str(x)))
def test_numbers_are_those_of_torch(case, argument):
    torch = pytest.importorskip("torch")
    ours, theirs = case(ag, argument), case(torch, argument)
    for a, b in zip(ours, theirs, strict=True):
        assert a.shape == tuple(b.shape) and a.requires_grad == b.requires_grad
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=2e-5, atol=2e-6)


def test_norms_that_are_not_finite_are_refused_if_asked_for():
    w = ag.ones(2, requires_grad=True)
    w.grad = ag.tensor([math.inf, 1.0])
    with pytest.raises(RuntimeError, match="non-finite"):
        nn.utils.clip_grad_norm_(w, 1.0, error_if_nonfinite=True)
    assert w.grad.tolist() == [math.inf, 1.0]
    with pytest.warns(UserWarning, match="empty generator"):
        assert nn.utils.clip_grad_norm_((p for p in ()), 1.0).item() == 0.0


class Doubled(nn.Module):
    def forward(self, x):
        return x * 2

    def right_inverse(self, x):
        return x / 2


class Cut(nn.Module):
    def forward(self, x):
        return x[:1]


def test_parametrizations_are_applied_one_after_the_other_and_inverted():
    layer = linear(ag)
    before = layer.weight.detach().clone()
    original = layer.weight
    parametrize.register_parametrization(layer, "weight", Doubled())
    parametrize.register_parametrization(layer, "weight", Doubled())
    assert ag.equal(layer.weight, before * 2) and layer.parametrizations.weight.original is original
    layer.weight = ag.ones(3, 4)
    assert ag.equal(layer.weight, ag.ones(3, 4)) and type(layer).__name__ == "ParametrizedLinear"
    assert parametrize.is_parametrized(layer, "weight") and not parametrize.is_parametrized(layer, "bias")
    assert [name for name, _ in layer.named_parameters()] == ["bias", "parametrizations.weight.original"]
    twin = copy.deepcopy(layer)
    assert ag.equal(twin.weight, layer.weight) and twin.parametrizations is not layer.parametrizations
    with parametrize.cached():
        assert layer.weight is layer.weight and twin.weight is not layer.weight
    assert layer.weight is not layer.weight
    with pytest.raises(RuntimeError, match="only supported through state_dict"):
        pickle.dumps(layer)
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    assert type(layer) is nn.Linear and ag.equal(layer.weight, ag.full((3, 4), 0.25)) and "parametrizations" not in dir(layer)


def test_parametrizations_that_change_the_tensor_are_refused():
    layer = linear(ag)
    with pytest.raises(ValueError, match="may not change the shape of the tensor, unless `unsafe` flag is enabled"):
        parametrize.register_parametrization(layer, "weight", Cut())
    assert type(layer) is nn.Linear and list(layer._parameters) == ["weight", "bias"]
    parametrize.register_parametrization(layer, "weight", Doubled())
    with pytest.raises(ValueError, match="may not change the shape of the tensor, unless the `unsafe` flag is enabled"):
        parametrize.register_parametrization(layer, "weight", Cut())
    with pytest.raises(ValueError, match="does not have a parameter, a buffer, or a parametrized element with name 'none'"):
        parametrize.register_parametrization(layer, "none", Doubled())
    with pytest.raises(ValueError, match="does not have a parametrization on bias"):
        parametrize.remove_parametrizations(layer, "bias")
    with pytest.raises(RuntimeError, match="does not implement right_inverse"):
        bias = nn.Linear(1, 1)
        parametrize.register_parametrization(bias, "bias", nn.Sequential(nn.Identity()))
        bias.bias = ag.ones(1)


def test_parametrizations_are_transferred():
    source, target = parametrizations.weight_norm(linear(ag)), linear(ag)
    parametrize.transfer_parametrizations_and_params(source, target)
    assert target.parametrizations.weight.original0 is source.parametrizations.weight.original0


@pytest.mark.parametrize("name", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (5, 2)])
def test_orthogonal_matrices_start_where_they_were(name, shape):
    layer = nn.Linear(shape[1], shape[0], dtype=ag.float64)
    nn.init.orthogonal_(layer.weight)
    before = layer.weight.detach().clone()
    layer = parametrizations.orthogonal(layer, orthogonal_map=name)
    assert ag.allclose(layer.weight, before, atol=1e-12)
    layer.parametrizations.weight.original.data.add_(ag.rand(*shape, dtype=ag.float64))
    assert parametrizations._Orthogonal.__name__ == "_Orthogonal"
    w = layer.weight.detach()
    product = w @ w.T if shape[0] < shape[1] else w.T @ w
    if name != "householder":  # of that the diagonal has to be -1 or 1
        assert ag.allclose(product, ag.eye(min(shape), dtype=ag.float64), atol=1e-12)


def test_modules_made_without_random_numbers():
    ag.manual_seed(0)
    expected = ag.rand(1)
    ag.manual_seed(0)
    layer = nn.utils.skip_init(nn.Linear, 2, 3)
    assert ag.equal(ag.rand(1), expected) and layer.weight.shape == (3, 2)
    with pytest.raises(RuntimeError, match="must support a 'device' arg"):
        nn.utils.skip_init(nn.Sequential)


def test_functional_call_by_its_older_name():
    layer = linear(ag)
    with pytest.warns(FutureWarning, match="is deprecated"):
        y = nn.utils.stateless.functional_call(layer, {"weight": ag.zeros(3, 4)}, ag.ones(4))
    assert ag.equal(y, layer.bias)
    assert ag.equal(ag.func.functional_call(layer, {"bias": ag.zeros(3), "weight": ag.zeros(3, 4)}, ag.ones(4)), ag.zeros(3))


# init


def drawn(name, *args, shape=(200, 300), **kwargs):
    ag.manual_seed(1)
    return getattr(nn.init, name)(nn.Parameter(ag.empty(*shape)), *args, **kwargs)


@pytest.mark.filterwarnings("ignore:mean is more than 2 std")
@pytest.mark.parametrize(
    ("tensor", "mean", "std"),
    [
        (lambda: drawn("uniform_", -1, 3), 1, 4 / math.sqrt(12)),
        (lambda: drawn("normal_", 2, 3), 2, 3),
        (lambda: drawn("trunc_normal_"), 0, 0.8796),
        (lambda: drawn("trunc_normal_", 0, 1, 3, 5), 3.2831, 0.2626),
        (lambda: drawn("xavier_uniform_", 2), 0, 2 * math.sqrt(2 / 500)),
        (lambda: drawn("xavier_normal_"), 0, math.sqrt(2 / 500)),
        (lambda: drawn("kaiming_uniform_", nonlinearity="relu"), 0, math.sqrt(2 / 300)),
        (lambda: drawn("kaiming_normal_", 1, "fan_out"), 0, math.sqrt(1 / 200)),
        (lambda: drawn("kaiming_normal_", shape=(20, 30, 3, 4)), 0, math.sqrt(2 / (1 + 1e-4) / 360) * math.sqrt(1.0001)),
    ],
)
def test_drawn_numbers_have_their_mean_and_deviation(tensor, mean, std):
    w = tensor().detach()
    assert w.mean().item() == pytest.approx(mean, abs=0.02 * std + 1e-3) and w.std().item() == pytest.approx(std, rel=0.02)


@pytest.mark.filterwarnings("ignore:mean is more than 2 std")
def test_truncated_numbers_lie_within():
    for a, b in ((-0.1, 0.1), (4, 6), (-2, 2)):
        w = drawn("trunc_normal_", 0.0, 1.0, a, b)
        assert a <= w.min().item() and w.max().item() <= b
    with pytest.warns(UserWarning, match="more than 2 std"):
        nn.init.trunc_normal_(ag.empty(2), 10, 1, -1, 1)


def test_patterns():
    assert drawn("eye_", shape=(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert (drawn("sparse_", 0.3, shape=(10, 4)) == 0).sum(0).tolist() == [3] * 4
    w = drawn("dirac_", 2, shape=(4, 2, 3, 3)).detach()
    assert w.sum().item() == 4 and w[2, 0, 1, 1].item() == w[3, 1, 1, 1].item() == 1
    for shape in ((3, 5), (5, 3), (4, 2, 3)):
        q = drawn("orthogonal_", 2, shape=shape).detach().flatten(1)
        product = q @ q.T if q.shape[0] < q.shape[1] else q.T @ q
        assert ag.allclose(product, 4 * ag.eye(len(product)), atol=1e-5)
    assert drawn("constant_", 3, shape=(2,)).tolist() == [3, 3] and drawn("zeros_", shape=(1,)).requires_grad


@pytest.mark.parametrize("library", ["ours", "torch"])
def test_init_refuses(library):
    torch = ag if library == "ours" else pytest.importorskip("torch")
    init, one, three = torch.nn.init, torch.empty(1), torch.empty(2, 2, 2)
    for call, text in (
        (lambda: init.xavier_normal_(one), "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"),
        (lambda: init.eye_(three), "Only tensors with 2 dimensions are supported"),
        (lambda: init.sparse_(three, 0.1), "Only tensors with 2 dimensions are supported"),
        (lambda: init.dirac_(one), "Only tensors with 3, 4, or 5 dimensions are supported"),
        (lambda: init.dirac_(three, 3), "dim 0 must be divisible by groups"),
        (lambda: init.orthogonal_(one), "Only tensors with 2 or more dimensions are supported"),
        (lambda: init.calculate_gain("none"), "Unsupported nonlinearity none"),
        (lambda: init.calculate_gain("leaky_relu", "a"), "negative_slope a not a valid number"),
        (lambda: init.kaiming_normal_(three, mode="fan"), "Mode fan not supported, please use one of "),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.warns(UserWarning, match="zero-element"):
        init.kaiming_uniform_(torch.empty(0, 2))
    with pytest.warns(FutureWarning, match=r"`nn.init.normal` is now deprecated in favor of `nn.init.normal_`"):
        init.normal(one)
    assert [init.calculate_gain(n) for n in ("linear", "conv2d", "tanh", "selu")] == [1, 1, 5 / 3, 0.75]


def test_a_refused_gain_leaves_the_weight_as_it_is():
    w = ag.ones(3, 2)
    with pytest.raises(RuntimeError, match="result type ComplexFloat"):
        ag.nn.init.orthogonal_(w, ag.tensor(1j))
    assert w.tolist() == ag.ones(3, 2).tolist()


@pytest.mark.parametrize("prefix", ["module.", "pre_", ""])
def test_prefixes_of_state_dicts(prefix):
    torch = pytest.importorskip("torch")
    found = []
    for lib in (torch, ag):
        state = OrderedDict({"module.a.w": 1, "b": 2, "module.module.c": 3, "x.module.d": 4, "pre_e": 5, "module": 6})
        state._metadata = OrderedDict(
            {"": 1, "module": 2, "module.a": 3, "modules": 4, "b": 5, "pre": 6, "pre_": 7, "pre_e": 8}
        )
        lib.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, prefix)
        found.append((dict(state), dict(state._metadata)))
    assert found[0] == found[1]


def test_a_wrapped_modules_state_can_be_loaded_without_the_wrapper():
    module = nn.Sequential(nn.Linear(2, 2))
    state = nn.DataParallel(module).state_dict()
    nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert state._metadata == module.state_dict()._metadata
    assert not any(nn.Sequential(nn.Linear(2, 2)).load_state_dict(state))
    plain = {"module.0.weight": 1}
    nn.modules.utils.consume_prefix_in_state_dict_if_present(plain, "module.")
    assert plain == {"0.weight": 1}


def test_gradients_of_convolutions_stand_in_functional_as_well():
    assert nn.functional.grad is nn.grad


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_instance_norms_know_their_rank_without_a_batch(dims):
    assert getattr(nn, f"InstanceNorm{dims}d")(2)._get_no_batch_dim() == dims + 1
