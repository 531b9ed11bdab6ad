"""Storages: the memory that tensors share, as an object. Tests with the fixture `torch` hold in PyTorch, too."""

import copy
import gc
import io
import pickle
import warnings

import numpy as np
import pytest

import autograd_cy as ag


@pytest.fixture(params=["autograd_cy", "torch"])
def torch(request):
    found = pytest.importorskip(request.param)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="TypedStorage is deprecated")
        yield found


def saved(torch, value, **options):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, **options)


def test_on_meta(torch, tmp_path):
    storage = torch.TypedStorage([1, 2, 3], dtype=torch.float32, device="meta")
    assert storage.device.type == "meta" and storage.size() == 3
    for call in (storage.cpu, lambda: torch.TypedStorage([1, 2, 3], dtype=torch.float32).copy_(storage)):
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
            call()
    with open(tmp_path / "storage", "wb") as file, pytest.raises(NotImplementedError, match="Cannot copy out"):
        storage._write_file(file, True, True, 4)
    with pytest.raises(NotImplementedError, match="Not available for 'meta' device type"):
        storage.tolist()
    for call in (storage.share_memory_, storage._share_fd_cpu_, storage._share_filename_cpu_):
        with pytest.raises(RuntimeError, match="only available on CPU"):
            call()
    with pytest.raises(NotImplementedError, match="Not available"):
        torch.TypedStorage(0, dtype=torch.int32, device="meta")[0]
    storage.resize_(10)
    assert storage.size() == 10 and storage.nbytes() == 40


def test_tensors_of_storages(torch):
    elements = torch.tensor([1.5, -2.0])
    for storage in (elements.storage(), elements.untyped_storage()):
        made = torch.tensor(storage, dtype=torch.float32)
        assert made.tolist() == [1.5, -2.0] and made.data_ptr() == elements.data_ptr()
    assert torch.tensor(elements.untyped_storage(), dtype=torch.int16).view(torch.float32).tolist() == [1.5, -2.0]
    with pytest.raises(RuntimeError, match="Expected a Storage of type Long or an UntypedStorage, but got Float"):
        torch.tensor(elements.storage(), dtype=torch.int64)


def test_names_of_types(torch):
    names = torch.storage._dtype_to_storage_type_map()
    assert names[torch.float32] == "FloatStorage" and names[torch.bool] == "BoolStorage"
    assert torch.storage._storage_type_to_dtype_map()["LongStorage"] is torch.int64


# what a storage is


def test_views_have_the_storage_of_their_base(torch):
    a = torch.arange(6.0).reshape(2, 3)
    for view in (a[1:], a.t(), a.detach(), a.view(-1)[::2], a.data):
        assert view.untyped_storage() is a.untyped_storage()
        assert view.storage()._cdata == a.storage()._cdata == a._typed_storage()._cdata
        assert view.untyped_storage().data_ptr() == a.data_ptr()
    assert a.clone().untyped_storage()._cdata != a.untyped_storage()._cdata
    assert a.untyped_storage() == a[1:].untyped_storage() != a.clone().untyped_storage()


def test_sizes(torch):
    a = torch.arange(6, dtype=torch.int16)[2:]
    untyped, typed = a.untyped_storage(), a.storage()
    assert (len(untyped), untyped.nbytes(), untyped.size(), untyped.element_size()) == (12, 12, 12, 1)
    assert (len(typed), typed.nbytes(), typed.size(), typed.element_size()) == (6, 12, 6, 2)
    assert a.storage_offset() == 2 and a.data_ptr() == untyped.data_ptr() + 4
    assert torch.is_storage(untyped) and torch.is_storage(typed) and not torch.is_storage(a)


def test_what_is_written_is_seen_by_all(torch):
    a = torch.zeros(4)
    b = a[1:]
    a.storage()[1] = 5
    a.storage()[2:4] = 7
    assert a.tolist() == [0, 5, 7, 7] and b.tolist() == [5, 7, 7]
    a.untyped_storage()[:8] = 0
    assert b.tolist() == [0, 7, 7] and a.storage()[3] == 7 and a.storage()[-1] == 7
    b.untyped_storage().fill_(0)
    assert a.tolist() == [0] * 4
    a.untyped_storage().copy_(torch.ones(4).untyped_storage())
    b.storage().copy_(torch.arange(4.0).storage())
    assert a.storage().tolist() == list(a.storage()) == a.tolist() == [0, 1, 2, 3]
    a.storage().fill_(9)
    assert b.tolist() == [9, 9, 9]


