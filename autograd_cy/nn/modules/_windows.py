"""WindowLayer: layers over windows that follow each other without a gap, unless a stride is given (facade)."""

from typing import Any

from ._function_layer import FunctionLayer


class WindowLayer(FunctionLayer, function=None):
    """A layer whose `stride` is its `kernel_size` if it is not given."""

    def _store(self, settings: dict[str, Any]) -> None:
        if settings["stride"] is None:
            settings["stride"] = settings["kernel_size"]
        super()._store(settings)
