"""``python -m benchmarks.mutants``: which checkers of gradients find which wrong derivatives, and how long they take.

The corpus is tests/support/mutants: each mutant is a function with a wrong derivative, beside its right version. A checker
finds a mutant if it rejects the mutant and accepts the right version at the same inputs. A mutant counts for a checker if its
library can express it (PyTorch has no negative strides, autograd no Functions). All checkers get the same point, a few
numbers in general position. Mutants that are wrong only at particular inputs ("at ties", "large values") get such a point.
Mutants that only a search can find (`anywhere=False`) are given to check_gradients as strategies, which no other checker
accepts; the others get a point.

gradcheck means gradcheck followed by gradgradcheck, with `check_forward_ad` where there is a forward mode; "all options"
adds their other options. HIPS autograd has `autograd.test_util.check_grads`, here in both modes and to second order. MyGrad
has no checker.

``--alarms N`` checks right functions at N random inputs in total and counts how many are called wrong.
"""

import argparse
import collections
import importlib
import importlib.util
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":  # as in benchmarks.__main__: read when NumPy is loaded
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

import mutants
from mutants.corpus import Mutant
from mutants.namespaces import Hips
from mutants.right import Right, right_functions

FOUND, MISSED, REFUSED_BOTH, CANNOT_TELL, ABSENT = "found", "missed", "refused both", "cannot tell", "not applicable"
FULL_OPTIONS = {"check_batched_grad": True, "check_grad_dtypes": True}


class Case(NamedTuple):
    """The subject of a check: a function, its inputs, and the kinds of derivative to check."""

    function: Callable
    inputs: list
    forward: bool
    second: bool


class Answer(NamedTuple):
    """A checker's answer: "right", "wrong" or "cannot tell", a diagnosis (check_gradients only), and the time."""

    outcome: str
    culprit: str | None
    seconds: float


class Checker(NamedTuple):
    """`check(module, case)` raises, or returns (outcome, culprit)."""

    name: str
    library: str
    module: Any
    check: Callable[[Any, Case], tuple[str, str | None]]
    searches: bool = False

    def ask(self, case: Case) -> Answer:
        """ask(case) -> Answer; any error is a refusal."""
        np.random.seed(0)  # noqa: NPY002  (HIPS autograd's checker draws from it)
        if self.library != "autograd":
            self.module.manual_seed(0)
        start = time.perf_counter()
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                said = self.check(self.module, case)
            except Exception:
                said = "wrong", "raises"
        return Answer(*said, time.perf_counter() - start)

    def leaves(self, arrays: Sequence[np.ndarray]) -> list:
        """leaves(arrays) -> the library's inputs, with their own memory."""
        if self.library == "autograd":
            return [np.array(a) for a in arrays]
        return [self.module.from_numpy(np.array(a)).requires_grad_() for a in arrays]

    def case(self, mutant: Mutant, wrong: bool) -> Case | None:
        """case(mutant, wrong) -> the Case of a mutant, or None if the library cannot express it."""
        function = mutant.function(self.library, self.module, wrong)
        if function is None:
            return None
        if self.searches and not mutant.anywhere:
            inputs = mutant.inputs.strategies(self.module)
        else:
            inputs = self.leaves(mutant.inputs.arrays())
        return Case(function, inputs, mutant.forward, mutant.second)

    def right_case(self, right: Right, rng: np.random.Generator | None = None) -> Case | None:
        """right_case(right, rng) -> the Case of a right function; with an rng, at random inputs."""
        if self.library not in right.libraries:
            return None
        function, arrays = right.at(self.library, self.module, rng)
        return Case(function, self.leaves(arrays), right.forward, right.second)


def ours(mode: str) -> Callable:
    """ours(mode) -> check_gradients in that mode."""

    def check(t: Any, case: Case) -> tuple[str, str | None]:
        verdict = t.testing.check_gradients(case.function, *case.inputs, mode=mode, raise_exception=False)
        return verdict.outcome, verdict.culprit

    return check


def gradcheck(fast: bool, everything: bool = False) -> Callable:
    """gradcheck(fast, everything) -> gradcheck and gradgradcheck, with all options or the defaults."""

    def check(t: Any, case: Case) -> tuple[str, None]:
        options = FULL_OPTIONS if everything else {}
        batched = {"check_batched_forward_grad": case.forward} if everything else {}
        t.autograd.gradcheck(case.function, case.inputs, check_forward_ad=case.forward, fast_mode=fast, **options, **batched)
        if case.second:
            more = {"gen_non_contig_grad_outputs": True, "check_fwd_over_rev": case.forward} if everything else {}
            t.autograd.gradgradcheck(case.function, case.inputs, fast_mode=fast, **options, **more)
        return "right", None

    return check


