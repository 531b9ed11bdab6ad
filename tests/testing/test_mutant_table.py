"""benchmarks.mutants counts what checkers say, and the checkers that it tries do what they are there for."""

import numpy as np
import pytest
from mutants import MUTANTS

import autograd_cy as ag
from benchmarks import mutants as table

MUTANT = next(m for m in MUTANTS if m.name == "wrong factor: square, one half")
EVERY = {checker.name: checker for checker in table.checkers()}


def checker(says):
    """A checker of its own: `says(gradient)` is what it says of 2x and of x for x²."""

    def check(t, case):
        (x,) = case.inputs
        (gradient,) = t.autograd.grad(case.function(x).sum(), x)
        return says(bool(np.allclose(gradient.numpy(), 2 * x.detach().numpy()))), "factor"

    return table.Checker(str(says), "autograd_cy", ag, check)


def refuses(right):
    raise ValueError(right)


@pytest.mark.parametrize(
    "says, expected",
    [
        (lambda right: "right" if right else "wrong", table.Result(table.FOUND, named=True)),
        (lambda right: "right", table.Result(table.MISSED)),
        (lambda right: "wrong", table.Result(table.REFUSED_BOTH)),
        (lambda right: "cannot tell", table.Result(table.CANNOT_TELL)),
        (refuses, table.Result(table.REFUSED_BOTH)),
    ],
)
def test_results_tell_what_was_said(says, expected):
    assert table.try_mutant(checker(says), MUTANT) == expected


def test_what_a_library_cannot_express_does_not_count():
    mutant = next(m for m in MUTANTS if m.libraries == ("autograd_cy",))
    absent = table.Checker("none", "torch", None, refuses)
    assert table.try_mutant(absent, mutant) == table.Result(table.ABSENT)
    assert table.count([table.Result(table.ABSENT)]) == "-"
    assert table.count([table.Result(table.FOUND), table.Result(table.MISSED), table.Result(table.ABSENT)]) == "1/2"


@pytest.mark.parametrize("name", EVERY)
def test_each_checker_finds_a_wrong_factor(name):
    assert table.try_mutant(EVERY[name], MUTANT).outcome == table.FOUND


def test_random_inputs_differ_and_can_be_had_again():
    ours = EVERY["our gradcheck, slow"]
    first, again, other = ([case for _, case in table.random_cases(ours, 3, seed)] for seed in (0, 0, 1))
    for a, b, c in zip(first, again, other, strict=True):
        assert all(map(np.array_equal, *[[x.detach().numpy() for x in case.inputs] for case in (a, b)]))
        assert not all(map(np.array_equal, *[[x.detach().numpy() for x in case.inputs] for case in (a, c)]))


def test_the_table_has_a_row_a_kind(capsys):
    table.print_mutants([EVERY["our gradcheck, slow"]], [m for m in MUTANTS if m.kind in ("missing conj", "transposed")])
    printed = capsys.readouterr().out
    assert "missing conj" in printed
    assert "8/8" in printed
    assert "10/10" in printed
