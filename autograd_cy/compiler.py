"""``torch.compiler`` where nothing is compiled: its decorators return functions as they are (facade)."""

from contextlib import nullcontext as _nullcontext
from typing import Any

from ._compat import answers as _answers
from ._dynamo._compile import backends as list_backends
from ._dynamo._compile import compile

__all__ = [
    "allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable", "is_compiling",
    "is_dynamo_compiling", "is_exporting", "list_backends", "load_cache_artifacts", "load_compiled_function",
    "nested_compile_region", "reset", "save_cache_artifacts", "set_stance", "substitute_in_graph", "wrap_numpy",
]  # fmt: skip

allow_in_graph = assume_constant_result = disable = nested_compile_region = _answers.unchanged()
is_compiling = is_dynamo_compiling = is_exporting = _answers.answers(False)
cudagraph_mark_step_begin = reset = load_cache_artifacts = save_cache_artifacts = _answers.answers(None)
load_compiled_function = _answers.refuses(NotImplementedError, "torch.compiler.{}: this package has no compiler")


def substitute_in_graph(original_fn: Any, **kwargs: Any) -> Any:
    """``@substitute_in_graph(f)`` above a function that a compiler would call in place of f: it comes back as it is.

    >>> import autograd_cy as ag
    >>> ag.compiler.substitute_in_graph(abs)(max) is max
    True
    """
    return lambda traceable: traceable


def wrap_numpy(fn: Any) -> Any:
    """``wrap_numpy(f)`` is f, a function of NumPy arrays, as a function of tensors: they go in and come out.

    >>> import autograd_cy as ag, numpy as np
    >>> ag.compiler.wrap_numpy(np.cumsum)(ag.ones(2))
    tensor([1., 2.])
    """
    import functools

    import numpy as np

    from ._core.graph.tensor import Tensor
    from ._creation.data import from_numpy
    from .utils._pytree import tree_map

    @functools.wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        into = lambda x: x.numpy() if isinstance(x, Tensor) else x  # noqa: E731
        back = lambda x: from_numpy(x) if isinstance(x, np.ndarray) else x  # noqa: E731
        return tree_map(back, fn(*tree_map(into, args), **tree_map(into, kwargs)))

    return wrapped


def set_stance(stance: str = "default", **kwargs: Any) -> Any:
    """``with set_stance("force_eager"):`` changes nothing.

    >>> import autograd_cy as ag
    >>> with ag.compiler.set_stance("force_eager"):
    ...     pass
    """
    return _nullcontext()


_answers.named(globals(), "nothing is compiled here")
