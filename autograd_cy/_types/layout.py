"""The layouts of tensors (facade). Imported when asked for."""


class layout:
    """The type of ``strided`` and the sparse layouts, the values of a tensor's `layout`.

    There are sparse tensors of the layouts ``sparse_coo`` and ``sparse_csr``; the others are names alone.

    >>> import autograd_cy as ag
    >>> ag.ones(2).layout is ag.strided, isinstance(ag.sparse_coo, ag.layout)
    (True, True)
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name


strided = layout("strided")
sparse_bsc, sparse_bsr, sparse_csc = layout("sparse_bsc"), layout("sparse_bsr"), layout("sparse_csc")
sparse_coo, sparse_csr = layout("sparse_coo"), layout("sparse_csr")
