"""save() and load(): what goes in comes out, files of others, and files that want to do harm."""

import io
import os
import pickle
import random
import signal
import struct
import subprocess
import sys
import textwrap
import zipfile
from collections import Counter, OrderedDict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_cy as ag
from autograd_cy import serialization
from autograd_cy.serialization._storages import STORAGES

DTYPES = [getattr(ag, name) for name in STORAGES]


def saved(obj, **options):
    file = io.BytesIO()
    ag.save(obj, file, **options)
    return file


def archive_of(pickled, records=(), folder="archive", **entry):
    """A file with this pickle, and records by name."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **entry) as out:
        for name, data in {"data.pkl": pickled, "version": b"3\n", **dict(records)}.items():
            out.writestr(f"{folder}/{name}", data)
    return file


def storage(numel=4, key="0", kind="FloatStorage", location="cpu"):
    """The text of a reference to a storage, in instructions of a pickle."""
    strings = [pickle.BINUNICODE + struct.pack("<I", len(s)) + s.encode() for s in ("storage", key, location)]
    number = pickle.LONG1 + bytes([9]) + numel.to_bytes(9, "little", signed=True)
    return pickle.MARK + strings[0] + f"ctorch\n{kind}\n".encode() + strings[1] + strings[2] + number + b"tQ"


def tensor_text(offset, size, stride, of=None):
    """The text of a tensor of these sizes and strides."""
    def integer(n):
        return pickle.LONG1 + bytes([9]) + n.to_bytes(9, "little", signed=True)

    def integers(numbers):
        return pickle.MARK + b"".join(map(integer, numbers)) + b"t"

    place = integer(offset) + integers(size) + integers(stride)
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + (of or storage()) + place + b"\x89ccollections\nOrderedDict\n)RtR."


# what goes in comes out


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_each_dtype_comes_back(dtype):
    x = ag.tensor([[0, 1], [2, 3]]).to(dtype)
    y = ag.load(saved(x))
    assert y.dtype is dtype and ag.equal(x, y) and y.stride() == x.stride()


@given(st.data())
def test_layouts_come_back(data):
    shape = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    x = ag.arange(float(np.prod(shape))).reshape(shape).permute(*data.draw(st.permutations(range(len(shape)))))
    x = x[:: data.draw(st.integers(1, 3))]
    y = ag.load(saved(x))
    assert y.shape == x.shape and ag.equal(x, y) and (not x.numel() or y.stride() == x.stride())


def test_shared_memory_stays_shared():
    x = ag.arange(12.0).reshape(3, 4)
    y, row, turned = ag.load(saved([x, x[1], x.t()]))
    y[1, 2] = 70
    assert row[2] == 70 and turned[2, 1] == 70
    row[0] = -1
    assert y[1, 0] == -1


def test_a_loaded_tensor_has_memory_of_its_own():
    x = ag.ones(3)
    file = saved(x)
    y = ag.load(file)
    y.add_(1)
    assert ag.equal(x, ag.ones(3)) and ag.equal(ag.load(file), ag.ones(3))


def test_containers_and_numbers():
    obj = {
        "a": [1, -(2**70), 2.5, True, None, "text", b"\0bytes", (), (1, (2,))], 2: OrderedDict(x={3, 4}),
        (1, "k"): Counter("aab"), "dtype": ag.float64, "shape": ag.Size([2, 3]), "device": ag.device("cpu"),
        "more": bytearray(b"xyz"),
    }  # fmt: skip
    assert ag.load(saved(obj)) == obj
    assert ag.load(saved(obj, pickle_protocol=4)) == obj


def test_requires_grad_attributes_and_parameters():
    leaf = ag.ones(2, requires_grad=True)
    leaf.note = "mine"
    back = ag.load(saved(leaf))
    assert back.requires_grad and back.is_leaf and back.note == "mine"
    parameter = ag.load(saved(ag.nn.Parameter(ag.ones(2), requires_grad=False)))
    assert type(parameter) is ag.nn.Parameter and not parameter.requires_grad


def test_one_memory_of_two_types_is_refused():
    x = ag.zeros(4, dtype=ag.complex64)
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        saved([x, ag.view_as_real(x)])


def test_paths(tmp_path):
    path = tmp_path / "checkpoint.pt"
    ag.save(ag.ones(2), path)
    ag.save(ag.zeros(2), str(path))
    assert ag.equal(ag.load(path), ag.zeros(2)) and os.listdir(tmp_path) == ["checkpoint.pt"]
    with zipfile.ZipFile(path) as archive:
        assert {name.split("/")[0] for name in archive.namelist()} == {"checkpoint"}


def test_a_mapped_file_is_not_written_to(tmp_path):
    path = tmp_path / "large.pt"
    ag.save({"x": ag.arange(1000.0), "none": ag.empty(0)}, path)
    before = path.read_bytes()
    mapped = ag.load(path, mmap=True)
    mapped["x"].mul_(2)
    assert mapped["x"][10] == 20 and mapped["none"].numel() == 0 and path.read_bytes() == before
    with pytest.raises(ValueError, match="must be a file path"):
        ag.load(io.BytesIO(before), mmap=True)


@pytest.mark.parametrize("location", ["cpu", {"cuda:0": "cpu"}, lambda storage, location: storage, ag.device("cpu"), None])
def test_locations(location):
    assert ag.equal(ag.load(saved(ag.ones(2)), map_location=location), ag.ones(2))


def test_other_devices_are_refused():
    text = tensor_text(0, [4], [1], storage(location="cuda:0"))
    file = archive_of(text, {"data/0": bytes(16)})
    with pytest.raises(RuntimeError, match=r"on a CUDA device but torch.cuda.is_available\(\) is False"):
        ag.load(file)
    assert ag.load(file, map_location="cpu").tolist() == [0.0] * 4
    with pytest.raises(RuntimeError):
        ag.load(file, map_location="cuda:0")


def test_refused_arguments(tmp_path):
    with pytest.raises(NotImplementedError, match="only the zip format"):
        ag.save(1, tmp_path / "x", _use_new_zipfile_serialization=False)
    with pytest.raises(NotImplementedError, match="pickle_module must be pickle"):
        ag.save(1, tmp_path / "x", pickle_module=struct)
    with pytest.raises(TypeError, match="unexpected keyword argument 'fix_imports'"):
        ag.load(saved(1), fix_imports=False)
    with pytest.raises(AttributeError, match="expected a path"):
        ag.load(3)
    with pytest.raises(FileNotFoundError):
        ag.load(tmp_path / "none")


# a file is the old one or the new one


def test_an_object_that_cannot_be_pickled_leaves_the_file(tmp_path):
    path = tmp_path / "file.pt"
    ag.save(1, path)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        ag.save([ag.ones(2), lambda: 0], path)
    assert ag.load(path) == 1 and len(os.listdir(tmp_path)) == 1


def test_a_write_that_fails_leaves_the_file(tmp_path, monkeypatch):
    path = tmp_path / "file.pt"
    ag.save(1, path)
    monkeypatch.setattr(os, "fsync", lambda descriptor: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        ag.save(2, path)
    assert ag.load(path) == 1 and os.listdir(tmp_path) == ["file.pt"]


def test_a_link_is_followed_and_the_mode_stays(tmp_path):
    path, link = tmp_path / "file.pt", tmp_path / "link.pt"
    ag.save(1, path)
    path.chmod(0o640)
    link.symlink_to(path)
    ag.save(2, link)
    assert link.is_symlink() and ag.load(path) == 2 and path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="no kill")
def test_a_killed_process_leaves_a_whole_file(tmp_path):
    """Killed five times at any moment, while it saves without end."""
    path = tmp_path / "file.pt"
    program = textwrap.dedent(f"""
        import autograd_cy as ag
        n = 0
        while True:
            n += 1
            ag.save([n, ag.full((50_000,), float(n))], {str(path)!r})
            n == 1 and print("saved", flush=True)
    """)
    for delay in (0.0, 0.003, 0.011, 0.02, 0.05):
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(delay)
            process.send_signal(signal.SIGKILL)
        n, x = ag.load(path)
        assert x.shape == (50_000,) and ag.equal(x, ag.full((50_000,), float(n)))


# what a file may name


def test_a_class_must_be_added():
    half = Fraction(1, 2)
    file = saved([half])
    assert serialization.get_unsafe_globals_in_checkpoint(file) == ["fractions.Fraction"]
    with pytest.raises(pickle.UnpicklingError, match=r"Weights only load failed[\s\S]*fractions.Fraction.*add_safe_globals"):
        ag.load(file)
    with serialization.safe_globals([Fraction]):
        assert ag.load(file) == [half]
    with pytest.raises(TypeError, match="expected classes or functions, got int"):
        serialization.add_safe_globals([3])


class Plain:
    def __init__(self, x):
        self.x = x


class Slotted:
    __slots__ = ("y",)


def test_instances_of_added_classes_get_their_state():
    plain, slotted = Plain(ag.ones(1)), Slotted()
    slotted.y = 5
    with serialization.safe_globals([Plain, (Slotted, f"{__name__}.Slotted")]):
        back, other = ag.load(saved([plain, slotted]))
    assert type(back) is Plain and ag.equal(back.x, ag.ones(1)) and other.y == 5


@pytest.mark.parametrize(
    "text",
    [
        b"cos\nsystem\n(X\x04\0\0\0truetR.",
        b"cbuiltins\neval\n(X\x01\0\0\x001tR.",
        b"cbuiltins\ngetattr\n.",
        b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
        b"ios\nsystem\n.", b"(cos\nsystem\no.", b"P0\n.", b"\x82\x01.", b"N\x93.",
    ],
    ids=["os.system", "eval", "getattr", "stack_global", "inst", "obj", "persid", "ext1", "nothing"],
)  # fmt: skip
def test_nothing_is_executed(text):
    with pytest.raises(pickle.UnpicklingError):
        ag.load(archive_of(text))


@pytest.mark.parametrize(
    "text, message",
    [
        (b"", "no end|exhausted"),
        (b"N", "no end|exhausted"),
        (b".", "pop from empty list"),
        (b"h\x05.", "KeyError"),
        (b"X\xff\xff\xff\x7fabc.", "expected 2147483647 bytes"),
        (b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7fabc.", "expected 9223372036854775807 bytes"),
        (b"cbuiltins\nbytearray\n\x8a\x06\0\0\0\0\0\x01\x85R.", "expected the bytes"),
        (b"ccollections\nOrderedDict\n(cbuiltins\nset\nK\x01tR.", "expected an OrderedDict without items"),
        (b"cbuiltins\nset\n(](" + b"(" * 50_000 + b"t" * 50_000 + b"etR.", "tuples more than 16 deep"),
        (b"}" + b"(" * 100_000 + b"t" * 100_000 + b"Ns.", "tuples more than 16 deep"),
        (b"}]Ns.", "a list is no key"),
        (b"]}b.", "a state for a list"),
        (b"ctorch._utils\n_rebuild_tensor_v2\n}X\x01\0\0\0aNsb.", "a state for a"),
        (b"ctorch\nSize\n(]X\x01\0\0\0aatR.", "torch.Size"),
        (b"ctorch\nSize\nK\x01\x81.", "which was not added"),
        (b"ctorch\nTensor\n)R.", "is not to be called"),
        (b"K\x05)R.", "is not to be called"),
        (b"K\x05Q.", "expected a reference to a storage"),
        (b"\x80\x7f.", "protocol 127"),
    ],
)
def test_hostile_pickles(text, message):
    with pytest.raises((pickle.UnpicklingError, RuntimeError), match=message):
        ag.load(archive_of(text))


def test_a_memo_is_as_large_as_what_is_in_it():
    """Python's own unpickler makes room for the number of an entry: 16 GB."""
    assert ag.load(archive_of(b"Nr\xff\xff\xff\x7f.")) is None


