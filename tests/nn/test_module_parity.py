"""The same scripts about modules on this package and on PyTorch: what they say has to be the same, word for word.

Each script takes the library, and returns a list of texts and numbers.
"""

import copy
import pickle
import warnings
from collections import OrderedDict

import pytest

import autograd_cy as ag


def filled(module, start=0.0):
    """The module with parameters that count up, so that both libraries have the same."""
    for parameter in module.parameters():
        numbers = range(parameter.numel())
        parameter.data.copy_(parameter.data.new_tensor([start + i / 8 for i in numbers]).reshape(parameter.shape))
    return module


def error_of(call, *args, **kwargs):
    """The type and the text of what a call raises."""
    try:
        result = call(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error)
    return "no error", type(result).__name__


def warnings_of(call, *args, **kwargs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*args, **kwargs)
    return [(w.category.__name__, str(w.message)) for w in caught]


def net_of(torch):
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(3, 2)
            self.rest = nn.Sequential(nn.Identity(), nn.Linear(2, 2, bias=False))
            self.again = self.rest
            self.register_buffer("mean", torch.zeros(2))
            self.register_buffer("seen", torch.ones(1), persistent=False)
            self.scale = nn.Parameter(torch.ones(2))
            self.register_parameter("shift", None)

        def forward(self, x, factor=1.0):
            return self.rest(self.first(x)) * self.scale * factor - self.mean

    return filled(Net())


def members(torch):
    net = net_of(torch)
    yield [name for name, _ in net.named_parameters()]
    yield [name for name, _ in net.named_parameters("net", remove_duplicate=False)]
    yield [name for name, _ in net.named_parameters(recurse=False)]
    yield [name for name, _ in net.named_buffers()]
    yield [name for name, _ in net.named_modules()]
    yield [name for name, _ in net.named_modules(prefix="x", remove_duplicate=False)]
    yield [name for name, _ in net.named_children()]
    yield len(list(net.modules())), len(list(net.children())), len(list(net.buffers()))
    yield list(net.state_dict()), list(net.state_dict(prefix="p.")), dict(net.state_dict()._metadata)
    yield [name for name in dir(net) if not name.startswith("_") and hasattr(torch.nn.Module, name) is False]
    yield net(torch.ones(1, 3), factor=2.0).tolist()


