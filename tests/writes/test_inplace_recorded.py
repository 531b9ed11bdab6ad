"""In-place operations in the graph. The numbers are the cases of NOTE [In place]."""

import re

import numpy as np
import pytest
from common import IS_TORCH, leaf
from op_calls import Call, each_sample, run_backward, to_numpy
from opinfo import OPS

import autograd_cy as torch

CONSTANT = {"eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor", "logical_not"}


FLOAT_CALLS = {
    "abs": (), "neg": (), "reciprocal": (), "exp": (), "log": (), "sqrt": (), "rsqrt": (), "sin": (), "cos": (), "tanh": (),
    "sigmoid": (), "erf": (), "relu": (), "square": (), "sgn": (), "add": (1.5,), "sub": (0.5,), "mul": (2.5,), "div": (2.0,),
    "pow": (3,), "clamp": (0.6, 1.4), "eq": (1.0,), "ne": (1.0,), "lt": (1.0,), "le": (1.0,), "gt": (1.0,), "ge": (1.0,),
    "logical_not": (), "logical_and": (1.0,), "logical_or": (0.0,), "logical_xor": (1.0,),
    "remainder": (0.8,), "fmod": (0.8,),
}
TENSOR_CALLS = ["add", "sub", "mul", "div", "pow", "clamp"]


# each of the table of operations

FORMS = {"as_strided", "squeeze", "t", "transpose", "unsqueeze"}  # which test_inplace_views.py tests
WITH_FORM = [row for row in OPS if hasattr(torch.Tensor, row.name + "_") and row.path.count(".") < 2 and row.name not in FORMS]
MADE = {
    "a copy": lambda x: x.clone(),
    "a view": lambda x: torch.stack([x, x], -1)[..., 0],
    "another order": lambda x: x.clone().permute(*reversed(range(x.ndim))).contiguous().permute(*reversed(range(x.ndim))),
}


def a_dtype(row):
    """One that is differentiable; integers, where there is none."""
    return [d for d in row.dtypes + row.forward if d in ("float64", "complex128", "int64")][:1]


@each_sample(WITH_FORM, a_dtype, lambda row, sample: isinstance(sample.args[0], np.ndarray))
def test_each_writes_what_the_function_computes(row, sample):
    """Values and gradients; a call whose result does not fit is refused, before anything was written."""
    op = row.function(torch)
    for make in MADE.values():
        function, form = Call(row, sample), Call(row, sample)
        function.op = lambda x, *args, **kwargs: op(make(x), *args, **kwargs)  # noqa: B023
        form.op = lambda x, *args, **kwargs: written_by(row.name + "_", make(x), *args, **kwargs)  # noqa: B023
        expected, target = function(*function.leaves(False))[0], make(torch.from_numpy(function.inputs[0]))
        if expected.shape != target.shape or not torch.can_cast(expected.dtype, target.dtype):
            with pytest.raises((RuntimeError, TypeError)):
                form(*form.leaves(False))
            continue
        np.testing.assert_array_equal(to_numpy(form(*form.leaves(False))[0]), to_numpy(expected.to(target.dtype)))
        if row.differentiable and expected.dtype == target.dtype:
            for ours, reference in zip(run_backward(form)[3], run_backward(function)[3], strict=True):
                np.testing.assert_allclose(to_numpy(ours), to_numpy(reference), rtol=1e-12, atol=1e-14)


def written_by(name, y, *args, **kwargs):
    version, unchanged = y._version, name == "conj_physical_" and not y.is_complex()
    assert getattr(y, name)(*args, **kwargs) is y and y._version == version + (not unchanged)
    return y


# on views

def both(name, x, args, through=lambda y: y):
    """Value and gradient of the op and of its in-place form, which is called on a view if `through` takes one."""
    plain = getattr(through(x * 1), name)(*args)
    y = x * 1
    target = through(y)
    version = y._version
    assert getattr(target, name + "_")(*args) is target and y._version == version + 1
    return plain.to(x.dtype), target


