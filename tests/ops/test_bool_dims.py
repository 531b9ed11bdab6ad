"""A bool is no dimension: `x.topk(4, True)` took it for dimension 1."""

import pytest

import autograd_cy as ag

X = ag.arange(24.0).reshape(2, 3, 4)
INDEX = ag.zeros(1, 1, 1, dtype=ag.int64)
CALLS = {
    "topk": lambda d: X.topk(1, d), "unsqueeze": X.unsqueeze, "squeeze": X.squeeze, "transpose": lambda d: X.transpose(d, 0),
    "narrow": lambda d: X.narrow(d, 0, 1), "select": lambda d: X.select(d, 0), "gather": lambda d: X.gather(d, INDEX),
    "index_select": lambda d: X.index_select(d, INDEX[0, 0]), "unbind": X.unbind, "cat": lambda d: ag.cat([X, X], d),
    "stack": lambda d: ag.stack([X, X], d), "flatten": X.flatten, "unfold": lambda d: X.unfold(d, 1, 1), "sum": X.sum,
    "softmax": X.softmax, "swapaxes": lambda d: X.swapaxes(d, 0), "renorm": lambda d: X.renorm(1, d, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("value", [True, False])
def test_a_bool_is_no_dimension(name, value):
    CALLS[name](int(value))
    with pytest.raises(TypeError, match="must be int, not bool"):
        CALLS[name](value)


@pytest.mark.parametrize("call", [lambda k: X.topk(k), lambda k: X.kthvalue(k)])
def test_a_bool_is_no_number_of_elements(call):
    with pytest.raises(TypeError, match="must be int, not bool"):
        call(True)
