"""Operations of one's own, under the names of torch.library: found as torch.ops.<namespace>.<name> (facade)."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from . import _ops
from ._core.graph.tensor import Tensor
from ._core.ops.overrides import handle_torch_function as _handle_torch_function
from .autograd.function import Function
from .autograd.grad_mode import is_grad_enabled, no_grad
from .utils._pytree import tree_leaves as _tree_leaves

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "fallthrough_kernel", "impl", "impl_abstract", "infer_schema", "opcheck",
    "register_autograd", "register_fake", "register_kernel", "register_vmap",
]  # fmt: skip


class CustomOpDef:
    """An operation that custom_op() or a Library made: calling it calls its kernel, and records its derivative."""

    def __init__(
        self, namespace: str, name: str, kernel: Callable[..., Any] | None, mutates: Any = (), schema: str = ""
    ) -> None:
        self._namespace, self._name, self._kernel = namespace, name, kernel
        self._qualname = f"{namespace}::{name}"
        self._mutates, self._schema = mutates, schema
        self._backward: Callable[..., Any] | None = None
        self._setup: Callable[..., Any] | None = None
        self._fake: Callable[..., Any] | None = None
        self._vmap: Callable[..., Any] | None = None
        self._autograd: Callable[..., Any] | None = None  # a kernel that records by itself
        self.__name__ = name
        self.__doc__ = getattr(kernel, "__doc__", None)

    @property
    def _opoverload(self) -> Any:
        return getattr(getattr(_ops.ops, self._namespace), self._name).default

    def register_autograd(self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None) -> None:
        """``register_autograd(backward, setup_context=None)``: the derivative, ``backward(ctx, *grads)``; what it needs is
        kept by ``setup_context(ctx, inputs, output)``."""
        self._backward, self._setup = backward, setup_context

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """``register_fake(fn)``: what the result looks like; opcheck() compares it with the result."""
        self._fake = fn
        return fn

    def register_kernel(self, device_types: Any, fn: Callable[..., Any] | None = None, /) -> Callable[..., Any]:
        """``register_kernel("cpu", fn)``: what computes it; kernels of other devices are kept from being called."""

        def keep(function: Callable[..., Any]) -> Callable[..., Any]:
            kinds = (device_types,) if isinstance(device_types, str) or device_types is None else tuple(device_types)
            if None in kinds or "cpu" in kinds:
                self._kernel = function
            return function

        return keep if fn is None else keep(fn)

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """``register_vmap(func)``: what it is within vmap, ``func(info, in_dims, *args)`` -> (output, out_dims)."""

        def keep(function: Callable[..., Any]) -> Callable[..., Any]:
            self._vmap = function
            return function

        return keep if func is None else keep(func)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        others = [x for x in (*args, *kwargs.values()) if not isinstance(x, Tensor) and hasattr(x, "__torch_function__")]
        if others:  # as a Proxy of torch.fx
            return _handle_torch_function(self._opoverload, others, *args, **kwargs)
        if self._autograd is not None:
            return self._autograd(*args, **kwargs)
        kernel = self._kernel
        if kernel is None:
            raise NotImplementedError(f"Could not run '{self._qualname}': it has no kernel for the CPU")
        if self._mutates and self._backward is None:
            with no_grad():
                return kernel(*args, **kwargs)
        tensors = [x for x in _tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
        recorded = is_grad_enabled() and any(x.requires_grad for x in tensors)
        if not recorded and self._vmap is None:
            return kernel(*args, **kwargs)
        bound = _in_order(kernel, args, kwargs)
        return _function_of(self).apply(*bound)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"


def _in_order(kernel: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """All arguments by position, with the defaults."""
    bound = inspect.signature(kernel).bind(*args, **kwargs)
    bound.apply_defaults()
    return (*bound.args, *bound.kwargs.values())


def _function_of(op: CustomOpDef) -> type[Function]:
    """The Function of an operation, whose backward is what was registered."""
    kernel = op._kernel
    assert kernel is not None
    names = [p.name for p in inspect.signature(kernel).parameters.values() if p.kind is p.KEYWORD_ONLY]

    def forward(*args: Any) -> Any:
        given = len(args) - len(names)
        return kernel(*args[:given], **dict(zip(names, args[given:], strict=True)))

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        given = len(inputs) - len(names)
        ctx._arguments = len(inputs)
        if op._setup is None:
            return
        if names:
            op._setup(ctx, inputs[:given], dict(zip(names, inputs[given:], strict=True)), output)
        else:
            op._setup(ctx, inputs, output)

    def backward(ctx: Any, *grads: Any) -> Any:
        if op._backward is None:
            raise RuntimeError(
                f"Trying to backward through {op._qualname}.default but no autograd formula was registered. Please use "
                "register_autograd to add one."
            )
        result = op._backward(ctx, *grads)
        found = result if isinstance(result, tuple) else (result,)
        return (*found, *[None] * (ctx._arguments - len(found)))

    members: dict[str, Any] = {
        name: staticmethod(value)
        for name, value in (("forward", forward), ("setup_context", setup_context), ("backward", backward))
    }
    if op._vmap is not None:
        members["vmap"] = staticmethod(op._vmap)
    return type(f"{op._name}_generated", (Function,), members)


def custom_op(
    name: str, fn: Callable[..., Any] | None = None, /, *, mutates_args: Any, device_types: Any = None,
    schema: str | None = None, tags: Any = None,
) -> Any:  # fmt: skip
    """``custom_op("namespace::name", mutates_args=())`` makes an operation of the function that it decorates.

    It is called as the function, and as torch.ops.namespace.name. ``mutates_args`` names the arguments that it writes into.

    >>> import autograd_cy as ag
    >>> @ag.library.custom_op("mine::cube", mutates_args=())
    ... def cube(x: ag.Tensor) -> ag.Tensor:
    ...     return x * x * x
    >>> def setup_context(ctx, inputs, output):
    ...     ctx.save_for_backward(inputs[0])
    >>> def backward(ctx, g):
    ...     return 3 * ctx.saved_tensors[0] ** 2 * g
    >>> cube.register_autograd(backward, setup_context=setup_context)
    >>> x = ag.tensor(2.0, requires_grad=True)
    >>> ag.ops.mine.cube(x).backward()
    >>> x.grad
    tensor(12.)
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        namespace, _, last = name.partition("::")
        if not last:
            raise ValueError(f'expected `qualname` to be of the form "namespace::name" but got {name!r}')
        op = CustomOpDef(namespace, last, function, mutates_args, schema or infer_schema(function, mutates_args=mutates_args))
        _enter(op)
        return op

    return make if fn is None else make(fn)


