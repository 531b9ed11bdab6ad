"""functionalize(): the same results and the same values in the arguments, by operations that write nothing in place."""

import pytest

import autograd_cy as torch
from autograd_cy.func import functionalize, grad, vmap
from autograd_cy.fx.experimental.proxy_tensor import make_fx

F = torch.nn.functional


def written_view(x):
    y = x.clone()
    y[0].mul_(2)
    y.t()[1].add_(y[1])
    return y


def views_of_views(x):
    y = (x * 1).contiguous()
    flat = y.view(-1)
    flat[1] = 7.0
    y.t().select(0, 1).copy_(flat[:3])
    y.diagonal().zero_()
    return y, flat, y[1:]


def parts(x):
    y = x + 0
    a, b = y.split([1, 2])
    a += 1
    b.sub_(a)
    y.unbind(1)[2].neg_()
    for chunk in y.chunk(3, 1):
        chunk.mul_(2)
    return a, b, y


def shapes_in_place(x):
    y = x.clone()
    z = y[0]
    y.t_()
    y.unsqueeze_(0).add_(1)
    z.unsqueeze_(1)
    return y, z


def outputs(x):
    y, z = torch.empty(3, 3), torch.empty(0)
    torch.add(x, 1, out=y)
    torch.mul(y, 2, out=z)
    values, indices = torch.empty(3), torch.empty(3, dtype=torch.int64)
    torch.max(y[1:], dim=0, out=(values, indices))
    torch.exp(x[0], out=y[1])
    return y, z, values, indices


def activations(x):
    y = x - 1
    F.relu(y[0], inplace=True)
    F.hardtanh(y[1], -0.5, 0.5, True)
    torch.relu_(y[2])
    return F.dropout(y, 0.5, False, True)


def arguments(x):
    x.add_(1)
    x.t()[0].mul_(3)
    return x[1] * 2


def other_types(x):
    y = x.clone()
    y += torch.ones(3, dtype=torch.float64)
    mask = y > 2
    mask.logical_not_()
    y[mask] = -1
    return y.masked_fill_(mask.t(), 5), mask


def statistics(x):
    mean, var = torch.zeros(3), torch.ones(3)
    y = F.batch_norm(x, mean, var, training=True)
    return y, mean, var


def indices(x):
    y = x.clone()
    y.index_add_(0, torch.tensor([0, 0]), x[1:])
    y.scatter_(1, torch.tensor([[0], [1], [2]]), 9.0)
    y[torch.tensor([2]), 1] = 4
    y[1:, ::2] = torch.ones(2, 1)
    return y.fill_diagonal_(3)


def loops(x):
    y = torch.zeros(3)
    for row in x:
        if row.sum() > 3:
            y += row
        y.clamp_(max=4)
    return y


def comparisons(x):
    y = x.clone()
    y.ge_(2.0).logical_not_()
    z = torch.zeros(3, 3, dtype=torch.float64)
    torch.eq(x, 1, out=z)
    torch.arange(3, out=(n := torch.empty(3)))
    return y + 1, z / 2, n / 2, torch.arange(6, dtype=torch.int8).cumsum_(0)


def copies_or_views(x):
    for method in (torch.Tensor.contiguous, torch.Tensor.flatten, lambda x: x.reshape(-1), torch.Tensor.ravel):
        method(x).mul_(2)
    return x.is_contiguous() + x.sum()


def spelled_otherwise(x):
    y = x - 2
    F.elu(input=y[0], inplace=True)
    F.dropout(y[1], 1.0, True, True)
    z = F.dropout(y, 0.5, True), F.rrelu(y, 0.1, 0.1, True)
    torch.relu_(input=y[2])
    return y, z[0].sum() * 0, z[1]


def moving_index(x):
    i = torch.tensor(0)
    v = x[i]
    i.add_(1)
    x.mul_(2)
    v.add_(1)
    return i, v


def transposed_properties(x):
    y = x.clone()
    y.T[0].add_(1)
    y.mT[1].mul_(2)
    return y.H, y.unfold(0, 2, 2) * 2