@pytest.mark.parametrize(
    "offset, size, stride",
    [
        (0, [5], [1]), (1, [4], [1]), (-1, [1], [1]), (0, [2, 2], [3, 1]), (0, [2**61], [2**61]), (0, [-1], [1]),
        (0, [2], [-1]),
        (0, [1] * 65, [1] * 65), (0, [2], [1, 1]), (2**62, [1], [0]), (0, [2**33, 2**33], [0, 0]),
    ],
)  # fmt: skip
def test_tensors_beyond_their_storage(offset, size, stride):
    with pytest.raises(pickle.UnpicklingError):
        ag.load(archive_of(tensor_text(offset, size, stride), {"data/0": bytes(16)}))


@pytest.mark.parametrize(
    "of, records, message",
    [
        (storage(), {}, "no record 'data/0'"),
        (storage(), {"data/0": bytes(15)}, "no number of elements"),
        (storage(5), {"data/0": bytes(16)}, "4 elements instead of 5"),
        (storage(2**60), {"data/0": bytes(16)}, "4 elements instead of"),
        (storage(key="../0"), {"data/0": bytes(16)}, "no record"),
        (storage(kind="QInt8Storage"), {"data/0": bytes(16)}, "Unsupported global"),
    ],
)
def test_storages_that_are_not_as_the_file_says(of, records, message):
    with pytest.raises((RuntimeError, pickle.UnpicklingError), match=message):
        ag.load(archive_of(tensor_text(0, [4], [1], of), records))


