"""The corpus of wrong derivatives: right versions are right by gradcheck, and each mutant differs from its own."""

import collections

import numpy as np
import pytest
from mutants import MUTANTS, RULES
from mutants.evidence import differences
from mutants.namespaces import function_of
from mutants.right import KINKS, RandomMaker, right_functions

import autograd_cy as ag

MODES = {"check_forward_ad": True, "check_batched_grad": True, "check_batched_forward_grad": True}

# What tells a mutant from its right version, by kind; the others differ in their plain gradient.
TELLING = {
    "empty or one element": ("size",),
    "from 64 elements": ("size",),
    "layout": ("transposed", "negative", "read-only", "sliced", "expanded"),
    "not repeatable": ("again", "another"),
    "global state": ("again", "evaluated", "gradient"),
    "under create_graph": ("recorded", "second order"),
    "second order": ("second order",),
    "float32": ("single",),
    "dtype": ("gradient",),
    "batched": ("batched",),
    "forward mode": ("forward mode",),
    "subset of inputs": ("input",),
    "undefined gradients": ("output", "zero seed"),
    "input changed": ("gradient", "left behind", "transposed input"),
    "seed changed": ("left behind",),
    "shared memory": ("left behind",),
}


def leaves(arrays):
    return [ag.from_numpy(np.array(a)).requires_grad_() for a in arrays]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rules_are_right(rule):
    f, inputs = function_of(rule, ag, "autograd_cy"), leaves(rule.inputs.arrays())
    assert ag.autograd.gradcheck(f, inputs, **MODES)
    if rule.twice:
        assert ag.autograd.gradgradcheck(f, inputs, check_fwd_over_rev=True)


@pytest.mark.parametrize("mutant", [m for m in MUTANTS if m.kind != "at ties"], ids=lambda mutant: mutant.name)
def test_right_versions_are_right(mutant):
    f, inputs = mutant.function("autograd_cy", ag, wrong=False), mutant.leaves(ag)
    assert ag.autograd.gradcheck(f, inputs, check_forward_ad=mutant.forward)
    if mutant.second:
        assert ag.autograd.gradgradcheck(f, inputs)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_mutants_differ_from_their_right_versions(mutant):
    found = differences(mutant, "autograd_cy", ag)
    if mutant.anywhere:
        assert any(what.startswith(TELLING.get(mutant.kind, ("gradient",))) for what in found), found
    else:
        assert found or differs_somewhere(mutant)


def differs_somewhere(mutant) -> bool:
    """Whether a mutant that is wrong at some inputs alone is wrong at one of a hundred."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        arrays = mutant.inputs.arrays(RandomMaker(mutant.inputs.dtype, None, rng))
        found = []
        for wrong in (True, False):
            inputs = leaves(arrays)
            y = mutant.function("autograd_cy", ag, wrong)(*inputs)
            found.append([g.numpy() for g in ag.autograd.grad(y.sum(), inputs)])
        if not all(map(np.array_equal, *found)):
            return True
    return False


def test_there_are_enough_of_each_kind():
    counts = collections.Counter(mutant.kind for mutant in MUTANTS)
    assert len(MUTANTS) >= 280
    assert min(counts.values()) >= 3
    assert len(right_functions()) >= 1000
    assert len(KINKS) >= 25


def test_each_mutant_is_made_anew():
    """What one function remembers is not known to the next."""
    mutant = next(m for m in MUTANTS if m.name == "not repeatable: every second time doubled")
    for _ in range(2):
        (x,) = mutant.leaves(ag)
        (gradient,) = ag.autograd.grad(mutant.function("autograd_cy", ag)(x).sum(), x)
        np.testing.assert_array_equal(gradient.numpy(), 2 * x.detach().numpy())
