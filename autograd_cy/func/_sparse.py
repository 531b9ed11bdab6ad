"""Sparse Jacobians and Hessians, by few products with vectors (facade).

Columns without a common row may share a colour, neighbours may not: one product with the sum of a colour's unit vectors
computes all of its columns. Source: Curtis, Powell and Reid, "On the estimation of sparse Jacobian matrices" (1974);
Gebremedhin, Manne and Pothen, "What color is your Jacobian?" (2005).
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor, array_of, from_array
from .._core.runtime.entry import public
from ._forward import jvp
from ._reverse import grad, vjp
from ._vmap import vmap

__all__ = ["sparse_hessian", "sparse_jacobian"]

Products = Callable[[np.ndarray], np.ndarray]  # rows of vectors -> the product of the matrix with each


def sparse_jacobian(
    func: Callable[..., Any],
    argnums: int = 0,
    *,
    pattern: Any = None,
    mode: str = "auto",
    check: bool = True,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """``sparse_jacobian(func)(*args)`` is the Jacobian of func by an argument, as a scipy.sparse.csr_array.

    func returns one tensor; the matrix has a row for each of its elements and a column for each of the argument's. It is
    computed by one product per colour of the pattern: 3 for a tridiagonal matrix of any size.
    pattern: the possible nonzeros, in the matrix's shape: a sparse or a NumPy array, or a tensor of bools. None: it is probed
    at each call, by about log2(columns) times as many products.
    mode: 'forward' compresses columns, 'reverse' rows, 'auto' chooses fewer products.
    check: one more product, with random numbers; ValueError if the pattern lacks an entry.
    chunk_size: the number of products at a time; None is all at once. ImportError without SciPy: ``pip install
    "autograd_cy[sparse]"``.

    >>> import autograd_cy as ag
    >>> jacobian = ag.func.sparse_jacobian(lambda x: x[1:] * x[:-1])(ag.tensor([1.0, 2.0, 3.0, 4.0]))
    >>> jacobian.toarray()
    array([[2., 1., 0., 0.],
           [0., 3., 2., 0.],
           [0., 0., 4., 3.]], dtype=float32)
    """
    if mode not in ("auto", "forward", "reverse"):
        raise ValueError(f"sparse_jacobian(): mode must be 'auto', 'forward' or 'reverse', got {mode!r}")
    known = None if pattern is None else _pattern(pattern)

    @public
    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        problem = _Problem(func, argnums, args, kwargs, chunk_size)
        return _compressed(problem, known, mode, check and pattern is not None)

    return jacobian


def sparse_hessian(
    func: Callable[..., Any],
    argnums: int = 0,
    *,
    pattern: Any = None,
    check: bool = True,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """``sparse_hessian(func)(*args)`` is the matrix of second derivatives by an argument, as a scipy.sparse.csr_array.

    func returns one element; forward over reverse mode. See sparse_jacobian for the rest.

    >>> import autograd_cy as ag
    >>> ag.func.sparse_hessian(lambda x: (x**3).sum())(ag.tensor([1.0, 2.0])).toarray()
    array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)
    """
    return sparse_jacobian(
        grad(func, argnums), argnums, pattern=pattern, mode="forward", check=check, chunk_size=chunk_size
    )


def _scipy_sparse() -> Any:
    try:
        from scipy import sparse
    except ImportError as error:
        raise ImportError('sparse_jacobian() needs SciPy: pip install "autograd_cy[sparse]"') from error
    return sparse


class _Problem:
    """A function at one point: its products with vectors."""

    def __init__(self, func: Any, argnum: Any, args: tuple[Any, ...], kwargs: dict[str, Any], chunk_size: int | None):
        if not isinstance(argnum, int) or not -len(args) <= argnum < len(args) or not isinstance(args[argnum], Tensor):
            raise ValueError(f"sparse_jacobian(): argnums={argnum} must be the number of an argument that is a tensor")
        before, self.x, after = args[:argnum], args[argnum].detach(), args[argnum + 1 or len(args) :]
        self._func = lambda x: func(*before, x, *after, **kwargs)
        self._chunk_size = chunk_size
        output, self._pull_back = vjp(self._func, self.x)
        if not isinstance(output, Tensor):
            raise RuntimeError(f"sparse_jacobian(): Expected func to return a Tensor, got {type(output)}")
        self.y = output.detach()
        self.shape = (self.y.numel(), self.x.numel())

    def forward(self, vectors: np.ndarray) -> np.ndarray:
        """The Jacobian times each of the vectors, which are rows."""
        tangents = from_array(vectors.reshape(len(vectors), *self.x.shape))
        products = vmap(lambda t: jvp(self._func, (self.x,), (t,))[1], chunk_size=self._chunk_size)(tangents)
        return array_of(products.detach()).reshape(len(vectors), -1)

    def reverse(self, vectors: np.ndarray) -> np.ndarray:
        """Each of the vectors times the Jacobian."""
        seeds = from_array(vectors.reshape(len(vectors), *self.y.shape))
        products = vmap(lambda g: self._pull_back(g)[0], chunk_size=self._chunk_size)(seeds)
        return array_of(products.detach()).reshape(len(vectors), -1)


def _pattern(given: Any) -> Any:
    """A pattern as a matrix of ones in the order of rows."""
    sparse = _scipy_sparse()
    if isinstance(given, Tensor):
        given = array_of(given.detach())
    if not sparse.issparse(given):
        given = np.asarray(given)
    if given.ndim != 2:
        raise ValueError(f"sparse_jacobian(): the pattern must be a matrix, got one of shape {given.shape}")
    found = sparse.csr_array(given)
    found.sum_duplicates()
    return sparse.csr_array((np.ones(found.nnz, bool), found.indices, found.indptr), shape=found.shape)


def _compressed(problem: _Problem, pattern: Any, mode: str, check: bool) -> Any:
    """The Jacobian, by one product per colour of the pattern."""
    if pattern is not None and pattern.shape != problem.shape:
        raise ValueError(
            f"sparse_jacobian(): the pattern has shape {pattern.shape}, but the Jacobian has {problem.shape}"
        )
    if 0 in problem.shape:
        return _scipy_sparse().csr_array(problem.shape, dtype=array_of(problem.y).dtype)
    if pattern is None:
        by_rows = mode == "reverse" or (mode == "auto" and problem.shape[0] < problem.shape[1])
        pattern = _probed(problem, by_rows)
    if mode == "auto":
        columns, rows = _colours(pattern), _colours(pattern.T.tocsr())
        by_rows = rows.max(initial=-1) < columns.max(initial=-1)
        colours = rows if by_rows else columns
    else:
        by_rows = mode == "reverse"
        colours = _colours(pattern.T.tocsr() if by_rows else pattern)
    result = _scipy_sparse().csr_array(pattern, dtype=array_of(problem.y).dtype)
    row = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    column = pattern.indices
    if by_rows:
        result.data = _products(problem.reverse, colours, problem.y)[colours[row], column]
    else:
        result.data = _products(problem.forward, colours, problem.x)[colours[column], row]
    if check:
        _check(problem, result)
    return result


def _products(multiply: Products, colours: np.ndarray, x: Tensor) -> np.ndarray:
    """A product for each colour, with the sum of its unit vectors."""
    seeds = np.zeros((colours.max(initial=-1) + 1, len(colours)), array_of(x).dtype)
    seeds[colours, np.arange(len(colours))] = 1
    return multiply(seeds)


def _colours(pattern: Any) -> np.ndarray:
    """A colour for each column, so that columns of one colour have no common row: greedily the first that fits, in order of
    decreasing number of neighbours."""
    n = pattern.shape[1]
    if pattern.nnz == 0:
        return np.zeros(n, np.intp)
    ones = pattern.astype(np.int32)
    neighbours = (ones.T @ ones).tocsr()
    degrees = np.diff(neighbours.indptr)
    colours = np.full(n, -1, np.intp)
    taken = np.full(degrees.max() + 1, -1, np.intp)  # for each colour the last column with a neighbour of that colour
    for j in np.argsort(-degrees, kind="stable"):
        found = colours[neighbours.indices[neighbours.indptr[j] : neighbours.indptr[j + 1]]]
        taken[found[found >= 0]] = j
        colours[j] = np.argmax(taken != j)
    return colours


def _check(problem: _Problem, matrix: Any) -> None:
    """ValueError unless matrix and function's Jacobian have the same product with random numbers."""
    v = _random(problem.x, 1)
    expected, found = problem.forward(v)[0], matrix @ v[0]
    scale = abs(matrix) @ abs(v[0]) + abs(expected)
    wrong = ~(abs(found - expected) <= 1e3 * np.finfo(expected.dtype).eps * scale) & np.isfinite(expected)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"sparse_jacobian(): the Jacobian has entries that are nonzero where the pattern has none, in row {row} among "
            f"others: a product with random numbers is {expected[row]} there, by the pattern {found[row]}"
        )


