"""WindowLayer: layers over windows, which by default are adjacent (facade)."""

from typing import Any

from ._function_layer import FunctionLayer


class WindowLayer(FunctionLayer, function=None):
    """A layer with `stride` equal to `kernel_size` by default."""

    def _store(self, settings: dict[str, Any]) -> None:
        if settings["stride"] is None:
            settings["stride"] = settings["kernel_size"]
        super()._store(settings)
