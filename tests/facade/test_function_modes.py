"""TorchFunctionMode and TorchDispatchMode: objects that see each call of an operation."""

import warnings

import numpy as np
import pytest
from common import run_script

import autograd_cy as torch
from autograd_cy.overrides import BaseTorchFunctionMode, TorchFunctionMode, _get_current_function_mode
from autograd_cy.utils._python_dispatch import TorchDispatchMode


class Noted(TorchFunctionMode):
    def __init__(self, log, mark=""):
        self.log, self.mark = log, mark

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.log.append(self.mark + func.__name__)
        return func(*args, **(kwargs or {}))


def test_operations_operators_methods_and_functions_that_make_tensors_are_seen():
    log = []
    with Noted(log):
        x = torch.ones(2)
        y = (x + 1).relu() @ torch.arange(2.0)
        y.add_(1)
        torch.nn.functional.softmax(x, 0)
        torch.zeros_like(x).normal_()
    torch.ones(2)
    assert log == ["ones", "add", "relu", "arange", "matmul", "add_", "functional_softmax", "zeros_like", "normal_"]


CREATION = {
    "arange": (3,), "as_tensor": ([1],), "asarray": ([1],), "bartlett_window": (3,), "blackman_window": (3,), "empty": (2,),
    "empty_like": (torch.ones(2),), "empty_permuted": ((2,), (0,)), "empty_strided": ((2,), (1,)), "eye": (2,),
    "from_dlpack": (torch.ones(2),), "from_numpy": (np.ones(2),), "full": ((2,), 1), "full_like": (torch.ones(2), 1),
    "hamming_window": (3,), "hann_window": (3,), "kaiser_window": (3,), "linspace": (0, 1, 3), "logspace": (0, 1, 3),
    "ones": (2,), "ones_like": (torch.ones(2),), "range": (0, 3), "scalar_tensor": (1,), "tensor": ([1],),
    "tril_indices": (2, 2), "triu_indices": (2, 2), "vander": (torch.ones(3),), "zeros": (2,), "zeros_like": (torch.ones(2),),
}  # fmt: skip


def test_each_function_of_the_creation_room_is_seen():
    """`range` and `vander` came in a file of their own, which a list of the files lacked."""
    homes = {name: str(getattr(getattr(torch, name), "_home", "")) for name in torch.__all__}
    found = {name for name, home in homes.items() if home.startswith("autograd_cy._creation.")}
    assert found - CREATION.keys() == {"frombuffer", "set_default_dtype", "set_default_tensor_type"}
    for name, args in CREATION.items():
        log = []
        with Noted(log), warnings.catch_warnings(category=UserWarning, action="ignore"):
            getattr(torch, name)(*args)
        assert log[:1] == [name]


def test_functions_that_make_tensors_are_seen_under_the_name_of_torch():
    # the name of their module, by which they were known, is torch then
    script = """
import autograd_cy
autograd_cy.install_as_torch()
import torch
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode

class Noted(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        print(func.__name__)
        return func(*args, **(kwargs or {}))

with Noted():
    torch.ones(2)
print(functionalize(lambda x: x.add_(torch.ones(2)))(torch.zeros(2)).sum().item())
graph = make_fx(lambda x: torch.ops.aten.alias(torch.ops.aten.mul(x, torch.zeros(1))))(torch.ones(1)).graph
print(*[node.target for node in graph.nodes][1:-1])
"""
    assert run_script(script) == ["ones", "2.0", "aten.zeros.default", "aten.mul.Tensor", "aten.alias.default"]


def test_results_of_a_mode_are_those_of_the_call():
    class Twice(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            return 2 * result if func is torch.exp else result

    with Twice():
        assert torch.exp(torch.zeros(1)).tolist() == [2.0]


def test_modes_within_each_other():
    log = []
    with Noted(log, "outer "), Noted(log, "inner "), BaseTorchFunctionMode() as base:
        assert _get_current_function_mode() is base
        torch.exp(torch.tensor(1.0))
    assert log == ["inner tensor", "outer tensor", "inner exp", "outer exp"]
    assert _get_current_function_mode() is None


def test_a_mode_is_left_by_an_exception_and_can_be_entered_again():
    log = []
    mode = Noted(log)
    with pytest.raises(ValueError), mode:
        raise ValueError
    torch.ones(1)
    with mode, mode:
        torch.ones(1)
    assert log == ["ones", "ones"] and mode.push([]) is not mode


def test_modes_are_switched_off():
    log = []
    with Noted(log):
        with torch._C.DisableTorchFunction():
            torch.ones(1) + 1
        with torch._C.DisableTorchFunctionSubclass():
            torch.ones(1)
    assert log == ["ones"]


def test_errors_of_a_mode_come_out():
    class Refusing(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise ArithmeticError(func.__name__)

    x = torch.ones(1)
    with Refusing():
        for call in (lambda: torch.ones(1), lambda: x + 1, lambda: x.normal_(), lambda: x.exp()):
            with pytest.raises(ArithmeticError):
                call()
    assert (x + 1).tolist() == [2.0]


def test_subclasses_are_told():
    class Own(torch.Tensor):
        pass

    found = []

    class Types(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            found.append(types)
            return func(*args, **(kwargs or {}))

    own = torch.ones(1).as_subclass(Own)
    with Types():
        assert type(own + 1) is Own
    assert found == [(Own,)]


def test_gradients_are_recorded_within_a_mode():
    x = torch.tensor(2.0, requires_grad=True)
    with Noted([]):
        (x * x).backward()
    assert x.grad.item() == 4.0


def test_a_dispatch_mode_sees_overloads():
    log = []

    class Seen(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append(str(func))
            return func(*args, **(kwargs or {}))

    x = torch.ones(2, 2)
    with Seen():
        y = (x * 2 + x) ** 2
        y.sum(dim=0)
        y > 1  # noqa: B015
        torch.where(y > x, y, 0.0)
    assert log == [
        "aten.mul.Tensor", "aten.add.Tensor", "aten.pow.Tensor_Scalar", "aten.sum.dim_IntList", "aten.gt.Scalar",
        "aten.gt.Tensor", "aten.where.ScalarOther",
    ]  # fmt: skip
