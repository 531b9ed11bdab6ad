"""grad, vjp, jvp, Jacobians and vmap within each other: against differences, each other and PyTorch's behaviour."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap

X = ag.tensor([[0.3, -1.2, 2.0], [1.1, 0.4, -0.7]], dtype=ag.float64)


def f(x):
    """A function of a vector to a number."""
    return (x.sin() * x.roll(1, 0)).sum() + (x**3).mean()


def F(x):
    """A function of a vector to a vector."""
    return ag.stack([x[0] * x[1], x[1].exp() * x[2], (x * x).sum(), x[2].tanh() - x[0]])


def central(function, x, step=1e-6):
    """The Jacobian by central differences, of shape (*output, *input)."""
    columns = []
    for k in range(x.numel()):
        e = ag.zeros_like(x).reshape(-1)
        e[k] = step
        e = e.reshape(x.shape)
        columns.append((function(x + e) - function(x - e)) / (2 * step))
    return ag.stack(columns, -1).reshape(*columns[0].shape, *x.shape)


class Named(ag.Tensor):
    pass


def same(found, expected, tolerance=1e-6):
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=tolerance, atol=tolerance)


def test_gradients_and_jacobians_against_differences():
    x = X[0]
    same(grad(f)(x), central(f, x))
    same(jacrev(F)(x), central(F, x))
    same(jacfwd(F)(x), central(F, x))
    same(jacrev(F, chunk_size=3)(x), jacrev(F)(x), 1e-12)


@pytest.mark.parametrize("outer", [jacrev, jacfwd])
@pytest.mark.parametrize("inner", [jacrev, jacfwd, grad])
def test_second_derivatives(outer, inner):
    x = X[0]
    same(outer(inner(f))(x), central(grad(f), x), 1e-5)
    same(outer(inner(f))(x), hessian(f)(x), 1e-10)


def test_third_derivatives():
    x = X[0]
    same(jacrev(hessian(f))(x), central(hessian(f), x), 1e-5)
    same(grad(grad(grad(lambda t: t.sin())))(X[0, 0]), -X[0, 0].cos())


@pytest.mark.parametrize("function", [f, F, grad(f), jacrev(F), jacfwd(F), hessian(f), lambda x: jvp(F, (x,), (x * 2,))[1]])
def test_samples_of_a_batch_are_what_they_are_alone(function):
    same(vmap(function)(X), ag.stack([function(x) for x in X]), 1e-10)
    nested = ag.stack([X, X * 2 - 1])
    same(vmap(vmap(function))(nested), ag.stack([ag.stack([function(x) for x in part]) for part in nested]), 1e-10)
    same(vmap(function, in_dims=1)(X.t().contiguous()), vmap(function)(X), 1e-12)


def test_the_gradient_of_a_batch():
    same(grad(lambda x: vmap(f)(x).sum())(X), vmap(grad(f))(X), 1e-12)
    same(jacrev(vmap(F))(X), central(vmap(F), X))
    same(jacfwd(vmap(F))(X), central(vmap(F), X))


def test_gradients_of_each_sample_by_what_all_share():
    w = ag.tensor([[0.5, -1.0, 2.0], [1.5, 0.2, 0.1]], dtype=ag.float64)
    bias = ag.tensor([0.1, 0.2], dtype=ag.float64)

    def loss(parameters, x):
        return ((parameters["w"] @ x + parameters["b"]).tanh() ** 2).sum()

    parameters = {"w": w, "b": bias}
    found = vmap(grad(loss), in_dims=(None, 0))(parameters, X)
    assert set(found) == {"w", "b"} and found["w"].shape == (2, 2, 3)
    for n, x in enumerate(X):
        alone = grad(loss)(parameters, x)
        same(found["w"][n], alone["w"], 1e-12)
        same(found["b"][n], alone["b"], 1e-12)


def test_what_is_outside_stays_in_the_graph():
    w = ag.tensor([1.0, 2.0, 3.0], dtype=ag.float64, requires_grad=True)
    g = grad(lambda x: (w * x * x).sum())(X[0])
    assert g.requires_grad
    (g_w,) = ag.autograd.grad(g.sum(), w)
    same(g_w, 2 * X[0])
    assert not grad(f)(X[0]).requires_grad
    with ag.no_grad():
        same(grad(f)(X[0]), central(f, X[0]))
        assert not grad(lambda x: (w * x).sum())(X[0]).requires_grad
    x = X[0].clone().requires_grad_()
    (second,) = ag.autograd.grad(grad(f)(x).sum(), x)
    same(second, hessian(f)(X[0]).sum(0), 1e-10)
    assert x.grad is None and w.grad is None


def test_perturbation_confusion():
    """Siskind and Pearlmutter, "Nesting forward-mode AD in a functional framework" (2008): d/dx (x * d/dy (x + y)) is 1."""
    one = ag.tensor(1.0)
    assert grad(lambda x: x * grad(lambda y: x + y)(one))(one).item() == 1.0
    assert jvp(lambda x: x * grad(lambda y: x + y)(one), (one,), (one,))[1].item() == 1.0
    # Manzyuk et al., "Perturbation confusion in forward automatic differentiation of higher-order functions" (2019)
    assert grad(lambda x: grad(lambda y: x * y)(ag.tensor(2.0)))(ag.tensor(3.0)).item() == 1.0


def test_auxiliary_outputs():
    gradient, aux = grad(lambda x: (f(x), {"twice": x * 2}), has_aux=True)(X[0])
    same(gradient, grad(f)(X[0]))
    assert not aux["twice"].requires_grad
    gradient, (value, aux) = grad_and_value(lambda x: (f(x), x), has_aux=True)(X[0])
    assert value.item() == f(X[0]).item()
    _, pull_back, aux = vjp(lambda x: (F(x), x.sum()), X[0], has_aux=True)
    same(pull_back(ag.ones(4, dtype=ag.float64))[0], jacrev(F)(X[0]).sum(0), 1e-12)
    *_, aux = jvp(lambda x: (F(x), x.sum()), (X[0],), (X[0],), has_aux=True)
    assert aux.item() == X[0].sum().item()
    assert jacrev(lambda x: (F(x), x), has_aux=True)(X[0])[1].tolist() == X[0].tolist()
    assert jacfwd(lambda x: (F(x), 7), has_aux=True)(X[0])[1] == 7
    jacobian, aux = jacfwd(lambda x: (F(x), {"x": x * 2, "c": X}), has_aux=True)(X[0])  # it was refused as batched
    assert aux["x"].tolist() == (X[0] * 2).tolist() and aux["c"].tolist() == X.tolist()
    same(jacobian, jacrev(F)(X[0]), 1e-12)
    found = vmap(jacfwd(lambda x: (F(x), x.sum()), has_aux=True))(X)
    assert found[1].tolist() == X.sum(1).tolist()


def test_several_arguments_and_outputs():
    a, b = X
    ga, gb = grad(lambda a, b: (a * b.exp()).sum(), argnums=(0, 1))(a, b)
    same(ga, b.exp())
    same(gb, a * b.exp())
    jacobian = jacrev(lambda x, y: {"p": x * y, "s": x.sum()}, argnums=(1, 0))(a, b)
    same(jacobian["p"][0], ag.eye(3, dtype=ag.float64) * a)
    assert jacobian["s"][0].tolist() == [0.0, 0.0, 0.0] and jacobian["s"][1].tolist() == [1.0, 1.0, 1.0]
    forward = jacfwd(lambda x, y: {"p": x * y, "s": x.sum()}, argnums=(1, 0))(a, b)
    for key in ("p", "s"):
        for n in (0, 1):
            same(forward[key][n], jacobian[key][n], 1e-12)


def test_linearize_is_the_tangent_without_a_new_call():
    calls = []

    def function(x):
        calls.append(1)
        return F(x)

    output, push_forward = linearize(function, X[0])
    same(output, F(X[0]))
    for t in (X[1], X[0] * 3):
        same(push_forward(t), jvp(F, (X[0],), (t,))[1], 1e-12)
    assert len(calls) == 1


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: grad(F)(X[0]), RuntimeError, "to return a scalar Tensor, got tensor with 1 dims"),
        (lambda: grad(lambda x: 1)(X[0]), RuntimeError, "to return a Tensor, got <class 'int'>"),
        (lambda: grad(f, argnums=2)(X[0]), RuntimeError, "Got argnum=2, but only 1 positional inputs"),
        (lambda: grad(f, argnums=[0])(X[0]), RuntimeError, "argnums must be int or Tuple"),
        (lambda: grad(f, argnums=("a",))(X[0]), RuntimeError, "argnum must be int, got: <class 'str'>"),
        (lambda: grad(lambda x: (x * x).sum())(X[0] * 1j), RuntimeError, "real scalar outputs but got torch.complex128"),
        (lambda: grad(f, has_aux=True)(X[0]), RuntimeError, r"grad_and_value\(f\)\(\*args\): output of function f should be"),
        (lambda: jacrev(F, has_aux=True)(X[0]), RuntimeError, r"vjp\(f, \*primals\): output of function f should be a tuple"),
        (lambda: jacrev(lambda x: x.long())(X[0]), RuntimeError, "floating-point or complex Tensors, got .* torch.int64"),
        (lambda: jacrev(lambda x: ())(X[0]), RuntimeError, r"non-empty output \(got output = \[\]\)"),
        (lambda: jacfwd(lambda x: ())(X[0]), RuntimeError, r"jvp\(f, primals, tangents\): Expected f to be a function that"),
        (lambda: jacrev(F)(X[0] * 1j), RuntimeError, "jacrev: Expected all inputs to be real"),
        (lambda: jacfwd(F)(X[0] * 1j), RuntimeError, "jacfwd: Expected all inputs to be real"),
        (lambda: jacfwd(lambda x: x * 1j)(X[0]), RuntimeError, "jacfwd: Expected all outputs to be real"),
        (lambda: jvp(lambda: X, (), ()), RuntimeError, "Expected primals to contain at least one Tensor"),
        (lambda: linearize(F, X[0])[1](X[0].float()), RuntimeError, "tangent:0 with dtype torch.float32 in flattened pytree"),
        (lambda: linearize(F, X[0])[1](X), RuntimeError, r"tangent:0 with shape torch.Size\(\[2, 3\]\) in flattened pytree"),
        (lambda: vmap(lambda x: ag.where(x > 0))(X), RuntimeError, "operators that can output dynamic shape"),
        (lambda: vmap(lambda i: [1, 2, 3][i])(ag.tensor([0, 1])), RuntimeError, "calling .item"),
        (lambda: vmap(lambda x: x, in_dims=[0])(X), ValueError, "expected `in_dims` to be int or a"),
        (lambda: vmap(lambda x: x, in_dims=(None,))(X), ValueError, "vmap: Expected at least one Tensor to vmap over"),
        (lambda: vmap(lambda x: (x, x), out_dims=[0, 1])(X), ValueError, "out_dims is not compatible with the structure"),
        (lambda: vmap(lambda k: k)(k=X), ValueError, "got no inputs"),
        (lambda: grad(f)(ag.tensor([1, 2])), RuntimeError, "only Tensors of floating point"),
        (lambda: jvp(F, X[0], X[0]), RuntimeError, "Expected primals to be a tuple"),
        (lambda: jvp(F, (X[0],), (X[0], X[0])), RuntimeError, "to have the same python structure"),
        (lambda: jvp(lambda x: ag.ones(2), (X[0],), (X[0],), strict=True), RuntimeError, "independent of the inputs"),
        (lambda: vjp(F, X[0])[1](ag.ones(3)), RuntimeError, "grad_output\\[0\\] has a shape of torch.Size\\(\\[3\\]\\)"),
        (lambda: vmap(lambda x: x.sum().item())(X), RuntimeError, "calling .item"),
        (lambda: vmap(lambda x: x if x.sum() > 0 else -x)(X), RuntimeError, "data-dependent control flow"),
        (lambda: vmap(lambda x: x[x > 0])(X), RuntimeError, "indexing with a boolean mask"),
        (lambda: vmap(lambda x: ag.zeros(3).add_(x))(X), RuntimeError, r"vmap: inplace arithmetic\(self"),
        (lambda: vmap(lambda x: ag.add(x, x, out=ag.empty(3)))(X), RuntimeError, "fallback path doesn't work on out="),
        (lambda: vmap(lambda x: x + ag.rand(3))(X), RuntimeError, "random operation while in randomness error mode"),
        (lambda: vmap(lambda x: x.requires_grad_())(X), RuntimeError, "requires_grad_"),
        (lambda: vmap(lambda x: x.sum().backward())(X), RuntimeError, "backward\\(\\) called inside"),
        (lambda: vmap(lambda x: setattr(x, "data", x) or x)(X), RuntimeError, "data can't be set within vmap"),
        (lambda: vmap(lambda x: x.as_subclass(Named))(X), RuntimeError, "can't become an instance of the subclass Named"),
        (lambda: vmap(lambda x: ag.Tensor._make_subclass(Named, x))(X), RuntimeError, "instance of the subclass Named"),
        (lambda: vmap(lambda x: Named(x))(X), RuntimeError, "instance of the subclass Named"),
        (lambda: vmap(lambda x: x.numpy())(X), RuntimeError, "doesn't have storage"),
        (lambda: vmap(lambda x: x.resize_(1))(X), RuntimeError, "resize_"),
        (lambda: vmap(lambda x: x, in_dims=3)(X), ValueError, "Got in_dim=3 for some input"),
        (lambda: vmap(lambda x: x, in_dims=(0, 0))(X), ValueError, "in_dims is not compatible with the structure"),
        (lambda: vmap(lambda x: x, in_dims=None)(X), ValueError, "expected `in_dims` to be int or"),
        (lambda: vmap(lambda: 1)(), ValueError, "got no inputs"),
        (lambda: vmap(lambda a, b: a)(X, X.t()), ValueError, "same size in the mapped dimension, got sizes \\[2, 3\\]"),
        (lambda: vmap(lambda a, b: a)(X, 2), ValueError, "We cannot vmap over non-Tensor"),
        (lambda: vmap(lambda x: 1)(X), ValueError, "must only return Tensors"),
        (lambda: vmap(lambda x: x, out_dims=(0, 1))(X), ValueError, "out_dims is not compatible"),
        (lambda: vmap(lambda x: x, out_dims=None)(X), ValueError, "can not return a BatchedTensor when out_dim is None"),
        (lambda: vmap(lambda x: x.sum(), out_dims=3)(X), IndexError, "Dimension out of range"),
        (lambda: vmap(lambda x: x, chunk_size=0)(X), ValueError, "chunk_size should be None or greater than 0"),
        (lambda: vmap(lambda x: x, randomness="x")(X), RuntimeError, "Only allowed values for randomness"),
    ],
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
    assert ag.vmap(lambda x: x + 1)(X).shape == X.shape  # nothing is left open


def test_randomness():
    same_numbers = vmap(lambda x: ag.rand(4), randomness="same")(X)
    assert (same_numbers[0] == same_numbers[1]).all()
    different = vmap(lambda x: ag.randn(4) + ag.rand_like(x).sum(), randomness="different")(X)
    assert not (different[0] == different[1]).any()
    assert vmap(vmap(lambda x: ag.randint(0, 100, (2,)), randomness="different"), randomness="same")(X).shape == (2, 3, 2)
    chunks = vmap(lambda x: ag.rand(4), randomness="same", chunk_size=1)(X)  # each chunk had numbers of its own
    assert (chunks[0] == chunks[1]).all() and not (chunks[0] == same_numbers[0]).all()
    chunks = vmap(lambda x: ag.rand(4), randomness="different", chunk_size=1)(X)
    assert not (chunks[0] == chunks[1]).any()
    orders = vmap(lambda x: ag.randperm(5), randomness="different")(X)
    assert [sorted(row) for row in orders.tolist()] == [[0, 1, 2, 3, 4]] * 2


def test_writes_into_samples():
    def write(x):
        y = x.clone()
        y[0] = 7.0
        y[1:].mul_(x[0])
        y += 1
        y[ag.tensor([0, 0])] = x[0] * 2
        return y

    same(vmap(write)(X), ag.stack([write(x) for x in X]), 1e-12)
    same(vmap(grad(lambda x: write(x).sum()))(X), ag.stack([grad(lambda x: write(x).sum())(x) for x in X]), 1e-12)

    def fill(x):
        made = ag.zeros_like(x)
        made[1] = x[0]
        return made

    same(vmap(fill)(X), ag.stack([fill(x) for x in X]), 1e-12)


def test_chunks_and_structures():
    def function(tree, scale):
        return {"y": tree["a"] * scale, "z": [tree["b"][0].sum()]}

    tree = {"a": X, "b": (X.t(),)}
    whole = vmap(function, in_dims=({"a": 0, "b": (1,)}, None), out_dims={"y": 1, "z": 0})(tree, 3)
    parts = vmap(function, in_dims=({"a": 0, "b": (1,)}, None), out_dims={"y": 1, "z": 0}, chunk_size=1)(tree, 3)
    same(whole["y"], X.t() * 3)
    same(whole["z"][0], X.sum(1))
    same(parts["y"], whole["y"])
    same(parts["z"][0], whole["z"][0])


def test_keys_in_another_order():
    """Dimensions that a dict gives belong to keys: they were refused where the keys came in another order."""
    tree = {"b": X.t(), "a": X}
    found = vmap(lambda t: {"z": t["a"], "y": t["b"]}, in_dims=({"a": 0, "b": 1},), out_dims={"y": 1, "z": 0})(tree)
    same(found["z"], X)
    same(found["y"], X.t())


def test_keyword_arguments_are_the_same_for_all():
    """As in PyTorch. They were mapped along their first dimension."""
    same(vmap(lambda x, k: x * k.sum())(X, k=X), X * X.sum())
    same(vmap(lambda x, k: x * k, chunk_size=1)(X, k=3.0), X * 3)
    same(vmap(grad(lambda x, k: (x * k).sum()))(X, k=X[0]), ag.stack([X[0], X[0]]))


def test_a_tensor_that_escaped():
    kept = []
    vmap(lambda x: kept.append(x) or x)(X)
    with pytest.raises(RuntimeError, match="may have escaped"):
        kept[0] + 1


def test_an_empty_batch():
    assert vmap(lambda x: (x * 2).sum())(ag.ones(0, 3)).shape == (0,)
    assert vmap(grad(f))(ag.ones(0, 3)).shape == (0, 3)


def test_an_operation_without_a_rule_is_a_loop_and_says_so():
    from autograd_cy._core.batching import rules

    rule = rules.rule_of(ag.roll)
    rules.declare_rule(ag.roll, None)
    try:
        with pytest.warns(UserWarning, match="performance drop because we have not yet implemented the batching rule"):
            y = vmap(lambda x: ag.roll(x, 1, 0))(X)
    finally:
        rules.declare_rule(ag.roll, rule)
    same(y, ag.roll(X, 1, 1))


def test_arrays_beside_batches_and_dimensions_that_are_kept():
    whole = np.arange(6.0).reshape(2, 3)
    same(vmap(lambda x: x * whole)(X), X[:, None] * ag.from_numpy(whole))
    for function in (ag.argmax, ag.argmin, ag.prod, ag.any):
        kept = [function(x.reshape(1, 3), keepdim=True) for x in X] if function is not ag.prod else [x.prod() for x in X]
        found = vmap(lambda x: function(x.reshape(1, 3), keepdim=True) if function is not ag.prod else x.prod())(X)  # noqa: B023
        assert found.tolist() == ag.stack(kept).tolist()


def test_gauss_newton_products():
    v = X[1]

    def loss(y):
        return (y.exp() + y**2).sum()

    jacobian = jacrev(F)(X[0])
    matrix = jacobian.t() @ hessian(loss)(F(X[0])) @ jacobian
    same(ag.func.ggnvp(F, loss, X[0], v), matrix @ v, 1e-10)
    same(ag.func.ggnvp(lambda p: F(p["x"]), loss, {"x": X[0]}, {"x": v})["x"], matrix @ v, 1e-10)


def test_gradients_per_sample():
    parameters = {"w": X[0], "k": ag.tensor(2.0, dtype=ag.float64)}

    def loss(p, x, y):
        return ((p["w"] * x).sum() * p["k"] - y) ** 2

    targets = ag.tensor([1.0, -1.0], dtype=ag.float64)
    found = ag.func.per_sample_grads(loss, parameters, X, targets)
    chunks = ag.func.per_sample_grads(loss, parameters, X, targets, chunk_size=1)
    for n in range(2):
        alone = grad(loss)(parameters, X[n], targets[n])
        for key in parameters:
            same(found[key][n], alone[key], 1e-12)
            same(chunks[key][n], alone[key], 1e-12)


def test_methods_of_the_facade():
    """Those that ask for shapes answer for one sample, those that convert do so for all."""

    def function(x):
        assert (x.size(), x.dim(), x.numel(), x.stride(), x.is_contiguous()) == ((3,), 1, 3, (1,), True)
        y = x.view_as(x.reshape_as(x)).to(ag.float32).double().type_as(x).cpu()
        y = y + x.new_zeros(3) + x.new_ones(()) + x.new_full((3,), 2.0) + ag.ones_like(x) + ag.full_like(x, 3.0)
        z = x.new_zeros(2)
        z[0] = x[1]
        assert not x.requires_grad and x.is_leaf and x.grad_fn is None and len(x) == 3 and str(x).startswith("BatchedTensor")
        return y + z.sum() + sum(part for part in x.data) + x.detach().contiguous()

    same(vmap(function)(X), X * 2 + 7 + X[:, 1:2] + X.sum(1, True), 1e-6)


MODES = {"grad": ag.enable_grad, "no grad": ag.no_grad, "inference": ag.inference_mode}
TRANSFORMED = {
    "grad": lambda f, x: ag.func.grad(lambda x: f(x).sum())(x),
    "vjp": lambda f, x: ag.func.vjp(f, x)[1](ag.ones_like(x))[0],
    "jvp": lambda f, x: ag.func.jvp(f, (x,), (ag.ones_like(x),))[1],
    "jacrev": lambda f, x: ag.func.jacrev(f)(x).sum(0),
    "jacfwd": lambda f, x: ag.func.jacfwd(f)(x).sum(0),
    "linearize": lambda f, x: ag.func.linearize(f, x)[1](ag.ones_like(x)),
    "vmap of grad": lambda f, x: ag.vmap(ag.func.grad(f))(x),
    "jacobian": lambda f, x: ag.autograd.functional.jacobian(f, x).sum(0),
    "functional.vjp": lambda f, x: ag.autograd.functional.vjp(f, x, ag.ones_like(x))[1],
}


@pytest.mark.parametrize("transform", TRANSFORMED)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["plain", "leaf", "recorded", "view", "inference"])
def test_transforms_know_no_modes(transform, mode, kind):
    """What the function is differentiated by may require grad already, and the mode around may record nothing."""
    x = ag.tensor([0.5, 0.25, 2.0], dtype=ag.float64, requires_grad=kind not in ("plain", "inference"))
    if kind == "inference":
        with ag.inference_mode():
            x = x * 1
    x = x * 1 if kind == "recorded" else x[:2] if kind == "view" else x
    with MODES[mode]():
        found = TRANSFORMED[transform](lambda x: x**3 + x, x)
    np.testing.assert_allclose(found.detach().numpy(), (3 * x**2 + 1).detach().numpy(), rtol=1e-12)


def test_gradients_require_grad_only_for_what_is_outside():
    """What an inner transform differentiates by is nothing that an outer one's result could depend on."""
    c, outside = ag.tensor([1.0, 2.0]), ag.tensor(2.0, requires_grad=True)

    def inner(x):
        return grad(lambda y: (x * y**3).sum())(c).sum()

    result = grad(inner)(ag.tensor(2.0))
    assert result.item() == 15.0 and not result.requires_grad
    assert not vjp(lambda x: vjp(lambda y: x * y, c)[1](c)[0], ag.tensor(2.0))[1](c)[0].requires_grad
    followed = grad(inner)(outside * 1)
    assert followed.item() == 15.0
    followed = grad(lambda x: inner(x) * outside)(ag.tensor(2.0))
    assert followed.requires_grad and ag.autograd.grad(followed, outside)[0].item() == 15.0


