"""Random scripts of operations on all types, views, writes, modes, hooks and derivatives: here and in PyTorch, if it's there.

Each line runs on both; errors, and what hooks saw, are compared line by line, everything else at the end. Smooth scripts (a
third as many) need no other library: four ways to their derivatives must agree. There are AUTOGRAD_CY_PROGRAMS scripts, from
number AUTOGRAD_CY_SEED on; one that fails is shown as short as it gets, in lines such as those of SCRIPTS below.
"""

import os
import warnings

import pytest
from random_scripts.compare import Abandoned, Difference, Pair, difference
from random_scripts.isolated import isolated
from random_scripts.rounding import agree_in_double, agree_in_same_digits, hangs_on_rounding
from random_scripts.session import Session
from random_scripts.shrink import script, shrunk
from random_scripts.smooth import Smooth, SmoothWriter, disagreement
from random_scripts.writer import Writer

import autograd_cy as ag

try:
    import torch
except ImportError:
    torch = None

COUNT = int(os.environ.get("AUTOGRAD_CY_PROGRAMS", "300"))
FIRST = int(os.environ.get("AUTOGRAD_CY_SEED", "0"))
LENGTH, BATCH = 20, 100
MOST_ABANDONED = 0.4  # of all scripts: those that come to where the two differ on purpose

needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, in its own places
        yield


def compare(seed):
    """Write and run a script on both: None if they do the same, "abandoned" if it came to where they differ on purpose, or the
    script and the kind of difference."""
    pair = Pair(ag, torch)
    try:
        for line in Writer(seed, pair.ours).lines(LENGTH):
            pair.run(line)
        pair.look()
    except Difference as found:
        pair.close()
        if hangs_on_rounding(pair.lines, (ag, torch)):
            return "abandoned"
        return pair.lines, found.kind
    except Abandoned:
        return "abandoned"
    finally:
        pair.close()
    return None


def compare_all(seeds):
    return [compare(seed) for seed in seeds]


def run_alone(seed):
    """The same script here only, with all that would be compared."""
    session = Session(ag)
    for line in Writer(seed, session).lines(LENGTH):
        session.run(line)
    session.look()
    session.close()


def compared_apart(seeds):
    """compare_all() in a process of its own; where PyTorch crashes, one by one."""
    results = isolated(compare_all, seeds)
    if results is not None:
        return results[0]
    if len(seeds) > 1:
        return [result for seed in seeds for result in compared_apart([seed])]
    assert isolated(run_alone, seeds[0]) is not None, f"script {seeds[0]} crashes here"
    return ["abandoned"]


def report(seed, lines, kind):
    """Fail with the shortest script that shows the difference."""

    def fails(fewer):
        again = difference(fewer, (ag, torch))
        return again is not None and again.kind == kind

    lines = shrunk(lines, fails)
    pytest.fail(f"script {seed}\n" + "\n".join(lines) + f"\n{difference(lines, (ag, torch))}", pytrace=False)


def import_what_pytorch_imports_late():
    """So that not every process that is forked does it anew."""
    x = torch.ones(1, requires_grad=True)
    x.backward(torch.ones(1))
    with torch.autograd.forward_ad.dual_level():
        torch.autograd.forward_ad.make_dual(x, x) * 2


@needs_torch
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be forked")
def test_scripts_do_what_they_do_in_pytorch():
    import_what_pytorch_imports_late()
    abandoned = 0
    for first in range(FIRST, FIRST + COUNT, BATCH):
        seeds = range(first, min(first + BATCH, FIRST + COUNT))
        for seed, result in zip(seeds, compared_apart(seeds), strict=True):
            abandoned += result == "abandoned"
            if result not in (None, "abandoned"):
                report(seed, *result)
    assert abandoned <= MOST_ABANDONED * COUNT


# What scripts found, or would have: each line of each is checked.
SCRIPTS = {
    "a wider operand written through a view": """
t1 = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float32, requires_grad=True)
t2 = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
t3 = t1.clone()
t3[0] *= t2
h1 = t2.register_hook(see("h1"))
t3.backward(torch.ones_like(t3))
""",
    "a detached alias that is written": """
t1 = torch.tensor([1.0, 2.0], requires_grad=True)
t2 = t1.detach()
t2 += t1
t2.sum().backward()
""",
    "detached in place after it was used": """
t1 = torch.tensor([1.0, 2.0], requires_grad=True)
t2 = t1 * 2
t3 = t2 * t2
t2.detach_()
t4 = own(torch.autograd.grad(t3.sum(), t1, create_graph=True)[0])
""",
    "a part of a dual": """
t1 = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
level = fw.enter_dual_level()
t2 = fw.make_dual(t1, torch.ones_like(t1))
t3 = t2[:1]
t2[1:].mul_(3)
t2 *= 2
t4 = t2.sum()
""",
    "a frozen leaf, and roots that lead to nothing asked for": """
t1 = torch.tensor([1.0, 2.0], requires_grad=True)
t2 = torch.tensor([1.0, 2.0], requires_grad=True)
h1 = t1.register_hook(see("h1"))
t3 = t1 * 2 + t2
t4 = own(torch.autograd.grad([t1, t3], [t2], [torch.ones_like(t1), torch.ones_like(t3)], retain_graph=True)[0])
t1.requires_grad_(False)
t3.sum().backward()
""",
    "hooks of several outputs": """
t1 = torch.tensor([1.0, 2.0], requires_grad=True)
t2, t3 = t1.unbind()
h1 = t3.register_hook(see("h1"))
h2 = t2.register_hook(scale("h2", 3))
h3 = t3.register_hook(see("h3"))
h4 = torch.autograd.graph.register_multi_grad_hook((t2, t2), see("h4"), mode="any")
(t2 * 2).backward()
""",
    "operands in the memory that is written": """
t1 = torch.tensor([[2.0, 4.0], [6.0, 8.0]])
t1 /= t1[0, 0]
t1.mul_(t1.t())
t1[1:] = t1[:-1]
t1.copy_(t1)
""",
}