def _enter(op: CustomOpDef) -> None:
    _ops._custom[op._qualname] = op
    vars(getattr(_ops.ops, op._namespace)).pop(op._name, None)  # the one that there was


def infer_schema(prototype_function: Callable[..., Any], /, *, mutates_args: Any, op_name: str | None = None) -> str:
    """``infer_schema(function, mutates_args=())``: the parameters of a function as PyTorch writes them.

    >>> import autograd_cy as ag
    >>> def scaled(x: ag.Tensor, by: float = 2.0) -> ag.Tensor: ...
    >>> ag.library.infer_schema(scaled, mutates_args=())
    '(Tensor x, float by=2.0) -> Tensor'
    """
    return (op_name or "") + _ops.schema_of(prototype_function)


def _op_of(op: Any) -> CustomOpDef:
    if isinstance(op, CustomOpDef):
        return op
    if isinstance(op, _ops.OpOverload):
        op = op.name()
    qualname = str(op).partition(".")[0]
    if qualname not in _ops._custom:
        raise RuntimeError(f"operator {qualname} does not exist")
    return _ops._custom[qualname]


def register_autograd(
    op: Any, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None, lib: Any = None
) -> None:
    """``register_autograd("namespace::name", backward, setup_context=None)``: the derivative of an operation."""
    _op_of(op).register_autograd(backward, setup_context=setup_context)


def register_fake(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None, **_: Any) -> Any:
    """``register_fake("namespace::name", func)``: what its result looks like; also a decorator."""
    known = _op_of(op)
    return known.register_fake if func is None else known.register_fake(func)


