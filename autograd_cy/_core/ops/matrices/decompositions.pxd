"""QR, eigenvalues, singular values, and what follows from them: least squares, determinants, norms, functions of matrices."""
