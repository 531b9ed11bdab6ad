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
    from ._functional import names as _names  # isort: skip  it loads the core, which the methods extend
    from . import _tensor  # isort: skip

from . import _core, autograd, random
from ._compat import names_at as _names_at
from ._compat.missing import getattr_of as _getattr_of
from ._core.arrays.dtypes import dtype
from ._core.arrays.formats import channels_last, channels_last_3d, contiguous_format, memory_format, preserve_format
from ._core.engine import functions as _functions  # its classes of nodes are there when they are finished, below
from ._core.graph import node as _node
from ._core.graph.tensor import Tensor
from ._core.runtime import state as _state
from ._core.runtime.once import is_warn_always_enabled, set_warn_always
from ._creation.data import as_tensor, asarray, from_numpy, tensor
from ._creation.filled import (
    empty,
    empty_like,
    eye,
    full,
    full_like,
    get_default_dtype,
    ones,
    ones_like,
    set_default_dtype,
    zeros,
    zeros_like,
)
from ._functional.names import *
from ._random import Generator
from ._tensor.values import allclose, equal
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

# Names that are imported on first use, by the module that has them.
_LATER = {
    "_compat.alias": "install_as_torch",
    "_compat.errors": "AcceleratorError OutOfMemoryError",
    "_core.ops.nn.embedding": "embedding_renorm_",
    "_core.parallel.threads": "get_num_threads",
    "_creation.indices": "tril_indices triu_indices",
    "_creation.progressions": "range vander",
    "_creation.sequences": "arange linspace logspace",
    "_creation.strided": "empty_permuted empty_strided from_dlpack frombuffer scalar_tensor",
    "_creation.typed": "set_default_tensor_type",
    "_creation.windows": "bartlett_window blackman_window hamming_window hann_window kaiser_window",
    "_dynamo._compile": "compile",
    "_functional.coverage": "coverage",
    "_functional.layers": """
        adaptive_avg_pool1d adaptive_max_pool1d affine_grid_generator alpha_dropout alpha_dropout_ avg_pool1d batch_norm
        channel_shuffle conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution
        cosine_similarity dropout dropout_ embedding embedding_bag feature_alpha_dropout feature_alpha_dropout_
        feature_dropout feature_dropout_ grid_sampler grid_sampler_2d grid_sampler_3d group_norm gru gru_cell instance_norm
        lstm lstm_cell max_pool1d max_pool1d_with_indices max_pool2d max_pool3d native_channel_shuffle native_dropout
        pairwise_distance pixel_shuffle pixel_unshuffle rms_norm rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell rrelu rrelu_
    """,
    "_functional.lobpcg": "lobpcg",
    "_functional.lowrank": "pca_lowrank svd_lowrank",
    "_functional.native_norms": "native_batch_norm native_group_norm native_layer_norm",
    "_functional.numbered_reductions": """
        binary_cross_entropy_with_logits cosine_embedding_loss hinge_embedding_loss kl_div margin_ranking_loss
        poisson_nll_loss triplet_margin_loss
    """,
    "_functional.queries": """
        broadcast_shapes get_default_device get_device is_complex is_conj is_distributed is_floating_point is_neg is_nonzero
        is_same_size is_signed is_storage is_tensor numel set_default_device typename
    """,
    "_functional.segments": "segment_reduce",
    "_random.sampling": "bernoulli binomial multinomial normal poisson randint_like",
    "_settings.autocast_settings": """
        autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache get_autocast_cpu_dtype get_autocast_dtype
        get_autocast_gpu_dtype get_device_module has_lapack has_openmp has_spectral init_num_threads
        is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled set_autocast_cache_enabled
        set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype
        set_flush_denormal
    """,
    "_settings.backward_threads": "get_num_interop_threads set_num_interop_threads",
    "_settings.determinism": """
        are_deterministic_algorithms_enabled get_deterministic_debug_mode get_float32_matmul_precision
        is_deterministic_algorithms_warn_only_enabled set_deterministic_debug_mode set_float32_matmul_precision
        use_deterministic_algorithms
    """,
    "_settings.threads": "set_num_threads",
    "_tensor.text": "set_printoptions",
    "_types.layout": "layout sparse_bsc sparse_bsr sparse_coo sparse_csc sparse_csr strided",
    "_types.limits": "can_cast finfo iinfo promote_types result_type",
    "amp": "amp autocast GradScaler",
    "autograd.anomaly_mode": "is_anomaly_check_nan_enabled is_anomaly_enabled set_anomaly_enabled",
    "func": "func vmap",
    "jit": "CompilationUnit Future ScriptFunction ScriptModule",
    "serialization": "serialization load save",
    "sparse._names": """
        dsmm hsmm hspmm resize_as_sparse_ smm sparse_compressed_tensor sparse_coo_tensor sparse_csr_tensor spmm
    """,
    "storage": """
        BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage ComplexFloatStorage DoubleStorage FloatStorage
        HalfStorage IntStorage LongStorage ShortStorage Storage TypedStorage UntypedStorage
    """,
    **dict.fromkeys(
        "array_api backends cuda distributions fft linalg masked memory nn optim overrides profiler return_types signal "
        "special testing utils".split(),
        "",
    ),
}

# The same for names that `import *` does not bring along: they have an underscore, or few programs need them.
_LATER_UNLISTED = {
    "_creation.typed": """
        BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor ShortTensor
    """,
    "_functional.checks": """
        _assert_async _check _check_index _check_is_size _check_not_implemented _check_tensor_all _check_tensor_all_with
        _check_type _check_value _check_with
    """,
    "_functional.different_elements": "_unique _unique2",
    "amp.grad_scaler": "_amp_foreach_non_finite_check_and_unscale_ _amp_update_scale_",
    "distributions._gamma_draws": "_sample_dirichlet _standard_gamma _standard_gamma_grad",
    **dict.fromkeys(
        "_C _VF __config__ __future__ _dynamo _jit_internal _ops _utils _vmap_internals accelerator compiler cpu "
        "distributed functional futures fx hub jit library mps mtia multiprocessing onnx ops quasirandom sparse storage "
        "types version xpu".split(),
        "",
    ),
}

__all__ = [name for name in list(vars()) if name[0] not in "_@"]  # pytest's plugin loader adds @names
__all__ += [name for home, names in _LATER.items() for name in names.split() or [home]]
__getattr__, __dir__ = _names_at(
    __name__,
    {name: home for table in (_LATER, _LATER_UNLISTED) for home, names in table.items() for name in names.split() or [home]},
    _getattr_of(__name__, "torch"),
)

_node.finish_class(_node.Node)
_state.refuse_new(dtype)
_state.refuse_new(_node.SavedTensor)