VIEW = {"itself": lambda y: y, "a view": lambda y: y[1:, ::2], "transposed": lambda y: y.t()}


@pytest.mark.parametrize("through", VIEW)
@pytest.mark.parametrize("name", FLOAT_CALLS)
def test_an_in_place_operation_is_the_operation(name, through):  # 2, 3
    x = leaf([[0.5, 1.0, 1.5], [2.0, 0.7, 1.3]])
    plain, written = both(name, x, FLOAT_CALLS[name], VIEW[through])
    assert written.tolist() == plain.tolist()
    seed = torch.arange(1.0, 1.0 + plain.numel(), dtype=torch.float64).reshape(plain.shape)
    (g,) = torch.autograd.grad(written, x, seed)
    if name in CONSTANT:
        assert g.tolist() == [[0.0] * 3] * 2 and written.grad_fn is not None
    else:
        assert g.tolist() == torch.autograd.grad(plain, x, seed)[0].tolist()


@pytest.mark.parametrize("through", VIEW)
@pytest.mark.parametrize("name", TENSOR_CALLS)
def test_both_operands_of_an_in_place_operation_get_gradients(name, through):
    def function(x, other):
        y = x * 1
        target = VIEW[through](y)
        getattr(target, name + "_")(other[: target.shape[0], : target.shape[1]])
        return y

    x, other = leaf([[0.5, 1.0, 1.5], [2.0, 0.7, 1.3]]), leaf([[1.2, 1.6, 0.4], [1.1, 0.9, 1.7], [0.3, 1.9, 0.8]])
    assert torch.autograd.gradcheck(function, (x, other), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, (x, other))


PICKS, MASK = torch.tensor([2, 0]), torch.tensor([True, False, True])
OVERWRITES = {
    "copy_": lambda y, w: y.copy_(w),
    "copy_ broadcast": lambda y, w: y.copy_(w[:1]),
    "zero_": lambda y, w: y.zero_(),
    "fill_": lambda y, w: y.fill_(2.0),
    "fill_ tensor": lambda y, w: y.fill_(w[1]),
    "masked_fill_": lambda y, w: y.masked_fill_(MASK, 3.0),
    "masked_fill_ tensor": lambda y, w: y.masked_fill_(MASK, w[0]),
    "index_put_": lambda y, w: y.index_put_((PICKS,), w[:2]),
    "index_put_ mask": lambda y, w: y.index_put_((MASK,), w[:1]),
    "index_put_ add": lambda y, w: y.index_put_((torch.tensor([1, 1, 0]),), w, accumulate=True),
    "index_add_": lambda y, w: y.index_add_(0, torch.tensor([1, 1, 0]), w, alpha=3),
    "scatter_": lambda y, w: y.scatter_(0, PICKS, w[:2]),
    "scatter_ number": lambda y, w: y.scatter_(0, PICKS, 4.0),
    "scatter_add_": lambda y, w: y.scatter_add_(0, torch.tensor([1, 1, 0]), w),
    "item": lambda y, w: y.__setitem__(1, w[0]),
    "item number": lambda y, w: y.__setitem__(1, 7.0),
    "slice": lambda y, w: y.__setitem__(slice(1, None), w[:2]),
    "step": lambda y, w: y.__setitem__(slice(None, None, 2), w[None, 1:]),
    "all": lambda y, w: y.__setitem__(slice(None), w),
    "ellipsis": lambda y, w: y.__setitem__(..., w[0]),
    "list": lambda y, w: y.__setitem__([0, 2], w[:2]),
    "mask": lambda y, w: y.__setitem__(MASK, w[1:]),
    "mask number": lambda y, w: y.__setitem__(MASK, 5.0),
    "in-place item": lambda y, w: y.__setitem__(0, y[0].clone() * w[2]),
    "array": lambda y, w: y.__setitem__(slice(0, 2), np.array([1.0, 2.0])),
}


