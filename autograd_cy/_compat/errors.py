"""Errors of devices, which code names in `except`; nothing raises them here (facade)."""


class AcceleratorError(RuntimeError):
    """What calls of a device raise.

    >>> import autograd_cy as ag
    >>> issubclass(ag.AcceleratorError, RuntimeError)
    True
    """


class OutOfMemoryError(RuntimeError):
    """What a device raises that has no memory left; the CPU's is a MemoryError.

    >>> import autograd_cy as ag
    >>> ag.cuda.OutOfMemoryError is ag.OutOfMemoryError
    True
    """
