"""How modules find members and are called: `module_slots` does what `__getattr__` and `__call__` in Python would do."""

import gc
import subprocess
import sys
import weakref
from collections import OrderedDict

import pytest

import autograd_cy as ag
from autograd_cy import nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(ag.ones(2))
        self.child = nn.Identity()
        self.register_buffer("mean", ag.zeros(1))

    def forward(self, *args, **kwargs):
        return args, kwargs

    @property
    def broken(self):
        return self.nothing


class WithGetattr(Layer):
    def __getattr__(self, name):
        if name == "made_up":
            return 42
        return super().__getattr__(name)


class WithGetattribute(Layer):
    def __getattribute__(self, name):
        return 7 if name == "lucky" else super().__getattribute__(name)


class WithCall(Layer):
    def __call__(self, x):
        return "called", super().__call__(x)


@pytest.mark.parametrize("cls", [Layer, WithGetattr, WithGetattribute, WithCall])
def test_members_are_found_under_the_names_of_attributes(cls):
    layer = cls()
    assert layer.weight is layer._parameters["weight"]
    assert layer.mean is layer._buffers["mean"] and layer.child is layer._modules["child"]
    assert getattr(layer, "none", 3) == 3
    with pytest.raises(AttributeError, match=f"'{cls.__name__}' object has no attribute 'none'"):
        print(layer.none)


def test_a_getattr_of_a_subclass_is_asked_for_what_is_not_found():
    assert WithGetattr().made_up == 42 and WithGetattribute().lucky == 7


def test_a_getattr_that_a_class_is_given_later_is_asked():
    class Late(Layer):
        pass

    layer = Late()
    assert not hasattr(layer, "late")
    Late.__getattr__ = lambda self, name: f"late {name}"
    assert layer.late == "late late"
    del Late.__getattr__
    assert not hasattr(layer, "late") and layer.weight is layer._parameters["weight"]


def test_an_attribute_that_is_set_by_hand_comes_before_a_member():
    layer = Layer()
    vars(layer)["weight"] = "mine"
    assert layer.weight == "mine"


def test_dicts_of_members_can_be_replaced():
    layer = Layer()
    layer._parameters = {"other": None}
    assert layer.other is None and not hasattr(layer, "weight")


def test_a_property_that_fails_is_missing():
    with pytest.raises(AttributeError, match="no attribute 'broken'"):
        print(Layer().broken)


def test_an_error_of_another_kind_passes():
    class Failing(Layer):
        @property
        def failing(self):
            raise KeyError("why")

    with pytest.raises(KeyError, match="why"):
        print(Failing().failing)


@pytest.mark.parametrize("n", range(10))
def test_arguments_reach_forward(n):
    args = tuple(range(n))
    assert Layer()(*args) == (args, {}) and Layer()(*args, key=1) == (args, {"key": 1})


def test_a_call_of_a_subclass_is_its_own():
    assert WithCall()(1) == ("called", ((1,), {}))
    assert nn.Module.__call__(Layer(), 1, a=2) == ((1,), {"a": 2}) == Layer().__call__(1, a=2)


def test_a_call_that_a_class_is_given_later_is_its_own():
    class Late(Layer):
        pass

    Late.__call__ = lambda self, x: -x
    assert Late()(3) == -3
    del Late.__call__
    assert Late()(3) == ((3,), {})


def test_forward_can_be_an_attribute_of_the_instance_or_anything_callable():
    layer = Layer()
    layer.forward = lambda x: x + 1
    assert layer(1) == 2

    class Static(nn.Module):
        forward = staticmethod(abs)

    class Builtin(nn.Module):
        forward = max

    assert Static()(-3) == 3
    assert Builtin()(4, 3) == 4


def test_a_module_without_forward_says_so():
    with pytest.raises(NotImplementedError, match=r'Module \[Module\] is missing the required "forward" function'):
        nn.Module()(1)


def test_a_module_whose_init_was_not_called_says_so():
    class Bare(nn.Module):
        def __init__(self):
            pass

    with pytest.raises(AttributeError, match="object has no attribute '_backward_hooks'"):
        Bare()(1)