@pytest.mark.parametrize("make", [lambda x: x * 1, lambda x: torch.zeros(3, dtype=torch.float64), lambda x: (x * 1)[:],
                                  lambda x: torch.stack([x, x], 1)[:, 0]],
                         ids=["result", "constant", "view", "strided view"])
@pytest.mark.parametrize("case", OVERWRITES)
def test_writes_of_other_values_are_recorded(case, make):
    def function(x, w):
        y = make(x)
        OVERWRITES[case](y, w)
        return y * x

    x, w = leaf([0.5, 1.0, 1.5]), leaf([1.2, 0.6, 0.4])
    assert torch.autograd.gradcheck(function, (x, w), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, (x, w))


NAMES = {
    "add_": (lambda y, w: y.add_(w), "AddBackward0"),
    "exp_": (lambda y, w: y.exp_(), "ExpBackward0"),
    "eq_": (lambda y, w: y.eq_(1), "EqBackward0"),
    "copy_": (lambda y, w: y.copy_(w), "torch::autograd::CopyBackwards"),
    "zero_": (lambda y, w: y.zero_(), "ZeroBackward0"),
    "fill_": (lambda y, w: y.fill_(1), "FillBackward2"),
    "fill_ tensor": (lambda y, w: y.fill_(w[0]), "FillBackward3"),
    "item": (lambda y, w: y.__setitem__(0, w[0]), "torch::autograd::CopySlices"),
    "all items": (lambda y, w: y.__setitem__(slice(None), 3.0), "FillBackward3"),
    "mask": (lambda y, w: y.__setitem__(MASK, w[:2]), "IndexPutBackward0"),
    "masked_fill_": (lambda y, w: y.masked_fill_(MASK, 1.0), "MaskedFillBackward0"),
    "masked_fill_ tensor": (lambda y, w: y.masked_fill_(MASK, w[0]), "MaskedFillBackward1"),
    "index_add_": (lambda y, w: y.index_add_(0, PICKS, w[:2]), "IndexAddBackward0"),
    "index_copy_": (lambda y, w: y.index_copy_(0, PICKS, w[:2]), "IndexCopyBackward0"),
    "index_fill_": (lambda y, w: y.index_fill_(0, PICKS, 1.0), "IndexFillBackward0"),
    "index_fill_ tensor": (lambda y, w: y.index_fill_(0, PICKS, w[0]), "IndexFillBackward1"),
    "masked_scatter_": (lambda y, w: y.masked_scatter_(MASK, w), "MaskedScatterBackward0"),
    "put_": (lambda y, w: y.put_(PICKS, w[:2]), "PutBackward0"),
    "scatter_": (lambda y, w: y.scatter_(0, PICKS, w), "ScatterBackward0"),
    "scatter_ number": (lambda y, w: y.scatter_(0, PICKS, 1.0), "ScatterBackward1"),
    "scatter_add_": (lambda y, w: y.scatter_add_(0, PICKS, w), "ScatterAddBackward0"),
    "a view": (lambda y, w: y[1:].mul_(2), "torch::autograd::CopySlices"),
}


@pytest.mark.parametrize("case", NAMES)
def test_nodes_have_the_names_of_pytorch(case):
    write, name = NAMES[case]
    y = leaf([1.0, 2.0, 3.0]) * 1
    write(y, leaf([1.0, 2.0, 3.0]))
    assert y.grad_fn.name() == name and y._version == 1


def test_the_node_leads_to_what_was_there_before():  # 2, 3
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    y = x * 1
    before = y.grad_fn
    y.add_(w)
    assert y.grad_fn.next_functions[0] == (before, 0) and y.grad_fn.next_functions[1][0].variable is w
    added = y.grad_fn
    y[0] = w[1] * 2
    assert y.grad_fn.next_functions[0] == (added, 0) and y.grad_fn.next_functions[1][0].name() == "MulBackward0"


