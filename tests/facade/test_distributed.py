"""torch.distributed of one process, and what trains in it. Everything here holds for PyTorch, too."""

import socket

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(params=["autograd_cy", "torch"])
def torch(request, monkeypatch):
    package = pytest.importorskip(request.param)
    pytest.importorskip(f"{request.param}.distributed")
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    return package


@pytest.fixture
def group(torch, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("MASTER_PORT", str(free.getsockname()[1]))
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    torch.distributed.init_process_group("gloo", rank=0, world_size=1)
    yield torch.distributed
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def test_what_is_asked_before_there_is_a_group(torch):
    dist = torch.distributed
    assert dist.is_available() and not dist.is_initialized() and not dist.is_torchelastic_launched()
    assert not dist.is_nccl_available() and not dist.is_mpi_available() and dist.is_backend_available("gloo")
    assert dist.group.WORLD is None and dist.GroupMember.WORLD is None
    x = torch.ones(2)
    calls = [
        dist.get_rank, dist.get_world_size, dist.get_backend, dist.barrier, lambda: dist.all_reduce(x),
        lambda: dist.broadcast_object_list([1]), lambda: dist.all_gather_object([None], 1),
        lambda: dist.broadcast(x, 0), lambda: dist.new_group([0]), lambda: dist.send(x, 1),
        lambda: torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1)),
        lambda: torch.utils.data.distributed.DistributedSampler([1, 2]),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(ValueError, match="Default process group has not been initialized, please make sure to call"):
            call()
    with pytest.raises(ValueError, match="environment variable RANK expected, but not set"):
        dist.init_process_group("gloo")
    with pytest.raises(AssertionError):
        dist.destroy_process_group()
    assert dist.get_node_local_rank(3) == 3
    with pytest.raises(RuntimeError, match="LOCAL_RANK is not in the environment"):
        dist.get_node_local_rank()


def test_a_group_of_one(torch, group):
    assert (group.get_rank(), group.get_world_size(), group.get_backend(), group.is_initialized()) == (0, 1, "gloo", True)
    assert group.get_process_group_ranks(None) == [0] and group.group.WORLD is not None
    with pytest.raises(ValueError, match="twice"):
        group.init_process_group("gloo", rank=0, world_size=1)
    group.destroy_process_group()
    assert not group.is_initialized()


def test_its_size_may_stand_in_the_environment(torch, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("MASTER_PORT", str(free.getsockname()[1]))
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "LOCAL_RANK": "0"}.items():
        monkeypatch.setenv(name, value)
    torch.distributed.init_process_group()
    assert torch.distributed.get_world_size() == 1 and torch.distributed.get_node_local_rank() == 0
    torch.distributed.destroy_process_group()


def test_collectives_of_one(torch, group):
    x, y = torch.tensor([1.0, 2.0]), torch.zeros(2)
    for call in (group.all_reduce, lambda t: group.broadcast(t, 0), lambda t: group.reduce(t, 0),
                 lambda t: group.all_reduce(t, op=group.ReduceOp.MAX)):  # fmt: skip
        assert call(x) is None and x.tolist() == [1.0, 2.0]
    for write in (lambda: group.all_gather([y], x), lambda: group.gather(x, [y]), lambda: group.scatter(y, [x]),
                  lambda: group.all_gather_into_tensor(y, x), lambda: group.reduce_scatter(y, [x]),
                  lambda: group.all_to_all([y], [x]), lambda: group.all_to_all_single(y, x)):  # fmt: skip
        y.zero_()
        assert write() is None and y.tolist() == [1.0, 2.0]
    objects = [None]
    group.all_gather_object(objects, {"a": 1})
    assert objects == [{"a": 1}]
    group.broadcast_object_list(objects, src=0)
    work = group.all_reduce(x, async_op=True)
    assert work.wait() and work.is_completed() and group.barrier() is None
    with pytest.raises(RuntimeError, match="invalid root rank: 1"):
        group.broadcast(x, 1)
    with pytest.raises(ValueError):
        group.send(x, 0)