def test_a_clone_is_apart(torch):
    a = torch.ones(2)
    for twin in (a.storage().clone(), copy.copy(a.storage()), copy.deepcopy(a.storage()), a.storage().float()):
        twin.fill_(5)
        assert a.tolist() == [1, 1] and twin.tolist() == [5, 5]
    twin = a.untyped_storage().clone()
    twin.fill_(0)
    assert a.tolist() == [1, 1]


@pytest.mark.parametrize("name, dtype", [("float", "float32"), ("double", "float64"), ("half", "float16"), ("long", "int64"),
                                         ("int", "int32"), ("short", "int16"), ("char", "int8"), ("byte", "uint8"),
                                         ("bool", "bool"), ("complex_float", "complex64")])  # fmt: skip
def test_conversions(torch, name, dtype):
    typed = getattr(torch.tensor([0.0, 2.0]).storage(), name)()
    assert typed.dtype is getattr(torch, dtype) and typed.tolist() == torch.tensor([0, 2]).to(typed.dtype).tolist()
    assert getattr(torch.UntypedStorage([3, 0]), name)().tolist() == torch.tensor([3, 0]).to(typed.dtype).tolist()


def test_types_of_storages(torch):
    made = torch.FloatStorage([1, 2, 3])
    assert type(made) is torch.TypedStorage and isinstance(made, torch.FloatStorage) and isinstance(made, torch.Storage)
    assert not isinstance(made, torch.DoubleStorage) and torch.LongStorage.dtype is torch.int64
    assert made.type() == "torch.FloatStorage" and made.untyped().type() == "torch.storage.UntypedStorage"
    assert torch.ones(2).storage_type() is torch.FloatStorage
    assert len(torch.IntStorage(3)) == 3 and len(torch.UntypedStorage(3)) == 3 and len(torch.UntypedStorage()) == 0
    assert torch.TypedStorage(wrap_storage=made.untyped(), dtype=torch.int32)._cdata == made._cdata
    assert torch.storage.UntypedStorage is torch.UntypedStorage


def test_a_tensor_of_a_storage_shares_it(torch):
    typed = torch.FloatStorage([1, 2])
    for tensor in (torch.FloatTensor(typed), torch.Tensor(typed), torch.ones(1).new(typed)):
        assert tensor.storage()._cdata == typed._cdata and tensor.tolist() == [1, 2]
    assert torch.tensor(typed).tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="Expected a Storage of type Float"):
        torch.FloatTensor(torch.LongStorage([1]))


def test_repr(torch):
    assert repr(torch.tensor([1.0, 2.0]).storage()) == (
        " 1.0\n 2.0\n[torch.storage.TypedStorage(dtype=torch.float32, device=cpu) of size 2]"
    )
    assert repr(torch.UntypedStorage([7])) == " 7\n[torch.storage.UntypedStorage(device=cpu) of size 1]"
    assert repr(torch.UntypedStorage()) == " \n[torch.storage.UntypedStorage(device=cpu) of size 0]"


def test_where_it_is(torch):
    for storage in (torch.ones(2).storage(), torch.ones(2).untyped_storage()):
        assert storage.device == torch.device("cpu") and not storage.is_cuda
        assert not storage.is_shared() and not storage.is_pinned() and storage.filename is None
        assert storage.to(device="cpu")._cdata == storage.cpu()._cdata == storage._cdata
        with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
            storage.pin_memory()
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        torch.ones(2).pin_memory()
    assert torch.empty(0).data_ptr() == torch.ones(3)[3:].data_ptr() == torch.UntypedStorage().data_ptr() == 0


def test_a_typed_storage_is_said_to_be_deprecated_once():
    ag.storage._typed._reset_warn_typed_storage_removal()
    with pytest.warns(UserWarning, match="^TypedStorage is deprecated") as found:
        ag.ones(2).storage()
        ag.FloatStorage(2)
    assert len(found) == 1 and found[0].filename == __file__


