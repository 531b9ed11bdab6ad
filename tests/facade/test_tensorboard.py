"""torch.utils.tensorboard.SummaryWriter: what is written can be read back; without tensorboardX the error names the extra."""

import struct
import sys
from pathlib import Path

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.utils.tensorboard import SummaryWriter


def events(folder):
    """The events in the files of a folder: records of a length, its checksum, the message, its checksum."""
    from tensorboardX.proto.event_pb2 import Event

    for path in sorted(Path(folder).rglob("events*")):
        data = path.read_bytes()
        while data:
            (size,) = struct.unpack("<Q", data[:8])
            yield Event.FromString(data[12 : 12 + size])
            data = data[16 + size :]


def values(folder):
    return {value.tag: (event.step, value) for event in events(folder) for value in event.summary.value}


@pytest.fixture
def writer(tmp_path):
    pytest.importorskip("tensorboardX")
    with SummaryWriter(tmp_path / "run") as made:
        yield made


def test_numbers_and_texts(writer):
    loss = ag.tensor([2.0], requires_grad=True).sum()
    writer.add_scalar("loss", loss, 3)
    writer.add_scalar("rate", 0.5, global_step=4)
    writer.add_scalars("both", {"a": ag.tensor(1.0), "b": 2.0}, 1)
    writer.add_text("note", "plain words", 1)
    writer.close()
    found = values(writer.log_dir)
    assert (found["loss"][0], found["loss"][1].simple_value) == (3, 2.0)
    assert (found["rate"][0], found["rate"][1].simple_value) == (4, 0.5)
    assert any("both" in tag for tag in found) and "note/text_summary" in found
    assert writer.get_logdir() == writer.log_dir and Path(writer.log_dir).is_dir()


def test_tensors(writer):
    weight = ag.nn.Parameter(ag.arange(6.0).reshape(2, 3))
    writer.add_histogram("weight", weight, 1)
    writer.add_tensor("again", weight, 1)
    writer.add_image("image", ag.rand(3, 4, 4), 1)
    writer.add_images("images", ag.rand(2, 3, 4, 4), 1)
    writer.add_pr_curve("curve", ag.tensor([0, 1, 1]), ag.tensor([0.1, 0.8, 0.6]), 1)
    writer.add_embedding(ag.rand(3, 2), metadata=["a", "b", "c"])
    writer.add_hparams({"lr": 0.1, "steps": 3}, {"accuracy": ag.tensor(0.5)})
    writer.flush()
    writer.close()
    found = values(writer.log_dir)
    histogram = found["weight"][1].histo
    assert (histogram.num, histogram.sum, histogram.max) == (6.0, 15.0, 5.0)
    assert found["image"][1].image.height == 4 and {"images", "again"} <= set(found)


def test_a_graph_is_refused(writer):
    with pytest.raises(NotImplementedError, match="TorchScript"):
        writer.add_graph(ag.nn.Linear(1, 1), ag.ones(1))


def test_a_subclass_calls_its_parent(tmp_path):
    pytest.importorskip("tensorboardX")

    class Doubled(SummaryWriter):
        def add_scalar(self, tag, value, step=None):
            super().add_scalar(tag, 2 * value, step)

    with Doubled(tmp_path) as writer:
        writer.add_scalar("x", np.float32(1.5), 1)
    assert values(tmp_path)["x"][1].simple_value == 3.0


def test_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(ImportError, match=r"pip install autograd_cy\[tensorboard\]"):
        SummaryWriter()
