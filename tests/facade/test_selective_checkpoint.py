"""Selective checkpoints: a policy says which results of a checkpoint are kept."""

import functools
import weakref

import pytest
from checkpointed import Counted
from common import differs, leaf

import autograd_cy as torch
from autograd_cy.utils import _checkpoint_policy
from autograd_cy.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)

new = functools.partial(checkpoint, use_reentrant=False)


def selective(policy, **options):
    return functools.partial(create_selective_checkpoint_contexts, policy, **options)


# function, what its policy keeps, how many results the second run is given
KEPT = {
    "one": (lambda x: (x @ x).sin(), [torch.matmul], 1),
    "what the operation saves itself": (lambda x: x.exp().sin().cos(), [torch.exp], 1),
    "two, one after the other": (lambda x: (x.exp() * x).tanh().sin(), [torch.exp, torch.mul], 2),
    "several results": (lambda x: x.topk(1)[0].exp() * x.sum().sin(), [torch.topk], 1),
    "a result that is written": (lambda x: x.sin().mul_(2).sin().cos(), [torch.mul, torch.cos, torch.sin], 2),
    "overloads": (lambda x: (x.exp() * x).tanh().sin(), [torch.ops.aten.exp.default, torch.ops.aten.mul.Tensor], 2),
    "an overload of another call": (lambda x: (x.exp() ** 2.0).sin(), [torch.ops.aten.pow.Tensor_Tensor], 0),
    "a view": (lambda x: x.t().exp().sin(), [torch.t], 0),
    "a number first": (lambda x: (2 - x).exp().sin(), [torch.sub], 1),
    "out of the graph": (lambda x: x.detach().exp() * x.sin(), [torch.exp], 1),
    "all": (lambda x: (x.exp() * x.sum(1, keepdim=True)).softmax(0) @ x, lambda *_args, **_kwargs: True, None),
}