# errors

WRONG = {
    "index": (lambda t: t.ones(2).untyped_storage()[8], IndexError, "index 8 out of range for storage of size 8"),
    "typed index": (lambda t: t.ones(2).storage()[2], IndexError, "index 2 out of range for storage of size 2"),
    "step": (lambda t: t.ones(2).untyped_storage()[::2], RuntimeError, "only a step of 1 is supported"),
    "typed slice": (lambda t: t.ones(2).storage()[:1], RuntimeError, "slices are only supported in UntypedStorage"),
    "no index": (lambda t: t.ones(2).untyped_storage()["a"], TypeError, "can't index a torch.UntypedStorage with str"),
    "content": (lambda t: t.UntypedStorage(2).__setitem__(0, 1.5), RuntimeError, "can only set storage content with a int"),
    "outside": (lambda t: t.UntypedStorage(2).__setitem__(2, 1), RuntimeError, "out of bounds"),
    "fill": (lambda t: t.UntypedStorage(2).fill_(1.5), RuntimeError, "fill_ expects int, but got float"),
    "copy": (lambda t: t.UntypedStorage(2).copy_(t.UntypedStorage(3)), RuntimeError, "self was 2 bytes but src was 3 bytes"),
    "size": (lambda t: t.UntypedStorage(2.5), RuntimeError, "Expected a sequence type, but got float"),
    "item": (lambda t: t.UntypedStorage("a"), RuntimeError, "one of the items was of type str instead of int"),
    "two sizes": (lambda t: t.UntypedStorage(1, 2), TypeError, "invalid combination of arguments"),
    "typed": (lambda t: t.FloatStorage("ab"), TypeError, "invalid data type 'str'"),
    "resize": (lambda t: t.UntypedStorage(2).resize_("a"), RuntimeError, "resize_ expects an int, but got str"),
    "negative": (lambda t: t.UntypedStorage(-1), RuntimeError, "negative"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(torch, name):
    call, kind, text = WRONG[name]
    with pytest.raises(kind, match=text):
        call(torch)


# the memory lives as long as its storage


@pytest.mark.parametrize("n", [3, 100_000])
def test_no_tensor_gets_memory_that_a_storage_sees(torch, n):
    storages = []
    for value in range(5):
        made = torch.full((n,), float(value)) * 1.0
        storages.append(made[1:].untyped_storage())
        del made
    for _ in range(50):
        torch.full((n,), 99.0) * 2.0 + 1.0
    for value, storage in enumerate(storages):
        assert set(torch.empty(0).set_(storage).tolist()) == {float(value)}


@pytest.mark.parametrize("n", [3, 100_000])
def test_a_gradient_that_a_storage_sees_is_not_written_over(torch, n):
    x = torch.ones(n, requires_grad=True)
    (x * 2).sum().backward()
    kept = x.grad.untyped_storage()
    x.grad = None
    for _ in range(5):
        (x * 5).sum().backward()
        x.grad = None
    assert set(torch.empty(0).set_(kept).tolist()) == {2.0}


def test_an_output_that_a_storage_sees_is_not_written_over_by_backward():
    x = ag.ones(100_000, requires_grad=True)
    y = (x * 2).exp()
    kept, expected = y.untyped_storage(), y.tolist()[0]
    loss = y.sum()
    del y
    loss.backward()
    assert set(ag.empty(0).set_(kept).tolist()) == {expected}


def test_a_storage_dies_with_the_last_that_holds_it():
    a = ag.ones(1000)
    number = a.untyped_storage()._weak_ref()
    assert not ag.UntypedStorage._expired(number) and ag.UntypedStorage._new_with_weak_ptr(number) == a.untyped_storage()
    del a
    gc.collect()
    assert ag.UntypedStorage._expired(number) and ag.UntypedStorage._new_with_weak_ptr(number) is None


# another size


def test_resize(torch):
    a = torch.tensor([1, 2], dtype=torch.int16)
    b, storage = a[1:], a.untyped_storage()
    assert storage.resizable() and storage.resize_(8) is storage
    assert storage.nbytes() == a.untyped_storage().nbytes() == 8 and b.untyped_storage() is storage
    a.set_(storage)
    a[1] = 7
    assert (a[:2].tolist(), b.tolist(), a.shape) == ([1, 7], [7], (4,))
    alone = torch.UntypedStorage([1, 2, 3])
    assert alone.resize_(1).tolist() == [1]
    typed = torch.FloatStorage([1, 2])
    typed.resize_(3)
    assert typed.tolist()[:2] == [1, 2] and typed.nbytes() == 12


def test_no_resize_where_others_see_the_memory():
    array = np.ones(3)
    with pytest.raises(RuntimeError, match=r"not resizable: besides tensors, NumPy arrays or values that a graph saved"):
        ag.from_numpy(array).untyped_storage().resize_(100)
    a = ag.ones(3)
    seen = a.numpy()
    with pytest.raises(RuntimeError, match="not resizable"):
        a.untyped_storage().resize_(100)
    del seen
    a.untyped_storage().resize_(100)
    x = ag.ones(3, requires_grad=True)
    y = x.exp()
    with pytest.raises(RuntimeError, match="not resizable"):
        y.untyped_storage().resize_(100)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()


def test_no_resize_below_what_tensors_need():
    a = ag.arange(4, dtype=ag.int8)
    with pytest.raises(RuntimeError, match=r"a tensor of size \[4\] needs the first 4 bytes, but 3 are asked for"):
        a.untyped_storage().resize_(3)
    assert a.tolist() == [0, 1, 2, 3] and a.untyped_storage().nbytes() == 4
    b = ag.empty(0, dtype=ag.int8).set_(a.untyped_storage(), 0, (2,))
    del a
    assert b.untyped_storage().resize_(2).tolist() == b.tolist() == [0, 1]


# set_()


def test_set_takes_the_memory_of_a_tensor_or_storage(torch):
    z = torch.arange(10.0)
    for source in (z, z.untyped_storage(), z.storage()):
        c = torch.ones(3)
        assert c.set_(source) is c
        assert c.shape == (10,) and c.data_ptr() == z.data_ptr()
        c.set_(source, 2, (2, 2), (3, 1))
        assert c.tolist() == [[2, 3], [5, 6]] and c.storage_offset() == 2
        c.set_(source, 1, (2, 3))
        assert c.stride() == (3, 1) and c.tolist() == [[1, 2, 3], [4, 5, 6]]
    c[0, 0] = 99
    assert z[1] == 99
    assert c.set_().shape == (0,) and c.untyped_storage().nbytes() == 0
    assert torch.tensor([], dtype=torch.int16).set_(torch.UntypedStorage([1, 2, 3])).tolist() == [513]
    assert torch.empty(0).set_(source=z, storage_offset=1, size=(1,), stride=(1,)).tolist() == [99]


def test_set_counts_as_a_write(torch):
    a, z = torch.ones(3), torch.zeros(5)
    part = a[1:]
    a.set_(z)
    assert (a._version, part._version, z._version) == (1, 1, 0) and part.tolist() == [1, 1]
    a.add_(1)
    assert z.tolist() == [1] * 5 and part.tolist() == [1, 1]
    part.set_(z)
    part.add_(1)
    assert z.tolist() == [2] * 5
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    product = y * y
    with torch.no_grad():
        y.set_(torch.zeros(3))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


def test_set_and_the_graph(torch):
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.set_(torch.zeros(2))
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"):
        x.view(3).set_(torch.zeros(2))
    with torch.no_grad():
        x.set_(torch.zeros(2))
    assert x.tolist() == [0, 0] and x.is_leaf and x.requires_grad
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]
    y = x * 2
    y.set_(torch.ones(2))
    assert y.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match=r"derivative for .*set_ is not implemented"):
        y.sum().backward()
    z = torch.ones(2)
    z.set_(x)
    assert z.requires_grad and not z.is_leaf
    with torch.inference_mode():
        made = torch.ones(3)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        made.set_(torch.ones(2))
    parameter = torch.nn.Parameter(torch.ones(2))
    parameter.data.set_(torch.zeros(2))
    assert parameter.tolist() == [1, 1]


