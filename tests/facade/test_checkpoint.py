"""checkpoint(): values that are computed again in backward."""

import functools
import gc
import os
import warnings
import weakref

import pytest
from checkpointed import Counted
from common import define, differs, leaf

import autograd_cy as torch
from autograd_cy.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    detach_variable,
    noop_context_fn,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

new = functools.partial(checkpoint, use_reentrant=False)
both = pytest.mark.parametrize("reentrant", [True, False])


@both
class TestBothVariants:
    def test_values_and_gradients(self, reentrant):
        f = Counted()
        x, w = leaf([0.1, 0.2]), leaf([0.1, 0.2])
        y = checkpoint(f, x, use_reentrant=reentrant)
        expected = Counted()(w)
        assert y.tolist() == expected.tolist()
        assert f.calls == 1
        y.sum().backward()
        expected.sum().backward()
        assert f.calls == 2
        assert x.grad.tolist() == w.grad.tolist()

    def test_many_arguments_and_results(self, reentrant):
        def f(a, name, b, c):
            return a * b, name, b.exp() * c

        a, b, c = leaf([1.0]), leaf([2.0]), torch.tensor([3.0], dtype=torch.float64)
        y, name, z = checkpoint(f, a, "name", b, c, use_reentrant=reentrant)
        assert name == "name"
        (y + z).backward()
        assert a.grad.tolist() == [2.0]
        assert b.grad.tolist() == pytest.approx([1.0 + 3 * 7.38905609893065])

    def test_random_numbers_are_repeated(self, reentrant):
        seen = []

        def f(x):
            noise = torch.rand(2)
            seen.append(noise.tolist())
            return x.exp() * noise

        x = leaf([1.0, 2.0])
        torch.manual_seed(3)
        y = checkpoint(f, x, use_reentrant=reentrant)
        following = torch.rand(1).item()
        torch.manual_seed(4)
        y.sum().backward()
        after = torch.rand(1).item()
        assert seen[0] == seen[1]
        torch.manual_seed(3)
        torch.rand(2)
        assert torch.rand(1).item() == following
        torch.manual_seed(4)
        assert torch.rand(1).item() == after

    def test_random_numbers_may_go_on(self, reentrant):
        seen = []

        def f(x):
            seen.append(torch.rand(2).tolist())
            return x.exp()

        y = checkpoint(f, leaf([1.0]), use_reentrant=reentrant, preserve_rng_state=False)
        y.backward()
        assert seen[0] != seen[1]

    def test_the_graph_may_be_retained(self, reentrant):
        f = Counted()
        x = leaf([0.5])
        y = checkpoint(f, x, use_reentrant=reentrant)
        y.backward(retain_graph=True)
        first = x.grad.item()
        y.backward()
        assert x.grad.item() == 2 * first
        assert f.calls == 3
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            y.backward()

    def test_inside_no_grad(self, reentrant):
        f = Counted()
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            y = checkpoint(f, leaf([0.5]), use_reentrant=reentrant)
        assert not y.requires_grad
        assert f.calls == 1

    def test_an_argument_that_was_written(self, reentrant):
        x = leaf([0.5])
        y = checkpoint(Counted(), x, use_reentrant=reentrant)
        with torch.no_grad():
            x.zero_()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()

    def test_an_exception_in_the_second_run(self, reentrant):
        armed = []

        def f(x):
            if armed:
                raise ArithmeticError("armed")
            return x.exp()

        x = leaf([1.0])
        y = checkpoint(f, x, use_reentrant=reentrant)
        armed.append(True)
        state = torch.get_rng_state().tolist()
        with pytest.raises(ArithmeticError):
            y.backward(retain_graph=True)
        assert torch.get_rng_state().tolist() == state
        assert torch.is_grad_enabled()
        armed.clear()
        y.backward()
        assert x.grad.tolist() == pytest.approx([2.718281828459045])

    def test_an_exception_in_the_first_run(self, reentrant):
        with pytest.raises(ZeroDivisionError):
            checkpoint(lambda x: x.exp() / (1 / 0), leaf([1.0]), use_reentrant=reentrant)
        x = leaf([1.0])
        x.exp().backward()
        assert x.grad is not None

    def test_sequence(self, reentrant):
        calls = []

        def step(i):
            def f(x):
                calls.append(i)
                return (x * x).sin()

            return f

        x, base = leaf([0.7]), leaf([0.7])
        y = checkpoint_sequential([step(i) for i in range(5)], 2, x, use_reentrant=reentrant)
        assert calls == [0, 1, 2, 3, 4]
        y.backward()
        assert calls[5:] == [0, 1]
        z = base
        for _ in range(5):
            z = (z * z).sin()
        z.backward()
        assert x.grad.tolist() == pytest.approx(base.grad.tolist())

    def test_nested(self, reentrant):
        f = Counted()
        x, w = leaf([0.1, 0.2]), leaf([0.1, 0.2])
        y = checkpoint(lambda t: checkpoint(f, t * 2, use_reentrant=reentrant).exp(), x, use_reentrant=reentrant)
        y.sum().backward()
        Counted()(w * 2).exp().sum().backward()
        assert x.grad.tolist() == pytest.approx(w.grad.tolist())

    def test_in_a_chain(self, reentrant):
        x, w = leaf([0.3]), leaf([0.3])
        y, z = x, w
        for _ in range(20):
            y = checkpoint(lambda t: t.sin() * t, y, use_reentrant=reentrant)
            z = z.sin() * z
        y.backward()
        z.backward()
        assert x.grad.tolist() == pytest.approx(w.grad.tolist())


