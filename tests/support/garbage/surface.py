"""What there is to call: every public function and method, every operation with a sample of its own, every attribute.

Nothing is listed by hand but what is left out: modules are walked, operations come from the op table.
"""

import functools
import importlib
import inspect
import pkgutil

import numpy as np
from op_calls import samples_of
from op_case import map_arrays
from opinfo import OPS

import autograd_cy as ag

from .values import Doubling, Integer, Maker

LEFT_OUT = {
    "autograd_cy.install_as_torch",  # replaces modules for good
    "autograd_cy.set_num_threads",  # to take 2**31 threads at their word is right
    "autograd_cy.autograd.graph.save_on_disk",  # writes where it is told to
}
SPECIAL = {"__class__", "__init_subclass__", "__subclasshook__", "__new__", "__del__", "__dir__", "__getstate__"}


def modules():
    """The public modules, whose names don't begin with an underscore, and `_C`."""
    names = [m.name for m in pkgutil.walk_packages(ag.__path__, "autograd_cy.")]
    return [ag] + [importlib.import_module(n) for n in sorted(names) if "._" not in n.replace("._C", "")]


@functools.cache
def functions():
    """{path: function} of all public functions and classes."""
    found = {}
    for module in modules():
        for name, value in sorted(vars(module).items()):
            path = f"{module.__name__}.{name}"
            if name.startswith("__") or not callable(value) or path in LEFT_OUT:
                continue
            home = str(getattr(value, "__module__", ""))
            if name.startswith("_") and home != module.__name__ and "._C" not in module.__name__:
                continue  # a helper that the module imports for itself
            if home.startswith("autograd_cy"):
                found[path] = value
    return found


@functools.cache
def parameters(function):
    """The names of the parameters, of what has a signature."""
    try:
        return [p.name for p in inspect.signature(function).parameters.values() if p.kind != p.VAR_POSITIONAL]
    except (TypeError, ValueError):
        return []


@functools.cache
def names_of(kind):
    """The attributes of a type's objects."""
    return [name for name in dir(kind) if name not in SPECIAL]


@functools.cache
def methods():
    return [name for name in names_of(ag.Tensor) if callable(getattr(ag.Tensor, name, None))]


def objects(maker):
    """One of each kind of object that users hold."""
    x = ag.ones(2, 3, requires_grad=True)
    y = x * x
    with ag.inference_mode():
        inferred = ag.ones(2)
    return {
        "Tensor": lambda: maker.tensor(), "leaf": lambda: x, "result": lambda: y, "inferred": lambda: inferred,
        "view": lambda: y[0], "AccumulateGrad": lambda: y.grad_fn.next_functions[0][0], "MulBackward0": lambda: y.grad_fn,
        "ctx": lambda: Doubling.apply(x).grad_fn, "saved": lambda: y.grad_fn._raw_saved_self, "dtype": lambda: ag.float32,
        "Size": lambda: x.shape, "device": lambda: x.device, "Generator": lambda: ag.Generator(),
        "handle": lambda: y.register_hook(lambda g: g), "edge": lambda: ag.autograd.graph.get_gradient_edge(y),
        "no_grad": lambda: ag.no_grad(), "inference_mode": lambda: ag.inference_mode(),
        "set_grad_enabled": lambda: ag.set_grad_enabled(True), "max": lambda: x.max(0),
        "detect_anomaly": lambda: ag.autograd.detect_anomaly(), "dual_level": lambda: ag.autograd.forward_ad.dual_level(),
        "saved_tensors_hooks": lambda: ag.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t),
        "Function": lambda: type("Fresh", (Doubling,), {}), "hooked": lambda: hooked(x),
    }  # fmt: skip


def hooked(x):
    y = x * 2
    y.register_hook(lambda g: g)
    y.retain_grad()
    return y


# the calls: each gives (name, callable, args, kwargs)


def a_function(maker):
    path = maker.pick(list(functions()))
    function = functions()[path]
    return path, function, *maker.arguments(parameters(function))


def a_gradient(maker):
    """backward() and grad(), of which most arguments are right."""
    x, w = ag.ones(3, requires_grad=True), ag.ones(3, requires_grad=True)
    y = maker.pick([lambda: (x * w).sum(), lambda: x * w, lambda: (x * w).unbind(), lambda: Doubling.apply(x) * w])()
    inputs = maker.pick([x, [x, w], [x, y] if isinstance(y, ag.Tensor) else x, []])
    args = [y, inputs, ag.ones_like(y) if isinstance(y, ag.Tensor) else None]
    flags = [name for name in ("retain_graph", "create_graph") if maker.random.random() < 0.4]
    kwargs = {name: maker.pick([True, False, None]) for name in flags}
    path = maker.pick(["autograd.grad", "autograd.backward"])
    if path == "autograd.backward":
        args.pop(1)
        if maker.random.random() < 0.4:
            kwargs["inputs"] = inputs
    mutate(maker, args, kwargs)
    return path, getattr(ag.autograd, path[9:]), args, kwargs