def test_set_refuses(torch):
    a, z = torch.ones(3), torch.zeros(5)
    for source, text in ((torch.zeros(3, dtype=torch.int32), "Could not set tensor of type int to a tensor of type float"),
                         (torch.IntStorage(3), "Expected a Storage of type [Ff]loat or an UntypedStorage")):  # fmt: skip
        with pytest.raises(RuntimeError, match=text):
            a.set_(source)
    for arguments, text in (((-1, (2,), (1,)), "invalid storage offset -1"), ((0, (2,), (-1,)), "size calculation overflowed"),
                            ((0, (2, 2), (1,)), r"unequal size length \(2\) and stride length \(1\)")):  # fmt: skip
        with pytest.raises(RuntimeError, match=text):
            a.set_(z, *arguments)
    with pytest.raises(TypeError, match=r"set_\(\) received an invalid combination of arguments"):
        a.set_(3)
    if torch is ag:  # PyTorch changes a tensor before it looks at strides
        assert a.tolist() == [1, 1, 1] and a._version == 0


def test_set_makes_the_storage_larger(torch):
    a = torch.ones(3)
    storage = a.untyped_storage()
    a.set_(storage, 1, (5,), (1,))
    assert a.tolist()[:2] == [1, 1] and a.untyped_storage() is storage and storage.nbytes() == 24


