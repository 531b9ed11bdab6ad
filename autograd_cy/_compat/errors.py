"""Errors of devices, for use in `except`; nothing raises them here (facade)."""


class AcceleratorError(RuntimeError):
    """Raised by calls of a device.

    >>> import autograd_cy as ag
    >>> issubclass(ag.AcceleratorError, RuntimeError)
    True
    """


class OutOfMemoryError(RuntimeError):
    """Raised by a device without free memory; on the CPU it is a MemoryError.

    >>> import autograd_cy as ag
    >>> ag.cuda.OutOfMemoryError is ag.OutOfMemoryError
    True
    """
