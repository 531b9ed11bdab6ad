"""Lists and dicts that can't be changed: what arguments of nodes are kept in (facade)."""

from typing import Any, NoReturn

__all__ = ["immutable_dict", "immutable_list"]


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError(
        f"{type(self).__name__!r} object does not support mutation. If you are attempting to modify the kwargs or args of a "
        "torch.fx.Node object, instead create a new copy of it and assign the copy to the node"
    )


class immutable_list(list[Any]):
    """``immutable_list(items)`` is a list that can be read and hashed.

    >>> from autograd_cy.fx.immutable_collections import immutable_list
    >>> immutable_list([1, 2]) == [1, 2]
    True
    """

    __delitem__ = __iadd__ = __imul__ = __setitem__ = append = clear = extend = insert = pop = remove = reverse = sort = (
        _refuse
    )

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> Any:
        return immutable_list, (tuple(self),)


class immutable_dict(dict[Any, Any]):
    """``immutable_dict(items)`` is a dict that can be read and hashed.

    >>> from autograd_cy.fx.immutable_collections import immutable_dict
    >>> immutable_dict(a=1)
    {'a': 1}
    """

    __delitem__ = __ior__ = __setitem__ = clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> Any:
        return immutable_dict, (dict(self),)
