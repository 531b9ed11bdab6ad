"""guard_buffers(): what is saved is read-only as long as it is needed."""

import tracemalloc

import numpy as np
import pytest
from common import IS_TORCH, SaveBoth, in_threads, leaf, measures_memory

import autograd_cy as torch

if IS_TORCH:
    pytest.skip("PyTorch has no guard", allow_module_level=True)

guard_buffers = torch.autograd.graph.guard_buffers
saved_tensors_hooks = torch.autograd.graph.saved_tensors_hooks
READ_ONLY = "assignment destination is read-only"
REFUSED = "needed for gradient computation: .* saved it as"


def shared(values):
    """An array, and a leaf on its memory."""
    array = np.array(values)
    return array, torch.from_numpy(array).requires_grad_()


def test_without_guard_the_gradient_is_wrong():
    a, x = shared([1.0, 2.0])
    y = x * x
    a[:] = 5.0
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]


def test_the_array_is_read_only_until_backward():
    a, x = shared([1.0, 2.0])
    with guard_buffers():
        y = x * x
    with pytest.raises(ValueError, match=READ_ONLY):
        a[:] = 5.0
    y.sum().backward()
    a[:] = 5.0
    assert x.grad.tolist() == [2.0, 4.0]


def test_outputs_are_guarded():
    x = leaf([1.0, 2.0])
    with guard_buffers():
        y = x.exp()
    with pytest.raises(ValueError, match=READ_ONLY):
        y.detach().numpy()[0] = 0.0
    y.sum().backward()
    y.detach().numpy()[0] = 0.0


def test_it_is_writeable_again_when_the_graph_is_gone():
    a, x = shared([1.0, 2.0])
    with guard_buffers():
        y = x * x
    assert not a.flags.writeable
    del y
    assert a.flags.writeable


def test_a_retained_graph_keeps_its_guard():
    a, x = shared([1.0, 2.0])
    with guard_buffers():
        y = (x * x).sum()
    y.backward(retain_graph=True)
    assert not a.flags.writeable
    y.backward()
    assert a.flags.writeable


def test_locks_are_counted():
    a, x = shared([1.0, 2.0])
    with guard_buffers():
        y, z = (x * x).sum(), x.sin().sum()
    y.backward()
    assert not a.flags.writeable
    z.backward()
    assert a.flags.writeable


def test_bases_are_locked_with_a_view():
    base = np.arange(6.0)
    view = base[1:5][::2]
    x = torch.from_numpy(view).requires_grad_()
    with guard_buffers():
        y = x.sin()
    for array in (base, view):
        with pytest.raises(ValueError, match=READ_ONLY):
            array[0] = 7.0
    del y
    base[0] = view[0] = 7.0


def test_arrays_that_numpy_gave_are_locked_too():
    x = torch.ones(2, requires_grad=True)
    before = x.detach().numpy()
    with guard_buffers():
        y = x * x
    during = x.detach().numpy()
    for array in (before, during):
        with pytest.raises(ValueError, match=READ_ONLY):
            array[0] = 7.0
    del y
    before[0] = during[0] = 7.0
    assert x.tolist() == [7.0, 1.0]


def test_a_base_is_writeable_when_its_last_view_is():
    base = np.arange(6.0)
    x, z = (torch.from_numpy(base[part]).requires_grad_() for part in (slice(3), slice(3, 6)))
    with guard_buffers():
        y, w = x.sin(), z.sin()
    del y
    assert not base.flags.writeable
    del w
    assert base.flags.writeable


def test_what_was_read_only_stays_so():
    a, x = shared([1.0, 2.0])
    a.flags.writeable = False
    with guard_buffers():
        y = x * x
    del y
    assert not a.flags.writeable


def test_our_own_operations_are_refused():
    x = leaf([1.0, 2.0])
    with guard_buffers():
        y = x * x
    with torch.no_grad():
        with pytest.raises(RuntimeError, match=r"mul_\(\): .*MulBackward0 saved it as '(self|other)'"):
            x.mul_(2)
        for write in (lambda: x.zero_(), lambda: x.copy_(torch.ones(2)), lambda: x.__setitem__(0, 1.0)):
            with pytest.raises(RuntimeError, match=REFUSED):
                write()
    assert x.tolist() == [1.0, 2.0]
    assert x._version == 0
    y.sum().backward()
    with torch.no_grad():
        x.mul_(2)


def test_views_of_what_is_saved_are_refused_too():
    x = leaf([1.0, 2.0, 3.0])
    view = x.detach()[1:]
    with guard_buffers():
        y = x * x
    with pytest.raises(RuntimeError, match=REFUSED):
        view.zero_()
    del y
    view.zero_()


def test_other_parts_of_the_memory_may_be_written():
    base = torch.zeros(4, dtype=torch.float64)
    x, rest = base[:2].requires_grad_(), base[2:]
    with guard_buffers():
        y = x * x
    rest.fill_(1.0)
    assert base.tolist() == [0.0, 0.0, 1.0, 1.0]
    with pytest.raises(RuntimeError, match=REFUSED):
        base[1:3].fill_(1.0)
    del y


def test_leaves_get_their_gradients():
    x = leaf([1.0, 2.0])
    for _ in range(2):
        with guard_buffers():
            (x * x).sum().backward()
        with torch.no_grad():
            x -= 0.1 * x.grad
    assert x.tolist() != [1.0, 2.0]


def test_a_gradient_that_is_saved_is_not_added_to_in_place():
    x = leaf([1.0, 2.0])
    (x * x).sum().backward()
    before = x.grad
    with guard_buffers():
        y = (before * leaf([1.0, 1.0])).sum()
    (x * x).sum().backward()
    assert before.tolist() == [2.0, 4.0]
    assert x.grad.tolist() == [4.0, 8.0]
    y.backward()


