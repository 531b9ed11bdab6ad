"""saved_tensors_hooks and its kin: what is saved goes through hooks."""

import asyncio
import gc
import os
import threading
import weakref

import pytest
from common import SaveBoth, define, differs, in_threads, leaf, ours

import autograd_cy as torch

graph = torch.autograd.graph
hooks = graph.saved_tensors_hooks


def same(t):
    return t


def recorder(log, name=None):
    """A pair that notes what it packs, under a name if it has one."""

    def pack(t):
        log.append(t.tolist() if name is None else name)
        return t

    return hooks(pack, same)


class TestPacking:
    def test_what_is_saved_is_packed_and_unpacked(self):
        x = leaf([1.0, 2.0])
        with hooks(lambda t: t.tolist(), lambda values: torch.tensor(values, dtype=torch.float64) * 10):
            y = x * x
        assert y.grad_fn._saved_self.tolist() == [10.0, 20.0]
        y.sum().backward()
        assert x.grad.tolist() == [20.0, 40.0]

    def test_only_what_is_recorded(self):
        log = []
        x = leaf([1.0])
        with recorder(log):
            torch.ones(2).exp()
            with torch.no_grad():
                x.exp()
            x + x
            x.sum()
        assert log == []

    def test_numbers_are_not_packed(self):
        log = []
        with recorder(log):
            y = leaf([1.0]) * 3
        assert log == []
        assert y.grad_fn._saved_other == 3

    def test_inputs_are_given_as_they_are_and_outputs_with_their_place(self):
        x = leaf([1.0, 2.0])
        seen = []

        def pack(t):
            seen.append((t is x, t.requires_grad, t.grad_fn and t.grad_fn.name(), torch.is_grad_enabled()))
            return t

        with hooks(pack, same):
            (x * x).exp()
        assert seen == [(True, True, None, False)] * 2 + [(False, True, "ExpBackward0", False)]

    def test_unpack_runs_in_the_mode_of_backward(self):
        x = leaf([1.0])
        modes = []
        with hooks(same, lambda t: modes.append(torch.is_grad_enabled()) or t):
            y = x.exp()
        y.backward(retain_graph=True)
        torch.autograd.grad(y, x, create_graph=True)
        assert modes[0] is False
        assert modes[-1] is True

    def test_functions_and_indices(self):
        log = []
        x = leaf([1.0, 2.0])
        with recorder(log):
            y = SaveBoth.apply(x)
            x[torch.tensor([1])]
        assert log == [[1.0, 2.0], [1.0, 4.0], [1]]
        y.sum().backward()
        assert x.grad.tolist() == [2.0, 4.0]

    def test_backward_of_backward_is_packed_too(self):
        log = []
        x = leaf([2.0])
        y = x**3
        with recorder(log):
            (g,) = torch.autograd.grad(y, x, create_graph=True)
        assert log
        torch.autograd.grad(g, x)

    def test_gradients_of_gradients(self):
        x, w = leaf([[1.0, 2.0], [3.0, 4.0]]), leaf([[0.5, -1.0], [2.0, 1.0]])

        def second():
            y = ((x @ w).tanh() * x).softmax(1)
            (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
            return torch.autograd.grad((g * g).sum(), (x, w))

        expected = second()
        with hooks(lambda t: t.clone(), lambda t: t.clone()):
            found = second()
        assert [f.tolist() for f in found] == [e.tolist() for e in expected]

    def test_gradcheck_under_hooks(self):
        x = leaf([[0.3, 0.7], [0.2, 0.9]])
        with hooks(lambda t: t.numpy(force=True).copy() if hasattr(t, "numpy") else t, torch.tensor):
            assert torch.autograd.gradcheck(lambda t: (t @ t.t()).log_softmax(0) * t.std(1), (x,))

    def test_writes_are_not_noticed(self):
        x = torch.ones(2).requires_grad_()
        with hooks(lambda t: t.clone(), same):
            y = x * x
        x.detach().zero_()
        y.sum().backward()
        assert x.grad.tolist() == [2.0, 2.0]

    def test_unpacked_in_another_layout(self):
        x = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

        def grad():
            (g,) = torch.autograd.grad((x.softmax(1) * x).sum(), x)
            return g.tolist()

        expected = grad()
        with hooks(lambda t: t.t().contiguous() if t.ndim == 2 else t, lambda t: t.t() if t.ndim == 2 else t):
            assert grad() == expected

    def test_another_floating_type_is_brought_back(self):
        x = leaf([0.5, 1.5])
        with hooks(lambda t: t.to(torch.float32), same):
            y = (x * x).sum()
        y.backward()
        assert x.grad.tolist() == [1.0, 3.0]


class TestNesting:
    def test_the_innermost_pair_packs(self):
        log = []
        x = leaf([1.0])
        with recorder(log, "outer"):
            with recorder(log, "inner"):
                x.exp()
            x.exp()
        x.exp()
        assert log == ["inner", "outer"]

    def test_one_object_twice(self):
        log = []
        pair = recorder(log, "a")
        x = leaf([1.0])
        with pair, pair:
            x.exp()
        x.exp()
        assert log == ["a"]

    def test_threads_have_their_own(self):
        log = []
        x = leaf([1.0])
        with recorder(log):
            in_threads(2, lambda _: x.exp())
        assert log == []

    def test_a_pair_of_a_thread_stays_there(self):
        log, inside, done = [], threading.Event(), threading.Event()

        def work():
            with recorder(log):
                inside.set()
                done.wait()

        thread = threading.Thread(target=work)
        thread.start()
        inside.wait()
        leaf([1.0]).exp()
        done.set()
        thread.join()
        assert log == []

    @differs("hooks on a saved tensor", "recursion without end")
    def test_what_a_pack_hook_records_is_not_packed(self):
        log = []

        def pack(t):
            log.append("packed")
            with torch.enable_grad():
                return (t.detach().requires_grad_() * 2).detach()

        x = leaf([1.0])
        with hooks(pack, lambda t: t / 2):
            x.exp()
        assert log == ["packed"]


@ours("no such arguments")
class TestMoreThanPyTorch:
    def test_hooks_that_know_node_and_slot(self):
        seen = []

        def pack(t, node, slot):
            seen.append((node.name(), slot))
            return t

        def unpack(t, node, slot):
            seen.append((node.name(), slot, "back"))
            return t

        x = leaf([1.0, 2.0])
        with hooks(pack, unpack, with_node=True):
            y = x.exp() * x
            z = SaveBoth.apply(x)
            x[torch.tensor([0])]
        assert seen == [
            ("ExpBackward0", "result"),
            ("MulBackward0", "self"),
            ("MulBackward0", "other"),
            ("SaveBothBackward", "saved_tensors[0]"),
            ("SaveBothBackward", "saved_tensors[1]"),
            ("IndexBackward0", "indices[0]"),
        ]
        seen.clear()
        y.sum().backward()
        assert ("ExpBackward0", "result", "back") in seen
        z.sum().backward()
        assert ("SaveBothBackward", "saved_tensors[0]", "back") in seen

    def test_the_node_has_its_edges_when_it_is_seen(self):
        edges = []
        x = leaf([1.0])
        with hooks(lambda t, node, slot: edges.append(node.next_functions) or t, lambda t, node, slot: t, with_node=True):
            x.exp()
        assert edges[0][0][0].variable is x

    def test_pairs_compose(self):
        log = []

        def noting(name, factor, **options):
            return hooks(lambda t: log.append(name) or t * factor, lambda t: log.append("un" + name) or t / factor, **options)

        x = leaf([3.0])
        with noting("not", 7), noting("outer", 5), noting("inner", 2, compose=True):
            y = x.exp()
        assert log == ["inner", "outer"]
        assert y.grad_fn._raw_saved_result.data.tolist() == pytest.approx([10 * y.item()])
        y.backward()
        assert log[2:] == ["unouter", "uninner"]
        assert x.grad.tolist() == pytest.approx(y.tolist())

    def test_what_is_no_tensor_goes_no_further(self):
        log = []
        x = leaf([3.0])
        with recorder(log), hooks(lambda t: t.tolist(), torch.tensor, compose=True):
            y = x.exp()
        assert log == []
        y.backward()

    def test_half_precision_on_disk(self, tmp_path):
        x = leaf([0.5, 0.25])
        with graph.save_on_disk(tmp_path), graph.save_as_half(compose=True):
            y = x * 2
            z = (y * y).sum()
        (file, *_) = os.listdir(tmp_path)
        assert os.path.getsize(tmp_path / file) == 128 + 4
        z.backward()
        assert x.grad.tolist() == [4.0, 2.0]
        assert os.listdir(tmp_path) == []


@ours("no such packers")
class TestPackers:
    def test_files_go_with_backward(self, tmp_path):
        x = leaf([1.0, 2.0])
        with graph.save_on_disk(tmp_path):
            y = x.exp()
        assert len(os.listdir(tmp_path)) == 1
        y.sum().backward()
        assert os.listdir(tmp_path) == []
        assert x.grad.tolist() == y.tolist()

    def test_files_go_with_the_graph(self, tmp_path):
        with graph.save_on_disk(tmp_path):
            y = leaf([1.0, 2.0]).exp().exp()
        assert len(os.listdir(tmp_path)) == 2
        del y
        assert os.listdir(tmp_path) == []

    def test_data_are_freed(self, tmp_path):
        x = leaf([1.0, 2.0])
        with graph.save_on_disk(tmp_path):
            middle = x * 2
            y = middle.exp() * middle
        refs = [weakref.ref(middle.numpy(force=True))]
        del middle
        assert [r() for r in refs] == [None]
        y.sum().backward()
        assert x.grad.tolist() == pytest.approx([(2 + 4 * v) * 2.718281828459045 ** (2 * v) for v in (1.0, 2.0)])

    @pytest.mark.parametrize("packer", ["save_on_disk", "save_as_half"])
    def test_leaves_stay_and_are_checked(self, packer):
        x = leaf([1.0, 2.0])
        with getattr(graph, packer)():
            y = x * x
        x.detach().zero_()
        with pytest.raises(RuntimeError, match=r"modified by an inplace operation: a leaf of shape .* expected version 0"):
            y.sum().backward()

    def test_half_keeps_what_is_not_real(self):
        x = torch.tensor([1 + 2j], requires_grad=True)
        with graph.save_as_half():
            y = (x * 1).exp()
        assert y.grad_fn._saved_result.dtype == y.dtype

    def test_a_missing_file_is_an_error(self, tmp_path):
        x = leaf([1.0])
        with graph.save_on_disk(tmp_path):
            y = x.exp()
        (file,) = os.listdir(tmp_path)
        os.remove(tmp_path / file)
        with pytest.raises(FileNotFoundError):
            y.backward()
        del y


class TestDisabled:
    def test_entering_raises_the_text(self):
        with graph.disable_saved_tensors_hooks("my text"):
            with pytest.raises(RuntimeError, match=r"^my text$"):
                hooks(same, same).__enter__()
            with pytest.raises(RuntimeError, match=r"^my text$"):
                graph.save_on_cpu().__enter__()
        with hooks(same, same):
            pass

    def test_hooks_that_are_there_are_refused(self):
        with hooks(same, same), pytest.raises(RuntimeError, match=r"^my text$"):
            graph.disable_saved_tensors_hooks("my text").__enter__()

    def test_nested(self):
        with graph.disable_saved_tensors_hooks("outer"):
            with graph.disable_saved_tensors_hooks("inner"), pytest.raises(RuntimeError, match=r"^inner$"):
                hooks(same, same).__enter__()
            with pytest.raises(RuntimeError, match=r"^outer$"):
                hooks(same, same).__enter__()

    def test_decorator(self):
        @graph.disable_saved_tensors_hooks("my text")
        def f():
            with hooks(same, same):
                pass

        with pytest.raises(RuntimeError, match=r"^my text$"):
            f()
        with hooks(same, same):
            pass


def test_save_on_cpu_keeps_what_is_saved_and_hides_other_pairs():
    log = []
    x = leaf([1.0])
    with recorder(log), graph.save_on_cpu(pin_memory=False):
        y = x * x
    assert log == []
    y.backward()
    assert x.grad.tolist() == [2.0]
    assert issubclass(graph.save_on_cpu, hooks)


class TestFailures:
    def test_pack_raises(self):
        x = leaf([1.0])
        with hooks(lambda t: 1 / 0, same), pytest.raises(ZeroDivisionError):
            x.exp()
        y = x.exp()
        y.backward()
        assert x.grad.tolist() == y.tolist()

    def test_pack_raises_in_a_function(self):
        x = leaf([1.0])
        with hooks(lambda t: 1 / 0, same), pytest.raises(ZeroDivisionError):
            SaveBoth.apply(x)
        SaveBoth.apply(x).backward()
        assert x.grad.tolist() == [2.0]

    def test_unpack_raises(self):
        x = leaf([1.0])
        armed = [True]

        def unpack(t):
            if armed:
                raise ArithmeticError("armed")
            return t

        with hooks(same, unpack):
            y = x.exp()
        with pytest.raises(ArithmeticError):
            y.backward(retain_graph=True)
        armed.clear()
        y.backward()
        assert x.grad.tolist() == y.tolist()

    def test_hooks_that_cannot_be_called(self):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            hooks(1, same).__enter__()

    def test_pack_writes(self):
        x = leaf([1.0])
        with hooks(lambda t: t.mul_(2), same), pytest.raises(RuntimeError, match="pack hook is modifying its input in place"):
            x.exp()

    def test_unpack_may_run_backward(self):
        x = leaf([1.0])
        inner = leaf([2.0])

        def unpack(t):
            with torch.enable_grad():
                (inner * inner).backward()
            return t

        with hooks(same, unpack):
            y = x.exp()
        y.backward()
        assert inner.grad.item() >= 4.0
        assert x.grad.tolist() == y.tolist()


class TestMemory:
    @differs("reference cycles", "a cycle, never freed")
    def test_keeping_what_pack_sees_closes_no_cycle(self, no_collector):
        x = leaf([1.0])
        with hooks(same, same):
            y = x.exp()
        ref = weakref.ref(y.grad_fn)
        del y
        assert ref() is None

    @differs("reference cycles", "a cycle, never freed")
    def test_keeping_it_elsewhere_holds_no_graph(self, no_collector):
        kept = []
        with hooks(lambda t: kept.append(t) or t, same):
            y = leaf([1.0]).exp()
        ref = weakref.ref(y.grad_fn)
        del y
        assert ref() is None
        assert not kept[0].requires_grad

    def test_packed_inputs_do_not_keep_their_data(self, no_collector):
        x = leaf([1.0, 2.0])
        middle = x * 2
        with hooks(lambda t: t.tolist(), lambda v: torch.tensor(v, dtype=torch.float64)):
            y = middle * middle
        ref = weakref.ref(middle)
        del middle
        assert ref() is None
        y.sum().backward()
        assert x.grad.tolist() == [8.0, 16.0]

    @differs("reference cycles", "a cycle, never freed")
    def test_hooks_that_hold_the_result_are_collected(self):
        def build():
            holder = []
            with hooks(lambda t: holder, lambda h: h[0]):
                y = leaf([1.0]).exp()
            holder.append(y)
            return weakref.ref(y)

        ref = build()
        gc.collect()
        assert ref() is None

    @differs("a chain of 10^6 nodes", "overflows the stack")
    def test_a_long_chain_of_packed_inputs_is_freed(self):
        x = leaf([1.0])

        def build(_):
            y = x
            with hooks(lambda t: None, lambda _: torch.ones(1, dtype=torch.float64)):
                for _ in range(30_000):
                    y = y * x
            del y

        in_threads(1, build, stack=256 * 1024)

    def test_backward_gives_up_what_was_packed(self):
        class Value:
            pass

        refs = []

        def pack(t):
            value = Value()
            refs.append(weakref.ref(value))
            return value

        with hooks(pack, lambda v: torch.ones(1, dtype=torch.float64)):
            y = leaf([1.0]).exp()
        y.backward()
        (ref,) = refs
        assert ref() is None


def test_forward_mode_with_hooks():
    fw = torch.autograd.forward_ad
    x = leaf([1.0])
    with fw.dual_level(), hooks(lambda t: t.clone(), same):
        dual = fw.make_dual(x, torch.ones(1, dtype=torch.float64))
        y = dual * dual
        assert fw.unpack_dual(y).tangent.tolist() == [2.0]
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        assert fw.unpack_dual(g).tangent.tolist() == [2.0]


def test_save_for_backward_of_another_tensor():
    F = define(lambda ctx, x: (ctx.save_for_backward(other), x * 1)[1], lambda ctx, g: g * ctx.saved_tensors[0])
    other = torch.tensor([5.0], dtype=torch.float64)
    x = leaf([1.0])
    with hooks(lambda t: t.tolist(), lambda v: torch.tensor(v, dtype=torch.float64)):
        y = F.apply(x)
    y.backward()
    assert x.grad.tolist() == [5.0]


class TestTasks:
    """asyncio: each task has its own hooks, and starts with those around it."""

    @differs("saved-tensor hooks in tasks", "hooks leak from one task to another")
    def test_hooks_of_tasks_that_take_turns(self):
        log = []

        async def work(name, entered, go_on):
            with recorder(log, name):
                entered.set()
                await go_on.wait()
                leaf([1.0]).exp()
            leaf([1.0]).exp()

        async def main():
            first, second, go = asyncio.Event(), asyncio.Event(), asyncio.Event()
            tasks = [asyncio.create_task(work("a", first, second)), asyncio.create_task(work("b", second, go))]
            await second.wait()
            leaf([1.0]).exp()
            await tasks[0]
            go.set()
            await tasks[1]

        asyncio.run(main())
        assert log == ["a", "b"]

    def test_a_task_starts_with_the_hooks_around_it(self):
        log = []

        async def child():
            leaf([1.0]).exp()

        async def main():
            with recorder(log, "outer"):
                await asyncio.create_task(child())

        asyncio.run(main())
        assert log == ["outer"]


def test_an_exit_without_an_exception():
    """`__exit__()` took exactly the three arguments of a with statement, and left the hooks on."""
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)
    hooks.__enter__()
    hooks.__exit__()
    leaf([1.0]).exp().grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t)
