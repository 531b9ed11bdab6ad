"""share_memory_(): tensors whose elements several processes write. What takes a `torch` holds for PyTorch, too."""

import copy
import gc
import os
import pickle

import pytest

import autograd_cy as ag
from autograd_cy._memory import shared as _shared_memory
from autograd_cy.multiprocessing import reductions

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="memory is shared by descriptors of files"),
    pytest.mark.filterwarnings("ignore"),
]
METHODS = ["fork", "spawn", "forkserver"]


@pytest.fixture(params=["autograd_cy", "torch"])
def torch(request):
    found = pytest.importorskip(request.param)
    pytest.importorskip(f"{request.param}.multiprocessing")
    return found


class Tagged(ag.Tensor):
    """A subclass, by its name found in other processes."""


def train(module, steps):
    for _ in range(steps):
        module.weight.data.add_(1)
    module.bias.data.fill_(5)


def look(tensors, queue):
    """Write into the first, and tell of it and of what that did to the others."""
    first = tensors[0]
    first.data.fill_(7)
    queue.put([(x.tolist(), x.requires_grad, x.grad is None, x.is_shared(), x.stride()) for x in tensors])


def answer(asked, queue):
    look(asked.get(timeout=60), queue)


def run(process):
    process.start()
    process.join(60)
    assert process.exitcode == 0


@pytest.mark.parametrize("method", METHODS)
def test_processes_train_one_module(torch, method):
    module = torch.nn.Linear(2, 1)
    module.weight.data.zero_()
    identity = id(module.weight)
    assert module.share_memory() is module and module.weight.is_shared() and module.bias.is_shared()
    context = torch.multiprocessing.get_context(method)
    running = [context.Process(target=train, args=(module, 2)) for _ in range(2)]
    for process in running:
        run(process)
    assert module.weight.tolist() == [[4, 4]] and module.bias.tolist() == [5]
    assert id(module.weight) == identity and isinstance(module.weight, torch.nn.Parameter) and module.weight.requires_grad
    module(torch.ones(1, 2)).sum().backward()
    assert module.weight.grad.tolist() == [[1, 1]]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_what_is_sent_is_shared(torch, method):
    """A queue passes on where tensors are: views of one memory stay so."""
    whole = torch.zeros(6)
    tensors = [whole[1:4], whole[2:], torch.zeros(2, 3).t(), torch.zeros(1, requires_grad=True)]
    tensors[3].grad = torch.ones(1)
    context = torch.multiprocessing.get_context(method)
    asked, queue = context.Queue(), context.SimpleQueue()
    process = context.Process(target=answer, args=(asked, queue))
    process.start()
    asked.put(tensors)
    assert queue.get() == [
        ([7, 7, 7], False, True, True, (1,)), ([7, 7, 0, 0], False, True, True, (1,)),
        ([[0, 0]] * 3, False, True, True, (1, 3)), ([0], True, True, True, (1,)),
    ]  # fmt: skip
    process.join(60)
    assert whole.tolist() == [0, 7, 7, 7, 0, 0] and whole.is_shared() and tensors[3].grad.tolist() == [1]


def test_all_tensors_on_the_memory_move(torch):
    x = torch.arange(12.0).reshape(3, 4)
    others = [x[1:, ::2], x.t(), x.detach(), x.data, x.expand(2, 3, 4)]
    strides = [y.stride() for y in others]
    assert not x.is_shared() and x.share_memory_() is x
    assert x.is_shared() and all(y.is_shared() for y in others) and [y.stride() for y in others] == strides
    x[1, 2] = -1.0
    assert others[0][0, 1] == -1 and all((y == -1).sum() >= 1 for y in others) and others[0]._version == x._version


def test_history_stays(torch):
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).exp()
    z = y[:1]
    y.share_memory_()
    x.share_memory_()
    assert x.is_leaf and x.requires_grad and y.grad_fn.name() == "ExpBackward0" and z.is_shared() and z._base is y
    (y * 3).sum().backward()
    assert torch.allclose(x.grad, 6 * torch.ones(2).mul(2).exp()) and not x.grad.is_shared()


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (2, 3)])
@pytest.mark.parametrize("name", ["float64", "bool", "complex64", "int8"])
def test_any_shape_and_dtype(torch, shape, name):
    x = torch.ones(shape, dtype=getattr(torch, name))
    y = x.clone().share_memory_()
    assert y.is_shared() and y.dtype == x.dtype and y.shape == x.shape and torch.equal(x, y)
    assert not y.clone().is_shared()


