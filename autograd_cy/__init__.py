"""PyTorch's autograd on NumPy arrays, compiled with Cython: the public names, nothing else.

>>> import autograd_cy as torch
>>> x = torch.tensor([1.0, 2.0], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4.])
"""

from math import e, inf, nan, pi

from ._core.modules import collector_paused as _collector_paused

with _collector_paused():
    from ._functional import names as _names  # isort: skip  the core first, which the facade's methods extend
    from . import _tensor  # isort: skip

from . import _core, autograd, random
from ._compat.later import names_later as _names_later
from ._compat.missing import getattr_of as _getattr_of
from ._core.arrays.dtypes import dtype
from ._core.arrays.formats import channels_last, channels_last_3d, contiguous_format, memory_format, preserve_format
from ._core.engine import (
    basic_functions as _basic_functions,  # its classes of nodes are there when they are finished, below
)
from ._core.engine import function_node as _function_node
from ._core.graph import node as _node
from ._core.graph import saved_tensor as _saved_tensor
from ._core.graph.tensor import Tensor
from ._core.runtime import lifetime as _lifetime
from ._core.runtime.once import is_warn_always_enabled, set_warn_always
from ._creation.data import as_tensor, asarray, from_numpy, tensor
from ._creation.filled import empty, eye, full, get_default_dtype, ones, set_default_dtype, zeros
from ._creation.likes import empty_like, full_like, ones_like, zeros_like
from ._creation.sequences import arange, linspace, logspace
from ._creation.strided import empty_permuted, empty_strided, from_dlpack, frombuffer, scalar_tensor
from ._functional.closeness import allclose, equal
from ._functional.names import *
from ._random.generator import Generator
from ._types import Size, device
from .autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)  # fmt: skip
from .random import (
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    rand,
    rand_like,
    randint,
    randn,
    randn_like,
    randperm,
    seed,
    set_rng_state,
)  # fmt: skip

__version__ = "0.1.0"
newaxis = None
__all__ = [
    "Generator", "Size", "Tensor", "allclose", "amp", "arange", "array_api", "as_tensor", "asarray", "autocast", "autograd",
    "backends", "bernoulli", "binomial", "channels_last", "channels_last_3d", "compile", "contiguous_format", "coverage",
    "cuda", "default_generator", "device", "distributions", "dtype", "e", "empty", "empty_like", "empty_permuted",
    "empty_strided", "enable_grad", "equal", "eye", "fft", "from_dlpack", "from_numpy", "frombuffer", "full", "full_like",
    "func", "get_default_dtype", "get_num_threads", "get_rng_state", "inf", "inference_mode", "initial_seed",
    "install_as_torch", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "is_grad_enabled", "is_inference",
    "is_inference_mode_enabled", "is_warn_always_enabled", "linalg", "linspace", "load", "logspace", "manual_seed", "masked",
    "memory", "memory_format", "multinomial", "nan", "newaxis", "nn", "no_grad", "normal", "ones", "ones_like", "optim",
    "overrides", "pi", "poisson", "preserve_format", "profiler", "rand", "rand_like", "randint", "randint_like", "randn",
    "randn_like", "random", "randperm", "return_types", "save", "scalar_tensor", "seed", "serialization",
    "set_anomaly_enabled", "set_default_dtype", "set_grad_enabled", "set_num_threads", "set_printoptions", "set_rng_state",
    "set_warn_always", "signal", "special", "tensor", "testing", "utils", "vmap", "zeros", "zeros_like",
]  # fmt: skip
__all__ += _names.__all__
_TYPED = [
    "BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor",
    "LongTensor",
    "ShortTensor",
]  # fmt: skip