def representations(torch):
    nn = torch.nn
    yield repr(net_of(torch))
    yield repr(nn.ModuleList([nn.Linear(1, 2), nn.Linear(1, 2), nn.Sequential(nn.Identity())]))
    yield repr(nn.ModuleDict({"a": nn.Identity(), "b": nn.Sequential(nn.Identity(), nn.Sequential())}))
    yield repr(nn.ParameterList([torch.ones(2, 3), 5])), repr(nn.ParameterDict({"b": torch.ones(1), "a": nn.Parameter()}))
    yield repr(nn.Module()), repr(nn.Sequential()), repr(nn.ModuleList()), repr(nn.Parameter(torch.ones(2)))
    yield repr(nn.Parameter(torch.ones(2), requires_grad=False)), repr(nn.Bilinear(1, 2, 3))

    class Described(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Identity()

        def extra_repr(self):
            return "one\ntwo"

    yield repr(Described())


def registering(torch):
    nn, net = torch.nn, net_of(torch)
    yield error_of(net.register_parameter, "first", nn.Parameter(torch.ones(1)))
    yield error_of(net.register_parameter, 3, None), error_of(net.register_parameter, "a.b", None)
    yield error_of(net.register_parameter, "", None), error_of(net.register_parameter, "new", torch.ones(1))
    yield error_of(net.register_buffer, "a.b", None), error_of(net.register_buffer, "", None)
    yield error_of(net.register_buffer, "scale", None), error_of(net.register_buffer, "new", 3)
    yield error_of(net.register_buffer, 1.5, None), error_of(net.register_buffer, "forward", None)
    yield error_of(net.add_module, "a.b", nn.Identity()), error_of(net.add_module, "", None), error_of(net.add_module, "m", 1)
    yield error_of(net.add_module, "scale", None), error_of(net.add_module, 4, None)
    yield error_of(setattr, net, "scale", torch.ones(2)), error_of(setattr, net, "first", 1)
    yield error_of(setattr, net, "mean", "text"), error_of(setattr, net, "scale", None), net.scale
    yield error_of(getattr, net, "nothing"), error_of(delattr, net, "nothing")
    net.mean = nn.Parameter(torch.ones(1))
    net.first = None
    net.seen = torch.zeros(3)
    yield list(net._buffers), list(net._parameters), list(net._modules), sorted(net._non_persistent_buffers_set)
    net.first = nn.Identity()
    net.plain = torch.ones(1)
    yield error_of(setattr, net, "plain", nn.Buffer(torch.ones(1)))
    del net.plain
    net.plain = nn.Buffer(torch.ones(1), persistent=False)
    del net.rest, net.scale, net.seen
    yield list(net._buffers), list(net._parameters), list(net._modules), sorted(net._non_persistent_buffers_set)
    yield isinstance(net.plain, nn.Buffer), isinstance(torch.ones(1), nn.Buffer), hasattr(net, "rest")

    class Late(nn.Module):
        def __init__(self):
            self.weight = nn.Parameter(torch.ones(1))

    class Later(nn.Module):
        def __init__(self):
            self.child = nn.Identity()

    class Latest(nn.Module):
        def __init__(self):
            self.register_buffer("b", None)

    class Empty(nn.Module):
        def __init__(self):
            self.number = 1

    yield error_of(Late), error_of(Later), error_of(Latest), error_of(lambda: Empty()(1))
    yield error_of(nn.Module, 1), error_of(nn.Module, a=1), error_of(nn.Module(), 1)
    w = nn.Parameter(torch.ones(1)) * 2
    yield error_of(net.register_parameter, "w", w)


def paths(torch):
    nn, net = torch.nn, net_of(torch)
    yield net.get_submodule("") is net, net.get_submodule("rest.1") is net.rest[1]
    yield net.get_parameter("rest.1.weight") is net.rest[1].weight, net.get_buffer("mean") is net.mean
    yield error_of(net.get_submodule, "rest.2"), error_of(net.get_submodule, "scale")
    yield error_of(net.get_parameter, "mean"), error_of(net.get_parameter, "none"), error_of(net.get_buffer, "scale")
    yield error_of(net.get_buffer, "first.none")
    net.set_submodule("rest.0", nn.Linear(2, 2))
    yield type(net.rest[0]).__name__, error_of(net.set_submodule, "", nn.Identity())
    yield error_of(net.set_submodule, "rest.9", nn.Identity(), strict=True), error_of(net.set_submodule, "rest.0", 1)[0]
    yield error_of(net.set_submodule, "scale", nn.Identity())


def loading(torch):
    nn = torch.nn
    net, other = net_of(torch), filled(net_of(torch), 5.0)
    state = other.state_dict()
    yield repr(net.load_state_dict(state)), net.scale.tolist(), net.scale.requires_grad
    missing = OrderedDict(state)
    del missing["scale"]
    missing["rest.7.weight"] = missing["more"] = missing["first.more"] = torch.ones(1)
    yield error_of(net.load_state_dict, missing), repr(net.load_state_dict(missing, strict=False))
    yield error_of(net.load_state_dict, {**state, "scale": torch.ones(3)}, strict=False)
    yield error_of(net.load_state_dict, {**state, "scale": 3.0}), error_of(net.load_state_dict, 3)
    yield error_of(nn.Linear(1, 1).load_state_dict, {})
    yield net.load_state_dict({"mean": torch.full((2,), 7.0)}, strict=False).missing_keys, net.mean.tolist()
    double = {name: tensor.double() for name, tensor in state.items()}
    net.load_state_dict(double)
    yield str(net.scale.dtype)
    net.load_state_dict(double, assign=True)
    yield str(net.scale.dtype), type(net.scale).__name__, net.scale.requires_grad, net.mean is double["mean"]
    number = nn.Module()
    number.register_buffer("n", torch.zeros(()))
    number.load_state_dict({"n": torch.ones(1)})
    yield number.n.tolist()
    kept = net.state_dict(keep_vars=True)
    yield kept["scale"] is net.scale, state["scale"].requires_grad, type(state["scale"]).__name__
    yield state["scale"].data_ptr() == other.scale.data_ptr()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield list(net.state_dict(OrderedDict(), "pre.", True))


def loading_hooks(torch):
    nn, log = torch.nn, []

    class WithExtra(nn.Module):
        _version = 3

        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(1, 1)

        def get_extra_state(self):
            return {"n": 1}

        def set_extra_state(self, state):
            log.append(("extra", state))

        def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
            log.append(("load", prefix, local_metadata.get("version"), sorted(state_dict)))
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    net = nn.Sequential(WithExtra())
    net.register_state_dict_pre_hook(lambda module, prefix, keep_vars: log.append(("before", prefix, keep_vars)))
    net[0].register_state_dict_post_hook(lambda module, state, prefix, metadata: log.append(("after", prefix, metadata)))
    net[0].inner._register_state_dict_hook(lambda module, state, prefix, metadata: log.append(("old", prefix)))
    state = net.state_dict()
    yield list(state), dict(state._metadata)
    net[0].register_load_state_dict_pre_hook(lambda module, state, prefix, *rest: log.append((type(module).__name__, prefix)))
    net[0]._register_load_state_dict_pre_hook(lambda state, prefix, *rest: log.append(("old pre", prefix, len(rest))))
    net.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    net.load_state_dict(state)
    del state["0.inner.bias"]
    net.load_state_dict(state)
    del state["0._extra_state"]
    net[0].register_load_state_dict_post_hook(lambda module, keys: log.append(keys.missing_keys[:]))
    net.load_state_dict(state)
    net[0].inner.register_load_state_dict_post_hook(lambda module, keys: 1)
    yield error_of(net.load_state_dict, state)
    yield error_of(nn.Linear(1, 1).load_state_dict, {"_extra_state": 1, "weight": torch.ones(1, 1), "bias": torch.ones(1)})
    net[0].register_state_dict_post_hook(lambda module, state, prefix, metadata: state)
    yield error_of(net.state_dict), log


def forward_hooks(torch):
    nn, log = torch.nn, []
    module = nn.modules.module
    layer = nn.Identity()

    def pre(name, result=None):
        return lambda m, *args: log.append((name, repr(m), *map(repr, args))) or result

    layer.register_forward_pre_hook(pre("pre"))
    layer.register_forward_pre_hook(pre("pre first"), prepend=True)
    layer.register_forward_pre_hook(pre("pre kwargs", ((1,), {})), with_kwargs=True)
    layer.register_forward_hook(pre("after"))
    layer.register_forward_hook(pre("after first"), prepend=True)
    layer.register_forward_hook(pre("after kwargs", 9), with_kwargs=True)
    last = layer.register_forward_hook(pre("after always"), always_call=True)
    handles = [
        module.register_module_forward_pre_hook(pre("all pre", 5)),
        module.register_module_forward_hook(pre("all after")),
        module.register_module_forward_hook(pre("all after kwargs"), with_kwargs=True, always_call=True),
    ]
    yield layer(2)
    last.remove()
    for handle in handles:
        handle.remove()
    yield layer(3), len(layer._forward_hooks_always_called), len(layer._forward_hooks), log


def hooks_of_errors(torch):
    nn, log = torch.nn, []

    class Failing(nn.Module):
        def forward(self, x):
            raise ValueError("no")

    def fail(*args):
        raise KeyError("hook")

    layer = Failing()
    layer.register_forward_hook(lambda *args: log.append("not called"))
    layer.register_forward_hook(lambda *args: log.append(("always", args[-1])), always_call=True)
    layer.register_forward_hook(fail, always_call=True)
    yield warnings_of(lambda: log.append(error_of(layer, 1))), log
    wrong = nn.Identity()
    wrong.register_forward_pre_hook(lambda m, args, kwargs: 5, with_kwargs=True)
    yield error_of(wrong, 1)


def backward_hooks(torch):
    nn, log = torch.nn, []

    def note(name, result=None):
        def hook(module, *gradients):
            log.append((name, *[[None if g is None else g.tolist() for g in some] for some in gradients]))
            return result
        return hook

    class Two(nn.Module):
        def forward(self, x, number, y):
            return x * y, x + number

    layer = Two()
    layer.register_full_backward_hook(note("full"))
    layer.register_full_backward_hook(note("full first"), prepend=True)
    layer.register_full_backward_pre_hook(note("pre"))
    handles = [
        nn.modules.module.register_module_full_backward_hook(note("all")),
        nn.modules.module.register_module_full_backward_pre_hook(note("all pre")),
    ]
    x, y = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0])
    a, b = layer(x * 1, 2, y)
    yield a.grad_fn.name(), a.grad_fn.next_functions[0][0].name()
    (a.sum() * 3 + b.sum()).backward()
    yield x.grad.tolist(), error_of(layer.register_backward_hook, note("regular"))
    a, b = layer(x, 2, y)
    a.sum().backward()
    for handle in handles:
        handle.remove()
    changing = nn.Identity()
    changing.register_full_backward_pre_hook(lambda m, g: (g[0] * 10,))
    changing.register_full_backward_hook(lambda m, g_in, g_out: (g_in[0] + 1,))
    x.grad = None
    changing(x).sum().backward()
    yield x.grad.tolist()
    layer = nn.Linear(2, 1)
    layer.register_full_backward_hook(note("no inputs"))
    yield [name for name, _ in warnings_of(lambda: layer(y).sum().backward())]
    for kind, wrong in (("hook", lambda m, *g: (None, None)), ("pre", lambda m, g: ())):
        layer = nn.Identity()
        getattr(layer, "register_full_backward_hook" if kind == "hook" else "register_full_backward_pre_hook")(wrong)
        yield error_of(layer(x).sum().backward)
    yield warnings_of(lambda: error_of(hooked_dict(torch, x))), log
    nn.modules.module._global_is_full_backward_hook = None


