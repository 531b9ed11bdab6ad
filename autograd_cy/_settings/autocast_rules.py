"""Which operations autocast casts, and to what: PyTorch's lists for the CPU (facade). Imported with autocast.

A rule is called instead of the operation, as rule(function, args, kwargs), and returns its result. Operations that PyTorch
composes of matrix products, and this package does not, have the results of those.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from .._compat import PACKAGE
from .._core.arrays.dtypes import promote_types
from .._core.graph.tensor import Tensor
from .._functional.names import float32
from .autocast import cast, is_cast, setting, take_rules

_LOWER = """
    addbmm addmm baddbmm bmm chain_matmul conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d
    linalg.multi_dot linalg.vecdot lstm matmul mm nn.functional.linear
    nn.functional.scaled_dot_product_attention prelu rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell
"""
_LOWER_RESULT = "affine_grid_generator corrcoef cov linalg.pinv nn.functional.affine_grid"
_FLOAT32 = """
    cdist cholesky cholesky_inverse cholesky_solve geqrf grid_sampler grid_sampler_2d grid_sampler_3d inverse lu
    lu_solve max_pool3d nanquantile orgqr ormqr pinverse polar prod qr quantile stft svd trace triangular_solve view_as_complex

    fft.fft fft.fft2 fft.fftn fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ihfft fft.irfft fft.irfft2 fft.irfftn fft.rfft
    fft.rfft2 fft.rfftn
    linalg.cholesky linalg.cholesky_ex linalg.cond linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh
    linalg.householder_product linalg.inv linalg.inv_ex linalg.lstsq linalg.matrix_rank linalg.qr linalg.solve linalg.svd
    linalg.svdvals linalg.tensorinv linalg.tensorsolve

    nn.functional.adaptive_avg_pool3d nn.functional.adaptive_max_pool3d nn.functional.avg_pool3d
    nn.functional.binary_cross_entropy nn.functional.binary_cross_entropy_with_logits nn.functional.cosine_embedding_loss
    nn.functional.cross_entropy nn.functional.ctc_loss nn.functional.fractional_max_pool2d
    nn.functional.fractional_max_pool3d nn.functional.grid_sample nn.functional.hinge_embedding_loss
    nn.functional.huber_loss nn.functional.kl_div nn.functional.l1_loss nn.functional.linear_cross_entropy
    nn.functional.margin_ranking_loss nn.functional.max_unpool1d nn.functional.max_unpool2d
    nn.functional.max_unpool3d nn.functional.mse_loss nn.functional.multi_margin_loss
    nn.functional.multilabel_margin_loss nn.functional.nll_loss nn.functional.poisson_nll_loss
    nn.functional.smooth_l1_loss nn.functional.soft_margin_loss nn.functional.triplet_margin_loss
    nn.functional.adaptive_max_pool3d_with_indices nn.functional.fractional_max_pool2d_with_indices
    nn.functional.fractional_max_pool3d_with_indices
"""


def rules() -> dict[Any, Callable[..., Any]]:
    """rules(): the rules by their functions."""
    package = __import__(PACKAGE)
    by_path: dict[str, Callable[..., Any]] = dict.fromkeys(_LOWER.split(), _lower)
    by_path |= dict.fromkeys(_LOWER_RESULT.split(), _lower_result) | dict.fromkeys(_FLOAT32.split(), _wide)
    by_path |= dict.fromkeys(("gru", "gru_cell", "lstm_cell"), _as_state)
    by_path |= {"einsum": _einsum, "inner": _inner, "tensordot": _tensordot, "matrix_power": _matrix_power}
    by_path |= {"linalg.matrix_power": _matrix_power, "nn.functional.pad": _pad, "index_copy": _promoted}
    by_path |= {"nn.functional.max_pool3d": _max_pool3d}
    by_path |= dict.fromkeys(("nn.functional.bilinear", "pdist"), _as_it_is)
    by_path |= {"nn.functional.local_response_norm": _local_response_norm}
    found: dict[Any, Callable[..., Any]] = {}
    for path, rule in by_path.items():
        found[attrgetter(path)(package)] = rule
        for name, its_rule in ((path, rule), (f"{path}_", _as_it_is)):
            if hasattr(Tensor, name):  # where that is another function
                found.setdefault(getattr(Tensor, name), its_rule)
    return found


def _in_dtype(function: Callable[..., Any], args: Any, kwargs: Any, dtype: Any) -> Any:
    return function(*[cast(x, dtype) for x in args], **{name: cast(x, dtype) for name, x in kwargs.items()})


def _as_it_is(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Computed here by operations that are cast, in PyTorch not."""
    return function(*args, **kwargs)