VIEWS_WITHOUT_AN_EDGE = {
    "view": lambda y: y.view(3),
    "row": lambda y: y.unsqueeze(0)[0],
    "view of the view": None,
}


@pytest.mark.parametrize("kind", VIEWS_WITHOUT_AN_EDGE)
@pytest.mark.parametrize("enabled", [True, False])
def test_a_view_of_a_leaf_that_was_made_under_no_grad(kind, enabled):
    """It requires grad without an edge to the leaf: second derivatives by it were zero."""
    y = X[0].clone().requires_grad_()
    with ag.no_grad():
        x = (VIEWS_WITHOUT_AN_EDGE[kind] or VIEWS_WITHOUT_AN_EDGE["view"])(y)
    if VIEWS_WITHOUT_AN_EDGE[kind] is None:
        x = x.view(3)
    assert x.requires_grad
    gradient = grad(lambda x: grad(f)(x).sum())
    nested = {
        "grad": gradient,
        "vjp": lambda x: vjp(lambda x: vjp(f, x)[1](ag.ones((), dtype=ag.float64))[0].sum(), x)[1](ag.tensor(1.0).double())[0],
        "jacrev": lambda x: jacrev(jacrev(f))(x).sum(0),
        "hessian": lambda x: hessian(f)(x).sum(0),
        "vmap": lambda x: vmap(gradient)(x.unsqueeze(0))[0],
        "third": lambda x: grad(lambda x: (gradient(x) * ag.ones_like(x)).sum())(x),
    }
    expected = {name: function(X[0]) for name, function in nested.items()}
    with ag.set_grad_enabled(enabled):
        for name, function in nested.items():
            same(function(x), expected[name], 1e-12)