def test_augmented_assignment_is_in_place_and_recorded():
    x = leaf([1.0, 2.0, 3.0])
    y = same = x * 1
    y += 1
    y *= x.detach()
    y -= 0.5
    y /= 2
    y **= 2
    assert y is same and y._version == 5
    y.sum().backward()
    assert x.grad.tolist() == [0.75, 5.5, 17.25]


def test_integers_are_written_bit_by_bit():
    x = torch.tensor([6, 5])
    x &= 3
    x |= torch.tensor([8, 0])
    x ^= 1
    assert x.tolist() == [11, 0] and x.bitwise_not_().tolist() == [-12, -1]


@pytest.mark.parametrize("change", [
    lambda x: x.add_(1), lambda x: x.zero_(), lambda x: x.exp_(), lambda x: x.masked_fill_(MASK, 0.0),
    lambda x: x.__setitem__(MASK, 1.0), lambda x: x.copy_(torch.ones(3))])
def test_a_leaf_is_refused(change):  # 4, 5
    x = leaf([1.0, 2.0, 3.0])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        change(x)
    assert x.tolist() == [1.0, 2.0, 3.0] and x._version == 0


@pytest.mark.parametrize("change", [
    lambda x: x.__setitem__(0, 1), lambda x: x[1:].mul_(2), lambda x: x.view(3, 1).exp_(), lambda x: x.t().zero_(),
    lambda x: x[0].fill_(2.0)])
def test_a_view_of_a_leaf_is_refused(change):  # 4, 5
    x = leaf([1.0, 2.0, 3.0])
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"):
        change(x)
    assert x.tolist() == [1.0, 2.0, 3.0] and x._version == 0


def test_a_view_of_what_became_a_leaf_that_requires_grad_is_refused():  # 4
    x = torch.zeros(2)
    view = x[0]
    x.requires_grad_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        view.add_(1)