def check_grads(xp: Any, case: Case) -> tuple[str, None]:
    """check_grads(xp, case) runs the checker of HIPS autograd."""
    modes = ["fwd", "rev"] if case.forward else ["rev"]
    order = 2 if case.second else 1
    check = importlib.import_module("autograd.test_util").check_grads
    arguments = tuple(range(len(case.inputs)))  # by default it checks only the first
    check(case.function, arguments, modes=modes, order=order)(*case.inputs)
    return "right", None


def checkers() -> list[Checker]:
    """checkers() -> the checkers whose library is installed."""
    t = importlib.import_module("autograd_cy")
    found = []
    if hasattr(t, "testing"):
        modes = ("full", "probe", "auto")
        found += [Checker(f"check_gradients, {mode}", "autograd_cy", t, ours(mode), True) for mode in modes]
    for library, name in (("autograd_cy", "our"), ("torch", "PyTorch's")):
        if importlib.util.find_spec(library):
            module = importlib.import_module(library)
            found += [
                Checker(f"{name} gradcheck, slow", library, module, gradcheck(fast=False)),
                Checker(f"{name} gradcheck, fast", library, module, gradcheck(fast=True)),
                Checker(f"{name} gradcheck, all options", library, module, gradcheck(fast=False, everything=True)),
            ]
    if importlib.util.find_spec("autograd"):
        found.append(Checker("HIPS autograd's check_grads", "autograd", Hips(), check_grads))
    return found


class Result(NamedTuple):
    """The outcome for a mutant: one of the words above, and whether the diagnosis was right."""

    outcome: str
    named: bool = False


_right_outcomes: dict[tuple, str] = {}  # mutants of one rule have one right version


def right_outcome(checker: Checker, mutant: Mutant) -> str:
    """right_outcome(checker, mutant) -> the outcome for its right version."""
    key = checker.name, mutant.repaired, mutant.anywhere
    if key not in _right_outcomes:
        case = checker.case(mutant, wrong=False)
        assert case is not None  # the library can express the wrong one
        _right_outcomes[key] = checker.ask(case).outcome
    return _right_outcomes[key]


def try_mutant(checker: Checker, mutant: Mutant) -> Result:
    """try_mutant(checker, mutant) -> Result: the wrong version first, then the right one if that is refused."""
    wrong = checker.case(mutant, wrong=True)
    if wrong is None:
        return Result(ABSENT)
    answer = checker.ask(wrong)
    if answer.outcome != "wrong":
        return Result(MISSED if answer.outcome == "right" else CANNOT_TELL)
    if right_outcome(checker, mutant) == "wrong":
        return Result(REFUSED_BOTH)
    return Result(FOUND, answer.culprit in mutant.culprits)


def table_line(title: str, cells: Sequence[object]) -> str:
    """table_line(title, cells) -> a line of a Markdown table."""
    return "| " + " | ".join([f"{title:<28}", *(f"{cell!s:>9}" for cell in cells)]) + " |"


def head(title: str, tried: Sequence[Checker]) -> None:
    """head(title, tried) prints a table's head, with numbers for the checkers, and a list of them above."""
    print(table_line(title, [f"({k})" for k in range(1, len(tried) + 1)]))
    print("|" + "|".join(["---", *["---:"] * len(tried)]) + "|")


def count(results: Sequence[Result]) -> str:
    """count(results) -> how many of the expressible mutants were found."""
    asked = [r for r in results if r.outcome != ABSENT]
    return f"{sum(r.outcome == FOUND for r in asked)}/{len(asked)}" if asked else "-"


def share(results: Sequence[Result], of: Callable[[Result], bool]) -> str:
    """share(results, of) -> per cent of the expressible mutants."""
    asked = [r for r in results if r.outcome != ABSENT]
    return f"{100 * sum(map(of, asked)) / len(asked):.1f} %" if asked else "-"


def print_mutants(tried: Sequence[Checker], chosen: Sequence[Mutant]) -> dict[str, dict[str, Result]]:
    """print_mutants(tried, chosen) -> {checker: {mutant: Result}}; prints them as a table by kind."""
    head("found", tried)
    results: dict[str, dict[str, Result]] = {checker.name: {} for checker in tried}
    seconds: dict[str, float] = collections.Counter()
    for kind in dict.fromkeys(mutant.kind for mutant in chosen):
        of_kind = [mutant for mutant in chosen if mutant.kind == kind]
        for checker in tried:
            start = time.perf_counter()
            results[checker.name] |= {mutant.name: try_mutant(checker, mutant) for mutant in of_kind}
            seconds[checker.name] += time.perf_counter() - start
        print(table_line(kind, [count([results[c.name][m.name] for m in of_kind]) for c in tried]), flush=True)
    columns = [list(results[checker.name].values()) for checker in tried]
    print(table_line("all", [count(column) for column in columns]))
    at_points = [mutant for mutant in chosen if mutant.anywhere]
    print(table_line("all without the searched ones", [count([results[c.name][m.name] for m in at_points]) for c in tried]))
    print(table_line("found, of those that apply", [share(column, lambda r: r.outcome == FOUND) for column in columns]))
    named = [share([r for r in column if r.outcome == FOUND], lambda r: r.named) if c.library == "autograd_cy" and c.searches
             else "-" for c, column in zip(tried, columns, strict=True)]  # fmt: skip
    print(table_line("culprit named, of found", named))
    for outcome in (ABSENT, REFUSED_BOTH, CANNOT_TELL):
        print(table_line(outcome, [sum(r.outcome == outcome for r in column) for column in columns]))
    print(table_line("seconds", [f"{seconds[checker.name]:.0f}" for checker in tried]))
    return results


