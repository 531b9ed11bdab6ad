"""Layers against PyTorch's, in the samples of its own tests: values, gradients, buffers, repr, keys and signatures."""

import inspect

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from module_db import Modules, Pair  # noqa: E402
from op_db import Unsupported  # noqa: E402

import autograd_cy as ag  # noqa: E402

MODULES = Modules()
TOLERANCES = {"float32": 5e-5, "float64": 1e-10}
OTHERS = {"RNN", "GRU", "LSTM", "RNNCell", "GRUCell", "LSTMCell", "Linear", "Bilinear"}  # tested elsewhere
NAMES = [name for name in MODULES.entries if name not in OTHERS]
CASES = [
    (name, dtype, training) for name in NAMES for dtype in TOLERANCES for training in (True, False)
    if training or (MODULES.entries[name].train_and_eval_differ and dtype == "float64")
]  # fmt: skip


def pairs(name, dtype, training, most):
    for sample in MODULES.samples(name, dtype, training, most):
        try:
            yield Pair(MODULES, name, sample, dtype, training)
        except Unsupported:
            continue
        except NotImplementedError as error:
            if "options are not supported" not in str(error):  # chunks of LinearCrossEntropyLoss, which is refused
                raise


def compare(mine, theirs, dtype, what):
    assert len(mine) == len(theirs), what
    for a, b in zip(mine, theirs, strict=True):
        assert (a is None) == (b is None), what
        if a is not None:
            assert a.shape == tuple(b.shape) and str(a.dtype) == str(b.dtype), what
            a, b = a.detach().numpy(), b.detach().numpy()
            scale = max(1.0, np.abs(b).max(initial=0.0))  # sums have the error of their largest terms
            np.testing.assert_allclose(a, b, TOLERANCES[dtype], TOLERANCES[dtype] * scale, err_msg=what)


def check_values(pair, dtype):
    compare(pair.my_outputs(), pair.their_outputs(), dtype, "outputs")
    compare(list(pair.mine.buffers()), list(pair.theirs.buffers()), dtype, "buffers")


def check_gradients(pair, dtype):
    differentiable = [[y for y in outputs if y.requires_grad] for outputs in (pair.my_outputs(), pair.their_outputs())]
    assert len(differentiable[0]) == len(differentiable[1])
    if not differentiable[0]:
        return
    for outputs in differentiable:
        sum((y * y).sum() + y.sum() for y in outputs).backward()
    compare([t.grad for t in pair.my_inputs], [t.grad for t in pair.their_inputs], dtype, "gradients of inputs")
    parameters = [[p.grad for p in layer.parameters()] for layer in (pair.mine, pair.theirs)]
    compare(*parameters, dtype, "gradients of parameters")


def check_looks(pair, dtype):
    assert repr(pair.mine) == repr(pair.theirs)
    assert list(pair.mine.state_dict()) == list(pair.theirs.state_dict())
    parameters = [[name for name, _ in layer.named_parameters()] for layer in (pair.mine, pair.theirs)]
    assert sorted(parameters[0]) == sorted(parameters[1])


@pytest.mark.parametrize(("name", "dtype", "training"), CASES, ids=lambda value: str(value))
def test_layer(name, dtype, training):
    for pair in pairs(name, dtype, training, most=3 if dtype == "float32" else 6):
        for check in (check_values, check_gradients, check_looks):
            check(pair, dtype)


@pytest.mark.parametrize("name", sorted({name for names in ag.nn.modules._HOMES.values() for name in names} - {
    "LazyModuleMixin", "LinearCrossEntropyOptions", "NLLLoss2d", "SyncBatchNorm"}))  # fmt: skip
def test_signatures(name):
    """Names, order, kinds and defaults of parameters, those of device and dtype among them."""
    mine, theirs = (
        [(p.name, p.kind, getattr(p.default, "__name__", p.default)) for p in inspect.signature(layer).parameters.values()]
        for layer in (getattr(ag.nn, name), getattr(torch.nn, name))
    )
    plain = [("args", inspect.Parameter.VAR_POSITIONAL, "_empty"), ("kwargs", inspect.Parameter.VAR_KEYWORD, "_empty")]
    assert [p for p in mine if p not in plain] == [p for p in theirs if p not in plain]
    forward = [list(inspect.signature(layer.forward).parameters) for layer in (getattr(ag.nn, name), getattr(torch.nn, name))]
    assert forward[0] == forward[1] or name == "RNNBase"  # whose forward() PyTorch leaves to its subclasses
