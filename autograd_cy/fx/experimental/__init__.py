"""Under the names of torch.fx.experimental: make_fx() in `proxy_tensor` (facade)."""

from ..._compat import names_later as _names_later

__all__ = ["proxy_tensor"]

__getattr__, __dir__ = _names_later(__name__, {"proxy_tensor": []})