def print_right(tried: Sequence[Checker], kinks: bool, show: bool) -> None:
    """print_right(tried, kinks, show) prints the outcomes for right functions, away from kinks or at them."""
    chosen = [right for right in right_functions() if right.kink == kinks]
    head("right, at kinks" if kinks else "right", tried)
    answers, alarms = [], []
    for checker in tried:
        cases = [(right.name, checker.right_case(right)) for right in chosen]
        said = [(name, checker.ask(case)) for name, case in cases if case is not None]
        answers.append([answer for _, answer in said])
        alarms += [f"{checker.name}: {name} ({answer.culprit})" for name, answer in said if answer.outcome == "wrong"]
    print(table_line("functions", [len(said) for said in answers]))
    print(table_line("called wrong", [sum(a.outcome == "wrong" for a in said) for said in answers]))
    print(table_line(CANNOT_TELL, [sum(a.outcome == "cannot tell" for a in said) for said in answers]))
    print(table_line("ms a function", [f"{1e3 * sum(a.seconds for a in said) / max(len(said), 1):.1f}" for said in answers]))
    if show:
        print("", *alarms, sep="\n")


def random_cases(checker: Checker, total: int, seed: int) -> Iterator[tuple[str, Case]]:
    """random_cases(checker, total, seed) yields right functions in turn, each at random inputs."""
    chosen = [right for right in right_functions() if not right.kink and checker.library in right.libraries]
    for k in range(total):
        right = chosen[k % len(chosen)]
        case = checker.right_case(right, np.random.default_rng([seed, k]))
        if case is not None:
            yield f"{right.name} (input {k})", case


def print_alarms(tried: Sequence[Checker], total: int, seed: int) -> None:
    """print_alarms(tried, total, seed) prints how many of `total` random inputs of right functions are called wrong."""
    for checker in tried:
        start, said = time.perf_counter(), collections.Counter()
        names = []
        for name, case in random_cases(checker, total, seed):
            answer = checker.ask(case)
            said[answer.outcome] += 1
            if answer.outcome == "wrong":
                names.append(f"  {name}: {answer.culprit}")
        taken = time.perf_counter() - start
        print(f"{checker.name}: {said['wrong']} of {said.total()} called wrong, {said['cannot tell']} not told, {taken:.0f} s")
        print(*names[:40], sep="\n", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """main(arguments) prints the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="KIND", help="kinds of mutants, by the beginning of their names")
    parser.add_argument("--checkers", nargs="+", type=int, metavar="K", help="the numbers of the checkers")
    parser.add_argument("--alarms", type=int, metavar="N", help="only check right functions at N random inputs")
    parser.add_argument("--seed", type=int, default=0, help="of --alarms")
    parser.add_argument("--list", action="store_true", help="list missed mutants and false alarms")
    parser.add_argument("--json", type=Path, help="write the outcome of each mutant to this file")
    options = parser.parse_args(arguments)
    every = checkers()
    tried = [every[k - 1] for k in options.checkers] if options.checkers else every
    for k, checker in enumerate(tried, 1):
        print(f"({k}) {checker.name}")
    print("(-) MyGrad: none shipped\n")
    if options.alarms is not None:
        print_alarms(tried, options.alarms, options.seed)
        return
    chosen = [m for m in mutants.MUTANTS if not options.only or m.kind.startswith(tuple(options.only))]
    results = print_mutants(tried, chosen)
    for name, of_checker in results.items() if options.list else ():
        print(f"\n{name}:")
        for mutant, result in of_checker.items():
            if result.outcome not in (FOUND, ABSENT):
                print(f"  {result.outcome}: {mutant}")
    if not options.only:
        for kinks in (False, True):
            print()
            print_right(tried, kinks, options.list)
    if options.json:
        outcomes = {name: {mutant: r.outcome for mutant, r in found.items()} for name, found in results.items()}
        options.json.write_text(json.dumps(outcomes, indent=1))


if __name__ == "__main__":
    main()
