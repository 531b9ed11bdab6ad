"""Every operation in place, and every one with out=, through functionalize(): results and arguments as without it."""

import functools

import numpy as np
import pytest
from op_calls import noted, samples_of
from op_case import map_arrays
from opinfo import OPS

import autograd_cy as torch
from autograd_cy._core.ops.registry import OPS as DECLARED
from autograd_cy._ops import aten_function
from autograd_cy.func import functionalize

pytestmark = pytest.mark.filterwarnings("ignore")
F = torch.nn.functional


# how an operation sees its target: the tensor that it is a view of, and the view


def backwards(x):
    return x.permute(*range(x.ndim)[::-1])


def every_second(base):
    return base[(slice(1, None, 2),) * base.ndim] if base.ndim else base


def room_for(x):
    base = torch.zeros([2 * n for n in x.shape], dtype=x.dtype)
    every_second(base).copy_(x)
    return base


def middle_of_three(x):
    return torch.stack([torch.zeros_like(x), x, torch.zeros_like(x)], -1)


VIEWS = {
    "plain": (torch.clone, lambda base: base),
    "slice": (room_for, every_second),
    "transpose": (lambda x: backwards(x).clone(memory_format=torch.contiguous_format), backwards),
    "select": (middle_of_three, lambda base: base.select(-1, 1)),
}


# the calls


def tensors(tree):
    return map_arrays(lambda a: torch.from_numpy(np.array(a)), tree)


def keywords(sample):
    return {k: getattr(torch, v.__name__) if isinstance(v, type) else tensors(v) for k, v in sample.kwargs.items()}


def samples(row):
    """In a floating-point and an integer type, those that begin with an array."""
    dtypes = [dtype for dtype in ("float64", "int64", "bool") if dtype in row.dtypes + row.forward][:2]
    return [x for dtype in dtypes for x in samples_of(row, dtype) if x.args and isinstance(x.args[0], np.ndarray)]


def calls_of(row, function):
    return [(functools.partial(function, **keywords(x)), tensors(x.args[0]), x.args[1:]) for x in samples(row)]


def rows_by_function():
    """The rows by the operation that they call, for methods of another name."""
    found = {}
    for row in OPS:
        found.setdefault(id(aten_function(row.path.rpartition(".")[2])), row)
    return found


MATRIX = torch.arange(9.0, dtype=torch.float64).reshape(3, 3) / 10
# Methods that no row of the op table has samples for, with their arguments.
OTHERS = {
    "apply_": (lambda x: x + 1,), "bernoulli_": (0.5,), "cauchy_": (), "copy_": (MATRIX + 1,), "exponential_": (2.0,),
    "fill_diagonal_": (5.0,), "geometric_": (0.5,), "log_normal_": (), "map_": (MATRIX, lambda x, y: x * y),
    "map2_": (MATRIX, MATRIX, lambda x, y, z: x + y * z), "normal_": (1.0, 2.0), "polygamma_": (1,),
    "random_": (3,), "requires_grad_": (False,), "uniform_": (), "zero_": (), "detach_": (),
}  # fmt: skip
# Methods that give a tensor other memory.
REFUSED = {"resize_": (2,), "resize_as_": (torch.ones(2),), "set_": (torch.ones(2),), "share_memory_": ()}
IN_PLACE = [name for name in dir(torch.Tensor) if name.endswith("_") and not name.startswith("_")]
OF_SPARSE = {"resize_as_sparse_", "sparse_resize_", "sparse_resize_and_clear_"}  # dense tensors refuse them
METHODS = [name for name in IN_PLACE if hasattr(torch.Tensor, name) and name not in OF_SPARSE]


def calls_of_method(name):
    method = getattr(torch.Tensor, name)
    row = {row.name: row for row in OPS}.get(name[:-1]) or rows_by_function().get(id(aten_function(name[:-1])))
    return [(method, MATRIX, OTHERS[name])] if name in OTHERS else calls_of(row, method) if row is not None else []


def row_of(op):
    return next(row for row in OPS if row.path in (f"nn.functional.{op.name}", op.name))


# the comparison


def listed(tree):
    if isinstance(tree, torch.Tensor):
        return tree.dtype, tuple(tree.shape), tree.detach().numpy().tobytes()
    return [listed(x) for x in tree] if isinstance(tree, (tuple, list)) else tree


def outcome(function, base, args):
    """What a call returns or raises, and the contents of its arguments then; random numbers are always the same."""
    torch.manual_seed(0)
    args = tensors(args)
    try:
        found = listed(function(base, *args))
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        found = type(error)
    return found, listed(base), listed(args)


