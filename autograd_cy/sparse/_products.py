"""Products of sparse matrices (facade)."""

from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor, array_of, from_array
from .._core.ops.basics import OPS
from .._core.ops.nn.embedding import embedding_bag as _bags_of
from .._settings.autocast import rule_for
from ..autograd.function import Function
from ._pattern import coo_pattern, indices_of
from ._tensor import SparseTensor, coalesced, from_values, implements, refused, sums, values_of


class Places:
    """Rows and columns of the values of a matrix, and the order that sorts them by row, found when asked for."""

    def __init__(self, rows: np.ndarray, cols: np.ndarray, n: int, m: int, transposed: "Places | None" = None):
        self.rows, self.cols, self.n, self.m = rows, cols, n, m
        self._transposed = transposed
        self._starts: Any = None

    def t(self) -> "Places":
        if self._transposed is None:
            self._transposed = Places(self.cols, self.rows, self.m, self.n, self)
        return self._transposed

    def starts(self) -> tuple[Any, np.ndarray, np.ndarray]:
        """The order by rows (None: they are), where each row that has values starts, and its number."""
        if self._starts is None:
            rows = self.rows
            order = None if (rows[1:] >= rows[:-1]).all() else np.argsort(rows, kind="stable")
            rows = rows if order is None else rows[order]
            starts = np.flatnonzero(np.diff(rows, prepend=-1)) if rows.size else np.zeros(0, np.int64)
            self._starts = order, starts, rows[starts]
        return self._starts


_BLOCK = 1 << 20  # elements of the rows that are multiplied at a time


class SparseProduct(Function):
    """y[r] = the sum of values * dense[c] over the places (r, c) of a matrix. It is linear in both."""

    @staticmethod
    def forward(ctx: Any, values: Any, dense: Any, places: Places) -> Any:
        ctx.save_for_backward(values, dense)
        ctx.places = places
        ctx.save_for_forward(values, dense)
        return from_array(_product(array_of(values), array_of(dense), places))

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        values, dense = ctx.saved_tensors
        of_values = of_dense = None
        if ctx.needs_input_grad[0]:
            of_values = SampledProduct.apply(g, dense.conj() if dense.is_complex() else dense, ctx.places)
        if ctx.needs_input_grad[1]:
            of_dense = SparseProduct.apply(values.conj() if values.is_complex() else values, g, ctx.places.t())
        return of_values, of_dense, None

    @staticmethod
    def jvp(ctx: Any, of_values: Any, of_dense: Any, _: Any) -> Any:
        values, dense = ctx.saved_tensors
        return SparseProduct.apply(of_values, dense, ctx.places) + SparseProduct.apply(values, of_dense, ctx.places)


