"""Hooks on every operation see each operation once: however it is spelled, whatever it writes to, in each mode."""

import functools
import operator
import re

import numpy as np
import pytest
from common import IS_TORCH, leaf
from op_calls import Call, each_sample
from opinfo import OPS

import autograd_cy as torch

pytestmark = pytest.mark.skipif(IS_TORCH, reason="PyTorch has none")

MODES = {"grad": torch.enable_grad, "no_grad": torch.no_grad, "inference": torch.inference_mode}
OPERATORS_IN_PLACE = {"add": operator.iadd, "sub": operator.isub, "mul": operator.imul, "div": operator.itruediv,
                      "pow": operator.ipow, "bitwise_and": operator.iand, "bitwise_or": operator.ior,
                      "bitwise_xor": operator.ixor}  # fmt: skip
ASIDE = {"SumBackward0", "SelectBackward0", "ToCopyBackward0"}  # what the writes below call besides
UNDERIVED = "torch::autograd::NotImplemented"  # the node of floor_divide
COMPOSED = {  # of what else an operation without a derivative of its own may consist
    "argwhere": [["nonzero"]], "bucketize": [["searchsorted"]], "count_nonzero": [["SumBackward", "ne"]],
    "detach_copy": [["CloneBackward"]], "nn.functional.one_hot": [["UnsqueezeBackward", "eq"]],
    "nn.functional.ctc_loss": [
        ["CtcLossBackward"], ["CtcLossBackward", "SumBackward"], ["CtcLossBackward", "DivBackward", "MeanBackward"]],
}  # fmt: skip
SWAPPED = {"gt": "lt", "lt": "gt", "ge": "le", "le": "ge"}  # 1 > x is x < 1


def seen_by_hooks(function):
    """The result, and the sorted names of the nodes that a hook on all operations saw."""
    result, seen = observed(function)
    return result, sorted(name for name, _ in seen)


def observed(function):
    """The result, and what a hook saw: (name, whether it was recorded), ..."""
    seen = []

    def note(node, inputs, outputs):
        seen.append((node.name(), any(t.requires_grad for t in tensors_in(outputs))))

    with torch.autograd.graph.register_op_hook(note):
        result = function()
    return result, seen


def nodes_behind(tensors):
    """The sorted names of all nodes in the graph of some tensors, but for the leaves'."""
    found, left = set(), [t.grad_fn for t in tensors]
    while left:
        node = left.pop()
        if node is not None and node not in found and not hasattr(node, "variable"):
            found.add(node)
            left += [target for target, _ in node.next_functions]
    return sorted(node.name() for node in found)


def dtypes_of(row):
    """One that is differentiable, and integers."""
    chosen = [d for d in row.dtypes + row.forward if d in ("float64", "complex128")][:1]
    return (*chosen, *(d for d in row.forward if d == "int64"))


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for item in value for t in tensors_in(item)] if isinstance(value, (list, tuple)) else []


def expected_names(row, sample):
    """What is in the graph when the function is recorded; of what has no derivative, the operation's own name."""
    call = Call(row, sample, differentiable=row.differentiable)
    leaves = call.leaves()
    outputs, seen = observed(lambda: call(*leaves))
    assert sorted(name for name, recorded in seen if recorded) == nodes_behind(outputs)
    names = sorted(name for name, _ in seen)
    if not row.differentiable:
        known = [row.name.split(".")[-1]], [SWAPPED.get(row.name)], [UNDERIVED], *COMPOSED.get(row.name, ())
        assert [alike(name) for name in names] in known
    return names


@each_sample(OPS, dtypes_of)
def test_a_function_is_seen_once_in_each_mode(row, sample):
    expected = expected_names(row, sample)
    for mode in MODES.values():
        with mode():
            call = Call(row, sample)
            leaves = call.leaves(requires_grad=False)
            assert seen_by_hooks(lambda: call(*leaves))[1] == expected  # noqa: B023


def spellings_of(row, first):
    """How the operation can be called, with its first operand's tensor."""
    name = row.name
    found = {}
    if row.method and hasattr(first, name):
        found["method"] = lambda x, *args, **kw: getattr(x, name)(*args, **kw)
        if row.through is not None:
            found["method"] = functools.partial(row.through, found["method"])
    if row.operator is not None:
        found["operator"] = row.operator
    if hasattr(first, f"{name}_"):
        found["in place"] = lambda x, *args, **kw: getattr(x, f"{name}_")(*args, **kw)
    if name in OPERATORS_IN_PLACE:
        found["operator in place"] = OPERATORS_IN_PLACE[name]
    found["out="] = row.function()
    return found


def is_for(spelling, sample):
    return not (sample.kwargs and spelling.startswith("operator"))


@each_sample([row for row in OPS if not row.path.startswith("nn.")], dtypes_of,
             lambda row, sample: isinstance(sample.args[0], np.ndarray))  # fmt: skip
def test_each_spelling_is_seen_once_in_each_mode(row, sample):
    expected = expected_names(row, sample)
    for spelling, function in spellings_of(row, torch.from_numpy(sample.args[0])).items():
        if not is_for(spelling, sample):
            continue
        for mode in MODES.values():
            with mode():
                check_seen(row, sample, spelling, function, expected)


