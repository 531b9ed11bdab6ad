"""The one layout of tensors (facade). Imported when asked for."""

__all__ = ["layout", "strided"]


class layout:
    """The type of ``strided``, which is the `layout` of all tensors: there are no sparse ones.

    >>> import autograd_cy as ag
    >>> ag.ones(2).layout is ag.strided, isinstance(ag.strided, ag.layout)
    (True, True)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "torch.strided"

    def __reduce__(self) -> str:
        return "strided"


strided = layout()