FUNCTIONS = [
    comparisons, copies_or_views, spelled_otherwise, moving_index, transposed_properties,
    written_view, views_of_views, parts, shapes_in_place, outputs, activations, arguments, other_types, statistics, indices,
    loops,
]  # fmt: skip


def numbers(kind="rows"):
    x = torch.arange(9.0).reshape(3, 3) / 2
    return x if kind == "rows" else x.t().contiguous().t() if kind == "columns" else torch.cat([x, x], 1)[:, ::2]


def listed(tree):
    return [x.tolist() for x in (tree if isinstance(tree, (tuple, list)) else (tree,))]


@pytest.mark.parametrize("layout", ["rows", "columns", "parts"])
@pytest.mark.parametrize("remove", ["mutations", "mutations_and_views"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_same_values(function, remove, layout):
    x, y, z = (numbers(layout) for _ in range(3))
    expected = listed(function(x))
    assert listed(functionalize(function, remove=remove)(y)) == expected and y.tolist() == x.tolist()
    graph = make_fx(functionalize(function, remove=remove))(numbers(layout))
    assert listed(graph(z)) == expected and z.tolist() == x.tolist()
    targets = [getattr(node.target, "_opname", "") for node in graph.graph.nodes]
    writes = [name for name in targets if name.endswith("_") or name == "set_item"]
    assert writes in ([], ["copy_"]) and ("copy_" in writes) == (x.tolist() != numbers(layout).tolist())
    if remove == "mutations_and_views":
        assert not {"t", "view", "split", "unbind", "chunk", "diagonal", "select", "unsqueeze"} & set(targets)


def test_random_numbers_are_those_of_the_function():
    def noisy(x):
        y = x.clone().normal_()
        y[0].uniform_().bernoulli_(0.5)
        torch.rand(3, out=(z := torch.empty(3, dtype=torch.float64)))
        return y + torch.randn(3) + z

    torch.manual_seed(3)
    expected, state = noisy(numbers()), torch.get_rng_state()
    torch.manual_seed(3)
    assert functionalize(noisy)(numbers()).tolist() == expected.tolist()
    assert torch.get_rng_state().tolist() == state.tolist()


def test_it_is_differentiable_and_can_be_mapped():
    def cubes(x):
        y = x.clone()
        y[1:].mul_(x[:2])
        return (y * y).sum()

    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (expected,) = torch.autograd.grad(cubes(x), x)
    (found,) = torch.autograd.grad(functionalize(cubes)(x), x)
    assert found.tolist() == expected.tolist() == grad(functionalize(cubes))(x.detach()).tolist()
    rows = torch.arange(6.0).reshape(2, 3)
    assert vmap(functionalize(cubes))(rows).tolist() == [cubes(row).item() for row in rows]


def test_modules_and_keyword_arguments():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(inplace=True), torch.nn.Linear(4, 2))
    x = numbers()
    assert listed(functionalize(net)(x)) == listed(net(x))
    assert functionalize(lambda x, *, k: x.clone().mul_(k))(x, k=2).tolist() == (x * 2).tolist()


def test_no_gradient_comes_through_no_grad():
    def f(x):
        with torch.no_grad():
            s = x * 2
            s += x
        return x * s

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (found,) = torch.autograd.grad(functionalize(f)(x).sum(), x)
    assert found.tolist() == [3.0, 6.0]


def test_lists_dicts_and_keywords_are_arguments():
    def f(pair, *, more):
        pair[0].add_(1)
        more["a"].mul_(pair[1])
        return [pair[0] * 2, more["a"]]

    results = []
    for function in (f, functionalize(f)):
        a, b, c = torch.ones(2), torch.full((2,), 3.0), torch.ones(2)
        results.append((listed(function([a, b], more={"a": c})), listed((a, b, c))))
    assert results[0] == results[1]


def test_statistics_in_inference_mode():
    def f(x, mean, var):
        return F.batch_norm(x, mean, var, training=True)

    for mode in (torch.inference_mode, torch.no_grad, torch.enable_grad):
        with mode():
            mean, var = torch.zeros(3), torch.ones(3)
            functionalize(f)(numbers(), mean, var)
            expected = torch.zeros(3), torch.ones(3)
            f(numbers(), *expected)
        assert listed((mean, var)) == listed(expected)


def test_parts_that_interleave_may_be_written():
    x = torch.zeros(3, 2)
    functionalize(lambda a, b: a.add_(1))(*x.unbind(1))
    assert x.tolist() == [[1.0, 0.0]] * 3


class Hundredfold(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 100


def no_grad_write(x):
    y = x * 3
    with torch.no_grad():
        y.mul_(2)
    return y


def with_hook(x):
    y = x * 2
    y.register_hook(lambda g: g * 50)
    return y


def other_data(x):
    y = x.clone()
    y.data = torch.zeros(2)
    return y * 2


found_elsewhere, statistics_elsewhere = torch.zeros(3), (torch.zeros(3), torch.ones(3))
REFUSED = {
    "elsewhere": (lambda x: found_elsewhere.add_(1), "add_.. writes to a tensor that the function finds elsewhere"),
    "out elsewhere": (lambda x: torch.add(x, 1, out=found_elsewhere), "writes to a tensor that the function finds elsewhere"),
    "statistics": (lambda x: F.batch_norm(x.expand(2, 3), *statistics_elsewhere, training=True), "finds elsewhere"),
    "another type": (lambda x: x.clone().view(torch.int32).add_(1), "through view.., a view of another dtype"),
    "shared elements": (lambda x: x.clone().expand(2, 3)[0].mul_(5), "a view with elements that share memory"),
    "a Function": (lambda x: Hundredfold.apply(x) * 1, "the backward of Hundredfold"),
    "a hook": (with_hook, "calls register_hook"),
    "no_grad": (no_grad_write, r"mul_\(\) writes within no_grad\(\) to a tensor that requires grad"),
    "requires_grad_": (lambda x: x.detach().requires_grad_(), "makes a leaf that requires grad"),
    "resized": (lambda x: x.detach().clone().resize_(2), "calls resize_"),
    "shape of an argument": (lambda x: x.unsqueeze_(0), "changes the shape of an argument"),
    "data": (lambda x: x.data * 2, "in the memory of another one, made by what is no operation"),
    "other data": (other_data, "gave a tensor other memory"),
    "NumPy": (lambda x: x.detach().numpy(), "calls numpy"),
    "strided in place": (lambda x: x.clone()[1:].as_strided_((2,), (1,), 0), "as_strided.. of a view"),
    "strided": (lambda x: x[1:].as_strided((2,), (1,), 0), "as_strided.. of a view"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_recorded_is_refused_before_it_is_written(name):
    function, text = REFUSED[name]
    with pytest.raises(NotImplementedError, match=text):
        functionalize(function)(torch.ones(3, requires_grad=True))
    assert listed((found_elsewhere, *statistics_elsewhere)) == [[0.0] * 3, [0.0] * 3, [1.0] * 3]


def test_arguments_keep_their_shape():
    with pytest.raises(NotImplementedError, match=r"exp\(out=\) changes the shape of an argument"):
        functionalize(lambda x, y: torch.exp(x, out=y))(torch.ones(2), torch.ones(0))


def test_arguments_that_share_memory_are_read_only():
    x = torch.zeros(3)
    with pytest.raises(NotImplementedError, match="shares memory with another"):
        functionalize(lambda a, b: a.add_(1) + b)(x, x[1:2])
    with pytest.raises(NotImplementedError, match="shares memory with another"):
        functionalize(lambda a, b: a.add_(1) + b)(x, x)
    assert functionalize(lambda a, b: a + b)(x, x[1:2]).tolist() == [0.0] * 3 == x.tolist()


def test_another_remove_is_refused():
    with pytest.raises(ValueError, match="remove is 'mutations' or 'mutations_and_views', but got 'views'"):
        functionalize(torch.sin, remove="views")


def set_dtype(x):
    torch.set_default_dtype(torch.float64)
    try:
        return torch.zeros(3) + x
    finally:
        torch.set_default_dtype(torch.float32)


def left_dtype(x):
    torch.set_default_dtype(torch.float64)
    return x


def seeded(x):
    torch.manual_seed(1)
    return torch.rand(3)


def seeded_after(x):
    y = torch.rand(3)
    torch.default_generator.manual_seed(1)
    return y


SETTINGS = {
    set_dtype: "set_default_dtype", left_dtype: "set_default_dtype", seeded: "manual_seed", seeded_after: "manual_seed",
}  # fmt: skip


@pytest.mark.parametrize("function", SETTINGS, ids=lambda f: f.__name__)
def test_settings_are_refused_by_name_and_stay(function):
    state = torch.get_rng_state()
    with pytest.raises(NotImplementedError, match=rf"functionalize\(\): the function changes .*{SETTINGS[function]}\(\)"):
        functionalize(function)(torch.ones(3))
    assert torch.get_default_dtype() is torch.float32 and torch.get_rng_state().tolist() == state.tolist()


def test_a_generator_goes_on_once():
    def own(x):
        return torch.rand(3, generator=torch.Generator().manual_seed(3)) + x.clone().normal_(generator=given)

    given = torch.Generator()
    expected = [own(torch.ones(3)).tolist() for _ in range(2)]
    given = torch.Generator()
    assert [functionalize(own)(torch.ones(3)).tolist() for _ in range(2)] == expected


TRANSFORMS = {
    "grad": lambda x: grad(lambda y: (y * y).sum())(x),
    "vmap": lambda x: vmap(torch.sin)(x),
    "jvp": lambda x: torch.func.jvp(torch.sin, (x,), (x,))[1],
    "jacrev": lambda x: torch.func.jacrev(torch.sin)(x),
    "hessian": lambda x: torch.func.hessian(lambda y: y.sin().sum())(x),
    "backward": lambda x: torch.autograd.grad(x.sin().sum(), x)[0],
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_within_is_refused_with_the_way_out(name):
    with pytest.raises(NotImplementedError, match=r"^functionalize\(\).*Call the transform on.*grad\(functionalize\(f\)\)"):
        functionalize(TRANSFORMS[name])(torch.ones(3, requires_grad=True))


def test_what_is_found_elsewhere_is_kept_though_no_name_says_that_it_is_written():
    table = torch.full((3, 2), 5.0)
    for function in (F.embedding, lambda i, w, max_norm: F.embedding_bag(i.reshape(1, 1), w, max_norm=max_norm)):
        with pytest.raises(NotImplementedError, match=r"embedding.*writes to a tensor that the function finds elsewhere"):
            functionalize(lambda i, f=function: f(i, table, max_norm=1.0))(torch.tensor(1))
    assert (table == 5).all()


def test_views_are_put_back_without_an_index_of_each_element():
    def written(x):
        y = x.clone()
        y[1:, 0].add_(1)
        y.t()[1:3].mul_(2)
        y.view(2, 2, 4)[:, 1, ::2].zero_()
        y.narrow(0, 1, 2).permute(1, 0)[0].neg_()
        y.movedim(0, 1).unsqueeze(1)[2].exp_()
        y.unflatten(1, (2, 2))[..., 0].sub_(3)
        y.diagonal(1).fill_(7)
        y.split([1, 3])[1].add_(1)
        return y

    x = torch.arange(16.0).reshape(4, 4) / 8
    graph = make_fx(functionalize(written))(x)
    assert torch.equal(graph(x), written(x))
    assert not {"arange", "put"} & {getattr(node.target, "_opname", "") for node in graph.graph.nodes}


def test_windows_are_put_back():
    def written(x):
        y = x.clone()
        y.unfold(0, 2, 2)[1].add_(5)
        y.unfold(0, 2, 3).mul_(3)
        return y

    x = torch.arange(6.0)
    assert functionalize(written)(x).tolist() == written(x).tolist()


def test_shapes_in_place_within_vmap():
    def turned(x):
        y = x * 2
        y.t_()[0].add_(1)
        return y

    x = torch.arange(8.0).reshape(2, 2, 2)
    assert torch.equal(vmap(functionalize(turned))(x), vmap(turned)(x))
