"""load() of whole objects from files that are trusted, and of files as PyTorch wrote them before 1.6."""

import io
import pickle
import random
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import nn
from autograd_cy.serialization._storages import STORAGES
from autograd_cy.serialization._stream import BEGINNING

FLOATS, SHORTS = np.arange(6, dtype="<f4"), np.arange(4, dtype="<i2")


class Named:
    """What pickle writes as a global name."""

    def __init__(self, module, name):
        self.module, self.name = module, name


class OldPickler(pickle._Pickler):
    """Tensors as (array, offset, size, stride): storages are arrays, which it collects by key."""

    dispatch: ClassVar = dict(pickle._Pickler.dispatch)

    def __init__(self, file, view=None):
        super().__init__(file, 2)
        self.arrays, self.view = {}, view

    def persistent_id(self, obj):
        if not isinstance(obj, np.ndarray):
            return None
        self.arrays[str(id(obj))] = obj
        kind = Named("torch", STORAGES[ag.from_numpy(obj.astype(obj.dtype.newbyteorder("="))).dtype.name])
        return "storage", kind, str(id(obj)), "cpu", obj.size, self.view

    def save_named(self, obj):
        self.write(b"c" + f"{obj.module}\n{obj.name}\n".encode())

    def save_tensor(self, obj):
        self.save_named(Named("torch._utils", "_rebuild_tensor_v2"))
        self.save((*obj.place, False, None))
        self.write(pickle.REDUCE)

    dispatch[Named] = save_named


class Placed:
    """A tensor in such a file."""

    def __init__(self, *place):
        self.place = place


OldPickler.dispatch[Placed] = OldPickler.save_tensor


def old_file(obj, little_endian=True, view=None):
    """A file of the format before zip files."""
    objects = io.BytesIO()
    pickler = OldPickler(objects, view)
    pickler.dump(obj)
    parts = [BEGINNING, pickle.dumps(1001, 2), pickle.dumps({"little_endian": little_endian}, 2), objects.getvalue(),
             pickle.dumps(list(pickler.arrays), 2)]
    memory = [a.size.to_bytes(8, "little") + a.tobytes() for a in pickler.arrays.values()]
    return io.BytesIO(b"".join(parts + memory))


def test_an_old_file():
    """Tensors that share memory share it again."""
    a, b = Placed(FLOATS, 0, (2, 3), (3, 1)), Placed(FLOATS, 1, (3,), (2,))
    file = old_file({"a": a, "b": b, "c": Placed(SHORTS, 0, (4,), (1,))})
    found = ag.load(file)
    assert found["a"].tolist() == [[0, 1, 2], [3, 4, 5]] and found["b"].tolist() == [1, 3, 5]
    assert found["c"].tolist() == [0, 1, 2, 3] and found["c"].dtype is ag.int16
    found["a"][0, 1] = 9
    assert found["b"][0] == 9
    assert ag.serialization.get_unsafe_globals_in_checkpoint(file) == []


def test_an_old_file_of_another_machine():
    assert ag.load(old_file(Placed(FLOATS.astype(">f4"), 0, (6,), (1,)), little_endian=False)).tolist() == FLOATS.tolist()


def test_parts_of_storages():
    """Files of very old versions have views of storages, by their first element and length."""
    assert ag.load(old_file(Placed(FLOATS, 0, (2,), (1,)), view=("part", 3, 2))).tolist() == [3.0, 4.0]
    with pytest.raises(RuntimeError, match="beyond its 6 elements"):
        ag.load(old_file(Placed(FLOATS, 0, (2,), (1,)), view=("part", 5, 2)))


def test_an_old_file_is_not_trusted_either():
    file = old_file([Fraction(1, 2)])
    with pytest.raises(pickle.UnpicklingError, match=r"fractions\.Fraction"):
        ag.load(file)
    assert ag.load(file, weights_only=False) == [Fraction(1, 2)]
    with pytest.raises(RuntimeError, match="mmap=True"):
        ag.serialization._files._source(file, "it", "path", None)


