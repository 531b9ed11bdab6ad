"""Passes over graphs, under the names of torch.fx.passes (facade)."""

from ..._later import names_later

__getattr__, __dir__ = names_later(__name__, {"shape_prop": []})
