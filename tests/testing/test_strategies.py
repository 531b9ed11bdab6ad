"""Strategies draw what they say, shrink to the smallest, and refuse what they can't draw."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import find as hypothesis_find
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

import autograd_cy as ag
from autograd_cy.testing import _programs, strategies
from autograd_cy.testing._layouts import LAYOUTS
from autograd_cy.testing._programs import Backward, Hook, Leaf, Mode, Op, Program, View, Write
from autograd_cy.testing.strategies import _modules

try:
    import torch
except ImportError:
    torch = None

ALWAYS = settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
FLOATING = [ag.float64, ag.float32, *([ag.bfloat16] if find_spec("ml_dtypes") else []), ag.float16]
COMPLEX = [ag.complex128, ag.complex64]


QUICK = settings(max_examples=2000, database=None, phases=[Phase.generate, Phase.shrink])


def smallest(strategy, condition=lambda x: True):
    return hypothesis_find(strategy, condition, settings=QUICK)


def drawn(strategy, condition):
    """Any example; NoSuchExample is a failure."""
    return hypothesis_find(strategy, condition, settings=settings(QUICK, phases=[Phase.generate]))


def array_of(x):
    return x.detach().numpy()


# tensors


@pytest.mark.parametrize("dtype", [*FLOATING, *COMPLEX, ag.int64, ag.uint8, ag.bool], ids=str)
def test_tensors_have_the_dtype_shape_and_size_of_values_that_was_asked_for(dtype):
    @given(strategies.tensors(dtype, (2, 3)))
    @ALWAYS
    def check(x):
        assert type(x) is ag.Tensor and x.dtype == dtype and x.shape == (2, 3) and not x.requires_grad
        values = np.asarray(x.numpy())
        assert np.isfinite(values).all() and (abs(values.astype(complex)) < 15).all()

    check()


def test_dtypes_are_given_in_any_spelling_or_drawn():
    for dtype in (ag.float32, np.float32, "float32", np.dtype("f4")):
        assert smallest(strategies.tensors(dtype, ())).dtype == ag.float32
    found = strategies.tensors(strategies.dtypes(["integer", "bool"]), requires_grad=True)
    assert not smallest(found, lambda x: x.dtype == ag.bool).requires_grad
    both = strategies.tensors(st.sampled_from([ag.int64, ag.float64]), requires_grad=True)
    assert smallest(both, lambda x: x.dtype == ag.float64).requires_grad


LAID_OUT = {
    "contiguous": lambda a: a.strides == (24, 8) and a.flags.writeable,
    "transposed": lambda a: a.strides == (8, 16),
    "sliced": lambda a: a.strides[1] == 16,
    "negative": lambda a: a.strides == (-24, -8),
    "read-only": lambda a: a.strides == (24, 8) and not a.flags.writeable,
    "expanded": lambda a: a.strides == (24, 0) and (a == a[:, :1]).all(),
}


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("layout", LAID_OUT)
def test_tensors_are_leaves_in_the_layout_that_was_asked_for(layout, requires_grad):
    @given(strategies.tensors(shape=(2, 3), layout=layout, requires_grad=requires_grad))
    @ALWAYS
    def check(x):
        assert x.is_leaf and x.grad_fn is None and x._version == 0 and x.requires_grad == requires_grad
        assert LAID_OUT[layout](array_of(x))

    check()


def test_all_layouts_and_both_flags_are_drawn():
    for layout, is_laid_out in LAID_OUT.items():
        found = smallest(strategies.tensors(shape=(2, 3)), lambda x, fits=is_laid_out: fits(array_of(x)))
        assert found.tolist() == [[0.0] * 3] * 2, layout
    assert smallest(strategies.tensors(requires_grad=st.booleans()), lambda x: x.requires_grad).tolist() == 0.0
    assert not smallest(strategies.tensors(requires_grad=st.booleans())).requires_grad
    only = strategies.tensors(shape=(2, 3), layout=st.sampled_from(["negative", "sliced"]))
    assert array_of(smallest(only)).strides == (-24, -8)


def test_shapes_without_dimensions_and_without_elements_are_drawn_in_every_layout():
    for layout in LAID_OUT:
        assert smallest(strategies.tensors(layout=layout)).shape == ()
        assert smallest(strategies.tensors(layout=layout), lambda x: x.numel() == 0).shape == (0,)


def test_tensors_shrink_to_small_shapes_and_small_integers():
    assert smallest(strategies.tensors()).tolist() == 0.0
    assert smallest(strategies.tensors(), lambda x: x.numel() > 0 and bool((x > 1).any())).tolist() == 2.0
    assert smallest(strategies.tensors(ag.float32), lambda x: x.numel() > 0 and bool((x < -2).any())).tolist() == -3.0
    assert smallest(strategies.tensors(), lambda x: x.ndim == 2 and x.numel() > 1).tolist() in ([[0.0, 0.0]], [[0.0], [0.0]])
    assert smallest(strategies.tensors(ag.int8), lambda x: x.ndim == 1 and bool((x != 0).any())).tolist() == [1]
    assert smallest(strategies.tensors(ag.complex64), lambda x: x.numel() > 0 and bool((x.imag > 0).any())).tolist() == 1j
    assert smallest(strategies.tensors(), lambda x: bool((x % 1 != 0).any())).tolist() < 3


def test_large_tensors_are_drawn():
    assert smallest(strategies.tensors(shape=(100, 100)), lambda x: bool((x > 1).any())).shape == (100, 100)


def test_elements_are_drawn_from_a_strategy():
    @given(strategies.tensors(shape=(4,), elements=st.sampled_from([3.0, 5.0])))
    @ALWAYS
    def check(x):
        assert set(x.tolist()) <= {3.0, 5.0}

    check()


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"dtype": "text"}, TypeError, r"tensors\(\): expected a dtype that tensors have, got 'text'"),
        ({"dtype": "S3"}, TypeError, r"tensors\(\): expected a dtype that tensors have, got 'S3'"),
        ({"dtype": 3}, TypeError, r"dtype must be a dtype, got 3"),
        ({"dtype": None}, TypeError, r"dtype must be a dtype, got None"),
        ({"shape": "abc"}, TypeError, r"tensors\(\): shape must be a shape \(a tuple of ints\), got 'abc'"),
        ({"shape": (2, -1)}, ValueError, r"each size of shape must be at least 0, got -1"),
        ({"shape": (2, 1.0)}, TypeError, r"each size of shape must be an int, got 1.0"),
        ({"elements": 3.0}, TypeError, r"elements must be a strategy of numbers, got 3.0 of type float"),
        ({"requires_grad": 1}, TypeError, r"requires_grad must be a bool, got 1"),
        ({"requires_grad": True, "dtype": ag.int64}, ValueError, r"needs a floating or complex dtype, got torch.int64"),
        ({"layout": "diagonal"}, ValueError, r"layout must be one of 'contiguous', .*'expanded', got 'diagonal'"),
    ],
)
def test_tensors_refuse(arguments, error, text):
    with pytest.raises(error, match=text):
        strategies.tensors(**arguments)


def test_what_strategies_draw_is_checked_too():
    with pytest.raises(ValueError, match="layout must be one of"):
        smallest(strategies.tensors(layout=st.just("diagonal")))
    with pytest.raises(TypeError, match="shape must be a shape"):
        smallest(strategies.tensors(shape=st.just("abc")))


# shapes, dtypes, indices


@given(strategies.shapes(1, 2, 2, 3))
@ALWAYS
def test_shapes_keep_their_bounds(shape):
    assert type(shape) is tuple and 1 <= len(shape) <= 2 and all(2 <= n <= 3 for n in shape)


def test_shapes_shrink():
    assert smallest(strategies.shapes()) == ()
    assert smallest(strategies.shapes(), lambda s: len(s) == 3) == (1, 1, 1)
    assert smallest(strategies.shapes(), lambda s: 0 in s) == (0,)
    assert smallest(strategies.shapes(max_side=0, min_dims=2)) == (0, 0)
    with pytest.raises(NoSuchExample):
        smallest(strategies.shapes(min_side=1), lambda s: 0 in s)


@given(strategies.broadcastable_shapes(3, min_side=0), strategies.broadcastable_shapes((2, 1, 3)))
@ALWAYS
def test_broadcastable_shapes_broadcast(three, one):
    assert len(three) == 3
    np.broadcast_shapes(*three)
    np.broadcast_shapes(one, (2, 1, 3))


def test_broadcastable_shapes_shrink_and_differ():
    assert smallest(strategies.broadcastable_shapes(2)) == ((), ())
    a, b = smallest(strategies.broadcastable_shapes(2), lambda pair: pair[0] != pair[1] and all(pair))
    assert sorted([len(a), len(b)]) in ([1, 1], [1, 2])
    assert smallest(strategies.broadcastable_shapes((3,)), lambda s: s == (3,)) == (3,)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: strategies.shapes(2, 1), ValueError, r"shapes\(\): min_dims must be between 0 and 1, got 2"),
        (lambda: strategies.shapes(min_side=5), ValueError, r"min_side must be between 0 and 4, got 5"),
        (lambda: strategies.shapes(max_dims=1.5), TypeError, r"max_dims must be an int, got 1.5 of type float"),
        (lambda: strategies.broadcastable_shapes(0), ValueError, r"the number of shapes must be at least 1, got 0"),
        (lambda: strategies.broadcastable_shapes("no"), TypeError, r"shapes must be a shape"),
        (lambda: strategies.dtypes("text"), ValueError, r"some of 'floating', 'complex', 'integer', 'bool', got 'text'"),
        (lambda: strategies.dtypes([]), ValueError, r"dtypes\(\): kinds must be some of"),
        (lambda: strategies.dtypes(3), TypeError, r"kinds must be a str or several, got 3"),
        (lambda: strategies.indices(-1), ValueError, r"indices\(\): each size of shape must be at least 0"),
        (lambda: strategies.positive_definite(0), ValueError, r"n must be at least 1, got 0"),
        (lambda: strategies.positive_definite(2, dtype=ag.int64), ValueError, r"floating or complex, got torch.int64"),
        (lambda: strategies.positive_definite(2, layout="expanded"), ValueError, r"layout must be one of .*'read-only', got"),
        (lambda: strategies.distinct((2,), gap=0), ValueError, r"gap must be above 0, got 0"),
        (lambda: strategies.distinct((2,), dtype="complex64"), ValueError, r"dtype must be floating, got torch.complex64"),
        (lambda: strategies.distinct((2,), layout="expanded"), ValueError, r"layout must be one of"),
        (lambda: strategies.away_from("0"), TypeError, r"points must be numbers, got '0'"),
        (lambda: strategies.away_from([None]), TypeError, r"each point must be a number, got None"),
        (lambda: strategies.away_from(0, gap=-1), ValueError, r"a gap of at least 0"),
        (lambda: strategies.away_from(float("nan")), ValueError, r"finite points"),
        (lambda: strategies.away_from(0, gap=11), ValueError, r"between -10.* and 10.* no number is 11 away from each of 0"),
        (lambda: strategies.programs(-1), ValueError, r"max_instructions must be at least 0, got -1"),
        (lambda: strategies.programs(differentiable=None), TypeError, r"differentiable must be a bool, got None"),
        (lambda: strategies.modules(0), ValueError, r"max_layers must be at least 1, got 0"),
        (lambda: strategies.modules(dtype=ag.int64), ValueError, r"dtype must be floating, got torch.int64"),
        (lambda: strategies.modules(smooth=1), TypeError, r"smooth must be a bool, got 1"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [("floating", FLOATING), ("complex", COMPLEX), ("bool", [ag.bool]), (("bool", "floating"), [*FLOATING, ag.bool])],
)
def test_dtypes_are_of_their_kinds(kinds, expected):
    strategy = strategies.dtypes(kinds)
    assert smallest(strategy) == expected[0]
    for dtype in expected:
        assert smallest(strategy, lambda d, wanted=dtype: d == wanted) == dtype
    with pytest.raises(NoSuchExample):
        smallest(strategy, lambda d: d not in expected)


@given(st.data())
@settings(max_examples=150, deadline=None, database=None)
def test_indices_fit(data):
    """In place of an element, its number: what the index picks of the numbers it picks of any tensor."""
    shape = data.draw(strategies.shapes())
    index = data.draw(strategies.indices(shape))
    x = ag.from_numpy(np.arange(float(np.prod(shape))).reshape(shape)).requires_grad_()
    y = x[index]
    assert set(y.detach().reshape(-1).tolist()) <= set(range(x.numel()))
    items = index if isinstance(index, tuple) else (index,)
    if not any(isinstance(item, np.ndarray) for item in items):
        assert y.tolist() == x.detach().numpy()[index].tolist()


def kinds_in(index):
    items = index if isinstance(index, tuple) else (index,)
    return {item.dtype.name if isinstance(item, np.ndarray) else type(item).__name__ for item in items}


def test_all_kinds_of_indices_are_drawn():
    strategy = strategies.indices((2, 3))
    assert smallest(strategy) is ...
    for kind in ("int", "slice", "NoneType", "ellipsis", "int64", "bool"):
        drawn(strategy, lambda index, kind=kind: kind in kinds_in(index))
    assert smallest(strategy, lambda index: "int" in kinds_in(index)) in (0, (0,))
    assert smallest(strategy, lambda index: kinds_in(index) == {"int", "ellipsis"}) in ((..., 0), (0, ...))
    drawn(strategy, lambda index: kinds_in(index) == {"int", "ellipsis"} and index[0] is ... and index[-1] == 1)
    drawn(strategies.indices(()), lambda index: index == ())
    drawn(strategies.indices(strategies.shapes()), lambda index: type(index) is int and index == -1)


# numbers


@pytest.mark.parametrize("dtype", [ag.float64, ag.float32, ag.complex128, ag.complex64], ids=str)
def test_positive_definite_matrices_are_well_conditioned(dtype):
    @given(strategies.positive_definite(st.integers(1, 4), strategies.shapes(max_dims=2, max_side=2), dtype, True))
    @ALWAYS
    def check(x):
        values, n = array_of(x), x.shape[-1]
        assert x.dtype == dtype and x.shape[-2] == n and x.requires_grad and x.is_leaf
        assert (values == values.conj().swapaxes(-1, -2)).all()
        eigenvalues = np.linalg.eigvalsh(values.astype(complex))
        assert (eigenvalues > 1 - 1e-5).all() and (eigenvalues < 1 + n + 1e-4).all()

    check()


def test_positive_definite_matrices_shrink_to_the_identity():
    assert smallest(strategies.positive_definite(3)).tolist() == np.eye(3).tolist()
    complex_one = smallest(strategies.positive_definite(2, dtype=ag.complex128), lambda x: bool((x.imag != 0).any()))
    assert complex_one.tolist() == np.conj(complex_one.numpy().T).tolist()
    assert smallest(strategies.positive_definite(2, (3,)), lambda x: array_of(x).strides[-1] < 0).shape == (3, 2, 2)


@given(strategies.distinct(strategies.shapes(max_side=5), requires_grad=True, dtype=ag.float32))
@ALWAYS
def test_distinct_elements_lie_apart(x):
    values = np.sort(array_of(x).ravel())
    assert x.requires_grad and x.dtype == ag.float32
    assert values.size < 2 or np.diff(values).min() >= 0.125
    assert values.size == 0 or abs(values).max() <= 20


def test_distinct_elements_shrink_to_their_numbers():
    assert smallest(strategies.distinct((2, 2))).tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert smallest(strategies.distinct()).tolist() == 0.0
    assert min(smallest(strategies.distinct((3,)), lambda x: bool((x < 0).any())).tolist()) == -1.0
    assert {layout for layout in LAYOUTS if smallest(strategies.distinct((2, 2), layout=layout)).shape == (2, 2)} == {*LAYOUTS}


@pytest.mark.parametrize(("points", "gap"), [(0, 0.1), ([0, 1, -1], 0.5), (list(range(-10, 10)), 0.45), ([0.5], 3)])
def test_numbers_keep_away_from_points(points, gap):
    @given(strategies.away_from(points, gap))
    @ALWAYS
    def check(x):
        assert type(x) is float and -10 <= x <= 10
        assert min(abs(x - p) for p in np.atleast_1d(points)) >= gap - 1e-12

    check()


def test_numbers_away_from_points_shrink_to_integers():
    assert smallest(strategies.away_from(0)) == 1.0
    assert smallest(strategies.away_from(3)) == 0.0
    assert smallest(strategies.away_from(0), lambda x: x < -1.5) == -2.0
    assert smallest(strategies.away_from(0, 0.1, -0.5, 0.5)) in (0.1, -0.1)
    found = smallest(strategies.away_from(0, 0.001, 0.0, 0.01))
    assert 0.001 <= found <= 0.01


# programs

SETTINGS = settings(max_examples=40, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@given(strategies.programs())
@SETTINGS
def test_the_text_of_a_program_is_the_program(program):
    namespace = {}
    exec(program.text(), namespace)
    assert namespace["f"](*program.leaves()).tolist() == program(*program.leaves()).tolist()
    assert eval(repr(program), vars(_programs)) == program


@given(strategies.programs())
@SETTINGS
def test_a_program_changes_no_leaf_and_has_second_derivatives(program):
    leaves = program.leaves()
    before = [x.tolist() for x in leaves]
    y = program(*leaves)
    assert y.ndim == 1 and y.requires_grad
    gradients = ag.autograd.grad((y * y).sum(), leaves, create_graph=True, allow_unused=True)
    total = sum((g * g).sum() for g in gradients if g is not None)
    if total.requires_grad:  # it is a constant where a write covers all that depends on a leaf
        ag.autograd.grad(total, leaves, allow_unused=True)
    assert [x.tolist() for x in leaves] == before
    assert all(x._version == 0 and x.grad is None for x in leaves)


@given(strategies.programs())
@SETTINGS
def test_a_program_runs_where_nothing_is_recorded(program):
    expected = program(*program.leaves())
    with ag.no_grad():
        found = program(*program.leaves())
    assert not found.requires_grad and found.tolist() == expected.tolist()
    assert program(*[x.detach() for x in program.leaves()]).tolist() == expected.tolist()


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
@given(strategies.programs())
@SETTINGS
def test_a_program_is_a_function_of_tensors_of_pytorch_too(program):
    results = []
    for module in (ag, torch):
        leaves = program.leaves(module)
        y = program(*leaves)
        assert type(y) is module.Tensor
        gradients = module.autograd.grad(y.sum(), leaves, allow_unused=True)
        results.append([y.detach().numpy(), *[0.0 if g is None else g.numpy() for g in gradients]])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@given(strategies.programs(5))
@SETTINGS
def test_programs_have_no_more_instructions_than_they_may(program):
    assert sum(not isinstance(instruction, Leaf) for instruction in program.instructions) <= 5


def test_programs_shrink():
    assert smallest(strategies.programs()) == Program([Leaf((1.0,), (), True)])
    assert smallest(strategies.programs(differentiable=False)) == Program([Leaf((1.0,), (), True)])
    found = smallest(strategies.programs(), lambda p: any(isinstance(i, Op) and i.name == "mul" for i in p.instructions))
    assert found == Program([Leaf((1.0,), (), True), Op("mul", (0, 0))])


@pytest.mark.parametrize("kind", [Hook, Mode, View, Write])
def test_programs_have_instructions_of_each_kind(kind):
    found = smallest(strategies.programs(), lambda p: any(isinstance(i, kind) for i in p.instructions))
    assert len(found.instructions) <= 4


def test_a_write_through_a_view_is_drawn():
    def writes_a_view(program):
        views = {k for k, x in enumerate(program.outline().registers) if x.is_view and x.has_gradient}
        return any(isinstance(i, Write) and i.target in views for i in program.instructions)

    assert writes_a_view(drawn(strategies.programs(), writes_a_view))


SPOILED = Program([Leaf((1.0, 2.0), (2,), True), Op("exp", (0,)), Backward(1, False), Hook(0, 2.0), View("tail", 0)])


def test_a_program_that_asks_for_gradients_can_only_be_run():
    with pytest.raises(ValueError, match=r"asks for gradients is no function of its leaves: run\(\) it"):
        SPOILED(*SPOILED.leaves())
    found = SPOILED.run(ag)
    assert [error for error, _ in found.outcomes] == [None] * 5 and found.tensors[0].grad is not None
    namespace = {}
    exec(SPOILED.text(), namespace)
    assert namespace["x0"].grad.tolist() == found.tensors[0].grad.tolist()


def test_a_program_refuses_other_leaves():
    program = Program([Leaf((1.0, 2.0), (2,), True), Op("exp", (0,))])
    with pytest.raises(ValueError, match=r"expected leaves of shapes \[\(2,\)\], got \[\]"):
        program()
    with pytest.raises(ValueError, match=r"expected leaves of shapes \[\(2,\)\], got \[\(3,\)\]"):
        program(ag.ones(3))
    with pytest.raises(ValueError, match=r"no tensor of the program has gradients"):
        Program([Leaf((1.0,), (), False)])()


def test_what_depends_on_a_leaf_without_record_is_no_result():
    program = Program([
        Leaf((1.0, 2.0), (2,), True), Mode(False), Op("exp", (0,)), Mode(True), Op("mul", (0, 1)), Op("sin", (0,)),
    ])  # fmt: skip
    assert program.results() == [3]
    assert ag.autograd.gradcheck(program, program.leaves())


# imports


def run_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_hypothesis_is_imported_when_a_strategy_is_asked_for():
    code = "import sys, autograd_cy; {}print('autograd_cy.testing' in sys.modules, 'hypothesis' in sys.modules)"
    assert run_python(code.format("")).split() == ["False", "False"]
    assert run_python(code.format("autograd_cy.testing.__all__; ")).split() == ["True", "False"]
    assert run_python(code.format("autograd_cy.testing.strategies.tensors(); ")).split() == ["True", "True"]


def test_without_hypothesis_the_error_names_the_extra():
    found = run_python(
        "import sys; sys.modules['hypothesis'] = None\n"
        "import autograd_cy\n"
        "try:\n    autograd_cy.testing.strategies\n"
        "except ImportError as error:\n    print(error)"
    )
    assert 'strategies needs Hypothesis: pip install "autograd_cy[testing]"' in found


# modules


def test_modules_fit_their_inputs():
    seen = set()

    @given(strategies.modules())
    @settings(ALWAYS, max_examples=500, phases=[Phase.generate])
    def check(pair):
        net, x = pair
        y = net(x)
        assert type(net) is ag.nn.Sequential and 1 <= len(net) <= 3 and net.training and not x.requires_grad
        assert y.dtype == x.dtype == ag.float64 and y.numel() > 0 and y.isfinite().all()
        assert all(p.dtype == ag.float64 for p in net.parameters())
        seen.update(type(layer).__name__ for layer in net)

    check()
    assert seen >= {"Linear", "Conv2d", "ConvTranspose2d", "MaxPool2d", "AvgPool2d", "Flatten", "LayerNorm", "GroupNorm"}
    assert seen >= {"BatchNorm1d", "BatchNorm2d", "Tanh", "ReLU"}


def test_no_group_of_one_value_is_normalized():
    """Of which a layer in training refuses a batch of one."""
    assert _modules._group_norm((1, 3, 1, 1), 2) is None
    layer, shape = _modules._group_norm((1, 3, 1, 1), 1)
    assert layer(ag.ones(shape)).shape == shape


def test_modules_of_another_dtype_and_number_of_layers():
    @given(strategies.modules(1, dtype="float32"))
    @ALWAYS
    def check(pair):
        net, x = pair
        assert len(net) == 1 and net(x).dtype == x.dtype == ag.float32

    check()
    net, _ = drawn(strategies.modules(6), lambda pair: len(pair[0]) == 6)
    assert len(net) == 6


def test_smooth_modules_have_right_gradients():
    @given(strategies.modules(smooth=True))
    @settings(ALWAYS, max_examples=30, phases=[Phase.generate])
    def check(pair):
        net, x = pair
        assert not any(isinstance(layer, (ag.nn.ReLU, ag.nn.MaxPool2d)) for layer in net)
        # two norms of what is nearly constant are too steep for differences
        assume(sum("Norm" in type(layer).__name__ for layer in net) < 2)
        assert ag.autograd.gradcheck(net, x.clone().requires_grad_())

    check()


def test_modules_shrink_and_leave_the_generator_alone():
    ag.manual_seed(3)
    expected = ag.rand(2).tolist()
    ag.manual_seed(3)
    net, x = smallest(strategies.modules(), lambda pair: any(isinstance(layer, ag.nn.Tanh) for layer in pair[0]))
    assert [type(layer) for layer in net] == [ag.nn.Tanh] and x.tolist() == [[0.0]]
    net, x = smallest(strategies.modules(), lambda pair: (pair[0](pair[1]) < 0).any())
    assert len(net) <= 2 and ag.rand(2).tolist() == expected
