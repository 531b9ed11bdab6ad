"""How conversions of modules treat their parameters, under the names of torch.__future__ (facade)."""

from ._core.runtime.once import warn_user as _warn_user

__all__ = [
    "get_overwrite_module_params_on_conversion", "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion", "set_swap_module_params_on_conversion",
]  # fmt: skip

_overwrite_module_params_on_conversion = False
_swap_module_params_on_conversion = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """``set_overwrite_module_params_on_conversion(True)``: ``module.to()`` and its like make new parameters.

    By default a parameter stays the same object and gets other memory.

    >>> import autograd_cy as ag
    >>> ag.__future__.set_overwrite_module_params_on_conversion(True)
    >>> layer = ag.nn.Linear(2, 1)
    >>> weight = layer.weight
    >>> layer.double().weight is weight, weight.dtype
    (False, torch.float32)
    >>> ag.__future__.set_overwrite_module_params_on_conversion(False)
    """
    global _overwrite_module_params_on_conversion
    _overwrite_module_params_on_conversion = value


def get_overwrite_module_params_on_conversion() -> bool:
    """``get_overwrite_module_params_on_conversion()`` is what the setter was told, False at first.

    >>> import autograd_cy as ag
    >>> ag.__future__.get_overwrite_module_params_on_conversion()
    False
    """
    return _overwrite_module_params_on_conversion


def set_swap_module_params_on_conversion(value: bool) -> None:
    """``set_swap_module_params_on_conversion(True)`` is noted, and a warning says that it changes nothing.

    There is no swap_tensors(): graphs refer to a tensor itself, not to memory that two tensors could exchange. Parameters
    stay the same objects in conversions, unless they leave the device "meta".

    >>> import autograd_cy as ag
    >>> ag.__future__.set_swap_module_params_on_conversion(False)
    """
    global _swap_module_params_on_conversion
    if value:
        _warn_user(
            "set_swap_module_params_on_conversion(True) changes nothing here: there is no swap_tensors(). Conversions give "
            "parameters other memory."
        )
    _swap_module_params_on_conversion = value


def get_swap_module_params_on_conversion() -> bool:
    """``get_swap_module_params_on_conversion()`` is what the setter was told, False at first.

    >>> import autograd_cy as ag
    >>> ag.__future__.get_swap_module_params_on_conversion()
    False
    """
    return _swap_module_params_on_conversion