def hooked_dict(torch, x):
    class Dict(torch.nn.Module):
        def forward(self, x):
            return {"y": x * 2}

    layer = Dict()
    layer.register_full_backward_hook(lambda *args: None)
    return lambda: [str(type(layer(x)))]


def regular_backward_hooks(torch):
    nn, log = torch.nn, []

    class Scale(nn.Module):
        def forward(self, x):
            return (x * 2).exp() if self.training else x * 2

    class Both(nn.Module):
        def forward(self, x):
            return (x * 2, x * 3) if self.training else [x * 2]

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for layer in (Scale(), Scale().eval(), Both(), Both().eval()):
        layer.register_backward_hook(lambda m, g_in, g_out: log.append([None if g is None else g.tolist() for g in g_out]))
        yield warnings_of(layer, x)
    yield warnings_of(lambda: layer(x)[0].sum().backward())
    yield error_of(layer.register_full_backward_hook, len), log


def registration_hooks(torch):
    nn, log = torch.nn, []
    module = nn.modules.module
    handles = [
        module.register_module_parameter_registration_hook(lambda m, name, p: log.append((type(m).__name__, name))),
        module.register_module_buffer_registration_hook(lambda m, name, b: torch.ones(2)),
        module.register_module_module_registration_hook(lambda m, name, child: log.append((name, type(child).__name__))),
    ]
    net = nn.Sequential(nn.Linear(1, 1, bias=False))
    net.register_buffer("b", None)
    net.extra = nn.Identity()
    net.extra = None
    yield net.b.tolist(), log
    for handle in handles:
        handle.remove()


