"""Views taken in no_grad and inference mode, of inference tensors, of detached memory, and resized: as PyTorch has them.

Each case is a function of the module; what it gives, or raises, is compared with PyTorch's answer, which stands beside it.
"""

import re

import pytest
from common import IS_TORCH

import autograd_cy as torch


def leaf(module):
    return module.tensor([1.0, 2.0, 3.0], requires_grad=True)


def quiet_view(module, x):
    with module.no_grad():
        return x[:2]


def inference_view(module, x):
    with module.inference_mode():
        return x[:2]


def inferred(module, **options):
    with module.inference_mode():
        return module.ones(3, **options)


def name_of(node):
    return None if node is None else node.name()


def of_a_leaf(m):
    v = quiet_view(m, leaf(m))
    return v.requires_grad, v.is_leaf, v.grad_fn, v.grad, v._is_view(), v.retains_grad


def used(m):
    """It says that it requires grad, and leads nowhere."""
    x = leaf(m)
    v = quiet_view(m, x)
    y = v * 3
    y.sum().backward()
    return y.requires_grad, [node for node, _ in y.grad_fn.next_functions], x.grad, v.grad


def all_kinds(m):
    x = leaf(m)
    with m.no_grad():
        views = [x[0], x[1:], x.view(3, 1), x.expand(2, 3), x.squeeze(), x.reshape(3), x.t(), *x.split(2), x.unbind()[0]]
        others = [x * 1, x.clone(), x.detach(), x[[0, 1]]]
    return [v.requires_grad for v in views], [y.requires_grad for y in others]


def of_inference_tensor(m):
    x = inferred(m)
    views = [x[:2], x.view(3, 1), *x.split(2), x.unbind()[0], x.t()]
    return [(v.is_inference(), v._is_view(), v.requires_grad) for v in views]


def of_inference_leaf(m):
    """Nothing is recorded on it."""
    x = inferred(m, requires_grad=True)
    views = [x[:2], x[0], x.view(3, 1), x.split(2)[0], x.unbind()[0]]
    return [(v.requires_grad, v.grad_fn, v.is_leaf) for v in views], (x * 2).requires_grad


def as_arrays(m):
    x = leaf(m) * 1
    with m.no_grad():
        return x.numpy().tolist(), memoryview(x[0].numpy()).tolist(), x[1:].numpy().sum().item()


def in_inference_mode_as_array(m):
    x = leaf(m)
    with m.inference_mode():
        return x.numpy().tolist()


def replayed(m):
    x = leaf(m) * 1
    with m.autograd._force_original_view_tracking(True):
        v, w = x[:2], x.expand(2, 3).transpose(0, 1)
        before = x[1:]
    x.mul_(2)
    names = [name_of(v.grad_fn), name_of(w.grad_fn), name_of(w.grad_fn.next_functions[0][0])]
    (g,) = m.autograd.grad((v.sum() + (w * w).sum() + before.sum()), x)
    return names, g.tolist()


def replayed_after_its_own_write(m):
    x = leaf(m) * 1
    with m.autograd._force_original_view_tracking(True):
        v = x.view(3, 1)[:2]
        v.mul_(2)
    return name_of(v.grad_fn), name_of(x.grad_fn)


def same_size(m):
    x, quiet = m.ones(3), inferred(m)
    versions = [x.resize_(3)._version, x.resize_(2)._version, x.resize_(1, 2)._version]
    return versions, quiet.resize_(3).shape, m.ones(3).expand(2, 3).resize_(2, 3).stride()


def resized_view(m):
    x = m.arange(6.0)
    v = x[1:3]
    v.resize_(4)
    v.mul_(2)
    return v.tolist(), x.tolist(), m.arange(6.0).view(2, 3).t().resize_(6).tolist()


def resized_in_inference_mode(m):
    with m.inference_mode():
        return m.ones(3).resize_(5).shape