def test_copies_are_not_shared(torch):
    x, y = torch.ones(2).share_memory_(), torch.ones(3).share_memory_()
    for copied in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), copy.deepcopy([x, y])[1]):
        assert not copied.is_shared()
        copied.fill_(0)
    assert x.tolist() == [1, 1] and y.tolist() == [1, 1, 1]


def test_gradients_and_buffers_of_a_module_move(torch):
    module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    module(torch.ones(3, 2)).sum().backward()
    module.share_memory()
    assert all(x.is_shared() for x in [*module.parameters(), *module.buffers(), *(p.grad for p in module.parameters())])


def test_what_can_not_be_sent(torch):
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        torch.multiprocessing.reductions.reduce_tensor(torch.ones(2, requires_grad=True) * 2)
    with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized parameter"):
        torch.nn.LazyLinear(2).share_memory()


def test_arrays_stay():
    """A row of docs/differences.md: PyTorch frees their memory."""
    x = ag.zeros(2)
    array = x.numpy()
    x.share_memory_().fill_(1)
    assert array.tolist() == [0, 0] and x.numpy().tolist() == [1, 1]


def test_tensors_of_a_batch_have_no_memory_to_share():
    with pytest.raises(RuntimeError, match="vmap"):
        ag.func.vmap(lambda x: x.share_memory_())(ag.ones(2, 2))


@pytest.mark.parametrize("method", METHODS)
def test_a_subclass_that_was_shared_is_sent_in_place(method):
    x = ag.zeros(2).as_subclass(Tagged)
    x.name = "first"
    x.share_memory_()
    context = ag.multiprocessing.get_context(method)
    queue = context.SimpleQueue()
    run(context.Process(target=look, args=([x], queue)))
    assert x.tolist() == [7, 7] and queue.get()[0][3]
    rebuild, arguments = reductions.reduce_tensor(x)
    assert type(rebuild(*arguments)) is Tagged and rebuild(*arguments).name == "first"


def test_a_subclass_that_was_not_shared_is_copied():
    """A row of docs/differences.md: no table of reductions knows the subclasses to come."""

    class Other(ag.Tensor):
        pass

    x = ag.zeros(2).as_subclass(Other)
    # Its class is asked for by name: so it is Tensor's own reduction.
    with pytest.raises((AttributeError, pickle.PicklingError), match="Other"):
        reductions.ForkingPickler.dumps(x)
    assert not x.is_shared() and Other not in reductions.ForkingPickler._extra_reducers
    x.share_memory_()
    assert Other in reductions.ForkingPickler._extra_reducers


def open_files():
    gc.collect()
    return len(os.listdir("/dev/fd"))


def test_blocks_end_with_their_last_tensor():
    before = open_files()
    x = ag.zeros(_shared_memory.SMALL)[1:].share_memory_()
    view = x[3:]
    assert open_files() == before + 2  # its descriptor, and that of the mapping
    del x
    assert view.sum() == 0 and open_files() == before + 2
    del view
    assert open_files() == before


def test_small_memories_are_put_together():
    x = ag.zeros(3).share_memory_()
    before = open_files()
    more = [ag.full((5,), float(i)).share_memory_() for i in range(300)]
    assert open_files() == before and [y[4].item() for y in more] == list(range(300)) and x.sum() == 0


def test_a_fork_does_not_use_the_room_of_its_parent():
    first = ag.zeros(3).share_memory_()
    pid = os.fork()
    if pid == 0:
        ag.full((3,), 9.0).share_memory_()
        os._exit(0)
    os.waitpid(pid, 0)
    block, start, _ = _shared_memory.place_of(first)
    assert not any(block[start : _shared_memory.COMMON])
    assert ag.zeros(3).share_memory_().tolist() == [0, 0, 0]


def test_where_there_is_no_room_nothing_changes(monkeypatch):
    def refuse(*arguments):
        raise OSError(28, "No space left on device")

    x, before = ag.ones(_shared_memory.SMALL), open_files()
    monkeypatch.setattr(os, "posix_fallocate", refuse, raising=False)
    with pytest.raises(RuntimeError, match=r"unable to allocate shared memory\(shm\) of 262144 bytes: .*No space left"):
        x.share_memory_()
    assert not x.is_shared() and open_files() == before and x.sum() == _shared_memory.SMALL


def test_systems_without_shared_files(monkeypatch):
    monkeypatch.setattr(_shared_memory, "CAN_SHARE", False)
    x = ag.ones(_shared_memory.SMALL)
    with pytest.raises(NotImplementedError, match="POSIX"):
        x.share_memory_()
    rebuild, arguments = reductions.reduce_tensor(x)
    assert rebuild(*arguments).sum() == _shared_memory.SMALL and not x.is_shared()