def conversions(torch):
    net = net_of(torch)
    net.count = torch.nn.Buffer(torch.zeros(1, dtype=torch.int64))
    weight = net.first.weight
    net(torch.ones(1, 3)).sum().backward()
    net.double()
    yield net.first.weight is weight, str(weight.dtype), str(weight.grad.dtype), str(net.mean.dtype), str(net.count.dtype)
    net.to(torch.float16), net.to("cpu"), net.to(torch.ones(1))
    yield str(weight.dtype), weight.is_leaf, weight.requires_grad, str(weight.grad.dtype)
    yield error_of(net.to, torch.int64), str(net.type(torch.float64).count.dtype)
    net.float().zero_grad(set_to_none=False)
    yield weight.grad.tolist()
    net.zero_grad()
    yield weight.grad, net.requires_grad_(False) is net, weight.requires_grad
    yield net.eval() is net, net.training, net.rest[0].training, error_of(net.train, 1)
    seen = []
    net.apply(lambda m: seen.append(type(m).__name__))
    yield seen


def copies(torch):
    net = net_of(torch)
    net.tied = net.scale
    net.first.register_forward_hook(hook_of_copies)
    net(torch.ones(1, 3)).sum().backward()
    twin = copy.deepcopy(net)
    yield twin.tied is twin.scale, twin.scale is net.scale, twin.scale.grad, type(twin.scale).__name__
    yield twin.again is twin.rest, len(twin.first._forward_hooks), twin(torch.ones(1, 3)).tolist()
    shallow = copy.copy(net)
    yield shallow.scale is net.scale, shallow._modules is net._modules
    layers = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.ParameterList([torch.ones(1)]))
    filled(layers)
    layers[0].weight.note = "kept"
    loaded = pickle.loads(pickle.dumps(layers))
    yield repr(loaded), loaded[0].weight.tolist(), loaded[0].weight.requires_grad, loaded[0].weight.note
    module = torch.nn.Module.__new__(torch.nn.Linear)
    module.__setstate__(dict.fromkeys(("_parameters", "_buffers", "_modules", "_forward_hooks", "_backward_hooks")))
    yield sorted(vars(module))