REFUSED = {
    "shape": (lambda y: y[:1].mul_(torch.ones(3)), r"output with shape \[1\] doesn't match the broadcast shape \[3\]"),
    "shape of pow_": (lambda y: y[:1].pow_(torch.ones(3)), r"output with shape \[1\] doesn't match the broadcast shape \[3\]"),
    "complex": (lambda y: y.mul_(1j), "result type ComplexFloat can't be cast|result type ComplexDouble can't be cast"),
    "overlap": (lambda y: y[:1].expand(3).exp_(), "refers? to a single memory location"),
    "items": (lambda y: y.__setitem__(slice(0, 2), torch.ones(3)), "must match|shape mismatch"),
    "mask": (lambda y: y.masked_fill_(torch.tensor([1, 0, 1]), 1.0), "only supports boolean masks"),
    "scatter": (lambda y: y.scatter_(0, torch.tensor([3]), 1.0), "index 3 is out of bounds|out of bounds"),
    "index_add": (lambda y: y.index_add_(0, torch.tensor([0]), torch.ones(1)), "same dtype"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_write_changes_nothing(case):  # 5
    call, message = REFUSED[case]
    y = leaf([1.0, 2.0, 3.0]) * 1
    before = y.grad_fn
    with pytest.raises((RuntimeError, IndexError), match=message):
        call(y)
    assert y.tolist() == [1.0, 2.0, 3.0] and y._version == 0 and y.grad_fn is before


@pytest.mark.parametrize("view", [False, True])
def test_a_saved_result_is_stale_after_the_next_write(view):  # 6
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1
    (y[:] if view else y).exp_()
    (y.view(3) if view else y).mul_(2)
    message = (r"modified by an inplace operation: \[torch\.DoubleTensor \[3\]\], which is output 0 of .*, "
               r"is at version 2; expected version 1 instead\. Hint: enable anomaly")
    with pytest.raises(RuntimeError, match=message):
        y.sum().backward()


@pytest.mark.parametrize("write", [lambda y, w: y.mul_(w), lambda y, w: y.pow_(2.5), lambda y, w: y[:1].div_(w[:1]),
                                   lambda y, w: y.sin_(), lambda y, w: y[1:].abs_().log_()])
def test_what_a_gradient_needs_of_the_tensor_as_it_was_is_copied(write):  # 7
    def function(x, w):
        y = x * 1
        write(y, w)
        y.mul_(2)
        return y

    assert torch.autograd.gradcheck(function, (leaf([0.5, 1.5]), leaf([2.0, 3.0])))


def test_hooks_stay_with_the_old_node_and_retained_gradients_move():  # 8
    x = leaf([1.0, 2.0])
    y = x * 1
    seen = []
    y.register_hook(lambda g: seen.append(("old", g.tolist())))
    y.retain_grad()
    y.mul_(5)
    y.register_hook(lambda g: seen.append(("new", g.tolist())))
    y.sum().backward()
    assert seen == [("new", [1.0, 1.0]), ("old", [5.0, 5.0])] and y.grad.tolist() == [1.0, 1.0]


def test_the_gradient_that_a_view_retains_moves_too():  # 8
    x = leaf([1.0, 2.0])
    y = x * 1
    view = y[1:]
    view.retain_grad()
    y.retain_grad()
    view.mul_(5)
    (y * 3 + view).sum().backward()
    assert view.grad.tolist() == [2.0] and y.grad.tolist() == [3.0, 5.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64, torch.float16])
def test_the_dtype_of_the_target_stays(dtype):
    x = torch.ones(2, dtype=dtype, requires_grad=True)
    y = x * 1
    y.add_(torch.ones(2, dtype=torch.float64)).mul_(2)
    y[0] = 3
    assert y.dtype == dtype
    y.abs().sum().backward()
    assert x.grad.dtype == dtype and to_numpy(x.grad).real.tolist() == [0.0, 2.0]


def test_an_integer_target_takes_values_without_history():
    counts, x = torch.zeros(2, dtype=torch.int64), leaf([1.5, 2.5])
    counts.copy_(x)
    counts[0] = x[1] * 2
    assert counts.tolist() == [5, 2] and not counts.requires_grad


def test_a_long_chain_of_item_writes_runs_and_dies():
    x = leaf([0.5, 1.0])
    y = torch.zeros(2000, dtype=torch.float64)
    y[0] = x[0]
    for i in range(1, 2000):
        y[i] = y[i - 1] + x[1]
    y[-1].backward()
    assert x.grad.tolist() == [1.0, 1999.0]
    del y


def test_writes_under_no_grad_are_not_recorded():
    x = leaf([1.0, 2.0])
    y = x * 1
    node = y.grad_fn
    with torch.no_grad():
        y.mul_(3)
        y[0] = 7.0
        y.relu_()
    assert y.grad_fn is node and y._version == 3


def test_detach_in_place():
    x = leaf([1.0, 2.0])
    y = x * 1
    assert y.detach_() is y and y.is_leaf and not y.requires_grad and y.grad_fn is None
    for view in ((x * 1)[:1], torch.ones(2)[:1]):
        with pytest.raises(RuntimeError, match=r"Can't detach views in-place\. Use detach\(\) instead"):
            view.detach_()


def test_resize_in_place():
    for x in (leaf([1.0, 2.0]), leaf([1.0, 2.0]) * 1):
        with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
            x.resize_(3)
        assert x.tolist() == [1.0, 2.0]
    x = torch.ones(4)
    where = x.data_ptr()
    assert x.resize_(2, 2).shape == (2, 2) and x.data_ptr() == where
    assert x.resize_((3, 2)).sum().item() == 4 and x.resize_(1).tolist() == [1.0]


# What changed a saved tensor, and when it does no harm


def test_the_error_says_who_wrote_and_who_saved():
    if IS_TORCH:
        pytest.skip("this package says more")
    x = leaf([1.0, 2.0, 3.0])
    y = x.exp()
    y.mul_(2)
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    here = r"\(at .*test_inplace_recorded\.py:\d+, in test_the_error_says.*\)"
    assert re.search(rf"last written by mul_\(\) {here}\. ExpBackward0 had saved it {here}", str(caught.value))


WRITES_ELSEWHERE = {
    "another row": lambda y: y[1].mul_(2),
    "item": lambda y: y.__setitem__((1, 2), 5.0),
    "rows after": lambda y: y[1:].zero_(),
    "several": lambda y: [y[i].add_(1) for i in (1, 2, 1)],
}


@pytest.mark.skipif(IS_TORCH, reason="PyTorch counts one version for all of the memory")
@pytest.mark.parametrize("case", WRITES_ELSEWHERE)
def test_a_write_elsewhere_makes_nothing_stale(case):
    x = leaf([[1.0, 2.0, 3.0]] * 3)
    y = x * 1
    saved = y[0]
    z = saved * saved
    WRITES_ELSEWHERE[case](y)
    z.sum().backward()
    assert x.grad.tolist() == [[2.0, 4.0, 6.0], [0.0] * 3, [0.0] * 3]


@pytest.mark.skipif(IS_TORCH, reason="PyTorch counts one version for all of the memory")
def test_interleaved_columns_do_not_meet():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    y = x * 1
    z = y[:, 0].exp() + y[:, 0] ** 3
    y[:, 1].mul_(y[:, 0])
    (z.sum() + y[:, 1].sum()).backward()
    assert np.allclose(to_numpy(x.grad), [[np.e + 5, 1.0], [np.exp(3) + 31, 3.0]])


@pytest.mark.parametrize("change", [
    lambda y: y.mul_(2), lambda y: y[0].mul_(2), lambda y: y[:, 1].zero_(), lambda y: y.detach().view(9)[:2].mul_(2),
    lambda y: [y[2].add_(1) for _ in range(20)]])
def test_a_write_that_may_concern_the_saved_part_is_an_error(change):
    y = leaf([[1.0, 2.0, 3.0]] * 3) * 1
    z = y[0] * y[0]
    change(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_the_loop_over_rows_that_everybody_writes_first():
    x = leaf([0.5, -0.2])
    w = leaf([[0.3, 0.1], [0.2, -0.4]])

    def run(x, w):
        states = torch.zeros(4, 2, dtype=torch.float64)
        states[0] = x
        for i in range(3):
            states[i + 1] = (states[i] @ w).tanh()
        return states

    assert torch.autograd.gradcheck(run, (x, w))


# Against PyTorch


@pytest.mark.parametrize("case", OVERWRITES)
def test_gradients_are_those_of_pytorch(case):
    theirs = pytest.importorskip("torch")
    found = []
    for module in (torch, theirs):
        for name in ("PICKS", "MASK"):
            globals()[name] = module.tensor({"PICKS": [2, 0], "MASK": [True, False, True]}[name])
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(globals(), "torch", module)
            x, w = (module.tensor(v, dtype=module.float64, requires_grad=True) for v in ([0.5, 1.0, 1.5], [1.2, 0.6, 0.4]))
            y = module.stack([x, x], 1)[:, 0]
            if case == "array" and module is theirs:
                y[0:2] = theirs.tensor([1.0, 2.0], dtype=theirs.float64)
            else:
                OVERWRITES[case](y, w)
            g = module.autograd.grad((y * y * x).sum(), (x, w), allow_unused=True)
            found.append([y.tolist(), [None if v is None else v.tolist() for v in g], y._base.grad_fn.name(), y._version])
    globals()["PICKS"], globals()["MASK"] = torch.tensor([2, 0]), torch.tensor([True, False, True])
    assert same(*found), found


def same(a, b):
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == pytest.approx(b) if isinstance(a, float) else a == b
