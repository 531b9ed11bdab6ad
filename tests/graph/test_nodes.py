"""Names of nodes and what they save, op by op, as PyTorch's users see them."""

import math

import pytest
from common import leaf

import autograd_cy as torch

F = torch.nn.functional


def positive(*shape, dtype=torch.float64):
    values = torch.arange(1, math.prod(shape) + 1) / 4
    return values.reshape(shape).to(dtype).requires_grad_()


class Inputs:
    """The operands of the expressions below."""

    def __init__(self):
        self.x, self.y, self.m, self.v = positive(2, 3), positive(2, 3), positive(3, 4), positive(3)
        self.square, self.bias = positive(3, 3), positive(4)
        self.batch, self.batch2 = positive(5, 2, 3), positive(5, 3, 4)
        self.z = positive(2, 3, dtype=torch.complex128)
        self.index, self.mask = torch.tensor([0, 1, 1]), self.x.detach() > 1


MM = "mat2 mat2_sym_sizes mat2_sym_strides self self_sym_sizes self_sym_strides"
ADDMM = "alpha beta mat1 mat1_sym_sizes mat1_sym_strides mat2 mat2_sym_sizes mat2_sym_strides"
LOSS = "ignore_index reduction self target total_weight weight"

NODES = [
    # elementwise
    ("x + y", lambda i: i.x + i.y, "AddBackward0", "alpha"),
    ("x + 1", lambda i: i.x + 1, "AddBackward0", "alpha"),
    ("1 + x", lambda i: 1 + i.x, "AddBackward0", "alpha"),
    ("x - y", lambda i: i.x - i.y, "SubBackward0", "alpha"),
    ("1 - x", lambda i: 1 - i.x, "RsubBackward1", "alpha"),
    ("x * y", lambda i: i.x * i.y, "MulBackward0", "other self"),
    ("x / y", lambda i: i.x / i.y, "DivBackward0", "other self"),
    ("1 / x", lambda i: 1 / i.x, "MulBackward0", "other self"),
    ("x ** 2", lambda i: i.x**2, "PowBackward0", "exponent self"),
    ("x ** y", lambda i: i.x**i.y, "PowBackward1", "exponent result self"),
    ("2 ** x", lambda i: 2**i.x, "PowBackward2", "exponent result self"),
    ("neg", lambda i: -i.x, "NegBackward0", ""),
    ("abs", lambda i: i.x.abs(), "AbsBackward0", "self"),
    ("square", lambda i: i.x.square(), "PowBackward0", "exponent self"),
    ("reciprocal", lambda i: i.x.reciprocal(), "ReciprocalBackward0", "result"),
    ("exp", lambda i: i.x.exp(), "ExpBackward0", "result"),
    ("log", lambda i: i.x.log(), "LogBackward0", "self"),
    ("sqrt", lambda i: i.x.sqrt(), "SqrtBackward0", "result"),
    ("rsqrt", lambda i: i.x.rsqrt(), "RsqrtBackward0", "result"),
    ("sin", lambda i: i.x.sin(), "SinBackward0", "self"),
    ("cos", lambda i: i.x.cos(), "CosBackward0", "self"),
    ("tanh", lambda i: i.x.tanh(), "TanhBackward0", "result"),
    ("sigmoid", lambda i: i.x.sigmoid(), "SigmoidBackward0", "result"),
    ("relu", lambda i: i.x.relu(), "ReluBackward0", "result"),
    ("gelu", lambda i: F.gelu(i.x), "GeluBackward0", "approximate self"),
    ("silu", lambda i: F.silu(i.x), "SiluBackward0", "self"),
    ("erf", lambda i: torch.erf(i.x), "ErfBackward0", "self"),
    ("maximum", lambda i: torch.maximum(i.x, i.y), "MaximumBackward0", "other self"),
    ("minimum", lambda i: torch.minimum(i.x, i.y), "MinimumBackward0", "other self"),
    ("clamp", lambda i: i.x.clamp(0, 1), "ClampBackward1", "max min self"),
    ("clamp by tensors", lambda i: i.x.clamp(i.y, i.y), "ClampBackward0", "max min self"),
    ("where", lambda i: torch.where(i.mask, i.x, i.y), "WhereBackward0", "condition"),
    ("real", lambda i: i.z.real, "SelectBackward0", "dim index self_sym_sizes"),
    ("imag", lambda i: i.z.imag, "SelectBackward0", "dim index self_sym_sizes"),
    ("conj", lambda i: i.z.conj(), "ConjBackward0", ""),
    ("to", lambda i: i.x.to(torch.float32), "ToCopyBackward0", ""),
    ("clone", lambda i: i.x.clone(), "CloneBackward0", ""),
    # reductions
    ("sum", lambda i: i.x.sum(), "SumBackward0", "self_sym_sizes"),
    ("sum(dim)", lambda i: i.x.sum(1), "SumBackward1", "dim keepdim self_sym_sizes"),
    ("mean", lambda i: i.x.mean(), "MeanBackward0", "self_sym_numel self_sym_sizes"),
    ("mean(dim)", lambda i: i.x.mean(1), "MeanBackward1", "dim keepdim self_sym_numel self_sym_sizes"),
    ("prod", lambda i: i.x.prod(), "ProdBackward0", "result self"),
    ("prod(dim)", lambda i: i.x.prod(1), "ProdBackward1", "dim keepdim result self"),
    ("max", lambda i: i.x.max(), "MaxBackward1", "result self"),
    ("min", lambda i: i.x.min(), "MinBackward1", "result self"),
    ("max(dim)", lambda i: i.x.max(1).values, "MaxBackward0", "dim indices keepdim self_sym_sizes"),
    ("min(dim)", lambda i: i.x.min(1).values, "MinBackward0", "dim indices keepdim self_sym_sizes"),
    ("amax", lambda i: i.x.amax(1), "AmaxBackward0", "dim keepdim result self"),
    ("var", lambda i: i.x.var(), "VarBackward0", "correction dim keepdim self"),
    ("std", lambda i: i.x.std(), "StdBackward0", "correction dim keepdim result self"),
    ("var_mean", lambda i: torch.var_mean(i.x, 1)[1], "VarMeanBackward0", "correction dim keepdim self"),
    ("std_mean", lambda i: torch.std_mean(i.x)[0], "StdMeanBackward0", "correction dim keepdim result0 self"),
    ("norm", lambda i: i.x.norm(), "LinalgVectorNormBackward0", "dim keepdim ord result self"),
    ("logsumexp", lambda i: i.x.logsumexp(1), "LogsumexpBackward0", "dim keepdim result self"),
    ("softmax", lambda i: i.x.softmax(1), "SoftmaxBackward0", "dim result"),
    ("log_softmax", lambda i: i.x.log_softmax(1), "LogSoftmaxBackward0", "dim result"),
    ("layer_norm", lambda i: F.layer_norm(i.x, (3,), i.v, i.v), "NativeLayerNormBackward0",
     "bias input normalized_shape result1 result2 weight"),
    ("cumsum", lambda i: i.x.cumsum(1), "CumsumBackward0", "dim"),
    # linear algebra and losses
    ("matrix @ matrix", lambda i: i.x @ i.m, "MmBackward0", MM),
    ("matrix @ vector", lambda i: i.x @ i.v, "MvBackward0", "self vec"),
    ("vector @ vector", lambda i: i.v @ i.v, "DotBackward0", "self tensor"),
    ("batch @ batch", lambda i: i.batch @ i.batch2, "UnsafeViewBackward0", "self_sym_sizes"),
    ("bmm", lambda i: torch.bmm(i.batch, i.batch2), "BmmBackward0", "mat2 self"),
    ("addmm", lambda i: torch.addmm(i.bias, i.x, i.m), "AddmmBackward0", ADDMM),
    ("einsum", lambda i: torch.einsum("ij,jk->ik", i.x, i.m), "ViewBackward0", "self_sym_sizes"),
    ("linear", lambda i: F.linear(i.x, i.m.t()), "MmBackward0", MM),
    ("linear, bias", lambda i: F.linear(i.x, i.m.t(), i.bias), "AddmmBackward0", ADDMM),
    ("cross_entropy", lambda i: F.cross_entropy(i.x, i.index[:2]), "NllLossBackward0", LOSS),
    ("nll_loss", lambda i: F.nll_loss(i.x, i.index[:2]), "NllLossBackward0", LOSS),
    ("mse_loss", lambda i: F.mse_loss(i.x, i.y), "MseLossBackward0", "reduction self target"),
    # shape
    ("view", lambda i: i.x.view(6), "ViewBackward0", "self_sym_sizes"),
    ("reshape", lambda i: i.x.reshape(6), "ViewBackward0", "self_sym_sizes"),
    ("reshape, strided", lambda i: i.x.t().reshape(6), "UnsafeViewBackward0", "self_sym_sizes"),
    ("flatten", lambda i: i.x.flatten(), "ViewBackward0", "self_sym_sizes"),
    ("t()", lambda i: i.x.t(), "TBackward0", ""),
    ("T", lambda i: i.x.T, "PermuteBackward0", "dims"),
    ("transpose", lambda i: i.x.transpose(0, 1), "TransposeBackward0", "dim0 dim1"),
    ("permute", lambda i: i.x.permute(1, 0), "PermuteBackward0", "dims"),
    ("contiguous", lambda i: i.x.t().contiguous(), "CloneBackward0", ""),
    ("unsqueeze", lambda i: i.x.unsqueeze(0), "UnsqueezeBackward0", "dim"),
    ("squeeze()", lambda i: i.x.squeeze(), "SqueezeBackward0", "self_sym_sizes"),
    ("squeeze(dim)", lambda i: i.x.squeeze(0), "SqueezeBackward1", "dim self_sym_sizes"),
    ("expand", lambda i: i.x.expand(4, 2, 3), "ExpandBackward0", "self_sym_sizes"),
    ("stack", lambda i: torch.stack([i.x, i.y]), "StackBackward0", "dim"),
    ("cat", lambda i: torch.cat([i.x, i.y]), "CatBackward0", "dim"),
    ("split", lambda i: i.x.split(2, 1)[0], "SplitBackward0", "dim self_sym_sizes split_size"),
    ("split by sizes", lambda i: i.x.split([1, 2], 1)[0], "SplitWithSizesBackward0",
     "dim self_sym_sizes split_sizes"),
    ("unbind", lambda i: i.x.unbind()[0], "UnbindBackward0", "dim"),
    ("flip", lambda i: i.x.flip(0), "FlipBackward0", "dims"),
    ("diagonal", lambda i: i.square.diagonal(), "DiagonalBackward0", "dim1 dim2 offset self_sym_sizes"),
    # indexing
    ("x[0]", lambda i: i.x[0], "SelectBackward0", "dim index self_sym_sizes"),
    ("x[1:]", lambda i: i.x[1:], "SliceBackward0", "dim end self_sym_sizes start step"),
    ("x[None]", lambda i: i.x[None], "UnsqueezeBackward0", "dim"),
    ("x[index]", lambda i: i.x[:, i.index], "IndexBackward0", "indices self_sym_sizes"),
    ("x[mask]", lambda i: i.x[i.mask], "IndexBackward0", "indices self_sym_sizes"),
    ("index_select", lambda i: i.x.index_select(1, i.index), "IndexSelectBackward0",
     "dim index self_sym_sizes"),
    ("gather", lambda i: i.x.gather(1, i.index[None, :]), "GatherBackward0", "dim index self sparse_grad"),
]