def hook_of_copies(module, args, output):
    return None


def containers(torch):
    nn = torch.nn
    a, b, c = (nn.Linear(i, i + 1) for i in (1, 2, 3))
    net = nn.Sequential(OrderedDict([("x", a), ("y", b)]))
    yield list(net._modules), net[0] is a, net[-1] is b, type(net[:1]).__name__, list(net[:1]._modules)
    yield error_of(lambda: net[2]), error_of(lambda: net["x"]), len(net)
    net = nn.Sequential(a, b)
    net.append(c).insert(0, nn.Identity()).extend([nn.Identity()])
    yield repr(net), net.pop(0) is not None, list(net._modules), error_of(net.insert, 9, a), error_of(net.insert, 0, 1)[0]
    del net[::2]
    yield repr(net), len(net * 3), len(net + nn.Sequential(a)), error_of(lambda: net + [a])[0], error_of(lambda: net * 0)
    net *= 2
    net += nn.Sequential(c)
    net[1] = nn.Identity()
    yield repr(net), [name for name in dir(net) if name.isdigit()]
    layers = nn.ModuleList([a, b])
    layers += [c]
    layers.insert(1, nn.Identity())
    yield repr(layers), repr(layers[1:]), layers.pop(-1) is c, repr(layers + [c]), error_of(layers.extend, 3), b in layers
    yield error_of(layers, 1), error_of(lambda: layers[7]), error_of(lambda: layers.append(1))
    choices = nn.ModuleDict([["b", b], ["a", a]])
    choices.update({"c": c})
    yield list(choices), list(choices.keys()), len(choices), "a" in choices, choices.pop("b") is b
    yield error_of(lambda: choices["b"])
    yield error_of(choices.update, 5), error_of(choices.update, [3])[0], error_of(choices.update, [[1, 2, 3]])
    choices.clear()
    yield list(choices.items()), list(choices.values())
    values = nn.ParameterList([torch.ones(1), nn.Parameter(torch.zeros(2)), 3])
    values.append(torch.ones(3)).extend([torch.ones(4)])
    values[0] = torch.zeros(5)
    yield repr(values), repr(values[1:3]), len(values), [n for n, _ in values.named_parameters()], error_of(values)
    yield error_of(values.extend, torch.ones(2)), error_of(values.extend, 1), error_of(lambda: values[9]), values[-3]
    pairs = nn.ParameterDict({"b": torch.ones(1), "a": torch.ones(2)})
    pairs["c"] = 5
    yield list(pairs), pairs.setdefault("d", torch.ones(1)).shape[0], pairs.get("z", 7), pairs.pop("c"), list(reversed(pairs))
    yield repr(pairs | nn.ParameterDict({"e": torch.ones(1)})), pairs.popitem()[0], repr(pairs.copy()), error_of(pairs, 1)
    yield list(pairs.fromkeys(["q"], 1).items()), error_of(pairs.update, 1), error_of(lambda: pairs["zz"]), "a" in pairs
    pairs.clear()
    yield len(pairs), error_of(nn.Sequential(nn.Identity(), nn.Identity()).get_submodule, "5")


