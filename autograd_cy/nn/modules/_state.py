"""A module's state as a dict: `state_dict()` and `load_state_dict()` (facade)."""

import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any

from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public
from ..._core.runtime.handle import RemovableHandle
from ...autograd.grad_mode import no_grad
from ..parameter import Parameter, is_lazy
from ._hooks import Hooks, _WrappedHook, added

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"
Keys = list[str]

_LOST = (
    "for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, which is a "
    "no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary to their corresponding key in the "
    "module instead of copying them in place?)"
)


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """The result of load_state_dict(): missing keys, and keys that match nothing in the module."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class WithState:
    """The state of a module: parameters, persistent buffers, and what get_extra_state() adds."""

    _version: int = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: Hooks
    _state_dict_pre_hooks: Hooks
    _load_state_dict_pre_hooks: Hooks
    _load_state_dict_post_hooks: Hooks

    def get_extra_state(self) -> Any:
        """``get_extra_state()`` returns state besides tensors; subclasses define it, and the result should be picklable."""
        raise RuntimeError(f"{type(self).__name__} defines no get_extra_state(): there is nothing to call")

    def set_extra_state(self, state: Any) -> None:
        """``set_extra_state(state)`` restores the result of get_extra_state()."""
        raise RuntimeError(f"{type(self).__name__} defines no set_extra_state(): there is nothing to call")

    # saving

    @public
    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """``state_dict(prefix="", keep_vars=False)``: the tensors of the module and its submodules, by name.

        They share the module's memory, detached; keep_vars: the parameters and buffers themselves.

        >>> import autograd_cy as ag
        >>> list(ag.nn.Sequential(ag.nn.Linear(2, 3)).state_dict())
        ['0.weight', '0.bias']
        """
        if args:
            warnings.warn("Positional args are being deprecated, use kwargs instead.", FutureWarning, stacklevel=2)
            given = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
            destination = given.get("destination") if destination is None else destination
            prefix, keep_vars = prefix or given.get("prefix", ""), keep_vars or given.get("keep_vars", False)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return self._after_saving(destination, prefix, metadata)

    def _after_saving(self, destination: Any, prefix: str, metadata: dict[str, Any]) -> Any:
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, metadata)
            if result is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = result
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put the module's own state into the dict; subclasses may add to it."""
        for name, tensor in self._own_state().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if self._overrides("get_extra_state"):
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def _own_state(self) -> dict[str, Tensor]:
        """The module's own parameters and persistent buffers."""
        persistent = {name: b for name, b in self._buffers.items() if name not in self._non_persistent_buffers_set}
        return {name: tensor for name, tensor in (self._parameters | persistent).items() if tensor is not None}

    def _overrides(self, name: str) -> bool:
        return getattr(type(self), name) is not getattr(WithState, name)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """PyTorch's older kind: the result of hook(module, state_dict, prefix, local_metadata) replaces the dict."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return added(self._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``register_state_dict_post_hook(hook)``: hook(module, state_dict, prefix, local_metadata), after state_dict().

        It changes the dict in place; RuntimeError if it returns something.
        """
        hook._from_public_api = True  # type: ignore[attr-defined]
        return added(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``register_state_dict_pre_hook(hook)``: hook(module, prefix, keep_vars), before state_dict()."""
        return added(self._state_dict_pre_hooks, hook)

    # loading

    @public
    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """``load_state_dict(state_dict, strict=True, assign=False)`` copies a dict's tensors into the module's tensors.

        It returns the missing and the unexpected names; strict: RuntimeError if there are any, after the others were
        copied. RuntimeError also if shapes differ. assign: the tensors of the dict become the module's, with their
        dtypes; parameters keep their requires_grad.

        >>> import autograd_cy as ag
        >>> a, b = ag.nn.Linear(2, 3), ag.nn.Linear(2, 3)
        >>> a.load_state_dict(b.state_dict())
        <All keys matched successfully>
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        return _Loading(state_dict, assign).into(self, strict)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: Keys,
        unexpected_keys: Keys,
        error_msgs: list[str],
    ) -> None:
        """Load the module's own state from the dict; subclasses extend it for dicts of older versions."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = self._own_state()
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, tensor in own.items():
            if prefix + name in state_dict:
                error = self._take(name, prefix + name, tensor, state_dict[prefix + name], assign)
                error_msgs.extend([error] * bool(error))
            elif strict:
                missing_keys.append(prefix + name)
        self._take_extra(state_dict, prefix + _EXTRA_STATE_KEY_SUFFIX, strict, missing_keys, unexpected_keys)
        if strict:
            unexpected_keys.extend(self._without_place(state_dict, prefix, own))

    def _take(self, name: str, key: str, tensor: Any, given: Any, assign: bool) -> str:
        """Copy a tensor from the dict into the module's, or assign it; returns an error message, or ''."""
        if not isinstance(given, Tensor):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint but '
                f"received {type(given)}"
            )
        if not is_lazy(tensor):
            if tensor.ndim == 0 and given.shape == (1,):  # PyTorch before 0.4 wrote scalars so
                given = given[0]
            if given.shape != tensor.shape:
                return (
                    f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape in current "
                    f"model is {tensor.shape}."
                )
        try:
            with no_grad():
                if assign:
                    setattr(self, name, _as_kind_of(tensor, given))
                else:
                    if tensor.is_meta and not given.is_meta:
                        warnings.warn(_LOST.format(key=key), stacklevel=2)
                    tensor.copy_(given)
        except Exception as error:
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are {tensor.size()} and whose '
                f"dimensions in the checkpoint are {given.size()}, an exception occurred : {error.args}."
            )
        return ""

    def _take_extra(self, state_dict: Any, key: str, strict: bool, missing_keys: Keys, unexpected_keys: Keys) -> None:
        if self._overrides("set_extra_state"):
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)

    def _without_place(self, state_dict: Any, prefix: str, own: dict[str, Tensor]) -> Keys:
        """The keys below the prefix that match neither a tensor of the module nor a submodule."""
        found = []
        for key in state_dict:
            if key.startswith(prefix) and key != prefix + _EXTRA_STATE_KEY_SUFFIX:
                name, dot, _ = key[len(prefix) :].partition(".")
                if name not in (self._modules if dot else own):
                    found.append(key)
        return found

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., Any], with_module: bool = False) -> RemovableHandle:
        """PyTorch's older kind: hook(state_dict, prefix, ...), with the module before them if with_module."""
        return added(self._load_state_dict_pre_hooks, _WrappedHook(hook, self if with_module else None))

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``register_load_state_dict_pre_hook(hook)``: called before the module loads its tensors from a dict, as
        hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs).
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """``register_load_state_dict_post_hook(hook)``: hook(module, incompatible_keys), when the module and its
        submodules are loaded. It may change the two lists of keys in place.
        """
        return added(self._load_state_dict_post_hooks, hook)