@pytest.mark.parametrize("convert", [lambda x, y: x.type_as(y), lambda x, y: x.to(y)])
def test_the_type_of_a_mapped_tensor_does_not_map_another(convert):
    """x.type_as(y) of a tensor that is the same for all samples was taken for a batch of them, along its first dimension."""
    x = ag.tensor([4, 5, 6], dtype=ag.float32, requires_grad=True)
    y = ag.ones(3, 2, dtype=ag.float64)
    result = vmap(lambda y: convert(x, y))(y)
    assert result.tolist() == [[4, 5, 6]] * 3 and result.dtype is ag.float64
    assert ag.autograd.grad(result.sum(), x)[0].tolist() == [3, 3, 3]
    both = vmap(lambda x, y: convert(x, y))(x.detach(), y)
    assert both.tolist() == [4, 5, 6]


@pytest.mark.parametrize("transform", [jacfwd, hessian])
def test_integers_have_no_forward_derivative(transform):
    with pytest.raises(ValueError, match=r"Expected primal to be floating point or complex, but got: torch\.int64"):
        transform(lambda x: (x * 2).sum())(ag.tensor([1, 2]))


@pytest.mark.parametrize("nested", [
    lambda x, z: ag.func.vjp(lambda x, z: x**3 * z, x, z)[0],
    lambda x, z: ag.func.vjp(lambda x: (x**3 * 2, x * x), x)[0][0] * z / 2,
    lambda x, z: ag.func.vjp(lambda x: (x * 1, x**3 * z), x, has_aux=True)[2],
    lambda x, z: ag.func.grad_and_value(lambda x: x**3 * z)(x)[1],
    lambda x, z: ag.func.grad(lambda x: (x * 1, x**3 * z), has_aux=True)(x)[1],
    lambda x, z: ag.func.grad(lambda z: x**3 * z * z / 2)(z),
])  # fmt: skip
def test_values_that_a_reverse_transform_returns_have_tangents(nested):
    """The output of vjp and the value of grad_and_value were detached: forward mode around them gave a tangent of 0."""
    x, z = ag.tensor(2.0, dtype=ag.float64), ag.tensor(1.5, dtype=ag.float64)
    directions = ag.tensor(1.0, dtype=ag.float64), ag.tensor(3.0, dtype=ag.float64)
    value, tangent = ag.func.jvp(nested, (x, z), directions)
    assert (value.item(), tangent.item()) == (12, 3 * 4 * 1.5 + 8 * 3) and not tangent.requires_grad
    with ag.autograd.forward_ad.dual_level():
        duals = [ag.autograd.forward_ad.make_dual(*pair) for pair in zip((x, z), directions, strict=True)]
        assert ag.autograd.forward_ad.unpack_dual(nested(*duals)).tangent == tangent
    second = ag.func.jvp(lambda x: ag.func.jvp(lambda x: nested(x, z), (x,), (directions[0],))[1], (x,), (directions[0],))[1]
    assert second.item() == 6 * 2 * 1.5