ANSWERS = {
    of_a_leaf: (True, True, None, None, True, False),
    used: (True, [None, None], None, None),
    all_kinds: ([True] * 10, [False] * 4),
    of_inference_tensor: [(True, False, False)] * 6,
    of_inference_leaf: ([(False, None, True)] * 5, True),
    as_arrays: ([1.0, 2.0, 3.0], 1.0, 5.0),
    in_inference_mode_as_array: [1.0, 2.0, 3.0],
    replayed: (["SliceBackward0", "TransposeBackward0", "ExpandBackward0"], [9.0, 18.0, 25.0]),
    replayed_after_its_own_write: ("SliceBackward0", "torch::autograd::CopySlices"),
    same_size: ([0, 1, 2], (3,), (0, 1)),
    resized_view: ([2.0, 4.0, 6.0, 8.0], [0.0, 2.0, 4.0, 6.0, 8.0, 5.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
    resized_in_inference_mode: (5,),
}

NO_GRAD = "created in no_grad mode and {} modified inplace with grad mode enabled. Given that this use case is ambiguous"
BLOCKS = "either both inside the {} block (if you don't want the inplace to be tracked) or both outside"
REFUSALS = {
    "a root": (
        lambda m: quiet_view(m, leaf(m)).backward(m.ones(2)),
        "element 0 of tensors does not require grad and does not have a grad_fn",
    ),
    "an input": (
        lambda m: m.autograd.grad((v := quiet_view(m, leaf(m))).mul(2).sum(), v),
        "The differentiated Tensor at index 0 appears to not have been used in the graph",
    ),
    "as an array": (lambda m: quiet_view(m, leaf(m)).numpy(), "Can't call numpy() on Tensor that requires grad"),
    "a write": (lambda m: quiet_view(m, leaf(m)).mul_(2), "A view was " + NO_GRAD.format("is being")),
    "a write, what to do": (lambda m: quiet_view(m, leaf(m) * 1).mul_(2), BLOCKS.format("no_grad")),
    "a write to a view of it": (
        lambda m: quiet_view(m, leaf(m) * 1)[:1].mul_(2),
        "Output 0 of Slice is a view of a view which was " + NO_GRAD.format("is being"),
    ),
    "a use after a write": (
        lambda m: ((v := quiet_view(m, x := leaf(m) * 1)), x.mul_(2), v.sum()),
        "A view was " + NO_GRAD.format("its base or another view of its base has been"),
    ),
    "a write in inference mode's": (
        lambda m: inference_view(m, leaf(m) * 1).mul_(2),
        "A view was created in inference mode and is being modified inplace in normal mode. Given that",
    ),
    "the same, what to do": (lambda m: inference_view(m, leaf(m) * 1).mul_(2), BLOCKS.format("inference_mode")),
    "a write to a view of that": (
        lambda m: inference_view(m, leaf(m) * 1)[:1].mul_(2),
        "Output 0 of Slice is a view of a view which was created in inference mode and is being modified inplace in normal",
    ),
    "one of several": (
        lambda m: (leaf(m) * 1).split(2)[0].mul_(2),
        "the output views to be modified inplace. You should replace the inplace operation by an out-of-place one",
    ),
    "a view of an inference tensor": (lambda m: inferred(m)[:2].mul_(2), "Inplace update to inference tensor outside"),
    "its flag": (lambda m: inferred(m)[:2].requires_grad_(), "Setting requires_grad=True on inference tensor outside"),
    "its size": (lambda m: inferred(m).resize_(2), "Inplace update to inference tensor outside InferenceMode"),
    "a negative size": (lambda m: m.ones(3).resize_(-1), "numel: integer multiplication overflow"),
    "a huge size": (lambda m: m.ones(3).resize_(2**62, 4), "numel: integer multiplication overflow"),
}


@pytest.mark.parametrize("module", ["ours", "PyTorch"])
@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: case.__name__)
def test_answers(case, module):
    m = torch if module == "ours" else pytest.importorskip("torch")
    assert case(m) == ANSWERS[case]


@pytest.mark.parametrize("module", ["ours", "PyTorch"])
@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case, module):
    m = torch if module == "ours" else pytest.importorskip("torch")
    call, message = REFUSALS[case]
    with pytest.raises(RuntimeError, match=re.escape(message)):
        call(m)


# detached in place

