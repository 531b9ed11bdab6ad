"""Steps against their formulas in NumPy, for all layouts and types; what a step counts, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from op_case import HALF

import autograd_cy as ag

STEPS = 4


def sgd(p, g, s, t):
    g = g + 0.1 * p
    s["b"] = 0.9 * s["b"] + 0.5 * g if t > 1 else g
    return p - 0.1 * s["b"]


def asgd(p, g, s, t):
    eta = 0.1 / (1 + 1e-4 * 0.1 * (t - 1)) ** 0.75 if t > 1 else 0.1
    p = p * (1 - 1e-4 * eta) - eta * g
    mu = 1 / max(1, t - 1 - 2)
    s["ax"] = p if mu == 1 else s["ax"] + (p - s["ax"]) * mu
    return p


def rprop(p, g, s, t):
    turn = np.sign(g * s.get("prev", 0 * g))
    size = np.clip(s.get("size", 0.1 + 0 * p) * np.where(turn > 0, 1.2, np.where(turn < 0, 0.5, 1)), 1e-6, 50)
    g = np.where(turn < 0, 0, g)
    s["prev"], s["size"] = g, size
    return p - np.sign(g) * size


def moments(g, s):
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["v"] = 0.999 * s.get("v", 0) + 0.001 * g * g
    return s["m"], s["v"]


def adam(p, g, s, t):
    m, v = moments(g + 0.1 * p, s)
    return p - 0.1 * m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)


def adamw(p, g, s, t):
    p = p * (1 - 0.1 * 0.1)
    m, v = moments(g, s)
    s["most"] = np.maximum(s.get("most", 0), v)
    return p - 0.1 * m / (1 - 0.9**t) / (np.sqrt(s["most"] / (1 - 0.999**t)) + 1e-8)


def nadam(p, g, s, t):
    m, v = moments(g, s)
    mu, following = (0.9 * (1 - 0.5 * 0.96 ** (k * 0.004)) for k in (t, t + 1))
    s["product"] = s.get("product", 1) * mu
    y = np.sqrt(v / (1 - 0.999**t)) + 1e-8
    return p - 0.1 * (1 - mu) / (1 - s["product"]) * g / y - 0.1 * following / (1 - s["product"] * following) * m / y


def radam(p, g, s, t):
    m, v = moments(g, s)
    m, longest = m / (1 - 0.9**t), 2 / 0.001 - 1
    length = longest - 2 * t * 0.999**t / (1 - 0.999**t)
    if length <= 5:
        return p - 0.1 * m
    r = np.sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))
    return p - 0.1 * m * r * np.sqrt(1 - 0.999**t) / (np.sqrt(v) + 1e-8)


def adamax(p, g, s, t):
    m, _ = moments(g, s)
    s["u"] = np.maximum(0.999 * s.get("u", 0), np.abs(g) + 1e-8)
    return p - 0.1 / (1 - 0.9**t) * m / s["u"]


def rmsprop(p, g, s, t):
    s["v"] = 0.99 * s.get("v", 0) + 0.01 * g * g
    s["m"] = 0.99 * s.get("m", 0) + 0.01 * g
    s["b"] = 0.9 * s.get("b", 0) + g / (np.sqrt(s["v"] - s["m"] ** 2) + 1e-8)
    return p - 0.1 * s["b"]


def adagrad(p, g, s, t):
    s["sum"] = s.get("sum", 0.5) + g * g
    return p - 0.1 / (1 + (t - 1) * 0.1) * g / (np.sqrt(s["sum"]) + 1e-10)


def adadelta(p, g, s, t):
    s["v"] = 0.9 * s.get("v", 0) + 0.1 * g * g
    step = np.sqrt(s.get("d", 0) + 1e-6) / np.sqrt(s["v"] + 1e-6) * g
    s["d"] = 0.9 * s.get("d", 0) + 0.1 * step * step
    return p - 0.1 * step


FORMULAS = {
    "SGD": (sgd, {"momentum": 0.9, "dampening": 0.5, "weight_decay": 0.1}),
    "ASGD": (asgd, {"t0": 2}),
    "Rprop": (rprop, {}),
    "Adam": (adam, {"weight_decay": 0.1}),
    "AdamW": (adamw, {"weight_decay": 0.1, "amsgrad": True}),
    "NAdam": (nadam, {}),
    "RAdam": (radam, {}),
    "Adamax": (adamax, {}),
    "RMSprop": (rmsprop, {"momentum": 0.9, "centered": True}),
    "Adagrad": (adagrad, {"lr_decay": 0.1, "initial_accumulator_value": 0.5}),
    "Adadelta": (adadelta, {}),
}
TYPES = {"float16": 3e-3, "bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-10}
IN_FLOAT32 = ("ASGD", "NAdam")  # what these keep besides the step


def by_formula(name, p, gradients):
    state = {}
    for t, g in enumerate(gradients, 1):
        p = FORMULAS[name][0](p, g, state, t)
    return p


def run(name, param, gradients):
    optimizer = getattr(ag.optim, name)([param], lr=0.1, **FORMULAS[name][1])
    for g in gradients:
        param.grad = g
        optimizer.step()
    return optimizer


def laid_out(array, layout):
    """A copy in another layout of memory."""
    array = array.copy()
    if layout == "apart":
        wide = np.zeros((*array.shape, 2), array.dtype)
        wide[..., 0] = array
        return wide[..., 0]
    if layout == "reversed":
        return np.ascontiguousarray(array[::-1])[::-1]
    return np.asfortranarray(array) if layout == "columns" else np.ascontiguousarray(array)


@pytest.mark.parametrize("dtype", [d for d in TYPES if d != "bfloat16" or d in HALF])
@pytest.mark.parametrize("name", FORMULAS)
def test_formulas(name, dtype):
    rng = np.random.default_rng(0)
    start, gradients = rng.standard_normal((3, 37)).astype(dtype), rng.standard_normal((STEPS, 3, 37)).astype(dtype)
    param = ag.from_numpy(start.copy()).requires_grad_()
    run(name, param, [ag.from_numpy(g) for g in gradients])
    expected = by_formula(name, start.astype("float64"), gradients.astype("float64"))
    limit = max(TYPES[dtype], 1e-6) if name in IN_FLOAT32 else TYPES[dtype]
    np.testing.assert_allclose(param.detach().numpy(), expected, rtol=limit, atol=limit)


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(sorted(FORMULAS)), rows=st.integers(0, 5), columns=st.integers(1, 9),
    layouts=st.tuples(*[st.sampled_from(["rows", "columns", "apart", "reversed"])] * 2),
)  # fmt: skip
def test_layouts_change_nothing(name, rows, columns, layouts):
    rng = np.random.default_rng(rows * 10 + columns)
    start, gradients = rng.standard_normal((rows, columns)), rng.standard_normal((STEPS, rows, columns))
    param = ag.from_numpy(laid_out(start, layouts[0])).requires_grad_()
    run(name, param, [ag.from_numpy(laid_out(g, layouts[1])) for g in gradients])
    plain = ag.from_numpy(start.copy()).requires_grad_()
    run(name, plain, [ag.from_numpy(g) for g in gradients])
    assert np.array_equal(param.detach().numpy(), plain.detach().numpy())


@pytest.mark.parametrize("name", FORMULAS)
def test_complex_numbers_are_pairs(name):
    rng = np.random.default_rng(0)
    start, g = rng.standard_normal((2, 5, 2)), rng.standard_normal((STEPS, 5, 2))
    param = ag.view_as_complex(ag.from_numpy(start[0].copy())).detach().requires_grad_()
    real = ag.from_numpy(start[0].copy()).requires_grad_()
    run(name, param, [ag.view_as_complex(ag.from_numpy(x.copy())) for x in g])
    run(name, real, [ag.from_numpy(x) for x in g])
    assert np.array_equal(ag.view_as_real(param.detach()).numpy(), real.detach().numpy())


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", FORMULAS)
def test_large_parameters_give_the_same_bits_on_any_number_of_threads(name, threads):
    rng = np.random.default_rng(0)
    start, gradients = rng.standard_normal(40_003).astype("f4"), rng.standard_normal((2, 40_003)).astype("f4")
    before = ag.get_num_threads()
    try:
        ag.set_num_threads(threads)
        whole = ag.from_numpy(start.copy()).requires_grad_()
        run(name, whole, [ag.from_numpy(g) for g in gradients])
    finally:
        ag.set_num_threads(before)
    part = ag.from_numpy(start[:100].copy()).requires_grad_()
    run(name, part, [ag.from_numpy(g[:100].copy()) for g in gradients])
    assert np.array_equal(whole.detach().numpy()[:100], part.detach().numpy())


def test_parameters_that_share_memory_are_updated_one_after_the_other():
    memory = ag.zeros(3)
    a, b = memory[:2].detach().requires_grad_(), memory[1:].detach().requires_grad_()
    a.grad, b.grad = ag.ones(2), ag.ones(2)
    ag.optim.SGD([a, b], lr=1.0).step()
    assert memory.tolist() == [-1.0, -2.0, -1.0]


def test_a_gradient_that_overlaps_its_parameter_is_read_first():
    memory = ag.tensor([1.0, 2.0, 3.0, 4.0])
    param = memory[1:].detach().requires_grad_()
    param.grad = memory[:3]
    ag.optim.SGD([param], lr=1.0).step()
    assert memory.tolist() == [1.0, 1.0, 1.0, 1.0]


def test_a_step_is_a_write():
    """Case 5 of NOTE [Updates]: a backward that needs the parameter as it was says that it is gone, and who did it."""
    w = ag.ones(2, requires_grad=True)
    loss = (w * w).sum()
    loss.backward(retain_graph=True)
    version = w._version
    ag.optim.Adam([w]).step()
    assert w._version == version + 1
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation(.|\n)*Adam\.step"):
        loss.backward()


def test_a_step_is_not_recorded():
    w = ag.ones(2, requires_grad=True)
    [w.grad] = ag.autograd.grad((w * w).sum(), w, create_graph=True)
    ag.optim.SGD([w], momentum=0.9).step()
    assert w.is_leaf and w.requires_grad and w.grad_fn is None


@pytest.mark.parametrize("name", FORMULAS)
def test_parameters_without_gradient_are_left_alone(name):
    a, b = ag.ones(2, requires_grad=True), ag.ones(2, requires_grad=True)
    optimizer = getattr(ag.optim, name)([a, b])
    b.grad = ag.ones(2)
    optimizer.step()
    assert a.tolist() == [1.0, 1.0] and b.tolist() != [1.0, 1.0]
    assert name == "Adagrad" or a not in optimizer.state


def refused(make, match, error=RuntimeError, cls="Adam"):
    """The step is refused, and the other parameter of the group unchanged: case 2 of NOTE [Updates]."""
    first = ag.ones(2, requires_grad=True)
    first.grad = ag.ones(2)
    optimizer = getattr(ag.optim, cls)([first, *make()])
    with pytest.raises(error, match=match):
        optimizer.step()
    assert first.tolist() == [1.0, 1.0]


def test_gradients_of_another_type_are_refused():
    def make():
        w = ag.ones(2, requires_grad=True)
        w.grad_dtype = None
        w.grad = ag.ones(2, dtype=ag.float64)
        return [w]

    refused(make, r"Adam\.step\(\): expected a gradient of type .* and shape \[2\]")


def test_read_only_parameters_are_refused():
    array = np.ones(2, "f4")
    array.flags.writeable = False

    def make():
        w = ag.from_numpy(array)
        w.requires_grad_().grad = ag.ones(2)
        return [w]

    refused(make, "read-only")


def test_integers_are_refused():
    def make():
        w = ag.ones(2, dtype=ag.int64)
        w.grad = ag.ones(2, dtype=ag.int64)
        return [w]

    refused(make, r"SGD\.step\(\): expected a parameter of floating point", cls="SGD")


def test_state_of_another_shape_is_refused():
    w = ag.ones(2, requires_grad=True)
    w.grad = ag.ones(2)
    optimizer = ag.optim.Adam([w])
    optimizer.step()
    optimizer.state[w]["exp_avg"] = ag.ones(3)
    before = w.tolist(), optimizer.state[w]["step"].item()
    with pytest.raises(RuntimeError, match=r"expected a exp_avg of type .* and shape \[2\], .* got .*\[3\]"):
        optimizer.step()
    assert (w.tolist(), optimizer.state[w]["step"].item()) == before


@pytest.mark.parametrize("bad", [3, None, ag.ones(2), "x"])
def test_steps_that_are_no_number_are_refused(bad):
    w = ag.ones(2, requires_grad=True)
    w.grad = ag.ones(2)
    optimizer = ag.optim.Adam([w])
    optimizer.step()
    optimizer.state[w]["step"] = bad
    if bad is None:  # is made anew
        optimizer.step()
        assert optimizer.state[w]["step"].item() == 1
        return
    with pytest.raises(RuntimeError, match="expected a Tensor of one number as step"):
        optimizer.step()


def test_inference_tensors_are_refused():
    def make():
        with ag.inference_mode():
            w = ag.ones(2)
            w.grad = ag.ones(2)
        return [w]

    refused(make, "inference", cls="SGD")


def test_modes_that_there_are_none_of_are_refused():
    w = ag.ones(2, requires_grad=True)
    with pytest.raises(AssertionError, match="If capturable=True"):
        ag.optim.Adam([w], capturable=True).step()


def test_options_may_be_tensors():
    w, v = ag.ones(2, requires_grad=True), ag.ones(2, requires_grad=True)
    w.grad, v.grad = ag.ones(2), ag.ones(2)
    ag.optim.Adam([w], lr=ag.tensor(0.25), betas=(ag.tensor([0.5]), ag.tensor(0.75))).step()
    ag.optim.Adam([v], lr=0.25, betas=(0.5, 0.75)).step()
    assert w.tolist() == v.tolist()


def test_infinite_parameters_stay_so_without_weight_decay():
    w = ag.tensor([float("inf"), 1.0], requires_grad=True)
    w.grad = ag.ones(2)
    ag.optim.SGD([w], lr=0.5, momentum=0.9).step()
    assert w.tolist() == [float("inf"), 0.5]


def test_a_nan_gradient_stays_in_the_largest_of_adamax():
    """The maximum forgot it: exp_inf was finite where PyTorch's is nan."""
    w = ag.tensor([1.0, 2.0], requires_grad=True)
    optimizer = ag.optim.Adamax([w])
    for gradient in ([1.0, 1.0], [float("nan"), 1.0], [1.0, 1.0]):
        w.grad = ag.tensor(gradient)
        optimizer.step()
    assert optimizer.state[w]["exp_inf"].isnan().tolist() == [True, False] and w.isnan().tolist() == [True, False]
