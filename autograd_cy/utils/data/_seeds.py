"""Random seeds (facade)."""

from ..._random import Generator
from ...random import default_generator, randint


def drawn_seed(generator: Generator | None) -> int:
    """drawn_seed(generator) -> a seed, drawn from it or the default generator."""
    return int(randint(0, 2**63 - 1, (), generator=generator or default_generator).item())
