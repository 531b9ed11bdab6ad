"""All layers of the table: what comes out, gradients of inputs and parameters, copies, files, and how they are shown."""

import copy
import inspect
import pickle

import numpy as np
import pytest
from layer_rows import ELSEWHERE, ROWS

import autograd_cy as ag

nn = ag.nn

# Layers of files that other tests are about.
OTHER_HOMES = {"container", "lazy", "linear_cross_entropy_options", "module"}

every_row = pytest.mark.parametrize("row", ROWS, ids=[f"{i}-{row.id}" for i, row in enumerate(ROWS)])
with_parameters = pytest.mark.parametrize(
    "row", [row for row in ROWS if row.made is None and "dtype" in inspect.signature(getattr(nn, row.name)).parameters],
    ids=lambda row: row.id,
)  # fmt: skip


def close(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-10, atol=1e-12)


def test_each_layer_has_a_row():
    ours = {name for home, names in nn.modules._HOMES.items() if home not in OTHER_HOMES for name in names}
    assert {row.name for row in ROWS} | ELSEWHERE == ours


@every_row
def test_what_comes_out(row):
    layer = row.make()
    assert layer.training and not layer.eval().training and layer.train().training
    made = row.call(layer.double(), row.draw())
    assert made.shape == row.out and made.dtype == ag.float64
    assert layer.eval() is layer and row.call(layer, row.draw()).shape == row.out


@every_row
def test_gradients_of_inputs_and_parameters(row):
    if not row.smooth:
        pytest.skip("the differences at a step or of numbers that belong together are no gradient")
    layer, inputs = row.make().double(), row.draw()
    leaves = [x for x in inputs if x.requires_grad] + list(layer.parameters())
    assert leaves or row.name == "Dropout"
    assert ag.autograd.gradcheck(lambda *_: row.call(layer, inputs), leaves, fast_mode=True)
    row.call(layer, inputs).sum().backward()
    assert all(p.grad is not None and p.grad.shape == p.shape for p in layer.parameters())


@every_row
def test_float32(row):
    made = row.call(row.make().eval(), [x.detach().float() if x.is_floating_point() else x for x in row.draw()])
    exact = row.call(row.make().double().eval(), row.draw())
    assert made.dtype == ag.float32
    np.testing.assert_allclose(made.detach().numpy(), exact.detach().numpy(), rtol=2e-4, atol=2e-5)


@every_row
def test_state_is_saved_and_loaded(row):
    layer, other = row.make().double().eval(), row.make().double().eval()
    with ag.no_grad():
        for tensor in (*other.parameters(), *other.buffers()):
            tensor.zero_()
    state = layer.state_dict()
    assert str(other.load_state_dict(state)) == "<All keys matched successfully>"
    close(row.call(other, row.draw()), row.call(layer, row.draw()))
    assert set(state) == {name for name, _ in (*layer.named_parameters(), *layer.named_buffers())}


@every_row
@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy, lambda layer: pickle.loads(pickle.dumps(layer))])
def test_copies_and_pickles(row, duplicate):
    layer = row.make().double().eval()
    other = duplicate(layer)
    close(row.call(other, row.draw()), row.call(layer, row.draw()))
    assert type(other) is type(layer) and repr(other) == repr(layer) and vars(other).keys() == vars(layer).keys()


@every_row
def test_repr(row):
    shown = repr(row.make())
    assert shown == row.shown if not row.shown.endswith("(...)") else shown.startswith(f"{row.name}(\n  (")


@with_parameters
def test_dtype_and_device(row):
    layer = row.make(dtype=ag.float64, device="cpu")
    tensors = [t for t in (*layer.parameters(), *layer.buffers()) if t.is_floating_point()]
    assert all(tensor.dtype == ag.float64 for tensor in tensors)
    assert row.call(layer, row.draw()).dtype == ag.float64


@pytest.mark.parametrize("row", [row for row in ROWS if row.unbatched], ids=lambda row: row.id)
def test_without_a_batch(row):
    layer, inputs = row.make().double().eval(), row.draw()
    close(row.call(layer, [x[0] for x in inputs]), row.call(layer, [x[:1] for x in inputs])[0])


@every_row
def test_signature_is_checked(row):
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'nonsense'"):
        getattr(nn, row.name)(*row.args, **row.options, nonsense=1)
    assert getattr(nn, row.name).__doc__.startswith(f"``{row.name}(")
