"""Where test_op_db.py expects another result than PyTorch's: {row: {check: why}}, `*` for all checks. Each must occur.

In rows of UNDETERMINED all is compared but the numbers.
"""

_RANDOM = "random numbers: NumPy's stream"
_EMPTY = "memory as it comes"

UNDETERMINED: dict[str, str] = {
    "bernoulli": _RANDOM, "cauchy": _RANDOM, "exponential": _RANDOM, "geometric": _RANDOM, "log_normal": _RANDOM,
    "multinomial": _RANDOM, "normal": _RANDOM, "normal.in_place": _RANDOM, "normal.number_mean": _RANDOM,
    "rand_like": _RANDOM, "randint": _RANDOM, "randint_like": _RANDOM, "randn": _RANDOM, "randn_like": _RANDOM,
    "uniform": _RANDOM, "pca_lowrank": _RANDOM, "svd_lowrank": _RANDOM,
    "nn.functional.dropout": _RANDOM, "nn.functional.dropout2d": _RANDOM, "nn.functional.dropout3d": _RANDOM,
    "nn.functional.alpha_dropout": _RANDOM, "nn.functional.feature_alpha_dropout.with_train": _RANDOM,
    "nn.functional.rrelu": _RANDOM,
    "nn.functional.scaled_dot_product_attention": _RANDOM, "nn.functional.multi_head_attention_forward": _RANDOM,
    "nn.functional.fractional_max_pool2d": _RANDOM, "nn.functional.fractional_max_pool3d": _RANDOM,
    "empty": _EMPTY, "empty_like": _EMPTY, "empty_permuted": _EMPTY, "empty_strided": _EMPTY, "new_empty": _EMPTY,
    "new_empty_strided": _EMPTY,
}  # fmt: skip

_NO_OUT = {"out_argument": "not there yet: out="}
_C_ORDER = {"strides": "C order; there the transformed dimensions are innermost"}
_CHANNELS_LAST = {"strides": "channels-last order is not kept"}
_FACTORS = "of a factor's other half, which is not read: 0"
_SERIES = dict.fromkeys(("values", "batches", "out_argument"), "short series there: 10 digits")
_OTHER_SIGNS = {"out_argument": "signs, which are free"}

DIFFERENCES: dict[str, dict[str, str]] = {
    "norm": _NO_OUT, "norm.fro": _NO_OUT, "norm.inf": _NO_OUT,
    **{f"fft.{name}": _C_ORDER for name in (
        "fft", "fft2", "fftn", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ihfft", "irfft", "irfft2", "irfftn",
        "rfft", "rfft2", "rfftn")},
    "fft.ihfft2": {**_C_ORDER, "out_argument": "is not resized there"},
    "fft.ihfftn": {**_C_ORDER, "out_argument": "is not resized there"},
    "as_strided.partial_views": dict.fromkeys(
        ("values", "gradients", "second_gradients", "tangents"),
        "the memory of a tensor begins with the array that it was made from"),
    "as_strided_scatter": dict.fromkeys(("gradients", "second_gradients"), "wrong there"),
    "cholesky_inverse": {"second_gradients": _FACTORS, "tangents": "rounded elsewhere"},
    "cholesky_solve": {"second_gradients": _FACTORS, "strides": "Fortran's order; PyTorch's are of what it copies"},
    "triangular_solve": {"tangents": _FACTORS},
    "cholesky": {"strides": "of what out= resizes"},
    "linalg.eig": _OTHER_SIGNS, "linalg.eigh": _OTHER_SIGNS, "linalg.svd": _OTHER_SIGNS, "svd": _OTHER_SIGNS,
    "linalg.householder_product": {"second_gradients": "of 10^4, in another order of sums"},
    "linalg.matrix_power": {"strides": "of what out= resizes"}, "linalg.tensorinv": {"strides": "of what out= resizes"},
    "linalg.norm": {"second_gradients": "0 instead of nan at 0"},
    "linalg.norm.subgradients_at_zero": {"second_gradients": "0 instead of nan at 0"},
    "quantile": {"strides": "C order"}, "nanquantile": {"strides": "C order"},
    "unravel_index": {"strides": "tensors of their own, no columns of one"},
    "complex": {"values": "no complex numbers of two float16"},
    "cov": {"second_gradients": "sums in another order", "tangents": "an imaginary part of 1e-15"},
    "histc": {"values": "float16: bounds of intervals in float64"},
    "kthvalue": dict.fromkeys(("values", "out_argument"), "which of equal elements has the index"),
    "mode": dict.fromkeys(("values", "out_argument"), "which of equal elements has the index"),
    "matrix_exp": {"values": "float16: by way of float32, where there is nan"},
    "logcumsumexp": {
        "tangents": "wrong there",
        **dict.fromkeys(("values", "gradients", "batches", "out_argument"), "of 10^4, rounded elsewhere")},
    "resize_as_": {"batches": "refused within vmap: the memory holds all samples"},
    "special.airy_ai": _SERIES, "special.bessel_j0": _SERIES, "special.bessel_j1": _SERIES, "special.bessel_y0": _SERIES,
    "special.bessel_y1": _SERIES,
    "lu": {"strides": "of what out= resizes"}, "linalg.lstsq": {"strides": "of what out= resizes"},
    "linspace.tensor_overload": {"batches": "not there: linspace between tensors of a batch"},
    "logspace.tensor_overload": {"batches": "not there: logspace between tensors of a batch"},
    "norm.nuc": {"*": "not there yet: norms of matrices"},
    "scatter": {"*": "not there yet: reduce="},
    "gather": {"*": "indices in uint8"},
    "index_add": {"values": "alpha=-1 for uint8"},
    "sum_to_size": {"values": "sums of bools and uint8 stay what they are"},
    "topk": {"values": "which of equal elements are taken", "out_argument": "which of equal elements are taken"},
    "view_as_complex": {"values": "no complex numbers of two float16"},
    "nn.functional.max_pool2d": _CHANNELS_LAST, "nn.functional.max_unpool2d": _CHANNELS_LAST,
    "nn.functional.max_unpool2d.grad": _CHANNELS_LAST,
    "nn.functional.grid_sample": {"values": "float16: by way of float32"},
    "grid_sampler_2d": {"values": "float16: by way of float32"},
    "nn.functional.interpolate.nearest": _CHANNELS_LAST,
    "nn.functional.interpolate.nearest-exact": _CHANNELS_LAST,
    "cat": {"strides": "channels-last order is not kept"},
    "native_batch_norm": _NO_OUT,
    "nn.functional.scaled_dot_product_attention": {"strides": "by blocks also where PyTorch computes all scores"},
    "nn.functional.embedding": {"values": "sparse gradients are refused"},
    "nn.functional.embedding_bag": {"values": "sparse gradients are refused"},
    "native_layer_norm": {"gradients": "PyTorch's rounding, where the gradient is 0"},
    "nn.functional.hardsigmoid": dict.fromkeys(("gradients", "tangents", "in_place"), "1/6 is rounded to float32 there"),
    "nn.functional.soft_margin_loss": {"values": "float16: more than 65504 on the way there"},
    "nn.functional.linear_cross_entropy.chunked": {"*": "options, how the work is cut: refused"},
    "nn.functional.linear_cross_entropy.chunked_none": {"*": "options, how the work is cut: refused"},
    "resize_": {"batches": "refused within vmap: the memory holds all samples"},
}  # fmt: skip
