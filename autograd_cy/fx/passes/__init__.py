"""Passes over graphs, under the names of torch.fx.passes (facade)."""

from ..._compat import names_later as _names_later

__all__ = ["shape_prop"]

__getattr__, __dir__ = _names_later(__name__, {"shape_prop": []})
