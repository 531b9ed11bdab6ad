"""torch._check and its kin, and torch.__config__."""

import pytest

import autograd_cy as ag

KINDS = {
    "_check": RuntimeError, "_check_index": IndexError, "_check_value": ValueError, "_check_type": TypeError,
    "_check_not_implemented": NotImplementedError,
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_a_false_condition_is_an_error_of_its_kind(name):
    check = getattr(ag, name)
    assert check(True) is None and check(True, lambda: 1 / 0) is None
    with pytest.raises(KINDS[name], match=r"^abc$"):
        check(False, lambda: "abc")
    with pytest.raises(KINDS[name], match="Expected cond to be True, but got False"):
        check(False)
    with pytest.raises(TypeError, match="message must be a callable"):
        check(False, "abc")
    with pytest.raises(TypeError, match="cond must be a bool, but got <class 'int'>"):
        check(1)
    with pytest.raises(TypeError, match="For tensor conditions, use torch"):
        check(ag.tensor(True))


def test_other_kinds_sizes_and_tensors():
    with pytest.raises(KeyError, match="abc"):
        ag._check_with(KeyError, False, lambda: "abc")
    ag._check_is_size(3, max=3)
    for size, most in ((-1, None), (3, 2)):
        with pytest.raises(RuntimeError, match="Expected cond to be True"):
            ag._check_is_size(size, max=most)
    ag._check_tensor_all(ag.tensor([True, True]))
    with pytest.raises(RuntimeError, match=r"^abc$"):
        ag._check_tensor_all(ag.tensor([True, False]), lambda: "abc")
    with pytest.raises(TypeError, match=r"must have dtype torch\.bool, but got torch\.int64"):
        ag._check_tensor_all(ag.tensor([1]))
    with pytest.raises(TypeError, match="cond must be a tensor"):
        ag._check_tensor_all(True)


def test_assert_async():
    ag._assert_async(ag.ones(1, 1))
    for x, arguments, text in (
        (ag.zeros(()), (), "Expected Tensor with single nonzero value, but got zero"), (ag.zeros(()), ("abc",), "^abc$"),
        (ag.ones(2), (), "Tensor with more than one value is ambiguous"), (ag.ones(0), (), "Tensor with no values"),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=text):
            ag._assert_async(x, *arguments)


def test_config():
    assert "NumPy" in ag.__config__.show() and str(ag.get_num_threads()) in ag.__config__.parallel_info()


def test_dim_order_with_a_check():
    x, one = ag.zeros(2, 3), ag.zeros(1, 2, 3, 4)
    assert x.dim_order(ambiguity_check=True) == (0, 1) and one.dim_order() == (0, 1, 2, 3)
    assert one.dim_order(ambiguity_check=[ag.contiguous_format, ag.channels_last]) == (0, 1, 2, 3)
    several = ag.zeros(3).expand(2, 2, 3)
    for ambiguous, check in ((one, True), (ag.zeros(2, 1), True), (one, [ag.channels_last]), (several, True)):
        with pytest.raises(RuntimeError, match="does not have unique dim order"):
            ambiguous.dim_order(ambiguity_check=check)
    with pytest.raises(TypeError, match="must be a bool or a list of memory formats"):
        x.dim_order(ambiguity_check="abc")


def test_map_refuses_a_tensor_of_more_dimensions():
    for call in (lambda x, y: x.map_(y, max), lambda x, y: x.map2_(x, y, max)):
        with pytest.raises(RuntimeError, match=r"the number of sizes provided \(1\) must be greater or equal"):
            call(ag.zeros(3), ag.zeros(2, 3))