# files, pickles, copies, processes


def test_saved_storages(torch):
    a = torch.arange(4.0)
    loaded = saved(torch, [a, a[2:], a.storage()])
    assert loaded[0]._typed_storage()._cdata == loaded[1]._typed_storage()._cdata == loaded[2]._cdata
    loaded[2][2] = 9
    assert loaded[0].tolist() == [0, 1, 9, 3] and loaded[1].tolist() == [9, 3]
    assert loaded[0].untyped_storage().nbytes() == 16
    for options in ({}, {"weights_only": False}):
        found = saved(torch, torch.UntypedStorage([1, 2]), **options)
        assert type(found) is torch.TypedStorage and found.dtype is torch.uint8 and found.tolist() == [1, 2]
        assert saved(torch, torch.LongStorage([5]), **options).tolist() == [5]
    with pytest.raises(RuntimeError, match="Cannot save multiple tensors or storages that view the same data as different"):
        saved(torch, [a, a.untyped_storage()])


def test_files_of_storages_are_read_by_both():
    torch = pytest.importorskip("torch")
    for one, other in ((ag, torch), (torch, ag)):
        file = io.BytesIO()
        a = one.arange(4, dtype=one.int32)
        one.save({"all": a, "part": a[1:3], "storage": a._typed_storage()}, file)
        file.seek(0)
        loaded = other.load(file)
        assert loaded["part"]._typed_storage()._cdata == loaded["storage"]._cdata == loaded["all"]._typed_storage()._cdata
        assert loaded["storage"].tolist() == [0, 1, 2, 3] and loaded["part"].storage_offset() == 1


def test_copies_and_pickles(torch):
    a = torch.arange(3.0)
    twin, part, untyped, typed = copy.deepcopy([a, a[1:], a.untyped_storage(), a.storage()])
    assert twin.data_ptr() == part.data_ptr() - 4 == untyped.data_ptr() == typed.data_ptr() != a.data_ptr()
    assert pickle.loads(pickle.dumps(a.storage())).tolist() == [0, 1, 2]


def test_a_pickled_storage_has_its_bytes():
    assert pickle.loads(pickle.dumps(ag.UntypedStorage([1, 2]))).tolist() == [1, 2]


def test_shared_memory(torch):
    a = torch.arange(3.0)
    b, storage = a[1:], a.untyped_storage()
    assert storage.share_memory_() is storage and storage.is_shared() and a.is_shared() and b.is_shared()
    a[1] = 7
    assert a.storage().tolist() == [0, 7, 2] and b.tolist() == [7, 2] and b.untyped_storage() is storage
    other = torch.ones(2)
    storage = other.untyped_storage()
    other.share_memory_()
    storage.fill_(0)
    assert other.tolist() == [0, 0]


