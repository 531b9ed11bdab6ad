"""torch.ops and torch.library: operations by name and overload, and those of users."""

import copy
import pickle

import pytest

import autograd_cy as torch
from autograd_cy import library
from autograd_cy._core.ops.operations import OPS

x = torch.tensor([1.0, 2.0])


def test_overloads_are_the_function():
    aten = torch.ops.aten
    assert aten.mul.Tensor(x, x).tolist() == [1.0, 4.0] and aten.mul.Scalar(x, 3).tolist() == [3.0, 6.0]
    assert aten.add(x, x, alpha=2).tolist() == [3.0, 6.0] and aten.relu.default(-x).tolist() == [0.0, 0.0]
    assert aten.sum.dim_IntList(x.reshape(1, 2), [0]).tolist() == [1.0, 2.0]
    assert aten.slice.Tensor(x, 0, 1, 2).tolist() == [2.0] and aten._softmax.default(x * 0, 0, False).tolist() == [0.5, 0.5]
    assert aten.linalg_inv.default(torch.eye(2)).tolist() == torch.eye(2).tolist()
    out = torch.empty(2)
    assert aten.add.out(x, x, out=out) is out
    assert aten.add_.Tensor(x.clone(), 1).tolist() == [2.0, 3.0] and aten.zeros.default([2]).tolist() == [0.0, 0.0]


def test_each_operation_is_in_aten():
    for op in OPS.values():
        if op.namespace != "Tensor":
            name = op.name if op.namespace in ("", "nn.functional") else f"{op.namespace}_{op.name}"
            packet = getattr(torch.ops.aten, name)
            assert packet.overloads() and callable(packet.op)


def test_what_overloads_say_of_themselves():
    op = torch.ops.aten.add.Tensor
    assert (str(op), op.name(), op.__name__, op.namespace) == ("aten.add.Tensor", "aten::add.Tensor", "add.Tensor", "aten")
    assert torch.ops.aten.relu.default.name() == "aten::relu" and op.overloadpacket is torch.ops.aten.add
    assert repr(op.overloadpacket) == "<OpOverloadPacket(op='aten.add')>" and "Scalar" in op.overloadpacket.overloads()
    assert op is torch.ops.aten.add.Tensor and isinstance(op, torch._ops.OpOverload)
    assert pickle.loads(pickle.dumps(op)) is op and copy.deepcopy(op) is op
    with pytest.raises(AttributeError, match=r"The underlying op of 'aten\.add' has no overload name 'nothing'"):
        torch.ops.aten.add.nothing  # noqa: B018
    with pytest.raises(AttributeError, match="'_OpNamespace' 'aten' object has no attribute 'nothing'"):
        torch.ops.aten.nothing  # noqa: B018


@pytest.fixture
def scaled():
    @library.custom_op("tests::scaled", mutates_args=())
    def scaled(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
        return torch.from_numpy(x.detach().numpy() * by)

    return scaled


def test_an_operation_of_ones_own(scaled):
    assert scaled(x).tolist() == torch.ops.tests.scaled(x).tolist() == [2.0, 4.0]
    assert torch.ops.tests.scaled.default(x, by=3.0).tolist() == [3.0, 6.0]


def test_its_derivative(scaled):
    leaf = x.clone().requires_grad_()
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        scaled(leaf).sum().backward()

    def setup_context(ctx, inputs, output):
        ctx.by = inputs[1]

    library.register_autograd("tests::scaled", lambda ctx, g: g * ctx.by, setup_context=setup_context)
    scaled(leaf, 3.0).sum().backward()
    assert leaf.grad.tolist() == [3.0, 3.0]
    library.register_fake("tests::scaled", lambda x, by=2.0: torch.empty_like(x))
    assert set(library.opcheck(scaled, (leaf,)).values()) == {"SUCCESS"}


def test_it_is_one_node_of_a_traced_function(scaled):
    traced = torch.fx.symbolic_trace(lambda x: scaled(x, 3.0) + 1)
    assert "scaled_default = torch.ops.tests.scaled.default(x, 3.0)" in traced.code
    assert traced(x).tolist() == [4.0, 7.0]


def test_what_opcheck_finds(scaled):
    library.register_fake("tests::scaled", lambda x, by=2.0: torch.empty(3))
    with pytest.raises(RuntimeError, match="The fake of tests::scaled"):
        library.opcheck(scaled, (x,))

    @library.custom_op("tests::sly", mutates_args=())
    def sly(x: torch.Tensor) -> torch.Tensor:
        return x.add_(1).clone()

    assert isinstance(library.opcheck(sly, (x.clone(),), raise_exception=False)["test_schema"], RuntimeError)


def test_what_it_writes_into():
    @library.custom_op("tests::filled", mutates_args={"x"})
    def filled(x: torch.Tensor, value: float) -> None:
        x.fill_(value)

    y = x.clone()
    filled(y, 5.0)
    assert y.tolist() == [5.0, 5.0]


def test_a_library():
    lib = library.Library("tests2", "DEF")
    lib.define("halved(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match="no kernel"):
        torch.ops.tests2.halved(x)
    lib.impl("halved", lambda x: x / 2, "CPU")
    assert torch.ops.tests2.halved(x).tolist() == [0.5, 1.0]
    library.define("tests2::more", "(Tensor x) -> Tensor")

    @library.impl("tests2::more", "default")
    def more(x):
        return x + 1

    assert torch.ops.tests2.more.default(x).tolist() == [2.0, 3.0]
    lib._destroy()
    with pytest.raises(AttributeError):
        torch.ops.tests2.halved  # noqa: B018
    with pytest.raises(ValueError):
        library.Library("tests2", "OTHER")
