"""``torch.nn.utils.prune``: elements of modules held at zero by masks (facade).

>>> import autograd_cy as ag
>>> layer = ag.nn.utils.prune.l1_unstructured(ag.nn.Linear(4, 2), "weight", amount=0.25)
>>> sorted(name for name, _ in layer.named_parameters()), int((layer.weight == 0).sum())
(['bias', 'weight_orig'], 2)
"""

from collections.abc import Iterable
from typing import Any

from ..._core.graph.tensor import Tensor
from ..._creation.filled import ones_like as _ones_like
from ._pruning_methods import (  # names with an underscore: for programs that define their own methods
    BasePruningMethod,
    CustomFromMask,
    Identity,
    L1Unstructured,
    LnStructured,
    PruningContainer,
    RandomStructured,
    RandomUnstructured,
    _compute_norm,  # noqa: F401
    _compute_nparams_toprune,  # noqa: F401
    _validate_pruning_amount,  # noqa: F401
    _validate_pruning_amount_init,  # noqa: F401
    _validate_pruning_dim,  # noqa: F401
    _validate_structured_pruning,  # noqa: F401
)
from .convert_parameters import parameters_to_vector as _parameters_to_vector

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]  # fmt: skip


def identity(module: Any, name: str) -> Any:
    """``identity(module, name)``: pruning with a mask of ones. Returns the module, as all functions here.

    >>> import autograd_cy as ag
    >>> ag.nn.utils.prune.identity(ag.nn.Linear(2, 3), "bias").bias_mask
    tensor([1., 1., 1.])
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """``random_unstructured(module, name, amount)`` prunes elements at random.

    `amount`, here and below, is the number of remaining elements or slices to prune, or, as a float from 0 to 1, the
    fraction of them. TypeError unless it is a number, ValueError if it is out of range.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.utils.prune.random_unstructured(ag.nn.Linear(2, 3), "weight", amount=1)
    >>> int((layer.weight_mask == 0).sum())
    1
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Tensor | None = None) -> Any:
    """``l1_unstructured(module, name, amount, importance_scores=None)`` prunes the elements of smallest magnitude.

    With scores, a tensor of the same shape: the elements with scores of smallest magnitude.

    >>> import autograd_cy as ag
    >>> scores = ag.tensor([[1.0, 3.0], [2.0, -4.0]])
    >>> ag.nn.utils.prune.l1_unstructured(ag.nn.Linear(2, 2), "weight", 0.5, scores).weight_mask
    tensor([[0., 1.],
            [0., 1.]])
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """``random_structured(module, name, amount, dim)`` prunes slices along a dimension at random.

    ValueError for a tensor of less than two dimensions, IndexError for a missing dimension.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.utils.prune.random_structured(ag.nn.Linear(5, 3), "weight", amount=3, dim=1)
    >>> int((layer.weight == 0).all(0).sum())
    3
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None) -> Any:
    """``ln_structured(module, name, amount, n, dim, importance_scores=None)`` prunes the slices with the smallest n-norms.

    >>> import autograd_cy as ag
    >>> scores = ag.tensor([[1.0, 3.0], [2.0, -4.0]])
    >>> ag.nn.utils.prune.ln_structured(ag.nn.Linear(2, 2), "weight", 1, 2, 0, scores).weight_mask
    tensor([[0., 0.],
            [1., 1.]])
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any) -> None:
    """``global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs)`` prunes many tensors as one.

    `parameters`: pairs of modules and names. `pruning_method` is a class with PRUNING_TYPE "unstructured", `kwargs` its
    arguments; `importance_scores` maps pairs to scores. TypeError for anything else.

    >>> import autograd_cy as ag
    >>> layers = [ag.nn.Linear(2, 2), ag.nn.Linear(2, 3)]
    >>> pairs = [(layer, "weight") for layer in layers]
    >>> ag.nn.utils.prune.global_unstructured(pairs, ag.nn.utils.prune.L1Unstructured, amount=4)
    >>> sum(int((layer.weight == 0).sum()) for layer in layers)
    4
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    pairs = list(parameters)
    tensors = [getattr(module, name) for module, name in pairs]
    masks = [getattr(module, f"{name}_mask", _ones_like(t)) for (module, name), t in zip(pairs, tensors, strict=True)]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
            f"Found method {pruning_method} of type {method.PRUNING_TYPE}"
        )
    container = PruningContainer()
    method._tensor_name = container._tensor_name = "temp"
    container.add_pruning_method(method)
    scored = [scores.get(pair, t) for pair, t in zip(pairs, tensors, strict=True)]
    mask = container.compute_mask(_parameters_to_vector(scored), _parameters_to_vector(masks))
    parts = mask.split([t.numel() for t in tensors])
    for (module, name), t, part in zip(pairs, tensors, parts, strict=True):
        custom_from_mask(module, name, part.view_as(t))


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """``custom_from_mask(module, name, mask)`` prunes where the mask, of the tensor's shape, is zero.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.utils.prune.custom_from_mask(ag.nn.Linear(5, 3), "bias", ag.tensor([0, 1, 0]))
    >>> layer.bias_mask
    tensor([0., 1., 0.])
    """
    CustomFromMask.apply(module, name, mask=mask)
    return module


def remove(module: Any, name: str) -> Any:
    """``remove(module, name)``: makes it a plain Parameter again, with zeros where it was pruned, which may be trained.

    ValueError if it was not pruned.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.utils.prune.l1_unstructured(ag.nn.Linear(2, 3), "weight", amount=0.5)
    >>> layer = ag.nn.utils.prune.remove(layer, "weight")
    >>> sorted(layer.state_dict()), int((layer.weight == 0).sum())
    (['bias', 'weight'], 3)
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Any) -> bool:
    """``is_pruned(module)``: whether a tensor of it, or of a module in it, is pruned.

    >>> import autograd_cy as ag
    >>> ag.nn.utils.prune.is_pruned(ag.nn.Linear(2, 3))
    False
    """
    hooks = (hook for part in module.modules() for hook in part._forward_pre_hooks.values())
    return any(isinstance(hook, BasePruningMethod) for hook in hooks)
