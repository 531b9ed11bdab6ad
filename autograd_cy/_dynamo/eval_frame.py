"""OptimizedModule: what torch.compile makes of a module (facade)."""

from typing import Any

from ..nn.modules.module import Module

__all__ = ["OptimizedModule"]

_OWN = ("_orig_mod", "forward", "dynamo_ctx")


class OptimizedModule(Module):
    """``torch.compile(module)`` is one: it calls the module, which is its `_orig_mod`, and hands attributes on to it.

    Names of its parameters and keys of its state dict begin with `_orig_mod.`, as in PyTorch.

    >>> import autograd_cy as ag
    >>> compiled = ag._dynamo.OptimizedModule(ag.nn.Linear(2, 1))
    >>> list(compiled.state_dict()), compiled.in_features
    (['_orig_mod.weight', '_orig_mod.bias'], 2)
    """

    _orig_mod: Module

    def __init__(self, mod: Module, dynamo_ctx: Any = None):
        super().__init__()
        self._orig_mod, self.dynamo_ctx = mod, dynamo_ctx

    def __len__(self) -> int:
        return len(self._orig_mod)

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if "_modules" not in vars(self) or name in _OWN or name in vars(self):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        if name in vars(self):
            super().__delattr__(name)
        else:
            delattr(self._orig_mod, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._orig_mod)})

    @property
    def training(self) -> bool:
        """That of the module."""
        return self._orig_mod.training

    @training.setter
    def training(self, value: bool) -> None:
        if "_modules" in vars(self) and "_orig_mod" in self._modules:
            self._orig_mod.training = value

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """``compiled(...)`` is what the module returns."""
        return self._orig_mod(*args, **kwargs)
