"""Rows of the op table: views by other names, parts and copies with a part replaced, joining and repeating."""

import functools

import numpy as np
import op_references as ref
from op_case import ALL, OpInfo, S
from op_promotion import operands_of, promote_types
from op_samples import calls


def _shape(path, reference, generate, **columns):
    """An op that moves values about."""
    return OpInfo(path, reference, generate, **{"result": "first"} | columns)


def _common(args):
    """The type to which tensors promote, of equal rank."""
    return functools.reduce(promote_types, [x.dtype for x in operands_of(args) if isinstance(x, np.ndarray)])


def _joined(path, reference, generate, **columns):
    return _shape(path, reference, generate, **{"result": _common, "method": False} | columns)


def _part(x, dim, *bounds):
    """x[:, ..., bounds] along a dimension."""
    return (slice(None),) * (dim % x.ndim) + (slice(*bounds),)


def _replaced(x, place, values):
    y = x.copy()
    y[place] = values
    return y


def _diagonal_places(x, offset=0, dim1=0, dim2=1):
    return tuple(places.diagonal(offset, dim1, dim2) for places in np.indices(x.shape))


def _unflatten(x, dim, sizes):
    d = dim % x.ndim
    return x.reshape(*x.shape[:d], *sizes, *x.shape[d + 1 :])


def _tensor_split(x, sections, dim=0):
    return np.array_split(x, sections, axis=dim)


def _unfold(x, dimension, size, step):
    windows = np.lib.stride_tricks.sliding_window_view(np.atleast_1d(x), size, axis=dimension)
    return windows[_part(windows[..., 0], dimension, None, None, step)] if x.ndim else windows[0]


def _strided(x, size, stride, storage_offset=0):
    places = storage_offset
    for n, step in zip(size, stride, strict=True):
        places = np.add.outer(places, np.arange(n) * step)
    return x.ravel()[places]


def _strided_scatter(x, src, size, stride, storage_offset=0):
    places = _strided(np.arange(x.size), size, stride, storage_offset)
    return _replaced(x.ravel(), places, src).reshape(x.shape)


def _split(x, size, dim=0):
    return ref.split(x, size if isinstance(size, int) else list(size), dim)