def saved(node):
    return [name.removeprefix("_saved_") for name in dir(node) if name.startswith("_saved_")]


@pytest.mark.parametrize("expression, name, attributes", [pytest.param(*row[1:], id=row[0]) for row in NODES])
def test_node_names_and_saved_attributes(expression, name, attributes):
    node = expression(Inputs()).grad_fn
    assert type(node).__name__ == node.name() == name
    assert saved(node) == attributes.split()
    for attribute in saved(node):
        getattr(node, f"_saved_{attribute}")


VALUES = [
    ("x + 2y", lambda i: torch.add(i.x, i.y, alpha=2), {"alpha": 2}),
    ("x ** 3", lambda i: i.x**3, {"exponent": 3}),
    ("clamp", lambda i: i.x.clamp(0, 1), {"min": 0, "max": 1}),
    ("clamp(min)", lambda i: i.x.clamp(min=0), {"min": 0, "max": None}),
    ("sum", lambda i: i.x.sum(), {"self_sym_sizes": (2, 3)}),
    ("sum(dim)", lambda i: i.x.sum(1, keepdim=True), {"dim": (1,), "keepdim": True}),
    ("max(dim)", lambda i: i.x.max(1).values, {"dim": 1, "keepdim": False}),
    ("mean", lambda i: i.x.mean(), {"self_sym_numel": 6}),
    ("norm", lambda i: i.x.norm(), {"ord": 2, "dim": None}),
    ("softmax", lambda i: i.x.softmax(1), {"dim": 1}),
    ("mm", lambda i: i.x @ i.m, {"self_sym_sizes": (2, 3), "mat2_sym_strides": (4, 1)}),
    ("permute", lambda i: i.x.permute(1, 0), {"dims": (1, 0)}),
    ("split", lambda i: i.x.split(2, 1)[0], {"dim": 1, "split_size": 2}),
    ("x[:, 2]", lambda i: i.x[:, 2], {"dim": 1, "index": 2, "self_sym_sizes": (2, 3)}),
    ("x[1:]", lambda i: i.x[1:], {"dim": 0, "start": 1, "step": 1}),
    ("diagonal", lambda i: i.square.diagonal(1), {"offset": 1, "dim1": 0, "dim2": 1}),
    ("gelu", lambda i: F.gelu(i.x), {"approximate": "none"}),
]