def test_a_tensor_of_few_elements_may_be_expanded():
    x = ag.load(archive_of(tensor_text(3, [2**40], [0]), {"data/0": np.arange(4.0, dtype=np.float32).tobytes()}))
    assert x.shape == (2**40,) and x[2**39] == 3


# what a file may be


def test_files_that_are_none(tmp_path):
    for data in (b"", b"PK", b"not a zip file" * 20, pickle.dumps({"a": 1}), b"PK\5\6" + bytes(18)):
        with pytest.raises(RuntimeError, match="no file as save"):
            ag.load(io.BytesIO(data))
    with pytest.raises(RuntimeError, match="TorchScript"):
        ag.load(archive_of(b"N.", {"constants.pkl": b""}))
    with pytest.raises(RuntimeError, match="is compressed"):
        ag.load(archive_of(b"N." + bytes(1000), compression=zipfile.ZIP_DEFLATED))
    with pytest.raises(RuntimeError, match=r"expected one record data\.pkl"):
        ag.load(archive_of(b"N.", {"x/data.pkl": b"N."}))


def test_records_that_lie_on_each_other():
    """A small file whose table says a hundred times that the same megabyte is a record."""
    file = archive_of(tensor_text(0, [4], [1]), {"data/0": bytes(1 << 20)})
    with zipfile.ZipFile(file, "a") as archive:
        original = archive.getinfo("archive/data/0")
        for number in range(1, 100):
            twin = zipfile.ZipInfo(f"archive/data/{number}")
            for name in ("file_size", "compress_size", "header_offset", "CRC"):
                setattr(twin, name, getattr(original, name))
            archive.filelist.append(twin)
            archive.NameToInfo[twin.filename] = twin
        archive._didModify = True
    with pytest.raises(RuntimeError, match="larger than the file"):
        ag.load(file)


