"""Recurrent layers, cells and packed sequences as PyTorch's: values, gradients, parameters, texts and messages."""

import warnings

import numpy as np
import pytest

import autograd_cy as ag

torch = pytest.importorskip("torch")

NETWORKS = ["RNN", "LSTM", "GRU"]
CELLS = ["RNNCell", "LSTMCell", "GRUCell"]
OPTIONS = [
    {}, {"num_layers": 2, "bidirectional": True, "batch_first": True}, {"bias": False, "num_layers": 2},
    {"dtype": "float64", "bidirectional": True},
]  # fmt: skip


def pair(name, *args, **options):
    """PyTorch's layer and ours, with the same parameters."""
    theirs, ours = [
        getattr(lib.nn, name)(*args, **{k: getattr(lib, v) if k == "dtype" else v for k, v in options.items()})
        for lib in (torch, ag)
    ]
    ours.load_state_dict({k: ag.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    return theirs, ours


def flattened(value):
    """The tensors of nested tuples, packed sequences among them."""
    return [value] if hasattr(value, "detach") else [x for part in value if part is not None for x in flattened(part)]


def compare(theirs, ours, inputs, run):
    """Results and gradients of all inputs and parameters."""
    found = []
    for lib, layer in ((torch, theirs), (ag, ours)):
        x = [lib.tensor(a, requires_grad=True) for a in inputs]
        results = flattened(run(lib, layer, *x))
        floats = [y for y in results if y.dtype.is_floating_point]
        loss = sum((y * (k + y)).sum() for k, y in enumerate(floats))
        gradients = lib.autograd.grad(loss, [*x, *layer.parameters()])
        found.append([y.detach().numpy() for y in (*results, *gradients)])
    for a, b in zip(*found, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(b, a, rtol=1e-9 if a.dtype == np.float64 else 2e-4, atol=1e-5 if a.dtype == "f4" else 1e-12)


def inputs(options, *shapes):
    rng = np.random.default_rng(0)
    return [rng.normal(size=s).astype(options.get("dtype", "float32")) for s in shapes]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", NETWORKS)
def test_networks(name, options):
    theirs, ours = pair(name, 3, 7, **options)
    compare(theirs, ours, inputs(options, (5, 4, 3)), lambda lib, net, x: net(x))
    compare(theirs, ours, inputs(options, (5, 3)), lambda lib, net, x: net(x))
    each = theirs.num_layers * (1 + theirs.bidirectional)
    batch = 5 if theirs.batch_first else 4
    compare(theirs, ours, inputs(options, (5, 4, 3), (each, batch, 7)),
            lambda lib, net, x, h: net(x, (h, h * 2) if name == "LSTM" else h))


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", NETWORKS)
def test_packed(name, options):
    theirs, ours = pair(name, 3, 7, **options)

    def run(lib, net, x):
        packed = lib.nn.utils.rnn.pack_padded_sequence(x, [2, 5, 1, 2], enforce_sorted=False)
        output, states = net(packed)
        return output, states, lib.nn.utils.rnn.pad_packed_sequence(output, padding_value=-1.0)

    compare(theirs, ours, inputs(options, (5, 4, 3)), run)


@pytest.mark.parametrize("options", [{}, {"num_layers": 2}, {"bidirectional": True}, {"bidirectional": True, "num_layers": 2}])
@pytest.mark.parametrize("name", NETWORKS)
def test_names_of_nodes(name, options):
    """Of the steps there is one node; around them it is PyTorch's graph (that of an LSTM there has one node for them, too)."""
    names = []
    for lib, layer in zip((torch, ag), pair(name, 3, 2, **options), strict=True):
        y, states = layer(lib.ones(4, 2, 3))
        names.append([x.grad_fn.name() for x in (y, *(states if name == "LSTM" else (states,)))])
    theirs, ours = names
    if "bidirectional" not in options:
        assert theirs.pop(0) == ("MkldnnRnnLayerBackward0" if name == "LSTM" else "StackBackward0")
        assert ours.pop(0) == "RecurrentLayerBackward0"
    if not options:
        theirs = ["UnsqueezeBackward0"] * len(theirs)  # a view, not a copy
    assert ours == theirs


@pytest.mark.filterwarnings("ignore:LSTM with projections")
def test_names_of_nodes_of_a_projection():
    theirs, ours = pair("LSTM", 3, 2, proj_size=1)
    names = [layer(lib.ones(4, 2, 3))[0].grad_fn.name() for lib, layer in ((torch, theirs), (ag, ours))]
    assert names == ["StackBackward0"] * 2


@pytest.mark.filterwarnings("ignore:LSTM with projections")
def test_projection():
    theirs, ours = pair("LSTM", 3, 7, proj_size=2, num_layers=2, bidirectional=True)
    compare(theirs, ours, inputs({}, (5, 4, 3)), lambda lib, net, x: net(x))


def test_relu():
    theirs, ours = pair("RNN", 3, 7, 2, "relu")
    compare(theirs, ours, inputs({}, (5, 4, 3)), lambda lib, net, x: net(x))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", CELLS)
def test_cells(name, bias):
    theirs, ours = pair(name, 3, 7, bias=bias)
    compare(theirs, ours, inputs({}, (4, 3)), lambda lib, cell, x: cell(x))
    compare(theirs, ours, inputs({}, (3,)), lambda lib, cell, x: cell(x))
    compare(theirs, ours, inputs({}, (4, 3), (4, 7)), lambda lib, cell, x, h: cell(x, (h, h * 2) if name == "LSTMCell" else h))


@pytest.mark.parametrize("name", NETWORKS)
def test_second_derivatives(name):
    theirs, ours = pair(name, 2, 3, num_layers=2, dtype="float64")

    def run(lib, net, x):
        gradient, = lib.autograd.grad((net(x)[0] ** 2).sum(), x, create_graph=True)
        return gradient

    compare(theirs, ours, inputs({"dtype": "float64"}, (4, 2, 2)), run)


@pytest.mark.parametrize(("name", "args", "options"), [
    ("LSTM", (3, 4), {}), ("LSTM", (3, 4, 2), {"bias": False, "batch_first": True, "dropout": 0.5, "bidirectional": True}),
    ("LSTM", (3, 4), {"proj_size": 2}), ("GRU", (3, 4, 1), {"batch_first": True}), ("RNN", (3, 4), {"nonlinearity": "relu"}),
    ("RNNCell", (3, 4), {"nonlinearity": "relu"}), ("LSTMCell", (3, 4, False), {}), ("GRUCell", (3, 4), {}),
])  # fmt: skip
def test_parameters_and_texts(name, args, options):
    torch.manual_seed(0)
    ag.manual_seed(1)
    theirs, ours = getattr(torch.nn, name)(*args, **options), getattr(ag.nn, name)(*args, **options)
    assert repr(ours) == repr(theirs)
    for (key, a), (other, b) in zip(theirs.named_parameters(), ours.named_parameters(), strict=True):
        assert key == other and tuple(a.shape) == tuple(b.shape)
        bound = theirs.hidden_size ** -0.5
        assert b.abs().max() <= bound and b.abs().max() > bound / 2
    if hasattr(theirs, "all_weights"):
        a, b = [[[tuple(w.shape) for w in ws] for ws in net.all_weights] for net in (theirs, ours)]
        assert a == b


def outcome(call, lib):
    """What a call raises, or the warnings that it gives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call(lib)
        except Exception as error:
            return type(error).__name__, str(error).replace("torch.", "").replace("autograd_cy.", "")
    return [str(w.message) for w in caught]


def lstm(lib, *args, **kwargs):
    return lib.nn.LSTM(3, 4, *args, **kwargs)


MISTAKES = {
    "dropout": lambda lib: lstm(lib, 2, dropout=1.5),
    "dropout is a bool": lambda lib: lstm(lib, 2, dropout=True),
    "dropout of one layer": lambda lib: lstm(lib, dropout=0.5),
    "hidden_size is a float": lambda lib: lib.nn.GRU(3, 4.0),
    "hidden_size": lambda lib: lib.nn.GRU(3, 0),
    "num_layers": lambda lib: lstm(lib, 0),
    "proj_size below 0": lambda lib: lstm(lib, proj_size=-1),
    "proj_size too large": lambda lib: lstm(lib, proj_size=4),
    "proj_size of GRU": lambda lib: lib.nn.GRU(3, 4, proj_size=2),
    "proj_size of RNN": lambda lib: lib.nn.RNN(3, 4, proj_size=2),
    "mode": lambda lib: lib.nn.RNNBase("X", 3, 4),
    "nonlinearity": lambda lib: lib.nn.RNN(3, 4, nonlinearity="x"),
    "rank": lambda lib: lstm(lib)(lib.ones(3)),
    "rank of GRU": lambda lib: lib.nn.GRU(3, 4)(lib.ones(1, 1, 1, 3)),
    "type": lambda lib: lstm(lib)(lib.ones(2, 1, 3, dtype=lib.float64)),
    "size": lambda lib: lstm(lib)(lib.ones(2, 1, 5)),
    "no steps": lambda lib: lstm(lib)(lib.ones(0, 1, 3)),
    "h": lambda lib: lib.nn.GRU(3, 4)(lib.ones(2, 1, 3), lib.ones(1, 2, 4)),
    "h of LSTM": lambda lib: lstm(lib)(lib.ones(2, 1, 3), (lib.ones(1, 2, 4), lib.ones(1, 1, 4))),
    "c of LSTM": lambda lib: lstm(lib)(lib.ones(2, 1, 3), (lib.ones(1, 1, 4), lib.ones(1, 1, 5))),
    "rank of h": lambda lib: lib.nn.GRU(3, 4)(lib.ones(2, 1, 3), lib.ones(1, 4)),
    "rank of h, unbatched": lambda lib: lib.nn.RNN(3, 4)(lib.ones(2, 3), lib.ones(1, 1, 4)),
    "rank of h of LSTM": lambda lib: lstm(lib)(lib.ones(2, 1, 3), (lib.ones(1, 4), lib.ones(1, 4))),
    "rank of h of LSTM, unbatched": lambda lib: lstm(lib)(lib.ones(2, 3), (lib.ones(1, 1, 4), lib.ones(1, 4))),
    "cell's rank": lambda lib: lib.nn.LSTMCell(3, 4)(lib.ones(1, 1, 3)),
    "cell's state": lambda lib: lib.nn.GRUCell(3, 4)(lib.ones(1, 3), lib.ones(1, 1, 4)),
    "LSTMCell's state": lambda lib: lib.nn.LSTMCell(3, 4)(lib.ones(1, 3), (lib.ones(1, 4), lib.ones(1, 1, 4))),
    "cell's size": lambda lib: lib.nn.GRUCell(3, 4)(lib.ones(1, 2), lib.ones(1, 4)),
    "cell's batch": lambda lib: lib.nn.GRUCell(3, 4)(lib.ones(1, 3), lib.ones(2, 4)),
    "cell's state's size": lambda lib: lib.nn.GRUCell(3, 4)(lib.ones(1, 3), lib.ones(1, 5)),
    "nonlinearity of a cell": lambda lib: lib.nn.RNNCell(3, 4, nonlinearity="x")(lib.ones(1, 3)),
    "parameters": lambda lib: lib.gru(lib.ones(2, 1, 3), lib.ones(1, 1, 4), [lib.ones(12, 3)], False, 1, 0.0, False, False,
                                      False),
    "states": lambda lib: lib.lstm(lib.ones(2, 1, 3), (lib.ones(1, 1, 4),), [lib.ones(16, 3), lib.ones(16, 4)], False, 1, 0.0,
                                   False, False, False),
    "batch sizes are floats": lambda lib: lib.gru(lib.ones(2, 3), lib.ones(2), lib.ones(1, 1, 4),
                                                  [lib.ones(12, 3), lib.ones(12, 4)], False, 1, 0.0, False, False),
    "lengths are not sorted": lambda lib: lib.nn.utils.rnn.pack_padded_sequence(lib.ones(3, 2), [1, 2]),
    "a length is 0": lambda lib: lib.nn.utils.rnn.pack_padded_sequence(lib.ones(3, 2), [1, 0]),
    "number of lengths": lambda lib: lib.nn.utils.rnn.pack_padded_sequence(lib.ones(3, 2), [2, 1, 1]),
    "nothing to pack": lambda lib: lib.nn.utils.rnn.pack_padded_sequence(lib.ones(3, 0), lib.ones(0, dtype=lib.int64)),
    "total_length": lambda lib: lib.nn.utils.rnn.pad_packed_sequence(
        lib.nn.utils.rnn.pack_sequence([lib.ones(3)]), total_length=2),
    "nothing to pad": lambda lib: lib.nn.utils.rnn.pad_sequence([]),
    "padding_side": lambda lib: lib.nn.utils.rnn.pad_sequence([lib.ones(1)], padding_side="x"),
    "not iterable": lambda lib: lib.nn.utils.rnn.pad_sequence(3),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_messages(mistake):
    theirs, ours = outcome(MISTAKES[mistake], torch), outcome(MISTAKES[mistake], ag)
    assert theirs and ours == theirs
