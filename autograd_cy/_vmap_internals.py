"""What libraries take from ``torch._vmap_internals``: vmap under its first name (facade)."""

from typing import Any

from .func import vmap as _func_vmap

__all__ = ["vmap"]


def _vmap(func: Any, in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False) -> Any:
    """func.vmap; with allow_none_pass_through an output that is None stays None."""
    if not allow_none_pass_through:
        return _func_vmap(func, in_dims, out_dims)

    def mapped(*args: Any) -> Any:
        places: list[bool] = []
        single = False

        def without_none(*given: Any) -> Any:
            nonlocal single
            results = func(*given)
            single = not isinstance(results, tuple)
            places[:] = [result is None for result in ((results,) if single else results)]
            return tuple(result for result in ((results,) if single else results) if result is not None)

        found = iter(_func_vmap(without_none, in_dims, out_dims)(*args))
        whole = tuple(None if is_none else next(found) for is_none in places)
        return whole[0] if single else whole

    return mapped


vmap = _vmap