def test_functions():
    a, x = shared([1.0, 2.0])
    with guard_buffers():
        y = SaveBoth.apply(x)
    assert not a.flags.writeable
    y.sum().backward()
    assert a.flags.writeable
    assert x.grad.tolist() == [2.0, 4.0]


def test_nested_and_ended():
    a, x = shared([1.0, 2.0])
    with guard_buffers():
        with guard_buffers():
            pass
        y = x * x
    assert not a.flags.writeable
    y = x * x
    assert y.requires_grad
    assert a.flags.writeable


def test_threads_are_not_guarded_by_another():
    a, x = shared([1.0, 2.0])
    kept = []
    with guard_buffers():
        in_threads(1, lambda _: kept.append(x * x))
    assert a.flags.writeable


def test_with_hooks_the_packed_tensor_is_guarded():
    a, x = shared([1.0, 2.0])
    packed = []
    with guard_buffers(), saved_tensors_hooks(lambda t: packed.append(t.clone()) or packed[-1], lambda t: t):
        y = x.exp() * 2
    a[:] = 0.0
    with pytest.raises(ValueError, match=READ_ONLY):
        packed[0].numpy()[0] = 1.0
    y.sum().backward()
    packed[0].numpy()[0] = 1.0


class TestChecksum:
    def test_a_view_taken_before_is_found(self):
        a, x = shared([1.0, 2.0])
        view = a[:1]
        with guard_buffers(checksum=True):
            y = x * x
        view[0] = 5.0
        with pytest.raises(RuntimeError, match="modified by an inplace operation that is not known: MulBackward0 saved it"):
            y.sum().backward()

    def test_unchanged_memory_passes(self):
        _, x = shared([1.0, 2.0])
        with guard_buffers(checksum=True):
            y = x.exp() * x
        y.sum().backward()
        assert x.grad.tolist() == pytest.approx((2 * np.exp(1), 3 * np.exp(2)))

    def test_the_inner_choice_counts(self):
        a, x = shared([1.0, 2.0])
        view = a[:1]
        with guard_buffers(checksum=True), guard_buffers():
            y = x * x
        view[0] = 5.0
        y.sum().backward()


def test_an_exception_in_backward_leaves_the_guard_until_the_graph_is_gone():
    a, x = shared([1.0, 2.0])
    with guard_buffers():
        y = x * x
    z = y.sum()
    handle = y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        z.backward()
    assert not a.flags.writeable
    handle.remove()
    z.backward()
    assert a.flags.writeable


class TestWhatUsersHave:
    """Arrays that numpy() gave and from_numpy() got are found when something is guarded, and cost next to nothing else."""

    def test_a_million_arrays_leave_no_memory_behind(self):
        x = torch.ones(3)
        base = np.ones(6)

        def take(times):
            for _ in range(times):
                x.numpy()
                torch.from_numpy(base[1:])

        take(1000)
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            take(500_000)
            assert tracemalloc.get_traced_memory()[0] - before < 50_000
        finally:
            tracemalloc.stop()

    @measures_memory
    def test_one_array_given_again_and_again_is_noted_but_once(self):
        part = np.ones(6)[1:]
        tracemalloc.start()
        try:
            torch.from_numpy(part)
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(100_000):
                torch.from_numpy(part)
            assert tracemalloc.get_traced_memory()[0] - before < 50_000
        finally:
            tracemalloc.stop()

    @measures_memory
    def test_memory_for_many_is_given_back(self):
        x = torch.ones(3)
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            kept = [x.numpy() for _ in range(20_000)]
            del kept
            torch.memory.empty_cache()
            assert tracemalloc.get_traced_memory()[0] - before < 50_000
        finally:
            tracemalloc.stop()

    def test_all_that_live_are_found(self):
        x = torch.ones(3, requires_grad=True)
        others = torch.ones(3)
        kept = [x.detach().numpy() for _ in range(500)]
        free = [others.numpy() for _ in range(500)]
        del kept[::2], free[::3]
        with guard_buffers():
            y = x * x
        assert not any(array.flags.writeable for array in kept)
        assert all(array.flags.writeable for array in free)
        kept += [x.detach().numpy() for _ in range(500)]
        assert not any(array.flags.writeable for array in kept)
        del y
        assert all(array.flags.writeable for array in kept + free)

    def test_a_note_of_an_array_that_is_gone_is_not_taken_for_another(self):
        base = np.ones(400)
        gone = [torch.from_numpy(base[i : i + 1]).numpy() for i in range(200)]
        parts = [torch.from_numpy(base[i : i + 1]).requires_grad_() for i in range(200, 400)]
        with guard_buffers():
            kept = [x * x for x in parts]
        assert all(array.flags.writeable for array in gone)
        del kept

    @pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
    @pytest.mark.parametrize("transposed", [False, True])
    def test_flags_are_those_of_the_tensors_own_array(self, shape, transposed):
        array = np.ones(shape).T if transposed else np.ones(shape)
        for given in (array, array[..., ::2] if shape else array):
            x = torch.from_numpy(given)
            view = x.numpy()
            assert view is not given
            for flag in ("C_CONTIGUOUS", "F_CONTIGUOUS", "ALIGNED", "WRITEABLE"):
                assert view.flags[flag] == given.flags[flag], flag
            assert not view.flags.owndata
            assert view.strides == given.strides
            assert np.shares_memory(view, given) == (given.size > 0)
