"""Under the names of torch.fx.experimental: make_fx() in `proxy_tensor` (facade)."""

from ..._later import names_later

__getattr__, __dir__ = names_later(__name__, {"proxy_tensor": []})