# Modules that `import *` does not bring along: few need them, or they only stand in for what is not here.
_MODULES = [
    "_VF", "__future__", "_dynamo", "_jit_internal", "_ops", "_utils", "_vmap_internals", "accelerator", "compiler", "cpu",
    "distributed", "functional", "futures", "fx", "hub", "jit", "library", "mps", "mtia", "multiprocessing", "onnx", "ops",
    "quasirandom", "sparse", "storage", "types", "xpu",
]  # fmt: skip
_STORAGES = [
    "BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage", "ComplexDoubleStorage", "ComplexFloatStorage",
    "DoubleStorage", "FloatStorage", "HalfStorage", "IntStorage", "LongStorage", "ShortStorage", "Storage", "TypedStorage",
    "UntypedStorage",
]  # fmt: skip
_AUTOCAST = [
    "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache", "get_autocast_cpu_dtype",
    "get_autocast_dtype", "get_autocast_gpu_dtype", "get_device_module", "has_lapack", "has_openmp", "has_spectral",
    "init_num_threads", "is_autocast_cache_enabled", "is_autocast_cpu_enabled", "is_autocast_enabled",
    "set_autocast_cache_enabled", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled", "set_autocast_dtype",
    "set_autocast_enabled", "set_autocast_gpu_dtype", "set_flush_denormal",
]  # fmt: skip
_JIT = ["CompilationUnit", "Future", "ScriptFunction", "ScriptModule"]
_ERRORS = ["AcceleratorError", "OutOfMemoryError"]
_WINDOWS = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]
_SEGMENTS = ["segment_reduce"]
_LOSSES = [
    "binary_cross_entropy_with_logits", "cosine_embedding_loss", "hinge_embedding_loss", "kl_div", "margin_ranking_loss",
    "poisson_nll_loss", "triplet_margin_loss",
]  # fmt: skip
_EMBEDDING = ["embedding_renorm_"]
_LAYERS = [
    "adaptive_avg_pool1d", "adaptive_max_pool1d", "affine_grid_generator", "alpha_dropout", "alpha_dropout_", "avg_pool1d",
    "batch_norm", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "convolution", "cosine_similarity", "dropout", "dropout_", "embedding", "embedding_bag",
    "feature_alpha_dropout", "feature_alpha_dropout_", "feature_dropout", "feature_dropout_", "grid_sampler",
    "grid_sampler_2d", "grid_sampler_3d", "group_norm", "gru", "gru_cell", "instance_norm", "lstm", "lstm_cell", "max_pool1d",
    "max_pool1d_with_indices", "max_pool2d", "max_pool3d", "native_channel_shuffle", "native_dropout", "pairwise_distance",
    "pixel_shuffle", "pixel_unshuffle", "rms_norm", "rnn_relu", "rnn_relu_cell", "rnn_tanh", "rnn_tanh_cell", "rrelu",
    "rrelu_",
]  # fmt: skip
_NATIVE = ["native_batch_norm", "native_group_norm", "native_layer_norm"]
_QUESTIONS = [
    "broadcast_shapes", "get_default_device", "get_device", "is_conj", "is_distributed", "is_neg", "is_same_size", "is_signed",
    "is_storage", "set_default_device",
]  # fmt: skip
_LOWRANK = ["pca_lowrank", "svd_lowrank"]
_LOBPCG = ["lobpcg"]
_LAYOUT = ["layout", "sparse_bsc", "sparse_bsr", "sparse_coo", "sparse_csc", "sparse_csr", "strided"]
_SPARSE = [
    "dsmm", "hsmm", "hspmm", "resize_as_sparse_", "smm", "sparse_compressed_tensor", "sparse_coo_tensor", "sparse_csr_tensor",
    "spmm",
]  # fmt: skip
_INDICES = ["tril_indices", "triu_indices"]
_TYPES = [
    "can_cast", "finfo", "iinfo", "is_complex", "is_floating_point", "is_nonzero", "is_tensor", "numel", "promote_types",
    "result_type", "set_default_tensor_type", "typename",
]  # fmt: skip
_SETTINGS = [
    "are_deterministic_algorithms_enabled", "get_deterministic_debug_mode", "get_float32_matmul_precision",
    "is_deterministic_algorithms_warn_only_enabled", "set_deterministic_debug_mode",
    "set_float32_matmul_precision", "use_deterministic_algorithms",
]  # fmt: skip
_INTEROP = ["get_num_interop_threads", "set_num_interop_threads"]
__all__ += _SETTINGS + _TYPES + _WINDOWS + _QUESTIONS + _LAYOUT + _LOWRANK + _NATIVE + _EMBEDDING + _SEGMENTS + _INDICES
__all__ += _STORAGES + _LOSSES + _LAYERS + _INTEROP + _ERRORS + _LOBPCG + _AUTOCAST + _JIT + ["GradScaler"] + _SPARSE

_node.finish_class(_node.Node)
_lifetime.refuse_new(dtype)
_lifetime.refuse_new(_saved_tensor.SavedTensor)

__getattr__, __dir__ = _names_later(
    __name__,
    {
        "_C": [], "amp": ["amp", "autocast", "GradScaler"], "array_api": [], "backends": [], "cuda": [],
        "distributions": [], "fft": [], "func": ["func", "vmap"], "linalg": [], "masked": [], "memory": [], "nn": [],
        "optim": [],
        "overrides": [], "profiler": [], "return_types": [], "signal": [], "special": [], "testing": [],
        "utils": [], "version": [],
        **dict.fromkeys(_MODULES, ()),
        "jit": ["jit", *_JIT],
        "_settings.autocast_settings": _AUTOCAST,
        "_compat.alias": ["install_as_torch"],
        "amp.grad_scaler": ["_amp_foreach_non_finite_check_and_unscale_", "_amp_update_scale_"],
        "_dynamo._compile": ["compile"],
        "_functional.coverage": ["coverage"],
        "_compat.errors": _ERRORS,
        "_random.sampling": ["bernoulli", "binomial", "multinomial", "normal", "poisson", "randint_like"],
        "_creation.indices": _INDICES,
        "_functional.layers": _LAYERS,
        "_types.layout": _LAYOUT,
        "sparse._names": _SPARSE,
        "_functional.lobpcg": _LOBPCG,
        "_functional.lowrank": _LOWRANK,
        "_core.ops.nn.embedding": _EMBEDDING,
        "_functional.native_norms": _NATIVE,
        "_functional.numbered_reductions": _LOSSES,
        "_functional.queries": _QUESTIONS,
        "_functional.segments": _SEGMENTS,
        "_settings.backward_threads": _INTEROP,
        "_settings.determinism": _SETTINGS,
        "storage": ["storage", *_STORAGES],
        "_tensor.text": ["set_printoptions"],
        "_settings.threads": ["get_num_threads", "set_num_threads"],
        "_creation.typed": _TYPED,
        "_types.limits": _TYPES,
        "_creation.windows": _WINDOWS,
        "_functional.different_elements": ["_unique", "_unique2"],
        "distributions._gamma_draws": ["_sample_dirichlet", "_standard_gamma", "_standard_gamma_grad"],
        "serialization": ["serialization", "load", "save"],
        "autograd.anomaly_mode": ["is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled"],
    },
    _getattr_of(__name__, "torch"),
)  # fmt: skip