def _chunk(x, n, dim=0):
    return ref.split(x, -(-x.shape[dim] // n), dim)


def _rows(x, dim=0, start=None, end=None, step=1):
    return x[_part(x, dim, start, end, step)]


def _slice_scatter(x, src, dim=0, start=None, end=None, step=1):
    return _replaced(x, _part(x, dim, start, end, step), src)


def _block_diag(*blocks):
    blocks = [np.atleast_2d(b) for b in blocks]
    whole = np.zeros(np.sum([b.shape for b in blocks], axis=0), np.result_type(*blocks))
    row = column = 0
    for b in blocks:
        whole[row : row + b.shape[0], column : column + b.shape[1]] = b
        row, column = row + b.shape[0], column + b.shape[1]
    return whole


def _tile(x, *dims):
    dims = dims[0] if isinstance(dims[0], tuple) else dims
    return np.tile(x, dims)


def _chosen(x, r=2, with_replacement=False):
    places = np.stack(np.meshgrid(*[np.arange(x.size)] * r, indexing="ij"), -1).reshape(-1, r)
    steps = np.diff(places, axis=1)
    return x[places[(steps >= (0 if with_replacement else 1)).all(1)]]


def _diag_embed(x, offset=0, dim1=-2, dim2=-1):
    n = x.shape[-1] + abs(offset)
    whole = np.zeros((*x.shape[:-1], n, n), x.dtype)
    whole[(..., *_diagonal_places(whole[(0,) * (x.ndim - 1)], offset))] = x
    return np.moveaxis(whole, (-2, -1), (dim1, dim2))


def _padded(x, pad, value=0):
    widths = [(0, 0)] * (x.ndim - len(pad) // 2) + [(pad[k], pad[k + 1]) for k in range(len(pad) - 2, -1, -2)]
    borders = [(max(a, 0), max(b, 0)) for a, b in widths]
    whole = np.pad(x, borders, constant_values=value) if borders else x.copy()
    return whole[tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(widths, whole.shape, strict=True))]


def _lists(*cases):
    """Samples of an op of a list of tensors, by their shapes."""

    def generate(make):
        for shapes in cases:
            yield S([make(*shape) for shape in shapes])

    return generate


VIEWS = [
    _shape("select", lambda x, dim, index: np.take(x, index, dim), calls(([2, 3], 1, 0), ([2, 3], 0, -1), ([3], -1, 2))),
    _shape("narrow", lambda x, dim, start, length: x[_part(x, dim, start % x.shape[dim], start % x.shape[dim] + length)],
           calls(([4, 2], 0, 1, 2), ([2, 3], -1, -2, 1), ([3], 0, 1, 0))),
    _shape("chunk", _chunk, calls(([4, 2], 2), ([2, 3], 3, -1), ([4], 4))),
    _shape("unsafe_chunk", _chunk, calls(([4, 2], 2), ([2, 3], 3, -1))),
    _shape("unsafe_split", _split, calls(([4, 2], 2), ([2, 4], 2, 1))),
    _shape("split_with_sizes", _split, calls(([4, 2], (1, 3)), ([2, 3], (1, 0, 2), -1))),
    _shape("unsafe_split_with_sizes", _split, calls(([4, 2], (1, 3)), ([2, 3], (1, 0, 2), -1))),
    _shape("tensor_split", _tensor_split, calls(([5, 2], 3), ([2, 3], (1, 2), -1), ([4], (1,)))),
    _shape("hsplit", np.hsplit, calls(([2, 4], 2), ([3], (1,)))),
    _shape("vsplit", np.vsplit, calls(([4, 2], 2), ([3, 1], (1,)))),
    _shape("dsplit", np.dsplit, calls(([2, 1, 2], 2), ([1, 2, 3], (1,)))),
    _shape("unflatten", _unflatten, calls(([4, 2], 0, (2, 2)), ([2, 6], -1, (3, -1, 1))), strided=False),
    _shape("ravel", np.ravel, calls(([2, 3],), ([],), ([0, 2],))),
    _shape("movedim", np.moveaxis, calls(([2, 1, 3], 0, -1), ([2, 1, 3], (0, 1), (2, 0)), ([2, 3], 0, 0))),
    _shape("broadcast_to", np.broadcast_to, calls(([3], (2, 3)), ([2, 1], (2, 2)), ([], (2,)))),
    _joined("broadcast_tensors", np.broadcast_arrays, calls(([3], [2, 1]), ([], [2]), ([2], [2])), result="first"),
    _shape("atleast_1d", np.atleast_1d, calls(([],), ([2, 3],)), method=False),
    _shape("atleast_2d", np.atleast_2d, calls(([],), ([3],), ([2, 3],)), method=False),
    _shape("atleast_3d", np.atleast_3d, calls(([],), ([3],), ([2, 3],), ([1, 2, 1],)), method=False),
    _shape("adjoint", lambda x: np.swapaxes(x, -1, -2).conj(), calls(([2, 3],), ([2, 1, 2],))),
    _shape("Tensor.unfold", _unfold, calls(([5], 0, 2, 1), ([2, 5], -1, 3, 2), ([3, 2], 0, 1, 2), ([], 0, 1, 1))),
    _shape("as_strided", _strided, calls(([4], (2, 2), (1, 1)), ([2, 3], (3,), (2,)), ([3], (2,), (0,))), strided=False),
    _shape("rot90", np.rot90, calls(([2, 3],), ([2, 3], 2), ([2, 3, 1], -1, (1, 2)), ([2, 2], 0))),
    _shape("fliplr", np.fliplr, calls(([2, 3],))),
    _shape("flipud", np.flipud, calls(([2, 3],), ([3],))),
]

PARTS = [
    _shape("select_scatter", lambda x, src, dim, index: _replaced(x, (slice(None),) * (dim % x.ndim) + (index,), src),
           calls(([2, 3], [3], 0, 1), ([2, 3], [2], -1, -1), ([3], [], 0, 1))),
    _shape("slice_scatter", _slice_scatter,
           calls(([3, 2], [3, 2]), ([2, 4], [2, 2], 1, 0, 4, 2), ([3], [1], 0, -1))),
    _shape("diagonal_scatter", lambda x, src, *a: _replaced(x, _diagonal_places(x, *a), src),
           calls(([2, 3], [2]), ([3, 2], [2], -1), ([2, 2, 2], [2, 2], 0, 1, 2))),
    _shape("as_strided_scatter", _strided_scatter, calls(([4], [2], (2,), (2,)), ([2, 3], [2, 2], (2, 2), (3, 1))),
           strided=False),
]

JOINED = [
    _joined("hstack", np.hstack, _lists(([2, 1], [2, 2]), ([2], [1]), ([], [2]))),
    _joined("vstack", np.vstack, _lists(([2, 1], [1, 1]), ([2], [1, 2]), ([], [1]))),
    _joined("dstack", np.dstack, _lists(([1, 2], [1, 2]), ([2], [2]), ([1, 2, 2], [1, 2, 1]))),
    _joined("column_stack", np.column_stack, _lists(([2], [2, 2]), ([], [1]))),
    _joined("block_diag", _block_diag, calls(([2, 1], [3]), ([], [1, 2]), ([2],), ([0, 1], [1]))),
    _shape("Tensor.repeat", _tile, calls(([3], 2), ([2, 1], (2, 1, 2)), ([], 2), ([2, 2], 1, 2), ([2], 0))),
    _shape("tile", _tile, calls(([3], (2,)), ([2, 1], (2,)), ([2], (2, 1)), ([], (2,)))),
    _joined("meshgrid", lambda *xs, indexing: np.meshgrid(*xs, indexing=indexing),
            lambda make: (S(make(2), make(3), indexing=i) for i in ("ij", "xy"))),
    _joined("cartesian_prod", lambda *xs: np.stack(np.meshgrid(*xs, indexing="ij"), -1).reshape(-1, len(xs)).squeeze(
            () if len(xs) > 1 else 1), calls(([2], [3]), ([2],), ([1], [2], [2]))),
    _shape("combinations", _chosen, calls(([4],), ([3], 2, True), ([3], 3), ([1],)), method=False),
    _shape("diag_embed", _diag_embed, calls(([2],), ([2, 2], 1), ([2, 2], -1, 0, 2), ([1], 0))),
    _shape("diagflat", lambda x, offset=0: np.diagflat(x, offset), calls(([2],), ([2, 1], 1), ([],))),
    _shape("trace", np.trace, calls(([3, 3],), ([2, 3],), ([0, 2],)), result="sum"),
    _shape("tril", np.tril, calls(([3, 3],), ([2, 3], 1), ([2, 3, 2], -1), ([0, 2],))),
    _shape("triu", np.triu, calls(([3, 3],), ([2, 3], 1), ([2, 3, 2], -1), ([0, 2],))),
    _shape("constant_pad_nd", _padded,
           calls(([3], (1, 2)), ([2, 3], (1, -1), 2), ([2, 1], (0, 1, 2, -1)), ([2], ()), ([], ())), method=False),
]  # fmt: skip

COPIES = [
    _shape("alias_copy", np.copy, calls(([2, 3],), ([],)), method=False),
    _shape("as_strided_copy", _strided, calls(([4], (2, 2), (1, 1)), ([2, 3], (3,), (2,))), strided=False, method=False),
    _shape("detach_copy", np.copy, calls(([2, 3],),), method=False, dtypes=(), forward=ALL),
    _shape("diag", np.diag, calls(([3],), ([2, 3],), ([2, 3], 1), ([2], -1))),
    _shape("diagonal_copy", np.diagonal, calls(([2, 3],), ([2, 2, 3], 1, 0, 2)), method=False),
    _shape("expand_copy", np.broadcast_to, calls(([3], (2, 3)), ([2, 1], (2, 2))), method=False),
    _shape("narrow_copy", lambda x, dim, start, length: x[_part(x, dim, start, start + length)],
           calls(([4, 2], 0, 1, 2), ([3], -1, 1, 1))),
    _shape("permute_copy", np.transpose, calls(([2, 1, 3], (2, 0, 1)),), method=False),
    _shape("select_copy", lambda x, dim, index: np.take(x, index, dim), calls(([2, 3], 1, 0), ([3], 0, -1)), method=False),
    _shape("slice_copy", _rows, calls(([4, 2], 0, 1, 3), ([2, 3], -1, None, None, 2), ([3],)), method=False),
    _shape("split_copy", _split, calls(([4, 2], 2), ([2, 4], 2, 1)), method=False),
    _shape("split_with_sizes_copy", _split, calls(([4, 2], (1, 3)), ([2, 3], (1, 0, 2), -1)), method=False),
    _shape("squeeze_copy", ref.squeeze, calls(([2, 1],), ([2, 1], 1), ([2, 1], (0, 1))), method=False),
    _shape("t_copy", np.transpose, calls(([2, 3],), ([3],)), method=False),
    _shape("transpose_copy", ref.transpose, calls(([2, 3], 0, 1), ([2, 1, 3], -1, 0)), method=False),
    _shape("unbind_copy", ref.unbind, calls(([2, 3],), ([2, 3], -1)), method=False),
    _shape("unfold_copy", _unfold, calls(([5], 0, 2, 1), ([2, 5], 1, 3, 2)), method=False),
    _shape("unsqueeze_copy", ref.unsqueeze, calls(([2, 3], 0), ([2], -1)), method=False),
    _shape("view_copy", ref.reshape, calls(([2, 3], (3, 2)), ([4], (-1, 2))), strided=False, method=False),
]  # fmt: skip

SHAPE_ROWS = VIEWS + PARTS + JOINED + COPIES
