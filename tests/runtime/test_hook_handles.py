"""RemovableHandle by itself, and what pickle and copies do to hooks."""

import collections
import copy
import gc
import pickle
import weakref

import pytest
from common import leaf

import autograd_cy as torch

RemovableHandle = torch.utils.hooks.RemovableHandle


def plain(g):
    return g


@torch.utils.hooks.unserializable_hook
def marked(g):
    return g


def test_a_handle_on_a_dict_of_ones_own():
    hooks = collections.OrderedDict()
    handle = RemovableHandle(hooks)
    hooks[handle.id] = plain
    other = RemovableHandle(hooks)
    hooks[other.id] = marked
    handle.remove()
    handle.remove()
    assert list(hooks.values()) == [marked] and handle.id != other.id


def test_a_handle_on_two_dicts():
    hooks, more = collections.OrderedDict(), collections.OrderedDict()
    handle = RemovableHandle(hooks, extra_dict=more)
    hooks[handle.id] = more[handle.id] = plain
    with handle:
        pass
    assert not hooks and not more


def test_a_handle_keeps_neither_hook_nor_tensor():
    class Hook:
        def __call__(self, g):
            return g

    x, hook = leaf(1.0), Hook()
    handle = x.register_hook(hook)
    seen = weakref.ref(hook), weakref.ref(x)
    del x, hook
    gc.collect()
    assert [reference() for reference in seen] == [None, None]
    handle.remove()


def test_pickle_warns_of_hooks():
    x = leaf([1.0])
    x.register_hook(plain)
    with pytest.warns(UserWarning, match="backward hook <function plain at .*> on tensor will not be serialized"):
        again = pickle.loads(pickle.dumps(x))
    assert again.tolist() == [1.0] and not again._backward_hooks


def test_pickle_does_not_warn_of_marked_hooks():
    x = leaf([1.0])
    x.register_hook(marked)
    x.register_post_accumulate_grad_hook(plain)
    assert not pickle.loads(pickle.dumps(x))._backward_hooks


def test_pickle_does_not_warn_of_removed_hooks():
    x = leaf([1.0])
    x.register_hook(plain).remove()
    pickle.dumps(x)


def test_deepcopy_leaves_hooks_behind():
    x = leaf([1.0])
    x.register_hook(plain)
    assert not copy.deepcopy(x)._backward_hooks and x._backward_hooks


def test_hooks_by_their_ids():
    x = leaf([1.0])
    assert x._backward_hooks is None and x._post_accumulate_grad_hooks is None
    first, second = x.register_hook(plain), x.register_post_accumulate_grad_hook(print)
    assert dict(x._backward_hooks) == {first.id: plain} and dict(x._post_accumulate_grad_hooks) == {second.id: print}