def register_kernel(op: Any, device_types: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """``register_kernel("namespace::name", "cpu", func)``: what computes it; also a decorator."""
    known = _op_of(op)
    return known.register_kernel(device_types) if func is None else known.register_kernel(device_types, func)


def register_vmap(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """``register_vmap("namespace::name", func)``: what it is within vmap; also a decorator."""
    return _op_of(op).register_vmap(func)


def impl_abstract(qualname: Any, func: Callable[..., Any] | None = None, *, lib: Any = None, _stacklevel: int = 1) -> Any:
    """``impl_abstract("namespace::name", func)`` is register_fake(), under its older name."""
    return register_fake(qualname, func)


def define(qualname: Any, schema: str, *, lib: Any = None, tags: Any = ()) -> None:
    """``define("namespace::name", "(Tensor x) -> Tensor")`` declares an operation, whose kernel impl() gives."""
    namespace, _, name = qualname.partition("::")
    if not name:
        raise ValueError(f"torch.library.define: expected `qualname` to be of the form namespace::name, but got {qualname!r}")
    _enter(CustomOpDef(namespace, name, None, _mutated(schema), schema))


def _mutated(schema: str) -> tuple[str, ...]:
    """The parameters that a schema marks as written, as in Tensor(a!) x."""
    parts = schema.partition("(")[2].partition("->")[0].split(",")
    return tuple(part.split()[-1].partition("=")[0].strip(") ") for part in parts if "!" in part)


def impl(qualname: Any, types: Any, func: Callable[..., Any] | None = None, *, lib: Any = None) -> Any:
    """``impl("namespace::name", "cpu", func)``: what computes an operation that was defined; also a decorator."""

    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        for kind in (types,) if isinstance(types, str) else types:
            _implement(_op_of(qualname), kind, function)
        return function

    return keep if func is None else keep(func)


def _implement(op: CustomOpDef, kind: str, function: Callable[..., Any]) -> None:
    if "Composite" in kind or "Autograd" in kind:
        op._autograd = function
    elif kind in ("Meta", "meta"):
        op._fake = function
    elif kind.lower() in ("", "cpu", "default"):
        op._kernel = function


class Library:
    """``Library(namespace, kind)``: operations of a namespace, by ``define(schema)`` and ``impl(name, function, key)``.

    ``kind`` is "DEF", "IMPL" or "FRAGMENT". Keys with Autograd or Composite say that the function records by itself, CPU
    that it is the kernel.

    >>> import autograd_cy as ag
    >>> lib = ag.library.Library("yours", "DEF")
    >>> lib.define("twice(Tensor x) -> Tensor")
    'twice'
    >>> lib.impl("twice", lambda x: 2 * x, "CompositeImplicitAutograd")
    >>> ag.ops.yours.twice(ag.ones(2))
    tensor([2., 2.])
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._defined: list[str] = []

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """``define("name(Tensor x) -> Tensor")`` declares an operation; returns its name."""
        name = schema.partition("(")[0].strip()
        define(f"{self.ns}::{name.partition('.')[0]}", schema[len(name) :])
        self._defined.append(f"{self.ns}::{name.partition('.')[0]}")
        return name

    def impl(
        self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:  # fmt: skip
        """``impl("name", function, "CPU")``: what an operation is for a key."""
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        name = op_name.name() if isinstance(op_name, _ops.OpOverload) else f"{self.ns}::{op_name.rpartition('::')[2]}"
        if name.partition(".")[0] not in _ops._custom:
            raise RuntimeError(f"operator {name} is none that was defined: operations of {self.ns} can't be changed here")
        _implement(_op_of(name), dispatch_key or self.dispatch_key, fn)

    def _destroy(self) -> None:
        for name in self._defined:
            op = _ops._custom.pop(name, None)
            if op is not None:
                vars(getattr(_ops.ops, op._namespace)).pop(op._name, None)


def fallthrough_kernel(*args: Any, **kwargs: Any) -> Any:
    """``fallthrough_kernel``, given to Library.impl(): there is no dispatcher here; NotImplementedError when it is called."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def opcheck(
    op: Any, args: Sequence[Any], kwargs: dict[str, Any] | None = None, *, test_utils: Any = None,
    raise_exception: bool = True, atol: float | None = None, rtol: float | None = None,
) -> dict[str, Any]:  # fmt: skip
    """``opcheck(op, args, kwargs=None)``: whether an operation is what it declares: it writes into nothing else, its fake has
    the result's shape and dtype, its derivative is there. Returns "SUCCESS" or the exception by test; raises the first one.

    >>> import autograd_cy as ag
    >>> @ag.library.custom_op("mine::half", mutates_args=())
    ... def half(x: ag.Tensor) -> ag.Tensor:
    ...     return x / 2
    >>> ag.library.opcheck(half, (ag.ones(2),), test_utils=["test_schema"])
    {'test_schema': 'SUCCESS'}
    """
    tests = {"test_schema": _check_schema, "test_autograd_registration": _check_autograd, "test_faketensor": _check_fake}
    names = [test_utils] if isinstance(test_utils, str) else list(test_utils or tests)
    results: dict[str, Any] = {}
    for name in names:
        try:
            tests.get(name, _check_schema)(_op_of(op), tuple(args), dict(kwargs or {}))
            results[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise
            results[name] = error
    return results


def _check_schema(op: CustomOpDef, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    kernel = op._kernel or op._autograd
    names = list(inspect.signature(kernel).parameters) if kernel is not None else []
    before = [(i, x, x.detach().clone()) for i, x in enumerate(args) if isinstance(x, Tensor)]
    result = op(*args, **kwargs)
    for i, x, old in before:
        written = op._mutates == "unknown" or (i < len(names) and names[i] in op._mutates)
        if not written and not bool((x.detach() == old).all()):
            raise RuntimeError(f"Argument {names[i]} is not defined as mutable but was mutated by {op._qualname}")
        if any(y is x for y in _tree_leaves(result)):
            raise RuntimeError(f"The output of {op._qualname} must not be its argument {names[i]}")


def _check_autograd(op: CustomOpDef, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if op._backward is None and op._autograd is None:
        return
    leaves = [x.detach().clone().requires_grad_() if isinstance(x, Tensor) and x.is_floating_point() else x for x in args]
    outputs = [y for y in _tree_leaves(op(*leaves, **kwargs)) if isinstance(y, Tensor) and y.requires_grad]
    if outputs:
        sum((y.sum() for y in outputs[1:]), outputs[0].sum()).backward()


def _check_fake(op: CustomOpDef, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if op._fake is None:
        return
    found, expected = _tree_leaves(op._fake(*args, **kwargs)), _tree_leaves(op(*args, **kwargs))
    for x, y in zip(found, expected, strict=True):
        if isinstance(y, Tensor) and (x.shape, x.dtype) != (y.shape, y.dtype):
            raise RuntimeError(
                f"The fake of {op._qualname} has {x.dtype} of {list(x.shape)}, it has {y.dtype} of {list(y.shape)}"
            )