@differs("the policy of a selective", "other names of operations; policies apply to operations, not to what is saved")
class TestSelective:
    def run(self, policy, f=None, **options):
        f = f or Counted()
        x, w = leaf([0.1, 0.2]), leaf([0.1, 0.2])
        y = new(f, x, context_fn=selective(policy, **options))
        y.sum().backward()
        Counted()(w).sum().backward()
        assert x.grad.tolist() == pytest.approx(w.grad.tolist())
        return f

    def test_a_list(self):
        assert self.run([torch.exp]).calls == 2

    def test_nothing_runs_again_if_all_is_kept(self):
        f = Counted()
        y = new(lambda x: f(x.exp()), leaf([0.1]), context_fn=selective(lambda ctx, op, *args: True))
        y.backward()
        assert f.calls == 1

    @pytest.mark.parametrize("policy", list(CheckpointPolicy))
    def test_policies(self, policy):
        self.run(lambda ctx, op, *args, **kwargs: policy)

    def test_the_function_is_told_the_operation(self):
        seen = []

        def policy(ctx, op, *args, **kwargs):
            seen.append((op, tuple(ctx.op_output.shape), ctx.is_recompute))
            return CheckpointPolicy.PREFER_RECOMPUTE

        self.run(policy)
        assert (torch.sin, (2,), False) in seen
        assert (torch.exp, (2,), False) in seen

    def test_the_function_is_asked_once_with_the_arguments(self):
        calls, w = [], torch.ones(2, 2, dtype=torch.float64)

        def policy(ctx, op, *args, **kwargs):
            calls.append((op, len(args), [a for a in args if not isinstance(a, torch.Tensor)], kwargs))
            return op is torch.exp

        def f(x):
            y = (x.exp() * 2) @ w
            return torch.cat([y.sum(dim=1, keepdim=True), w.cos()], 1).sum(0).softmax(0)

        x = leaf([[0.1, 0.2], [0.3, 0.4]])
        y = new(f, x, context_fn=selective(policy))
        expected = [
            (torch.exp, 1, [], {}), (torch.mul, 2, [2], {}), (torch.matmul, 2, [], {}),
            (torch.sum, 1, [], {"dim": 1, "keepdim": True}), (torch.cos, 1, [], {}), (torch.sum, 2, [0], {}),
            (torch.softmax, 2, [0], {}),
        ]  # fmt: skip
        (joined,) = [c for c in calls if c[0] is torch.cat]
        assert joined[1] == 2 and len(joined[2][0]) == 2 and joined[2][1] == 1
        assert [c for c in calls if c[0] is not torch.cat] == expected
        expected.append(joined)
        (g,) = torch.autograd.grad(y[0], x)
        assert len(calls) == len(expected)
        assert g.tolist() == torch.autograd.grad(f(x)[0], x)[0].tolist()

    @pytest.mark.parametrize("case", KEPT)
    @pytest.mark.parametrize("twice", [False, True])
    def test_what_is_kept_is_not_computed_again(self, case, twice, monkeypatch):
        f, kept, n_given = KEPT[case]
        given = []
        result = _checkpoint_policy._Call.result
        monkeypatch.setattr(_checkpoint_policy._Call, "result", lambda call: given.append(call.function) or result(call))
        x = leaf([[0.1, 0.2], [0.3, 0.5]])
        y = new(lambda x: f(x).exp(), x, context_fn=selective(kept)).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=twice)
        assert n_given is None or len(given) == n_given
        (expected,) = torch.autograd.grad(f(x).exp().sum(), x, create_graph=twice)
        assert g.tolist() == expected.tolist()
        if twice:
            (g,) = torch.autograd.grad(g.square().sum(), x)
            (expected,) = torch.autograd.grad(expected.square().sum(), x)
            assert g.flatten().tolist() == pytest.approx(expected.flatten().tolist(), rel=1e-13)

    def test_random_numbers_are_drawn_as_the_first_time(self):
        x = leaf([0.1, 0.2])
        seen = []

        def f(x):
            noise = torch.rand_like(x)
            y = (x.exp() * noise).sin()
            other = torch.rand_like(x)
            seen.append((noise.tolist(), other.tolist()))
            return (y * other).sin()

        new(f, x, context_fn=selective([torch.exp, torch.rand_like])).sum().backward()
        assert len(seen) == 2 and seen[0] == seen[1]

    def test_a_checkpoint_within(self):
        x, w = leaf([0.1, 0.2]), leaf([0.1, 0.2])

        def f(x):
            return new(lambda x: x.exp().sin(), x.tanh()).cos()

        new(f, x, context_fn=selective([torch.exp, torch.tanh])).sum().backward()
        f(w).sum().backward()
        assert x.grad.tolist() == w.grad.tolist()

    def test_the_function_gets_the_same_tensors_back(self):
        x, w, seen = leaf([0.1, 0.2]), torch.ones(2, dtype=torch.float64), []

        def f(x, w):
            seen.append((x, w))
            return (x * w).sin().exp()

        new(f, x, w).sum().backward()
        assert len(seen) == 2 and all(a is x and b is w for a, b in seen)

    def test_a_policy_may_compute(self):
        x = leaf([0.1, 0.2])
        y = new(lambda x: x.exp().sin(), x, context_fn=selective(lambda ctx, op, x: bool((x * 2).sin().sum() > 0)))
        y.sum().backward()
        assert x.grad.tolist() == torch.autograd.grad(x.exp().sin().sum(), x)[0].tolist()

    @pytest.mark.parametrize("keep", [True, False])
    def test_operations_on_constants(self, keep):
        """Observed, they save more than they need: both runs have to."""
        w, x = torch.ones(2, dtype=torch.float64), leaf([0.1, 0.2])

        def f(x):
            return (x.detach() * x.exp() * w.cos() + w * 2).sin().sum()

        (g,) = torch.autograd.grad(new(f, x, context_fn=selective(lambda ctx, op, *args, **kwargs: keep)), x)
        assert g.tolist() == torch.autograd.grad(f(x), x)[0].tolist()

    def test_what_is_kept_is_kept_once(self):
        """The results that a policy keeps are those of the first run, also where a node saves its own."""
        x, seen = leaf([0.1, 0.2]), []

        def policy(ctx, op, *args, **kwargs):
            seen.append(weakref.ref(ctx.op_output.detach()))
            return op in (torch.exp, torch.tanh)

        y = new(lambda x: x.exp().tanh().sin(), x, context_fn=selective(policy))
        assert len(seen) == 3
        y.sum().backward()
        (g,) = torch.autograd.grad(x.exp().tanh().sin().sum(), x)
        assert x.grad.tolist() == g.tolist()

    def test_what_is_kept_may_not_be_written(self):
        for allow in (False, True):
            y = new(lambda x: (x.exp(), x.exp().sin()), leaf([0.1]), context_fn=selective([torch.exp],
                    allow_cache_entry_mutation=allow))[0]
            y.detach().zero_()
            if allow:
                y.backward()
            else:
                with pytest.raises(RuntimeError, match="cached during selective activation checkpoint has been mutated"):
                    y.backward()

    def test_bad_policies(self):
        with pytest.raises(TypeError, match="policy_fn_or_list must be either a function or a list"):
            create_selective_checkpoint_contexts(1)
        with pytest.raises(ValueError, match="Expected op in `op_list`"):
            create_selective_checkpoint_contexts(["exp"])
        with pytest.raises(ValueError, match="update the OpOverloadPacket to a specific OpOverload"):
            create_selective_checkpoint_contexts([torch.ops.aten.exp])
