"""Where test_op_db.py expects another result than PyTorch's: {row: {check: why}}, `*` for all checks. Each must occur.

In rows of UNDETERMINED all is compared but the numbers.
"""

_RANDOM = "random numbers: NumPy's stream"
_EMPTY = "memory as it comes"

UNDETERMINED: dict[str, str] = {
    "bernoulli": _RANDOM, "cauchy": _RANDOM, "exponential": _RANDOM, "geometric": _RANDOM, "log_normal": _RANDOM,
    "multinomial": _RANDOM, "normal": _RANDOM, "normal.in_place": _RANDOM, "normal.number_mean": _RANDOM,
    "rand_like": _RANDOM, "randint": _RANDOM, "randint_like": _RANDOM, "randn": _RANDOM, "randn_like": _RANDOM,
    "pca_lowrank": _RANDOM, "svd_lowrank": _RANDOM, "uniform": _RANDOM,
    "empty": _EMPTY, "empty_like": _EMPTY, "empty_permuted": _EMPTY, "empty_strided": _EMPTY, "new_empty": _EMPTY,
    "new_empty_strided": _EMPTY,
}  # fmt: skip

_NO_VARIANT = {"in_place": "not there yet: the in-place variant"}
_NO_OUT = {"out_argument": "not there yet: out="}

DIFFERENCES: dict[str, dict[str, str]] = {
    "addmm": _NO_VARIANT, "addmm.decomposed": _NO_VARIANT, "cumsum": _NO_VARIANT, "squeeze": _NO_VARIANT,
    "squeeze.multiple": _NO_VARIANT, "t": _NO_VARIANT, "transpose": _NO_VARIANT, "unsqueeze": _NO_VARIANT,
    "norm": _NO_OUT, "norm.fro": _NO_OUT, "norm.inf": _NO_OUT,
    "lu": {"out_argument": "out= gets the order of the result, not C's"},
    "linalg.lstsq": {"out_argument": "the solution is not laid out as part of a larger array"},
    "linspace.tensor_overload": {"batches": "not there: linspace between tensors of a batch"},
    "logspace.tensor_overload": {"batches": "not there: logspace between tensors of a batch"},
    "norm.nuc": {"*": "not there yet: norms of matrices"},
    "scatter": {"*": "not there yet: reduce="},
    "gather": {"*": "indices in uint8"},
    "index_add": {"values": "alpha=-1 for uint8"},
    "sum_to_size": {"values": "sums of bools and uint8 stay what they are"},
    "sgn": {"values": "of bools", "in_place": "of bools"},
    "topk": {"values": "which of equal elements are taken", "out_argument": "which of equal elements are taken"},
    "view_as_complex": {"values": "no complex numbers of two float16"},
    "cat": {"values": "channels-last order is not kept", "out_argument": "channels-last order is not kept"},
    "fft.fft": {"values": "strides: C order"},
    "resize_": {"batches": "refused within vmap: the memory holds all samples"},
}  # fmt: skip