class SampledProduct(Function):
    """y[k] = the sum over j of left[r, j] * right[c, j], for each place (r, c) of a matrix. It is linear in both."""

    @staticmethod
    def forward(ctx: Any, left: Any, right: Any, places: Places) -> Any:
        ctx.save_for_backward(left, right)
        ctx.places = places
        ctx.save_for_forward(left, right)
        a, b = array_of(left), array_of(right)
        made = np.empty(places.rows.size, np.result_type(a, b))
        step = max(_BLOCK // max(a.shape[1], 1), 1)
        for k in range(0, made.size, step):
            part = slice(k, k + step)
            made[part] = np.einsum("ij,ij->i", *(_summed(x) for x in (a[places.rows[part]], b[places.cols[part]])))
        return from_array(made)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        left, right = ctx.saved_tensors
        of_left = of_right = None
        if ctx.needs_input_grad[0]:
            of_left = SparseProduct.apply(g, right.conj() if right.is_complex() else right, ctx.places)
        if ctx.needs_input_grad[1]:
            of_right = SparseProduct.apply(g, left.conj() if left.is_complex() else left, ctx.places.t())
        return of_left, of_right, None

    @staticmethod
    def jvp(ctx: Any, of_left: Any, of_right: Any, _: Any) -> Any:
        left, right = ctx.saved_tensors
        return SampledProduct.apply(of_left, right, ctx.places) + SampledProduct.apply(left, of_right, ctx.places)


def _summed(array: np.ndarray) -> np.ndarray:
    """The numbers in the type in which they are summed: float32 for floats of 16 bits."""
    return array.astype(np.float32) if array.itemsize == 2 and array.dtype.kind not in "iu" else array


def _product(values: np.ndarray, dense: np.ndarray, places: Places) -> np.ndarray:
    """`SparseProduct` on arrays: consecutive products of the same row are summed."""
    width = dense.shape[1]
    if values.dtype == dense.dtype and values.dtype.kind == "f":
        return _sums_of_rows(values, dense, places)
    made = np.zeros((places.n, width), np.result_type(values, dense))
    if not values.size or not width:
        return made
    order, starts, numbers = places.starts()
    cols = places.cols if order is None else places.cols[order]
    values = values if order is None else values[order]
    ends = np.append(starts[1:], values.size)
    first, step = 0, max(_BLOCK // width, 1)
    while first < starts.size:
        last = max(int(np.searchsorted(ends, starts[first] + step, side="right")), first + 1)
        part = slice(starts[first], ends[last - 1])
        products = dense[cols[part]]
        products *= values[part, None]
        made[numbers[first:last]] = np.add.reduceat(products, starts[first:last] - starts[first], axis=0)
        first = last
    return made


def _sums_of_rows(values: np.ndarray, dense: np.ndarray, places: Places) -> np.ndarray:
    """The product of real matrices: embedding_bag() computes weighted sums of rows of the dense one."""
    order, starts, numbers = places.starts()
    cols, values = (x if order is None else x[order] for x in (places.cols, values))
    sizes = np.zeros(places.n + 1, np.int64)
    sizes[numbers + 1] = np.diff(np.append(starts, values.size))
    parts = (from_array(x) for x in (dense, cols, np.cumsum(sizes)))
    return array_of(_bags_of(*parts, False, 0, False, from_array(values), True)[0])


def places_in(tensor: Any) -> Places:
    """The places of a matrix's values."""
    rows, cols = indices_of(tensor._pattern)
    return Places(rows, np.ascontiguousarray(cols), *tensor._pattern.size)


def _check_matrix(tensor: Any, name: str) -> None:
    if tensor.ndim != 2 or tensor._pattern.sparse_dim != 2:
        raise RuntimeError(
            f"{name}(): expected a sparse matrix of 2 sparse dimensions, got {tensor._pattern.sparse_dim} sparse and "
            f"{len(tensor._pattern.dense_sizes)} dense ones"
        )


def cast_as_mm(*operands: Any) -> tuple[Any, ...]:
    """The operands in the type in which autocast has mm() computed, for products that PyTorch composes of it."""
    rule = rule_for(OPS["mm"].function)
    return operands if rule is None else rule(lambda *cast: cast, operands, {})


def product(a: Any, b: Any, name: str = "mm") -> Any:
    """The product of two matrices, at least one of them sparse."""
    for x in (a, b):
        if type(x) is SparseTensor:
            _check_matrix(x, name)
        elif not isinstance(x, Tensor):
            raise TypeError(f"{name}(): expected Tensors, got {type(x).__name__}")
        elif x.ndim != 2:
            raise RuntimeError(f"{name}: matrices expected, got {x.ndim}D tensor")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})"
        )
    if a.dtype is not b.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {a.dtype} != {b.dtype}")
    if type(a) is SparseTensor:
        return _of_two(a, b) if type(b) is SparseTensor else SparseProduct.apply(values_of(a), b, places_in(a))
    return SparseProduct.apply(values_of(b), a.t(), places_in(b).t()).t()


def _of_two(a: Any, b: Any) -> Any:
    """The product of two sparse matrices: each value of the first times the second's row at its column."""
    csr = a.is_sparse_csr and b.is_sparse_csr
    a, b = coalesced(a), coalesced(b)
    rows, middle = indices_of(a._pattern)
    others, cols = indices_of(b._pattern)
    starts = np.searchsorted(others, np.arange(b.shape[0] + 1))
    counts = np.diff(starts)[middle]
    left = np.repeat(np.arange(middle.size), counts)
    right = np.arange(left.size) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(starts[middle], counts)
    keys = rows[left] * b.shape[1] + cols[right]
    places, inverse = np.unique(keys, return_inverse=True)
    products = values_of(a).index_select(0, from_array(left)) * values_of(b).index_select(0, from_array(right))
    made = from_values(sums(products, inverse, places.size), coo_pattern(places, (a.shape[0], b.shape[1]), 2))
    return made.to_sparse_csr() if csr else made