def changed_shape(function, value, args):
    """Whether a call makes its target a view of what it was, as t_() does."""
    target = value.clone()
    outcome(function, target, args)
    return (target.shape, target.stride()) != (value.shape, value.stride())


def check(function, value, args, make, view, is_argument):
    """The function of a target that is such a view of an argument, or of what the function made: as without functionalize().
    False if both are refused. What is refused alone are other shapes for an argument, and strides within a view."""

    def through(base, *args):
        base = base if is_argument else base + 0
        target = view(base)
        return function(target, *args), target, base * 1

    found, expected = outcome(functionalize(through), make(value), args), outcome(through, make(value), args)
    base = make(value)
    whole, strided = view(base) is base, getattr(function, "func", None) is torch.Tensor.as_strided_
    if (is_argument if whole else strided) and changed_shape(function, value, args):
        assert found == (NotImplementedError, listed(base), listed(tensors(args)))
    else:
        assert found == expected
    return not isinstance(expected[0], type)


def check_all(calls):
    """The first call through all views, the others through one of them each."""
    assert calls
    accepted = []
    for i, (function, value, args) in enumerate(calls):
        cases = [(kind, is_argument) for is_argument in (False, True) for kind in VIEWS]
        for kind, is_argument in cases if i == 0 else cases[i % len(cases) :][:1]:
            with noted(f"call {i}, {kind}, {'of an argument' if is_argument else 'of its own'}: {value}, {args}"):
                accepted.append(check(function, value, args, *VIEWS[kind], is_argument))
    assert any(accepted)


def test_the_methods_are_known():
    assert {name for name in METHODS if not calls_of_method(name)} == set(REFUSED) & set(METHODS)


@pytest.mark.parametrize("name", [name for name in METHODS if name not in REFUSED])
def test_methods_in_place(name):
    check_all(calls_of_method(name))


@pytest.mark.parametrize("name", [name for name in REFUSED if name in METHODS])
def test_a_tensor_keeps_its_memory(name):
    with pytest.raises(NotImplementedError, match=rf"functionalize\(\): the function calls {name}\(\)"):
        functionalize(lambda x: getattr(x + 0, name)(*REFUSED[name]))(torch.ones(3))


@pytest.mark.parametrize("op", [op for op in DECLARED.values() if op.inplace], ids=lambda op: op.name)
def test_functions_with_inplace(op):
    check_all(calls_of(row_of(op), functools.partial(op.function, inplace=True)))


@pytest.mark.parametrize("name", [name for name in METHODS if name not in REFUSED])
def test_an_expanded_target_is_refused(name):
    function, value, args = next(call for call in calls_of_method(name) if call[1].ndim and call[1].numel())

    def expanded(x, *args):
        target = x[:1].expand(3, *x.shape[1:])
        return function(target, *args), target

    given = torch.ones(3, 3, dtype=value.dtype)
    found, expected = outcome(functionalize(expanded), given, args), outcome(expanded, given.clone(), args)
    refused = (found[0], listed(torch.ones_like(given)), listed(tensors(args)))
    assert found == (refused if isinstance(found[0], type) else expected)
    assert isinstance(found[0], type) or expected[1] == refused[1]  # what is not refused writes nothing


# out=


def empty_like(tree):
    return tuple(empty_like(x) for x in tree) if isinstance(tree, (tuple, list)) else torch.empty_like(tree)


def takes_out(row):
    """Whether the operation has out=."""
    for sample in samples(row):
        args, kwargs = tensors(sample.args), keywords(sample)
        try:
            row.function()(*args, **kwargs, out=empty_like(row.function()(*args, **kwargs)))
            return True
        except (TypeError, RuntimeError, AttributeError):
            pass
    return False


@pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in OPS if takes_out(row)])
def test_out(row):
    accepted = []
    for i, sample in enumerate(samples(row)):
        function, args, kwargs = row.function(), sample.args, keywords(sample)
        plain = function(*tensors(args), **kwargs)
        make, view = list(VIEWS.values())[i % len(VIEWS)]
        with noted(f"sample {i}, {list(VIEWS)[i % len(VIEWS)]}: {args}"):
            accepted.append(check_out(functools.partial(function, **kwargs), plain, args, make, view))
    assert any(accepted)


def check_out(function, plain, args, make, view):
    parts = [plain] if isinstance(plain, torch.Tensor) else list(plain)

    def through(bases, *args):
        out = [view(base) for base in bases]
        found = function(*args, out=out[0] if isinstance(plain, torch.Tensor) else tuple(out))
        return found, out, [base * 1 for base in bases]

    bases = [[make(torch.zeros_like(x)) for x in parts] for _ in range(2)]
    found, expected = outcome(functionalize(through), bases[0], args), outcome(through, bases[1], args)
    assert found == expected
    return not isinstance(expected[0], type)
