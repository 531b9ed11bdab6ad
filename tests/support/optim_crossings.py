"""Optimizers under any thresholds, in all layouts of parameters and gradients, by all ways to a step.

What is compared: the parameters and the state after a few steps, with those of parameters and gradients in C order, one
group, one thread and no options that choose a way.
"""

import copy
import pickle
from dataclasses import dataclass, fields

import numpy as np
from crossings import LAYOUTS as ALL_LAYOUTS
from crossings import NEAR, PLAIN, compare, drawn_thresholds, expanded, in_order, kernel_threads, outcome, thresholds
from op_calls import assert_unwritten
from optim_rows import MATRICES, accepts

import autograd_cy as ag

STEPS, COUNT = 4, 140
SHAPES, OF_MATRICES = [(5, 4, 7), (3,), (), (2, 0)], [(10, 14), (3, 2)]
# Muon rounds to bfloat16, on one side of a middle or the other. The others keep numbers in float32, which a state dict widens.
ROUNDED = {"Muon": 1e-2, "NAdam": 1e-6, "ASGD": 1e-6}
WRITABLE = tuple(layout for layout in ALL_LAYOUTS if layout is not expanded)


@dataclass(frozen=True)
class Way:
    """How an optimizer is run."""

    params: object = in_order  # layouts
    gradients: object = in_order
    incoming: str = "set"  # how gradients come
    chosen: str = "none"  # the option that chooses how a step is made
    groups: str = "one"
    between: str = "nothing"  # what is done to the optimizer after the second step
    target: str = "whole"  # what a parameter is
    threads: int = 1

    def __str__(self):
        values = [(f.name, getattr(self, f.name)) for f in fields(self)]
        return ", ".join(f"{name}={getattr(value, '__name__', value)}" for name, value in values)


LEVELS = {
    "params": WRITABLE,
    "gradients": ALL_LAYOUTS,
    "incoming": ("set", "backward", "added"),
    "chosen": ("none", "foreach", "fused", "differentiable"),
    "groups": ("one", "each"),
    "between": ("nothing", "state dict", "pickle", "copy"),
    "target": ("whole", "part"),
    "threads": (1, 2),
}


@dataclass(frozen=True)
class OptimSubject:
    name: str
    options: dict
    dtype: str

    def __str__(self):
        return f"{self.name}-{self.options}-{self.dtype}"

    @property
    def can_be_recorded(self) -> bool:
        """Operations round each of their results: in float16 and bfloat16 a recorded step is another one."""
        return accepts(self.name, "differentiable") and "float16" not in self.dtype

    def arrays(self, salt: int) -> list[np.ndarray]:
        """The start (salt 0), or the gradients of a step."""
        rng, made = np.random.default_rng(salt), []
        for shape in OF_MATRICES if self.name in MATRICES else SHAPES:
            values = rng.uniform(-1, 1, shape)
            values = values + 1j * rng.uniform(-1, 1, shape) if "complex" in self.dtype else values
            made.append(np.asarray(values).astype(self.dtype))
        return made