DETACHED = "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()"


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(
    "use", [lambda a: a * a, lambda a: (a * 3).sum() * a, lambda a: a.clamp(torch.zeros(2), torch.ones(2)), lambda a: a**2.5]
)
def test_what_was_detached_after_it_was_saved_is_refused(use, create_graph):
    """Under create_graph there was a gradient without a graph."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a = x * 2
    b = use(a)
    a.detach_()
    if not IS_TORCH:
        assert b.grad_fn.next_functions
    with pytest.raises(RuntimeError, match=re.escape(DETACHED)):
        torch.autograd.grad(b.sum(), x, create_graph=create_graph)


def test_what_was_detached_before_it_is_saved_is_a_constant():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a = x * 2
    kept = a * 3
    a.detach_()
    b = a * x
    assert torch.autograd.grad(b.sum(), x)[0].tolist() == [2.0, 4.0]
    assert torch.autograd.grad(kept.sum(), x)[0].tolist() == [6.0, 6.0]
    a.requires_grad_()
    assert torch.autograd.grad((a * a).sum(), a)[0].tolist() == [4.0, 8.0]


# memory shared with the operand


def shared(name, x):
    return {"detach": x.detach(), "data": x.data, "a view of detach": x.detach()[:]}[name]


WRITES = {"+=": lambda d, x: d.__iadd__(x), "-=": lambda d, x: d.__isub__(x), "*=": lambda d, x: d.__imul__(x),
          "add_ alpha": lambda d, x: d.add_(x, alpha=3), "copy_": lambda d, x: d.copy_(x)}  # fmt: skip
GRADIENTS = {"+=": [1.0, 1.0], "-=": [-1.0, -1.0], "*=": [3.0, 5.0], "add_ alpha": [3.0, 3.0], "copy_": [1.0, 1.0]}


@pytest.mark.parametrize("alias", ["detach", "data", "a view of detach"])
@pytest.mark.parametrize("make", [lambda x: x, lambda x: x[:], lambda x: x * 1], ids=["leaf", "view", "result"])
@pytest.mark.parametrize("write", WRITES)
def test_an_operand_on_the_same_memory_keeps_its_place(write, make, alias):
    """A leaf got no gradient."""
    x = torch.tensor([3.0, 5.0], requires_grad=True)
    operand = make(x)
    d = shared(alias, operand)
    WRITES[write](d, operand)
    d.sum().backward()
    assert x.grad.tolist() == GRADIENTS[write]


def test_an_operand_that_is_saved_is_stale_after_the_write():
    x = torch.tensor([3.0, 5.0], requires_grad=True)
    for write in (lambda d: d.div_(x), lambda d: d.pow_(x)):
        d = x.detach()
        write(d)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            d.sum().backward()


# what stands beside a write


def test_the_gradient_that_an_output_of_split_retained_can_be_read_after_a_write():
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True) * 1
    a, _ = x.split(2)
    a.retain_grad()
    a.sum().backward(retain_graph=True)
    x.mul_(2)
    assert a.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", ["eq_", "ne_", "lt_", "le_", "gt_", "ge_"])
@pytest.mark.parametrize("sizes, dtype", [((1,), torch.float32), ((2,), torch.float64), ((), torch.float32)])
def test_what_is_compared_with_in_place_gets_zeros_of_its_own_shape(name, sizes, dtype):
    """They had the shape and type of the target."""
    x = torch.ones(2, 2, requires_grad=True)
    w = torch.ones(sizes, dtype=dtype, requires_grad=True)
    y = x * 1
    getattr(y[0], name)(w)
    y.sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0], [1.0, 1.0]]
    assert w.grad.shape == w.shape and w.grad.dtype == dtype and not w.grad.any()


@pytest.mark.parametrize("name", ["scatter", "scatter_add"])
def test_an_empty_index_scatters_nothing(name):
    """The gradient of the source had the index's shape."""
    x, s = torch.ones(3, 2, requires_grad=True), torch.ones(1, requires_grad=True)
    y = getattr(x, name)(0, torch.zeros(0, dtype=torch.int64), s)
    assert y.tolist() == x.tolist()
    g, h = torch.autograd.grad(y.sum(), (x, s))
    assert g.tolist() == [[1.0, 1.0]] * 3 and h.tolist() == [0.0]
