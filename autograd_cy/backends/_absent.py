"""What every library that is not used answers (facade)."""


def is_available() -> bool:
    """``is_available()`` is False: this package does not compute with this library.

    >>> import autograd_cy as ag
    >>> ag.backends.mps.is_available()
    False
    """
    return False


def is_built() -> bool:
    """``is_built()`` is False: this package is not built with this library.

    >>> import autograd_cy as ag
    >>> ag.backends.cuda.is_built()
    False
    """
    return False
