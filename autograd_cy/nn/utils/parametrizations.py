"""Common parametrizations: orthogonal matrices, and normalized weights (facade)."""

from typing import Any

from ..._core.graph.tensor import Tensor
from ..._core.ops.products.contractions import vdot
from ..._core.ops.products.matmul import mv
from ..._core.runtime.entry import public as _public
from ..modules.module import Module
from . import _norms
from ._orthogonal import MAPS as _MAPS
from ._orthogonal import _Orthogonal
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


@_public
def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Any:
    """``orthogonal(module, name="weight")``: a matrix with orthonormal columns (rows, if they are fewer).

    orthogonal_map: "matrix_exp" (by default for square and for complex matrices), "cayley" or "householder". For the first
    two use_trivialization starts from the current matrix; without it the matrix can't be assigned. A tensor with more
    dimensions is a batch of matrices.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.utils.parametrizations.orthogonal(ag.nn.Linear(4, 2))
    >>> ag.allclose(layer.weight @ layer.weight.T, ag.eye(2), atol=1e-5)
    True
    """
    weight = _norms.tensor_named(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        is_square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if is_square or weight.is_complex() else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    parametrization = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return register_parametrization(module, name, parametrization, unsafe=True)


class _WeightNorm(Module):
    """A weight from a length (original0) and a direction (original1)."""

    def __init__(self, dim: int | None = 0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return _norms.weight_of(weight_g, weight_v, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return _norms.norm_except_dim(weight, self.dim), weight


@_public
def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """``weight_norm(module, name="weight", dim=0)``: the weight as a length for each part along dim, and directions.

    dim None: one length for all. Salimans and Kingma, "Weight normalization", 2016.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.utils.parametrizations.weight_norm(ag.nn.Linear(2, 3))
    >>> [(name, p.shape) for name, p in layer.parametrizations.weight.named_parameters()]
    [('original0', torch.Size([3, 1])), ('original1', torch.Size([3, 2]))]
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def take_older_names(state_dict: Any, prefix: str, *_: Any) -> None:
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(take_older_names)
    return module


class _SpectralNorm(Module):
    """A weight divided by its first singular value, which is estimated by power iteration."""

    _u: Tensor
    _v: Tensor

    @_public
    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12):
        super().__init__()
        rank = weight.ndim
        if not -rank <= dim < rank:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{rank}, {rank - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim, self.eps = dim % rank, eps
        if rank > 1:
            self.n_power_iterations = n_power_iterations
            matrix = _norms.as_matrix(weight, self.dim)
            self.register_buffer("_u", _norms.random_direction(matrix, matrix.shape[0], eps))
            self.register_buffer("_v", _norms.random_direction(matrix, matrix.shape[1], eps))
            self._improve(matrix, 15)

    def _improve(self, matrix: Tensor, times: int) -> None:
        _norms.power_iterations(matrix, self._u, self._v, times, self.eps, v_first=False)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return _norms.normalized(weight, self.eps)
        matrix = _norms.as_matrix(weight, self.dim)
        if self.training:
            self._improve(matrix, self.n_power_iterations)
        return weight / vdot(self._u.clone(), mv(matrix, self._v.clone()))  # the next call changes them

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


@_public
def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """``spectral_norm(module, name="weight", n_power_iterations=1)``: the weight divided by its first singular value.

    Each call in training mode improves its estimate by so many steps of power iteration; dim: the weight's output
    dimension. Miyato et al., "Spectral normalization for generative adversarial networks", 2018.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.utils.parametrizations.spectral_norm(ag.nn.Linear(2, 2))
    >>> for _ in range(100):
    ...     weight = layer.weight
    >>> ag.allclose(ag.linalg.matrix_norm(weight, 2), ag.tensor(1.0))
    True
    """
    weight = _norms.tensor_named(module, name)
    parametrization = _SpectralNorm(weight, n_power_iterations, _norms.output_dim(module) if dim is None else dim, eps)
    return register_parametrization(module, name, parametrization)
