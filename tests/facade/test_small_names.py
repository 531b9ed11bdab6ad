"""Questions as functions, Python functions applied to elements, the layout: what PyTorch answers, and what it refuses."""

import copy
import importlib.util
import pickle

import pytest

import autograd_cy as ag

CALLS = [
    "is_signed(x)", "is_conj(x)", "is_neg(x)", "is_distributed(x)", "is_storage(x)", "get_device(x)", "is_same_size(x, x)",
    "is_same_size(x, x[:1])", "is_same_size(x, 1)", "is_signed(3)", "get_device(3)", "broadcast_shapes((2, 1), (3,))",
    "broadcast_shapes(2, (3, 2))", "broadcast_shapes()", "broadcast_shapes((2,), (3,))",
    "broadcast_shapes((1, 4), (2, 1, 1), (3, 1))",
    "broadcast_shapes((0,), (1,))", "x.apply_(lambda v: v + 1)", "torch.tensor([1, 2]).apply_(lambda v: v + 0.7)",
    "torch.tensor([True, False]).apply_(lambda v: not v)", "torch.tensor([1 + 2j]).apply_(lambda v: v * 2)",
    "torch.arange(6).reshape(2, 3).t().apply_(lambda v: v * v)", "x.map_(x.clone(), lambda a, b: a + b)",
    "torch.ones(2, 3).map_(torch.ones(1, 3), lambda a, b: a + b)", "x.map2_(x * 2, x * 3, lambda a, b, c: a + b + c)",
    "torch.ones(2).apply_(lambda v: torch.tensor(3.0))", "x.apply_(lambda v: 'a')", "x.apply_(3)",
    "torch.tensor([1, 2]).apply_(lambda v: None)", "x.map_(x.double(), lambda a, b: a)", "x.map_(3, lambda a, b: a)",
    "x.map2_(x, x.long(), lambda a, b, c: a)", "torch.ones(2, requires_grad=True).apply_(lambda v: v)",
    "x.map_(torch.ones(2, requires_grad=True), lambda a, b: a)", "get_default_device().type", "set_default_device('cpu')",
    "x.layout == torch.strided", "isinstance(x.layout, torch.layout)", "repr(torch.strided)",
    "x.const_data_ptr() == x.data_ptr()",
    "x.type('torch.ComplexFloatTensor')", "finfo(torch.float16).resolution", "finfo(torch.float32).resolution",
    "x.contiguous(memory_format=torch.preserve_format) is x",
]  # fmt: skip


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="compares with PyTorch")
@pytest.mark.parametrize("call", CALLS)
def test_answers_are_pytorch_s(call):
    import torch

    results = []
    for module in (torch, ag):
        owner = "torch." if not call.startswith(("x", "torch", "repr", "isinstance")) else ""
        try:
            value = eval(owner + call, {"torch": module, "x": module.tensor([1.0, 2.0])})
        except Exception as error:
            value = type(error)
        results.append(value.tolist() if isinstance(value, module.Tensor) else value)
    assert results[0] == results[1]


def test_what_apply_writes_is_counted():
    x = ag.ones(2, requires_grad=True)
    y = ag.ones(2)
    z = x * y
    y.apply_(lambda v: 2 * v)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_apply_is_refused_within_vmap():
    with pytest.raises(RuntimeError, match=r"apply_\(\) is not possible within vmap"):
        ag.vmap(lambda x: x.apply_(lambda v: v))(ag.ones(2, 3))


def test_the_layout_is_one_object():
    assert pickle.loads(pickle.dumps(ag.strided)) is ag.strided
    assert copy.deepcopy(ag.strided) is ag.strided


def test_other_devices_are_no_default():
    with pytest.raises(AssertionError, match="CUDA"):
        ag.set_default_device("cuda")
