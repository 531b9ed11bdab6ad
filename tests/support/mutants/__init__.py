"""Wrong derivatives, each beside its right version: MUTANTS, by kind (see corpus.py for what one is)."""

from mutants import compositions, formulas, places, written
from mutants.corpus import MUTANTS, Mutant
from mutants.rules import RULES

__all__ = ["MUTANTS", "RULES", "Mutant", "compositions", "formulas", "places", "written"]
