"""Linear algebra: inverses, systems of equations, determinants, decompositions, norms of matrices."""