def _random(x: Tensor, n: int) -> np.ndarray:
    """n vectors of random numbers between 0.5 and 1.5, always the same."""
    return np.random.default_rng(0).uniform(0.5, 1.5, (n, x.numel())).astype(array_of(x).dtype)


def _probed(problem: _Problem, by_rows: bool) -> Any:
    """The nonzeros of the Jacobian: blocks of columns (or rows) are halved repeatedly, and their rows probed again.

    One product with random numbers probes all blocks of one colour: the rows of their parents tell which block an entry
    belongs to. Source: Griewank and Mitev, "Detecting Jacobian sparsity patterns by Bayesian probing" (2002).
    """
    sparse = _scipy_sparse()
    multiply, x = (problem.reverse, problem.y) if by_rows else (problem.forward, problem.x)
    m, n = problem.shape[::-1] if by_rows else problem.shape
    numbers = _random(x, 1)[0]
    starts = np.array([0, n])
    found = sparse.csr_array(np.ones((m, 1), bool))
    while True:
        starts, parents = _halved(starts)
        possible = sparse.csr_array(found[:, parents])
        colours = _colours(possible)
        widths = np.diff(starts)
        colour_of = np.repeat(colours, widths)  # of each column
        seeds = np.zeros((colours.max() + 1, n), numbers.dtype)
        seeds[colour_of, np.arange(n)] = numbers
        products = multiply(seeds) != 0
        row = np.repeat(np.arange(m), np.diff(possible.indptr))
        hit = products[colours[possible.indices], row]
        found = sparse.csr_array((hit[hit], (row[hit], possible.indices[hit])), shape=(m, len(widths)))
        if len(widths) == n:
            return _pattern(found.T if by_rows else found)


def _halved(starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The starts of halved blocks (and the end of the last), with the number of each half's parent."""
    begins, ends = starts[:-1], starts[1:]
    middles = (begins + ends) // 2
    wide = ends - begins > 1
    parents = np.repeat(np.arange(len(begins)), 1 + wide)
    edges = np.sort(np.concatenate([begins, middles[wide], starts[-1:]]))
    return edges, parents
