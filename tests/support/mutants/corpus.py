"""What a mutant is: a function whose derivative is wrong on purpose, beside its right version.

There are three ways to write one, and each is called with the library that it is made for:

* `Kind.rule`: a Rule is a function with its derivatives, written once in names that PyTorch, autograd_cy and (by
  namespaces.Hips) autograd.numpy have. A mutant is a rule with one of its functions replaced.
* `Kind.written`: `make(t, wrong)` returns the function, written with `t.autograd.Function` or in any other way: for
  autograd_cy and PyTorch alone.
* `Kind.composed`: `make(xp, wrong)` returns a composition of the library's own operations.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from op_case import NONZERO, POSITIVE, REAL, Maker

from mutants.namespaces import LIBRARIES, function_of

__all__ = ["LIBRARIES", "MUTANTS", "NONZERO", "POSITIVE", "REAL", "Inputs", "Kind", "Mutant", "Rule"]

SIZES = {"b": 2, "m": 3, "n": 4, "k": 2}
STEP = 64  # the strategies' values are multiples of 1/64: zeros and ties come up


@dataclass(frozen=True)
class Inputs:
    """The inputs of a function: `Inputs("m n, n")` is a matrix and a vector that is as long as its rows.

    `domain` is that of all inputs, or a list with one for each; `wide` is that of the strategies, if it is another.
    `smallest` is the least size of a dimension. `at` holds arrays, where it matters which they are.
    """

    shapes: str
    domain: Any = REAL
    dtype: str = "float64"
    smallest: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    at: tuple | None = None
    wide: tuple | None = None

    def _each(self) -> list[tuple[list[str], Any]]:
        words = [part.split() for part in self.shapes.split(",")]
        domains = self.domain if isinstance(self.domain, list) else [self.domain] * len(words)
        return list(zip(words, domains, strict=True))

    def arrays(self, make: Maker | None = None, **sizes: int) -> list[np.ndarray]:
        """Arrays in general position: no ties, no kinks (or those of `at`). `make` makes
        others, of the domain that is `wide`; `sizes` replaces some dimensions.
        """
        if self.at is not None and make is None and not sizes:
            return [np.array(a, self.dtype) for a in self.at]
        domain = self.wide if make is not None else None
        make = make or Maker(self.dtype)
        known = SIZES | self.sizes | sizes
        shapes = [([known[w] if w in known else int(w) for w in words], domain or own) for words, own in self._each()]
        return [make(*shape, domain=chosen) for shape, chosen in shapes]

    def strategies(self, t, largest: int = 4) -> list:
        """A hypothesis strategy for each input, of tensors of `t` that require a gradient; dimensions of one name agree."""
        import hypothesis.strategies as st

        few = st.integers(self.smallest, largest)
        one_dimension = self.shapes.split() == self.shapes.split(",") == [self.shapes]
        sizes = few | st.sampled_from([64, 100]) if one_dimension else few

        def strategy(words, domain):
            dims = [st.just(int(w)) if w.isdigit() else st.shared(sizes, key=w) for w in words]
            return st.tuples(*dims).flatmap(lambda shape: self._values(shape, self.wide or domain)).map(leaf)

        def leaf(array):
            return t.from_numpy(array).requires_grad_()

        return [strategy(words, domain) for words, domain in self._each()]

    def _values(self, shape, domain):
        """A strategy for arrays of that shape: of single numbers, or of a seed where these would be too many to shrink."""
        import hypothesis.strategies as st
        from hypothesis.extra.numpy import arrays

        is_complex = np.dtype(self.dtype).kind == "c"
        whole = np.concatenate([np.arange(np.ceil(STEP * low), STEP * high + 1) for low, high in domain]) / STEP
        if np.prod(shape) > 16:

            def drawn(seed):
                rng = np.random.default_rng(seed)
                return rng.choice(whole, shape) + (1j * rng.choice(whole, shape) if is_complex else 0)

            return st.integers(0, 1000).map(drawn)
        numbers = st.sampled_from(sorted(whole.tolist(), key=abs))
        return arrays(self.dtype, shape, elements=st.builds(complex, numbers, numbers) if is_complex else numbers)


@dataclass(frozen=True)
class Rule:
    """A function and its derivatives: `value(xp, *inputs)`, `vjp(xp, *gs, *inputs)`, `jvp(xp, *tangents, *inputs)`.

    The gradients are PyTorch's: the conjugate of the derivative where numbers are complex. `twice=False`: too large for a
    check of second derivatives by all entries.
    """

    name: str
    inputs: Inputs
    value: Callable
    vjp: Callable
    jvp: Callable | None = None
    twice: bool = True


@dataclass(frozen=True, eq=False)
class Mutant:
    """A wrong function and its right version: `function(library, wrong)`, or None where the library can't express it.

    `culprits` are the diagnoses that name what is wrong. `anywhere=False`: it is wrong at some inputs alone, which a search
    has to find. `second`: its derivative can be differentiated (by all entries). `repaired`: the name of its right version.
    """

    name: str
    kind: str
    culprits: tuple[str, ...]
    make: Callable[[Any, str, bool], Callable | None] = field(repr=False)
    inputs: Inputs
    libraries: tuple[str, ...] = LIBRARIES
    forward: bool = False
    second: bool = True
    anywhere: bool = True
    repaired: str = ""

    def function(self, library: str, module, wrong: bool = True) -> Callable | None:
        """The function, made anew: what it remembers, it remembers of its own calls."""
        return self.make(module, library, wrong) if library in self.libraries else None

    def leaves(self, t, **sizes: int) -> list:
        return [t.from_numpy(a).requires_grad_() for a in self.inputs.arrays(**sizes)]


MUTANTS: list[Mutant] = []


class Kind:
    """A kind of mistake, and the diagnoses that are right for it; what it registers goes to MUTANTS."""

    def __init__(self, name: str, *culprits: str) -> None:
        self.name, self.culprits = name, culprits

    def _add(self, name, culprits, make, inputs, **columns) -> None:
        name = f"{self.name}: {name}"
        if any(m.name == name for m in MUTANTS):
            raise ValueError(f"there is a mutant {name!r} already")
        MUTANTS.append(Mutant(name, self.name, culprits or self.culprits, make, inputs, **columns))

    def rule(self, rule: Rule, what: str, vjp=None, *culprits: str, value=None, jvp=None, inputs=None, **columns) -> None:
        """A mutant of a rule, of which some functions are replaced."""
        changes = {k: v for k, v in {"vjp": vjp, "jvp": jvp, "value": value}.items() if v is not None}
        wrong = replace(rule, **changes)
        columns = {"forward": wrong.jvp is not None, "second": rule.twice, "repaired": rule.name} | columns
        if inputs is not None:
            columns["repaired"] += f" at the inputs of {what!r}"
        self._add(f"{rule.name}, {what}", culprits, lambda module, library, is_wrong: function_of(
            wrong if is_wrong else rule, module, library), inputs or rule.inputs, **columns)  # fmt: skip

    def written(self, what: str, inputs, *culprits: str, **columns):
        """Registers `make(t, wrong)`, for autograd_cy and PyTorch."""
        return self._made(what, inputs, culprits, {"libraries": LIBRARIES[:2]} | columns)

    def composed(self, what: str, inputs, *culprits: str, **columns):
        """Registers `make(xp, wrong)`, for all libraries."""
        return self._made(what, inputs, culprits, {"forward": True} | columns)

    def _made(self, what, inputs, culprits, columns):
        inputs = Inputs(inputs) if isinstance(inputs, str) else inputs

        def register(make):
            columns.setdefault("repaired", f"{self.name}: {what}")
            self._add(what, culprits, lambda module, library, wrong: make(module, wrong), inputs, **columns)
            return make

        return register