def lazy_layers(torch):
    nn = torch.nn
    layer = nn.LazyLinear(2)
    yield repr(layer), repr(layer.weight), layer.has_uninitialized_params(), isinstance(layer.weight, nn.Parameter)
    yield error_of(lambda: layer.weight + 1)[0], error_of(lambda: layer.weight.shape)
    yield error_of(lambda: nn.Linear(3, 2).load_state_dict(layer.state_dict()))[0]
    layer.double()
    yield str(layer.weight.dtype)
    layer(torch.ones(4, 3, dtype=torch.float64))
    yield repr(layer), str(layer.weight.dtype), type(layer.weight).__name__, len(layer._forward_pre_hooks)
    fresh = nn.LazyLinear(2)
    fresh.load_state_dict(filled(nn.Linear(3, 2)).state_dict())
    yield repr(fresh), fresh.weight.tolist(), fresh(torch.ones(1, 3)).tolist(), repr(fresh)
    twin = copy.deepcopy(nn.LazyLinear(2))
    yield repr(twin), repr(pickle.loads(pickle.dumps(nn.LazyLinear(2).weight)))


def rounded(tensors):
    numbers = [[] if x is None else [round(v, 4) + 0.0 for v in x.flatten().tolist()] for x in tensors]
    return [x is not None and (list(x.shape), str(x.dtype), found) for x, found in zip(tensors, numbers, strict=True)]


def many_classes(torch):
    made = torch.nn.AdaptiveLogSoftmaxWithLoss
    for args, options in (((4, 10, [2, 5]), {"div_value": 2.0, "head_bias": True}), ((4, 6, (3,)), {})):
        layer = filled(made(*args, **options), -0.5)
        x = torch.tensor([[0.5, -1.0, 2.0, 0.25], [1.0, 1.0, -1.0, 0.0], [-2.0, 0.0, 0.5, 1.0]], requires_grad=True)
        target = torch.tensor([1, 5, 3])
        found = layer(x, target)
        found.loss.backward()
        yield repr(layer), list(layer.state_dict()), found._fields, rounded(found)
        yield rounded([x.grad, *[p.grad for p in layer.parameters()]])
        yield layer.predict(x).tolist(), rounded([layer.log_prob(x), *layer(x[0], target[0])])
        yield layer.cutoffs, layer.shortlist_size, layer.n_clusters, layer.head_size, layer.div_value, layer.head_bias
        for numbers in ([1, 2], [[1, 2, 3]], 1, [0, 1, 99], [-1, 0, 1], [0.0, 1.0, 2.0]):
            yield error_of(layer, x, torch.tensor(numbers))
        yield error_of(layer, x[0], target[:1]), error_of(layer, x[:0], target[:0]), error_of(layer, x.int(), target)
        yield error_of(layer.predict, x[0]), error_of(layer.log_prob, x[0]), error_of(layer.predict, x[:0])
    for cutoffs in ([], [5, 2], [2, 2], [0, 3], [3, 10], [2.5], 3, [5, 9]):
        yield error_of(made, 4, 10, cutoffs)
    yield error_of(made, 4, 10, [3], 0)


