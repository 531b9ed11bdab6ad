"""Calls of modules with other parameters (facade)."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._core.graph.tensor import Tensor
from .._core.ops.shapes.joining import stack
from .._core.runtime.entry import public

__all__ = ["functional_call", "stack_module_state"]


@public
def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """``functional_call(module, tensors, args, kwargs)`` is ``module(*args, **kwargs)`` with its tensors replaced by those.

    tensors: a dict of tensors by their names in the module, as in ``{"layer.weight": w}``, or a list or tuple of such dicts
    without common names. args: a tuple of arguments, or one. tie_weights: a tensor with several names in the module is
    replaced under all of them. strict: RuntimeError unless exactly the tensors of the module are named.
    module: any callable that holds its tensors in attributes; ``named_parameters()`` and ``named_buffers()``, if it has them,
    give the names. Its own tensors are restored after the call, even after an error; during the call other threads see the
    replacements.

    >>> import autograd_cy as ag
    >>> class Line:
    ...     def __init__(self):
    ...         self.slope, self.height = ag.tensor(2.0), ag.tensor(1.0)
    ...     def __call__(self, x):
    ...         return self.slope * x + self.height
    >>> line, x = Line(), ag.tensor(3.0)
    >>> ag.func.functional_call(line, {"slope": ag.tensor(10.0)}, x), line(x)
    (tensor(31.), tensor(7.))
    >>> ag.func.grad(lambda tensors: ag.func.functional_call(line, tensors, x))({"slope": ag.tensor(10.0)})
    {'slope': tensor(3.)}
    """
    tensors = _merged(parameter_and_buffer_dicts)
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"functional_call(): {name!r} is given {tensor}, which is not an instance of torch.Tensor")
    if args is None:
        args = ()
    with reparametrized(module, tensors, tie_weights=tie_weights, strict=strict):
        return module(*(args if isinstance(args, tuple) else (args,)), **(kwargs or {}))


def reparametrized(
    module: Any, tensors: dict[str, Tensor], *, tie_weights: bool, strict: bool
) -> contextlib.AbstractContextManager[None]:
    """A context manager that replaces a module's tensors."""
    own = dict(_named_tensors(module))
    if strict:
        _check_names(module, tensors, own)
    return _replaced(module, _with_ties(tensors, own) if tie_weights else tensors)


def _merged(dicts: Any) -> dict[str, Any]:
    """The tensors of one dict or of several."""
    if isinstance(dicts, Mapping):
        return dict(dicts)
    if not isinstance(dicts, Sequence) or isinstance(dicts, str):
        raise ValueError(f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}")
    if not all(isinstance(d, Mapping) for d in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    names = [name for d in dicts for name in d]
    repeated = [name for i, name in enumerate(names) if name in names[:i]]
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {name: tensor for d in dicts for name, tensor in d.items()}


def _named_tensors(module: Any) -> Iterator[tuple[str, Tensor]]:
    """The tensors of a module; a tensor with several names appears under each."""
    if hasattr(module, "named_parameters"):
        yield from module.named_parameters(remove_duplicate=False)
        yield from module.named_buffers(remove_duplicate=False)
    else:
        yield from _tensors_in(module, "", ())


def _tensors_in(owner: Any, prefix: str, around: tuple[Any, ...]) -> Iterator[tuple[str, Tensor]]:
    """The tensors in the attributes of an object, and in the attributes of callables among them."""
    for name, value in getattr(owner, "__dict__", {}).items():
        if isinstance(value, Tensor):
            yield prefix + name, value
        elif callable(value) and not isinstance(value, type) and not any(value is x for x in around):
            yield from _tensors_in(value, f"{prefix}{name}.", (*around, value))


def _check_names(module: Any, tensors: dict[str, Tensor], own: dict[str, Tensor]) -> None:
    lines = []
    for what, names in (("Unexpected", tensors.keys() - own.keys()), ("Missing", own.keys() - tensors.keys())):
        if names:
            lines.append(f"\n\t{what} key(s): {', '.join(map(repr, sorted(names)))}.")
    if lines:
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:{''.join(lines)}")


def _with_ties(tensors: dict[str, Tensor], own: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors, extended by the other names of the tensors that they replace."""
    names: dict[int, list[str]] = {}
    for name, tensor in own.items():
        names.setdefault(id(tensor), []).append(name)
    result = dict(tensors)
    for tied in names.values():
        given = [name for name in tied if name in tensors]
        if any(tensors[name] is not tensors[given[0]] for name in given):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(given)}, which are tied. Consider using "
                "tie_weights=False"
            )
        if given:
            result.update(dict.fromkeys(tied, tensors[given[0]]))
    return result


_ABSENT = object()


@contextlib.contextmanager
def _replaced(module: Any, tensors: dict[str, Tensor]) -> Iterator[None]:
    """Replace a module's tensors within a with block."""
    places = [_place(module, name) for name in tensors]
    previous = [attributes.get(name, _ABSENT) for attributes, name in places]
    try:
        for (attributes, name), tensor in zip(places, tensors.values(), strict=True):
            attributes[name] = tensor
        yield
    finally:
        for (attributes, name), value in zip(places, previous, strict=True):
            if value is _ABSENT:
                attributes.pop(name, None)
            else:
                attributes[name] = value


def _place(module: Any, path: str) -> tuple[dict[str, Any], str]:
    """The dict with the attribute of that name: the object's ``__dict__``, or a module's dict of parameters or buffers."""
    *owners, name = path.split(".")
    owner = module
    for part in owners:
        if not hasattr(owner, part):
            raise AttributeError(f"{type(owner).__name__} has no attribute `{part}`")
        owner = getattr(owner, part)
    for kind in ("_parameters", "_buffers"):
        if name in vars(owner).get(kind, ()):
            return vars(owner)[kind], name
    return vars(owner), name


@public
def stack_module_state(models: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """``stack_module_state(models)`` is (parameters, buffers) of several models of one class, each stacked along dimension 0.

    With vmap and functional_call all models are called at once. The stacked tensors are leaves, which require grad if
    the models' tensors do. RuntimeError for no model, for models of different classes or modes, or if requires_grad differs.

    >>> import autograd_cy as ag
    >>> class Line:
    ...     training = False
    ...     def __init__(self, slope):
    ...         self.slope = ag.tensor(slope, requires_grad=True)
    ...     def named_parameters(self, remove_duplicate=True):
    ...         return [("slope", self.slope)]
    ...     def named_buffers(self, remove_duplicate=True):
    ...         return []
    ...     def __call__(self, x):
    ...         return self.slope * x
    >>> lines = [Line(1.0), Line(2.0)]
    >>> parameters, buffers = ag.func.stack_module_state(lines)
    >>> ag.vmap(lambda p: ag.func.functional_call(lines[0], p, ag.tensor(10.0)))(parameters)
    tensor([10., 20.], grad_fn=<MulBackward0>)
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(m.training != models[0].training for m in models):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = _stacked([dict(m.named_parameters()) for m in models])
    buffers = _stacked([dict(m.named_buffers()) for m in models])
    return parameters, buffers


def _stacked(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The tensors of all models under each name, as one leaf."""
    result = {}
    for name in states[0]:
        tensors = [state[name] for state in states]
        wanted = tensors[0].requires_grad
        if any(x.requires_grad != wanted for x in tensors):
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        result[name] = stack([x.detach() for x in tensors]).requires_grad_(wanted)
    return result
