"""``torch.cuda.random``: the generators of a device that is not there (facade)."""

from typing import Any

from .._compat import answers as _answers

__all__ = [
    "get_rng_state", "get_rng_state_all", "initial_seed", "manual_seed", "manual_seed_all", "seed", "seed_all",
    "set_rng_state", "set_rng_state_all",
]  # fmt: skip

manual_seed = manual_seed_all = seed = seed_all = set_rng_state = set_rng_state_all = _answers.answers(None)
get_rng_state_all = _answers.answers(list[Any]())
get_rng_state = initial_seed = _answers.refuses(AssertionError, "Torch not compiled with CUDA enabled")

_answers.named(globals(), "there is no such device")