def distances(torch):
    nn = torch.nn
    a = torch.tensor([[1.0, 2.0, -1.0], [0.0, 0.0, 0.0]], requires_grad=True)
    b = torch.tensor([[0.5, 2.0, 3.0], [0.0, 0.0, 0.0]], requires_grad=True)
    for layer in (
        nn.PairwiseDistance(), nn.PairwiseDistance(1), nn.PairwiseDistance(3.0, 0.5, True), nn.PairwiseDistance(float("inf")),
        nn.PairwiseDistance(0), nn.PairwiseDistance(-1.0), nn.CosineSimilarity(), nn.CosineSimilarity(0),
        nn.CosineSimilarity(-1, 0.5),
    ):  # fmt: skip
        yield repr(layer), sorted((k, v) for k, v in vars(layer).items() if k[0] != "_" and k != "training")
        for x, y in ((a, b), (a, b[0]), (a[0], b), (a[:1], b), (a.double(), b)):
            yield error_of(layer, x, y)
            if error_of(layer, x, y)[0] == "no error":
                z = layer(x, y)
                yield rounded([z, *torch.autograd.grad(z.sum(), [a, b], allow_unused=True)])
        for x, y in (
            (a[0], b[0]), (a, b[:, :2]), (a, torch.ones(3, 3)), (a.int(), b.int()), (torch.tensor(1.0), torch.tensor(2.0)),
            (torch.ones(0, 3), torch.ones(0, 3)), (a, b.int()), (a * 1j, b), (a, 3),
        ):  # fmt: skip
            yield error_of(layer, x, y)
    yield error_of(nn.PairwiseDistance("x"), a, b), error_of(nn.CosineSimilarity(2), a, b)
    yield error_of(nn.CosineSimilarity("x"), a, b), error_of(nn.CosineSimilarity(eps=-1), a, b)
    yield error_of(nn.CosineSimilarity(eps=-0.5), a, b), error_of(nn.PairwiseDistance, 1, 2, 3, 4)
    yield error_of(nn.PairwiseDistance, q=1)


def normalization_across_maps(torch):
    """Of what the windows hold there is a row in docs/differences.md."""
    made = torch.nn.CrossMapLRN2d
    yield repr(made(3)), repr(made(3, 1, 2, 3)), error_of(made), error_of(made, 1, 2, 3, 4, 5)
    for shape in ((3,), (3, 4), (2, 3, 4), (1, 2, 3, 4, 5)):
        yield error_of(made(3), torch.ones(*shape))
    yield rounded([made(1, 0.5, 0.5, 2)(torch.arange(4.0).reshape(1, 1, 2, 2))])


def pooling_of_rows(torch):
    x = torch.arange(12.0).reshape(1, 2, 6)
    for args in (
        (2,), (2, 1), (3, 2, 1), (7,), (0,), (-1,), (2, 0), (2, -1), (2, 2, 2), (2, 2, -1), (2, 2, 0, 0), (2, 2, 0, -1),
        (2, 2, 0, 7), ((2, 2),), (2, (1, 1)), (2, 1, (0, 0)), (2, 1, 0, (1, 1)), ([],), ([2],),
        ((2,), (2,), (1,), (1,)), (2, None), (2, []), (3, 2, 2), (3, 2, 1, 2), (2, 2, 1, 3), (2, 2, 2, 3), (4, 1, 2, 2), (9,),
    ):  # fmt: skip
        layer = torch.nn.MaxPool1d(*args)
        for input in (x, x.clone().requires_grad_()):
            for call in (layer, lambda x, args=args: torch.nn.functional.max_pool1d(x, *args)):
                found = error_of(call, input)
                yield repr(layer), found, rounded([call(input)]) if found[0] == "no error" else None
        yield error_of(lambda x, args=args: torch.max_pool1d(x, *args), x)
    for shape in ((3,), (1, 1, 1, 4), (0, 2, 4), (2, 0, 4), (1, 2, 0), (0, 4), (2, 0), ()):
        yield error_of(torch.nn.MaxPool1d(2), torch.ones(shape)), error_of(torch.max_pool1d, torch.ones(shape), 2)


SCRIPTS = [
    members, representations, registering, paths, loading, loading_hooks, forward_hooks, hooks_of_errors, backward_hooks,
    regular_backward_hooks, registration_hooks, conversions, copies, containers, lazy_layers, many_classes, distances,
    normalization_across_maps, pooling_of_rows,
]  # fmt: skip


def told(script, library):
    """What a script says, with the names of the library made the same."""
    return [text_of(line) for line in script(library)]


def text_of(line):
    return repr(line).replace("autograd_cy.Tensor", "torch.Tensor").replace("autograd_cy.", "torch.")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_a_script_about_modules_says_what_it_says_on_torch(script):
    torch = pytest.importorskip("torch")
    ours = told(script, ag)
    for line, expected in zip(ours, told(script, torch), strict=True):
        assert line == expected


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_a_script_about_modules_says_the_same_twice(script):
    assert told(script, ag) == told(script, ag)
