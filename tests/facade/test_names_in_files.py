"""What a file calls classes and functions: by PyTorch's names, which both libraries find."""

import functools
import importlib
import io
import pickle
import sys

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import nn

F = nn.functional
MODELS = {
    "transformer": lambda: nn.TransformerEncoderLayer(4, 2, 8),
    "convolutions": lambda: nn.Sequential(nn.Conv2d(1, 2, 3), nn.ConvTranspose1d(1, 1, 1), nn.MaxUnpool1d(2), nn.Softmax(-1)),
    "recurrent": lambda: nn.ModuleList([nn.LSTMCell(2, 2), nn.GRU(2, 2)]),
    "losses": lambda: nn.ModuleDict({"a": nn.TripletMarginLoss(), "b": nn.MultiLabelMarginLoss(), "c": nn.CrossEntropyLoss()}),
    "lazy": lambda: nn.LazyConv1d(2, 1),
    "parameters": lambda: nn.ParameterList([nn.Parameter(ag.ones(1))]),
    "functions": lambda: [F.relu, F.gelu, F.dropout, F.linear, ag.tanh, ag.linalg.norm, ag.fft.fft, nn.init.zeros_, ag.zeros],
}  # fmt: skip


def saved(value):
    file = io.BytesIO()
    ag.save(value, file)
    file.seek(0)
    return file


def names(model):
    found = ag.serialization.get_unsafe_globals_in_checkpoint(saved(MODELS[model]()))
    return [name for name in found if name != "__builtin__.getattr"]


@pytest.mark.parametrize("model", MODELS)
def test_names_are_public(model):
    """nn.modules._plain_conv.Conv2d and _core.ops.pointwise.pointwise.relu were names that PyTorch hasn't."""
    found = names(model)
    public = [name.removesuffix("._WrappedHook") for name in found]
    assert found and [name for name in public if not name.startswith("torch.") or "._" in name] == []
    ag.load(saved(MODELS[model]()), weights_only=False)


@pytest.mark.parametrize("model", MODELS)
def test_pytorch_has_them(model):
    torch = pytest.importorskip("torch")
    for name in names(model):
        module, _, attribute = name.rpartition(".")
        assert callable(getattr(importlib.import_module(module), attribute)), name
    torch.load(saved(MODELS[model]()), weights_only=False)


@pytest.mark.parametrize("kind", ["GRU", "LSTM", "RNN"])
def test_recurrent_layers_are_exchanged(kind):
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(0).normal(size=(3, 2, 2)).astype(np.float32)
    here = getattr(nn, kind)(2, 3, num_layers=2, bidirectional=True)
    there = torch.load(saved(here), weights_only=False)
    expected = here(ag.tensor(x))[0].detach().numpy()
    assert np.allclose(there(torch.tensor(x))[0].detach().numpy(), expected, atol=1e-6)
    file = io.BytesIO()
    torch.save(there, file)
    file.seek(0)
    again = ag.load(file, weights_only=False)
    assert np.allclose(again(ag.tensor(x))[0].detach().numpy(), expected, atol=1e-6)
    assert vars(again).keys() == vars(here).keys() and again._flat_weights[0] is again.weight_ih_l0


@pytest.mark.parametrize("module, name, function", [
    ("torch.nn.functional", "relu", F.relu), ("torch._C._nn", "gelu", F.gelu), ("torch", "tanh", ag.tanh),
    ("torch._C._linalg", "linalg_norm", ag.linalg.norm), ("torch.linalg", "norm", ag.linalg.norm),
])  # fmt: skip
def test_safe_functions_go_by_the_names_of_pytorch(module, name, function):
    import test_serialization

    text = b"\x80\x02c" + f"{module}\n{name}\n".encode() + b"."
    with pytest.raises(pickle.UnpicklingError, match="was not an allowed global"):
        ag.load(test_serialization.archive_of(text))
    with ag.serialization.safe_globals([function]):
        assert ag.serialization.get_safe_globals() == [function]
        assert ag.load(test_serialization.archive_of(text)) is function


def test_what_a_program_defines_keeps_its_name():
    with ag.serialization.safe_globals([functools.partial, Kept]):
        assert ag.serialization.get_safe_globals() == [functools.partial, Kept]
        found = ag.load(saved(Kept()))
    assert type(found) is Kept and sys.modules[Kept.__module__].Kept is Kept


class Kept:
    pass


def test_names_in_private_modules_of_others_are_kept(tmp_path, monkeypatch):
    """A class of theirs/_inside.py that theirs/__init__.py offers, or that has the name of one of ours."""
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "_inside.py").write_text("class Config: pass\nclass RemovableHandle: pass\n")
    (tmp_path / "theirs" / "__init__.py").write_text("from ._inside import Config\n__all__ = ['Config']\n")
    monkeypatch.syspath_prepend(tmp_path)
    inside = importlib.import_module("theirs._inside")
    found = ag.serialization.get_unsafe_globals_in_checkpoint(saved([inside.Config, inside.RemovableHandle]))
    assert found == ["theirs._inside.Config", "theirs._inside.RemovableHandle"]
    with ag.serialization.safe_globals([inside.Config]):
        assert ag.load(saved(inside.Config)) is inside.Config
