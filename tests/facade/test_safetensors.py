"""autograd_cy.utils.safetensors: files of the package safetensors."""

import sys

import pytest

import autograd_cy as ag
from autograd_cy.utils import safetensors as files


def test_tensors_come_back_in_order_of_their_elements(tmp_path):
    package = pytest.importorskip("safetensors")
    half = ag.ones(2, dtype=ag.float16)
    tensors = {"x": ag.arange(6.0).reshape(2, 3).t(), "n": ag.arange(3), "h": half, "z": ag.tensor(2.0)}
    files.save_file(tensors, tmp_path / "a.safetensors", {"format": "pt"})
    back = files.load_file(tmp_path / "a.safetensors")
    assert sorted(back) == sorted(tensors)
    for name, tensor in tensors.items():
        assert back[name].dtype is tensor.dtype and ag.equal(back[name], tensor)
        back[name].add_(1)  # memory of its own, which may be written
    with package.safe_open(tmp_path / "a.safetensors", "np") as file:
        assert file.metadata() == {"format": "pt"}
    (tmp_path / "b").write_bytes(b"no such file")
    with pytest.raises(package.SafetensorError):
        files.load_file(tmp_path / "b")


def test_what_the_file_cannot_say_is_refused():
    pytest.importorskip("safetensors")
    x = ag.arange(4.0)
    with pytest.raises(ValueError, match="'a' and 'b' share memory"):
        files.save({"a": x, "b": x[1:]})
    assert len(files.load(files.save({"a": x[::2], "b": x[1::2]}))) == 2
    with pytest.raises(TypeError, match="expected a dict of tensors by name, got list"):
        files.save([x])
    with pytest.raises(TypeError, match="got float under 'a'"):
        files.save({"a": 1.0})


def test_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(ImportError, match=r"autograd_cy\[safetensors\]"):
        files.save({})


def test_pytorch_reads_ours(tmp_path):
    torch = pytest.importorskip("torch")
    theirs = pytest.importorskip("safetensors.torch")
    files.save_file({"x": ag.arange(6.0).reshape(2, 3)}, tmp_path / "a")
    assert torch.equal(theirs.load_file(tmp_path / "a")["x"], torch.arange(6.0).reshape(2, 3))
    theirs.save_file({"x": torch.ones(2)}, tmp_path / "a")
    assert ag.equal(files.load_file(tmp_path / "a")["x"], ag.ones(2))