def sample_of(maker):
    """A row of the op table and arguments that are right."""
    row = maker.pick(OPS)
    dtype = maker.pick(row.dtypes * 3 + row.forward)
    sample = maker.pick(samples_of(row, dtype))

    def tensor(array):
        x = ag.from_numpy(np.array(array))
        if row.differentiable and array.dtype.kind in "fc":
            x.requires_grad_(maker.random.random() < 0.8)
            return x.clone() if maker.random.random() < 0.3 else x
        return x

    kwargs = {k: getattr(ag, v.__name__) if isinstance(v, type) else v for k, v in sample.kwargs.items()}
    return row, list(map_arrays(tensor, sample.args)), map_arrays(tensor, kwargs)


def mutate(maker, args, kwargs):
    """Replace one argument or two, or put one more to them."""
    for _ in range(maker.pick([1, 1, 2])):
        how = maker.random.random()
        places = [(args, i) for i in range(len(args))] + [(kwargs, name) for name in kwargs]
        if how < 0.1:
            args.append(maker.value())
        elif how < 0.2:
            kwargs[maker.pick(["out", "dim", "dtype", "keepdim", "axis", "input", "other", "weight"])] = maker.value()
        elif places:
            place, key = maker.pick(places)
            place[key] = maker.tensor() if isinstance(place[key], ag.Tensor) and how < 0.7 else maker.value()


def an_operation(maker):
    row, args, kwargs = sample_of(maker)
    mutate(maker, args, kwargs)
    return f"op {row.name}", row.function(ag), args, kwargs


def a_node(maker):
    """A node of any operation, called with gradients that it may not expect."""
    row, args, kwargs = sample_of(maker)
    found = row.function(ag)(*args, **kwargs)
    nodes = [y.grad_fn for y in (found if isinstance(found, (tuple, list)) else [found]) if getattr(y, "grad_fn", None)]
    if not nodes:
        return f"op {row.name}", row.function(ag), args, kwargs
    node = maker.pick(nodes)
    if maker.random.random() < 0.2:
        node = maker.pick([n for n, _ in node.next_functions if n is not None] or [node])
    count = len(found) if isinstance(found, (tuple, list)) and node in nodes else 1
    how = maker.random.random()
    gradients = [maker.tensor() if how < 0.7 else maker.value() for _ in range(count)]
    if how > 0.95:
        gradients.append(None)
    if maker.random.random() < 0.25:
        name = maker.pick(dir(node))  # with those of what it saved
        if name not in SPECIAL:
            return f"{node.name()}.{name}", lambda: use(maker, node, name), [], {}
    return f"{node.name()}()", node, gradients, {}


def use(maker, owner, name):
    """An attribute read; what can be called is called."""
    value = getattr(owner, name)
    if callable(value):
        args, kwargs = maker.arguments(parameters(value) if not isinstance(value, type) else ())
        return value(*args, **kwargs)
    return value


def a_method(maker):
    name = maker.pick(methods())
    x = maker.tensor()
    args, kwargs = maker.arguments(parameters(getattr(ag.Tensor, name)))
    if maker.random.random() < 0.1:  # anything in place of self
        return f"Tensor.{name}", getattr(ag.Tensor, name), [maker.value(), *args], kwargs
    return f"Tensor.{name}", lambda *a, **k: getattr(x, name)(*a, **k), args, kwargs


def an_attribute(maker):
    """An attribute of an object read (and called), set, or deleted."""
    kinds = objects(maker)
    kind = maker.pick(list(kinds))
    owner = kinds[kind]()
    name = maker.pick(names_of(owner if isinstance(owner, type) else type(owner)) + ["foo", "data", "grad", "grad_fn"])
    how = maker.random.randrange(4)
    if how == 2:
        return f"{kind}.{name} = ", lambda value: setattr(owner, name, value), [maker.value()], {}
    if how == 3:
        return f"del {kind}.{name}", lambda: delattr(owner, name), [], {}
    return f"{kind}.{name}", lambda: use(maker, owner, name), [], {}


def an_index(maker):
    """Reading and writing by an index."""
    x = maker.tensor()
    parts = [maker.pick([
        lambda: maker.value(), lambda: maker.tensor(), lambda: None, lambda: slice(maker.value(), maker.value()),
        lambda: maker.random.randrange(-4, 4), lambda: [0, 1], lambda: ..., lambda: ag.tensor([0, 0]), lambda: Integer(1),
        lambda: slice(None, None, maker.pick([-1, 0, 2, 2**63])), lambda: x > 1 if not x.is_complex() else 0,
    ])() for _ in range(maker.pick([1, 1, 2, 3]))]  # fmt: skip
    index = parts[0] if len(parts) == 1 else tuple(parts)
    if maker.random.random() < 0.5:
        return "Tensor.__getitem__", lambda x, index: x[index], [x, index], {}
    return "Tensor.__setitem__", lambda x, index, value: x.__setitem__(index, value), [x, index, maker.value()], {}


KINDS = [
    *[an_operation] * 6, *[a_function] * 3, *[a_method] * 4, *[an_attribute] * 3, *[a_node] * 3, a_gradient, *[an_index] * 2,
]  # fmt: skip


def a_call(seed, number):
    """The call of that number: (name, callable, args, kwargs), and who made the arguments."""
    maker = Maker(f"{seed}.{number}")
    return *maker.pick(KINDS)(maker), maker
