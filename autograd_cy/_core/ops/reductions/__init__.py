"""Reductions: sums, means, norms, extremes, running sums."""