@pytest.mark.parametrize("seed", range(300))
def test_damaged_old_files(seed):
    """Bytes changed or cut at random: an error that is expected, or another tensor."""
    generator = random.Random(seed)
    data = bytearray(old_file({"a": Placed(FLOATS, 0, (2, 3), (3, 1)), "b": [1, (2.5, None)]}).getvalue())
    for _ in range(generator.randint(1, 4)):
        data[generator.randrange(len(data))] = generator.randrange(256)
    if generator.random() < 0.3:
        del data[generator.randrange(len(data)) :]
    try:
        ag.load(io.BytesIO(data))
    except (RuntimeError, pickle.UnpicklingError) as error:
        assert str(error)


def saved(obj):
    file = io.BytesIO()
    ag.save(obj, file)
    return file


def net():
    ag.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.GELU(), nn.Flatten(), nn.Linear(18, 4), nn.TransformerEncoderLayer(4, 2, 8)
    )


def test_whole_modules():
    model, x = net().eval(), ag.randn(2, 1, 5, 5)
    file = saved({"model": model, "optimizer": ag.optim.Adam(model.parameters())})
    with pytest.raises(pickle.UnpicklingError, match=r"weights_only=False[\s\S]*torch.nn.modules.*Sequential"):
        ag.load(file)
    found = ag.load(file, weights_only=False)
    assert ag.equal(found["model"](x), model(x))
    found["model"].train()(x).sum().backward()
    before = found["model"][0].weight.clone()
    found["optimizer"].step()
    assert not ag.equal(found["model"][0].weight, before)


class Tagged(ag.Tensor):
    pass


def test_subclasses_and_attributes():
    x = ag.ones(2).as_subclass(Tagged)
    x.tag = "mine"
    with pytest.raises(pickle.UnpicklingError):
        ag.load(saved(x))
    found = ag.load(saved(x), weights_only=False)
    assert type(found) is Tagged and found.tag == "mine" and found.tolist() == [1.0, 1.0]


def test_options_are_those_of_the_pickle_module():
    class Shouting:
        class Unpickler(pickle.Unpickler):
            def find_class(self, module, name):
                return str.upper if name == "lower" else super().find_class(module, name)

    file = saved([str.lower, {"a": 1}])
    assert ag.load(file, weights_only=False, encoding="latin1")[1] == {"a": 1}
    assert ag.load(file, pickle_module=Shouting, weights_only=False)[1] == {"a": 1}
    with pytest.raises(NotImplementedError, match="weights_only=True"):
        ag.load(file, pickle_module=Shouting)
    with pytest.raises(TypeError, match="nonsense"):
        ag.load(file, weights_only=False, nonsense=1)


def test_a_name_that_is_missing_here():
    text = b"\x80\x02ctorch.nn.modules.quantum\nEntangled\n."
    import test_serialization

    with pytest.raises(pickle.UnpicklingError, match=r"names torch\.nn\.modules\.quantum\.Entangled, which"):
        ag.load(test_serialization.archive_of(text), weights_only=False)


@pytest.fixture
def forced(monkeypatch):
    """Sets one of the two variables by which PyTorch's users overrule weights_only."""
    for kind in ("WEIGHTS_ONLY", "NO_WEIGHTS_ONLY"):
        monkeypatch.delenv(f"TORCH_FORCE_{kind}_LOAD", raising=False)
    return lambda kind, value: monkeypatch.setenv(f"TORCH_FORCE_{kind}_LOAD", value)


def loads(file, **options):
    file.seek(0)
    try:
        return ag.load(file, **options) == [Fraction(1, 2)]
    except pickle.UnpicklingError:
        return False


@pytest.mark.parametrize("value, holds", [("1", True), ("Yes", True), ("TRUE", True), ("y", True), ("0", False), ("", False)])
def test_the_environment_may_forbid_trust(forced, value, holds):
    file = saved([Fraction(1, 2)])
    forced("WEIGHTS_ONLY", value)
    assert loads(file, weights_only=False) is not holds
    assert not loads(file)


def test_the_environment_may_trust_where_the_script_does_not_say(forced):
    file = saved([Fraction(1, 2)])
    forced("NO_WEIGHTS_ONLY", "1")
    with pytest.warns(UserWarning, match="forcing weights_only=False"):
        assert loads(file)
    assert not loads(file, weights_only=True)
    forced("WEIGHTS_ONLY", "1")
    with pytest.raises(RuntimeError, match="Only one of"):
        loads(file)