class Run:
    """One optimizer's steps. `held`: the gradients that the user has, and what was in them."""

    def __init__(self, subject: OptimSubject, way: Way, is_plain: bool):
        self.subject, self.way, self.is_plain, self.held = subject, way, is_plain, []
        self.is_recorded = way.chosen == "differentiable" and subject.can_be_recorded
        self.memory = [self._arranged(array, way.params) for array in subject.arrays(0)]
        with ag.no_grad():
            whole = [ag.from_numpy(array) for array in self.memory]
            parts = [x[None][0] for x in whole] if way.target == "part" else whole
        self.params = [x.detach().requires_grad_() for x in parts]
        if self.is_recorded:
            self.params = [x.clone() for x in self.params]
        self.optimizer = self._made()

    def _arranged(self, array, layout):
        return np.array(layout(array), order="C") if self.is_plain else layout(array)

    def _made(self):
        name, options, chosen = self.subject.name, dict(self.subject.options), self.way.chosen
        if self.is_recorded or (chosen in ("foreach", "fused") and accepts(name, chosen)):
            options[chosen] = True
        groups = self.params
        if self.way.groups == "each" and not self.is_plain and name != "LBFGS":
            groups = [{"params": [x]} for x in self.params]
        return getattr(ag.optim, name)(groups, lr=0.1, **options)

    def run(self) -> list[np.ndarray]:
        """The parameters and the state; an AssertionError if a gradient was written, or is kept."""
        for k in range(STEPS):
            if k == 2:
                self._interrupt()
            self._step(k)
            for array, before in self.held:
                assert_unwritten(array, before, "a gradient")
        found = [x.numpy(force=True).copy() for x in self.params]
        return found + [np.array(x) for x in self._state()]

    def _state(self) -> list[np.ndarray]:
        states = [self.optimizer.state[x] for x in self.params if x in self.optimizer.state]
        kept = [(name, v.numpy(force=True)) for state in states for name, v in sorted(state.items()) if is_tensor(v)]
        for name, array in kept:
            for other, _ in self.held:
                assert not (array.size and np.may_share_memory(array, other)), f"{name} shares memory with a gradient"
        scalars = getattr(self.optimizer, "_scalars", ())
        return [array.astype(np.float32) if name in scalars else array for name, array in kept]

    def _interrupt(self):
        """The same optimizer, gone another way."""
        if self.is_plain or self.way.between == "nothing" or self.is_recorded:
            return
        if self.way.between == "copy":
            self.params, self.optimizer = copy.deepcopy((self.params, self.optimizer))
            return
        state = self.optimizer.state_dict()
        if self.way.between == "pickle":
            state = pickle.loads(pickle.dumps(state))
        self.optimizer = self._made()
        self.optimizer.load_state_dict(state)

    def _step(self, k: int):
        seeds = [self._arranged(array, self.way.gradients) for array in self.subject.arrays(k + 1)]
        self.held += [(array, array.copy()) for array in seeds]

        def closure():
            self._set_gradients([ag.from_numpy(array) for array in seeds])
            return sum((x.detach() * ag.from_numpy(array)).abs().sum() for x, array in zip(self.params, seeds, strict=True))

        if self.subject.name == "LBFGS":
            self.optimizer.step(closure)
        else:
            closure()
            self.optimizer.step()

    def _set_gradients(self, seeds):
        if self.way.incoming == "set" or self.is_recorded:
            for x, g in zip(self.params, seeds, strict=True):
                x.grad = g
            return
        self.optimizer.zero_grad()
        halves = [0.5, 0.5] if self.way.incoming == "added" else [1.0]
        for half in halves:
            with ag.enable_grad():
                roots = [x * half if half != 1 else x.view_as(x) for x in self.params]
            ag.autograd.backward(roots, seeds)


def is_tensor(value) -> bool:
    return isinstance(value, ag.Tensor)


class Checker:
    """Runs ways of one subject; remembers what the plain one gives."""

    def __init__(self, subject: OptimSubject):
        self.subject, self._expected = subject, {}
        self.itemsize = np.dtype(subject.dtype).itemsize

    def drawn_thresholds(self, rng) -> dict:
        return drawn_thresholds(rng, COUNT, self.itemsize)

    def check(self, way: Way, values: dict) -> None:
        key = way.gradients is expanded
        if key not in self._expected:
            with thresholds(PLAIN), kernel_threads(1):
                plain = Way(gradients=expanded if key else in_order)
                self._expected[key] = outcome(Run(self.subject, plain, True).run)
        with thresholds(values), kernel_threads(way.threads):
            found = outcome(Run(self.subject, way, False).run)
        # load_state_dict() casts the state, numbers such as NAdam's mu_product too, to the type of the parameters
        compare(found, self._expected[key], max(ROUNDED.get(self.subject.name, 0.0), NEAR[np.dtype(self.subject.dtype).char]))
