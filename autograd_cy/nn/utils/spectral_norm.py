"""Spectral normalization by a hook, PyTorch's older way (facade)."""

from typing import Any

from ..._core.graph.tensor import Tensor
from ..._core.ops.products.matmul import dot, mv
from ..._core.runtime.entry import public as _public
from ...autograd.grad_mode import no_grad
from ...linalg import pinv
from ..parameter import Parameter, is_lazy
from . import _norms

__all__ = [
    "SpectralNorm", "SpectralNormLoadStateDictPreHook", "SpectralNormStateDictHook", "remove_spectral_norm", "spectral_norm",
]  # fmt: skip


class SpectralNorm:
    """The hook that divides a weight by its first singular value before each call."""

    _version = 1

    @_public
    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12):
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Tensor:
        """``compute_weight(module, do_power_iteration)``: the weight divided by the estimate of its singular value."""
        weight, u, v = (getattr(module, self.name + suffix) for suffix in ("_orig", "_u", "_v"))
        matrix = _norms.as_matrix(weight, self.dim)
        if do_power_iteration:
            _norms.power_iterations(matrix, u, v, self.n_power_iterations, self.eps, v_first=True)
            u, v = u.clone(), v.clone()  # the next call changes them
        return weight / dot(u, mv(matrix, v))

    @staticmethod
    def apply(module: Any, name: str, n_power_iterations: int, dim: int, eps: float) -> "SpectralNorm":
        """``SpectralNorm.apply(module, name, n_power_iterations, dim, eps)`` puts the hook on a module."""
        if any(isinstance(hook, SpectralNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook, weight = SpectralNorm(name, n_power_iterations, dim, eps), module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy forward "
                "before applying spectral normalization"
            )
        matrix = _norms.as_matrix(weight, dim)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)  # a plain attribute until the first call
        module.register_buffer(name + "_u", _norms.random_direction(matrix, matrix.shape[0], eps))
        module.register_buffer(name + "_v", _norms.random_direction(matrix, matrix.shape[1], eps))
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook

    def remove(self, module: Any) -> None:
        """``remove(module)`` makes the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for suffix in ("_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def _v_of(self, matrix: Tensor, u: Tensor, sigma: Tensor) -> Tensor:
        """The v for which u is the direction of matrix @ v, and u @ matrix @ v is sigma."""
        v = pinv(matrix.T @ matrix) @ (matrix.T @ u)
        return v * (sigma / dot(u, mv(matrix, v)))


class SpectralNormLoadStateDictPreHook:
    """Adds entries that the dicts of older versions don't have."""

    def __init__(self, fn: SpectralNorm):
        self.fn = fn

    def __call__(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str], *_: Any
    ) -> None:
        version = local_metadata.get("spectral_norm", {}).get(self.fn.name + ".version")
        key = prefix + self.fn.name
        is_complete = version is None and key not in state_dict and all(key + s in state_dict for s in ("_orig", "_u", "_v"))
        if is_complete or (version is not None and version >= 1):
            return
        missing = [key + suffix for suffix in ("_orig", "", "_u") if key + suffix not in state_dict]
        if missing:
            missing_keys.extend(missing if strict else [])
            return
        with no_grad():
            original = state_dict[key + "_orig"]
            sigma = (original / state_dict.pop(key)).mean()
            matrix = _norms.as_matrix(original, self.fn.dim)
            state_dict[key + "_v"] = self.fn._v_of(matrix, state_dict[key + "_u"], sigma)


class SpectralNormStateDictHook:
    """Notes the version in the dict's metadata."""

    def __init__(self, fn: SpectralNorm):
        self.fn = fn

    def __call__(self, module: Any, state_dict: Any, prefix: str, local_metadata: Any) -> None:
        versions, key = local_metadata.setdefault("spectral_norm", {}), self.fn.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


@_public
def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """``spectral_norm(module, name="weight")``: PyTorch's older way; see ``parametrizations.spectral_norm``.

    The parameter ``weight_orig`` and the buffers ``weight_u`` and ``weight_v`` replace the weight.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.utils.spectral_norm(ag.nn.Linear(2, 3))
    >>> sorted(layer.state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    SpectralNorm.apply(module, name, n_power_iterations, _norms.output_dim(module) if dim is None else dim, eps)
    return module


@_public
def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """``remove_spectral_norm(module, name="weight")`` makes the weight a parameter again; ValueError if it is one."""
    number = _number_of(module._forward_pre_hooks, SpectralNorm, lambda hook: hook, name)
    if number is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    module._forward_pre_hooks.pop(number).remove(module)
    saving = module._state_dict_hooks
    saving.pop(_number_of(saving, SpectralNormStateDictHook, lambda hook: hook.fn, name), None)
    loading = {number: wrapped.hook for number, wrapped in module._load_state_dict_pre_hooks.items()}
    number = _number_of(loading, SpectralNormLoadStateDictPreHook, lambda hook: hook.fn, name)
    module._load_state_dict_pre_hooks.pop(number, None)
    return module


def _number_of(hooks: Any, kind: type, norm_of: Any, name: str) -> Any:
    """The number of the hook of that kind that belongs to a tensor; None if there is none."""
    return next((n for n, hook in hooks.items() if isinstance(hook, kind) and norm_of(hook).name == name), None)