class TestNotReentrant:
    def test_nothing_is_kept_between(self, no_collector):
        refs = []

        def f(x):
            y = x.sin()
            refs.append(weakref.ref(y))
            return y.exp().sum()

        x = leaf([1.0, 2.0])
        y = new(f, x)
        assert refs[0]() is None
        y.backward()
        assert [r() for r in refs] == [None, None]

    def test_the_second_run_stops_early(self):
        f = Counted()
        new(f, leaf([0.5])).backward()
        assert (f.calls, f.finished) == (2, 1)

    def test_or_runs_to_the_end(self):
        f = Counted()
        new(f, leaf([0.5]), early_stop=False).backward()
        assert f.finished == 2
        with set_checkpoint_early_stop(False):
            y = new(f, leaf([0.5]))
        y.backward()
        assert f.finished == 4
        with set_checkpoint_early_stop(True):
            new(f, leaf([0.5]), early_stop=False).backward()
        assert f.finished == 5

    @differs("checkpoints: the exception", "an Exception, which the function would catch")
    def test_the_function_does_not_catch_the_stop(self):
        caught = []

        def f(x):
            try:
                return x.exp() + 1
            except Exception as error:
                caught.append(error)
                raise

        new(f, leaf([0.5])).backward()
        assert caught == []

    def test_grad_and_inputs(self):
        f = Counted()
        x, w = leaf([0.5]), leaf([2.0])
        y = new(f, x) * w
        (g,) = torch.autograd.grad(y, x, retain_graph=True)
        y.backward(inputs=[w])
        assert w.grad.tolist() == f(x).tolist()
        assert g.item() != 0

    def test_keyword_arguments(self):
        f = Counted()
        x = leaf([0.5])
        new(f, x, scale=2.0).backward()
        w = leaf([0.5])
        f(w, scale=2.0).backward()
        assert x.grad.tolist() == w.grad.tolist()

    def test_double_backward(self):
        x, w = leaf([0.5]), leaf([0.5])

        def second(y, x):
            (g,) = torch.autograd.grad(y, x, create_graph=True)
            return torch.autograd.grad(g, x)[0].item()

        assert second(new(Counted(), x), x) == pytest.approx(second(Counted()(w), w))

    def test_backward_inside_the_function(self):
        def f(x):
            y = x.exp()
            (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
            return (g * x).sin()

        x, w = leaf([0.5, 0.7]), leaf([0.5, 0.7])
        new(f, x).sum().backward()
        f(w).sum().backward()
        assert x.grad.tolist() == pytest.approx(w.grad.tolist())

    def test_functions_with_saved_tensors(self):
        F = define(
            lambda ctx, x: (ctx.save_for_backward(x, x.exp()), x.exp())[1],
            lambda ctx, g: g * ctx.saved_tensors[1],
        )
        x = leaf([0.5])
        new(lambda t: F.apply(t * 2).sin(), x).backward()
        w = leaf([0.5])
        (w * 2).exp().sin().backward()
        assert x.grad.tolist() == pytest.approx(w.grad.tolist())

    def test_saved_values_may_be_looked_at(self):
        f = Counted()
        x = leaf([0.5])
        y = new(lambda t: f(t).exp(), x)
        assert y.grad_fn._saved_result.tolist() == y.tolist()
        assert f.calls == 2
        y.backward()

    @differs("values asked for twice", "an error: already unpacked once")
    def test_saved_values_may_be_looked_at_twice_in_backward(self):
        F = define(
            lambda ctx, x: (ctx.save_for_backward(x), x.exp())[1],
            lambda ctx, g: g * (ctx.saved_tensors[0] + ctx.saved_tensors[0]),
        )
        x = leaf([0.5])
        new(lambda t: F.apply(t * 2), x).backward()
        assert x.grad.tolist() == [4.0]

    def test_only_part_of_backward(self):
        f = Counted()
        x, w = leaf([0.5]), leaf([0.5])
        y, z = new(lambda a, b: (f(a), f(b)), x, w)
        y.backward(retain_graph=True)
        assert w.grad is None
        z.backward()
        assert x.grad.tolist() == w.grad.tolist()

    def test_outer_hooks_pack_the_arguments(self):
        log = []
        x = leaf([0.5])
        with torch.autograd.graph.saved_tensors_hooks(lambda t: log.append(tuple(t.shape)) or t, lambda t: t):
            y = new(Counted(), x)
        assert log == [(1,)]
        y.backward()

    def test_contexts(self):
        log = []

        class Noting:
            def __init__(self, name):
                self.name = name

            def __enter__(self):
                log.append(self.name)

            def __exit__(self, *exception):
                log.append("end " + self.name)

        y = new(Counted(), leaf([0.5]), context_fn=lambda: (Noting("first"), Noting("second")))
        y.backward()
        assert log == ["first", "end first", "second", "end second"]
        assert len(noop_context_fn()) == 2

    def test_a_context_that_swallows(self):
        class Swallowing:
            def __enter__(self):
                pass

            def __exit__(self, *exception):
                return True

        with pytest.raises(RuntimeError, match="context_fn suppressed an exception raised during the checkpointed forward"):
            new(lambda x: 1 / 0, leaf([0.5]), context_fn=lambda: (Swallowing(), Swallowing()))

    @differs("a retained graph", "nothing is dropped before it was asked for")
    def test_a_retained_graph_holds_no_values(self, no_collector):
        refs = []

        def f(x):
            y = x.sin()
            refs.append(weakref.ref(y.numpy(force=True)))
            return y.exp().sum()

        x = leaf([1.0, 2.0])
        y = new(f, x)
        y.backward(retain_graph=True)
        torch.autograd.grad(y, x)
        assert [r() for r in refs] == [None, None, None]

    @differs("weak references to nodes", "nodes have no weak references")
    def test_the_graph_is_freed(self, no_collector):
        x = leaf([0.5])
        y = new(Counted(), x * 1)
        ref = weakref.ref(y.grad_fn)
        del y
        assert ref() is None


class TestMismatch:
    def differing(self, first, second, **options):
        """Backward of a checkpoint that runs `first` forward and `second` in backward."""
        runs = iter([first, second])
        return new(lambda x: next(runs)(x), leaf([0.5, 0.7]), **options).sum()

    def test_fewer_tensors(self):
        y = self.differing(lambda x: x.exp().sin().exp(), lambda x: x.exp().sin())
        with pytest.raises(CheckpointError, match="A different number of tensors was saved") as caught:
            y.backward()
        assert "saved during forward: 3" in str(caught.value)
        assert "during recomputation: 2" in str(caught.value)

    def test_more_tensors(self):
        y = self.differing(lambda x: x.exp(), lambda x: x.exp().sin(), early_stop=False)
        with pytest.raises(CheckpointError, match="trying to save more tensors during recomputation"):
            y.backward()

    def test_more_tensors_are_not_noticed_with_early_stop(self):
        self.differing(lambda x: x.exp(), lambda x: x.exp().sin()).backward()

    def test_other_shapes(self):
        y = self.differing(lambda x: x.exp(), lambda x: x[:1].exp())
        with pytest.raises(CheckpointError, match="have different metadata than during the forward pass") as caught:
            y.backward()
        text = str(caught.value)
        assert "tensor at position 0" in text
        assert "saved metadata" in text
        assert "recomputed metadata" in text
        assert "debug=True" in text

    def test_other_types(self):
        y = self.differing(lambda x: x.exp(), lambda x: x.to(torch.float32).exp())
        with pytest.raises(CheckpointError, match="have different metadata"):
            y.backward()

    def test_metadata_need_not_be_compared(self):
        y = self.differing(lambda x: x.exp(), lambda x: x.to(torch.float32).exp(), determinism_check="none")
        y.backward()

    def test_a_constant_comes_back_itself(self):
        """It was another object in backward."""
        seen = []

        def backward(ctx, g):
            seen.extend(ctx.saved_tensors)
            return g, None

        def forward(ctx, x, c):
            ctx.save_for_backward(x, c)
            return x * c

        F, x, c = define(forward, backward), leaf([1.0, 2.0]), torch.ones(2, dtype=torch.float64)
        new(F.apply, x, c).sum().backward()
        assert seen[0] is not x and seen[1] is c

    @differs("what errors tell", "pytest's log handler fails on its log")
    @pytest.mark.parametrize("by_context", [False, True])
    def test_debug_shows_both_runs(self, by_context):
        options = {} if by_context else {"debug": True}
        with set_checkpoint_debug_enabled(True if by_context else None):
            y = self.differing(lambda x: x.exp().sin(), lambda x: x.exp(), **options)
        with pytest.raises(CheckpointError) as caught:
            y.backward()
        text = str(caught.value)
        assert "An error happened while unpacking tensors; dumping logs of latest computation\n" in text
        assert "Operations executed during the original forward:" in text
        assert "Operations executed during recomputation:" in text
        assert "ERROR: Detected non-determinism while running activation checkpointing" in text
        assert text.count("ExpBackward0 saved 'result'") == 2
        assert "SinBackward0 saved 'self': torch.float64 [2]" in text
        assert os.path.basename(__file__) in text
        assert "agree up to position 1" in text

    @differs("what errors tell", "another layout of the message")
    def test_debug_names_the_first_difference(self):
        y = self.differing(lambda x: x.exp().sin().exp(), lambda x: x.exp().cos()[:1].exp(), debug=True)
        with pytest.raises(CheckpointError, match="differ first at position 1"):
            y.backward()

    def test_the_engine_goes_on(self):
        y = self.differing(lambda x: x.exp().sin().exp(), lambda x: x.exp())
        with pytest.raises(CheckpointError):
            y.backward()
        x = leaf([0.5])
        new(Counted(), x).backward()
        assert x.grad is not None


class TestArguments:
    def test_use_reentrant_should_be_given(self):
        with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
            checkpoint(Counted(), leaf([0.5]))
        with pytest.warns(UserWarning, match="use_reentrant parameter should be"):
            checkpoint_sequential([torch.exp], 1, leaf([0.5]))

    def test_keywords_of_the_reentrant_variant(self):
        with pytest.raises(ValueError, match="Unexpected keyword arguments: scale"):
            checkpoint(Counted(), leaf([0.5]), use_reentrant=True, scale=2.0)
        with pytest.raises(ValueError, match="Unexpected keyword arguments: scale"):
            checkpoint_sequential([torch.exp], 1, leaf([0.5]), use_reentrant=False, scale=2.0)

    @pytest.mark.parametrize("options", [{"debug": True}, {"context_fn": lambda: (None, None)}])
    def test_not_for_the_reentrant_variant(self, options):
        with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
            checkpoint(Counted(), leaf([0.5]), use_reentrant=True, **options)

    def test_determinism_check(self):
        with pytest.raises(ValueError, match="determinism_check should be one of"):
            new(Counted(), leaf([0.5]), determinism_check="strict")

    def test_debug_with_contexts(self):
        with pytest.raises(ValueError, match="debug=True is incompatible with non-default context_fn"):
            new(Counted(), leaf([0.5]), debug=True, context_fn=lambda: noop_context_fn())


class TestReentrant:
    def test_grad_and_inputs_are_refused(self):
        x = leaf([0.5])
        y = checkpoint(Counted(), x, use_reentrant=True)
        message = r"incompatible with \.grad\(\) or passing an .inputs. parameter"
        with pytest.raises(RuntimeError, match=message):
            torch.autograd.grad(y, x, retain_graph=True)
        with pytest.raises(RuntimeError, match=message):
            y.backward(inputs=[x], retain_graph=True)
        y.backward()
        assert x.grad is not None

    def test_without_inputs_that_require_grad(self):
        with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
            checkpoint(Counted(), torch.ones(1), use_reentrant=True)

    def test_without_outputs_that_require_grad(self):
        y = checkpoint(lambda x: x.detach() * 2, leaf([0.5]), use_reentrant=True)
        with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
            y.backward()

    def test_parameters_of_the_function_get_their_gradients(self):
        w, x = leaf([3.0]), leaf([0.5])
        checkpoint(lambda t: t * w, x, use_reentrant=True).backward()
        assert w.grad.tolist() == [0.5]

    def test_the_node_has_its_name(self):
        y = checkpoint(Counted(), leaf([0.5]), use_reentrant=True)
        assert y.grad_fn.name() == "CheckpointFunctionBackward"

    def test_detached_inputs(self):
        x = leaf([0.5]) * 2
        y, name, z = detach_variable((x, "name", x.detach()))
        assert (y.is_leaf, y.requires_grad, name, z.requires_grad) == (True, True, "name", False)
        with pytest.raises(RuntimeError, match=r"Only tuple of tensors is supported\. Got Unsupported input type: list"):
            detach_variable([x])

    def test_deep(self):
        x = leaf([1.0])

        def f(t, depth):
            return t * 1.001 if depth == 0 else checkpoint(f, t * 1.001, depth - 1, use_reentrant=True)

        f(x, 30).backward()
        assert x.grad.item() == pytest.approx(1.001**31)


@differs("reference cycles", "a cycle, never freed")
def test_checkpoints_are_collected():
    x = leaf([0.5])
    f = Counted()
    y = new(f, x)
    f.result = y
    ref = weakref.ref(y)
    del y, f
    gc.collect()
    assert ref() is None


def test_a_view_from_no_grad_mode_requires_grad_again_when_hooks_packed_it():
    x = torch.tensor([[0.5, -1.5], [0.75, 0.25]], requires_grad=True)
    with torch.no_grad():
        v = x[-1]
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = checkpoint(lambda a, b: a * b.exp(), x, v, use_reentrant=False)
    y.backward(torch.ones_like(y))
    assert x.grad.tolist() == [v.exp().tolist()] * 2


def test_a_checkpoint_hands_on_tangents():
    """Forward mode asked the Function that keeps the arguments for a jvp."""
    x = torch.tensor([0.3, 0.4], dtype=torch.float64)

    def function(z):
        return z.sin() * z

    def kept(z):
        return checkpoint(function, z, use_reentrant=False)

    for transform in (torch.func.jacfwd, lambda f: lambda z: torch.func.jvp(f, (z,), (z,))[1]):
        assert torch.allclose(transform(kept)(x), transform(function)(x))