@implements("matmul", "__matmul__", "__rmatmul__")
def matmul(input: Any, other: Any) -> Any:
    if isinstance(other, Tensor) and isinstance(input, Tensor):
        if other.ndim == 1:
            return mv(input, other)
        if input.ndim == 1:
            return product(input.unsqueeze(0), other, "matmul").squeeze(0)
    return product(input, other, "matmul")


@implements("mm", "spmm", "dsmm", "smm")
def mm(input: Any, mat2: Any, reduce: str | None = None, *, out: Any = None) -> Any:
    if out is not None:
        raise refused("mm.out", [input, mat2])
    if reduce not in (None, "sum"):
        raise NotImplementedError(f"sparse.mm(): there is no reduce={reduce!r}: sums alone")
    return product(input, mat2)


@implements("hspmm")
def hspmm(mat1: Any, mat2: Any) -> Any:
    """The product of a sparse and a dense matrix, as a sparse tensor of rows."""
    whole = product(mat1, mat2, "hspmm")
    rows = np.unique(indices_of(mat1._pattern)[0])
    pattern = coo_pattern(rows, tuple(whole.shape), 1)
    return from_values(whole.index_select(0, from_array(rows)), pattern)


@implements("mv")
def mv(input: Any, vec: Any) -> Any:
    if type(input) is not SparseTensor or type(vec) is SparseTensor:
        raise refused("mv", [input, vec])
    if vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {input.ndim}, {vec.ndim}")
    if input.is_sparse:
        input, vec = cast_as_mm(input, vec)
    return product(input, vec.unsqueeze(1), "mv").squeeze(1)


@implements("addmm", "sspaddmm", "__addmm__")
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
    if out is not None:
        raise refused("addmm.out", [input, mat1, mat2])
    made = product(mat1, mat2, "addmm")
    made = made if alpha == 1 else made * alpha
    if beta == 0:
        return made
    input = input if beta == 1 else input * beta
    return made + input if type(made) is not SparseTensor and type(input) is SparseTensor else input + made


@implements("linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """input @ weight.T + bias, where the rows of inputs, or the weights, are sparse."""
    if type(bias) is SparseTensor:
        raise RuntimeError("expand is unsupported for Sparse tensors (linear(): the bias must be dense)")
    if input.ndim == 1:
        return linear(input.unsqueeze(0), weight, bias).squeeze(0)
    if weight.ndim == 1:
        return linear(input, weight.unsqueeze(0), bias).squeeze(-1)
    rows = input if input.ndim == 2 else input.reshape(-1, input.shape[-1])
    made = product(rows, weight.t(), "linear")
    made = made if input.ndim == 2 else made.reshape(*input.shape[:-1], weight.shape[0])
    return made if bias is None else made + bias


def sampled_addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1, out: Any = None) -> Any:
    """beta * input + alpha * (mat1 @ mat2) at the places of the sparse matrix `input`, which alone are computed."""
    if type(input) is not SparseTensor or not input.is_sparse_csr:
        raise RuntimeError("sampled_addmm: Expected input to be a sparse CSR tensor")
    if out is not None:
        raise refused("sampled_addmm.out", [input])
    if mat1.ndim != 2 or mat2.ndim != 2 or mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            "mat1 and mat2 shapes cannot be multiplied "
            f"({'x'.join(map(str, mat1.shape))} and {'x'.join(map(str, mat2.shape))})"
        )
    if tuple(input.shape) != (mat1.shape[0], mat2.shape[1]):
        raise RuntimeError(
            f"sampled_addmm: Expected input to have the shape {[mat1.shape[0], mat2.shape[1]]}, got {list(input.shape)}"
        )
    sampled = SampledProduct.apply(mat1, mat2.t(), places_in(input))
    return from_values(values_of(input) * beta + sampled * alpha, input._pattern)