def _lower(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    return _in_dtype(function, args, kwargs, setting("cpu").dtype)


def _wide(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    return _in_dtype(function, args, kwargs, float32)


def _lower_result(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    return cast(_wide(function, args, kwargs), setting("cpu").dtype)


def _floats(value: Any) -> list[Any]:
    """The dtypes of the operands that are cast, in their order."""
    if type(value) in (list, tuple):
        return [dtype for item in value for dtype in _floats(item)]
    return [value.dtype] if is_cast(value) else []


def _promoted(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    found = set(_floats([*args, *kwargs.values()]))
    return _in_dtype(function, args, kwargs, float32 if len(found) > 1 else next(iter(found), float32))


def _as_state(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The new hidden state has the type of the old one, the last of several, and of a product."""
    found = _floats(args[1] if len(args) > 1 else kwargs.get("hx"))
    return _in_dtype(function, args, kwargs, promote_types(found[-1], setting("cpu").dtype) if found else float32)


def _einsum(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Cast where the product of two operands is summed."""
    equation = args[0] if args else kwargs.get("equation")
    if not isinstance(equation, str):
        return _lower(function, args, kwargs)
    operands, _, output = equation.replace(" ", "").replace(".", "").partition("->")
    terms = operands.split(",")
    shared = {label for label in operands if sum(label in term for term in terms) > 1} - {","}
    return (_lower if shared - set(output) else _as_it_is)(function, args, kwargs)


def _inner(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    ranks = [x.dim() for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
    return (_lower if min(ranks) > 0 and max(ranks) > 1 else _as_it_is)(function, args, kwargs)


def _tensordot(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """PyTorch sums a product of all dimensions without a matrix product."""
    dims = args[2] if len(args) > 2 else kwargs.get("dims", 2)
    summed = len(dims[0]) if isinstance(dims, (tuple, list)) and isinstance(dims[0], (tuple, list)) else dims
    ranks = [x.dim() for x in (*args[:2], kwargs.get("a"), kwargs.get("b")) if isinstance(x, Tensor)]
    return (_as_it_is if sum(ranks) == 2 * summed > 0 else _lower)(function, args, kwargs)


def _matrix_power(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    n = args[1] if len(args) > 1 else kwargs.get("n")
    return {0: _as_it_is, 1: _as_it_is, -1: _wide}.get(n, _lower_result)(function, args, kwargs)


def _pad(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    mode = args[2] if len(args) > 2 else kwargs.get("mode", "constant")
    widths = args[1] if len(args) > 1 else kwargs.get("pad", ())
    is_wide = mode == "replicate" or (mode == "reflect" and len(widths) < 6)
    return (_wide if is_wide else _as_it_is)(function, args, kwargs)


def _max_pool3d(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Cast unless indices are asked for."""
    return (_as_it_is if kwargs.get("return_indices", args[6:7] == (True,)) else _wide)(function, args, kwargs)


def _local_response_norm(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    x = args[0] if args else kwargs["input"]
    return (_wide if x.dim() > 3 else _as_it_is)(function, args, kwargs)


take_rules(rules)