@needs_torch
@pytest.mark.parametrize("name", SCRIPTS)
def test_script(name):
    found = difference(SCRIPTS[name].strip().splitlines(), (ag, torch))
    assert found is None


def test_derivatives_of_smooth_scripts_agree():
    """Reverse mode recorded and not, forward mode, differences; and the same of the gradient."""
    refused = 0
    for seed in range(FIRST, FIRST + COUNT // 3):
        session = Session(ag)
        session.names["leaves"] = Smooth(ag, ()).leaves_of(seed)
        lines = []
        for line in SmoothWriter(seed, session).lines(LENGTH):
            lines.append(line)
            session.run(line)
        kind, _ = disagreement(Smooth(ag, lines), seed)
        refused += kind == "refused"
        if kind not in ("none", "refused"):
            lines = shrunk(lines, lambda fewer, kind=kind, seed=seed: disagreement(Smooth(ag, fewer), seed)[0] == kind)
            pytest.fail(f"script {seed}\n" + "\n".join(lines) + f"\n{disagreement(Smooth(ag, lines), seed)}", pytrace=False)
    assert refused <= 0.6 * (COUNT // 3)


def test_a_script_shrinks_to_what_shows_the_difference():
    lines = [f"t{k} = {k}" for k in range(20)]
    assert shrunk(lines, lambda fewer: "t3 = 3" in fewer and "t11 = 11" in fewer) == ["t3 = 3", "t11 = 11"]


def test_what_a_module_does_otherwise_is_found():
    """The checks themselves: a module whose sin is a cosine, and scripts that say so."""

    class Wrong:
        def __getattr__(self, name):
            return ag.cos if name == "sin" else getattr(ag, name)

    lines = ["t1 = torch.tensor([1.0, 2.0], requires_grad=True)", "t2 = torch.sin(t1)"]
    assert difference(lines, (ag, ag)) is None
    assert difference(lines, (ag, Wrong())).kind == "values"
    assert difference([*lines, "torch.sin(3)"], (ag, ag)) is None
    assert difference(["torch.tensor(1.0).backward()"], (Refuses(), ag)).kind == "error"


class Refuses:
    def __getattr__(self, name):
        return getattr(ag, name)

    def tensor(self, *args, **kwargs):
        return ag.tensor(*args, **kwargs).requires_grad_()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be forked")
def test_a_process_that_dies_is_survived():
    assert isolated(lambda: 3) == [3] and isolated(os._exit, 1) is None


def test_a_script_is_a_program_of_its_own(capsys):
    text = script(["t1 = torch.tensor([1.0, 2.0], requires_grad=True)", "t1.add_(1)", "(t1 * t1).sum().backward()"])
    assert text.startswith("import torch\n")
    exec(text.replace("import torch", "import autograd_cy as torch", 1), {})
    assert "RuntimeError a leaf Variable that requires grad" in (printed := capsys.readouterr().out)
    assert "t1 tensor([1., 2.], requires_grad=True) None tensor([2., 4.])" in printed


def test_what_hangs_on_rounding_is_told_from_what_does_not():
    lines = ["t1 = torch.tensor([0.75, 1.25]).float()", "t2 = torch.sin(t1)", "t3 = torch.where(t2 == t1.sin(), 1, 0)"]
    assert difference(lines, (Inexact(1), ag)).name == "t3"
    assert agree_in_same_digits(lines, (Inexact(1), ag))
    assert not agree_in_same_digits(lines, (Inexact(1e5), ag))


def test_what_is_gone_in_double_hangs_on_rounding():
    lines = ["t1 = torch.tensor([0.75, 1.25], dtype=torch.float32)", "t2 = (torch.sin(t1) - t1.sin()).abs() > 1e-9"]
    assert difference(lines, (Inexact(1), ag)).name == "t2"
    assert agree_in_double(lines, (Inexact(1e-3), ag)) and not agree_in_double(lines, (Inexact(1), ag))


class Inexact:
    """A module whose sin is wrong by so many units of float32."""

    def __init__(self, units):
        self.error = 1 + units * 2**-23

    def __getattr__(self, name):
        return (lambda x: ag.sin(x) * self.error) if name == "sin" else getattr(ag, name)
