"""``torch.version`` for scripts that ask which PyTorch they run on: the one that this package stands for (facade)."""

from .torch_version import __version__

cuda = hip = xpu = git_version = None
debug = False

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "xpu"]