@pytest.mark.parametrize("expression, values", [pytest.param(*row[1:], id=row[0]) for row in VALUES])
def test_saved_arguments_have_their_values(expression, values):
    node = expression(Inputs()).grad_fn
    assert {name: getattr(node, f"_saved_{name}") for name in values} == values


def test_saved_inputs_are_the_inputs():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    node = (x * y).grad_fn
    assert node._saved_self is x and node._saved_other is y


def test_a_saved_output_belongs_to_its_node():
    y = leaf([1.0, 2.0]).exp()
    result = y.grad_fn._saved_result
    assert result.tolist() == y.tolist() and result.grad_fn is y.grad_fn


def test_only_what_a_gradient_needs_is_saved():
    x, c = leaf([1.0, 2.0]), torch.ones(2, dtype=torch.float64)
    node = (x * c).grad_fn
    assert node._saved_self is None and node._saved_other is c


def test_saved_index_tensors():
    i = Inputs()
    before, index = i.x[:, i.index].grad_fn._saved_indices
    assert before is None and index.tolist() == [0, 1, 1]


def test_saved_values_are_gone_once_the_graph_is_freed():
    y = leaf(2.0).exp()
    y.backward()
    with pytest.raises(RuntimeError, match=r"second time \(or directly access saved tensors"):
        y.grad_fn._saved_result  # noqa: B018


def test_the_number_of_samples_is_saved_as_an_integer():
    """`_saved_other` of the mean over probabilities was a float."""
    x = torch.zeros(3, 4, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(x, torch.full((3, 4), 0.25))
    assert loss.grad_fn.name() == "DivBackward1"
    assert loss.grad_fn._saved_other == 3 and type(loss.grad_fn._saved_other) is int


def test_a_dict_of_hooks():
    """`_register_hook_dict` was missing: the hooks in a tensor's `_backward_hooks` run before the node."""
    seen = []
    holder, x = torch.ones(2), torch.ones(2, requires_grad=True)
    holder.requires_grad_().register_hook(lambda g: seen.append(g.tolist()) or g * 10)
    y = x * 3
    assert y.grad_fn._register_hook_dict(holder) is None
    y.sum().backward()
    assert seen == [[1.0, 1.0]] and x.grad.tolist() == [30.0, 30.0]


@pytest.mark.parametrize("value", [None, [1], 3, {}])
def test_a_dict_of_hooks_comes_with_a_tensor(value):
    y = torch.ones(2, requires_grad=True) * 3
    with pytest.raises(TypeError, match="_register_hook_dict expected a variable"):
        y.grad_fn._register_hook_dict(value)
