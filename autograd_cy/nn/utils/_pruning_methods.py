"""Pruning methods: they choose the masked elements of a tensor, and give a module the masked tensor (facade)."""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from ..._core.graph.tensor import Tensor
from ..._creation.filled import ones_like, zeros_like
from ..._functional import names as _ops
from ...random import rand, rand_like


class BasePruningMethod(ABC):
    """Base of pruning methods: a subclass has ``compute_mask(t, default_mask)``, and a PRUNING_TYPE.

    An "unstructured" method gets the elements that are not masked yet, a "structured" one the slices along its `dim` that
    are not masked yet, a "global" one the whole tensor. ``apply(module, name, ...)`` renames the Parameter `name` to
    `name_orig`, adds the buffer `name_mask`, and makes the module compute `name`, their product, at each call.

    >>> import autograd_cy as ag
    >>> from autograd_cy.nn.utils import prune
    >>> class EveryOther(prune.BasePruningMethod):
    ...     PRUNING_TYPE = "unstructured"
    ...     def compute_mask(self, t, default_mask):
    ...         mask = default_mask.clone()
    ...         mask.view(-1)[::2] = 0
    ...         return mask
    >>> layer = ag.nn.Linear(2, 2)
    >>> _ = EveryOther.apply(layer, "weight")
    >>> layer.weight_mask
    tensor([[0., 1.],
            [0., 1.]])
    """

    PRUNING_TYPE: ClassVar[str]
    _tensor_name: str | None = None

    def __call__(self, module: Any, inputs: Any) -> None:
        """The hook before forward: compute the tensor from the current Parameter."""
        setattr(module, str(self._tensor_name), self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """``compute_mask(t, default_mask)``: ones where t is kept, zeros where it is pruned or was by the default mask."""

    def apply_mask(self, module: Any) -> Tensor:
        """``apply_mask(module)``: the module's Parameter times its mask. AssertionError if nothing was pruned."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask, original = (getattr(module, self._tensor_name + ending) for ending in ("_mask", "_orig"))
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> "BasePruningMethod":
        """``apply(module, name, *args, importance_scores=None, **kwargs)`` prunes, with cls(*args, **kwargs).

        Earlier pruning is kept. `importance_scores`, of the Parameter's shape, replace it in the computation of the mask.
        Returns the hook. After an error nothing has changed.
        """
        method = cls(*args, **kwargs)
        method._tensor_name = name
        key, old = _hook_of(module, name)
        tensor = getattr(module, name)
        scores = tensor if importance_scores is None else importance_scores
        if scores.shape != tensor.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, "
                f"got {scores.shape} vs {tensor.shape}"
            )
        if old is None:
            hook, mask = method, method.compute_mask(scores, ones_like(tensor))
            module.register_parameter(f"{name}_orig", tensor)
            del module._parameters[name]
        else:
            hook = old if isinstance(old, PruningContainer) else PruningContainer(old)
            mask = _mask_on_top(method, scores, getattr(module, f"{name}_mask").detach().clone())
            hook.add_pruning_method(method)
            del module._forward_pre_hooks[key]
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, hook.apply_mask(module))
        module.register_forward_pre_hook(hook)
        return hook

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """``prune(t, default_mask=None, importance_scores=None)``: t times its mask, without a module."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError(f"importance_scores should have the same shape as tensor t, got {scores.shape} vs {t.shape}")
        return t * self.compute_mask(scores, default_mask=ones_like(t) if default_mask is None else default_mask)

    def remove(self, module: Any) -> None:
        """``remove(module)``: the Parameter gets its old name again, and zeros where it was masked."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        name, pruned = self._tensor_name, self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(f"{name}_orig")
        original.data = pruned.data
        del module._buffers[f"{name}_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """``PruningContainer(*methods)``: methods applied to one tensor, one after the other.

    Its mask is the default mask with the last method's mask on top. TypeError for other objects, ValueError for a method
    of another tensor.

    >>> import autograd_cy as ag
    >>> from autograd_cy.nn.utils import prune
    >>> layer = ag.nn.Linear(4, 2)
    >>> for _ in range(2):
    ...     _ = prune.l1_unstructured(layer, "weight", amount=0.5)
    >>> int(layer.weight_mask.sum())
    2
    """

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """``add_pruning_method(method)`` adds a method, as the last one applied."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer "
                f"{self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """``compute_mask(t, default_mask)``: the last method's mask, computed on what the default mask leaves."""
        return _mask_on_top(self._pruning_methods[-1], t, default_mask)


class Identity(BasePruningMethod):
    """``Identity()`` prunes nothing: the mask is all ones, or stays unchanged."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _Amount(BasePruningMethod):
    """A method that prunes a number or a fraction of elements or slices."""

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount: Any = amount

    def _count(self, size: int) -> int:
        """The number to prune, of `size`."""
        _validate_pruning_amount(self.amount, size)
        return _compute_nparams_toprune(self.amount, size)


class _Unstructured(_Amount):
    PRUNING_TYPE = "unstructured"

    def _scores(self, t: Tensor) -> Tensor:
        """Scores of the elements; the smallest are pruned."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count, mask = self._count(t.numel()), default_mask.detach().clone().contiguous()
        if count:
            mask.view(-1)[self._scores(t.detach()).reshape(-1).topk(count, largest=False).indices] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """``RandomUnstructured(amount)`` prunes elements at random: an int is a number, a float a fraction."""

    def _scores(self, t: Tensor) -> Tensor:
        return rand_like(t)


class L1Unstructured(_Unstructured):
    """``L1Unstructured(amount)`` prunes the elements of the least magnitude."""

    def _scores(self, t: Tensor) -> Tensor:
        return t.abs()


class _Structured(_Amount):
    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _scores(self, t: Tensor) -> Tensor:
        """Scores of the slices; the slices with the smallest are pruned."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        size = t.shape[self.dim]
        count = self._count(size)
        if not count:
            return default_mask
        mask = zeros_like(t.detach())
        mask.movedim(self.dim, 0)[self._scores(t.detach()).topk(size - count).indices] = 1
        return mask.mul_(default_mask.to(mask.dtype))


class RandomStructured(_Structured):
    """``RandomStructured(amount, dim=-1)`` prunes slices along a dimension, at random."""

    def _scores(self, t: Tensor) -> Tensor:
        return rand(t.shape[self.dim])


class LnStructured(_Structured):
    """``LnStructured(amount, n, dim=-1)`` prunes the slices along a dimension with the smallest n-norms."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t: Tensor) -> Tensor:
        return _compute_norm(t, self.n, self.dim)


class CustomFromMask(BasePruningMethod):
    """``CustomFromMask(mask)`` prunes where the mask is zero."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)


# Checks called by programs that define their own methods


def _validate_pruning_amount_init(amount: Any) -> None:
    """TypeError unless it is a number, ValueError for a negative one or a float above 1."""
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (not isinstance(amount, numbers.Integral) and not amount <= 1):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    """ValueError for an integer above the number of elements."""
    if isinstance(amount, numbers.Integral) and int(amount) > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    """The number of elements to prune: an integer itself, or a share of `tensor_size`, rounded."""
    return int(amount) if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _validate_structured_pruning(t: Tensor) -> None:
    """ValueError for a tensor without slices: of fewer than two dimensions."""
    if t.dim() <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. "
            f"Found tensor of shape {t.shape} with {t.dim()} dims"
        )


def _validate_pruning_dim(t: Tensor, dim: int) -> None:
    """IndexError for a dimension above the last."""
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_norm(t: Tensor, n: Any, dim: int) -> Tensor:
    """The n-norm of each slice along a dimension."""
    return _ops.norm(t, n, [d for d in range(t.dim()) if d != dim % t.dim()])


def _hook_of(module: Any, name: str) -> tuple[Any, Any]:
    """The module's hook that prunes this tensor, and its number."""
    found = [
        (key, hook) for key, hook in module._forward_pre_hooks.items()
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
    ]  # fmt: skip
    if len(found) > 1:
        raise AssertionError(
            f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a PruningContainer."
        )
    return found[0] if found else (None, None)


def _mask_on_top(method: Any, t: Tensor, mask: Tensor) -> Tensor:
    """The mask plus the method's mask; the method gets the part that is not masked yet."""
    kept = _kept(method, t, mask)
    result = mask.to(dtype=t.dtype, copy=True)
    result[kept] = method.compute_mask(t[kept], default_mask=mask[kept]).to(dtype=result.dtype)
    return result


def _kept(method: Any, t: Tensor, mask: Tensor) -> Any:
    """The index of the part of a tensor that a method gets."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    if method.PRUNING_TYPE == "global":
        return ...
    if method.PRUNING_TYPE != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    if not hasattr(method, "dim"):
        raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
    dim = method.dim + t.dim() if method.dim < 0 else method.dim
    if dim < 0:
        raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
    left = mask.sum([d for d in range(t.dim()) if d != dim]) != 0
    return (*(slice(None),) * dim, left)