def _as_kind_of(tensor: Any, given: Tensor) -> Tensor:
    """The tensor of a dict, as a Parameter if it replaces one."""
    if not isinstance(tensor, Parameter):
        return given
    if not isinstance(given, Parameter):
        return Parameter(given, requires_grad=tensor.requires_grad)
    return given.requires_grad_(tensor.requires_grad)


class _Loading:
    """One call of load_state_dict()."""

    def __init__(self, state_dict: Mapping[str, Any], assign: bool):
        self.metadata = getattr(state_dict, "_metadata", None)
        self.state = OrderedDict(state_dict)
        if self.metadata is not None:
            vars(self.state)["_metadata"] = self.metadata
        self.assign = assign
        self.missing: Keys = []
        self.unexpected: Keys = []
        self.errors: list[str] = []

    def into(self, module: Any, strict: bool) -> _IncompatibleKeys:
        self._load(module, self.state, "")
        if strict:
            kinds = (("Missing", self.missing), ("Unexpected", self.unexpected))
            self.errors[:0] = [_unfit(kind, keys) for kind, keys in kinds if keys]
        if self.errors:
            lines = "\n\t".join(self.errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{lines}")
        return _IncompatibleKeys(self.missing, self.unexpected)

    def _load(self, module: Any, state: Any, prefix: str) -> None:
        metadata = {} if self.metadata is None else self.metadata.get(prefix[:-1], {})
        if self.assign:
            metadata["assign_to_params_buffers"] = self.assign
        module._load_from_state_dict(state, prefix, metadata, True, self.missing, self.unexpected, self.errors)
        for name, child in module._modules.items():
            if child is not None:
                start = f"{prefix}{name}."
                self._load(child, {key: value for key, value in state.items() if key.startswith(start)}, start)
        keys = _IncompatibleKeys(self.missing, self.unexpected)
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, if "
                    "incompatible_keys need to be modified, it should be done inplace."
                )


def _unfit(kind: str, keys: Keys) -> str:
    names = ", ".join(f'"{key}"' for key in keys)
    return f"{kind} key(s) in state_dict: {names}. "