def test_every_cut_of_a_file_is_refused():
    whole = saved({"x": ag.arange(6.0), "n": [1, "a"]}).getvalue()
    for length in range(0, len(whole) - 1, 7):
        with pytest.raises((RuntimeError, pickle.UnpicklingError)):
            ag.load(io.BytesIO(whole[:length]))


def test_damaged_files_load_or_raise_what_is_documented():
    """Bytes, changed at random: nothing crashes, nothing is made that the file has no memory for."""
    draw = random.Random(int(os.environ.get("AUTOGRAD_CY_SEED", "0")))
    parameter = ag.nn.Parameter(ag.ones(2))
    whole = saved({"x": ag.arange(6.0).reshape(2, 3).t(), "p": parameter, "n": [1, "a", {2: 3.5}]}).getvalue()
    loaded = 0
    for _ in range(int(os.environ.get("AUTOGRAD_CY_FILES", "1500"))):
        data = bytearray(whole)
        for _ in range(draw.choice((1, 1, 2, 8))):
            data[draw.randrange(len(data))] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
        try:
            ag.load(io.BytesIO(data))
            loaded += 1
        except (RuntimeError, pickle.UnpicklingError):
            pass
    assert loaded  # a changed byte of padding changes nothing


def test_damaged_pickles_load_or_raise_what_is_documented():
    draw = random.Random(int(os.environ.get("AUTOGRAD_CY_SEED", "0")))
    with zipfile.ZipFile(saved([ag.arange(4.0), {"a": (1, 2.5, b"x")}, ag.Size([3]), {4}])) as archive:
        whole = archive.read("archive/data.pkl")
    codes = list(b"(.0NKJMIXcRbsu}]tQq\x85\x86\x87\x88\x89\x8a\x8e\x93\x94\x81ea)l\x8f\x90h")
    for _ in range(int(os.environ.get("AUTOGRAD_CY_FILES", "1500"))):
        data = bytearray(whole)
        for _ in range(draw.randrange(1, 5)):
            at = draw.randrange(len(data))
            data[at : at + draw.randrange(2)] = bytes([draw.choice(codes)])
        try:
            ag.load(archive_of(bytes(data), {"data/0": bytes(16)}))
        except (RuntimeError, pickle.UnpicklingError):
            pass