def test_a_module_trains(torch, group):
    module = torch.nn.Linear(2, 2)
    parallel = torch.nn.parallel.DistributedDataParallel(module)
    assert parallel.module is module and list(parallel.state_dict()) == ["module.weight", "module.bias"]
    assert parallel.device_ids is None and parallel.require_backward_grad_sync
    with parallel.no_sync():
        assert not parallel.require_backward_grad_sync
    parallel(torch.ones(1, 2)).sum().backward()
    assert module.weight.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    with pytest.raises(RuntimeError, match="is not needed when a module doesn't have any parameter that requires a gradient"):
        torch.nn.parallel.DistributedDataParallel(torch.nn.ReLU())
    with pytest.raises(AttributeError):
        parallel.weight  # noqa: B018


def test_data_parallel(torch):
    module = torch.nn.Linear(2, 2)
    for parallel in (torch.nn.DataParallel(module), torch.nn.parallel.DataParallel(module, device_ids=[0])):
        assert parallel.module is module and parallel.device_ids == [] and not hasattr(parallel, "dim")
        assert list(parallel.state_dict()) == ["module.weight", "module.bias"]
        assert torch.equal(parallel(torch.ones(1, 2)), module(torch.ones(1, 2)))


def test_arguments_for_several_devices():
    # PyTorch's functions take graphics cards alone.
    import autograd_cy as torch
    from autograd_cy.nn.parallel.parallel_apply import parallel_apply
    from autograd_cy.nn.parallel.replicate import replicate
    from autograd_cy.nn.parallel.scatter_gather import gather, scatter, scatter_kwargs

    x, two = torch.arange(4.0), ["cpu", torch.device("cpu")]
    assert [part.tolist() for part in scatter(x, two)] == [[0.0, 1.0], [2.0, 3.0]]
    assert scatter((), two) == [(), ()] and scatter(3, two) == [3, 3]
    first, second = scatter({"x": x, "more": [(x, "name")]}, two)
    assert first["more"][0][1] == second["more"][0][1] == "name"
    assert second["more"][0][0].tolist() == second["x"].tolist() == [2, 3]
    assert scatter_kwargs((3,), None, two) == (((3,), (3,)), ({}, {}))
    assert scatter_kwargs((), {"a": 1}, two) == (((), ()), ({"a": 1}, {"a": 1}))
    assert torch.equal(gather(parallel_apply(replicate(torch.nn.ReLU(), two), scatter(x, two)), "cpu"), x)
    with pytest.raises(AssertionError, match="CUDA"):
        scatter(x, ["cuda:0"])


SAMPLERS = [(7, 3, 1, False), (7, 3, 1, True), (2, 5, 3, False), (6, 2, 0, False), (5, 1, 0, True), (0, 2, 1, False)]


@pytest.mark.parametrize(("size", "replicas", "rank", "drops"), SAMPLERS)
def test_a_part_of_the_samples(size, replicas, rank, drops):
    import autograd_cy as ag

    theirs = pytest.importorskip("torch")
    made = [
        package.utils.data.distributed.DistributedSampler(range(size), replicas, rank, shuffle=False, drop_last=drops)
        for package in (ag, theirs)
    ]
    assert len(made[0]) == len(made[1]) and made[0].total_size == made[1].total_size
    if size:
        assert list(made[0]) == list(made[1])


def test_all_parts_are_all_samples(torch):
    sampler = torch.utils.data.distributed.DistributedSampler
    parts = [sampler(range(9), 3, rank, seed=1) for rank in range(3)]
    assert sorted(i for part in parts for i in part) == list(range(9))
    before = list(parts[0])
    assert before == list(parts[0])
    for part in parts:
        part.set_epoch(1)
    assert sorted(i for part in parts for i in part) == list(range(9)) and before != list(parts[0])
    with pytest.raises(ValueError, match=r"Invalid rank 3, rank should be in the interval \[0, 2\]"):
        sampler(range(9), 3, 3)
    loader = torch.utils.data.DataLoader(range(9), batch_size=2, sampler=parts[1])
    assert [len(batch) for batch in loader] == [2, 1]