def test_hooks_are_called_in_this_order():
    calls = []
    layer = nn.Identity()
    common = [
        nn.modules.module.register_module_forward_pre_hook(lambda *args: calls.append("pre of all")),
        nn.modules.module.register_module_forward_hook(lambda *args: calls.append("after of all")),
        nn.modules.module.register_module_full_backward_pre_hook(lambda *args: calls.append("backward pre of all")),
    ]
    layer.register_forward_hook(lambda *args: calls.append("after"))
    layer.register_forward_pre_hook(lambda *args: calls.append("pre"))
    layer.register_full_backward_hook(lambda *args: calls.append("backward"))
    layer.register_full_backward_pre_hook(lambda *args: calls.append("backward pre"))
    layer(ag.ones(1, requires_grad=True)).backward()
    for handle in common:
        handle.remove()
    assert calls == ["pre of all", "pre", "after of all", "after", "backward pre of all", "backward pre", "backward"]


def test_modules_are_freed():
    layer = nn.Sequential(Layer(), nn.Linear(2, 1))
    layer[1](ag.ones(2)).backward()
    gone = weakref.ref(layer[0])
    del layer
    gc.collect()
    assert gone() is None


def test_results_of_operations_on_parameters_are_tensors():
    p = nn.Parameter(ag.ones(2))
    for result in (p * 2, p.exp(), p.view(2, 1), p.detach(), p.data, -p, p[0], p.sum(), p.clone()):
        assert type(result) is ag.Tensor
    p.sum().backward()
    assert type(p.grad) is ag.Tensor and isinstance(p, nn.Parameter) and isinstance(p, ag.Tensor)


def test_a_parameter_of_a_subclass_is_of_that_subclass():
    class Special(ag.Tensor):
        pass

    p = nn.Parameter(ag.ones(2).as_subclass(Special))
    assert type(p) is Special and isinstance(p, nn.Parameter) and p.requires_grad
    layer = nn.Module()
    layer.p = p
    assert list(layer.parameters()) == [p]
    assert type(nn.Parameter(ag.ones(1)) * 2) is ag.Tensor  # also now that there is a subclass


def test_refusals():
    with pytest.raises(TypeError, match="must be Tensor, not list"):
        nn.Parameter([1.0])
    with pytest.raises(RuntimeError, match="floating point"):
        nn.Parameter(ag.ones(1, dtype=ag.int64))
    with pytest.raises(AssertionError, match="CUDA"):
        nn.Linear(1, 1).cuda()
    with pytest.raises(AssertionError, match="CUDA"):
        nn.Linear(1, 1).to("cuda")
    with pytest.raises(AssertionError, match="CUDA"):
        nn.Linear(1, 1, device="cuda")
    with pytest.warns(UserWarning, match="does nothing"):
        nn.Linear(1, 1).compile()


def test_layers_are_imported_when_they_are_asked_for():
    script = """
import sys, autograd_cy as ag
ag.nn.functional.relu
later = "autograd_cy.nn.modules.", "autograd_cy.nn.p", "autograd_cy.optim"
loaded = [name for name in sys.modules if name.startswith(later)]
assert not loaded, loaded
ag.nn.Linear(2, 1)
assert "autograd_cy.nn.modules.container" not in sys.modules
assert ag.nn.modules.linear.Linear is ag.nn.Linear and ag.nn.parameter.Parameter is ag.nn.Parameter
from autograd_cy.nn import Sequential, init, utils
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_dicts_of_common_hooks_can_be_replaced(monkeypatch):
    # a module looked for hooks of all modules in the dicts that were there when it was defined
    common, called = nn.modules.module, []
    for kind in ("forward", "forward_pre", "backward", "backward_pre", "buffer_registration", "parameter_registration"):
        monkeypatch.setattr(common, f"_global_{kind}_hooks", OrderedDict())
    layer, x = nn.Linear(1, 1), ag.ones(1, 1, requires_grad=True)
    handle = common.register_module_forward_hook(lambda *args: called.append("forward"))
    assert handle.hooks_dict_ref() is common._global_forward_hooks and handle.extra_dict_ref == ()
    common.register_module_forward_pre_hook(lambda *args: called.append("before"))
    common.register_module_full_backward_hook(lambda *args: called.append("backward"))
    common.register_module_parameter_registration_hook(lambda *args: called.append("parameter"))
    layer(x).sum().backward()
    layer.scale = nn.Parameter(ag.ones(1))
    assert called == ["before", "forward", "backward", "parameter"] and len(common._global_forward_hooks) == 1
    for kind in ("forward", "forward_pre", "backward", "parameter_registration"):
        setattr(common, f"_global_{kind}_hooks", OrderedDict())
    layer(x).sum().backward()
    assert len(called) == 4