def check_seen(row, sample, spelling, function, expected):
    """Like the function, also where the result is written somewhere; a call that is refused is not seen at all."""
    call = Call(row, sample, wrap=lambda a: a.copy())
    result, options = call(*call.leaves(requires_grad=False)), {}
    if spelling == "out=":
        if len(result) > 1:
            return
        options["out"] = torch.empty_like(result[0])
    call.op = lambda *args, **kwargs: function(*args, **kwargs, **options)
    leaves = call.leaves(requires_grad=False)
    names = []
    try:
        with torch.autograd.graph.register_op_hook(forward=lambda node, *both: names.append(node.name())):
            call(*leaves)
    except (RuntimeError, NotImplementedError, TypeError):
        assert "place" in spelling or "out" in spelling  # another shape or type than that of the first operand
        return
    if "place" in spelling and not row.differentiable:
        assert len(names) == 1 and names[0].lower().startswith((row.name[:4], "logical", "bitwise", UNDERIVED.lower()))
    else:
        assert [alike(name) for name in sorted(names)] == [alike(name) for name in expected]


def alike(name):
    """SqueezeBackward0 of the function is SqueezeBackward3 where it is written."""
    return re.sub(r"Backward\d+$", "Backward", name)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.int64])
def test_writes_are_seen_once_in_each_mode(mode, dtype):
    index, mask = torch.tensor([0, 2]), torch.tensor([True, False, True])
    source, row = torch.tensor([5, 6], dtype=dtype), torch.ones(1, 3, dtype=dtype)
    writes = {
        "FillBackward2": [lambda x: x.fill_(2)],
        "FillBackward3": [lambda x: x.fill_(source.sum()), lambda x: x.__setitem__(0, 2), lambda x: x.__setitem__(..., 2)],
        "ZeroBackward0": [lambda x: x.zero_()],
        "torch::autograd::CopyBackwards": [
            lambda x: x.copy_(source[0]), lambda x: x.copy_(row[0].float()), lambda x: x.__setitem__(slice(2), source),
            lambda x: x.__setitem__(slice(None), row), lambda x: x.copy_(x)],
        "IndexPutBackward0": [
            lambda x: x.__setitem__(index, source), lambda x: x.__setitem__(mask, 1),
            lambda x: x.__setitem__(index, source.double()), lambda x: x.index_put_((index,), source)],
        "MaskedFillBackward0": [lambda x: x.masked_fill_(mask, 2)],
    }  # fmt: skip
    for name, calls in writes.items():
        for write in calls:
            with MODES[mode]():
                x = torch.zeros(3, dtype=dtype)
                assert [n for n in seen_by_hooks(lambda: write(x))[1] if n not in ASIDE] == [name]  # noqa: B023


def test_an_optimizer_step_is_seen():
    """In-place operations under no_grad were not."""
    w, momentum = leaf([1.0, 2.0]), torch.zeros(2, dtype=torch.float64)
    (w * w).sum().backward()
    log = []
    with torch.no_grad(), torch.autograd.graph.register_op_hook(forward=lambda n, i, o: log.append((n.name(), o.tolist()))):
        momentum.mul_(0.9).add_(w.grad)
        w.sub_(momentum * 0.1)
        w.grad.zero_()
    assert log == [("MulBackward0", [0.0, 0.0]), ("AddBackward0", [2.0, 4.0]), ("MulBackward0", [0.2, 0.4]),
                   ("SubBackward0", [0.8, 1.6]), ("ZeroBackward0", [0.0, 0.0])]  # fmt: skip
    assert w.tolist() == [0.8, 1.6] and w.is_leaf and w._version == 1 and momentum.grad_fn is None


def test_a_write_of_a_graph_into_integers_is_seen():
    n = torch.zeros(2, dtype=torch.int64)
    assert seen_by_hooks(lambda: n.copy_(leaf([1.0, 2.0])))[1] == ["torch::autograd::CopyBackwards"]
    assert n.tolist() == [1, 2] and not n.requires_grad


def test_a_hook_that_raises_leaves_the_memory_as_it_was():
    def fail(*call):
        raise ArithmeticError("mine")

    x = torch.ones(3)
    for write in (lambda: x.add_(1), lambda: x.__setitem__(0, 2.0), lambda: x.zero_(), lambda: torch.add(x, 1, out=x)):
        with torch.no_grad(), torch.autograd.graph.register_op_hook(fail), pytest.raises(ArithmeticError):
            write()
    assert x.tolist() == [1.0, 1.0, 1.0] and x._version == 0


def test_inference_tensors_are_not_recorded_because_somebody_looks():
    with torch.inference_mode():
        x = torch.ones(2)
    y = leaf([1.0, 2.0], dtype=torch.float32)
    with torch.autograd.graph.register_op_hook(forward=lambda *call: None):
        assert (x * x).tolist() == [1.0, 1.0]
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
            x * y
        assert (x + y).requires_grad