def test_from_buffer(torch):
    data = np.array([1.0, 2.0, 3.0], "<f4").tobytes()
    assert torch.FloatStorage.from_buffer(data, "little").tolist() == [1, 2, 3]
    assert torch.FloatStorage.from_buffer(data, "little", 1, 4).tolist() == [2]
    assert torch.FloatStorage.from_buffer(np.array([5.0], ">f4").tobytes(), byte_order="big").tolist() == [5]
    assert torch.ByteStorage.from_buffer(b"ab").tolist() == [97, 98]
    assert torch.UntypedStorage.from_buffer(b"ab", dtype=torch.uint8).tolist() == [97, 98]
    with pytest.raises(ValueError, match=r"buffer size \(7\) must be a multiple of element size \(4\)"):
        torch.FloatStorage.from_buffer(data[:7], "little")
    with pytest.raises(RuntimeError, match="missing required argument 'byte_order'"):
        torch.FloatStorage.from_buffer(data)


def test_from_file(torch, tmp_path):
    path = str(tmp_path / "bytes")
    with open(path, "wb") as file:
        file.write(b"abcd")
    shared = torch.UntypedStorage.from_file(path, True, 6)
    shared[0] = 120
    assert shared.is_shared() and not shared.resizable() and shared.filename == path
    own = torch.UntypedStorage.from_file(path, False, 2)
    own[1] = 120
    with open(path, "rb") as file:
        assert file.read() == b"xbcd\0\0"
    assert torch.ShortStorage.from_file(path, False, 1).tolist() == [int.from_bytes(b"xb", "little")]
    with pytest.raises(RuntimeError, match="size <6> is smaller than the required mapping size <20>"):
        torch.UntypedStorage.from_file(path, False, 20)


def test_byteswap(torch):
    storage = torch.tensor([1, 256], dtype=torch.int16).untyped_storage()
    storage.byteswap(torch.int16)
    assert storage.tolist() == [0, 1, 1, 0]


# with the rest of the package


def test_arrays_in_any_order():
    """The storage of memory that NumPy lays out goes from its first byte to its last."""
    for array in (np.arange(6.0).reshape(2, 3).T, np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2)):
        tensor = ag.from_numpy(array)
        assert tensor._typed_storage().tolist() == sorted(array.ravel())
        assert tensor.untyped_storage().data_ptr() == tensor.data_ptr()
    read_only = np.arange(3.0)
    read_only.flags.writeable = False
    tensor = ag.from_numpy(read_only)
    with pytest.raises(RuntimeError, match="read-only"):
        tensor._typed_storage()[0] = 1


def test_a_guarded_array_is_not_written_through_its_storage():
    x = ag.ones(3, requires_grad=True)
    with ag.autograd.graph.guard_buffers():
        y = x.exp()
    with pytest.raises(RuntimeError, match="needed for gradient computation"):
        y.untyped_storage().fill_(0)
    y.sum().backward()


def test_no_storage_within_vmap():
    def function(x):
        with pytest.raises(RuntimeError, match="Cannot access data pointer of Tensor that doesn't have storage"):
            x.untyped_storage()
        with pytest.raises(RuntimeError, match="vmap"):
            x.set_(ag.ones(2))
        return x

    ag.vmap(function)(ag.ones(2, 3))


def test_rows_of_a_table_that_a_storage_saw_are_not_taken_for_zeros():
    """A gradient of few rows remembers which are zero; who writes through its storage changes others."""
    table = ag.ones(20_000, 64, requires_grad=True)
    for _ in range(3):
        ag.nn.functional.embedding(ag.tensor([1, 5]), table).sum().backward()
        table.grad.untyped_storage().fill_(1)
        table.grad = None
    ag.nn.functional.embedding(ag.tensor([7]), table).sum().backward()
    assert table.grad.sum() == 64


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["uint16", "uint32", "uint64"])
def test_wider_unsigned_integers_have_no_storage_type_of_their_own(name):
    x = ag.tensor([1, 2], dtype=getattr(ag, name))
    storage = x.storage()
    assert (storage.tolist(), storage.type(), x.storage_type()) == ([1, 2], "torch.storage.TypedStorage", None)
    with pytest.raises(KeyError, match=f"dtype torch.{name} is not recognized"):
        storage.pickle_storage_type()
    with pytest.raises(RuntimeError, match="Could not set tensor of type float to a tensor of type"):
        x.set_(ag.zeros(2))
    assert x.tolist() == [1, 2]
