"""check_gradients finds each wrong derivative of the corpus, says what is wrong with it, and lets the right ones pass."""

import numpy as np
import pytest
from mutants import MUTANTS
from mutants.right import right_functions

import autograd_cy as ag
from autograd_cy.testing import CULPRITS, GradientError, check_gradients

# The rows of the op table are checked in test_op_gradients.py.
RIGHT = {right.name: right for right in right_functions(rows=False) if "autograd_cy" in right.libraries}

MISNAMED = {
    "composition: the conjugate detached",
    "tampered gradient: stack, the halves exchanged",
    "wrong factor: standardize, not divided by the spread",
    "dropped term: x xᵀ, the right factor's",
    "dropped term: x[[0, 2, 2]], of the value picked twice",
    "broadcast not summed: sum of rows, spread along the other axis",
    "transposed: outer product, exchanged",
    "shifted index: convolution, taps not reversed",
    "empty or one element: variance, two: 1/n",
    "second use: cached by shape",
    "not repeatable: the first gradient for ever",
    "shared memory: views of one buffer that overlap",
    "dtype: a whole gradient",
}
"""Those that are found, but taken for another mistake."""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutants_are_found_and_named(mutant):
    inputs = mutant.leaves(ag) if mutant.anywhere else mutant.inputs.strategies(ag)
    verdict = check_gradients(mutant.function("autograd_cy", ag), *inputs, raise_exception=False)
    assert verdict.outcome == "wrong", str(verdict)
    assert verdict.culprit in CULPRITS
    assert (verdict.culprit in mutant.culprits) == (mutant.name not in MISNAMED), str(verdict)


def test_few_are_misnamed():
    assert len(MISNAMED) <= 0.05 * len(MUTANTS)
    assert {mutant.name for mutant in MUTANTS} >= MISNAMED


def test_wrong_derivatives_raise():
    mutant = MUTANTS[0]
    with pytest.raises(GradientError):
        check_gradients(mutant.function("autograd_cy", ag), *mutant.leaves(ag))


@pytest.mark.parametrize("kinks", [False, True])
def test_right_functions_pass(kinks):
    for name, right in RIGHT.items():
        if right.kink == kinks:
            function, arrays = right.at("autograd_cy", ag, None)
            leaves = [ag.from_numpy(np.array(a)).requires_grad_() for a in arrays]
            verdict = check_gradients(function, *leaves, raise_exception=False)
            assert verdict.outcome != "wrong", f"{name}: {verdict}"


@pytest.mark.parametrize("mutant", [m for m in MUTANTS if not m.anywhere], ids=lambda mutant: mutant.name)
def test_right_functions_pass_a_search(mutant):
    verdict = check_gradients(
        mutant.function("autograd_cy", ag, wrong=False), *mutant.inputs.strategies(ag), max_examples=30, raise_exception=False
    )
    assert verdict.outcome != "wrong", str(verdict)


def test_culprits_of_the_corpus_exist():
    assert {tag for mutant in MUTANTS for tag in mutant.culprits} <= set(CULPRITS)
