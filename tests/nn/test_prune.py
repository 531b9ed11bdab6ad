"""nn.utils.prune: PyTorch's masks where it is installed, and what pruning promises where it is not."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.nn.utils import prune

SCORES = [[0.3, -2.0, 0.1], [1.0, 0.2, -0.7], [0.05, 0.6, -0.4], [1.5, -1.1, 0.9]]


@pytest.fixture(scope="module")
def torch():
    pytest.importorskip("torch.nn.utils.prune")
    return pytest.importorskip("torch")


def layer(lib):
    made = lib.nn.Linear(3, 4)
    made.weight.data = lib.tensor(SCORES)
    made.bias.data = lib.tensor([0.5, -0.1, 0.2, 2.0])
    return made


class Halved:
    """A method of one's own, of either library."""

    @staticmethod
    def of(lib, kind="unstructured"):
        def compute_mask(self, t, default_mask):
            mask = default_mask.clone()
            mask.reshape(-1)[: t.numel() // 2] = 0
            return mask

        members = {"PRUNING_TYPE": kind, "compute_mask": compute_mask}
        return type("Halved", (lib.nn.utils.prune.BasePruningMethod,), members)


STEPS = {
    "identity": lambda p, m: p.identity(m, "weight"),
    "l1": lambda p, m: p.l1_unstructured(m, "weight", 5),
    "l1 share": lambda p, m: p.l1_unstructured(m, "weight", 0.3),
    "l1 nothing": lambda p, m: p.l1_unstructured(m, "weight", 0),
    "l1 scores": lambda p, m: p.l1_unstructured(m, "weight", 3, importance_scores=m.weight.detach() ** 2 - 0.3),
    "l1 bias": lambda p, m: p.l1_unstructured(m, "bias", 0.5),
    "ln rows": lambda p, m: p.ln_structured(m, "weight", 2, 2, 0),
    "ln columns": lambda p, m: p.ln_structured(m, "weight", 1, 1, -1),
    "ln largest": lambda p, m: p.ln_structured(m, "weight", 0.5, float("inf"), dim=0),
    "ln scores": lambda p, m: p.ln_structured(m, "weight", 1, 2, 1, importance_scores=-m.weight.detach().abs() + 3),
    "random all": lambda p, m: p.random_unstructured(m, "weight", 1.0),
    "random rows": lambda p, m: p.random_structured(m, "weight", 4, 0),
}


def compare(ours, theirs):
    assert sorted(ours.state_dict()) == sorted(theirs.state_dict())
    for name, value in theirs.state_dict().items():
        np.testing.assert_array_equal(ours.state_dict()[name].numpy(), value.numpy())
    np.testing.assert_array_equal(ours.weight.detach().numpy(), theirs.weight.detach().numpy())
    assert sorted(n for n, _ in ours.named_parameters()) == sorted(n for n, _ in theirs.named_parameters())
    assert ours.weight.requires_grad == theirs.weight.requires_grad


@pytest.mark.parametrize("second", [None, "l1", "l1 bias", "ln rows", "ln columns", "identity"])
@pytest.mark.parametrize("first", STEPS)
def test_masks_are_those_of_pytorch(torch, first, second):
    """One step of pruning, or another on top of it: the masks, the products, and what is called what."""
    layers = {lib: layer(lib) for lib in (ag, torch)}
    outcome = {}
    for lib, made in layers.items():
        try:
            for step in filter(None, (first, second)):
                assert STEPS[step](lib.nn.utils.prune, made) is made
            outcome[lib] = None
        except (ValueError, RuntimeError) as error:
            outcome[lib] = str(error)
    assert outcome[ag] == outcome[torch]
    if outcome[ag] is None:
        compare(layers[ag], layers[torch])
        assert prune.is_pruned(layers[ag])


@pytest.mark.parametrize("kind", ["unstructured", "global"])
def test_a_method_of_ones_own(torch, kind):
    layers = [layer(ag), layer(torch)]
    for lib, made in zip((ag, torch), layers, strict=True):
        for _ in range(2):
            Halved.of(lib, kind).apply(made, "weight")
        lib.nn.utils.prune.custom_from_mask(made, "bias", lib.tensor([1, 0, 0, 1]))
    compare(*layers)
    t, mask = ag.tensor([1.0, 2.0, 3.0, 4.0]), ag.tensor([1.0, 1.0, 0.0, 1.0])
    assert Halved.of(ag)().prune(t).tolist() == [0, 0, 3, 4]
    assert Halved.of(ag)().prune(t, default_mask=mask).tolist() == [0, 0, 0, 4]


@pytest.mark.parametrize("scored", [False, True])
def test_many_tensors_as_one(torch, scored):
    made = {}
    for lib in (ag, torch):
        first, second = layer(lib), layer(lib)
        pairs = [(first, "weight"), (second, "weight"), (second, "bias")]
        scores = {pairs[0]: first.weight.detach() * 10} if scored else None
        for amount in (7, 0.25):
            method = lib.nn.utils.prune.L1Unstructured
            lib.nn.utils.prune.global_unstructured(pairs, method, importance_scores=scores, amount=amount)
        made[lib] = (first, second)
    for ours, theirs in zip(made[ag], made[torch], strict=True):
        compare(ours, theirs)


def test_training_moves_what_is_not_masked(torch):
    grads = {}
    for lib in (ag, torch):
        made = lib.nn.utils.prune.l1_unstructured(layer(lib), "weight", 6)
        optimizer = lib.optim.SGD(made.parameters(), lr=0.5)
        for _ in range(2):
            optimizer.zero_grad()
            made(lib.ones(2, 3)).pow(2).sum().backward()
            optimizer.step()
        made(lib.ones(2, 3))
        grads[lib] = [made.weight_orig.grad, made.weight.detach(), lib.nn.utils.prune.remove(made, "weight").weight.detach()]
        assert not lib.nn.utils.prune.is_pruned(made)
        assert isinstance(made.weight, lib.nn.Parameter)
    for ours, theirs in zip(*grads.values(), strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)


@pytest.mark.parametrize("bad", [
    lambda p, m, T: p.l1_unstructured(m, "weight", "much"), lambda p, m, T: p.l1_unstructured(m, "weight", -1),
    lambda p, m, T: p.l1_unstructured(m, "weight", 1.5), lambda p, m, T: p.random_unstructured(m, "weight", -0.5),
    lambda p, m, T: p.l1_unstructured(m, "weight", 13), lambda p, m, T: p.ln_structured(m, "weight", 5, 2, 0),
    lambda p, m, T: p.ln_structured(m, "bias", 1, 2, 0), lambda p, m, T: p.random_structured(m, "weight", 1, 2),
    lambda p, m, T: p.remove(m, "weight"),
    lambda p, m, T: p.l1_unstructured(m, "weight", 1, importance_scores=T.ones(2)),
    lambda p, m, T: p.L1Unstructured(1).prune(T.ones(2), importance_scores=T.ones(3)),
    lambda p, m, T: p.custom_from_mask(m, "weight", T.ones(2)), lambda p, m, T: p.l1_unstructured(m, "other", 1),
    lambda p, m, T: p.global_unstructured(3, p.L1Unstructured, amount=1),
    lambda p, m, T: p.global_unstructured([(m, "weight")], p.L1Unstructured, importance_scores=[1], amount=1),
    lambda p, m, T: p.global_unstructured([(m, "weight")], p.RandomStructured, amount=1),
    lambda p, m, T: p.PruningContainer().add_pruning_method(3),
    lambda p, m, T: p.BasePruningMethod(),
])  # fmt: skip
def test_refusals_are_those_of_pytorch_and_change_nothing(torch, bad):
    made = layer(ag)
    with pytest.raises(Exception) as theirs:
        bad(torch.nn.utils.prune, layer(torch), torch)
    with pytest.raises(theirs.type) as ours:
        bad(prune, made, ag)
    if "object" not in str(theirs.value):  # which have addresses, and names of classes
        assert str(ours.value).replace("autograd_cy", "torch").replace("_pruning_methods", "prune") == str(theirs.value)
    assert sorted(made.state_dict()) == ["bias", "weight"] and not made._forward_pre_hooks


@pytest.mark.parametrize("kind", ["structured", "other"])
def test_methods_without_what_their_kind_needs(kind):
    made = prune.identity(layer(ag), "weight")
    with pytest.raises(AttributeError if kind == "structured" else ValueError):
        Halved.of(ag, kind).apply(made, "weight")
    assert len(made._forward_pre_hooks) == 1 and made(ag.ones(1, 3)).shape == (1, 4)
    method = Halved.of(ag, "structured")
    method.dim = -3
    with pytest.raises(IndexError):
        method.apply(made, "weight")


@pytest.mark.parametrize(("amount", "expected"), [(3, 3), (0.5, 6), (0.0, 0)])
def test_random_elements(amount, expected):
    ag.manual_seed(0)
    masks = [prune.random_unstructured(layer(ag), "weight", amount).weight_mask for _ in range(5)]
    assert all(int((mask == 0).sum()) == expected for mask in masks)
    assert expected in (0,) or any(mask.tolist() != masks[0].tolist() for mask in masks)


def test_random_slices():
    made = prune.random_structured(layer(ag), "weight", 2, 1)
    assert sorted(made.weight_mask.sum(0).tolist()) == [0, 0, 4]
    prune.random_structured(made, "weight", 1, 1)
    assert made.weight_mask.sum() == 0


def test_containers_hold_what_was_applied():
    made = layer(ag)
    for _ in range(3):
        prune.l1_unstructured(made, "weight", 1)
    (hook,) = made._forward_pre_hooks.values()
    assert len(hook) == 3 and [type(method) for method in hook] == [prune.L1Unstructured] * 3
    assert isinstance(hook[0], prune.L1Unstructured) and len(prune.PruningContainer(hook[0])) == 1
    other = prune.Identity()
    other._tensor_name = "bias"
    with pytest.raises(ValueError, match="Can only add pruning methods acting on the parameter named 'weight'"):
        hook.add_pruning_method(other)
    made.register_forward_pre_hook(hook)
    with pytest.raises(AssertionError, match="Avoid adding multiple pruning hooks"):
        prune.identity(made, "weight")


def test_a_method_that_was_not_applied_has_no_tensor():
    for asked in (prune.Identity().apply_mask, prune.Identity().remove):
        with pytest.raises(AssertionError, match="has to be pruned"):
            asked(layer(ag))


def test_checks_for_methods_of_ones_own():
    """Programs that define methods of pruning call them."""
    prune._validate_pruning_amount_init(0.5)
    with pytest.raises(TypeError, match="Invalid type for amount: a"):
        prune._validate_pruning_amount_init("a")
    with pytest.raises(ValueError, match="should be smaller than the number of parameters to prune=3"):
        prune._validate_pruning_amount(4, 3)
    prune._validate_pruning_amount(1.0, 0)
    assert [prune._compute_nparams_toprune(amount, 15) for amount in (20, 1, 1.0, 0.4)] == [20, 1, 15, 6]
    with pytest.raises(ValueError, match="multidimensional"):
        prune._validate_structured_pruning(ag.ones(3))
    with pytest.raises(IndexError, match="Invalid index 2"):
        prune._validate_pruning_dim(ag.ones(3, 1), 2)
    assert prune._compute_norm(ag.tensor([[3.0, 1.0], [4.0, 0.0]]), 2, -1).tolist() == [5.0, 1.0]
