"""Recurrent layers and cells, and sequences that are padded or packed."""

import copy
import pickle

import numpy as np
import op_rows_recurrent as reference
import pytest

import autograd_cy as ag
from autograd_cy.nn.utils import rnn as sequences

KINDS = {"LSTM": "lstm", "GRU": "gru", "RNN": "rnn_tanh"}
LENGTHS = [4, 2, 2, 1]


def network(kind, dtype=ag.float64, **options):
    ag.manual_seed(0)
    return getattr(ag.nn, kind)(3, 5, dtype=dtype, **options)


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def arrays(tensors):
    return [x.detach().numpy() for x in tensors]


def states_in(hx):
    return list(hx) if isinstance(hx, tuple) else [hx]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [
    {}, {"num_layers": 2}, {"bidirectional": True}, {"num_layers": 2, "bidirectional": True, "bias": False},
])  # fmt: skip
def test_lstm_gru_and_rnn_are_a_loop_over_the_steps(kind, options):
    net = network(kind, **options)
    x = numbers(6, 2, 3)
    output, states = net(ag.tensor(x))
    each = net.num_layers * (1 + net.bidirectional)
    zeros = [np.zeros((each, 2, 5))] * (2 if kind == "LSTM" else 1)
    expected, ends = reference.network(
        KINDS[kind], list(np.swapaxes(x, 0, 1)), zeros, arrays(net._flat_weights), net.bias, net.num_layers, net.bidirectional)
    np.testing.assert_allclose(output.detach().numpy(), np.stack(expected, 1), rtol=1e-12, atol=1e-12)
    for state, end in zip(states_in(states), ends, strict=True):
        np.testing.assert_allclose(state.detach().numpy(), end, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("hidden", [1, 31, 32, 33, 70])
@pytest.mark.parametrize("kind", reference.GATES)
def test_blocks_of_units_in_float32(kind, hidden):
    """Loops take units in blocks of 32; the rest of a sample's row is a shorter one."""
    rng = np.random.default_rng(1)
    hx = tuple(rng.normal(size=(3, hidden)) for _ in range(2 if kind == "lstm" else 1))
    x, weights = rng.normal(size=(3, 4)), [rng.normal(size=s) * 0.3 for s in ((reference.GATES[kind] * hidden, 4),
                                                                              (reference.GATES[kind] * hidden, hidden))]
    given = [ag.tensor(a, dtype=ag.float32, requires_grad=True) for a in (x, *hx, *weights)]
    states = given[1:1 + len(hx)]
    found = getattr(ag, f"{kind}_cell")(given[0], states if kind == "lstm" else states[0], *given[1 + len(hx):])
    found = list(found) if kind == "lstm" else [found]
    for y, expected in zip(found, reference.cell(kind, x, hx, *weights), strict=True):
        np.testing.assert_allclose(y.detach().numpy(), expected, rtol=1e-5, atol=2e-6)
    loss = sum((y * y).sum() for y in found)
    fused = ag.autograd.grad(loss, given, retain_graph=True)
    for by_loop, by_operations in zip(fused, ag.autograd.grad(loss, given, create_graph=True), strict=True):
        np.testing.assert_allclose(by_loop.numpy(), by_operations.detach().numpy(), rtol=2e-4, atol=2e-5)


def test_values_that_are_large_or_not_a_number():
    h = ag.rnn_tanh_cell(ag.tensor([[1.0], [-1.0], [float("nan")]]), ag.zeros(3, 1), ag.full((1, 1), 1e6), ag.ones(1, 1))
    np.testing.assert_array_equal(h.numpy(), [[1], [-1], [np.nan]])
    h = ag.rnn_relu_cell(ag.tensor([[1.0], [-1.0], [float("nan")]]), ag.zeros(3, 1), ag.ones(1, 1), ag.ones(1, 1))
    np.testing.assert_array_equal(h.numpy(), [[1], [0], [np.nan]])
    h, c = ag.lstm_cell(ag.full((1, 1), 1e6), (ag.zeros(1, 1), ag.ones(1, 1)), ag.ones(4, 1), ag.ones(4, 1))
    assert c.item() == 2


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_by_finite_differences(kind):
    net = network(kind, num_layers=2, bidirectional=True)
    x = ag.tensor(numbers(3, 2, 3), requires_grad=True)
    names = [name for name, _ in net.named_parameters()]

    def run(x, *parameters):
        output, states = ag.func.functional_call(net, dict(zip(names, parameters, strict=True)), (x,))
        return (output, *states_in(states))

    parameters = [p.detach()[:1].expand_as(p).clone().requires_grad_() if i % 3 else p for i, p in enumerate(net.parameters())]
    assert ag.autograd.gradcheck(run, (x, *parameters), fast_mode=True)
    assert ag.autograd.gradgradcheck(run, (x, *parameters), fast_mode=True)


@pytest.mark.parametrize("options", [{}, {"bidirectional": True}, {"num_layers": 2, "bidirectional": True}])
@pytest.mark.parametrize("kind", KINDS)
def test_packed_sequences_are_each_sequence_alone(kind, options):
    net = network(kind, **options)
    parts = [ag.tensor(numbers(n, 3, seed=n), requires_grad=True) for n in LENGTHS]
    packed, states = net(sequences.pack_sequence(parts))
    outputs = sequences.unpack_sequence(packed)
    alone = [net(part) for part in parts]
    for k, (output, (expected, ends)) in enumerate(zip(outputs, alone, strict=True)):
        np.testing.assert_allclose(output.detach().numpy(), expected.detach().numpy(), rtol=1e-12)
        for state, end in zip(states_in(states), states_in(ends), strict=True):
            np.testing.assert_allclose(state[:, k].detach().numpy(), end.detach().numpy(), rtol=1e-12)
    leaves = [*parts, *net.parameters()]
    together = ag.autograd.grad(sum((y * y).sum() for y in outputs) + states_in(states)[-1].sum(), leaves)
    apart = ag.autograd.grad(sum((y * y).sum() + states_in(ends)[-1].sum() for y, ends in alone), leaves)
    for a, b in zip(together, apart, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_sequences_and_their_states_is_theirs(kind):
    net = network(kind, bidirectional=True)
    parts = [ag.tensor(numbers(n, 3, seed=n)) for n in (1, 3, 2)]
    hx = ag.tensor(numbers(2, 3, 5))
    hx = (hx, hx * 2) if kind == "LSTM" else hx
    packed, states = net(sequences.pack_sequence(parts, enforce_sorted=False), hx)
    for k, (output, part) in enumerate(zip(sequences.unpack_sequence(packed), parts, strict=True)):
        own = tuple(s[:, k] for s in hx) if kind == "LSTM" else hx[:, k]
        expected, ends = net(part, own)
        np.testing.assert_allclose(output.detach().numpy(), expected.detach().numpy(), rtol=1e-12)
        h, end = states_in(states)[0][:, k], states_in(ends)[0]
        np.testing.assert_allclose(h.detach().numpy(), end.detach().numpy(), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_batch_first_and_without_a_batch(kind):
    net = network(kind)
    other = network(kind, batch_first=True)
    x = ag.tensor(numbers(4, 2, 3))
    output, _ = net(x)
    turned, same = other(x.transpose(0, 1))
    np.testing.assert_array_equal(turned.transpose(0, 1).detach().numpy(), output.detach().numpy())
    alone, end = other(x[:, 1])
    np.testing.assert_allclose(alone.detach().numpy(), output[:, 1].detach().numpy(), rtol=1e-12)
    assert states_in(end)[0].shape == (1, 5) and states_in(same)[0].shape == (1, 2, 5)


def test_a_projection_makes_h_smaller():
    net = network("LSTM", proj_size=2, bidirectional=True)
    x = numbers(4, 2, 3)
    output, (h, c) = net(ag.tensor(x))
    assert h.shape == (2, 2, 2) and c.shape == (2, 2, 5) and output.shape == (4, 2, 4)
    zeros = [np.zeros((2, 2, 2)), np.zeros((2, 2, 5))]
    expected, _ = reference.network("lstm", list(np.swapaxes(x, 0, 1)), zeros, arrays(net._flat_weights), True, 1, True)
    np.testing.assert_allclose(output.detach().numpy(), np.stack(expected, 1), rtol=1e-12)
    assert ag.autograd.gradcheck(lambda x: net(x)[0], ag.tensor(x, requires_grad=True))


@pytest.mark.parametrize("kind", reference.GATES)
def test_cells_under_vmap_and_in_forward_mode(kind):
    rng = np.random.default_rng(2)
    rows = reference.GATES[kind] * 3
    weights = [ag.tensor(rng.normal(size=s)) for s in ((rows, 2), (rows, 3), (rows,), (rows,))]
    x, h = ag.tensor(rng.normal(size=(4, 5, 2))), ag.tensor(rng.normal(size=(4, 5, 3)))

    def run(x, h):
        found = getattr(ag, f"{kind}_cell")(x, (h, h) if kind == "lstm" else h, *weights)
        return found[1] if kind == "lstm" else found

    together = ag.func.vmap(run)(x, h)
    for k in range(4):
        np.testing.assert_allclose(together[k].numpy(), run(x[k], h[k]).numpy(), rtol=1e-12)
    t = ag.tensor(rng.normal(size=(5, 2)))
    _, tangent = ag.func.jvp(lambda x: run(x, h[0]), (x[0],), (t,))
    difference = (run(x[0] + 1e-6 * t, h[0]) - run(x[0] - 1e-6 * t, h[0])) / 2e-6
    np.testing.assert_allclose(tangent.numpy(), difference.numpy(), rtol=1e-6, atol=1e-8)


def test_dropout_between_layers_only_and_in_training_only():
    net = network("GRU", num_layers=2, dropout=0.5)
    x = ag.tensor(numbers(4, 2, 3))
    assert not ag.equal(net(x)[0], net(x)[0])
    np.testing.assert_array_equal(net(x)[1][0].detach().numpy(), net(x)[1][0].detach().numpy())
    net.eval()
    assert ag.equal(net(x)[0], net(x)[0])
    net = network("LSTM", num_layers=2, dropout=1.0)
    np.testing.assert_allclose(net(x)[0].detach().numpy(), net(0 * x)[0].detach().numpy())


def test_a_graph_that_was_freed_or_whose_weights_were_written_is_an_error():
    net, x = network("LSTM"), ag.tensor(numbers(4, 2, 3))
    loss = net(x)[0].sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()
    loss = net(x)[0].sum()
    with ag.no_grad():
        net.weight_hh_l0.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("kind", KINDS)
def test_hooks_pack_all_that_a_layer_saves(kind):
    """What the steps leave behind, a row for each step of each sample, was kept past them."""
    net, x = network(kind, num_layers=2), ag.tensor(numbers(6, 2, 3), requires_grad=True)
    inputs, packed = [x, *net.parameters()], []
    expected = ag.autograd.grad(net(x)[0].sin().sum(), inputs)

    def pack(tensor):
        packed.append(tensor)
        return tensor.numpy().tobytes(), tensor.numpy().shape

    with ag.autograd.graph.saved_tensors_hooks(pack, lambda kept: ag.tensor(np.frombuffer(kept[0]).reshape(kept[1]).copy())):
        y = net(x)[0].sin().sum()
    rows = [tuple(t.shape) for t in packed if t.ndim == 2 and t.shape[0] == 12]
    left = {"LSTM": [(12, 20), (12, 5), (12, 5)], "GRU": [(12, 15), (12, 5), (12, 5)], "RNN": [(12, 5), (12, 5)]}[kind]
    assert rows == left * 2
    found = ag.autograd.grad(y, inputs, retain_graph=True)
    again = ag.autograd.grad(y, inputs)
    for a, b, c in zip(found, again, expected, strict=True):
        assert a.tolist() == b.tolist() == c.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_hooks_that_return_something_else(kind):
    net, x = network(kind), ag.tensor(numbers(4, 2, 3))
    with ag.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t[1:] if t.shape == (8, 5) else t):
        y = net(x)[0].sum()
    with pytest.raises(RuntimeError, match="unpack_hook expected to be a Tensor of shape"):
        y.backward()


@pytest.mark.parametrize("kind", KINDS)
def test_a_checkpoint_of_a_network(kind):
    net, x = network(kind), ag.tensor(numbers(4, 2, 3), requires_grad=True)
    inputs = [x, *net.parameters()]
    expected = ag.autograd.grad(net(x)[0].sin().sum(), inputs)
    y = ag.utils.checkpoint.checkpoint(lambda x: net(x)[0].sin(), x, use_reentrant=False)
    for a, b in zip(ag.autograd.grad(y.sum(), inputs), expected, strict=True):
        assert a.tolist() == b.tolist()


def test_a_network_is_copied_and_pickled():
    net, x = network("LSTM", num_layers=2), ag.tensor(numbers(4, 2, 3))
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert ag.equal(other(x)[0], net(x)[0])
        assert [len(names) for names in other.all_weights] == [4, 4]


@pytest.mark.parametrize(("sizes", "message"), [
    ([2, 2], "batch_sizes tells of 2"), ([1, 2, 1], "none is larger"), ([], "vector of positive"), ([0, 4], "positive"),
    ([5], "batch_sizes tells of 5"), ([2, -1, 3], "positive"), ([2, 2**62], "none is larger"),
])  # fmt: skip
def test_batch_sizes_that_do_not_fit_are_refused(sizes, message):
    weights = [ag.zeros(4, 3), ag.zeros(4, 4)]
    with pytest.raises(RuntimeError, match=message):
        ag.rnn_tanh(ag.zeros(5, 3), ag.tensor(sizes, dtype=ag.int64), ag.zeros(1, 2, 4), weights, False, 1, 0.0, False, False)


@pytest.mark.parametrize("shapes", [
    ((16, 3), (16, 5), (16,), (16,)), ((16, 3), (15, 4), (16,), (16,)), ((16, 3), (16, 4), (15,), (16,)),
    ((16, 3), (16, 4), (16,), (1,)), ((16,), (16, 4), (16,), (16,)), ((16, 3), (16, 4), (16, 1), (16,)),
    ((16, 2), (16, 4), (16,), (16,)), ((12, 3), (12, 4), (12,), (12,)),
])  # fmt: skip
def test_parameters_of_other_sizes_are_refused(shapes):
    state = ag.zeros(1, 2, 4)
    with pytest.raises(RuntimeError):
        ag.lstm(ag.zeros(5, 2, 3), (state, state), [ag.zeros(s) for s in shapes], True, 1, 0.0, False, False, False)


def test_pad_sequence_on_either_side():
    parts = [ag.tensor([1.0, 2.0, 3.0]), ag.tensor([4.0])]
    assert sequences.pad_sequence(parts, True, -1.0).tolist() == [[1, 2, 3], [4, -1, -1]]
    assert sequences.pad_sequence(parts, True, -1.0, "left").tolist() == [[1, 2, 3], [-1, -1, 4]]
    assert sequences.pad_sequence(parts).shape == (3, 2)


def test_packing_and_padding_are_differentiable_and_undo_each_other():
    x = ag.tensor(numbers(4, 3, 2), requires_grad=True)

    def there_and_back(x):
        packed = sequences.pack_padded_sequence(x, [1, 4, 2], enforce_sorted=False)
        padded, lengths = sequences.pad_packed_sequence(packed, total_length=5)
        assert lengths.tolist() == [1, 4, 2]
        return padded

    y = there_and_back(x)
    assert y.shape == (5, 3, 2) and ag.equal(y[:4, 1], x[:, 1]) and not y[1:, 0].any() and not y[2:, 2].any()
    assert ag.autograd.gradcheck(there_and_back, x)


def test_a_packed_sequence_converts_its_data():
    packed = sequences.pack_sequence([ag.ones(2), ag.ones(1)])
    assert packed.double().data.dtype is ag.float64 and packed.to(ag.float32) is packed
    assert packed.long().batch_sizes is packed.batch_sizes and not packed.is_cuda
    data, batch_sizes, order, back = packed
    assert order is None and back is None and sequences.PackedSequence((data, batch_sizes)).data is data


def test_flat_weights_can_be_set():
    """As weight dropping and meta-learning do: forward() computes with other tensors, the parameters stay."""
    net, x = network("LSTM", num_layers=2), ag.tensor(numbers(4, 2, 3))
    before = net(x)[0]
    tripled = [3.0 * w for w in net._flat_weights]
    net._flat_weights = tripled
    output = net(x)[0]
    given = dict(zip(net._flat_weights_names, tripled, strict=True))
    expected = ag.func.functional_call(network("LSTM", num_layers=2), given, (x,))[0]
    np.testing.assert_array_equal(output.detach().numpy(), expected.detach().numpy())
    assert all(type(p) is ag.nn.Parameter for p in net.parameters()) and len(net.state_dict()) == 8
    output.sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    net._flat_weights = list(net.parameters())
    assert ag.equal(net(x)[0], before)
    with pytest.raises(ValueError, match=r"expected 8 weights .*got 1"):
        net._flat_weights = tripled[:1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"input_size": 0.5}, TypeError, "input_size should be of type int, got: float"),
        ({"input_size": 0}, ValueError, "input_size must be greater than zero"),
        ({"input_size": -1}, ValueError, "input_size must be greater than zero"),
        ({"bias": 0}, TypeError, "bias should be of type bool, got: int"),
        ({"batch_first": None}, TypeError, "batch_first should be of type bool, got: NoneType"),
    ],
)
def test_wrong_arguments_of_networks_are_refused(kind, options, error, message):
    with pytest.raises(error, match=message):
        getattr(ag.nn, kind)(**{"input_size": 3, "hidden_size": 5} | options)


@pytest.mark.parametrize("kind", KINDS)
def test_cells_refuse_states_with_and_without_a_batch_alike(kind):
    # a state of another rank than the input was an IndexError
    cell, pair = getattr(ag.nn, f"{kind}Cell")(3, 4), (lambda h: (h, h)) if kind == "LSTM" else (lambda h: h)
    with pytest.raises(RuntimeError, match="Input batch size 2 doesn't match hidden0 batch size 4"):
        cell(ag.ones(2, 3), pair(ag.ones(4)))
    with pytest.raises(RuntimeError, match="hidden0 has inconsistent hidden_size: got 1, expected 4"):
        cell(ag.ones(3), pair(ag.ones(1, 4)))


@pytest.mark.parametrize("enforce_sorted", [True, False])
@pytest.mark.parametrize("lengths", [[], [1], ag.ones(2, 3, 4)])
def test_empty_tensors_are_not_packed(lengths, enforce_sorted):
    """That is said before what is wrong about the lengths."""
    with pytest.raises(RuntimeError, match="Cannot pack empty tensors"):
        ag.nn.utils.rnn.pack_padded_sequence(ag.zeros(0, 1, 10), lengths, enforce_sorted=enforce_sorted)
