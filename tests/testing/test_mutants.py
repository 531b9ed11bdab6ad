"""check_gradients finds each wrong derivative of the corpus, says what is wrong with it, and lets the right ones pass."""

import functools

import numpy as np
import pytest
from mutants import MUTANTS
from mutants.right import right_functions

import autograd_cy as ag
from autograd_cy.testing import CULPRITS, GradientError, check_gradients

MISSED: frozenset[str] = frozenset()
"""The names of mutants that are known to be missed."""

NAMED_AT_LEAST = 0.7

RIGHT = {right.name: right for right in right_functions() if "autograd_cy" in right.libraries}


@functools.cache
def said_of(mutant):
    """(outcome, culprit, text) of a mutant at its point, or by a search where it is wrong at some inputs alone."""
    inputs = mutant.leaves(ag) if mutant.anywhere else mutant.inputs.strategies(ag)
    verdict = check_gradients(mutant.function("autograd_cy", ag), *inputs, raise_exception=False)
    return verdict.outcome, verdict.culprit, str(verdict)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutants_are_found(mutant, request):
    if mutant.name in MISSED:
        request.applymarker(pytest.mark.xfail(reason="known to be missed"))
    outcome, culprit, text = said_of(mutant)
    assert outcome == "wrong", text
    assert culprit in CULPRITS


def test_culprits_are_named():
    found = [mutant for mutant in MUTANTS if said_of(mutant)[0] == "wrong"]
    misnamed = [f"{mutant.name}: {said_of(mutant)[1]}" for mutant in found if said_of(mutant)[1] not in mutant.culprits]
    assert len(misnamed) <= (1 - NAMED_AT_LEAST) * len(found), "\n".join(misnamed)


def test_wrong_derivatives_raise():
    mutant = MUTANTS[0]
    with pytest.raises(GradientError):
        check_gradients(mutant.function("autograd_cy", ag), *mutant.leaves(ag))


@pytest.mark.parametrize("name", RIGHT)
def test_right_functions_pass(name):
    function, arrays = RIGHT[name].at("autograd_cy", ag, None)
    verdict = check_gradients(function, *[ag.from_numpy(np.array(a)).requires_grad_() for a in arrays], raise_exception=False)
    assert verdict.outcome != "wrong", str(verdict)


@pytest.mark.parametrize("mutant", [m for m in MUTANTS if not m.anywhere], ids=lambda mutant: mutant.name)
def test_right_functions_pass_a_search(mutant):
    verdict = check_gradients(
        mutant.function("autograd_cy", ag, wrong=False), *mutant.inputs.strategies(ag), max_examples=30, raise_exception=False
    )
    assert verdict.outcome != "wrong", str(verdict)


def test_culprits_of_the_corpus_exist():
    assert {tag for mutant in MUTANTS for tag in mutant.culprits} <= set(CULPRITS)