# PyTorch's files


def test_pytorch_reads_ours_and_we_read_its(tmp_path):
    torch = pytest.importorskip("torch")
    path = tmp_path / "file.pt"

    def objects(lib):
        x = lib.arange(12.0).reshape(3, 4)
        leaf = lib.ones(2, requires_grad=True)
        return {
            "x": x, "row": x[1], "turned": x.t(), "leaf": leaf, "empty": lib.empty(0, 3), "step": lib.tensor(3.0),
            "device": x.device, "size": x.shape, "kinds": [lib.ones(2).to(getattr(lib, name)) for name in STORAGES],
            "dtype": lib.float32, "parameter": lib.nn.Parameter(x[0].clone()), "bytes": b"ab", "order": OrderedDict(a=1),
        }  # fmt: skip

    def shown(value):
        return {key: repr(item) for key, item in value.items()}

    ag.save(objects(ag), path)
    assert shown(torch.load(path)) == shown(objects(torch))
    assert shown(torch.load(path, mmap=True)) == shown(objects(torch))
    torch.save(objects(torch), path)
    assert shown(ag.load(path)) == shown(objects(ag))
    assert shown(ag.load(path, mmap=True)) == shown(objects(ag))
    moved = torch.load(path)
    moved["x"][1, 0] = 9
    assert moved["row"][0] == 9


def test_files_of_quantized_numbers_are_refused(tmp_path):
    torch = pytest.importorskip("torch")
    torch.save(torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8), tmp_path / "x")
    with pytest.raises(pickle.UnpicklingError, match=r"torch\."):
        ag.load(tmp_path / "x")


def chained(n):
    """A list in a list in a list, with a tensor in the innermost one."""
    value = ag.ones(1)
    for _ in range(n):
        value = [value]
    return value


def test_what_is_nested_too_deeply_says_so(tmp_path):
    """The error said that the recursion limit was exceeded, not by what nor what can be done; a limit that suffices works."""
    path, limit = tmp_path / "nested.pt", sys.getrecursionlimit()
    ag.save([1], path)
    with pytest.raises(RecursionError, match=r"save\(\): the list is nested too deeply.*limit of \d+.*state_dict\(\)"):
        ag.save(chained(limit), path)
    assert ag.load(path) == [1]  # nothing was written
    sys.setrecursionlimit(10 * limit)
    try:
        ag.save(chained(limit), path)
    finally:
        sys.setrecursionlimit(limit)
    value, depth = ag.load(path), 0  # reading needs no recursion
    while isinstance(value, list):
        (value,), depth = value, depth + 1
    assert depth == limit and value.tolist() == [1]
