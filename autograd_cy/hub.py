"""``torch.hub``: this package downloads nothing; each function says what to do instead (facade)."""

import os
from typing import Any

from ._compat import answers as _answers

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

_chosen: str | None = None

load = load_state_dict_from_url = download_url_to_file = help = list = _answers.refuses(
    NotImplementedError,
    "torch.hub.{}: this package downloads nothing. Fetch the file by other means; torch.load(path) reads its state_dict",
)


def get_dir() -> str:
    """``get_dir()`` is the folder where PyTorch keeps what it downloads: that of set_dir, $TORCH_HOME/hub, ~/.cache/torch/hub.

    >>> import autograd_cy as ag
    >>> ag.hub.get_dir().endswith("hub")
    True
    """
    if _chosen is not None:
        return _chosen
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.join(os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch"))), "hub")


def set_dir(d: Any) -> None:
    """``set_dir(path)`` changes what get_dir answers.

    >>> import autograd_cy as ag
    >>> ag.hub.set_dir(ag.hub.get_dir())
    """
    global _chosen
    _chosen = os.path.expanduser(os.fspath(d))


_answers.named(globals(), "this package downloads nothing")
