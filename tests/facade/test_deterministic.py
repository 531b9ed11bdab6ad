"""utils.deterministic: memory that is not set is filled while deterministic algorithms are in force."""

import pytest

import autograd_cy as ag


@pytest.fixture(autouse=True)
def deterministic():
    ag.use_deterministic_algorithms(True)
    yield
    ag.use_deterministic_algorithms(False)
    ag.utils.deterministic.fill_uninitialized_memory = True


DTYPES = [ag.float16, ag.float32, ag.float64, ag.complex64, ag.bool, ag.uint8, ag.int8, ag.int32, ag.int64, ag.uint16]
MAKERS = {
    "empty": lambda dtype: ag.empty(3, 2, dtype=dtype),
    "empty with out": lambda dtype: ag.empty(3, 2, out=ag.zeros(0, dtype=dtype)),
    "empty_like": lambda dtype: ag.empty_like(ag.zeros(3, 2, dtype=dtype)),
    "empty_like of a transposed one": lambda dtype: ag.empty_like(ag.zeros(3, 2, dtype=dtype).T),
    "empty_strided": lambda dtype: ag.empty_strided((3, 2), (1, 5), dtype=dtype),
    "empty_permuted": lambda dtype: ag.empty_permuted((3, 2), (1, 0), dtype=dtype),
    "new_empty": lambda dtype: ag.zeros(1, dtype=dtype).new_empty(3, 2),
    "new_empty_strided": lambda dtype: ag.zeros(1, dtype=dtype).new_empty_strided((3, 2), (1, 3)),
    "new": lambda dtype: ag.zeros(1, dtype=dtype).new(3, 2),
    "resize_": lambda dtype: ag.zeros(0, dtype=dtype).resize_(3, 2),
}


def is_filled(x):
    if x.is_floating_point() or x.is_complex():
        return bool(x.isnan().all())
    return bool((x == (True if x.dtype is ag.bool else ag.iinfo(x.dtype).max)).all())


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("maker", MAKERS)
def test_new_memory_is_filled(maker, dtype):
    assert is_filled(MAKERS[maker](dtype))


def test_resize_fills_what_is_new():
    x = ag.arange(3.0).resize_(5)
    assert x[:3].tolist() == [0, 1, 2] and is_filled(x[3:])


def test_warn_only_is_noted_on_its_own():
    ag.use_deterministic_algorithms(False, warn_only=True)
    assert ag.is_deterministic_algorithms_warn_only_enabled() and not ag.are_deterministic_algorithms_enabled()
    assert ag.get_deterministic_debug_mode() == 0
    ag.set_deterministic_debug_mode("error")
    assert not ag.is_deterministic_algorithms_warn_only_enabled() and ag.get_deterministic_debug_mode() == 2


def test_both_settings_are_asked_for():
    settings = ag.utils.deterministic
    assert settings.fill_uninitialized_memory and ag._C._get_deterministic_fill_uninitialized_memory()
    settings.fill_uninitialized_memory = False
    assert not ag._C._get_deterministic_fill_uninitialized_memory()
    assert ag.zeros(2).resize_(4).tolist() == [0, 0, 0, 0]
    settings.fill_uninitialized_memory = True
    ag.set_deterministic_debug_mode("default")
    assert ag.zeros(2).resize_(4).tolist() == [0, 0, 0, 0]
    ag.set_deterministic_debug_mode("warn")
    assert is_filled(ag.empty(2))
    ag._C._set_deterministic_fill_uninitialized_memory(False)
    assert not settings.fill_uninitialized_memory
    with pytest.raises(RuntimeError, match="expected a bool, but got int"):
        settings.fill_uninitialized_memory = 1
