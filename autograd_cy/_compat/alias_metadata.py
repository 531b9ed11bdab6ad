"""The distribution `torch` of `importlib.metadata` while the alias is installed (facade)."""

from importlib.metadata import Distribution, PackagePath
from pathlib import Path
from typing import Any

from ..torch_version import __version__


class TorchDistribution(Distribution):
    """The PyTorch version of this package; no files, no entry points."""

    def read_text(self, filename: str) -> str | None:
        return f"Metadata-Version: 2.1\nName: torch\nVersion: {__version__}\n" if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        return Path(__file__).parents[2] / PackagePath(path)
