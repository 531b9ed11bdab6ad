"""``torch.cuda.streams``: queues of a device that is not there (facade)."""

from .._compat import absent_device as _absent_device

__all__ = ["Event", "ExternalStream", "Stream"]

Stream, ExternalStream, Event = (
    _absent_device.absent_class(__name__, name, RuntimeError, f"torch.cuda.{name} requires CUDA support")
    for name in ("Stream", "ExternalStream", "Event")
)
