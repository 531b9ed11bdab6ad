"""PyTorch's database of modules (`module_db` in its wheel) in this package's terms: layers, samples, calls."""

import dataclasses
import inspect
import random
import warnings
from typing import Any

import numpy as np
from op_db import Unsupported, load, map_tree

import autograd_cy as ag


class Modules:
    """The layers of the database that exist here: their entries by the name of the class."""

    def __init__(self):
        self.torch, _ = load()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from torch.testing._internal.common_modules import module_db
        present = [entry for entry in module_db if hasattr(ag.nn, entry.module_cls.__name__)]
        self.entries = {entry.name.removeprefix("nn."): entry for entry in present}

    def samples(self, name: str, dtype: str, training: bool, most: int) -> list:
        """Samples of a layer, not too many; the same at each call."""
        entry = self.entries[name]
        self.torch.manual_seed(0)
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002 what the samples draw from
        make = entry.module_inputs_func
        found = make(entry, device="cpu", dtype=getattr(self.torch, dtype), requires_grad=True, training=training)
        found = [sample for sample in found if sample.forward_input is not None]
        return found[:: -(-len(found) // most)]

    def ours(self, value):
        """A leaf of a sample in our terms."""
        torch = self.torch
        if isinstance(value, torch.nn.Module):
            return self.module(value)
        if isinstance(value, torch.Tensor):
            if value.layout is not torch.strided:
                raise Unsupported(str(value.layout))
            return ag.from_numpy(value.detach().numpy().copy()).requires_grad_(value.requires_grad)
        if isinstance(value, torch.dtype):
            return getattr(ag, str(value).removeprefix("torch."))
        if isinstance(value, torch.device):
            return ag.device("cpu")
        if isinstance(value, torch.nn.LinearCrossEntropyOptions):
            fields = {field.name: self.ours(getattr(value, field.name)) for field in dataclasses.fields(value)}
            return ag.nn.LinearCrossEntropyOptions(**fields)
        if inspect.isfunction(value) and value.__module__ == "torch.nn.functional":
            return getattr(ag.nn.functional, value.__name__)
        return value

    def module(self, value):
        """A module of ours like one of theirs that was given as an argument: they are made by their class and attributes."""
        made = {"TransformerEncoderLayer": lambda: ag.nn.TransformerEncoderLayer(
            value.self_attn.embed_dim, value.self_attn.num_heads, value.linear1.out_features, value.dropout.p,
            self.ours(value.activation), value.norm1.eps, value.self_attn.batch_first, value.norm_first,
            value.linear1.bias is not None)}  # fmt: skip
        layer = made[type(value).__name__]()
        return layer.to(self.ours(next(value.parameters()).dtype))


class Pair:
    """A layer of theirs and one of ours of the same parameters, and the arguments of a call of each."""

    def __init__(self, modules: Modules, name: str, sample: Any, dtype: str, training: bool):
        self.modules, torch = modules, modules.torch
        entry = modules.entries[name]
        args, kwargs = sample.constructor_input.args, dict(sample.constructor_input.kwargs)
        dtypes = {"dtype": getattr(torch, dtype)} if "dtype" in inspect.signature(entry.module_cls).parameters else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.theirs = entry.module_cls(*args, **{**dtypes, **kwargs}).to(getattr(torch, dtype)).train(training)
            to_ours = modules.ours
            args, kwargs = map_tree(to_ours, (args, {**dtypes, **kwargs}))
            self.mine = getattr(ag.nn, entry.module_cls.__name__)(*args, **kwargs).to(getattr(ag, dtype)).train(training)
        given = (list(sample.forward_input.args), dict(sample.forward_input.kwargs))
        copied: dict[int, Any] = {}
        twin: dict[int, Any] = {}

        def own(value):
            if not isinstance(value, torch.Tensor):
                return value
            return copied.setdefault(id(value), value.detach().clone().requires_grad_(value.requires_grad))

        def ours_of(value):
            return twin.setdefault(id(value), to_ours(value)) if isinstance(value, torch.Tensor) else to_ours(value)

        self.their_call, self.my_call = map_tree(own, given), map_tree(ours_of, given)
        self.their_inputs = [t for t in copied.values() if t.requires_grad]
        self.my_inputs = [t for t in twin.values() if t.requires_grad]
        self.first_call()
        self.mine.load_state_dict({key: to_ours(value.detach()) for key, value in self.theirs.state_dict().items()})

    def first_call(self):
        """Lazy layers have parameters when they were called."""
        if hasattr(self.theirs, "cls_to_become"):
            with self.modules.torch.no_grad(), ag.no_grad():
                self.their_outputs()
                self.my_outputs()

    def their_outputs(self) -> list:
        args, kwargs = self.their_call
        self.modules.torch.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return leaves(self.theirs(*args, **kwargs), self.modules.torch.Tensor)

    def my_outputs(self) -> list:
        args, kwargs = self.my_call
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return leaves(self.mine(*args, **kwargs), ag.Tensor)


def leaves(tree: Any, kind: type) -> list:
    """The tensors of a result."""
    if isinstance(tree, kind):
        return [tree]
    return [leaf for branch in tree for leaf in leaves(branch, kind)] if isinstance(tree, (list, tuple)) else []
